// The coordinator's link to its guardian: reports the state of the bank, and replaces a guardian that has died.
// Errors: a guardian that fails repeatedly is restarted with growing pauses. A bank without a guardian would end with
// the next death of its coordinator.

import Glibc
import Logging
import Posix
import Supervision
import Time

final class GuardianSupervisor {
  /// Phase of the bank, as in the guardian's command line.
  private enum Phase: String { case opening, open, stopping, closed }

  /// The guardian whose exit this process watches, with a handle: its parent, or a child that it has started.
  private enum WatchedProcess {
    case parent(ProcessHandle, Registration)
    case child(ChildProcess, Registration)
  }

  /// Number of consecutive deaths of guardians after which an error is logged.
  private static let errorThreshold = 10
  /// Time between SIGABRT and SIGKILL for a stuck guardian.
  private static let abortGrace = TimeSpan.milliseconds(200)
  /// Time after which a started guardian counts as working, so that earlier deaths are forgotten.
  private static let stabilityTime = TimeSpan.seconds(1)
  /// Field of the final report to the guardian: `1` if everything is stored, or `lost` if the database is gone.
  private static let closedField = "X_BANK_CLOSED"
  /// Pause before a message is repeated to a new guardian that was not listening yet.
  private static let repetition = TimeSpan.milliseconds(50)

  private let home: BankHome
  private let options: CoordinatorOptions
  private let lock: HomeLock
  private let loop: EventLoop
  private let log: LogFile
  private let notifier: ServiceNotifier?
  private let executable: String
  private let environment: EnvironmentVariables
  private var phase = Phase.opening
  private var watched: WatchedProcess?
  private var history: RestartHistory
  /// Time at which the next guardian is started; nil if none is to be started later.
  private var startAt: MonotonicTime?
  /// Message that no guardian has received, and the time at which it is sent again.
  private var undelivered: (message: ServiceMessage, repeatAt: MonotonicTime)?
  /// Time at which the present guardian counts as working; nil before its start and after this time.
  private var stableAt: MonotonicTime?
  private let heartbeat: Heartbeat
  /// Examination of a guardian that has not answered a heartbeat; nil if all are answered.
  private var stallDetector: StallDetector?
  /// True if the present guardian has ever answered a heartbeat. A guardian of an older build cannot answer.
  private var hasAnswered = false
  /// True after it was logged that job control has stopped the present guardian.
  private var isSuspended = false
  /// Time of SIGKILL for a stuck guardian, in listening time; nil if it was not found stuck.
  private var killAt: MonotonicTime?

  init(
    _ home: BankHome, _ options: CoordinatorOptions, lock: HomeLock, loop: EventLoop, log: LogFile,
    heartbeat: Heartbeat, executable: String,
    environment: EnvironmentVariables = Environment.all()
  ) {
    self.home = home
    self.options = options
    self.lock = lock
    self.loop = loop
    self.log = log
    self.executable = executable
    notifier = ServiceNotifier(environment: environment)
    self.environment = ServiceNotifier.strip(environment)
    var policy = RestartPolicy()
    policy.patience = .max
    policy.longestPause = .seconds(1)
    history = RestartHistory(policy: policy, seed: RandomSeed.fromSystem())
    self.heartbeat = heartbeat
    heartbeat.onBeat = { [weak self] in
      if let self, watched != nil, stallDetector == nil {
        stallDetector = StallDetector(patience: heartbeat.patience, at: loop.moment().listeningTime)
      }
    }
    heartbeat.onAnswer = { [weak self] pid in
      guard let self, pid == self.pid else { return }
      (stallDetector, hasAnswered, isSuspended) = (nil, true, false)
    }
  }

  /// Process id of the guardian; nil if there is none now.
  var pid: Int32? {
    switch watched {
    case .parent(let process, _): process.pid
    case .child(let process, _): process.pid
    case nil: nil
    }
  }

  /// True if a guardian has started this process.
  var isGuarded: Bool { options.guardian != nil }

  /// Starts to watch the guardian that started this process, if there is one.
  func begin() {
    guard let guardian = options.guardian else { return }
    let process = try? ProcessHandle(pid: guardian)
    // The process id is certain to be the guardian's only while the guardian is the parent of this process.
    guard let process, CurrentProcess.parentPid == guardian, watch(process) else { return guardianEnded(nil) }
  }

  // MARK: - Reports

  func opened(windows: Int, day: Int64) {
    guard phase == .opening else { return }
    phase = .open
    report(.ready(status: "Day \(day), \(windows) windows are open."))
  }

  func stopping() {
    guard phase == .opening || phase == .open else { return }
    phase = .stopping
    report(.stopping.with("STATUS", "The bank is closing."))
  }

  /// Reports that everything is stored.
  func closed() {
    phase = .closed
    (startAt, undelivered) = (nil, nil)
    heartbeat.close()
    let isSent = send(ServiceMessage().with(Self.closedField, "1").with("STATUS", "The bank is closed."))
    // A guardian that is not listening yet would find this process gone, and open the bank again.
    if !isSent, case .child(let guardian, _) = watched {
      guardian.kill(SIGKILL)
    }
  }

  /// Reports that the database is gone, so that the guardian does not create another, empty bank.
  func lost() {
    phase = .closed
    (startAt, undelivered) = (nil, nil)
    send(ServiceMessage().with(Self.closedField, "lost").with("STATUS", "The database is gone."))
  }

  /// Reports the state of the bank, and repeats the report until a guardian receives it: a new guardian's
  /// command line may contain an earlier state.
  private func report(_ message: ServiceMessage) {
    let isSent = send(message)
    undelivered = isSent ? nil : (message, loop.moment().monotonic + Self.repetition)
  }

  /// Sends a message to the guardian. Returns false if it could not be delivered.
  @discardableResult
  private func send(_ message: ServiceMessage) -> Bool {
    notifier?.tell(message.with("MAINPID", "\(CurrentProcess.pid)")) ?? true
  }

  /// Applies a reloaded timeout of heartbeats.
  func adopt(_ patience: TimeSpan) { heartbeat.patience = patience }

  // MARK: - Deadlines

  var nextDeadline: MonotonicTime? {
    .earliest(startAt, undelivered?.repeatAt, stableAt, heartbeat.nextDeadline)
  }

  /// Time of the next check of a silent guardian, in listening time; see `ListeningClock`.
  var nextJudgement: MonotonicTime? {
    guard watched != nil else { return nil }
    return killAt ?? stallDetector?.nextCheckAt
  }

  /// Applies deadlines that have passed. This function also sends the heartbeat, which therefore proves that
  /// the loop runs.
  func runTimers(_ moment: Moment) {
    let now = moment.monotonic
    heartbeat.progressed()
    if let due = nextJudgement, due <= moment.listeningTime { checkSilentGuardian(moment) }
    if let due = stableAt, due <= now {
      stableAt = nil
      hasBegun(at: now)
    }
    if let due = startAt, due <= now {
      startAt = nil
      startGuardian()
    }
    if let undelivered, undelivered.repeatAt <= now { report(undelivered.message) }
  }

  // MARK: - Guardians

  /// Counts the present guardian as working, so that earlier deaths are forgotten.
  private func hasBegun(at now: MonotonicTime) {
    history.becameReady(at: now)
    history.didWork()
  }

  /// Examines a guardian that has been silent for too long, or kills it if its time to exit is over.
  private func checkSilentGuardian(_ now: Moment) {
    if killAt != nil {
      killAt = now.listeningTime + Self.abortGrace
      return signal(SIGKILL)
    }
    guard let pid, stallDetector?.isHung(observation(of: pid), at: now.listeningTime) == true else { return }
    log.write(event: "guardian_stuck", level: .warn, at: now) {
      $0.field("child", pid)
      $0.field("msg", "the guardian is stuck and is replaced")
    }
    signal(SIGABRT)
    signal(SIGCONT)
    killAt = now.listeningTime + Self.abortGrace
  }

  /// State of the guardian for the judgement whether it hangs.
  private func observation(of pid: Int32) -> StallDetector.Observation {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    switch activity.state {
    case .stopped where activity.hasTerminal:
      // Stopped by job control on a terminal: the user will resume it, so it is not stuck.
      if !isSuspended { log.write(event: "guardian_suspended", level: .warn) { $0.field("child", pid) } }
      isSuspended = true
      return .excused
    case .stopped: return .stopped
    case .sleeping where hasAnswered: return .asleep(processorTicks: activity.processorTicks)
    case .running where hasAnswered: return .running(processorTicks: activity.processorTicks)
    default: return .excused
    }
  }

  /// Sends a signal to the guardian, if there is one.
  private func signal(_ signal: CInt) {
    switch watched {
    case .parent(let process, _): process.kill(signal)
    case .child(let process, _): process.kill(signal)
    case nil: break
    }
  }

  /// Watches a guardian that has started this process. Returns false if that fails.
  private func watch(_ process: ProcessHandle) -> Bool {
    let registration = try? loop.register(fd: process.fd, interest: .read) { [unowned self] _ in
      handleGuardianExit()
    }
    guard let registration else { return false }
    watched = .parent(process, registration)
    hasBegun(at: loop.moment().monotonic)
    return true
  }

  /// Stops watching the guardian, which has exited, and replaces it.
  private func handleGuardianExit() {
    switch watched {
    case .parent(let process, let registration):
      loop.deregister(registration)
      watched = nil
      guardianEnded("process \(process.pid)")
    case .child(let process, let registration):
      guard let status = process.reap() else { return }
      loop.deregister(registration)
      watched = nil
      guardianEnded("process \(process.pid), \(status)")
    case nil: break
    }
  }

  /// Starts the next guardian, at once or after a pause, unless the bank has closed.
  private func guardianEnded(_ who: String?) {
    (stableAt, killAt, stallDetector) = (nil, nil, nil)
    (hasAnswered, isSuspended) = (false, false)
    guard phase != .closed, !Mutant.doesNotRestartGuardian.isActive else { return }
    let now = loop.moment()
    log.write(event: "guardian_exited", level: .warn, at: now) { $0.field("msg", who) }
    switch history.died(at: now.monotonic) {
    case .atOnce: startGuardian()
    case .after(let pause): startAt = now.monotonic + pause
    // Restarts are not given up.
    case .giveUp: startAt = now.monotonic + .seconds(1)
    }
    if history.consecutiveDeaths >= Self.errorThreshold, let startAt {
      log.write(event: "guardian_backoff", level: .error, at: now) {
        $0.field("deaths", history.consecutiveDeaths)
        $0.field("pause_ms", startAt.since(now.monotonic).milliseconds)
        $0.field("msg", "the bank is open without a guardian; see guardian.log and bankd.stderr")
      }
    }
  }

  /// Starts a guardian for the present state of the bank. If this process dies before the new guardian listens,
  /// the guardian has not received the report of the opening. So the command line already contains `--opened`,
  /// which makes the guardian open the bank again.
  private func startGuardian() {
    let arguments =
      [
        "--home", home.path, "--adopt", "\(CurrentProcess.pid)", "--phase",
        phase.rawValue, "--patience", "\(heartbeat.patience.milliseconds)", "--opened", "--",
      ] + options.persistentArguments
    do throws(SystemError) {
      // The guardian has a session of its own and is not tied to this process, because it must outlive this
      // process.
      let child = try ChildProcess.spawn(
        executable: executable, arguments: arguments, environment: environment,
        secondDescriptor: lock.share(),
        standardOutput: .null, standardError: home.standardErrorOutput, newSession: true)
      let registration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
        handleGuardianExit()
      }
      watched = .child(child, registration)
      undelivered = nil
      stableAt = loop.moment().monotonic + Self.stabilityTime
      log.write(event: "guardian_started") { $0.field("child", child.pid) }
    } catch { guardianEnded(error.description) }
  }
}
