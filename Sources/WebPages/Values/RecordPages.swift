// Values of the record pages: tickets, dead letters, receipts, audit, ledger.
// Invariant: a list is one page of a limited number of rows, and its address contains the complete filter.
import BankModel

/// Filter of a list; all fields are in the URL.
public struct RecordFilter: Sendable, Equatable {
  /// Only this service; nil for all. Query field `service`.
  public var service: ServiceName?
  /// Only this state; nil for all. Query field `state`.
  public var state: CustomerState?
  /// Only this outcome; nil for all. Query field `outcome`.
  public var outcome: Outcome?
  /// Only rows after this ticket number, or after this sequence number of receipts. Query field `after`.
  public var after: Int64
  /// Business day; nil for the present one. Query field `day`.
  public var day: Int64?

  public init(
    service: ServiceName? = nil, state: CustomerState? = nil, outcome: Outcome? = nil, after: Int64 = 0,
    day: Int64? = nil
  ) {
    (self.service, self.state, self.outcome, self.after, self.day) = (service, state, outcome, after, day)
  }
}

/// Row of a customer in a list.
public struct TicketRow: Sendable, Equatable {
  /// Business day.
  public var day: BusinessDay
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority
  /// State of the customer.
  public var state: CustomerState
  /// Window of a customer in service.
  public var window: String?
  /// Amount in won.
  public var amount: Won
  /// Ordered article.
  public var itemName: String?
  /// Issue time in milliseconds since 1970.
  public var issuedAt: Int64
  /// Number of attempts so far.
  public var attempts: Int64
  /// Kind of end of a dead letter's last attempt; nil for other tickets.
  public var end: AttemptEnd?
  /// Name of the signal that ended the last attempt: `SIGSEGV`.
  public var signal: String?
  /// Exit code of the last attempt: `65`.
  public var code: Int32?
  /// Reason that the worker or the command reported.
  public var reason: String?

  /// Key of the row, unique over all days.
  public var key: String { "\(day)-\(ticket)" }

  public init(
    day: BusinessDay, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular,
    state: CustomerState, window: String? = nil, amount: Won = 0, itemName: String? = nil, issuedAt: Int64,
    attempts: Int64 = 0,
    end: AttemptEnd? = nil, signal: String? = nil, code: Int32? = nil, reason: String? = nil
  ) {
    (self.day, self.ticket, self.service) = (day, ticket, service)
    (self.priority, self.state) = (priority, state)
    (self.window, self.amount, self.itemName, self.issuedAt) = (window, amount, itemName, issuedAt)
    (self.attempts, self.end, self.signal, self.code) = (attempts, end, signal, code)
    self.reason = reason
  }
}

/// One page of a list of customers with checkboxes.
public struct TicketList: Sendable, Equatable {
  /// Filter of the list.
  public var filter: RecordFilter
  /// Customers of this page.
  public var rows: [TicketRow]
  /// Number of all customers of this filter; nil if they were not counted.
  public var total: Int64?
  /// Business day of the list.
  public var day: BusinessDay
  /// Value of the query field `after` for the next page; nil on the last page.
  public var next: Int64?
  /// Services to choose from.
  public var services: [ServiceName]

  public init(
    filter: RecordFilter = RecordFilter(), rows: [TicketRow] = [], total: Int64? = nil, day: BusinessDay,
    next: Int64? = nil, services: [ServiceName] = []
  ) {
    (self.filter, self.rows, self.total, self.next, self.services) = (filter, rows, total, next, services)
    self.day = day
  }
}

/// `/tickets`: all customers without a receipt.
public struct TicketsPage: WebPage {
  /// The listed customers.
  public var list: TicketList

  public init(_ list: TicketList) { self.list = list }
}

/// `/dead`: dead letters, which need a decision of an operator.
public struct DeadPage: WebPage {
  /// The listed customers.
  public var list: TicketList

  public init(_ list: TicketList) { self.list = list }
}

/// `/receipts`: a list of receipts.
public struct ReceiptsPage: WebPage {
  /// Filter of the list.
  public var filter: RecordFilter
  /// Receipts of this page.
  public var rows: [ReceiptRow]
  /// Value of the query field `after` for the next page; nil on the last page.
  public var next: Int64?
  /// Services to choose from.
  public var services: [ServiceName]

  public init(
    filter: RecordFilter = RecordFilter(), rows: [ReceiptRow] = [], next: Int64? = nil,
    services: [ServiceName] = []
  ) {
    (self.filter, self.rows, self.next, self.services) = (filter, rows, next, services)
  }
}

/// The result of the check of one promise, for a row of the audit's page.
public struct GuaranteeRow: Sendable, Equatable {
  /// The promise.
  public var name: Guarantee
  /// Difference; 0 if the promise is kept, nil if it could not be checked.
  public var difference: WonSum?

  public init(name: Guarantee, difference: WonSum? = nil) {
    (self.name, self.difference) = (name, difference)
  }
}

/// A promise that an audit checks.
public enum Guarantee: String, Sendable, CaseIterable {
  /// Number of tickets without any state.
  case lost
  /// Number of tickets with more than one state.
  case duplicated
  /// Difference of debits and credits in won.
  case ledger
  /// Difference of the stock in pieces.
  case stock
  /// Difference of the machine's money in won.
  case money
}

/// `/audit`: the promises with the results of the last check.
public struct AuditPage: WebPage {
  /// Time of the last check, in milliseconds since 1970; nil before the first check has ended.
  public var time: Int64?
  /// Results of the checks of all promises.
  public var guarantees: [GuaranteeRow]
  /// Violations, one sentence each.
  public var problems: [String]
  /// Remarks that are not violations.
  public var notes: [String]
  /// Issued tickets of all days.
  public var issued: Int64
  /// Receipts of served customers.
  public var served: Int64
  /// Receipts of cancelled customers.
  public var cancelled: Int64
  /// Customers waiting and at windows.
  public var waiting: Int64
  /// Customers with a later due time.
  public var delayed: Int64
  /// Dead letters.
  public var dead: Int64

  public init(
    time: Int64? = nil, guarantees: [GuaranteeRow] = [], problems: [String] = [], notes: [String] = [],
    issued: Int64 = 0, served: Int64 = 0, cancelled: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0,
    dead: Int64 = 0
  ) {
    (self.time, self.guarantees, self.problems, self.notes) = (time, guarantees, problems, notes)
    (self.issued, self.served, self.cancelled, self.waiting) = (issued, served, cancelled, waiting)
    (self.delayed, self.dead) = (delayed, dead)
  }
}

/// Row of an account of the ledger with its sums.
public struct LedgerLine: Sendable, Equatable {
  /// Name of the account: `cash`, `loans`, `customers`, `customer-12`.
  public var account: String
  /// Sum of debits.
  public var debit: WonSum
  /// Sum of credits.
  public var credit: WonSum
  /// Number of transfers of the account.
  public var transfers: Int64

  public init(account: String, debit: WonSum, credit: WonSum, transfers: Int64 = 0) {
    (self.account, self.debit, self.credit, self.transfers) = (account, debit, credit, transfers)
  }
}

/// `/ledger`: all accounts with their sums, or one account with its latest transfers.
public struct LedgerPage: WebPage {
  /// Accounts, starting with the bank's own accounts.
  public var lines: [LedgerLine]
  /// Requested account; nil for all.
  public var account: String?
  /// Last receipts with a transfer of the account, the latest first.
  public var latest: [ReceiptRow]

  public init(lines: [LedgerLine] = [], account: String? = nil, latest: [ReceiptRow] = []) {
    (self.lines, self.account, self.latest) = (lines, account, latest)
  }
}
