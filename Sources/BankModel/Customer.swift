// Customers of the queue: limits, a customer with its counters, the order that becomes one, and the states.
// Also the numbers of tickets, days and accounts, and amounts of money.

import Time

/// Number of a ticket: 1, 2, 3 … within one business day.
public typealias TicketNumber = Int64

/// A business day: 1, 2, 3 … since the bank was founded. Ticket numbers restart with each day.
public typealias BusinessDay = Int64

/// A whole number of won.
public typealias Won = Int64

/// Sum of amounts. It has 128 bits, because a sum of large amounts may not fit in 64.
public typealias WonSum = Int128

/// Number of a customer's account.
public typealias AccountNumber = Int64

/// Upper limits of tickets, amounts and commands.
public enum Limits {
  /// Maximum number of customers that one command may add.
  public static let customersPerCommand: Int64 = 10_000_000
  /// The largest amount of one transaction, in won.
  public static let amount: Won = 1_000_000_000_000
  /// The largest account number.
  public static let account: AccountNumber = 999_999_999_999
  /// The longest idempotency key, in bytes of UTF-8.
  public static let keyLength = 200
  /// Maximum number of windows of one service.
  public static let windowsPerService: Int64 = 256
  /// The longest name of an ordered article, in bytes of UTF-8.
  public static let itemNameLength = 1_024
  /// The longest payload that a configuration can allow, in bytes.
  public static let payloadLength = 1 << 20
  /// Maximum number of customers that one worker may hold at once.
  public static let customersPerWorker = 64
  /// Longest time by which a customer may be scheduled ahead, in milliseconds.
  public static let delay: Int64 = 3_653 * 86_400_000
  /// The highest ticket number of a day.
  public static let ticket: TicketNumber = 1_000_000_000_000
}

/// A customer with a ticket and without a receipt.
public struct Customer: Sendable, Equatable {
  /// Ticket number, unique within the business day.
  public var ticket: TicketNumber
  /// Requested service.
  public var service: Service
  /// Priority in the queue.
  public var priority: Priority
  /// Amount of the transaction, in won: at least 1 for deposits and loans, at least 0 for other services.
  public var amount: Won
  /// Number of the customer's account.
  public var account: AccountNumber
  /// Time at which the ticket was issued.
  public var issuedAt: WallTime
  /// Attempts that ended without a receipt.
  public var attempts: Int32
  /// Attempts since the last requeue that counted as crashes, for example because the worker exited or reported no
  /// progress. A crash of the coordinator during the attempt may count as well.
  public var crashes: Int32
  /// Attempts since the last requeue that counted as failures.
  public var failures: Int32
  /// Attempts since the last requeue that may have started, including the current one; 0 if the service does
  /// not count them (`max_attempts`).
  public var startedAttempts: Int16
  /// True if the last attempt that ``startedAttempts`` counts has not ended.
  public var isAttemptRunning: Bool
  /// Name of the ordered article, such as a juice; empty if none.
  public var itemName: String

  public init(
    ticket: TicketNumber, service: Service, priority: Priority, amount: Won, account: AccountNumber,
    issuedAt: WallTime, attempts: Int32 = 0, crashes: Int32 = 0, failures: Int32 = 0,
    startedAttempts: Int16 = 0,
    isAttemptRunning: Bool = false, itemName: String = ""
  ) {
    (self.ticket, self.service, self.priority, self.amount) = (ticket, service, priority, amount)
    (self.account, self.issuedAt, self.attempts, self.crashes) = (account, issuedAt, attempts, crashes)
    (self.failures, self.startedAttempts) = (failures, startedAttempts)
    (self.isAttemptRunning, self.itemName) = (isAttemptRunning, itemName)
  }

  /// The waiting line for this service and priority.
  public var line: Line { Line(service: service, priority: priority) }
}

/// Request for one customer who has no ticket yet.
public struct CustomerOrder: Sendable, Equatable {
  /// Requested service.
  public var service: Service
  /// Priority in the queue.
  public var priority: Priority
  /// Amount of the transaction, in won.
  public var amount: Won
  /// Number of the customer's account.
  public var account: AccountNumber
  /// Name of the ordered article; empty if none.
  public var itemName: String
  /// Earliest time at which the customer may be served, by the wall clock; nil if the customer may be served at once.
  public var dueAt: WallTime?

  public init(
    service: Service, priority: Priority, amount: Won, account: AccountNumber, itemName: String = "",
    dueAt: WallTime? = nil
  ) {
    (self.service, self.priority, self.amount) = (service, priority, amount)
    (self.account, self.itemName, self.dueAt) = (account, itemName, dueAt)
  }

  /// The customer that results when this order gets a ticket.
  public func customer(ticket: TicketNumber, issuedAt: WallTime) -> Customer {
    Customer(
      ticket: ticket, service: service, priority: priority, amount: amount, account: account,
      issuedAt: issuedAt, itemName: itemName)
  }
}

/// State of a customer.
public enum CustomerState: UInt8, NameCodable {
  /// In a line, and ready to be served.
  case waiting = 1
  /// Waiting for a point in time, such as that of a retry.
  case delayed = 2
  /// A dead letter: its attempts are used up, or its work refused it.
  case dead = 3
  /// Assigned to a worker that has not finished.
  case serving = 4
  /// Has a receipt.
  case done = 5

  /// Names in commands and JSON, in the order of the raw values.
  public static let names = ["waiting", "delayed", "dead", "serving", "done"]
}
