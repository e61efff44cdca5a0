// Owns what clients are told of things that take their time: how far they have come, and how the bank has ended.
// It knows no socket and no person's language.

import BankModel

/// How far something has come.
public struct ProgressReport: Codable, Sendable, Equatable {
  /// What is being done.
  public enum Phase: UInt8, Sendable, Codable {
    /// New customers are taken in.
    case enqueuing = 1
    /// Those who wait are being served.
    case serving = 2
    /// Those at a window are being finished.
    case finishing = 3
    /// Tellers are leaving.
    case leaving = 4
    /// A reset cancels everybody.
    case resetting = 5
    /// Dead letters are brought back.
    case requeueing = 6
    /// Books are moved.
    case moving = 7
  }

  /// What is being done.
  public var phase: Phase
  /// How much of it is done, and how much there is; 0 where that is not known.
  public var done, total: Int64
  /// Where a drain stands; nil for the progress of anything else.
  public var drain: DrainReport?

  public init(phase: Phase, done: Int64, total: Int64, drain: DrainReport? = nil) {
    (self.phase, self.done, self.total, self.drain) = (phase, done, total, drain)
  }
  enum CodingKeys: Int, CodingKey { case phase = 1, done, total, drain }
}

/// Where the end of a bank stands.
public struct DrainReport: Codable, Sendable, Equatable {
  /// The step that is being done.
  public var step: DrainStep
  /// Customers who wait, in line or for a next attempt, and those at a window.
  public var waiting, serving: Int64
  /// After how long the step is cut short, in milliseconds; nil for never.
  public var leftMilliseconds: Int64?
  /// Customers among those who wait that are delayed; nil for none.
  public var delayed: Int64?
  /// When the first of them is due, in milliseconds since 1970; nil if the bank does not know.
  public var delayedUntil: Int64?

  public init(
    step: DrainStep, waiting: Int64, serving: Int64, leftMilliseconds: Int64? = nil, delayed: Int64? = nil,
    delayedUntil: Int64? = nil
  ) {
    (self.step, self.waiting) = (step, waiting)
    (self.serving, self.leftMilliseconds) = (serving, leftMilliseconds)
    (self.delayed, self.delayedUntil) = (delayed, delayedUntil)
  }
  enum CodingKeys: Int, CodingKey { case step = 1, waiting, serving, leftMilliseconds, delayed, delayedUntil }
}

/// How long a step of a drain has taken.
public struct DrainStepReport: Codable, Sendable, Equatable {
  /// Which.
  public var step: DrainStep
  /// How long, in milliseconds.
  public var milliseconds: Int64
  public init(step: DrainStep, milliseconds: Int64) { (self.step, self.milliseconds) = (step, milliseconds) }
  enum CodingKeys: Int, CodingKey { case step = 1, milliseconds }
}

/// The end of a bank.
public struct StoppedReport: Codable, Sendable, Equatable {
  /// The day that was present, and how many customers were served on it.
  public var day, served: Int64
  /// The day's business time in milliseconds.
  public var businessMilliseconds: Int64
  /// Customers who wait for the next start, in line or for a next attempt.
  public var waiting: Int64
  /// Dead letters that keep the day open.
  public var dead: Int64
  /// Whether the day is closed.
  public var isDayClosed: Bool
  /// Customers served since the drain began; nil from a build that does not say.
  public var finished: Int64?
  /// Tellers that had to be killed; their customers are among those who wait.
  public var killed: Int64?
  /// The steps of the drain, in order.
  public var steps: [DrainStepReport]?
  /// How many of those served were sent away, because too little was in stock; nil from a build that does not say.
  public var sentAway: Int64?
  /// Branches of a shared bank at which somebody is left whom no other branch can serve.
  public var branches: [BranchReport]?
  /// Which branch of a shared bank has closed while others are open: `served` is its own count, and `waiting` are those whom it
  /// gives back. Nil where none is open, and where the bank has its books in its home.
  public var branch: Int64?

  public init(
    day: Int64, served: Int64, businessMilliseconds: Int64, waiting: Int64, dead: Int64, isDayClosed: Bool,
    finished: Int64? = nil, killed: Int64? = nil, steps: [DrainStepReport]? = nil, sentAway: Int64? = nil
  ) {
    (self.sentAway, self.finished, self.killed, self.steps) = (sentAway, finished, killed, steps)
    (self.day, self.served, self.businessMilliseconds) = (day, served, businessMilliseconds)
    (self.waiting, self.dead, self.isDayClosed) = (waiting, dead, isDayClosed)
  }

  enum CodingKeys: Int, CodingKey {
    case day = 1, served, businessMilliseconds, waiting, dead, isDayClosed, finished, killed, steps, sentAway
    case branches, branch
  }
}
