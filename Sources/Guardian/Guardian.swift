// Guardian of one coordinator at a time: starts or adopts it, receives its messages, and starts the next one
// according to the policy. It holds the lock of the home, so that no other process takes it between two
// coordinators.
// Invariant: there is never more than one coordinator under a guardian, and none is started before the exit
// of the previous one was seen.
// Errors: a coordinator that cannot be started counts as one that exited before it was ready.
import Glibc
import Logbook
import Posix
import Supervision
import Time

/// The guardian of one bank. Not Sendable: everything happens on the loop's thread.
public final class Guardian {
  /// Settings of a guardian.
  public struct Order {
    /// Home directory, absolute.
    public var home: String
    /// Path of the coordinator's program.
    public var program: String
    /// Arguments of every coordinator.
    public var words: [String]
    /// Service manager that has started this process; nil for none.
    public var manager: ServiceNotifier?
    /// True if a user or a service manager stays with this process. The first request to end then lets all
    /// customers be served, and the coordinator writes to the standard error of this process.
    public var isForeground: Bool
    /// True if SIGHUP is a request to end, because it comes from the terminal; false if it means to reload
    /// the configuration.
    public var endsOnHangUp: Bool

    public init(
      home: String, program: String, words: [String], manager: ServiceNotifier? = nil,
      isForeground: Bool = false, endsOnHangUp: Bool = false
    ) {
      self.home = home
      self.program = program
      self.words = words
      self.manager = manager
      self.isForeground = isForeground
      self.endsOnHangUp = endsOnHangUp
    }
  }

  /// Events for a user who stays with the guardian.
  public enum News: Sendable, Equatable {
    /// The bank is open, for the first time or again.
    case opened
    case ended(CoordinatorEnd, pid: Int32)
    case pausing(TimeSpan)
    case restarted(pid: Int32)
  }

  /// Signals that a guardian handles; they stay blocked when it ends. See ``listenToSignals()``.
  public static let signals = [SIGTERM, SIGINT, SIGHUP]
  /// Signals for the exit of a child; they stay blocked, too. See ``collectOthers()``.
  public static let endsOfChildren = [SIGCHLD]

  /// The loop on which everything happens. The caller may register more descriptors on it.
  public let loop: EventLoop
  /// Called with each event.
  public var onNews: ((News) -> Void)?
  /// Forwards the n-th request to end. If it returns false, the guardian sends a signal instead.
  public var passOnWish: ((Int) -> Bool)?

  let order: Order
  let home: GuardedHome
  var policy: GuardianPolicy
  var ward: GuardedCoordinator?
  var end: GuardianEnd?
  var equipment: GuardedHome.Equipment?
  var refusal: [String] = []
  var hearing: Registration?
  /// Watch for the removal of the guardian's own files; nil if the system has no watch left.
  var watch: NameWatch?
  var restartAt: MonotonicTime?
  var lastEnd = CoordinatorEnd.unseen
  private var wishes = 0
  var isWishHeldBack = false
  var isReloadHeldBack = false
  private var pulseAt: MonotonicTime?

  /// Takes the home. If that fails, the coordinator that is started next reports the reason, and does nothing else.
  /// - Parameter lock: the home's lock, inherited from a coordinator that is to be adopted.
  /// - Parameter ward: the coordinator to adopt; nil to start one.
  /// - Throws: an error if the process cannot wait for events.
  public init(
    _ order: Order, lock inherited: consuming FileDescriptor? = nil,
    of ward: GuardianOptions.GuardedCoordinator? = nil, restarts: RestartPolicy = RestartPolicy()
  ) throws(SystemError) {
    self.order = order
    home = GuardedHome(path: order.home)
    loop = try EventLoop()
    policy = GuardianPolicy(
      phase: ward?.phase ?? .opening, hasOpened: ward?.hasOpened ?? false, policy: restarts,
      seed: RandomSeed.fromSystem(), at: SystemClock.monotonic())
    switch home.take(inherited) {
    case .taken(let equipment):
      self.equipment = equipment
      try listen()
      watchHome()
    case .occupied(let pid): refusal = ["--occupied", pid.map { "\($0)" } ?? ""]
    case .inspected: refusal = ["--inspected"]
    case .unusable(let reason): refusal = ["--unusable", reason]
    }
  }

  /// True if this guardian holds the home.
  public var hasHome: Bool { equipment != nil }
  var log: LogFile? { equipment?.log }

  /// Handles the process's signals, so that no signal can end this process and leave a coordinator without a guardian.
  /// Call it before a coordinator is started, and keep the result for as long as the guardian runs.
  public func listenToSignals() throws(SystemError) -> SignalSource {
    try SignalSource(Self.signals, on: loop) { [unowned self] report in hear(signal: report.signal) }
  }

  /// Reaps orphans that this process has inherited, now and whenever a child exits: processes left by dead coordinators
  /// and, as process 1, all orphans of a container. Keep the result for as long as the guardian runs.
  public func collectOthers() throws(SystemError) -> SignalSource {
    let source = try SignalSource(Self.endsOfChildren, on: loop) { _ in Subreaper.collectOthers() }
    Subreaper.collectOthers()
    return source
  }

  /// Guards until the bank is closed, cannot be opened, or is given up. Returns which of these has happened.
  public func run() throws(SystemError) -> GuardianEnd {
    while true { if let end = try turn() { return end } }
  }

  /// Runs one loop iteration. Returns the end of the guardian's work, or nil while it continues.
  public func turn() throws(SystemError) -> GuardianEnd? {
    if let end {
      log?.flush()
      return end
    }
    try loop.runOnce(until: nextDeadline)
    if let due = ward?.nextJudgement, due <= loop.moment().attended {
      // Handle all messages so far, and an exit, before the silence is judged.
      try loop.hearEverybody()
      if let due = ward?.nextJudgement, due <= loop.moment().attended {
        judgeWard(at: loop.moment().attended)
      }
    }
    keepTime(loop.moment().monotonic)
    log?.flushIfDue(SystemClock.monotonic())
    return nil
  }

  private var nextDeadline: MonotonicTime? {
    let judgement = ward.map { loop.wake(for: $0.nextJudgement) }
    let moments =
      [restartAt, pulseAt, judgement, log?.nextFlush, watch?.repairAt].compactMap { $0 }
    return moments.min()
  }

  private func keepTime(_ now: MonotonicTime) {
    if let due = restartAt, due <= now {
      restartAt = nil
      restart()
    }
    keepPulse(now)
    keepHome(now)
  }

  /// Sends the guardian's own progress reports to the service manager while no coordinator runs. While one runs, only
  /// the reports of the coordinator are forwarded.
  private func keepPulse(_ now: MonotonicTime) {
    guard let manager = order.manager, let interval = manager.watchdog, ward == nil else {
      pulseAt = nil
      return
    }
    if let due = pulseAt, due <= now {
      manager.tell(.watchdog)
      pulseAt = nil
    }
    if pulseAt == nil { pulseAt = now + interval / 2 }
  }

  /// Handles a signal.
  public func hear(signal: CInt) {
    if signal == SIGHUP, !order.endsOnHangUp {
      // SIGHUP would kill a coordinator that is still starting, as a request to end would.
      isReloadHeldBack = policy.phase == .opening
      if !isReloadHeldBack { ward?.kill(SIGHUP) }
      return
    }
    wishes += 1
    policy.wantEnd()
    log?.write(event: "shutdown_requested") {
      $0.field("signal", Signals.name(signal))
      $0.field("request", wishes)
    }
    guard let ward else {
      return finish(policy.hasOpened ? .diedWhileClosing(lastEnd) : .neverOpened(lastEnd))
    }
    // A coordinator that has only just started would be killed by a signal instead of closing the bank.
    isWishHeldBack = wishes == 1 && policy.phase == .opening
    passOn(to: ward)
  }

  /// Forwards the current request, if necessary by a signal. On SIGINT the coordinator serves all waiting customers, on
  /// SIGTERM only those at a window.
  func passOn(to ward: GuardedCoordinator) {
    if passOnWish?(wishes) == true {
      isWishHeldBack = false
    } else if !isWishHeldBack {
      ward.kill(order.isForeground && wishes == 1 ? SIGINT : SIGTERM)
    }
  }

  func finish(_ end: GuardianEnd) {
    guard self.end == nil else { return }
    self.end = end
    if case .givenUp(let last) = end {
      log?.write(event: "restarts_stopped", level: .error) {
        $0.field("end", last.description)
        $0.field("msg", "the bank could not be opened again; see bankd.stderr, then start it again")
      }
      order.manager?.tell(.status("The bank could not be opened again (\(last))."))
    }
  }
}
