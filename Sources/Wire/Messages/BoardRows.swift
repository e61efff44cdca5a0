// Rows of a board frame: a service, a waiting customer, a customer at a window, a window, an event. Times are
// milliseconds since 1970.

import BankModel

/// One service of the bank.
public struct BoardService: Codable, Sendable, Equatable {
  /// Name of the service.
  public var service: ServiceName
  /// True if the service is paused: no customers are assigned.
  public var paused: Bool
  /// Reason why the service paused itself; nil if an operator has paused it, or if the reason is unknown.
  public var pauseReason: String?
  /// Number of windows that are open or being opened.
  public var windows: Int
  /// Waiting customers of each priority, in the order of service: at most ``gradesAtMost`` rows, followed by
  /// one row for all other priorities.
  public var waiting: [BoardGrade]
  /// Number of all waiting customers.
  public var waitingTotal: Int64
  /// Delayed customers, those at a window, and dead letters.
  public var delayed, serving, dead: Int64
  /// Rate of finished customers over the last ten minutes, in thousandths per second, without cancelled
  /// customers.
  public var servedTenMinutes: Int64
  /// Customers finished today, without cancelled ones; nil from an older coordinator.
  public var served: Int64?

  /// Limit of ``waiting``, without the row for all other priorities.
  public static let gradesAtMost = 8

  public init(
    service: ServiceName, paused: Bool = false, pauseReason: String? = nil, windows: Int = 0,
    waiting: [BoardGrade] = [], waitingTotal: Int64 = 0, delayed: Int64 = 0, serving: Int64 = 0,
    dead: Int64 = 0, servedTenMinutes: Int64 = 0, served: Int64? = nil
  ) {
    (self.service, self.paused, self.pauseReason, self.windows) = (service, paused, pauseReason, windows)
    (self.waiting, self.waitingTotal, self.delayed) = (waiting, waitingTotal, delayed)
    (self.serving, self.dead, self.servedTenMinutes) = (serving, dead, servedTenMinutes)
    self.served = served
  }
  /// Field number of each property of a service in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey {
    case service = 1, paused, pauseReason, windows, waiting, waitingTotal, delayed, serving, dead,
      servedTenMinutes, served
  }
}

/// Number of waiting customers of one priority.
public struct BoardGrade: Codable, Sendable, Equatable {
  /// Nil for the row of all other priorities.
  public var priority: Priority?
  /// At least 1.
  public var count: Int64

  public init(priority: Priority?, count: Int64) { (self.priority, self.count) = (priority, count) }
  /// Field number of each property of a priority's number of waiting customers in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case priority = 1, count }
}

/// A waiting customer.
public struct BoardWaiting: Codable, Sendable, Equatable {
  /// Ticket number.
  public var ticket: Int64
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority

  public init(ticket: Int64, service: ServiceName, priority: Priority) {
    (self.ticket, self.service, self.priority) = (ticket, service, priority)
  }
  /// Field number of each property of a waiting customer in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case ticket = 1, service, priority }
}

/// A customer at a window.
public struct BoardServing: Codable, Sendable, Equatable {
  /// Ticket number.
  public var ticket: Int64
  /// Requested service.
  public var service: ServiceName
  /// Priority in the queue.
  public var priority: Priority
  /// Name of the window: `deposit-1`.
  public var window: String
  /// Start of the attempt, in milliseconds since 1970.
  public var since: Int64
  /// Number of the attempt, from 1.
  public var attempt: Int
  /// Progress last reported by the worker; nil if the worker has reported none.
  public var progress: WorkProgress?

  public init(
    ticket: Int64, service: ServiceName, priority: Priority, window: String, since: Int64, attempt: Int,
    progress: WorkProgress? = nil
  ) {
    (self.ticket, self.service, self.priority, self.window) = (ticket, service, priority, window)
    (self.since, self.attempt, self.progress) = (since, attempt, progress)
  }
  /// Field number of each property of a customer at a window in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey { case ticket = 1, service, priority, window, since, attempt, progress }
}

/// A window of the bank, or an outside worker.
public struct BoardWindow: Codable, Sendable, Equatable {
  /// Name: `deposit-1`.
  public var window: String
  /// Service of the window, or the first service of an outside worker.
  public var service: ServiceName
  /// Process id; nil if there is no process now.
  public var pid: Int32?
  /// Generation of the process at this window, from 1; 0 before the first process.
  public var generation: Int64
  /// State of the process.
  public var state: WorkerState
  /// Assigned tickets, at most ``ticketsAtMost``.
  public var tickets: [Int64]
  /// Start of the first of these assignments, in milliseconds since 1970; nil if no customer is assigned.
  public var since: Int64?
  /// Customers served at the window, and replacements of its process, as counted by this coordinator.
  public var served, restarts: Int64
  /// Resident memory of the process in bytes; nil if unknown.
  public var memoryBytes: Int64?
  /// True if no process is started at this window any more, because too many have exited or could not start.
  public var isFailed: Bool?
  /// Exit of the last process at the window; nil if none has exited.
  public var lastExit: ExitReport?

  /// Limit of ``tickets``.
  public static let ticketsAtMost = 16

  public init(
    window: String, service: ServiceName, pid: Int32? = nil, generation: Int64 = 0, state: WorkerState,
    tickets: [Int64] = [], since: Int64? = nil, served: Int64 = 0, restarts: Int64 = 0,
    memoryBytes: Int64? = nil, isFailed: Bool? = nil, lastExit: ExitReport? = nil
  ) {
    (self.window, self.service, self.pid, self.generation) = (window, service, pid, generation)
    (self.state, self.tickets, self.since, self.served) = (state, tickets, since, served)
    (self.restarts, self.memoryBytes) = (restarts, memoryBytes)
    (self.isFailed, self.lastExit) = (isFailed, lastExit)
  }
  /// Field number of each property of a window in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey {
    case window = 1, service, pid, generation, state, tickets, since, served, restarts, memoryBytes, isFailed,
      lastExit
  }
}

/// An event in the bank. Properties that do not apply to its kind are nil.
public struct BoardEvent: Codable, Sendable, Equatable {
  /// Kind of the event.
  public enum Kind: UInt8, NameCodable {
    /// Tickets were issued: `ticket` to `last`.
    case issued = 1
    /// A customer was assigned to a window.
    case started = 2
    /// A worker finished a customer, with any outcome.
    case served = 3
    /// A customer was cancelled.
    case cancelled = 4
    /// A customer became a dead letter.
    case dead = 5
    /// An attempt ended without a receipt because of a failure, an expired lease or a lost worker.
    case failed = 6
    /// An attempt was impossible at that time, and the customer will be retried.
    case deferred = 7
    /// The process at a window exited, with `signal` or `code` if they are known. `ticket` is the customer that
    /// it was serving, or nil.
    case died = 8
    /// The queue was emptied, and a new day started.
    case reset = 9
    /// A customer was recalled from a window, and waits again.
    case recalled = 10

    /// Names in JSON, in the order of the raw values.
    public static let names = [
      "issued", "started", "served", "cancelled", "dead", "failed", "deferred", "exited", "reset", "recalled",
    ]
  }

  /// Number of the event, from 1, within one run of the coordinator.
  public var sequence: Int64
  /// Time in milliseconds since 1970.
  public var time: Int64
  /// Kind of the event.
  public var kind: Kind
  /// Ticket number, or the first of several ticket numbers.
  public var ticket: Int64?
  /// The last of several ticket numbers; nil for a single ticket.
  public var last: Int64?
  /// Service of the ticket.
  public var service: ServiceName?
  /// Name of the window.
  public var window: String?
  /// Process id.
  public var pid: Int32?
  /// Signal or code with which the process exited.
  public var signal, code: Int32?
  /// Number of the attempt, from 1.
  public var attempt: Int?
  /// Business day of the ticket numbers; nil from an older coordinator.
  public var day: Int64?

  public init(
    sequence: Int64, time: Int64, kind: Kind, ticket: Int64? = nil, last: Int64? = nil,
    service: ServiceName? = nil, window: String? = nil, pid: Int32? = nil, signal: Int32? = nil,
    code: Int32? = nil, attempt: Int? = nil, day: Int64? = nil
  ) {
    (self.sequence, self.time, self.kind, self.ticket, self.last) = (sequence, time, kind, ticket, last)
    (self.service, self.window, self.pid, self.signal) = (service, window, pid, signal)
    (self.code, self.attempt, self.day) = (code, attempt, day)
  }
  /// Field number of each property of an event in a snapshot, in messages.
  enum CodingKeys: Int, CodingKey {
    case sequence = 1, time, kind, ticket, last, service, window, pid, signal, code, attempt, day
  }
}
