// Owns how soon a customer is served, and what three of the numbers are called. Numbers and names stand in the database, on
// the wire and in commands: they are never given a new meaning.

/// How soon a customer is served: those of the lowest number first, and of one number whoever came first.
///
/// The grades of a bank's customers are names for three of the numbers.
public struct Priority: Hashable, Comparable, Sendable {
  /// 0 for the first to be served.
  public let number: UInt32

  public init(_ number: UInt32) { self.number = number }

  /// Before everybody else.
  public static let vvip = Priority(0)
  /// Behind those.
  public static let vip = Priority(1_023)
  /// That of whoever asks for none.
  public static let regular = Priority(1_024)

  /// The grades, the highest first.
  public static let grades: [Priority] = [.vvip, .vip, .regular]
  /// Their names in commands and JSON, in the same order.
  public static let gradeNames = ["vvip", "vip", "regular"]

  /// Whether it is one of the grades.
  public var isGrade: Bool { code <= 3 }

  /// The name of a grade, or else the number.
  public var name: String { grade ?? "\(number)" }

  /// The name of the grade; nil where there is none.
  public var grade: String? { Self.grades.firstIndex(of: self).map { Self.gradeNames[$0] } }

  /// The priority that has this name, or is this number in decimal digits; nil for anything else.
  public init?(name: some StringProtocol) {
    if let place = Self.gradeNames.firstIndex(where: { $0 == name }) {
      self = Self.grades[place]
    } else if let number = UInt32(name), "\(number)" == name {
      self.init(number)
    } else {
      return nil
    }
  }

  /// What stands for it in the database and on the wire: 1, 2 and 3 for the grades, and any other number and 4.
  public var code: Int64 {
    switch self {
    case .vvip: 1
    case .vip: 2
    case .regular: 3
    default: Int64(number) + 4
    }
  }

  /// The priority for which this stands; nil where nothing does, as for the code of a grade's number.
  public init?(code: Int64) {
    switch code {
    case 1...3: self = Self.grades[Int(code) - 1]
    case 4...Int64(UInt32.max) + 4:
      self.init(UInt32(code - 4))
      guard self.code == code else { return nil }
    default: return nil
    }
  }

  /// Whether the one is served before the other.
  public static func < (left: Priority, right: Priority) -> Bool { left.number < right.number }
}

extension Priority: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let priority = Priority(code: try container.decode(Int64.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no priority")
    }
    self = priority
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(code)
  }
}
