// Owns the decision when a worker that has ended is started again. It knows no process and no clock: moments go in,
// a decision comes out. Chance comes from a seeded generator, so the same history has the same decisions.
// "Died before it was ready" says that starting does not work, and is slowed down; "died at work" says nothing of the
// kind, and the successor starts at once. "Died as soon as it was ready", without having done anything, is counted and
// slowed down apart from both: a few times it is chance, and again and again it is a worker that cannot work.
// Invariant: deaths in a row are deaths with nothing good in between.

import BankModel
import Time

/// The rules of starting again.
public struct RestartPolicy: Sendable, Equatable {
  /// The pause after the first death before being ready; it doubles with each.
  public var firstPause = TimeSpan.milliseconds(100)
  /// The longest pause.
  public var longestPause = TimeSpan.seconds(30)
  /// Deaths before being ready, in a row, after which it is given up; as many as soon as ready, beyond those spared.
  public var patience = 10
  /// Time at work after which earlier deaths are forgotten, also where nothing was done in it.
  public var calm = TimeSpan.seconds(60)
  /// Whoever dies sooner than this after being ready, without having done anything, has died as soon as it was ready.
  public var steady = TimeSpan.milliseconds(200)
  /// Deaths as soon as ready, in a row, that are followed by a successor at once.
  public var spared = 3

  /// The defaults.
  public init() {}
}

/// What is to be done about a worker that has ended.
public enum RestartDecision: Sendable, Equatable {
  case atOnce
  case after(TimeSpan)
  /// Start nobody until an operator asks for it.
  case giveUp
}

/// The deaths at one window, as far as they matter.
public struct RestartHistory: Sendable {
  /// Deaths before being ready, in a row.
  public private(set) var earlyDeaths = 0
  /// Deaths as soon as being ready, in a row.
  public private(set) var hastyDeaths = 0
  private var readySince: MonotonicTime?
  private var hasWorked = false
  private var policy: RestartPolicy
  private var chance: SeededGenerator

  /// Nothing has happened yet. The seed decides about the jitter of the pauses.
  public init(policy: RestartPolicy, seed: UInt64) {
    self.policy = policy
    chance = SeededGenerator(seed: seed)
  }

  /// The deaths in a row that matter most now.
  public var deathsInARow: Int { max(earlyDeaths, hastyDeaths) }

  /// The worker has reported ready.
  public mutating func becameReady(at now: MonotonicTime) {
    readySince = now
    hasWorked = false
  }

  /// The worker has done what it is there for, such as serving a customer: whatever died before it is forgotten.
  public mutating func didWork() {
    guard !hasWorked else { return }
    hasWorked = true
    (earlyDeaths, hastyDeaths) = (0, 0)
  }

  /// The worker has ended: what now?
  public mutating func died(at now: MonotonicTime) -> RestartDecision {
    defer { (readySince, hasWorked) = (nil, false) }
    guard let readySince else {
      earlyDeaths += 1
      return decision(after: earlyDeaths)
    }
    let atWork = now.since(readySince)
    if atWork >= policy.calm { (earlyDeaths, hastyDeaths) = (0, 0) }
    guard !hasWorked, atWork < policy.steady else { return .atOnce }
    hastyDeaths += 1
    return hastyDeaths <= policy.spared ? .atOnce : decision(after: hastyDeaths - policy.spared)
  }

  /// The rules have changed; what has happened counts by the new ones.
  public mutating func adopt(_ policy: RestartPolicy) { self.policy = policy }

  /// An operator asks for another try.
  public mutating func forgive() {
    (earlyDeaths, hastyDeaths) = (0, 0)
    (readySince, hasWorked) = (nil, false)
  }

  /// Pauses double with each death, and lie somewhere in the upper half, so that many windows do not start in step.
  private mutating func decision(after deaths: Int) -> RestartDecision {
    guard deaths < policy.patience else { return .giveUp }
    let doublings = min(deaths - 1, 30)
    let bounded = min(policy.firstPause * (1 << Int64(doublings)), policy.longestPause).nanoseconds
    return .after(TimeSpan(nanoseconds: bounded / 2 + chance.draw(0...max(bounded / 2, 1))))
  }
}
