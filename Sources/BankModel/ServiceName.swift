// Syntax of service names.
// Invariant: a name can be part of a file name, a command and a window's name without escaping.

/// Name of a service: 1 to ``longest`` of the characters `a-z`, `0-9`, `_`, `.` and `-`. The first is a letter or a
/// digit.
public struct ServiceName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as text.
  public let text: String

  /// Length limit in bytes.
  public static let longest = 64

  /// Parses a name; nil if the text is not a valid one.
  public init?(_ text: some StringProtocol) {
    var text = String(text)
    // A contiguous buffer avoids a bounds check and a call for each byte.
    let isName = text.withUTF8 { bytes in
      guard let first = bytes.first, bytes.count <= Self.longest, Self.isFirstCharacter(first) else {
        return false
      }
      return bytes.allSatisfy { Self.isLaterCharacter($0) }
    }
    guard isName else { return nil }
    self.text = text
  }

  private init(known: String) { text = known }

  /// Service in which a customer pays money in.
  public static let deposit = ServiceName(known: "deposit")
  /// Service in which a customer borrows money.
  public static let loan = ServiceName(known: "loan")
  /// Service in which a juice is made from the stock.
  public static let juice = ServiceName(known: "juice")

  /// Services that every bank has, in the order of their numbers.
  public static let branch: [ServiceName] = [.deposit, .loan, .juice]
  /// Services from which the service of a random customer is drawn.
  public static let drawn: [ServiceName] = [.deposit, .loan]

  /// True if serving a customer moves money in every bank.
  public var movesMoney: Bool { self == .deposit || self == .loan }

  /// Name of a window of this service: `deposit-2`.
  public func window(_ place: Int32) -> String { "\(text)-\(place)" }

  /// Name of the slot of an outside worker of this service: `mail-outside-1`.
  public func outside(_ number: Int32) -> String { "\(text)-outside-\(number)" }

  /// The service of a window's name: the part before the last dash; nil if that is not a valid service name. Not for
  /// the slot of an outside worker.
  public init?(ofWindow name: some StringProtocol) {
    guard let dash = name.lastIndex(of: "-") else { return nil }
    self.init(name[..<dash])
  }

  /// Placeholder for an unknown name: the service's number.
  public init(placeholderFor service: Service) { text = String(service.number) }

  /// Same as `text`.
  public var description: String { text }

  /// Ordered by bytes.
  public static func < (left: ServiceName, right: ServiceName) -> Bool { left.text < right.text }

  private static func isFirstCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func isLaterCharacter(_ byte: UInt8) -> Bool {
    isFirstCharacter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "-")
  }
}

extension ServiceName: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let name = ServiceName(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no name of a service")
    }
    self = name
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
