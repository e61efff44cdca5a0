// Owns one coordinator at a time: starts it, or takes one over; hears how it is; and starts the next one where the
// policy says so. It must not know the protocol, the queue or the disk: it holds the lock of the home, so that nobody
// comes between two coordinators, and listens.
// Invariant: there is never more than one coordinator under a guardian, and none is started before the end of the one
// before it was seen.
// Failure: a coordinator that cannot be started counts as one that died before it was ready.
import BankModel
import Glibc
import Logbook
import Posix
import Supervision

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

    /// Puts the parts together.
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
    /// The coordinator has ended.
    case ended(CoordinatorEnd, pid: Int32)
    /// It will be started again after a pause.
    case pausing(TimeSpan)
    /// It was started again.
    case restarted(pid: Int32)
  }

  /// The signals that a guardian takes from its process; they stay blocked when it ends.
  public static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// The loop on which everything happens; whoever stays with the guardian may watch more on it.
  public let loop: EventLoop
  /// Called with what happens.
  public var onNews: ((News) -> Void)?
  /// Asked to pass on the n-th wish to end; false where it has no way to, and then a signal is sent.
  public var passOnWish: ((Int) -> Bool)?

  let order: Order
  let home: GuardedHome
  var policy: GuardianPolicy
  var ward: Ward?
  var end: GuardianEnd?
  private var equipment: GuardedHome.Equipment?
  private var refusal: [String] = []
  private var signalSource: SignalSource?
  private var restartAt: MonotonicTime?
  private var lastEnd = CoordinatorEnd.unseen
  private var wishes = 0
  private var pulseAt: MonotonicTime?

  /// Takes the home. Where that is not possible the coordinator that is started next says why, and nothing else.
  ///
  /// - Parameters:
  ///   - lock: the home's lock, inherited from a coordinator that is to be taken over.
  ///   - ward: that coordinator.
  /// - Throws: where the process cannot even wait for events.
  public init(
    _ order: Order, lock inherited: consuming FileDescriptor? = nil, of ward: GuardianOptions.Ward? = nil,
    restarts: RestartPolicy = RestartPolicy()
  ) throws(SystemError) {
    self.order = order
    home = GuardedHome(path: order.home)
    loop = try EventLoop()
    policy = GuardianPolicy(
      phase: ward?.phase ?? .opening, hasOpened: ward?.hasOpened ?? false, policy: restarts,
      seed: RandomSeed.fromSystem(), at: SystemClock.moment().monotonic)
    // From here on no signal can end this process and leave a coordinator behind that nobody knows of.
    signalSource = try SignalSource(Self.signals, on: loop) { [unowned self] report in
      hear(signal: report.signal)
    }
    switch home.take(inherited) {
    case .taken(let equipment):
      self.equipment = equipment
      _ = try loop.register(fd: equipment.socket.rawValue, interest: .read) { [unowned self] _ in hearWard() }
    case .occupied(let pid): refusal = ["--occupied", pid.map { "\($0)" } ?? ""]
    case .unusable(let reason): refusal = ["--unusable", reason]
    }
  }

  /// Whether the home is this guardian's.
  public var hasHome: Bool { equipment != nil }

  var log: LogFile? { equipment?.log }

  /// Starts the first coordinator.
  ///
  /// - Parameter channel: its conversation with whoever wants the bank open; becomes its descriptor 3.
  public func begin(channel: consuming FileDescriptor?) {
    do throws(SystemError) {
      try spawn(channel: channel)
      note("guarding")
    } catch {
      couldNotStart(error)
    }
  }

  /// Guards until the bank is closed, or cannot be opened.
  public func run() throws(SystemError) -> GuardianEnd {
    while true {
      if let end {
        log?.flush()
        return end
      }
      try loop.runOnce(until: nextDeadline)
      keepTime(SystemClock.moment().monotonic)
      log?.flushIfDue(SystemClock.monotonic())
    }
  }

  // MARK: - Time

  private var nextDeadline: MonotonicInstant? {
    let moments =
      [restartAt, pulseAt].compactMap { $0 }.map { MonotonicInstant($0) } + [log?.nextFlush].compactMap { $0 }
    return moments.min()
  }

  private func keepTime(_ now: MonotonicTime) {
    if let due = restartAt, due <= now {
      restartAt = nil
      restart()
    }
    keepPulse(now)
  }

  /// While there is no open bank that could give signs of life, the guardian gives its own: it is at work on one.
  private func keepPulse(_ now: MonotonicTime) {
    guard let manager = order.manager, let interval = manager.watchdog, policy.phase == .opening else {
      pulseAt = nil
      return
    }
    if let due = pulseAt, due <= now {
      manager.tell(.watchdog)
      pulseAt = nil
    }
    if pulseAt == nil { pulseAt = now + TimeSpan(interval / 2) }
  }

  // MARK: - Wishes from outside

  private func hear(signal: CInt) {
    if signal == SIGHUP, !order.endsOnHangUp {
      ward?.kill(SIGHUP)
      return
    }
    wishes += 1
    policy.wantEnd()
    log?.write(event: "asked_to_end") {
      $0.field("signal", Signals.name(signal))
      $0.field("wish", wishes)
    }
    guard let ward else {
      finish(policy.hasOpened ? .diedWhileClosing(lastEnd) : .neverOpened(lastEnd))
      return
    }
    if passOnWish?(wishes) == true { return }
    // The coordinator serves everyone who waits on the one, and only those at a window on the other.
    ward.kill(order.isForeground && wishes == 1 ? SIGINT : SIGTERM)
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

// MARK: - Coordinators

extension Guardian {
  /// Takes a coordinator over that runs already.
  public func adopt(_ other: GuardianOptions.Ward) {
    do throws(SystemError) {
      // After the process is held, its number cannot become a stranger's; before, it was the parent's.
      guard let process = try OtherProcess(pid: other.pid), CurrentProcess.parentPid == other.pid else {
        note("adopted_too_late")
        wardEnded(.unseen, pid: other.pid)
        return
      }
      try watch(.adopted(process))
      note("adopted")
    } catch {
      couldNotStart(error)
    }
  }

  private func restart() {
    do throws(SystemError) {
      try spawn(channel: nil)
    } catch {
      couldNotStart(error)
      return
    }
    note("restarted")
    if let pid = ward?.pid { onNews?(.restarted(pid: pid)) }
  }

  private func spawn(channel: consuming FileDescriptor?) throws(SystemError) {
    var words = order.words + refusal
    var environment = ServiceNotifier.strip(Environment.all())
    var share: FileDescriptor?
    if let equipment {
      share = try equipment.lock.share()
      words += ["--guardian", "\(CurrentProcess.pid)"]
      environment[ServiceNotifier.addressVariable] = home.socket
      if let interval = order.manager?.watchdog {
        environment[ServiceNotifier.watchdogVariable] = "\(TimeSpan(interval).nanoseconds / 1_000)"
      }
    }
    if policy.hasOpened { words.append("--recover") }
    let keepsErrors = hasHome && !order.isForeground
    let child = try ChildProcess.spawn(
      executable: order.program, arguments: words, environment: environment, channel: channel,
      keepsake: share, standardOutput: .null,
      standardError: keepsErrors ? .append(path: home.standardError) : .inherit, newSession: true)
    do throws(SystemError) {
      try watch(.started(child))
    } catch {
      child.kill(SIGKILL)
      throw error
    }
  }

  private func watch(_ process: Ward.Process) throws(SystemError) {
    let registration = try loop.register(fd: process.fd, interest: .read) { [unowned self] _ in wardIsReady()
    }
    ward = Ward(process: process, registration: registration, since: SystemClock.moment().monotonic)
  }

  /// The pidfd speaks: the coordinator has ended.
  private func wardIsReady() {
    guard let ward else { return }
    let end: CoordinatorEnd
    switch ward.process {
    case .adopted: end = .unseen
    case .started(let child):
      guard let status = child.reap() else { return }
      end = CoordinatorEnd(status)
    }
    loop.deregister(ward.registration)
    // Whatever it has still said comes before its end.
    hearWard()
    let uptime = SystemClock.moment().monotonic.since(ward.since)
    log?.write(event: "exit", level: end == .code(0) || policy.phase == .closed ? .info : .warn) {
      $0.field("child", ward.pid)
      switch end {
      case .code(let code): $0.field("code", code)
      case .signal(let signal): $0.field("signal", signal)
      case .unseen: break
      }
      $0.field("uptime_ms", uptime.milliseconds)
      $0.field("phase", policy.phase.rawValue)
    }
    wardEnded(end, pid: ward.pid)
  }

  private func couldNotStart(_ error: SystemError) {
    log?.write(event: "spawn_failed", level: .error) { $0.field("msg", error.description) }
    if !hasHome || !policy.hasOpened {
      _ = try? StandardStreams.write("bank-guardian: \(error.description)\n", to: .error)
    }
    wardEnded(.unseen, pid: 0)
  }

  private func wardEnded(_ end: CoordinatorEnd, pid: Int32) {
    ward = nil
    lastEnd = end
    if pid > 0 { onNews?(.ended(end, pid: pid)) }
    let wasStopping = policy.phase == .stopping
    let now = SystemClock.moment().monotonic
    switch policy.ended(end, at: now) {
    case .end(let end): finish(end)
    case .restart:
      if wasStopping { noteCutOffDrain() }
      restart()
    case .restartAfter(let pause):
      if wasStopping { noteCutOffDrain() }
      restartAt = now + pause
      log?.write(event: "backoff", level: .warn) { $0.field("pause_ms", pause.milliseconds) }
      onNews?(.pausing(pause))
    }
    if self.end == nil {
      order.manager?.tell(.status("The coordinator ended (\(end)); opening the bank again."))
    }
  }

  /// Whoever asked for the end was not told that it came, and can ask again.
  private func noteCutOffDrain() {
    log?.write(event: "drain_cut_off", level: .warn) {
      $0.field("msg", "the coordinator died while the bank was closing; the bank opens again")
    }
  }

  private func note(_ event: StaticString) {
    log?.write(event: event) { $0.field("child", ward?.pid ?? 0) }
  }

  // MARK: - What the coordinator says

  private func hearWard() {
    // Bounded, because anybody of this user may write here.
    for _ in 0..<64 {
      guard let equipment, let bytes = try? Datagrams.receive(from: equipment.socket) else { return }
      hear(ServiceMessage(bytes))
    }
  }

  private func hear(_ message: ServiceMessage) {
    guard let ward, message.mainPid == ward.pid else { return }
    let now = SystemClock.moment().monotonic
    var passedOn = message.without("MAINPID").without(Self.closedField)
    if message.isReady {
      let wasOpening = policy.phase == .opening
      policy.opened(at: now)
      if wasOpening { onNews?(.opened) }
    }
    if message.isStopping {
      policy.stopping()
      // A manager gives whoever says this a short while to end. A drain that an operator has asked for may take hours.
      if !policy.isToEnd { passedOn = passedOn.without("STOPPING") }
    }
    if message[Self.closedField] == "1" {
      policy.closed()
      passedOn = passedOn.with("STOPPING", "1")
    }
    if !passedOn.fields.isEmpty { order.manager?.tell(passedOn) }
  }

  /// With this field the coordinator says that everything is kept and the home is free.
  public static let closedField = "X_BANK_CLOSED"
}
