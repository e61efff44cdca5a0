// Progress of long requests, and the end of a bank.
// Times are milliseconds, since 1970 for points in time.

import BankModel

/// Progress of a long request.
public struct ProgressReport: Codable, Sendable, Equatable {
  /// Kind of work that is being done for the request.
  public enum Phase: UInt8, Sendable, Codable {
    /// Customers are added to the queue.
    case enqueuing = 1
    /// Customers are served, in a drain or while a client waits for tickets.
    case serving = 2
    /// The work for customers at windows is being finished.
    case finishing = 3
    /// Workers and services are exiting.
    case leaving = 4
    /// A reset cancels all customers.
    case resetting = 5
    /// Dead letters return to their lines.
    case requeueing = 6
    /// The database is moved.
    case moving = 7
  }

  /// Kind of work in progress.
  public var phase: Phase
  /// Amount of work done, and total amount; 0 if unknown.
  public var done, total: Int64
  /// State of a drain; nil for any other work.
  public var drain: DrainReport?

  public init(phase: Phase, done: Int64, total: Int64, drain: DrainReport? = nil) {
    (self.phase, self.done, self.total, self.drain) = (phase, done, total, drain)
  }
  /// Field number of each property of a progress report, in messages.
  enum CodingKeys: Int, CodingKey { case phase = 1, done, total, drain }
}

/// State of a drain that closes a bank: current step, remaining customers and remaining time.
public struct DrainReport: Codable, Sendable, Equatable {
  /// Current step.
  public var step: DrainStep
  /// Customers in line or delayed, and those at a window.
  public var waiting, serving: Int64
  /// Remaining time of the step, in milliseconds; nil for no limit.
  public var leftMilliseconds: Int64?
  /// Number of delayed customers among the waiting ones; nil for none.
  public var delayed: Int64?
  /// Due time of the first delayed customer, in milliseconds since 1970; nil if there is none, or if unknown.
  public var delayedUntil: Int64?

  public init(
    step: DrainStep, waiting: Int64, serving: Int64, leftMilliseconds: Int64? = nil, delayed: Int64? = nil,
    delayedUntil: Int64? = nil
  ) {
    (self.step, self.waiting) = (step, waiting)
    (self.serving, self.leftMilliseconds) = (serving, leftMilliseconds)
    (self.delayed, self.delayedUntil) = (delayed, delayedUntil)
  }
  /// Field number of each property of the state of a drain, in messages.
  enum CodingKeys: Int, CodingKey { case step = 1, waiting, serving, leftMilliseconds, delayed, delayedUntil }
}

/// Duration of a step of a drain.
public struct DrainStepReport: Codable, Sendable, Equatable {
  /// Step of the drain.
  public var step: DrainStep
  /// Duration in milliseconds.
  public var milliseconds: Int64
  public init(step: DrainStep, milliseconds: Int64) { (self.step, self.milliseconds) = (step, milliseconds) }
  /// Field number of each property of a drain step's duration, in messages.
  enum CodingKeys: Int, CodingKey { case step = 1, milliseconds }
}

/// Result of closing a bank.
public struct StoppedReport: Codable, Sendable, Equatable {
  /// The current day, and the number of its receipts with the outcomes `served` and `out_of_stock`.
  public var day, served: Int64
  /// The day's business time in milliseconds.
  public var businessMilliseconds: Int64
  /// Customers that wait for the next start, in line or delayed.
  public var waiting: Int64
  /// Dead letters that keep the day open.
  public var dead: Int64
  /// True if the business day has ended.
  public var isDayClosed: Bool
  /// Increase of `served` since the drain started; nil from an older build.
  public var finished: Int64?
  /// Number of windows whose processes had to be killed.
  public var killed: Int64?
  /// The steps of the drain, in order; nil from an older build.
  public var steps: [DrainStepReport]?
  /// Number of customers with the outcome `out_of_stock` among `served`; nil if it could not be counted, and from
  /// an older build.
  public var sentAway: Int64?
  /// Branches of a shared bank that have customers that no other branch can serve; nil for none.
  public var branches: [BranchReport]?
  /// Number of the branch if `served` counts only this branch of a shared bank, for example because other branches
  /// are open. Nil if the counts are those of the whole bank, and for a bank with a database in its home.
  public var branch: Int64?

  public init(
    day: Int64, served: Int64, businessMilliseconds: Int64, waiting: Int64, dead: Int64, isDayClosed: Bool,
    finished: Int64? = nil, killed: Int64? = nil, steps: [DrainStepReport]? = nil, sentAway: Int64? = nil
  ) {
    (self.sentAway, self.finished, self.killed, self.steps) = (sentAway, finished, killed, steps)
    (self.day, self.served, self.businessMilliseconds) = (day, served, businessMilliseconds)
    (self.waiting, self.dead, self.isDayClosed) = (waiting, dead, isDayClosed)
  }

  /// Field number of each property of the result of closing a bank, in messages.
  enum CodingKeys: Int, CodingKey {
    case day = 1, served, businessMilliseconds, waiting, dead, isDayClosed, finished, killed, steps, sentAway
    case branches, branch
  }
}
