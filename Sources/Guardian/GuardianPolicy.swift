// Decision about a bank whose coordinator has exited. The inputs are the coordinator's messages, its exit and times.
// Invariant: no further coordinator is started for a bank that never opened, was closed, or is to be closed.
import Posix
import Supervision
import Time

/// Exit of a coordinator, as far as its guardian can see it.
public enum CoordinatorExit: Sendable, Equatable {
  /// Exit code of the coordinator.
  case code(Int32)
  /// Signal that has killed the coordinator.
  case signal(Int32)
  /// The exit status could not be read, or no coordinator could be started.
  case unknown

  /// Exit code of the guardian for this end: that of the coordinator, or 128 plus the number of a signal, as in shells.
  public var exitCode: Int32 {
    switch self {
    case .code(let code): code
    case .signal(let signal): 128 &+ signal
    case .unknown: 1
    }
  }
}

/// End of a guardian's work.
public enum GuardianOutcome: Sendable, Equatable {
  case closed
  /// The bank never opened.
  case neverOpened(CoordinatorExit)
  /// The bank was to be closed, and its coordinator exited before it had closed the bank.
  case diedWhileClosing(CoordinatorExit)
  /// The bank could not be opened again, or its database is gone.
  case givenUp(CoordinatorExit)

  /// Exit code of the guardian's process.
  public var exitCode: Int32 {
    switch self {
    case .closed: 0
    case .neverOpened(let end): end.exitCode == 0 ? 1 : end.exitCode
    case .diedWhileClosing, .givenUp: 1
    }
  }
}

/// Action after the exit of a coordinator.
public enum GuardianDecision: Sendable, Equatable {
  /// Start the next coordinator now.
  case restart
  /// Start the next coordinator after this pause.
  case restartAfter(TimeSpan)
  /// Start no coordinator: the work of the guardian has ended.
  case end(GuardianOutcome)
}

/// State of a guarded bank, and the decision about it after the exit of its coordinator.
public struct GuardianPolicy: Sendable {
  /// Phase of the bank.
  public enum Phase: String, Sendable, CaseIterable { case opening, open, stopping, closed }

  /// Current phase of the bank.
  public private(set) var phase: Phase
  /// True if the bank was ever open under this guardian or an earlier one.
  public private(set) var hasOpened: Bool
  /// True if the guardian was asked to close the bank.
  public private(set) var isCloseRequested = false
  private var isLost = false
  /// Times of exits during work, the latest last.
  private var deathsAtWork: [MonotonicTime] = []
  private var history: RestartHistory

  /// A bank in this phase.
  /// - Parameter hasOpened: true if the bank was open before.
  /// - Parameter now: time from which an open bank counts as working.
  public init(
    phase: Phase = .opening, hasOpened: Bool = false, policy: RestartPolicy = RestartPolicy(), seed: UInt64,
    at now: MonotonicTime
  ) {
    self.phase = phase
    self.hasOpened = hasOpened || phase != .opening
    history = RestartHistory(policy: policy, seed: seed)
    if phase == .open || phase == .stopping { hasWorked(at: now) }
  }

  /// Records that the coordinator reports the bank open.
  public mutating func opened(at now: MonotonicTime) {
    guard phase == .opening else { return }
    phase = .open
    hasOpened = true
    hasWorked(at: now)
  }

  /// Records a successful opening: failures before it are forgotten.
  private mutating func hasWorked(at now: MonotonicTime) {
    history.becameReady(at: now)
    history.didWork()
  }

  /// Records that the coordinator reports the bank closing.
  public mutating func stopping() { if phase != .closed { phase = .stopping } }
  /// Records that the coordinator reports everything stored and the home free.
  public mutating func closed() { phase = .closed }
  /// Records that the database is gone.
  public mutating func lost() { isLost = true }
  /// Records a request to close the bank.
  public mutating func requestClose() { isCloseRequested = true }

  /// Decides whether the guardian restarts a coordinator that has exited or could not be started.
  public mutating func ended(_ end: CoordinatorExit, at now: MonotonicTime) -> GuardianDecision {
    if phase == .closed || end == .code(0), !Mutant.reopensClosedBank.isActive {
      return .end(.closed)
    }
    if isCloseRequested { return .end(hasOpened ? .diedWhileClosing(end) : .neverOpened(end)) }
    guard hasOpened else { return .end(.neverOpened(end)) }
    if isLost { return .end(.givenUp(end)) }
    phase = .opening
    return switch history.died(at: now) {
    case .atOnce: isStorm(at: now) ? .restartAfter(Self.crashLoopPause) : .restart
    case .after(let pause): .restartAfter(pause)
    case .giveUp: .end(.givenUp(end))
    }
  }

  /// Counts an exit during work. Returns true if the restart needs a pause, because there were many such exits in a
  /// short time. A coordinator that opens the bank and crashes each time would otherwise fill the disk with logs.
  private mutating func isStorm(at now: MonotonicTime) -> Bool {
    deathsAtWork.append(now)
    guard deathsAtWork.count > Self.crashLoopCount else { return false }
    return now.since(deathsAtWork.removeFirst()) < Self.crashLoopSpan
  }

  /// Maximum number of exits during work within ``crashLoopSpan`` that cause no pause.
  static let crashLoopCount = 20
  /// Period in which exits during work are counted.
  static let crashLoopSpan = TimeSpan.seconds(10)
  /// Pause before the restart if there were more than ``crashLoopCount`` exits.
  static let crashLoopPause = TimeSpan.milliseconds(500)
}
