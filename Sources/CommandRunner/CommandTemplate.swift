// A command as it is configured: a list of words, some of which are placeholders.
// Invariant: a placeholder is a whole word and becomes one argument. The runner inserts no text into other words and
// starts no shell. Errors: a refusal with the reason why a customer's payload cannot be an argument.
import ByteText

/// The words of a command, such as `["convert", "-", "{payload}"]`.
public struct CommandTemplate: Sendable, Hashable {
  /// Placeholder for the customer's payload.
  public static let payload = "{payload}"
  /// Placeholder for the customer's `BANK_KEY`.
  public static let key = "{key}"
  /// Maximum length of one argument in bytes, without its final zero byte. MAX_ARG_STRLEN, `execve(2)`
  public static let longestArgument = (128 << 10) - 1

  /// The program as configured: a name that is searched in `PATH`, or a path.
  public let program: String
  /// The words after the program.
  public let arguments: [String]

  /// Makes a command from configured words.
  ///
  /// - Returns: nil if there are no words, if the first is empty or a placeholder, or if a word contains a
  ///   zero byte.
  public init?(_ argv: [String]) {
    guard let program = argv.first, !program.isEmpty, program != Self.payload, program != Self.key,
      !argv.contains(where: { $0.utf8.contains(0) })
    else { return nil }
    self.program = program
    arguments = Array(argv.dropFirst())
  }

  /// True if the payload is an argument of the command.
  public var takesPayload: Bool { arguments.contains(Self.payload) }

  /// The words of the command for one customer, starting with the program.
  ///
  /// A word that contains a placeholder and other characters, such as `--text={payload}`, stays unchanged.
  /// - Returns: a refusal if the payload is to be an argument and cannot be one.
  public func argv(payload: [UInt8], key: String) -> Result<[[UInt8]], CommandStartError> {
    if takesPayload {
      guard payload.count <= Self.longestArgument else {
        return .failure(.argumentTooLong(bytes: payload.count))
      }
      guard !payload.contains(0) else { return .failure(.zeroByteInArgument) }
    }
    var argv = [ByteText.bytes(of: program)]
    argv.reserveCapacity(arguments.count + 1)
    for argument in arguments {
      switch argument {
      case Self.payload: argv.append(payload)
      case Self.key: argv.append(Array(key.utf8))
      default: argv.append(ByteText.bytes(of: argument))
      }
    }
    return .success(argv)
  }
}
