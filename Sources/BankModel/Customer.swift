// Owns who stands in the queue: ticket numbers, days, money, and a customer with its history in numbers.
// It knows no line, no teller and no disk. Everything here is a plain value.

import Time

/// The number on a ticket: 1, 2, 3 … within one business day.
public typealias TicketNumber = Int64

/// A business day: 1, 2, 3 … since the branch was founded. Ticket numbers begin anew with each.
public typealias BusinessDay = Int64

/// A whole number of won.
public typealias Won = Int64

/// A sum of any number of amounts: that of the largest ones does not fit in 64 bits.
public typealias WonSum = Int128

/// The number of a customer's account.
public typealias AccountNumber = Int64

/// What a ticket, an amount or a command may be at most, in one place.
public enum Limits {
  /// Customers that one command may add.
  public static let customersPerCommand: Int64 = 10_000_000
  /// The largest amount of one transaction, in won: a trillion, so that 9 million of them fit in 64 bits.
  public static let amount: Won = 1_000_000_000_000
  /// The largest account number.
  public static let account: AccountNumber = 999_999_999_999
  /// The longest idempotency key, in bytes of UTF-8.
  public static let keyLength = 200
  /// Windows of one service.
  public static let windowsPerService: Int64 = 256
  /// The longest name of the article that a customer orders, in bytes of UTF-8.
  public static let articleLength = 1_024
  /// The longest payload that any configuration allows a customer, in bytes.
  public static let payloadLength = 1 << 20
  /// Customers whom one worker may have in hand, where an operator lets them be handed out ahead.
  public static let customersInHand = 64
  /// How far ahead a customer may be ordered, in milliseconds: ten years.
  public static let delay: Int64 = 3_653 * 86_400_000
  /// The highest ticket number of a day.
  public static let ticket: TicketNumber = 1_000_000_000_000
}

/// Someone with a ticket whose business is not finished.
public struct Customer: Sendable, Equatable {
  /// The number on the ticket, unique within the business day.
  public var ticket: TicketNumber
  /// What the customer came for.
  public var service: Service
  /// How soon the customer was served.
  public var priority: Priority
  /// The amount of the transaction, in won: at least 1 where the service moves money, else 0.
  public var amount: Won
  /// The customer's account.
  public var account: AccountNumber
  /// When the ticket was issued.
  public var issuedAt: WallTime
  /// Attempts at serving that ended without a receipt, of any kind.
  public var attempts: Int32
  /// Attempts since the last requeue in which the teller died or stopped making progress.
  public var crashes: Int32
  /// Attempts since the last requeue that a teller itself reported as failed.
  public var failures: Int32
  /// Attempts since the last requeue that may have begun, where the service counts them (`max_attempts`); else 0. The one
  /// that is under way is among them.
  public var begun: Int16
  /// Whether the last of them is under way. A customer of whom a store says so was at a window of a coordinator that has
  /// ended since.
  public var isBegun: Bool
  /// The name of what was ordered, such as that of a juice; empty where nothing was. The queue never reads it. It is not
  /// the customer's payload, which the store keeps and the queue never sees.
  public var article: String

  public init(
    ticket: TicketNumber, service: Service, priority: Priority, amount: Won, account: AccountNumber,
    issuedAt: WallTime, attempts: Int32 = 0, crashes: Int32 = 0, failures: Int32 = 0, begun: Int16 = 0,
    isBegun: Bool = false, article: String = ""
  ) {
    (self.ticket, self.service, self.priority, self.amount) = (ticket, service, priority, amount)
    (self.account, self.issuedAt, self.attempts, self.crashes) = (account, issuedAt, attempts, crashes)
    (self.failures, self.begun, self.isBegun, self.article) = (failures, begun, isBegun, article)
  }

  /// The line in which this customer waits.
  public var line: Line { Line(service: service, priority: priority) }
}

/// What a client asks for on behalf of one customer who has no ticket yet.
public struct CustomerOrder: Sendable, Equatable {
  /// What the customer came for.
  public var service: Service
  /// How soon the customer was served.
  public var priority: Priority
  /// The amount of the transaction, in won.
  public var amount: Won
  /// The customer's account.
  public var account: AccountNumber
  /// The name of what is ordered; empty for nothing.
  public var article: String
  /// Before this moment of the calendar the customer is not to be served; nil for at once.
  public var dueAt: WallTime?

  public init(
    service: Service, priority: Priority, amount: Won, account: AccountNumber, article: String = "",
    dueAt: WallTime? = nil
  ) {
    (self.service, self.priority, self.amount) = (service, priority, amount)
    (self.account, self.article, self.dueAt) = (account, article, dueAt)
  }

  /// The customer that this order becomes with a ticket.
  public func customer(ticket: TicketNumber, issuedAt: WallTime) -> Customer {
    Customer(
      ticket: ticket, service: service, priority: priority, amount: amount, account: account,
      issuedAt: issuedAt, article: article)
  }
}

/// Where a customer stands.
public enum CustomerState: UInt8, Named {
  case waiting = 1
  /// Waiting for a moment: that of the next attempt after a failure, or the one for which it was ordered.
  case delayed = 2
  /// Put aside after too many attempts; an operator decides.
  case dead = 3
  /// At a window. Never on disk: an assignment is not durable.
  case serving = 4
  /// Finished, with a receipt.
  case done = 5

  /// The names in commands and JSON, in the order of the numbers.
  public static let names = ["waiting", "delayed", "dead", "serving", "done"]
}
