// Owns the values that several pages of the branch show: counts, rows of the two lists, events, windows and services. They
// are plain copies of what the sockets told; times are milliseconds, since 1970 where they name a moment, and rates are
// thousandths of a customer a second. Invariant: nothing here decides anything.
import BankModel

/// The numbers of a day: always `issued = waiting + delayed + serving + served + dead + cancelled`.
public struct BranchCounts: Sendable, Equatable {
  /// Tickets issued.
  public var issued: Int64
  /// Customers in line.
  public var waiting: Int64
  /// Customers who wait for a moment.
  public var delayed: Int64
  /// Customers at a window.
  public var serving: Int64
  /// Customers who were attended to.
  public var served: Int64
  /// Customers whom an operator has taken out.
  public var cancelled: Int64
  /// Dead letters.
  public var dead: Int64

  public init(
    issued: Int64 = 0, waiting: Int64 = 0, delayed: Int64 = 0, serving: Int64 = 0, served: Int64 = 0,
    cancelled: Int64 = 0, dead: Int64 = 0
  ) {
    (self.issued, self.waiting, self.delayed, self.serving) = (issued, waiting, delayed, serving)
    (self.served, self.cancelled, self.dead) = (served, cancelled, dead)
  }
}

/// How fast customers are served and come, in thousandths a second.
public struct BranchRates: Sendable, Equatable {
  /// Served, over the last second.
  public var servedSecond: Int64
  /// Served, over the last ten seconds.
  public var servedTenSeconds: Int64
  /// Served, over the last ten minutes.
  public var servedTenMinutes: Int64
  /// Issued, over the last second.
  public var issuedSecond: Int64
  /// Issued, over the last ten seconds.
  public var issuedTenSeconds: Int64
  /// Issued, over the last ten minutes.
  public var issuedTenMinutes: Int64

  public init(
    servedSecond: Int64 = 0, servedTenSeconds: Int64 = 0, servedTenMinutes: Int64 = 0,
    issuedSecond: Int64 = 0, issuedTenSeconds: Int64 = 0, issuedTenMinutes: Int64 = 0
  ) {
    (self.servedSecond, self.servedTenSeconds) = (servedSecond, servedTenSeconds)
    (self.servedTenMinutes, self.issuedSecond) = (servedTenMinutes, issuedSecond)
    (self.issuedTenSeconds, self.issuedTenMinutes) = (issuedTenSeconds, issuedTenMinutes)
  }
}

/// Somebody in line, as a list shows it.
public struct WaitingRow: Sendable, Equatable {
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority

  public init(ticket: TicketNumber, service: ServiceName, priority: Priority = .regular) {
    (self.ticket, self.service, self.priority) = (ticket, service, priority)
  }
}

/// Somebody at a window, as a list shows it.
public struct ServingRow: Sendable, Equatable {
  /// The number.
  public var ticket: TicketNumber
  /// What for.
  public var service: ServiceName
  /// How soon.
  public var priority: Priority
  /// At which window: `deposit-1`.
  public var window: String
  /// Since when, in milliseconds since 1970; nil where nobody says.
  public var since: Int64?
  /// Which attempt it is, from 1.
  public var attempt: Int64
  /// How far the work has come, 0 to 100; nil where it says nothing.
  public var percent: Int64?
  /// What the work says of itself.
  public var progress: String?

  public init(
    ticket: TicketNumber, service: ServiceName, priority: Priority = .regular, window: String,
    since: Int64? = nil, attempt: Int64 = 1, percent: Int64? = nil, progress: String? = nil
  ) {
    (self.ticket, self.service, self.priority, self.window) = (ticket, service, priority, window)
    (self.since, self.attempt, self.percent, self.progress) = (since, attempt, percent, progress)
  }
}

/// Something that happened in the branch.
public struct EventRow: Sendable, Equatable {
  /// What.
  public enum Kind: String, Sendable, CaseIterable {
    case issued, started, served, cancelled, dead, failed, deferred
    /// A teller died; ``EventRow/signal`` tells how.
    case died
    /// The queue was emptied, and numbers begin at 1 again.
    case reset
  }

  /// Grows by one, in a coordinator's life.
  public var sequence: Int64
  /// When, in milliseconds since 1970.
  public var time: Int64
  /// What.
  public var kind: Kind
  /// The business day on which it happened.
  public var day: BusinessDay
  /// The customer, or the first of those who came together.
  public var ticket: TicketNumber?
  /// The last of those who came together; nil for one alone.
  public var lastTicket: TicketNumber?
  /// What for.
  public var service: ServiceName?
  /// At which window.
  public var window: String?
  /// In which process.
  public var pid: Int32?
  /// The name of the signal that ended the process: `SIGKILL`.
  public var signal: String?
  /// Which attempt it was, from 1.
  public var attempt: Int64?

  public init(
    sequence: Int64, time: Int64, kind: Kind, day: BusinessDay, ticket: TicketNumber? = nil,
    lastTicket: TicketNumber? = nil,
    service: ServiceName? = nil, window: String? = nil, pid: Int32? = nil, signal: String? = nil,
    attempt: Int64? = nil
  ) {
    (self.sequence, self.time, self.kind, self.day) = (sequence, time, kind, day)
    self.ticket = ticket
    (self.lastTicket, self.service, self.window, self.pid) = (lastTicket, service, window, pid)
    (self.signal, self.attempt) = (signal, attempt)
  }
}

/// So many customers of one grade in line.
public struct GradeCount: Sendable, Equatable {
  /// Which; nil for all those that are not listed apart.
  public var priority: Priority?
  /// How many.
  public var count: Int64

  public init(priority: Priority? = nil, count: Int64) {
    (self.priority, self.count) = (priority, count)
  }
}

/// A service and its line.
public struct ServiceRow: Sendable, Equatable {
  /// Which.
  public var service: ServiceName
  /// Whether it is paused.
  public var isPaused: Bool
  /// Why it has paused by itself.
  public var pauseReason: String?
  /// Windows that are open or shall be.
  public var windows: Int64
  /// In line, by grade.
  public var waiting: [GradeCount]
  /// In line, all of them.
  public var waitingTotal: Int64
  /// Customers who wait for a moment.
  public var delayed: Int64
  /// At a window.
  public var serving: Int64
  /// Dead letters.
  public var dead: Int64
  /// Served over the last ten minutes, in thousandths a second.
  public var servedTenMinutes: Int64
  /// Served in equal parts of the last ten minutes, the oldest first: what the small plot shows.
  public var history: [Int64]

  public init(
    service: ServiceName, isPaused: Bool = false, pauseReason: String? = nil, windows: Int64 = 0,
    waiting: [GradeCount] = [], waitingTotal: Int64 = 0, delayed: Int64 = 0, serving: Int64 = 0,
    dead: Int64 = 0, servedTenMinutes: Int64 = 0, history: [Int64] = []
  ) {
    (self.service, self.isPaused, self.pauseReason) = (service, isPaused, pauseReason)
    (self.windows, self.waiting, self.waitingTotal) = (windows, waiting, waitingTotal)
    (self.delayed, self.serving, self.dead) = (delayed, serving, dead)
    (self.servedTenMinutes, self.history) = (servedTenMinutes, history)
  }
}

/// A window or a worker behind the windows.
public struct WindowRow: Sendable, Equatable {
  /// `deposit-1`, `stock`.
  public var name: String
  /// What it serves; nil behind the windows.
  public var service: ServiceName?
  /// Its process; nil where there is none at the moment.
  public var pid: Int32?
  /// Counts its processes, from 1.
  public var generation: Int32
  /// What it is doing.
  public var state: WorkerState
  /// Whom it serves.
  public var tickets: [TicketNumber]
  /// Since when, in milliseconds since 1970.
  public var since: Int64?
  /// Served since the bank opened.
  public var served: Int64
  /// How often it was replaced.
  public var restarts: Int64
  /// Memory of the process; nil where nobody says.
  public var memoryBytes: Int64?
  /// Why it does not work, in words.
  public var trouble: String?
  /// Whether it was given up.
  public var isFailed: Bool

  public init(
    name: String, service: ServiceName? = nil, pid: Int32? = nil, generation: Int32 = 1,
    state: WorkerState, tickets: [TicketNumber] = [], since: Int64? = nil, served: Int64 = 0,
    restarts: Int64 = 0, memoryBytes: Int64? = nil, trouble: String? = nil, isFailed: Bool = false
  ) {
    (self.name, self.service, self.pid, self.generation) = (name, service, pid, generation)
    (self.state, self.tickets, self.since, self.served) = (state, tickets, since, served)
    (self.restarts, self.memoryBytes, self.trouble) = (restarts, memoryBytes, trouble)
    self.isFailed = isFailed
  }
}

/// A teller that was ended by somebody, and what became of its customer.
public struct WindowDeath: Sendable, Equatable {
  /// How far it has come.
  public enum Stage: Sendable, Equatable {
    /// It shall be ended.
    case ordered
    /// It has died, with this customer or with nobody.
    case died(ticket: TicketNumber?)
    /// Its customer is served again, exactly after this or after this at the most.
    case served(ticket: TicketNumber, window: String, milliseconds: Int64, isExact: Bool)
    /// Its successor is ready; nil where nobody saw how soon.
    case succeeded(generation: Int64, milliseconds: Int64?)
    /// Its customer was taken out, or put aside.
    case ended(ticket: TicketNumber)
  }

  /// Where.
  public var window: String
  /// Which of its processes.
  public var generation: Int64
  /// The process.
  public var pid: Int32
  /// What became of it.
  public var stage: Stage

  public init(window: String, generation: Int64, pid: Int32, stage: Stage) {
    (self.window, self.generation, self.pid, self.stage) = (window, generation, pid, stage)
  }
}
