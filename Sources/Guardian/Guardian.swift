// Owns one coordinator at a time: starts it, or takes one over; hears how it is; and starts the next one where the
// policy says so. It holds the lock of the home, so that nobody comes between two coordinators, and listens.
// Invariant: there is never more than one coordinator under a guardian, and none is started before the end of the one
// before it was seen.
// Failure: a coordinator that cannot be started counts as one that died before it was ready.
import Glibc
import Logbook
import Posix
import Supervision
import Time

/// The guardian of one bank.
public final class Guardian {
  /// What a guardian is told.
  public struct Order {
    /// The home, absolute.
    public var home: String
    /// The coordinator's program.
    public var program: String
    /// The words for every coordinator.
    public var words: [String]
    /// The manager that has started this process; nil where nobody waits for news.
    public var manager: ServiceNotifier?
    /// A person or a manager stays with this process: the first wish to end lets everyone be served, and the
    /// coordinator says where this process says.
    public var isForeground: Bool
    /// A hang-up is a wish to end, because it is the terminal's; otherwise it is one to read the configuration again.
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

  /// What a person who stays with the guardian may want to know.
  public enum News: Sendable, Equatable {
    /// The bank is open, the first time or again.
    case opened
    case ended(CoordinatorEnd, pid: Int32)
    case pausing(TimeSpan)
    case restarted(pid: Int32)
  }

  /// The signals that a guardian takes from its process; they stay blocked when it ends. See ``listenToSignals()``.
  public static let signals = [SIGTERM, SIGINT, SIGHUP]
  /// The signals that come when a child has ended; they stay blocked, too. See ``collectOthers()``.
  public static let endsOfChildren = [SIGCHLD]

  /// The loop on which everything happens; whoever stays with the guardian may watch more on it.
  public let loop: EventLoop
  /// Called with what happens.
  public var onNews: ((News) -> Void)?
  /// Asked to pass on the n-th wish to end; false where it has no way to, and then a signal is sent.
  public var passOnWish: ((Int) -> Bool)?

  let order: Order
  let home: GuardedHome
  var policy: GuardianPolicy
  var ward: GuardedCoordinator?
  var end: GuardianEnd?
  var equipment: GuardedHome.Equipment?
  var refusal: [String] = []
  var hearing: Registration?
  /// Notices when the guardian's own files are removed; nil where the system has no watch left.
  var watch: NameWatch?
  var restartAt: MonotonicTime?
  var lastEnd = CoordinatorEnd.unseen
  private var wishes = 0
  var isWishHeldBack = false
  var isReloadHeldBack = false
  private var pulseAt: MonotonicTime?

  /// Takes the home. Where that is not possible the coordinator that is started next says why, and nothing else.
  /// - Parameter lock: the home's lock, inherited from a coordinator that is to be taken over.
  /// - Parameter ward: that coordinator.
  /// - Throws: where the process cannot even wait for events.
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

  /// Whether the home is this guardian's.
  public var hasHome: Bool { equipment != nil }
  var log: LogFile? { equipment?.log }

  /// Takes the process's signals: from here on none can end it and leave a coordinator behind that nobody knows of. To be
  /// called before one is started, and the result to be kept for as long as this one guards.
  public func listenToSignals() throws(SystemError) -> SignalSource {
    try SignalSource(Self.signals, on: loop) { [unowned self] report in hear(signal: report.signal) }
  }

  /// Collects what falls to this process and was not started by it, now and whenever a child ends: what dead coordinators
  /// have left, and as process 1 all orphans of a container. The result is to be kept for as long as this one guards.
  public func collectOthers() throws(SystemError) -> SignalSource {
    let source = try SignalSource(Self.endsOfChildren, on: loop) { _ in Subreaper.collectOthers() }
    Subreaper.collectOthers()
    return source
  }

  /// Guards until the bank is closed, or cannot be opened.
  public func run() throws(SystemError) -> GuardianEnd {
    while true { if let end = try turn() { return end } }
  }

  /// Waits for what happens next and does what follows from it; how the work has ended, once it has.
  public func turn() throws(SystemError) -> GuardianEnd? {
    if let end {
      log?.flush()
      return end
    }
    try loop.runOnce(until: nextDeadline)
    if let due = ward?.nextJudgement, due <= loop.moment().attended {
      // Whatever it has said until now is heard before it is judged, and so is its end.
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

  /// While there is no coordinator that could give signs of progress, because the next one is waited for, the guardian
  /// gives its own. While there is one only its signs are passed on.
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

  /// A signal asks for something.
  public func hear(signal: CInt) {
    if signal == SIGHUP, !order.endsOnHangUp {
      // The same goes for this one as for a wish to end.
      isReloadHeldBack = policy.phase == .opening
      if !isReloadHeldBack { ward?.kill(SIGHUP) }
      return
    }
    wishes += 1
    policy.wantEnd()
    log?.write(event: "asked_to_end") {
      $0.field("signal", Signals.name(signal))
      $0.field("wish", wishes)
    }
    guard let ward else {
      return finish(policy.hasOpened ? .diedWhileClosing(lastEnd) : .neverOpened(lastEnd))
    }
    // A coordinator that has only just begun would die of a signal instead of closing the bank.
    isWishHeldBack = wishes == 1 && policy.phase == .opening
    passOn(to: ward)
  }

  /// Passes the present wish on, if need be by a signal: on the one the coordinator serves everyone who waits, on the
  /// other only those at a window.
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
      log?.write(event: "given_up", level: .error) {
        $0.field("end", last.description)
        $0.field("msg", "the bank could not be opened again; look at bankd.stderr and start it by hand")
      }
      order.manager?.tell(.status("The bank could not be opened again (\(last))."))
    }
  }
}
