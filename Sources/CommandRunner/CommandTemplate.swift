// Owns a command as the configuration has it: words, of which some stand for what a customer brings.
// Invariant: a placeholder is a whole word and becomes exactly one argument; nothing is ever put into another word, and
// no shell reads any of it. Failure: a refusal that says what a customer's payload cannot be.
import ByteText

/// The words of a command, such as `["convert", "-", "{payload}"]`.
public struct CommandTemplate: Sendable, Hashable {
  /// The word that stands for the customer's payload.
  public static let payload = "{payload}"
  /// The word that stands for the customer's key.
  public static let key = "{key}"
  /// The longest argument that the kernel hands over, without the zero byte that ends it. MAX_ARG_STRLEN, `execve(2)`
  public static let longestArgument = (128 << 10) - 1

  /// The program, as it was written: a name to look for in `PATH`, or a path.
  public let program: String
  /// The words after it.
  public let arguments: [String]

  /// A command of these words.
  ///
  /// - Returns: nil where there are none, the first is empty or a placeholder, or a zero byte stands in one.
  public init?(_ words: [String]) {
    guard let program = words.first, !program.isEmpty, program != Self.payload, program != Self.key,
      !words.contains(where: { $0.utf8.contains(0) })
    else { return nil }
    self.program = program
    arguments = Array(words.dropFirst())
  }

  /// Whether the payload is an argument of the command. It is its standard input in any case.
  public var takesPayload: Bool { arguments.contains(Self.payload) }

  /// The words for one customer, the program's name first.
  ///
  /// A word that only holds a placeholder, as `--text={payload}`, stays as it is.
  /// - Returns: a refusal where the payload is an argument and cannot be one.
  public func words(payload: [UInt8], key: String) -> Result<[[UInt8]], CommandRefusal> {
    if takesPayload {
      guard payload.count <= Self.longestArgument else {
        return .failure(.argumentTooLong(bytes: payload.count))
      }
      guard !payload.contains(0) else { return .failure(.zeroByteInArgument) }
    }
    var words = [ByteText.bytes(of: program)]
    words.reserveCapacity(arguments.count + 1)
    for argument in arguments {
      switch argument {
      case Self.payload: words.append(payload)
      case Self.key: words.append(Array(key.utf8))
      default: words.append(ByteText.bytes(of: argument))
      }
    }
    return .success(words)
  }
}
