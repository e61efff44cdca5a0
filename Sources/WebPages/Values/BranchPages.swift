// Owns what the pages of the branch show: the two lists, a ticket, the call display, windows and services.
// Invariant: a page is a value; two equal pages are the same document.
import BankModel

/// `/`: the two lists, the running timer, adding and reset.
public struct BankPage: WebPage {
  /// The branch as a whole.
  public var state: BankState
  /// The business day.
  public var day: Int64
  /// How long somebody waited or was served.
  public var businessMilliseconds: Int64
  /// Whether that goes on by itself.
  public var timerRuns: Bool
  /// The numbers of the day.
  public var counts: BranchCounts
  /// How fast it goes.
  public var rates: BranchRates
  /// The first in line, in the order of their numbers.
  public var waiting: [WaitingRow]
  /// Who is at a window.
  public var serving: [ServingRow]
  /// What happened last, oldest first.
  public var events: [EventRow]
  /// The coordinator's process.
  public var coordinator: Int32?
  /// Starts of the coordinator on this home.
  public var generation: Int64
  /// The branches that share the books, this one among them; empty where the bank has its books in its home.
  public var branches: [BranchRow]

  public init(
    state: BankState, day: Int64, businessMilliseconds: Int64 = 0, timerRuns: Bool = false,
    counts: BranchCounts = BranchCounts(), rates: BranchRates = BranchRates(), waiting: [WaitingRow] = [],
    serving: [ServingRow] = [], events: [EventRow] = [], coordinator: Int32? = nil, generation: Int64 = 0,
    branches: [BranchRow] = []
  ) {
    (self.state, self.day, self.businessMilliseconds) = (state, day, businessMilliseconds)
    (self.timerRuns, self.counts, self.rates, self.waiting) = (timerRuns, counts, rates, waiting)
    (self.serving, self.events, self.coordinator) = (serving, events, coordinator)
    (self.generation, self.branches) = (generation, branches)
  }
}

/// One branch of a bank whose books several share.
public struct BranchRow: Sendable, Equatable {
  /// Its number.
  public var number: Int64
  /// Its name.
  public var name: String
  /// The machine on which it was opened last.
  public var host: String
  /// Whether it serves.
  public var state: BranchState
  /// Windows that are open or shall be.
  public var windows: Int64
  /// Customers served today.
  public var served: Int64
  /// How many it serves, in thousandths a second; nil where nobody has counted.
  public var rate: Int64?
  /// Whether it is the one that shows the page.
  public var isThis: Bool

  public init(
    number: Int64, name: String, host: String = "", state: BranchState, windows: Int64 = 0, served: Int64 = 0,
    rate: Int64? = nil, isThis: Bool = false
  ) {
    (self.number, self.name, self.host, self.state) = (number, name, host, state)
    (self.windows, self.served, self.rate, self.isThis) = (windows, served, rate, isThis)
  }
}

/// `/kiosk`: take a ticket of any service, grade and payload.
public struct KioskPage: WebPage {
  /// What there is.
  public var services: [ServiceRow]
  /// The last ticket that was taken here.
  public var latest: TicketNumber?
  /// The business day of that ticket.
  public var day: BusinessDay

  public init(services: [ServiceRow] = [], latest: TicketNumber? = nil, day: BusinessDay) {
    (self.services, self.latest, self.day) = (services, latest, day)
  }
}

/// One attempt at serving a customer.
public struct AttemptRow: Sendable, Equatable {
  /// Where; empty where nobody knows it any more.
  public var window: String
  /// By which teller there.
  public var generation: Int32
  /// In which process.
  public var pid: Int32
  /// When it began, in milliseconds since 1970.
  public var startedAt: Int64
  /// When it ended; nil while it lasts.
  public var endedAt: Int64?
  /// How it ended; nil while it lasts.
  public var end: AttemptEnd?
  /// The name of the signal that ended the process: `SIGKILL`.
  public var signal: String?
  /// The code with which it ended.
  public var code: Int32?
  /// What the worker said of it.
  public var words: String?
  /// Whether the customer was put aside after it.
  public var isFatal: Bool
  /// In which branch of a bank that has several.
  public var branch: Int64?

  public init(
    window: String, generation: Int32, pid: Int32, startedAt: Int64, endedAt: Int64? = nil,
    end: AttemptEnd? = nil, signal: String? = nil, code: Int32? = nil, words: String? = nil,
    isFatal: Bool = false, branch: Int64? = nil
  ) {
    (self.window, self.generation, self.pid, self.startedAt) = (window, generation, pid, startedAt)
    (self.endedAt, self.end, self.signal, self.code, self.words) = (endedAt, end, signal, code, words)
    (self.isFatal, self.branch) = (isFatal, branch)
  }
}

/// The end of a ticket.
public struct ReceiptRow: Sendable, Equatable {
  /// The place in the order of commits, from 1.
  public var sequence: Int64
  /// The business day.
  public var day: Int64
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority
  /// How it ended.
  public var outcome: Outcome
  /// Where.
  public var window: String?
  /// Attempts in all.
  public var attempts: Int64
  /// Won that were moved.
  public var amount: Won
  /// The account that was debited.
  public var debit: String?
  /// The account that was credited.
  public var credit: String?
  /// When it ended, in milliseconds since 1970.
  public var finishedAt: Int64
  /// What the work left behind.
  public var result: ShownText?
  /// What its command wrote to the standard error.
  public var errors: ShownText?
  /// With which code its command ended.
  public var exitCode: Int32?
  /// What was missing, where the outcome is out of stock.
  public var missing: [Shortage]

  public init(
    sequence: Int64, day: Int64, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular,
    outcome: Outcome, window: String? = nil, attempts: Int64 = 1, amount: Won = 0, debit: String? = nil,
    credit: String? = nil, finishedAt: Int64, result: ShownText? = nil, errors: ShownText? = nil,
    exitCode: Int32? = nil, missing: [Shortage] = []
  ) {
    (self.sequence, self.day, self.ticket, self.service) = (sequence, day, ticket, service)
    (self.priority, self.outcome, self.window, self.attempts) = (priority, outcome, window, attempts)
    (self.amount, self.debit, self.credit, self.finishedAt) = (amount, debit, credit, finishedAt)
    (self.result, self.errors, self.exitCode, self.missing) = (result, errors, exitCode, missing)
  }
}

/// A piece of what the command of a ticket wrote.
public struct OutputChunk: Sendable, Equatable {
  /// Grows by one, from 0.
  public var number: Int64
  /// What it wrote.
  public var text: String
  /// Whether it was written to the standard error.
  public var isError: Bool

  public init(number: Int64, text: String, isError: Bool = false) {
    (self.number, self.text, self.isError) = (number, text, isError)
  }
}

/// `/ticket/N`: one customer, and everything that happened.
public struct TicketPage: WebPage {
  /// The business day.
  public var day: Int64
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority
  /// Won; 0 where no money moves.
  public var amount: Won
  /// Whose account.
  public var account: AccountNumber
  /// What was ordered.
  public var article: String?
  /// When the ticket was issued, in milliseconds since 1970.
  public var issuedAt: Int64
  /// Where the customer stands.
  public var state: CustomerState
  /// The place in line, from 1.
  public var position: Int64?
  /// Until service begins, expected.
  public var etaMilliseconds: Int64?
  /// Until when, while delayed.
  public var dueAt: Int64?
  /// At which window.
  public var window: String?
  /// How far the work has come, 0 to 100.
  public var percent: Int64?
  /// What the work says of itself.
  public var progress: String?
  /// Every attempt, in order.
  public var attempts: [AttemptRow]
  /// The receipt, when done.
  public var receipt: ReceiptRow?
  /// What the customer carries.
  public var payload: ShownText?
  /// What its command wrote, in order.
  public var output: [OutputChunk]
  /// Whether output before the first piece was left out.
  public var isCut: Bool

  public init(
    day: Int64, ticket: TicketNumber, service: ServiceName, priority: Priority = .regular, amount: Won = 0,
    account: AccountNumber = 0, article: String? = nil, issuedAt: Int64, state: CustomerState,
    position: Int64? = nil, etaMilliseconds: Int64? = nil, dueAt: Int64? = nil, window: String? = nil,
    percent: Int64? = nil, progress: String? = nil, attempts: [AttemptRow] = [],
    receipt: ReceiptRow? = nil, payload: ShownText? = nil, output: [OutputChunk] = [], isCut: Bool = false
  ) {
    (self.day, self.ticket, self.service, self.priority) = (day, ticket, service, priority)
    (self.amount, self.account, self.article, self.issuedAt) = (amount, account, article, issuedAt)
    (self.state, self.position, self.etaMilliseconds) = (state, position, etaMilliseconds)
    (self.dueAt, self.window, self.percent, self.progress) = (dueAt, window, percent, progress)
    (self.attempts, self.receipt, self.payload, self.output) = (attempts, receipt, payload, output)
    self.isCut = isCut
  }
}

/// A customer who is called to a window.
public struct Call: Sendable, Equatable {
  /// The business day.
  public var day: BusinessDay
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority
  /// Where.
  public var window: String
  /// Counts the calls of this customer, from 1.
  public var attempt: Int64
  /// Whether the customer was called before.
  public var isAgain: Bool { attempt > 1 }
  /// The name of the call: another name is another call.
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
  /// The newest first, at most five.
  public var calls: [Call]
  /// Customers in line.
  public var waiting: Int64
  /// Customers at a window.
  public var serving: Int64
  /// Customers who were attended to today.
  public var served: Int64
  /// The branch as a whole.
  public var state: BankState

  public init(
    calls: [Call] = [], waiting: Int64 = 0, serving: Int64 = 0, served: Int64 = 0, state: BankState = .open
  ) {
    (self.calls, self.waiting, self.serving, self.served) = (calls, waiting, serving, served)
    self.state = state
  }
}

/// `/windows`: every window, and what an operator does with it.
public struct WindowsPage: WebPage {
  /// Every window.
  public var windows: [WindowRow]
  /// Every service.
  public var services: [ServiceRow]
  /// The last that was ended from a page.
  public var death: WindowDeath?
  /// The business day of the tickets at the windows.
  public var day: BusinessDay

  public init(
    windows: [WindowRow] = [], services: [ServiceRow] = [], death: WindowDeath? = nil, day: BusinessDay
  ) {
    (self.windows, self.services, self.death, self.day) = (windows, services, death, day)
  }
}

/// One line of a log.
public struct LogLine: Sendable, Equatable {
  /// Grows by one.
  public var number: Int64
  /// The line as it stands in the file.
  public var text: String

  public init(number: Int64, text: String) {
    (self.number, self.text) = (number, text)
  }
}

/// `/windows/NAME/log`: the log of one worker as it grows.
public struct WindowLogPage: WebPage {
  /// Whose.
  public var name: String
  /// The last lines, oldest first.
  public var lines: [LogLine]

  public init(name: String, lines: [LogLine] = []) {
    (self.name, self.lines) = (name, lines)
  }
}

/// `/services`: lines, and rates of ten minutes as small plots.
public struct ServicesPage: WebPage {
  /// Every service.
  public var services: [ServiceRow]
  /// The numbers of the day.
  public var counts: BranchCounts
  /// How fast it goes.
  public var rates: BranchRates

  public init(
    services: [ServiceRow] = [], counts: BranchCounts = BranchCounts(), rates: BranchRates = BranchRates()
  ) {
    (self.services, self.counts, self.rates) = (services, counts, rates)
  }
}
