// Services of a bank. The queue identifies a service by its number. The name is in a `ServiceDirectory`, and the
// properties are in the configuration.
// Invariant: a number is stored in the database and never reused for another service. The numbers 1 to 3 belong to
// the services that every bank has.

/// A service, identified by the number that the database assigned to it.
public struct Service: Hashable, Sendable {
  /// Number of the service, from 1 without a gap.
  public let number: UInt16

  /// The service with this number, which is at least 1.
  public init(number: UInt16) {
    precondition(number >= 1, "services are numbered from 1")
    self.number = number
  }

  /// Service in which a customer pays money in.
  public static let deposit = Service(number: 1)
  /// Service in which a customer borrows money.
  public static let loan = Service(number: 2)
  /// Service in which a juice is made from the stock.
  public static let juice = Service(number: 3)

  /// Services from which the service of a random customer is drawn.
  public static let drawn: [Service] = [.deposit, .loan]

  /// Index among all services, from 0, for arrays by service.
  public var index: Int { Int(number) - 1 }
  /// The service with this index.
  public init(index: Int) { self.init(number: UInt16(index + 1)) }

  /// True if serving a customer moves money in every bank.
  public var movesMoney: Bool { postingRule != nil }
  /// True if serving a customer takes items from the stock.
  public var usesStock: Bool { self == .juice }
  /// True if a served customer may have a result; false for the built-in services.
  public var mayStoreResult: Bool { number > 3 }
}

extension Service: Comparable {
  /// Ordered by number.
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

/// One waiting line: customers of one service and one priority, in the order of their ticket numbers.
public struct Line: Hashable, Sendable, Comparable {
  /// Service requested by the customers of this line.
  public let service: Service
  /// Priority of the customers of this line.
  public let priority: Priority

  public init(service: Service, priority: Priority) { (self.service, self.priority) = (service, priority) }

  /// The lines of the built-in services and the grades, service by service, the highest grade first.
  public static let graded: [Line] = [Service.deposit, .loan, .juice].flatMap { service in
    Priority.grades.map { Line(service: service, priority: $0) }
  }

  /// Ordered by service, then by priority, the highest first.
  public static func < (left: Line, right: Line) -> Bool {
    left.service == right.service ? left.priority < right.priority : left.service < right.service
  }
}
