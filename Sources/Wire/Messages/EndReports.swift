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
  }

  /// What is being done.
  public var phase: Phase
  /// How much of it is done.
  public var done: Int64
  /// How much there is; 0 where it is not known.
  public var total: Int64
  /// Where a drain stands; nil for the progress of anything else.
  public var drain: DrainReport?

  public init(phase: Phase, done: Int64, total: Int64, drain: DrainReport? = nil) {
    self.phase = phase
    self.done = done
    self.total = total
    self.drain = drain
  }

  enum CodingKeys: Int, CodingKey {
    case phase = 1
    case done, total, drain
  }
}

/// Where the end of a bank stands.
public struct DrainReport: Codable, Sendable, Equatable {
  /// The step that is being done.
  public var step: DrainStep
  /// Customers who wait, in line or for a next attempt.
  public var waiting: Int64
  /// Customers at a window.
  public var serving: Int64
  /// After how long the step is cut short, in milliseconds; nil for never.
  public var leftMilliseconds: Int64?

  public init(step: DrainStep, waiting: Int64, serving: Int64, leftMilliseconds: Int64? = nil) {
    self.step = step
    self.waiting = waiting
    self.serving = serving
    self.leftMilliseconds = leftMilliseconds
  }

  enum CodingKeys: Int, CodingKey {
    case step = 1
    case waiting, serving, leftMilliseconds
  }
}

/// How long a step of a drain has taken.
public struct DrainStepReport: Codable, Sendable, Equatable {
  /// Which.
  public var step: DrainStep
  /// How long, in milliseconds.
  public var milliseconds: Int64

  public init(step: DrainStep, milliseconds: Int64) {
    self.step = step
    self.milliseconds = milliseconds
  }

  enum CodingKeys: Int, CodingKey {
    case step = 1
    case milliseconds = 2
  }
}

/// The end of a bank.
public struct StoppedReport: Codable, Sendable, Equatable {
  /// The day that was present.
  public var day: Int64
  /// Customers served on that day.
  public var served: Int64
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

  public init(
    day: Int64, served: Int64, businessMilliseconds: Int64, waiting: Int64, dead: Int64, isDayClosed: Bool,
    finished: Int64? = nil, killed: Int64? = nil, steps: [DrainStepReport]? = nil,
    sentAway: Int64? = nil
  ) {
    self.sentAway = sentAway
    self.finished = finished
    self.killed = killed
    self.steps = steps
    self.day = day
    self.served = served
    self.businessMilliseconds = businessMilliseconds
    self.waiting = waiting
    self.dead = dead
    self.isDayClosed = isDayClosed
  }

  enum CodingKeys: Int, CodingKey {
    case day = 1
    case served, businessMilliseconds, waiting, dead, isDayClosed, finished, killed, steps, sentAway
  }
}
