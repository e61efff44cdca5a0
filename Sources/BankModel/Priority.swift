// Priority of a customer: a number. Three of the numbers have names, the grades.
// Invariant: numbers and names are part of the database, the wire format and commands, and never get a new meaning.

/// Priority of a customer: lower numbers are served first.
public struct Priority: Hashable, Comparable, Sendable {
  /// The number; 0 is served first.
  public let number: UInt32

  public init(_ number: UInt32) { self.number = number }

  /// The highest priority.
  public static let vvip = Priority(0)
  /// The grade between ``vvip`` and ``regular``.
  public static let vip = Priority(1_023)
  /// The default.
  public static let regular = Priority(1_024)

  /// The grades, the highest first.
  public static let grades: [Priority] = [.vvip, .vip, .regular]
  /// Names of ``grades`` in commands and JSON, in the same order.
  public static let gradeNames = ["vvip", "vip", "regular"]

  /// True if the number has the name of a grade.
  public var isGrade: Bool { code <= 3 }

  /// Name of the grade, or else the number.
  public var name: String { grade ?? "\(number)" }

  /// Name of the grade; nil if there is none.
  public var grade: String? { Self.grades.firstIndex(of: self).map { Self.gradeNames[$0] } }

  /// Parses the name of a grade or a number in decimal digits; nil for anything else.
  public init?(name: some StringProtocol) {
    if let place = Self.gradeNames.firstIndex(where: { $0 == name }) {
      self = Self.grades[place]
    } else if let number = UInt32(name), "\(number)" == name {
      self.init(number)
    } else {
      return nil
    }
  }

  /// Code in the database and on the wire: 1, 2 and 3 for the grades; for any other number, the number plus
  /// 4.
  public var code: Int64 {
    switch self {
    case .vvip: 1
    case .vip: 2
    case .regular: 3
    default: Int64(number) + 4
    }
  }

  /// The priority with this code; nil if the code is invalid, such as the number of a grade plus 4.
  public init?(code: Int64) {
    switch code {
    case 1...3: self = Self.grades[Int(code) - 1]
    case 4...Int64(UInt32.max) + 4:
      self.init(UInt32(code - 4))
      guard self.code == code else { return nil }
    default: return nil
    }
  }

  /// True if `left` is served before `right`.
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
