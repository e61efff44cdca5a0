// Owns the kinds of work a branch offers, as the queue knows them: by numbers. What they are called stands in a
// `ServiceDirectory`, and what they are in the configuration.
// Invariant: a number stands in the database and is never given to another service. The first three are those that every
// branch comes with.

/// A kind of work, by the number that the database gave it once. Every window serves exactly one service.
public struct Service: Hashable, Sendable {
  /// From 1, without a gap.
  public let number: UInt16

  /// - Parameter number: at least 1.
  public init(number: UInt16) {
    precondition(number >= 1, "services are numbered from 1")
    self.number = number
  }

  /// Money is paid in.
  public static let deposit = Service(number: 1)
  /// Money is lent.
  public static let loan = Service(number: 2)
  /// A juice is made of what is in stock.
  public static let juice = Service(number: 3)

  /// What a customer who leaves the choice to chance comes for: the services of the bank itself.
  public static let drawn: [Service] = [.deposit, .loan]

  /// The place among all services, from 0: of whatever is kept by service in an array.
  public var index: Int { Int(number) - 1 }
  /// The service at such a place.
  public init(index: Int) { self.init(number: UInt16(index + 1)) }

  /// Whether serving a customer moves money in every branch, so that nobody comes for it without an amount.
  public var movesMoney: Bool { postingRule != nil }
  /// Whether serving a customer takes something from the stock, which is given back when the ticket is cancelled.
  public var drawsOnStock: Bool { self == .juice }
  /// Whether a served customer may leave a result behind: wherever the work is not the branch's own.
  public var leavesResults: Bool { number > 3 }
}

extension Service: Comparable {
  /// In the order of the numbers.
  public static func < (left: Service, right: Service) -> Bool { left.number < right.number }
}

extension Service: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let number = try container.decode(UInt16.self)
    guard number >= 1 else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no service")
    }
    self.init(number: number)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

/// One waiting line: customers of one service and one priority, always in the order of their numbers.
public struct Line: Hashable, Sendable, Comparable {
  /// What the customers of this line came for.
  public let service: Service
  /// How soon they are served.
  public let priority: Priority

  public init(service: Service, priority: Priority) { (self.service, self.priority) = (service, priority) }

  /// The lines in which customers of the services that every branch comes with stand by their grades, service by service,
  /// the highest grade first.
  public static let graded: [Line] = [Service.deposit, .loan, .juice].flatMap { service in
    Priority.grades.map { Line(service: service, priority: $0) }
  }

  /// Service by service, whoever is served first at the head.
  public static func < (left: Line, right: Line) -> Bool {
    left.service == right.service ? left.priority < right.priority : left.service < right.service
  }
}
