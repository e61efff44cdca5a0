// Guardian of one coordinator at a time: starts or adopts it, receives its messages, and starts the next one
// according to the policy. It holds the lock of the home, so that no other process takes the lock between two
// coordinators.
// Invariant: a guardian has at most one coordinator, and starts none before the exit of the previous one was seen.
// Errors: a coordinator that cannot be started counts as one that exited before it was ready.
import Glibc
import Logging
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
    /// True if a user or a service manager stays with this process. It decides which signal forwards the first
    /// request to end, and where coordinators write standard error.
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

  /// Event that a guardian reports to the user who runs it in the foreground.
  public enum Event: Sendable, Equatable {
    /// The bank is open, for the first time or again.
    case opened
    /// A coordinator has exited.
    case ended(CoordinatorExit, pid: Int32)
    /// The next coordinator is started after this pause.
    case pausing(TimeSpan)
    /// The next coordinator was started.
    case restarted(pid: Int32)
  }

  /// Signals that a guardian handles; see ``listenToSignals()``.
  public static let signals = [SIGTERM, SIGINT, SIGHUP]
  /// Signals for the exit of a child; see ``reapOrphans()``.
  public static let childExitSignals = [SIGCHLD]

  /// The loop on which everything happens. The caller may register more descriptors on it.
  public let loop: EventLoop
  /// Called with each event.
  public var onEvent: ((Event) -> Void)?
  /// Forwards the n-th request to end. If it returns false, the guardian sends a signal instead.
  public var forwardStopRequest: ((Int) -> Bool)?

  let order: Order
  let home: GuardedHome
  var policy: GuardianPolicy
  var coordinator: GuardedCoordinator?
  /// End of the guardian's work; nil while it continues.
  var end: GuardianOutcome?
  /// Lock, socket and log of the guardian; nil if it could not take the home.
  var equipment: GuardedHome.GuardianResources?
  /// Arguments of the coordinator with the reason why the home could not be taken; empty if it was taken.
  var refusal: [String] = []
  var socketRegistration: Registration?
  /// Watch for the removal of the guardian's own files; nil if it could not be set up.
  var watch: FileIdentityWatcher?
  /// Time at which the next coordinator is started; nil if none is to be started later.
  var restartAt: MonotonicTime?
  var lastExit = CoordinatorExit.unknown
  /// Number of requests to end so far.
  private var stopRequests = 0
  /// True if the first request to end waits until the coordinator has opened the bank.
  var isStopRequestPending = false
  /// True if a reload waits until the coordinator has opened the bank.
  var isReloadPending = false
  /// Time of the guardian's own next progress report; nil while a coordinator runs, and if no reports are wanted.
  private var heartbeatAt: MonotonicTime?

  /// Takes the home. If that fails, the next coordinator reports the reason.
  /// - Parameter lock: the home's lock, inherited from a coordinator that is to be adopted.
  /// - Parameter coordinator: the coordinator to adopt; nil to start one.
  /// - Throws: an error if the process cannot wait for events.
  public init(
    _ order: Order, lock inherited: consuming FileDescriptor? = nil,
    of coordinator: GuardianOptions.GuardedCoordinator? = nil, restarts: RestartPolicy = RestartPolicy()
  ) throws(SystemError) {
    self.order = order
    home = GuardedHome(path: order.home)
    loop = try EventLoop()
    policy = GuardianPolicy(
      phase: coordinator?.phase ?? .opening, hasOpened: coordinator?.hasOpened ?? false, policy: restarts,
      seed: RandomSeed.fromSystem(), at: SystemClock.monotonic())
    switch home.acquire(inherited) {
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

  /// Handles ``signals``, which would otherwise end this process and leave a coordinator without a guardian.
  /// Call it before a coordinator is started, and keep the result for as long as the guardian runs.
  public func listenToSignals() throws(SystemError) -> SignalSource {
    try SignalSource(Self.signals, on: loop) { [unowned self] report in handle(signal: report.signal) }
  }

  /// Reaps orphans that this process has inherited, now and whenever a child exits: processes left by dead
  /// coordinators and, as process 1, the orphans of a container. Keep the result for as long as the guardian runs.
  public func reapOrphans() throws(SystemError) -> SignalSource {
    let source = try SignalSource(Self.childExitSignals, on: loop) { _ in Subreaper.reapOrphans() }
    Subreaper.reapOrphans()
    return source
  }

  /// Guards until the bank is closed, cannot be opened, or is given up. Returns which of these has happened.
  public func run() throws(SystemError) -> GuardianOutcome {
    while true { if let end = try runIteration() { return end } }
  }

  /// Runs one loop iteration. Returns the end of the guardian's work, or nil while it continues.
  public func runIteration() throws(SystemError) -> GuardianOutcome? {
    if let end {
      log?.flush()
      return end
    }
    try loop.runOnce(until: nextDeadline)
    if let due = coordinator?.nextJudgement, due <= loop.moment().listeningTime {
      // Handle pending messages, and an exit, before the silence is judged.
      try loop.handlePendingInput()
      if let due = coordinator?.nextJudgement, due <= loop.moment().listeningTime {
        checkSilentCoordinator(at: loop.moment().listeningTime)
      }
    }
    runTimers(loop.moment().monotonic)
    log?.flushIfDue(SystemClock.monotonic())
    return nil
  }

  private var nextDeadline: MonotonicTime? {
    let silenceTimeout = coordinator.map { loop.wakeTime(for: $0.nextJudgement) }
    let moments =
      [restartAt, heartbeatAt, silenceTimeout, log?.nextFlush, watch?.repairAt].compactMap { $0 }
    return moments.min()
  }

  /// Applies deadlines that have passed.
  private func runTimers(_ now: MonotonicTime) {
    if let due = restartAt, due <= now {
      restartAt = nil
      restart()
    }
    sendOwnHeartbeat(now)
    repairHome(now)
  }

  /// Sends the guardian's own progress reports to the service manager while no coordinator runs. While one runs, its
  /// reports are forwarded instead.
  private func sendOwnHeartbeat(_ now: MonotonicTime) {
    guard let manager = order.manager, let interval = manager.watchdog, coordinator == nil else {
      heartbeatAt = nil
      return
    }
    if let due = heartbeatAt, due <= now {
      manager.tell(.watchdog)
      heartbeatAt = nil
    }
    if heartbeatAt == nil { heartbeatAt = now + interval / 2 }
  }

  /// Handles a signal: SIGHUP as a reload, or as a request to end from the terminal, and any other as a request to end.
  public func handle(signal: CInt) {
    if signal == SIGHUP, !order.endsOnHangUp {
      // SIGHUP would kill a coordinator that is still starting.
      isReloadPending = policy.phase == .opening
      if !isReloadPending { coordinator?.kill(SIGHUP) }
      return
    }
    stopRequests += 1
    policy.requestClose()
    log?.write(event: "shutdown_requested") {
      $0.field("signal", Signals.name(signal))
      $0.field("request", stopRequests)
    }
    guard let coordinator else {
      return finish(policy.hasOpened ? .diedWhileClosing(lastExit) : .neverOpened(lastExit))
    }
    // A coordinator that has only just started would be killed by a signal instead of closing the bank.
    isStopRequestPending = stopRequests == 1 && policy.phase == .opening
    deliverStopRequest(to: coordinator)
  }

  /// Forwards the current request, if necessary by a signal: SIGINT requests a drain, and SIGTERM does not.
  func deliverStopRequest(to coordinator: GuardedCoordinator) {
    if forwardStopRequest?(stopRequests) == true {
      isStopRequestPending = false
    } else if !isStopRequestPending {
      coordinator.kill(order.isForeground && stopRequests == 1 ? SIGINT : SIGTERM)
    }
  }

  /// Records the end of the guardian's work. The first end is kept.
  func finish(_ end: GuardianOutcome) {
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
