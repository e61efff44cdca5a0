// Owns the picture of a whole bank that `status` and every changing command answer with. It knows no socket.
// Times are milliseconds, since 1970 where they name a moment.

import BankModel

/// The state of the bank.
public struct StatusReport: Codable, Sendable, Equatable {
  /// The branch as a whole.
  public var state: BankState
  /// The present business day.
  public var day: Int64
  /// The coordinator's process.
  public var pid: Int32
  /// Starts of the coordinator on this home.
  public var generation: Int64
  /// When this coordinator opened, in milliseconds since 1970.
  public var since: Int64
  /// How long somebody waited or was served today, in milliseconds.
  public var businessMilliseconds: Int64
  /// The numbers of the day.
  public var queue: QueueReport
  /// Every service.
  public var services: [ServiceReport]
  /// Every worker.
  public var workers: [WorkerReport]
  /// The process that restarts the coordinator when it dies; nil where there is none.
  public var guardianPid: Int32?
  /// Customers whom the reset that is answered by this has cancelled; nil in any other answer.
  public var cancelledByReset: Int64?
  /// The branch that answers; nil where the bank has its books in its home.
  public var branch: BranchReport?
  /// The numbers of all branches together, of which ``queue`` and ``services`` are those of this branch alone; nil where the
  /// bank has its books in its home.
  public var bank: SharedBankReport?

  public init(
    state: BankState, day: Int64, pid: Int32, generation: Int64, since: Int64, businessMilliseconds: Int64,
    queue: QueueReport, services: [ServiceReport], workers: [WorkerReport], guardianPid: Int32? = nil,
    cancelledByReset: Int64? = nil
  ) {
    (self.state, self.day, self.pid, self.generation, self.since) = (state, day, pid, generation, since)
    (self.businessMilliseconds, self.queue, self.services) = (businessMilliseconds, queue, services)
    (self.workers, self.guardianPid, self.cancelledByReset) = (workers, guardianPid, cancelledByReset)
  }

  /// The bank has closed: nobody waits to be started again.
  public mutating func close() {
    state = .closed
    for place in workers.indices where workers[place].state == .backoff { workers[place].state = .stopped }
  }

  enum CodingKeys: Int, CodingKey {
    case state = 1, day, pid, generation, since, businessMilliseconds, queue, services, workers, guardianPid,
      branch, bank
    case cancelledByReset = 20
  }
}

/// The numbers of a day: always `issued = waiting + delayed + serving + served + dead + cancelled`.
public struct QueueReport: Codable, Sendable, Equatable {
  /// Tickets issued.
  public var issued: Int64
  /// Customers in line, those who wait for a next attempt, and those at a window.
  public var waiting, delayed, serving: Int64
  /// Receipts with the outcome served.
  public var served: Int64
  /// Dead letters.
  public var dead: Int64
  /// Receipts with the outcome cancelled.
  public var cancelled: Int64
  /// How long the first of those in line has waited, in milliseconds; 0 where nobody waits.
  public var oldestWaitMilliseconds: Int64
  /// When the first delayed customer is due, in milliseconds since 1970; nil for none, and if the bank does not know.
  public var delayedUntil: Int64?

  public init(
    issued: Int64, waiting: Int64, delayed: Int64, serving: Int64, served: Int64, dead: Int64,
    cancelled: Int64, oldestWaitMilliseconds: Int64, delayedUntil: Int64? = nil
  ) {
    (self.issued, self.waiting, self.delayed, self.serving) = (issued, waiting, delayed, serving)
    (self.served, self.dead) = (served, dead)
    (self.cancelled, self.oldestWaitMilliseconds) = (cancelled, oldestWaitMilliseconds)
    self.delayedUntil = delayedUntil
  }

  enum CodingKeys: Int, CodingKey {
    case issued = 1, waiting, delayed, serving, served, dead, cancelled, oldestWaitMilliseconds, delayedUntil
  }
}

/// One service of the branch.
public struct ServiceReport: Codable, Sendable, Equatable {
  /// Which.
  public var service: ServiceName
  /// Windows that are open or shall be.
  public var windows: Int64
  /// Customers in line, at a window, and served today.
  public var waiting, serving, served: Int64
  /// Whether it is paused.
  public var paused: Bool
  /// Why it has paused by itself; nil where an operator has paused it, or another coordinator has seen the reason.
  public var pausedBecause: String?

  public init(
    service: ServiceName, windows: Int64, waiting: Int64, serving: Int64, served: Int64, paused: Bool,
    pausedBecause: String? = nil
  ) {
    (self.service, self.windows, self.waiting, self.serving) = (service, windows, waiting, serving)
    (self.served, self.paused, self.pausedBecause) = (served, paused, pausedBecause)
  }
  enum CodingKeys: Int, CodingKey {
    case service = 1, windows, waiting, serving, served, paused, pausedBecause
  }
}

/// One worker process.
public struct WorkerReport: Codable, Sendable, Equatable {
  /// `deposit-1`.
  public var name: String
  /// What it is for.
  public var role: WorkerRole
  /// What it serves; nil for a worker behind the windows.
  public var service: ServiceName?
  /// The place of its window, from 1; nil for a worker behind the windows.
  public var window: Int32?
  /// Its process, 0 where there is none at the moment, and its generation.
  public var pid, generation: Int32
  /// What it is doing.
  public var state: WorkerState
  /// Whom it is serving.
  public var ticket: Int64?
  /// How often this window's teller was replaced since the bank opened.
  public var restarts: Int64
  /// Customers served at this window since the bank opened.
  public var served: Int64
  /// Resident memory of the process, in kilobytes.
  public var residentKilobytes: Int64
  /// The window was given up: too many of its tellers died before they were ready. `state` is `stopped` then.
  public var isFailed: Bool?
  /// How the last teller at this window ended; nil where none has.
  public var lastExit: ExitReport?
  /// Why a worker behind the windows does not work, in English; nil while it does.
  public var trouble: String?
  /// The same as it said it itself, with its file; nil where it said nothing.
  public var failure: Failure?
  /// What is wrong between its database and the bank's; nil where nothing is.
  public var mismatch: DatabaseMismatch?
  /// `trouble` as a kind and its values, so that it can be said in any language; nil where nobody knows more than the words.
  public var troubleRemark: Remark?
  /// How far it has come with whom it serves; nil where it says nothing.
  public var progress: WorkProgress?

  public init(
    name: String, role: WorkerRole, service: ServiceName?, window: Int32?, pid: Int32, generation: Int32,
    state: WorkerState, ticket: Int64?, restarts: Int64, served: Int64, residentKilobytes: Int64,
    isFailed: Bool? = nil, lastExit: ExitReport? = nil, trouble: String? = nil, failure: Failure? = nil,
    mismatch: DatabaseMismatch? = nil, troubleRemark: Remark? = nil
  ) {
    (self.trouble, self.troubleRemark, self.failure) = (trouble, troubleRemark, failure)
    (self.mismatch, self.isFailed, self.lastExit, self.name) = (mismatch, isFailed, lastExit, name)
    (self.role, self.service, self.window, self.pid) = (role, service, window, pid)
    (self.generation, self.state, self.ticket, self.restarts) = (generation, state, ticket, restarts)
    (self.served, self.residentKilobytes) = (served, residentKilobytes)
  }

  enum CodingKeys: Int, CodingKey {
    case name = 1, role, service, window, pid, generation, state, ticket, restarts, served, residentKilobytes,
      isFailed, lastExit, trouble, failure, mismatch, troubleRemark, progress
  }
}

/// How a process ended.
public struct ExitReport: Codable, Sendable, Equatable {
  /// The code with which it ended by itself, or the signal that ended it.
  public var code, signal: Int32?
  /// Why it could not even be started, in English; nil where it was.
  public var trouble: String?

  public init(code: Int32?, signal: Int32?, trouble: String? = nil) {
    (self.code, self.signal, self.trouble) = (code, signal, trouble)
  }
  enum CodingKeys: Int, CodingKey { case code = 1, signal, trouble }
}
