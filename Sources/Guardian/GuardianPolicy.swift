// Owns the decision what becomes of a bank whose coordinator has ended: what the coordinator said, how it ended and moments
// go in, a verdict comes out.
// Invariant: a bank that was closed, or that somebody wants closed, is never opened again; one that had never opened is
// left to whoever was starting it; one whose database is gone is given up; any other one is opened again, slower and slower
// where opening does not work.
import Posix
import Supervision
import Time

/// How a coordinator ended, as far as its guardian can see.
public enum CoordinatorEnd: Sendable, Equatable {
  case code(Int32)
  case signal(Int32)
  /// It is gone; only its parent could have seen how.
  case unseen

  /// The exit code with which a guardian passes it on: 128 and the number for a signal, as a shell does.
  public var exitCode: Int32 {
    switch self {
    case .code(let code): code
    case .signal(let signal): 128 &+ signal
    case .unseen: 1
    }
  }
}

/// How a guardian's work ends.
public enum GuardianEnd: Sendable, Equatable {
  case closed
  /// The bank never opened; whoever was starting it has been told why.
  case neverOpened(CoordinatorEnd)
  /// The bank was to be closed, and its coordinator died before it had done so. Nobody is lost: the next start reads
  /// the disk.
  case diedWhileClosing(CoordinatorEnd)
  /// Opening the bank again has failed too often.
  case givenUp(CoordinatorEnd)

  /// The exit code of the guardian's process.
  public var exitCode: Int32 {
    switch self {
    case .closed: 0
    case .neverOpened(let end): end.exitCode == 0 ? 1 : end.exitCode
    case .diedWhileClosing, .givenUp: 1
    }
  }
}

/// What is to be done about a coordinator that has ended.
public enum GuardianVerdict: Sendable, Equatable {
  case restart
  case restartAfter(TimeSpan)
  case end(GuardianEnd)
}

/// What a guardian knows of its bank.
public struct GuardianPolicy: Sendable {
  /// How far the bank has come.
  public enum Phase: String, Sendable, CaseIterable { case opening, open, stopping, closed }

  /// How far the bank has come.
  public private(set) var phase: Phase
  /// Whether the bank has ever been open under this guardian or one before it.
  public private(set) var hasOpened: Bool
  /// Whether somebody wants the bank closed by way of the guardian.
  public private(set) var isToEnd = false
  private var isLost = false
  /// When coordinators died at work, the latest last.
  private var deathsAtWork: [MonotonicTime] = []
  private var history: RestartHistory

  /// A bank that is in this phase.
  /// - Parameter hasOpened: whether it was open before, so that whoever started it has long left.
  /// - Parameter now: the moment from which an open bank counts as at work.
  public init(
    phase: Phase = .opening, hasOpened: Bool = false, policy: RestartPolicy = RestartPolicy(), seed: UInt64,
    at now: MonotonicTime
  ) {
    self.phase = phase
    self.hasOpened = hasOpened || phase != .opening
    history = RestartHistory(policy: policy, seed: seed)
    if phase == .open || phase == .stopping { hasWorked(at: now) }
  }

  /// The coordinator says that the bank is open.
  public mutating func opened(at now: MonotonicTime) {
    guard phase == .opening else { return }
    phase = .open
    hasOpened = true
    hasWorked(at: now)
  }

  /// An opening that worked is what a coordinator is started for: failures before it are in no row with those after it.
  private mutating func hasWorked(at now: MonotonicTime) {
    history.becameReady(at: now)
    history.didWork()
  }

  /// The coordinator says that the bank is being closed.
  public mutating func stopping() { if phase != .closed { phase = .stopping } }
  /// The coordinator says that everything is kept and the home is free.
  public mutating func closed() { phase = .closed }
  /// The coordinator says that the database is gone: opening again would make another, empty bank.
  public mutating func lost() { isLost = true }
  /// Somebody wants the bank closed.
  public mutating func wantEnd() { isToEnd = true }

  /// The coordinator has ended, or could not be started: what now?
  public mutating func ended(_ end: CoordinatorEnd, at now: MonotonicTime) -> GuardianVerdict {
    if phase == .closed || end == .code(0), !Kernel.makes("opensTheClosed") { return .end(.closed) }
    if isToEnd { return .end(hasOpened ? .diedWhileClosing(end) : .neverOpened(end)) }
    guard hasOpened else { return .end(.neverOpened(end)) }
    if isLost { return .end(.givenUp(end)) }
    phase = .opening
    return switch history.died(at: now) {
    case .atOnce: isStorm(at: now) ? .restartAfter(Self.stormPause) : .restart
    case .after(let pause): .restartAfter(pause)
    case .giveUp: .end(.givenUp(end))
    }
  }

  /// One that opens the bank and dies of it, over and over, would fill the disk with its logs. Each is still restarted,
  /// for ever, only not in a tight loop.
  private mutating func isStorm(at now: MonotonicTime) -> Bool {
    deathsAtWork.append(now)
    guard deathsAtWork.count > Self.stormCount else { return false }
    return now.since(deathsAtWork.removeFirst()) < Self.stormSpan
  }

  /// So many deaths at work,
  static let stormCount = 20
  /// within this time,
  static let stormSpan = TimeSpan.seconds(10)
  /// are followed by this pause.
  static let stormPause = TimeSpan.milliseconds(500)
}
