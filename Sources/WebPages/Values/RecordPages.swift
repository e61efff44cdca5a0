// Owns what the pages of the books show: tickets, dead letters, receipts, the audit, the ledger. Invariant: a list is one
// page of at most 200 rows, and its filter is everything that its address says.
import BankModel

/// What a list leaves out; all of it stands in the URL.
public struct RecordFilter: Sendable, Equatable {
  /// Only these; nil for all. `service`.
  public var service: ServiceName?
  /// Only these; nil for all. `state`.
  public var state: CustomerState?
  /// Only these; nil for all. `outcome`.
  public var outcome: Outcome?
  /// Only what comes after this number. `after`.
  public var after: Int64
  /// Which day; nil for the present one. `day`.
  public var day: Int64?

  public init(
    service: ServiceName? = nil, state: CustomerState? = nil, outcome: Outcome? = nil, after: Int64 = 0,
    day: Int64? = nil
  ) {
    (self.service, self.state, self.outcome, self.after, self.day) = (service, state, outcome, after, day)
  }
}

/// A ticket as a list shows it.
public struct TicketRow: Sendable, Equatable {
  /// The business day.
  public var day: BusinessDay
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority
  /// Where the customer stands.
  public var state: CustomerState
  /// At which window.
  public var window: String?
  /// Won.
  public var amount: Won
  /// What was ordered.
  public var article: String?
  /// When the ticket was issued, in milliseconds since 1970.
  public var issuedAt: Int64
  /// Attempts so far.
  public var attempts: Int64
  /// How the last attempt at a dead letter ended, with the signal's name or the exit code.
  public var end: AttemptEnd?
  /// `SIGSEGV`.
  public var signal: String?
  /// `65`.
  public var code: Int32?
  /// Why, in its worker's or its command's own words.
  public var reason: String?

  /// The row's name among the rows of all days, so that a row that is selected is never another day's.
  public var key: String { "\(day)-\(ticket)" }

  public init(
    day: BusinessDay, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular,
    state: CustomerState, window: String? = nil, amount: Won = 0, article: String? = nil, issuedAt: Int64,
    attempts: Int64 = 0,
    end: AttemptEnd? = nil, signal: String? = nil, code: Int32? = nil, reason: String? = nil
  ) {
    (self.day, self.ticket, self.service) = (day, ticket, service)
    (self.priority, self.state) = (priority, state)
    (self.window, self.amount, self.article, self.issuedAt) = (window, amount, article, issuedAt)
    (self.attempts, self.end, self.signal, self.code) = (attempts, end, signal, code)
    self.reason = reason
  }
}

/// One page of a list of customers, of whom some can be selected.
public struct TicketList: Sendable, Equatable {
  /// What is shown.
  public var filter: RecordFilter
  /// At most 200.
  public var rows: [TicketRow]
  /// How many there are in all with this filter; nil where nobody counts.
  public var total: Int64?
  /// The business day of the list.
  public var day: BusinessDay
  /// `after` of the next page; nil on the last.
  public var next: Int64?
  /// What there is to choose.
  public var services: [ServiceName]

  public init(
    filter: RecordFilter = RecordFilter(), rows: [TicketRow] = [], total: Int64? = nil, day: BusinessDay,
    next: Int64? = nil, services: [ServiceName] = []
  ) {
    (self.filter, self.rows, self.total, self.next, self.services) = (filter, rows, total, next, services)
    self.day = day
  }
}

/// `/tickets`: everybody who has no receipt yet.
public struct TicketsPage: WebPage {
  /// Who is listed.
  public var list: TicketList

  public init(_ list: TicketList) { self.list = list }
}

/// `/dead`: dead letters, for which an operator decides.
public struct DeadPage: WebPage {
  /// Who is listed.
  public var list: TicketList

  public init(_ list: TicketList) { self.list = list }
}

/// `/receipts`: the ends of tickets, in the order of their commits.
public struct ReceiptsPage: WebPage {
  /// What is shown.
  public var filter: RecordFilter
  /// At most 200.
  public var rows: [ReceiptRow]
  /// `after` of the next page; nil on the last.
  public var next: Int64?
  /// What there is to choose.
  public var services: [ServiceName]

  public init(
    filter: RecordFilter = RecordFilter(), rows: [ReceiptRow] = [], next: Int64? = nil,
    services: [ServiceName] = []
  ) {
    (self.filter, self.rows, self.next, self.services) = (filter, rows, next, services)
  }
}

/// One promise, and whether it is kept.
public struct PromiseRow: Sendable, Equatable {
  /// Which.
  public var name: Promise
  /// By how much; 0 where it is kept, nil where it could not be checked.
  public var difference: WonSum?

  public init(name: Promise, difference: WonSum? = nil) {
    (self.name, self.difference) = (name, difference)
  }
}

/// A promise that an audit checks.
public enum Promise: String, Sendable, CaseIterable {
  /// Tickets that stand nowhere.
  case lost
  /// Tickets that stand in more than one place.
  case duplicated
  /// Won by which debits and credits differ.
  case ledger
  /// Pieces by which the stock differs.
  case stock
  /// Won by which the machine's money differs.
  case money
}

/// `/audit`: the promises and whether they are kept, now.
public struct AuditPage: WebPage {
  /// When it was looked, in milliseconds since 1970; nil while the first look lasts.
  public var time: Int64?
  /// Each of them.
  public var promises: [PromiseRow]
  /// Everything that is not as promised, a sentence each.
  public var problems: [String]
  /// What is worth knowing and breaks no promise.
  public var notes: [String]
  /// Tickets issued over all days.
  public var issued: Int64
  /// Receipts of the served.
  public var served: Int64
  /// Receipts of the cancelled.
  public var cancelled: Int64
  /// Customers in line and at a window.
  public var waiting: Int64
  /// Customers who wait for a moment.
  public var delayed: Int64
  /// Dead letters.
  public var dead: Int64

  public init(
    time: Int64? = nil, promises: [PromiseRow] = [], problems: [String] = [], notes: [String] = [],
    issued: Int64 = 0, served: Int64 = 0, cancelled: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0,
    dead: Int64 = 0
  ) {
    (self.time, self.promises, self.problems, self.notes) = (time, promises, problems, notes)
    (self.issued, self.served, self.cancelled, self.waiting) = (issued, served, cancelled, waiting)
    (self.delayed, self.dead) = (delayed, dead)
  }
}

/// An account and what moved on it.
public struct LedgerLine: Sendable, Equatable {
  /// `cash`, `loans`, `customer-12`.
  public var account: String
  /// Debits.
  public var debit: WonSum
  /// Credits.
  public var credit: WonSum
  /// Transfers that touched it.
  public var transfers: Int64

  public init(account: String, debit: WonSum, credit: WonSum, transfers: Int64 = 0) {
    (self.account, self.debit, self.credit, self.transfers) = (account, debit, credit, transfers)
  }
}

/// `/ledger`: the trial balance.
public struct LedgerPage: WebPage {
  /// The accounts, the branch's own first.
  public var lines: [LedgerLine]
  /// The account that is asked for; nil for all.
  public var account: String?
  /// The last receipts that moved it, the latest first.
  public var latest: [ReceiptRow]

  public init(lines: [LedgerLine] = [], account: String? = nil, latest: [ReceiptRow] = []) {
    (self.lines, self.account, self.latest) = (lines, account, latest)
  }
}
