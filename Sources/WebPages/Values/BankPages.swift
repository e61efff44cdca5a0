// Values of the bank's pages.
// Invariant: a page is a value; equal pages give equal documents.
import BankModel

/// `/`: the two lists, the timer, and the buttons that add customers and reset the day.
public struct BankPage: WebPage {
  /// State of the bank.
  public var state: BankState
  /// Business day.
  public var day: Int64
  /// Business time of the day, in milliseconds.
  public var businessMilliseconds: Int64
  /// True while the business time increases.
  public var timerRuns: Bool
  /// Counters of the day.
  public var counts: BankCounts
  /// Rates of served and issued tickets.
  public var rates: BankRates
  /// First waiting customers of all lines, in the order of their ticket numbers.
  public var waiting: [WaitingRow]
  /// Customers at windows.
  public var serving: [ServingRow]
  /// Last events, oldest first.
  public var events: [EventRow]
  /// Process id of the coordinator.
  public var coordinator: Int32?
  /// Generation of the coordinator, counted up at each start in this home.
  public var generation: Int64
  /// Branches that share the database, including this one; empty for a database in the home.
  public var branches: [BranchRow]

  public init(
    state: BankState, day: Int64, businessMilliseconds: Int64 = 0, timerRuns: Bool = false,
    counts: BankCounts = BankCounts(), rates: BankRates = BankRates(), waiting: [WaitingRow] = [],
    serving: [ServingRow] = [], events: [EventRow] = [], coordinator: Int32? = nil, generation: Int64 = 0,
    branches: [BranchRow] = []
  ) {
    (self.state, self.day, self.businessMilliseconds) = (state, day, businessMilliseconds)
    (self.timerRuns, self.counts, self.rates, self.waiting) = (timerRuns, counts, rates, waiting)
    (self.serving, self.events, self.coordinator) = (serving, events, coordinator)
    (self.generation, self.branches) = (generation, branches)
  }
}

/// One branch of a bank with a shared database.
public struct BranchRow: Sendable, Equatable {
  /// Branch number.
  public var number: Int64
  /// Branch name.
  public var name: String
  /// Host on which the branch was last opened.
  public var host: String
  /// State of the branch.
  public var state: BranchState
  /// Number of windows.
  public var windows: Int64
  /// Customers served on the business day.
  public var served: Int64
  /// Rate of served customers in thousandths per second; nil if unknown.
  public var rate: Int64?
  /// True for the branch that serves this page.
  public var isThis: Bool

  public init(
    number: Int64, name: String, host: String = "", state: BranchState, windows: Int64 = 0, served: Int64 = 0,
    rate: Int64? = nil, isThis: Bool = false
  ) {
    (self.number, self.name, self.host, self.state) = (number, name, host, state)
    (self.windows, self.served, self.rate, self.isThis) = (windows, served, rate, isThis)
  }
}

/// `/kiosk`: takes tickets, with a choice of service and grade and a field for the payload.
public struct KioskPage: WebPage {
  /// Services to choose from.
  public var services: [ServiceRow]
  /// Last ticket taken on this page.
  public var latest: TicketNumber?
  /// Business day for the link to the last ticket.
  public var day: BusinessDay

  public init(services: [ServiceRow] = [], latest: TicketNumber? = nil, day: BusinessDay) {
    (self.services, self.latest, self.day) = (services, latest, day)
  }
}

/// One attempt at serving a customer.
public struct AttemptRow: Sendable, Equatable {
  /// Window; empty if unknown.
  public var window: String
  /// Generation of the process at the window.
  public var generation: Int32
  /// Process id of the worker.
  public var pid: Int32
  /// Start in milliseconds since 1970.
  public var startedAt: Int64
  /// End in milliseconds since 1970; nil while the attempt runs.
  public var endedAt: Int64?
  /// Kind of end; nil while the attempt runs.
  public var end: AttemptEnd?
  /// Name of the signal that ended the process: `SIGKILL`.
  public var signal: String?
  /// Exit code of the process.
  public var code: Int32?
  /// Text of the worker, or the last lines of the command; nil for none.
  public var message: String?
  /// True if the customer became a dead letter after this attempt.
  public var isFatal: Bool
  /// Number of the branch of a shared bank; nil for a bank whose database is in its home.
  public var branch: Int64?

  public init(
    window: String, generation: Int32, pid: Int32, startedAt: Int64, endedAt: Int64? = nil,
    end: AttemptEnd? = nil, signal: String? = nil, code: Int32? = nil, message: String? = nil,
    isFatal: Bool = false, branch: Int64? = nil
  ) {
    (self.window, self.generation, self.pid, self.startedAt) = (window, generation, pid, startedAt)
    (self.endedAt, self.end, self.signal, self.code, self.message) = (endedAt, end, signal, code, message)
    (self.isFatal, self.branch) = (isFatal, branch)
  }
}

/// Row of a receipt, also on the page of its ticket.
public struct ReceiptRow: Sendable, Equatable {
  /// Position in the order of receipts.
  public var sequence: Int64
  /// Business day.
  public var day: Int64
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority
  /// Outcome of the ticket.
  public var outcome: Outcome
  /// Window at which the customer was when its ticket ended; nil if it was at no window.
  public var window: String?
  /// Number of attempts.
  public var attempts: Int64
  /// Amount of the customer in won; 0 for none.
  public var amount: Won
  /// Debited account.
  public var debit: String?
  /// Credited account.
  public var credit: String?
  /// End in milliseconds since 1970.
  public var finishedAt: Int64
  /// Result of the work.
  public var result: AbridgedText?
  /// Standard error of the command.
  public var errors: AbridgedText?
  /// Exit code of the command.
  public var exitCode: Int32?
  /// Missing ingredients if the outcome is out of stock.
  public var missing: [Shortage]

  public init(
    sequence: Int64, day: Int64, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular,
    outcome: Outcome, window: String? = nil, attempts: Int64 = 1, amount: Won = 0, debit: String? = nil,
    credit: String? = nil, finishedAt: Int64, result: AbridgedText? = nil, errors: AbridgedText? = nil,
    exitCode: Int32? = nil, missing: [Shortage] = []
  ) {
    (self.sequence, self.day, self.ticket, self.service) = (sequence, day, ticket, service)
    (self.priority, self.outcome, self.window, self.attempts) = (priority, outcome, window, attempts)
    (self.amount, self.debit, self.credit, self.finishedAt) = (amount, debit, credit, finishedAt)
    (self.result, self.errors, self.exitCode, self.missing) = (result, errors, exitCode, missing)
  }
}

/// A piece of the output of a ticket's command.
public struct OutputChunk: Sendable, Equatable {
  /// Identity of the piece: twice its number in the file, plus 1 for standard error.
  public var number: Int64
  /// Text of the piece.
  public var text: String
  /// True for standard error.
  public var isError: Bool

  public init(number: Int64, text: String, isError: Bool = false) {
    (self.number, self.text, self.isError) = (number, text, isError)
  }
}

/// `/ticket/N`: one customer with all attempts.
public struct TicketPage: WebPage {
  /// Business day.
  public var day: Int64
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority
  /// Amount in won; 0 for none.
  public var amount: Won
  /// Customer's account.
  public var account: AccountNumber
  /// Ordered article.
  public var itemName: String?
  /// Issue time in milliseconds since 1970.
  public var issuedAt: Int64
  /// State of the customer.
  public var state: CustomerState
  /// Position in the line, from 1, while the customer waits; nil if unknown.
  public var position: Int64?
  /// Expected time until service starts.
  public var etaMilliseconds: Int64?
  /// Due time of a delayed customer.
  public var dueAt: Int64?
  /// Window of a customer in service.
  public var window: String?
  /// Progress of the work, 0 to 100.
  public var percent: Int64?
  /// Progress message of the work.
  public var progress: String?
  /// Attempts in order.
  public var attempts: [AttemptRow]
  /// Receipt of a finished ticket.
  public var receipt: ReceiptRow?
  /// Payload of the customer.
  public var payload: AbridgedText?
  /// Output of the command, in order.
  public var output: [OutputChunk]
  /// True if output before the first piece was left out.
  public var isTruncated: Bool

  public init(
    day: Int64, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular, amount: Won = 0,
    account: AccountNumber = 0, itemName: String? = nil, issuedAt: Int64, state: CustomerState,
    position: Int64? = nil, etaMilliseconds: Int64? = nil, dueAt: Int64? = nil, window: String? = nil,
    percent: Int64? = nil, progress: String? = nil, attempts: [AttemptRow] = [],
    receipt: ReceiptRow? = nil, payload: AbridgedText? = nil, output: [OutputChunk] = [],
    isTruncated: Bool = false
  ) {
    (self.day, self.ticket, self.service, self.priority) = (day, ticket, service, priority)
    (self.amount, self.account, self.itemName, self.issuedAt) = (amount, account, itemName, issuedAt)
    (self.state, self.position, self.etaMilliseconds) = (state, position, etaMilliseconds)
    (self.dueAt, self.window, self.percent, self.progress) = (dueAt, window, percent, progress)
    (self.attempts, self.receipt, self.payload, self.output) = (attempts, receipt, payload, output)
    self.isTruncated = isTruncated
  }
}

/// A customer called to a window.
public struct Call: Sendable, Equatable {
  /// Business day.
  public var day: BusinessDay
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority
  /// Window of the call.
  public var window: String
  /// Number of the customer's attempt, from 1.
  public var attempt: Int64
  /// True if the customer was called before.
  public var isRepeat: Bool { attempt > 1 }
  /// Identity of the call: day, ticket and attempt.
  public var key: String { "\(day)-\(ticket)-\(attempt)" }

  public init(
    day: BusinessDay, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular,
    window: String, attempt: Int64 = 1
  ) {
    (self.day, self.ticket, self.service, self.priority) = (day, ticket, service, priority)
    (self.window, self.attempt) = (window, attempt)
  }
}

/// `/lobby`: a call display for a wall.
public struct LobbyPage: WebPage {
  /// The calls, the newest first.
  public var calls: [Call]
  /// Number of waiting customers.
  public var waiting: Int64
  /// Number of customers at windows.
  public var serving: Int64
  /// Number of customers served on the business day.
  public var served: Int64
  /// State of the bank.
  public var state: BankState

  public init(
    calls: [Call] = [], waiting: Int64 = 0, serving: Int64 = 0, served: Int64 = 0, state: BankState = .open
  ) {
    (self.calls, self.waiting, self.serving, self.served) = (calls, waiting, serving, served)
    self.state = state
  }
}

/// `/windows`: the windows, with the operator's controls.
public struct WindowsPage: WebPage {
  /// All windows.
  public var windows: [WindowRow]
  /// All services.
  public var services: [ServiceRow]
  /// The last worker killed from a page; nil for none.
  public var lastKill: KillOutcome?
  /// Business day of the tickets at the windows.
  public var day: BusinessDay

  public init(
    windows: [WindowRow] = [], services: [ServiceRow] = [], lastKill: KillOutcome? = nil, day: BusinessDay
  ) {
    (self.windows, self.services, self.lastKill, self.day) = (windows, services, lastKill, day)
  }
}

/// One line of a log.
public struct LogLine: Sendable, Equatable {
  /// Byte offset of the line in the file, which identifies the line.
  public var number: Int64
  /// The line as in the file.
  public var text: String

  public init(number: Int64, text: String) {
    (self.number, self.text) = (number, text)
  }
}

/// `/windows/NAME/log`: the growing log of one window or of another process.
public struct WindowLogPage: WebPage {
  /// Name of the window or process.
  public var name: String
  /// Last lines, oldest first.
  public var lines: [LogLine]

  public init(name: String, lines: [LogLine] = []) {
    (self.name, self.lines) = (name, lines)
  }
}

/// `/services`: the services with their waiting customers, and plots of the customers served in the last ten minutes.
public struct ServicesPage: WebPage {
  /// All services.
  public var services: [ServiceRow]
  /// Counters of the day.
  public var counts: BankCounts
  /// Rates of served and issued tickets.
  public var rates: BankRates

  public init(
    services: [ServiceRow] = [], counts: BankCounts = BankCounts(), rates: BankRates = BankRates()
  ) {
    (self.services, self.counts, self.rates) = (services, counts, rates)
  }
}
