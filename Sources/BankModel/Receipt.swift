// Permanent record of a customer: the receipt with its transfer, and the attempts before it.
// Invariant: a ticket has at most one receipt, which ends it.

import Time

/// Kind of a receipt: how the ticket ended.
public enum Outcome: UInt8, NameCodable {
  /// The work was done.
  case served = 1
  /// The customer was cancelled.
  case cancelled = 2
  /// A worker could not provide what was requested: the stock was too low, and nothing was taken.
  case outOfStock = 3

  /// True if a worker finished the customer.
  public var isFinishedByWorker: Bool { self != .cancelled }

  /// Names in JSON, in the order of the raw values.
  public static let names = ["served", "cancelled", "out_of_stock"]
}

/// An account of the ledger.
public enum LedgerAccount: Hashable, Sendable, CustomStringConvertible {
  /// The bank's cash.
  case cash
  /// Money that the bank has lent.
  case loans
  /// Account of a customer.
  case customer(AccountNumber)

  /// Number of the account in the database: 0 or more for a customer, negative for the bank's own accounts.
  public var code: Int64 {
    switch self {
    case .cash: -1
    case .loans: -2
    case .customer(let number): number
    }
  }

  /// Name in JSON: `cash`, `loans`, `customer-12`.
  public var description: String {
    switch self {
    case .cash: "cash"
    case .loans: "loans"
    case .customer(let number): "customer-\(number)"
    }
  }
}

/// A balanced movement of money: the amount debited to one account is credited to the other.
public struct Transfer: Hashable, Sendable {
  /// Account whose debits grow by the amount.
  public var debit: LedgerAccount
  /// Account whose credits grow by the amount.
  public var credit: LedgerAccount
  /// Amount in won, at least 1.
  public var amount: Won

  public init(debit: LedgerAccount, credit: LedgerAccount, amount: Won) {
    (self.debit, self.credit, self.amount) = (debit, credit, amount)
  }

  /// Makes the transfer that a rule prescribes for a served customer.
  public init(by rule: PostingRule, amount: Won, account: AccountNumber) {
    self.init(
      debit: rule.debit.account(of: account), credit: rule.credit.account(of: account), amount: amount)
  }
}

/// Permanent record of how one ticket ended.
public struct Receipt: Hashable, Sendable {
  /// Number of the receipt, from 1; 0 until the store has assigned it.
  public var sequence: Int64
  /// Business day of the ticket.
  public var day: BusinessDay
  /// Ticket number within the day.
  public var ticket: TicketNumber
  /// Requested service.
  public var service: Service
  /// Priority in the queue.
  public var priority: Priority
  /// How the ticket ended.
  public var outcome: Outcome
  /// Window at which the customer was when its ticket ended; nil if it was at no window.
  public var window: Window?
  /// Generation of the teller at this window; 0 if there was no window.
  public var generation: Generation
  /// Process id of the teller at this window; 0 if there was no window.
  public var pid: Int32
  /// Number of attempts, including the last one; 0 if there was none.
  public var attempts: Int32
  /// Amount of the order, in won.
  public var amount: Won
  /// Number of the customer's account.
  public var account: AccountNumber
  /// Time at which the ticket was issued.
  public var issuedAt: WallTime
  /// Start of the attempt during which the ticket ended; nil if the customer was at no window.
  public var startedAt: WallTime?
  /// End of the ticket.
  public var finishedAt: WallTime
  /// Name of the ordered article; empty if none.
  public var itemName: String
  /// Missing items, if the outcome is ``Outcome/outOfStock``.
  public var shortages: [Shortage]
  /// Result of the work; nil if there is none.
  public var result: WorkResult?
  /// Rule by which the amount was moved when the customer was served; nil if nothing was moved.
  public var postingRule: PostingRule?

  /// In a shared bank, number of the branch that wrote the receipt.
  public var branch: Int64?

  /// - Parameter postingRule: rule of the service; deposits and loans have built-in rules instead. A rule applies only
  ///   if the customer was served and has an amount.
  public init(
    sequence: Int64 = 0, day: BusinessDay, ticket: TicketNumber, service: Service, priority: Priority,
    outcome: Outcome, window: Window?, generation: Generation, pid: Int32, attempts: Int32, amount: Won,
    account: AccountNumber, issuedAt: WallTime, startedAt: WallTime?, finishedAt: WallTime,
    itemName: String = "", shortages: [Shortage] = [], result: WorkResult? = nil,
    postingRule: PostingRule? = nil
  ) {
    (self.sequence, self.day, self.ticket) = (sequence, day, ticket)
    (self.service, self.priority, self.outcome) = (service, priority, outcome)
    (self.window, self.generation, self.pid) = (window, generation, pid)
    (self.attempts, self.amount, self.account) = (attempts, amount, account)
    (self.issuedAt, self.startedAt, self.finishedAt) = (issuedAt, startedAt, finishedAt)
    (self.itemName, self.shortages, self.result) = (itemName, shortages, result)
    let rule = service.postingRule ?? postingRule
    self.postingRule = outcome == .served && amount > 0 ? rule : nil
  }

  /// The movement of money of this receipt; nil if no money was moved.
  public var transfer: Transfer? {
    postingRule.map { Transfer(by: $0, amount: amount, account: account) }
  }
}

/// How an attempt ended.
public enum AttemptEnd: UInt8, NameCodable {
  /// A worker finished the customer.
  case served = 1
  /// The teller's process exited, violated the protocol or reported a crash, or an outside worker disconnected.
  case killed = 2
  /// The teller's process may still run, but reported no progress in time, or exceeded the service's `timeout`.
  case leaseExpired = 3
  /// The coordinator took the customer back from the teller.
  case recalled = 4
  /// The teller reported a failure.
  case failed = 5
  /// The work was impossible at that time, which is not counted as a failure.
  case deferred = 6
  /// The coordinator exited before the end of the attempt was known.
  case lost = 7

  /// Names in JSON, in the order of the raw values.
  public static let names = ["served", "killed", "lease_expired", "recalled", "failed", "deferred", "lost"]
}

/// One attempt that ended without a receipt from its worker.
public struct Attempt: Hashable, Sendable {
  /// Business day of the ticket.
  public var day: BusinessDay
  /// Ticket number within the day.
  public var ticket: TicketNumber
  /// Number of the attempt, from 1.
  public var number: Int32
  /// Window at which the attempt was made; ``Window/unknown(_:)`` for a lost attempt.
  public var window: Window
  /// Generation of the teller; 0 for a lost attempt.
  public var generation: Generation
  /// Process id of the teller; 0 for a lost attempt.
  public var pid: Int32
  /// Time of the assignment; for a lost attempt, the time of its record.
  public var startedAt: WallTime
  /// End of the attempt.
  public var endedAt: WallTime
  /// Reason for the end.
  public var end: AttemptEnd
  /// Exit of the process; nil if it did not exit, or if its exit is unknown.
  public var processEnd: ProcessEnd?
  /// Details of a failure: the worker's reason, or the last lines of a command's output; empty for none. At most
  /// ``maxFailureTextBytes`` bytes.
  public var words = ""
  /// True if the customer became a dead letter after this attempt. Set in values that a store returns.
  public var isFatal = false

  /// In a shared bank, number of the branch that made the attempt.
  public var branch: Int64?
  /// Limit of ``words`` in bytes.
  public static let maxFailureTextBytes = 2_048

  public init(
    day: BusinessDay, ticket: TicketNumber, number: Int32, window: Window, generation: Generation,
    pid: Int32, startedAt: WallTime, endedAt: WallTime, end: AttemptEnd, processEnd: ProcessEnd?,
    words: String = ""
  ) {
    (self.day, self.ticket, self.number, self.window) = (day, ticket, number, window)
    (self.generation, self.pid, self.startedAt, self.endedAt) = (generation, pid, startedAt, endedAt)
    (self.end, self.processEnd, self.words) = (end, processEnd, words)
  }
}
