// Owns the decision when a worker that has ended is started again. It knows no process and no clock: moments go in,
// a decision comes out. Chance comes from a seeded generator, so the same history has the same decisions.
// "Died before it was ready" says that starting does not work, and is slowed down; "died at work" says nothing of the
// kind, and the successor starts at once.

import BankModel

/// The rules of starting again.
public struct RestartPolicy: Sendable, Equatable {
  /// The pause after the first death before being ready; it doubles with each.
  public var firstPause = TimeSpan.milliseconds(100)
  /// The longest pause.
  public var longestPause = TimeSpan.seconds(30)
  /// Deaths before being ready, in a row, after which it is given up.
  public var patience = 10
  /// Time at work after which earlier deaths are forgotten.
  public var calm = TimeSpan.seconds(60)

  /// The defaults.
  public init() {}
}

/// What is to be done about a worker that has ended.
public enum RestartDecision: Sendable, Equatable {
  /// Start the successor now.
  case atOnce
  /// Start the successor after a pause.
  case after(TimeSpan)
  /// Start nobody until an operator asks for it.
  case giveUp
}

/// The deaths at one window, as far as they matter.
public struct RestartHistory: Sendable {
  /// Deaths before being ready, in a row.
  public private(set) var earlyDeaths = 0
  private var readySince: MonotonicTime?
  private var policy: RestartPolicy
  private var chance: SeededGenerator

  /// Nothing has happened yet. The seed decides about the jitter of the pauses.
  public init(policy: RestartPolicy, seed: UInt64) {
    self.policy = policy
    chance = SeededGenerator(seed: seed)
  }

  /// The worker has reported ready.
  public mutating func becameReady(at now: MonotonicTime) { readySince = now }

  /// The worker has ended: what now?
  public mutating func died(at now: MonotonicTime) -> RestartDecision {
    if let readySince {
      if now.since(readySince) >= policy.calm { earlyDeaths = 0 }
      self.readySince = nil
      return .atOnce
    }
    earlyDeaths += 1
    guard earlyDeaths < policy.patience else { return .giveUp }
    return .after(pause())
  }

  /// The rules have changed; what has happened counts by the new ones.
  public mutating func adopt(_ policy: RestartPolicy) { self.policy = policy }

  /// An operator asks for another try.
  public mutating func forgive() {
    earlyDeaths = 0
    readySince = nil
  }

  /// Doubled with each death, and somewhere in the upper half, so that many windows do not start in step.
  private mutating func pause() -> TimeSpan {
    let doublings = min(earlyDeaths - 1, 30)
    let (full, overflow) = policy.firstPause.nanoseconds.multipliedReportingOverflow(
      by: 1 << Int64(doublings))
    let bounded = overflow ? policy.longestPause.nanoseconds : min(full, policy.longestPause.nanoseconds)
    return TimeSpan(nanoseconds: bounded / 2 + chance.draw(0...max(bounded / 2, 1)))
  }
}
