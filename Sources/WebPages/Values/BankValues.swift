// Values of several pages of the bank: counters, rows of the two lists, events, windows and services. Times are in
// milliseconds; a point in time counts from 1970. Rates are in thousandths of a customer per second.
import BankModel

/// Counters of a day.
public struct BankCounts: Sendable, Equatable {
  /// Issued tickets.
  public var issued: Int64
  /// Waiting customers.
  public var waiting: Int64
  /// Customers with a later due time.
  public var delayed: Int64
  /// Customers at windows.
  public var serving: Int64
  /// Served customers, including those with the outcome `out_of_stock`.
  public var served: Int64
  /// Cancelled customers.
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

/// Rates of served and issued tickets, in thousandths of a ticket per second.
public struct BankRates: Sendable, Equatable {
  /// Rate of served tickets over the last second.
  public var servedSecond: Int64
  /// Rate of served tickets over the last ten seconds.
  public var servedTenSeconds: Int64
  /// Rate of served tickets over the last ten minutes.
  public var servedTenMinutes: Int64
  /// Rate of issued tickets over the last second.
  public var issuedSecond: Int64
  /// Rate of issued tickets over the last ten seconds.
  public var issuedTenSeconds: Int64
  /// Rate of issued tickets over the last ten minutes.
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

/// Row of a waiting customer.
public struct WaitingRow: Sendable, Equatable {
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority

  public init(ticket: TicketNumber, service: ServiceName, priority: Priority = .regular) {
    (self.ticket, self.service, self.priority) = (ticket, service, priority)
  }
}

/// Row of a customer at a window.
public struct ServingRow: Sendable, Equatable {
  /// Ticket number.
  public var ticket: TicketNumber
  /// Service of the ticket.
  public var service: ServiceName
  /// Priority of the ticket.
  public var priority: Priority
  /// Window: `deposit-1`.
  public var window: String
  /// Start in milliseconds since 1970; nil if unknown.
  public var since: Int64?
  /// Number of the attempt, from 1.
  public var attempt: Int64
  /// Progress of the work, 0 to 100; nil if unknown.
  public var percent: Int64?
  /// Progress message of the work.
  public var progress: String?

  public init(
    ticket: TicketNumber, service: ServiceName, priority: Priority = .regular, window: String,
    since: Int64? = nil, attempt: Int64 = 1, percent: Int64? = nil, progress: String? = nil
  ) {
    (self.ticket, self.service, self.priority, self.window) = (ticket, service, priority, window)
    (self.since, self.attempt, self.percent, self.progress) = (since, attempt, percent, progress)
  }
}

/// Row of an event in the bank, such as an issued ticket or a worker that exited.
public struct EventRow: Sendable, Equatable {
  /// Kind of event.
  public enum Kind: String, Sendable, CaseIterable {
    /// Events of a customer: a ticket was issued, an attempt started, or the customer or its attempt ended in this way.
    case issued, started, served, cancelled, dead, failed, deferred
    /// A worker's process has ended; ``EventRow/signal`` is the signal, if one was the reason.
    case died
    /// The queue was emptied, and ticket numbers start at 1 again.
    case reset
  }

  /// Number of the event, counted by one coordinator process.
  public var sequence: Int64
  /// Time in milliseconds since 1970.
  public var time: Int64
  /// Kind of event.
  public var kind: Kind
  /// Business day of the event.
  public var day: BusinessDay
  /// Ticket, or the first ticket of a group that was issued together.
  public var ticket: TicketNumber?
  /// Last ticket of the group; nil for a single one.
  public var lastTicket: TicketNumber?
  /// Service of the ticket.
  public var service: ServiceName?
  /// Window of the event.
  public var window: String?
  /// Process id.
  public var pid: Int32?
  /// Name of the signal that ended the process: `SIGKILL`.
  public var signal: String?
  /// Number of the attempt, from 1.
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

/// Number of waiting customers of one priority of a service, or of all its other priorities.
public struct GradeCount: Sendable, Equatable {
  /// The priority; nil for all priorities that are not listed separately.
  public var priority: Priority?
  /// Number of customers.
  public var count: Int64

  public init(priority: Priority? = nil, count: Int64) {
    (self.priority, self.count) = (priority, count)
  }
}

/// A service with its windows, the numbers of its customers, and its rate.
public struct ServiceRow: Sendable, Equatable {
  /// Name of the service.
  public var service: ServiceName
  /// True while the service is paused.
  public var isPaused: Bool
  /// Reason of an automatic pause.
  public var pauseReason: String?
  /// Number of open or requested windows.
  public var windows: Int64
  /// Waiting customers by priority.
  public var waiting: [GradeCount]
  /// All waiting customers.
  public var waitingTotal: Int64
  /// Customers with a later due time.
  public var delayed: Int64
  /// Customers at windows.
  public var serving: Int64
  /// Dead letters.
  public var dead: Int64
  /// Rate of served customers over the last ten minutes, in thousandths per second.
  public var servedTenMinutes: Int64
  /// Served customers in consecutive intervals of equal length, the oldest first.
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

/// A window, or the slot of an outside worker.
public struct WindowRow: Sendable, Equatable {
  /// Name of the window: `deposit-1`.
  public var name: String
  /// Service of the window; nil if unknown.
  public var service: ServiceName?
  /// Process id; nil without a process.
  public var pid: Int32?
  /// Number of the process at this window, from 1; 0 before the first process.
  public var generation: Int32
  /// State of the worker.
  public var state: WorkerState
  /// Assigned tickets. The first one is being served, or was assigned first.
  public var tickets: [TicketNumber]
  /// Time of the first of these assignments in milliseconds since 1970; nil if no customer is assigned.
  public var since: Int64?
  /// Customers served since the bank opened.
  public var served: Int64
  /// Number of replacements of the process since the bank opened.
  public var restarts: Int64
  /// Memory of the process in bytes; nil if unknown.
  public var memoryBytes: Int64?
  /// Reason why the last process ended or could not be started, in English; nil for none.
  public var trouble: String?
  /// True if the coordinator starts no process at this window any more.
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

/// A worker killed from a page, and the result for its customer.
public struct KillOutcome: Sendable, Equatable {
  /// Progress of the measurement, which starts with the request to kill.
  public enum Stage: Sendable, Equatable {
    /// The kill was requested.
    case ordered
    /// The process has ended. It was serving this customer; nil for none, or for an unknown one.
    case died(ticket: TicketNumber?)
    /// The customer of the killed process is served again, after exactly or at most this time.
    case served(ticket: TicketNumber, window: String, milliseconds: Int64, isExact: Bool)
    /// The successor of the killed process is ready; the time is nil if it is unknown.
    case replaced(generation: Int64, milliseconds: Int64?)
    /// The customer of the killed process was cancelled, or became a dead letter.
    case ended(ticket: TicketNumber)
  }

  /// Window of the killed worker.
  public var window: String
  /// Generation of the killed process.
  public var generation: Int64
  /// Process id.
  public var pid: Int32
  /// Progress of the measurement, which starts with the request to kill.
  public var stage: Stage

  public init(window: String, generation: Int64, pid: Int32, stage: Stage) {
    (self.window, self.generation, self.pid, self.stage) = (window, generation, pid, stage)
  }
}
