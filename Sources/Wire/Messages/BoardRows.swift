// Owns the rows of a frame of the board: a service, somebody who waits, somebody at a window, a window, an event. It knows
// no socket. Times are milliseconds since 1970.

import BankModel

/// One service of the branch.
public struct BoardService: Codable, Sendable, Equatable {
  /// Which.
  public var service: ServiceName
  /// Whether it is paused.
  public var paused: Bool
  /// Why it has paused by itself; nil where an operator has paused it, or another coordinator has seen the reason.
  public var pauseReason: String?
  /// Windows that are open or shall be.
  public var windows: Int
  /// Who waits by priority, the first to be served first; at most ``gradesAtMost``, and behind them all others as one.
  public var waiting: [BoardGrade]
  /// Everybody who waits.
  public var waitingTotal: Int64
  /// Customers who wait for a moment, those at a window, and dead letters.
  public var delayed, serving, dead: Int64
  /// Customers who were attended to, in thousandths a second, over the last ten minutes.
  public var servedTenMinutes: Int64
  /// Customers who were attended to today; nil where an older coordinator tells.
  public var served: Int64?

  /// What ``waiting`` holds at most, beside the others.
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
  enum CodingKeys: Int, CodingKey {
    case service = 1, paused, pauseReason, windows, waiting, waitingTotal, delayed, serving, dead,
      servedTenMinutes, served
  }
}

/// How many of one priority wait.
public struct BoardGrade: Codable, Sendable, Equatable {
  /// Which; nil for all that are not named by themselves.
  public var priority: Priority?
  /// How many, at least 1.
  public var count: Int64

  public init(priority: Priority?, count: Int64) { (self.priority, self.count) = (priority, count) }
  enum CodingKeys: Int, CodingKey { case priority = 1, count }
}

/// Somebody who waits.
public struct BoardWaiting: Codable, Sendable, Equatable {
  /// The number.
  public var ticket: Int64
  /// What the customer came for.
  public var service: ServiceName
  /// With which standing.
  public var priority: Priority

  public init(ticket: Int64, service: ServiceName, priority: Priority) {
    (self.ticket, self.service, self.priority) = (ticket, service, priority)
  }
  enum CodingKeys: Int, CodingKey { case ticket = 1, service, priority }
}

/// Somebody at a window.
public struct BoardServing: Codable, Sendable, Equatable {
  /// The number.
  public var ticket: Int64
  /// What the customer came for.
  public var service: ServiceName
  /// With which standing.
  public var priority: Priority
  /// Where: `deposit-1`.
  public var window: String
  /// Since when, in milliseconds since 1970.
  public var since: Int64
  /// The attempt, from 1.
  public var attempt: Int
  /// How far the work has come, as its worker said last; nil where it says nothing.
  public var progress: WorkProgress?

  public init(
    ticket: Int64, service: ServiceName, priority: Priority, window: String, since: Int64, attempt: Int,
    progress: WorkProgress? = nil
  ) {
    (self.ticket, self.service, self.priority, self.window) = (ticket, service, priority, window)
    (self.since, self.attempt, self.progress) = (since, attempt, progress)
  }
  enum CodingKeys: Int, CodingKey { case ticket = 1, service, priority, window, since, attempt, progress }
}

/// One window of the branch, or the place of a worker that has come by itself.
public struct BoardWindow: Codable, Sendable, Equatable {
  /// Its name: `deposit-1`.
  public var window: String
  /// What it serves.
  public var service: ServiceName
  /// The process there; nil where there is none at the moment.
  public var pid: Int32?
  /// Which one it is at this window, from 1; 0 before the first.
  public var generation: Int64
  /// What it is doing.
  public var state: WorkerState
  /// Whom it has in hand, at most ``ticketsAtMost``: the first is the one that is served, or was handed out first.
  public var tickets: [Int64]
  /// Since when it has had the first of them, in milliseconds since 1970; nil where it has nobody.
  public var since: Int64?
  /// Customers served here, and how often its process was replaced, since the bank opened.
  public var served, restarts: Int64
  /// Resident memory of the process, in bytes; nil where nobody knows.
  public var memoryBytes: Int64?
  /// The window was given up: too many of its processes died before they were ready.
  public var isFailed: Bool?
  /// How the last process here ended; nil where none has.
  public var lastExit: ExitReport?

  /// What ``tickets`` holds at most.
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
  enum CodingKeys: Int, CodingKey {
    case window = 1, service, pid, generation, state, tickets, since, served, restarts, memoryBytes, isFailed,
      lastExit
  }
}

/// Something that happened in the branch. What does not apply is left out.
public struct BoardEvent: Codable, Sendable, Equatable {
  /// What happened.
  public enum Kind: UInt8, Named {
    /// Tickets were issued: `ticket` to `last`. The service is named where it is that of all of them.
    case issued = 1
    /// A customer was handed to a window.
    case started = 2
    /// A customer was attended to.
    case served = 3
    /// A customer was taken out of the queue.
    case cancelled = 4
    /// A customer was put aside as a dead letter.
    case dead = 5
    /// An attempt failed, and the customer comes again.
    case failed = 6
    /// An attempt could not be made now, and the customer comes again.
    case deferred = 7
    /// The process at a window ended, with `signal` or `code`, and with the customer that it had, if any.
    case died = 8
    /// The queue was emptied, and a new day began.
    case reset = 9
    /// A customer was taken back from a window, and waits again.
    case recalled = 10

    /// The names in JSON, in the order of the numbers.
    public static let names = [
      "issued", "started", "served", "cancelled", "dead", "failed", "deferred", "died", "reset", "recalled",
    ]
  }

  /// Grows by one with each event, from 1, in a coordinator's life.
  public var sequence: Int64
  /// When, in milliseconds since 1970.
  public var time: Int64
  /// What happened.
  public var kind: Kind
  /// Whose number, or the first of several.
  public var ticket: Int64?
  /// The last of several; nil for one.
  public var last: Int64?
  /// For what.
  public var service: ServiceName?
  /// At which window.
  public var window: String?
  /// By which process there.
  public var pid: Int32?
  /// The signal that ended it, or the code with which it ended.
  public var signal, code: Int32?
  /// The attempt, from 1.
  public var attempt: Int?
  /// The business day, without which the numbers mean nothing; nil from an older coordinator.
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
  enum CodingKeys: Int, CodingKey {
    case sequence = 1, time, kind, ticket, last, service, window, pid, signal, code, attempt, day
  }
}
