// Decision when a worker that has exited is restarted. Random numbers come from a seeded generator, so the same seed
// and exits give the same decisions. An exit before ready shows that starting fails, so restarts are delayed. An exit
// directly after ready, without any work done, is counted and delayed separately: a few of these exits are chance, many
// in a row show a worker that cannot work.
// Invariant: exits are "in a row" if no work was done between them and no worker was ready for long.

import BankModel
import Time

/// Pauses before a supervised process that has exited is started again, and the limit after which it is given up.
public struct RestartPolicy: Sendable, Equatable {
  /// Pause after the first exit that is followed by a pause; it doubles with each further one. Up to half of a pause is
  /// cut off at random.
  public var firstPause = TimeSpan.milliseconds(100)
  /// Upper limit of the pause.
  public var longestPause = TimeSpan.seconds(30)
  /// Consecutive exits before ready, or directly after ready beyond `immediateRestarts`, after which the worker is
  /// given up.
  public var patience = 10
  /// Time since ready after which earlier exits are forgotten, even if no work was done.
  public var forgetAfter = TimeSpan.seconds(60)
  /// An exit within this time after ready, without any work done, counts as directly after ready.
  public var stableAfter = TimeSpan.milliseconds(200)
  /// Consecutive exits directly after ready that are followed by an immediate restart.
  public var immediateRestarts = 3

  public init() {}
}

/// Decision about a worker that has exited.
public enum RestartDecision: Sendable, Equatable {
  /// Start the successor now.
  case atOnce
  /// Start the successor after this pause.
  case after(TimeSpan)
  /// Start no worker until an operator requests it.
  case giveUp
}

/// History of the exits of one supervised process and its predecessors, for example at one window.
public struct RestartHistory: Sendable {
  /// Consecutive exits before ready.
  public private(set) var deathsBeforeReady = 0
  /// Consecutive exits directly after ready.
  public private(set) var deathsAfterReady = 0
  private var readySince: MonotonicTime?
  private var hasWorked = false
  private var policy: RestartPolicy
  private var chance: SeededGenerator

  /// An empty history. The seed determines the jitter of the pauses.
  public init(policy: RestartPolicy, seed: UInt64) {
    self.policy = policy
    chance = SeededGenerator(seed: seed)
  }

  /// The larger of ``deathsBeforeReady`` and ``deathsAfterReady``.
  public var consecutiveDeaths: Int { max(deathsBeforeReady, deathsAfterReady) }

  /// Records that the worker has reported ready.
  public mutating func becameReady(at now: MonotonicTime) {
    readySince = now
    hasWorked = false
  }

  /// Records that the worker has done its work, such as serving a customer; earlier exits are forgotten.
  public mutating func didWork() {
    guard !hasWorked else { return }
    hasWorked = true
    (deathsBeforeReady, deathsAfterReady) = (0, 0)
  }

  /// Records an exit. Returns the decision about a restart.
  public mutating func died(at now: MonotonicTime) -> RestartDecision {
    defer { (readySince, hasWorked) = (nil, false) }
    guard let readySince else {
      deathsBeforeReady += 1
      return decision(after: deathsBeforeReady)
    }
    let atWork = now.since(readySince)
    if atWork >= policy.forgetAfter { (deathsBeforeReady, deathsAfterReady) = (0, 0) }
    guard !hasWorked, atWork < policy.stableAfter else { return .atOnce }
    deathsAfterReady += 1
    return deathsAfterReady <= policy.immediateRestarts
      ? .atOnce : decision(after: deathsAfterReady - policy.immediateRestarts)
  }

  /// Replaces the rules. Later decisions judge the existing history by the new rules.
  public mutating func adopt(_ policy: RestartPolicy) { self.policy = policy }

  /// Clears the history, for example because an operator requests another start.
  public mutating func clearHistory() {
    (deathsBeforeReady, deathsAfterReady) = (0, 0)
    (readySince, hasWorked) = (nil, false)
  }

  /// Decision after this number of consecutive exits. The upper half of a pause is random jitter, so that many windows
  /// do not restart at the same time.
  private mutating func decision(after deaths: Int) -> RestartDecision {
    guard deaths < policy.patience else { return .giveUp }
    let doublings = min(deaths - 1, 30)
    let bounded = min(policy.firstPause * (1 << Int64(doublings)), policy.longestPause).nanoseconds
    return .after(TimeSpan(nanoseconds: bounded / 2 + chance.draw(0...max(bounded / 2, 1))))
  }
}
