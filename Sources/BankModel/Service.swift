// Owns the kinds of work a branch offers and the lines in which customers wait for it. The raw values stand in
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

/// One waiting line: customers of one service and one priority, always in the order of their numbers.
public struct Line: Hashable, Sendable, Comparable {
  /// What the customers of this line came for.
  public let service: Service
  /// How soon they are served.
  public let priority: Priority

  public init(service: Service, priority: Priority) { (self.service, self.priority) = (service, priority) }

  /// The lines in which customers of the branch's own services stand by their grades, service by service, the highest
  /// grade first.
  public static let graded: [Line] = Service.allCases.flatMap { service in
    Priority.grades.map { Line(service: service, priority: $0) }
  }

  /// Service by service, whoever is served first at the head.
  public static func < (left: Line, right: Line) -> Bool {
    left.service == right.service ? left.priority < right.priority : left.service < right.service
  }
}
