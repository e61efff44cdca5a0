// Owns what a service may be called. People and programs outside know a service by its name, and by nothing else.
// Invariant: a name can stand in a file name, in a command and in a window's name as it is.

/// The name of a service: 1 to 64 of the characters `a-z`, `0-9`, `_`, `.` and `-`, the first a letter or a digit.
public struct ServiceName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name.
  public let text: String

  /// The longest name, in bytes.
  public static let longest = 64

  /// Nil for what no service can be called.
  public init?(_ text: some StringProtocol) {
    var text = String(text)
    // Where the bytes lie beside each other they are looked at one by one, without a question for each.
    let isName = text.withUTF8 { bytes in
      guard let first = bytes.first, bytes.count <= Self.longest, Self.mayBegin(first) else { return false }
      return bytes.allSatisfy { Self.mayFollow($0) }
    }
    guard isName else { return nil }
    self.text = text
  }

  private init(known: String) { text = known }

  /// Money is paid in.
  public static let deposit = ServiceName(known: "deposit")
  /// Money is lent.
  public static let loan = ServiceName(known: "loan")
  /// A juice is made of what is in stock.
  public static let juice = ServiceName(known: "juice")

  /// What every branch comes with, in the order of the numbers.
  public static let branch: [ServiceName] = [.deposit, .loan, .juice]
  /// What a customer who leaves the choice to chance comes for.
  public static let drawn: [ServiceName] = [.deposit, .loan]

  /// Whether serving a customer moves money.
  public var movesMoney: Bool { self == .deposit || self == .loan }

  /// The name of a service's window, in commands, JSON, logs and the names of their files: `deposit-2`.
  public func window(_ place: Int32) -> String { "\(text)-\(place)" }

  /// The name of the place of a worker of this service that has come by itself: `mail-outside-1`.
  public func outside(_ number: Int32) -> String { "\(text)-outside-\(number)" }

  /// The service whose window has this name; nil where no window can be called so.
  public init?(ofWindow name: some StringProtocol) {
    guard let dash = name.lastIndex(of: "-") else { return nil }
    self.init(name[..<dash])
  }

  /// Stands for a name that is not known.
  public init(standingFor service: Service) { text = String(service.number) }

  /// The name.
  public var description: String { text }

  /// In the order of the bytes.
  public static func < (left: ServiceName, right: ServiceName) -> Bool { left.text < right.text }

  private static func mayBegin(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func mayFollow(_ byte: UInt8) -> Bool {
    mayBegin(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
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
