// Owns what remains of a customer: the receipt with its transfer, and the attempts that came before it.
// It knows no disk. Exactly one receipt ends every ticket; the shape of these values is the shape of the books.

import Time

/// How a ticket ended.
public enum Outcome: UInt8, Named {
  /// The work was done, once.
  case served = 1
  /// An operator took the customer out of the queue.
  case cancelled = 2
  /// A worker could not give the customer what was asked for: too little was in stock, and nothing was taken.
  case outOfStock = 3

  /// Whether a worker brought the business to its end, in whatever way. The books count these as served.
  public var isAttended: Bool { self != .cancelled }

  /// The names in JSON, in the order of the numbers.
  public static let names = ["served", "cancelled", "out_of_stock"]
}

/// An account of the ledger.
public enum LedgerAccount: Hashable, Sendable, CustomStringConvertible {
  case cash
  /// What the branch has lent.
  case loans
  case customer(AccountNumber)

  /// The number under which the account stands in the database: customers from 0 up, the branch's own below.
  public var code: Int64 {
    switch self {
    case .cash: -1
    case .loans: -2
    case .customer(let number): number
    }
  }

  /// The name in JSON: `cash`, `loans`, `customer-12`.
  public var description: String {
    switch self {
    case .cash: "cash"
    case .loans: "loans"
    case .customer(let number): "customer-\(number)"
    }
  }
}

/// A balanced movement of money: what is debited to one account is credited to the other.
public struct Transfer: Hashable, Sendable {
  /// The account that is debited.
  public var debit: LedgerAccount
  /// The account that is credited.
  public var credit: LedgerAccount
  /// Won, at least 1.
  public var amount: Won

  public init(debit: LedgerAccount, credit: LedgerAccount, amount: Won) {
    (self.debit, self.credit, self.amount) = (debit, credit, amount)
  }

  /// What serving a customer moves by a rule.
  public init(by rule: PostingRule, amount: Won, account: AccountNumber) {
    self.init(
      debit: rule.debit.account(of: account), credit: rule.credit.account(of: account), amount: amount)
  }
}

/// The end of one ticket.
public struct Receipt: Hashable, Sendable {
  /// The place in the order in which receipts were committed, from 1; 0 until the store has given one.
  public var sequence: Int64
  /// The business day of the ticket.
  public var day: BusinessDay
  /// The ticket's number.
  public var ticket: TicketNumber
  /// What the customer came for.
  public var service: Service
  /// How soon the customer was served.
  public var priority: Priority
  /// How it ended.
  public var outcome: Outcome
  /// Where it ended; nil where no window had the customer.
  public var window: Window?
  /// The teller's generation; 0 where no window had the customer.
  public var generation: Generation
  /// The teller's process; 0 where no window had the customer.
  public var pid: Int32
  /// Attempts in all, the last one included; 0 where there was none.
  public var attempts: Int32
  /// The amount the customer came with, in won.
  public var amount: Won
  /// The customer's account.
  public var account: AccountNumber
  /// When the ticket was issued.
  public var issuedAt: WallTime
  /// When the last attempt began; nil where there was none.
  public var startedAt: WallTime?
  /// When the ticket ended.
  public var finishedAt: WallTime
  /// The name of what the customer ordered; empty for nothing.
  public var article: String
  /// What was missing, where the outcome is ``Outcome/outOfStock``.
  public var shortages: [Shortage]
  /// What the work left behind, where it was done; nil for nothing.
  public var result: WorkResult?
  /// The rule by which the amount was moved when the customer was served; nil where nothing was moved.
  public var postingRule: PostingRule?

  /// The number of the branch that has written it, where several share the books; nil where the books are the bank's own.
  public var branch: Int64?

  /// - Parameter postingRule: of the service. Deposits and loans have theirs; one of any other counts where the customer was
  ///   served and came with an amount.
  public init(
    sequence: Int64 = 0, day: BusinessDay, ticket: TicketNumber, service: Service, priority: Priority,
    outcome: Outcome, window: Window?, generation: Generation, pid: Int32, attempts: Int32, amount: Won,
    account: AccountNumber, issuedAt: WallTime, startedAt: WallTime?, finishedAt: WallTime,
    article: String = "", shortages: [Shortage] = [], result: WorkResult? = nil,
    postingRule: PostingRule? = nil
  ) {
    (self.sequence, self.day, self.ticket) = (sequence, day, ticket)
    (self.service, self.priority, self.outcome) = (service, priority, outcome)
    (self.window, self.generation, self.pid) = (window, generation, pid)
    (self.attempts, self.amount, self.account) = (attempts, amount, account)
    (self.issuedAt, self.startedAt, self.finishedAt) = (issuedAt, startedAt, finishedAt)
    (self.article, self.shortages, self.result) = (article, shortages, result)
    let rule = service.postingRule ?? postingRule
    self.postingRule = outcome == .served && amount > 0 ? rule : nil
  }

  /// The movement of money that this receipt stands for; nil where nothing was done.
  public var transfer: Transfer? {
    postingRule.map { Transfer(by: $0, amount: amount, account: account) }
  }
}

/// How an attempt at serving a customer ended.
public enum AttemptEnd: UInt8, Named {
  /// With a receipt.
  case served = 1
  /// The teller died.
  case killed = 2
  /// The teller lived and made no progress.
  case leaseExpired = 3
  /// The customer was taken back from the teller.
  case recalled = 4
  /// The teller reported that it could not.
  case failed = 5
  /// The work could not be done now, by nobody's fault.
  case deferred = 6
  /// It was begun, and the coordinator ended before its end was known. Only of a service that counts its attempts.
  case lost = 7

  /// The names in JSON, in the order of the numbers.
  public static let names = ["served", "killed", "lease_expired", "recalled", "failed", "deferred", "lost"]
}

/// One attempt at serving one customer that ended without being served.
public struct Attempt: Hashable, Sendable {
  /// The business day of the ticket.
  public var day: BusinessDay
  /// The ticket's number.
  public var ticket: TicketNumber
  /// 1 for the first.
  public var number: Int32
  /// Where.
  public var window: Window
  /// By which teller there.
  public var generation: Generation
  /// In which process.
  public var pid: Int32
  /// When the customer was handed out.
  public var startedAt: WallTime
  /// When the attempt ended.
  public var endedAt: WallTime
  /// How.
  public var end: AttemptEnd
  /// How the process ended, where it did.
  public var processEnd: ProcessEnd?
  /// What there is to say of a failure: the reason that the worker gave, or the last lines of a command; empty for nothing.
  /// At most ``longestWords`` bytes.
  public var words = ""
  /// Whether the customer was put aside as a dead letter after it. A store says so of what it gives out; what it is given
  /// has not come so far.
  public var isFatal = false

  /// The number of the branch in which it was, where several share the books; nil where the books are the bank's own.
  public var branch: Int64?
  /// The longest ``words``, in bytes.
  public static let longestWords = 2_048

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
