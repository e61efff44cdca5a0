// State of a whole bank: the answer to `status` and to several commands that change the bank. Times are
// milliseconds, since 1970 for points in time.

import BankModel

/// The state of the bank.
public struct StatusReport: Codable, Sendable, Equatable {
  /// State of the whole bank.
  public var state: BankState
  /// The current business day.
  public var day: Int64
  /// Process id of the coordinator.
  public var pid: Int32
  /// Number of starts of the coordinator on this home.
  public var generation: Int64
  /// Time at which this coordinator opened, in milliseconds since 1970.
  public var since: Int64
  /// Business time of the day, in milliseconds.
  public var businessMilliseconds: Int64
  /// Counters of the day.
  public var queue: QueueReport
  /// The services. Unused ones that the configuration does not name may be left out.
  public var services: [ServiceReport]
  /// Windows, outside workers and service processes.
  public var workers: [WorkerReport]
  /// Process id of the guardian that restarts the coordinator; nil if there is none.
  public var guardianPid: Int32?
  /// Number of customers that the reset has cancelled, in the answer to `reset`; nil in any other answer.
  public var cancelledByReset: Int64?
  /// The branch that sent the answer; nil for a bank with a database in its home.
  public var branch: BranchReport?
  /// Counters of all branches together, whereas ``queue`` and ``services`` are those of this branch alone (but
  /// the oldest wait is that of the whole bank). Nil for a bank with a database in its home.
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

  /// Sets the state to closed. Workers that wait for a restart become stopped.
  public mutating func close() {
    state = .closed
    for place in workers.indices where workers[place].state == .backoff { workers[place].state = .stopped }
  }

  /// Field number of each property of the report of the bank's state, in messages.
  enum CodingKeys: Int, CodingKey {
    case state = 1, day, pid, generation, since, businessMilliseconds, queue, services, workers, guardianPid,
      branch, bank
    case cancelledByReset = 20
  }
}

/// Counters of a day. Invariant: `issued = waiting + delayed + serving + served + dead + cancelled`.
public struct QueueReport: Codable, Sendable, Equatable {
  /// Issued tickets.
  public var issued: Int64
  /// Customers in line, delayed ones, and those at a window.
  public var waiting, delayed, serving: Int64
  /// Receipts with the outcomes `served` and `out_of_stock`.
  public var served: Int64
  /// Dead letters.
  public var dead: Int64
  /// Receipts with the outcome `cancelled`.
  public var cancelled: Int64
  /// Waiting time of the customer that has waited longest, in milliseconds; 0 if no customer waits.
  public var oldestWaitMilliseconds: Int64
  /// Due time of the first delayed customer, in milliseconds since 1970; nil if there is none, or if unknown.
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

  /// Field number of each property of a day's counters, in messages.
  enum CodingKeys: Int, CodingKey {
    case issued = 1, waiting, delayed, serving, served, dead, cancelled, oldestWaitMilliseconds, delayedUntil
  }
}

/// One service of the bank.
public struct ServiceReport: Codable, Sendable, Equatable {
  /// Name of the service.
  public var service: ServiceName
  /// Number of windows that are open or being opened.
  public var windows: Int64
  /// Customers in line, at a window, and with a receipt of the current day that is not a cancellation.
  public var waiting, serving, served: Int64
  /// True if the service is paused: no customers are assigned.
  public var paused: Bool
  /// Reason why the service paused itself; nil if an operator has paused it, or if the reason is unknown.
  public var pauseReason: String?

  public init(
    service: ServiceName, windows: Int64, waiting: Int64, serving: Int64, served: Int64, paused: Bool,
    pauseReason: String? = nil
  ) {
    (self.service, self.windows, self.waiting, self.serving) = (service, windows, waiting, serving)
    (self.served, self.paused, self.pauseReason) = (served, paused, pauseReason)
  }
  /// Field number of each property of a report about one service, in messages.
  enum CodingKeys: Int, CodingKey {
    case service = 1, windows, waiting, serving, served, paused, pauseReason
  }
}

/// One window, outside worker or service process.
public struct WorkerReport: Codable, Sendable, Equatable {
  /// Name: `deposit-1`.
  public var name: String
  /// Role of the process.
  public var role: WorkerRole
  /// Service of its window, or the first service of an outside worker; nil for a service process.
  public var service: ServiceName?
  /// Number of its window, from 1; nil for an outside worker and a service process.
  public var window: Int32?
  /// Process id, 0 if there is no process now, and generation.
  public var pid, generation: Int32
  /// State of the process.
  public var state: WorkerState
  /// Ticket being served, or one of several; nil for none.
  public var ticket: Int64?
  /// Replacements of the process, as counted by this coordinator.
  public var restarts: Int64
  /// Customers served by this worker, as counted by this coordinator; 0 for a service process.
  public var served: Int64
  /// Resident memory of the process, in KiB; 0 if unknown.
  public var residentKilobytes: Int64
  /// True if no process is started any more, because too many have exited or could not start, or because a service
  /// cannot use its database.
  public var isFailed: Bool?
  /// Exit of the last process at this window; nil if none has exited, and for a worker without a window.
  public var lastExit: ExitReport?
  /// Reason why a service process does not work, or why no process is started at a window now, in English; nil
  /// for none.
  public var trouble: String?
  /// The failure that a service process has reported; nil if it has reported none.
  public var failure: Failure?
  /// Mismatch between the database of a service process and the bank's; nil for none.
  public var mismatch: DatabaseMismatch?
  /// `trouble` as a kind and its values, for translation; nil if there is only text.
  public var troubleDetail: MessageDetail?
  /// Progress with the ticket being served; nil if the worker has reported none.
  public var progress: WorkProgress?

  public init(
    name: String, role: WorkerRole, service: ServiceName?, window: Int32?, pid: Int32, generation: Int32,
    state: WorkerState, ticket: Int64?, restarts: Int64, served: Int64, residentKilobytes: Int64,
    isFailed: Bool? = nil, lastExit: ExitReport? = nil, trouble: String? = nil, failure: Failure? = nil,
    mismatch: DatabaseMismatch? = nil, troubleDetail: MessageDetail? = nil
  ) {
    (self.trouble, self.troubleDetail, self.failure) = (trouble, troubleDetail, failure)
    (self.mismatch, self.isFailed, self.lastExit, self.name) = (mismatch, isFailed, lastExit, name)
    (self.role, self.service, self.window, self.pid) = (role, service, window, pid)
    (self.generation, self.state, self.ticket, self.restarts) = (generation, state, ticket, restarts)
    (self.served, self.residentKilobytes) = (served, residentKilobytes)
  }

  /// Field number of each property of a report about one window, outside worker or service process, in messages.
  enum CodingKeys: Int, CodingKey {
    case name = 1, role, service, window, pid, generation, state, ticket, restarts, served, residentKilobytes,
      isFailed, lastExit, trouble, failure, mismatch, troubleDetail, progress
  }
}

/// Exit of a process: its exit code, the signal that ended it, or another reason.
public struct ExitReport: Codable, Sendable, Equatable {
  /// Exit code, or signal that ended the process.
  public var code, signal: Int32?
  /// Reason for the end of the process, or why it could not be started, if there is neither a code nor a signal;
  /// in English.
  public var trouble: String?

  public init(code: Int32?, signal: Int32?, trouble: String? = nil) {
    (self.code, self.signal, self.trouble) = (code, signal, trouble)
  }
  /// Field number of each property of a process's exit, in messages.
  enum CodingKeys: Int, CodingKey { case code = 1, signal, trouble }
}
