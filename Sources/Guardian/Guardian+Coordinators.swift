// Life cycle of a guarded coordinator: start or adoption, messages, exit, and successor. Messages arrive as
// datagrams, which any process of this user could send. Messages without the coordinator's process id are ignored.
// Invariant: waiting messages of a coordinator, up to a limit, are handled before its exit is judged.
// Errors: a coordinator that cannot be started is reported to the policy like one that has exited.
import Glibc
import Posix
import Supervision
import Time

extension Guardian {
  /// Starts the first coordinator. `channel` becomes its descriptor 3: the connection of the client that
  /// wants the bank open.
  public func begin(channel: consuming FileDescriptor?) {
    do throws(SystemError) {
      try spawn(channel: channel)
      note("coordinator_started")
    } catch { couldNotStart(error) }
  }

  /// Starts to guard a coordinator that already runs and has started this guardian. If it has exited by now, decides
  /// about a restart.
  public func adopt(_ other: GuardianOptions.GuardedCoordinator) {
    do throws(SystemError) {
      // An open pidfd refers to one process. The parent's id, read after the pidfd was opened, confirms that it is
      // the process of the coordinator.
      guard let process = try ProcessHandle(pid: other.pid), CurrentProcess.parentPid == other.pid else {
        note("adopted_too_late")
        handleCoordinatorEnd(.unknown, pid: other.pid)
        return
      }
      try watch(.adopted(process), patience: other.patienceMilliseconds.map { .milliseconds($0) })
      note("adopted")
    } catch {
      // The coordinator may still run, and there must not be two, so this guardian exits.
      log?.write(event: "adopt_failed", level: .error) { $0.field("msg", error.description) }
      end = .neverOpened(.unknown)
    }
  }

  func restart() {
    do throws(SystemError) { try spawn(channel: nil) } catch { return couldNotStart(error) }
    note("restarted")
    if let pid = coordinator?.pid { onEvent?(.restarted(pid: pid)) }
  }

  /// Starts a coordinator with the lock and the variables that tie it to this guardian.
  private func spawn(channel: consuming FileDescriptor?) throws(SystemError) {
    var words = order.words + refusal
    var environment = ServiceNotifier.strip(Environment.all())
    var share: FileDescriptor?
    if let equipment {
      if policy.hasOpened, try home.repair(equipment) { try reregisterSocket() }
      equipment.log.restore()
      share = try equipment.lock.share()
      words += ["--guardian", "\(CurrentProcess.pid)"]
      environment[ServiceNotifier.addressVariable] = home.socket
      if let interval = order.manager?.watchdog {
        environment[ServiceNotifier.watchdogVariable] = "\(interval.nanoseconds / 1_000)"
      }
    }
    if policy.hasOpened { words.append("--recover") }
    // The bank opens even if the file for standard error is missing.
    let redirectsErrors = hasHome && !order.isForeground && home.canOpenStandardError
    let child = try ChildProcess.spawn(
      executable: order.program, arguments: words, environment: environment, channel: channel,
      secondDescriptor: share, standardOutput: .null,
      standardError: redirectsErrors ? .append(path: home.standardError) : .inherit, newSession: true)
    do throws(SystemError) { try watch(.started(child)) } catch {
      child.end()
      throw error
    }
  }

  /// Registers the new socket. The old descriptor was closed when the new one replaced it, and epoll drops a closed
  /// descriptor.
  private func reregisterSocket() throws(SystemError) {
    if let socketRegistration { loop.deregister(socketRegistration) }
    try listen()
  }

  /// Starts to watch the guardian's files. A failure is logged, and the guardian works without the watch.
  func watchHome() {
    do throws(SystemError) { watch = try home.watch(on: loop) } catch {
      log?.write(event: "home_watch_failed", level: .warn) { $0.field("msg", error.description) }
    }
  }

  /// Restores the socket and the log if they were removed. A running coordinator restores the lock itself.
  func repairHome(_ now: MonotonicTime) {
    guard let watch, let due = watch.repairAt, due <= now, let equipment else { return }
    // Without its home there is no bank to guard.
    guard !home.isGone(equipment) else { return watch.postpone() }
    do throws(SystemError) {
      try renewSocket(equipment)
      equipment.log.restore()
      try watch.remember()
      log?.write(event: "home_repaired", level: .warn) {
        $0.field("msg", "files of the guardian were removed and are created again")
      }
    } catch { watch.postpone() }
  }

  /// Binds and registers the socket again if it was removed. Returns true if there is a new socket.
  @discardableResult
  private func renewSocket(_ equipment: GuardedHome.GuardianResources) throws(SystemError) -> Bool {
    guard try home.renewSocket(equipment) else { return false }
    try reregisterSocket()
    return true
  }

  // MARK: - Hang detection

  /// Examines a coordinator that has been silent for long, and kills it if it hangs. The caller has handled the
  /// coordinator's pending messages before.
  func checkSilentCoordinator(at now: MonotonicTime) {
    guard var coordinator else { return }
    defer { if self.coordinator?.pid == coordinator.pid { self.coordinator = coordinator } }
    if coordinator.killAt != nil {
      coordinator.killAt = now + GuardedCoordinator.abortGrace
      return coordinator.kill(SIGKILL)
    }
    let isHung = coordinator.stallDetector.isHung(
      isSocketMissing() ? .excused : coordinator.observation, at: now)
    guard isHung || Mutant.killsSilentCoordinator.isActive else { return }
    log?.write(event: "stuck", level: .error) {
      $0.field("child", coordinator.pid)
      $0.field("msg", "the coordinator is stuck and is replaced")
    }
    coordinator.kill(SIGABRT)
    coordinator.kill(SIGCONT)
    coordinator.killAt = now + GuardedCoordinator.abortGrace
    if Mutant.startsSecondCoordinator.isActive {
      loop.deregister(coordinator.registration)
      handleCoordinatorEnd(.signal(SIGABRT), pid: coordinator.pid)
    }
  }

  /// True if messages of the coordinator could not arrive, because the socket or the home was removed.
  private func isSocketMissing() -> Bool {
    guard let equipment else { return true }
    if home.isGone(equipment) { return true }
    return (try? renewSocket(equipment)) == true
  }

  /// Registers the socket for messages of the coordinator with the loop.
  func listen() throws(SystemError) {
    guard let equipment else { return }
    socketRegistration = try loop.register(fd: equipment.socket.rawValue, interest: .read) {
      [unowned self] _ in
      receiveFromCoordinator()
    }
  }

  /// Makes this coordinator the guarded one, and watches it for its exit, and for hanging if it is silent for
  /// longer than `patience`.
  private func watch(_ process: GuardedCoordinator.Process, patience: TimeSpan? = nil) throws(SystemError) {
    let registration = try loop.register(fd: process.fd, interest: .read) { [unowned self] _ in
      handleCoordinatorExit()
    }
    let now = loop.moment()
    let stallDetector = StallDetector(patience: patience ?? StallDetector.patience, at: now.listeningTime)
    trackListening(for: stallDetector.patience)
    coordinator = GuardedCoordinator(
      process: process, registration: registration, since: now.monotonic, stallDetector: stallDetector)
  }

  /// Handles the exit of the coordinator, after its waiting messages.
  private func handleCoordinatorExit() {
    guard let coordinator else { return }
    let end: CoordinatorExit
    var peak: Int64?
    switch coordinator.process {
    case .adopted: end = .unknown
    case .started(let child):
      guard let status = child.reap() else { return }
      end = CoordinatorExit(status)
      peak = status.maxResidentBytes / 1024
    }
    loop.deregister(coordinator.registration)
    receiveFromCoordinator()
    let uptime = SystemClock.monotonic().since(coordinator.since)
    log?.write(event: "exit", level: end == .code(0) || policy.phase == .closed ? .info : .warn) {
      $0.field("child", coordinator.pid)
      switch end {
      case .code(let code): $0.field("code", code)
      case .signal(let signal): $0.field("signal", signal)
      case .unknown: break
      }
      $0.field("uptime_ms", uptime.milliseconds)
      if let peak { $0.field("max_rss_kb", peak) }
      $0.field("phase", policy.phase.rawValue)
    }
    handleCoordinatorEnd(end, pid: coordinator.pid)
  }

  /// Logs that no coordinator could be started, which counts as an exit.
  private func couldNotStart(_ error: SystemError) {
    log?.write(event: "spawn_failed", level: .error) { $0.field("msg", error.description) }
    if !hasHome || !policy.hasOpened {
      _ = try? StandardStreams.write("bank-guardian: \(error.description)\n", to: .error)
    }
    handleCoordinatorEnd(.unknown, pid: 0)
  }

  /// Applies the decision of the policy about a coordinator that has exited: restart it or end.
  private func handleCoordinatorEnd(_ end: CoordinatorExit, pid: Int32) {
    coordinator = nil
    lastExit = end
    if pid > 0 { onEvent?(.ended(end, pid: pid)) }
    let wasStopping = policy.phase == .stopping
    let now = SystemClock.monotonic()
    // The coordinator that saw the loss cannot report it any more, because the socket was in the removed
    // home.
    if let equipment, home.isGone(equipment) { policy.lost() }
    switch policy.ended(end, at: now) {
    case .end(let end): finish(end)
    case .restart:
      if wasStopping { logInterruptedDrain() }
      restart()
    case .restartAfter(let pause):
      if wasStopping { logInterruptedDrain() }
      restartAt = now + pause
      log?.write(event: "backoff", level: .warn) { $0.field("pause_ms", pause.milliseconds) }
      onEvent?(.pausing(pause))
    }
    if self.end == nil {
      order.manager?.tell(.status("The coordinator ended (\(end)); opening the bank again."))
    }
  }

  /// Logs that a drain was cut off.
  private func logInterruptedDrain() {
    log?.write(event: "drain_interrupted", level: .warn) {
      $0.field("msg", "the coordinator died while the bank was closing; the bank opens again")
    }
  }

  /// Logs an event with the process id of the coordinator.
  private func note(_ event: StaticString) {
    log?.write(event: event) { $0.field("child", coordinator?.pid ?? 0) }
  }

  // MARK: - Messages of the coordinator

  /// Handles the messages that wait in the socket, up to a limit.
  func receiveFromCoordinator() {
    // Bounded, because any process of this user can send datagrams.
    for _ in 0..<64 {
      guard let equipment, let bytes = try? Datagrams.receive(from: equipment.socket) else { return }
      handle(ServiceMessage(bytes))
    }
  }

  /// Handles a message of the coordinator, and forwards parts of it to the service manager.
  private func handle(_ message: ServiceMessage) {
    guard let coordinator, message.mainPid == coordinator.pid else { return }
    let now = loop.moment().monotonic
    handleProgress(message)
    var passedOn = message.without("MAINPID").without(Self.closedField).withoutHeartbeat
    if order.manager?.watchdog == nil { passedOn = passedOn.without("WATCHDOG") }
    if message.isReady {
      let wasOpening = policy.phase == .opening
      policy.opened(at: now)
      if wasOpening { onEvent?(.opened) }
      if isReloadPending {
        isReloadPending = false
        coordinator.kill(SIGHUP)
      }
      if isStopRequestPending {
        isStopRequestPending = false
        deliverStopRequest(to: coordinator)
      }
    }
    if message.isStopping {
      policy.stopping()
      // After STOPPING a service manager expects the exit soon, but a drain may take hours.
      if !policy.isCloseRequested { passedOn = passedOn.without("STOPPING") }
    }
    if message[Self.closedField] == Self.lost { policy.lost() }
    if message[Self.closedField] == "1" {
      policy.closed()
      passedOn = passedOn.with("STOPPING", "1")
    }
    if !passedOn.fields.isEmpty { order.manager?.tell(passedOn) }
  }

  /// Sets the stride of the listening time to half the patience with which the coordinator is judged silent. A
  /// shorter stride would wake an idle guardian more often.
  private func trackListening(for patience: TimeSpan) { loop.trackListening(inStepsOf: patience / 2) }

  /// Records that a message has arrived. Any message counts as progress; a numbered report is also answered.
  private func handleProgress(_ message: ServiceMessage) {
    coordinator?.stallDetector.heard(at: loop.moment().listeningTime, patience: message.patience)
    guard let number = message.heartbeat, let coordinator else { return }
    self.coordinator?.hasReported = true
    trackListening(for: coordinator.stallDetector.patience)
    let answer = ServiceMessage().with("MAINPID", "\(CurrentProcess.pid)").withHeartbeat(number)
    _ = try? Datagrams.send(answer.bytes, to: home.heartbeatReplies)
  }

  /// Field with which the coordinator reports that everything is stored and the home is free.
  public static let closedField = "X_BANK_CLOSED"
  /// Value of ``closedField`` if the bank's database is gone and the bank cannot be opened again.
  static let lost = "lost"
}
