// Owns the kinds of work a branch offers and the order in which grades are served. The raw values stand in
// the database and on the wire: they are never given a new meaning.

/// A kind of work. Every window serves exactly one service.
public enum Service: UInt8, Named, Comparable {
  case deposit = 1
  case loan = 2
  case juice = 3

  /// What a customer who leaves the choice to chance comes for: the services of the bank itself.
  public static let drawn: [Service] = [.deposit, .loan]

  /// Whether serving a customer moves money, so that the receipt is a transfer in the ledger.
  public var movesMoney: Bool { self != .juice }
  /// Whether serving a customer takes something from the stock, which is given back when the ticket is cancelled.
  public var drawsOnStock: Bool { self == .juice }

  /// The names in commands, JSON and window names, in the order of the numbers.
  public static let names = ["deposit", "loan", "juice"]
}

/// A customer's standing. A higher grade is served first, and within a grade the earlier number.
public enum Grade: UInt8, Named, Comparable {
  case vvip = 1
  case vip = 2
  case regular = 3

  /// The names in commands and JSON, in the order of the numbers.
  public static let names = ["vvip", "vip", "regular"]
}

/// One waiting line: customers of one service and one grade, always in the order of their numbers.
public struct Line: Hashable, Sendable, Comparable, CaseIterable {
  /// What the customers of this line came for.
  public let service: Service
  /// Their standing.
  public let grade: Grade

  public init(service: Service, grade: Grade) { (self.service, self.grade) = (service, grade) }

  /// Every line there is, service by service, the highest grade first.
  public static let allCases: [Line] = Service.allCases.flatMap { service in
    Grade.allCases.map { Line(service: service, grade: $0) }
  }

  /// The place of this line in ``allCases``; a dense index for tables.
  public var index: Int { (Int(service.rawValue) - 1) * Grade.allCases.count + Int(grade.rawValue) - 1 }
  /// The order in which these are listed.
  public static func < (left: Line, right: Line) -> Bool { left.index < right.index }
}
