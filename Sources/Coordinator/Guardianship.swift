// Owns the coordinator's side of being guarded: it tells how the bank is, and replaces a guardian that has died.
// Invariant: nothing here waits, and no death of a guardian changes anything for a customer.
// A guardian that does not answer signs of progress stands still; it is ended first, and only then another one comes, so
// there are never two.
// Failure: a guardian that cannot live is started again slower and slower, but never less often than once a second, for as
// long as the bank is open: a bank without one would end with the next death of its coordinator.

import Glibc
import Logbook
import Posix
import Supervision
import Time

final class Guardianship {
  /// How far the bank has come, in the words of the guardian's command line.
  private enum Phase: String { case opening, open, stopping, closed }

  private enum Watched {
    /// The one that has started this process.
    case parent(OtherProcess, Registration)
    /// One that this process has started.
    case child(ChildProcess, Registration)
  }

  /// Deaths of guardians in a row, which are told as an error from here on.
  private static let worry = 10
  /// How long a guardian that stands still has between SIGABRT and SIGKILL.
  private static let abortGrace = TimeSpan.milliseconds(200)
  private static let proof = TimeSpan.seconds(1)
  /// With this field the guardian knows that everything is kept and the home is free.
  private static let closedField = "X_BANK_CLOSED"
  /// What a guardian that was only just started could not hear is told again after this time.
  private static let repetition = TimeSpan.milliseconds(50)

  private let home: BankHome
  private let options: CoordinatorOptions
  private let lock: HomeLock
  private let loop: EventLoop
  private let log: LogFile
  private let notifier: ServiceNotifier?
  private let executable: String
  private let environment: Variables
  private var phase = Phase.opening
  private var watched: Watched?
  private var history: RestartHistory
  private var startAt: MonotonicTime?
  /// What no guardian has heard of the bank, and when it is told again.
  private var unheard: (message: ServiceMessage, repeatAt: MonotonicTime)?
  private var provenAt: MonotonicTime?
  private let pulse: Pulse
  /// Since a sign of progress was given that the guardian has not answered; nil while it has answered all.
  private var silence: Standstill?
  /// Whether the present guardian has ever answered: one of an older build does not know how to.
  private var hasAnswered = false
  private var isSuspended = false
  private var killAt: MonotonicTime?

  init(
    _ home: BankHome, _ options: CoordinatorOptions, lock: HomeLock, loop: EventLoop, log: LogFile,
    pulse: Pulse, executable: String,
    environment: Variables = Environment.all()
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
    self.pulse = pulse
    pulse.onBeat = { [weak self] in
      if let self, watched != nil, silence == nil {
        silence = Standstill(patience: pulse.patience, at: loop.moment().attended)
      }
    }
    pulse.onAnswer = { [weak self] pid in
      guard let self, pid == self.pid else { return }
      (silence, hasAnswered, isSuspended) = (nil, true, false)
    }
  }

  /// The guardian's process; nil where there is none at the moment, or none is wanted.
  var pid: Int32? {
    switch watched {
    case .parent(let process, _): process.pid
    case .child(let process, _): process.pid
    case nil: nil
    }
  }

  var isGuarded: Bool { options.guardian != nil }

  /// Begins to watch the guardian that has started this process, if one has.
  func begin() {
    guard let guardian = options.guardian else { return }
    let process = try? OtherProcess(pid: guardian)
    // The number is only certain to be the guardian's while it is this process's parent.
    guard let process, CurrentProcess.parentPid == guardian, watch(process) else { return guardianEnded(nil) }
  }

  // MARK: - What is told

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

  /// Everything is kept; the lock is still held.
  func closed() {
    phase = .closed
    (startAt, unheard) = (nil, nil)
    pulse.close()
    if Kernel.makes("keepsTheEndToItself") { return }
    let isTold = tell(ServiceMessage().with(Self.closedField, "1").with("STATUS", "The bank is closed."))
    // A guardian that does not listen yet would find this process gone, and open the bank again.
    if !isTold, case .child(let guardian, _) = watched {
      guardian.kill(SIGKILL)
    }
  }

  /// The database is gone: nobody shall make another, empty bank in its place.
  func lost() {
    phase = .closed
    (startAt, unheard) = (nil, nil)
    tell(ServiceMessage().with(Self.closedField, "lost").with("STATUS", "The database is gone."))
  }

  /// Tells how the bank is, now or as soon as somebody listens: the guardian that was started last was told, in its words,
  /// how it was then.
  private func report(_ message: ServiceMessage) {
    let isTold = tell(message)
    unheard = isTold ? nil : (message, loop.moment().monotonic + Self.repetition)
  }

  @discardableResult
  private func tell(_ message: ServiceMessage) -> Bool {
    notifier?.tell(message.with("MAINPID", "\(CurrentProcess.pid)")) ?? true
  }

  func adopt(_ patience: TimeSpan) { pulse.patience = patience }

  // MARK: - Time

  var nextDeadline: MonotonicTime? { .earliest(startAt, unheard?.repeatAt, provenAt, pulse.nextDeadline) }

  /// When the guardian is judged next, in the time that was attended.
  var nextJudgement: MonotonicTime? {
    guard watched != nil else { return nil }
    return killAt ?? silence?.lookAt
  }

  /// Does what is due. The sign of progress comes from here, so it is the loop that gives it.
  func keepTime(_ moment: Moment) {
    let now = moment.monotonic
    pulse.progressed()
    if let due = nextJudgement, due <= moment.attended { judge(moment) }
    if let due = provenAt, due <= now {
      provenAt = nil
      hasBegun(at: now)
    }
    if let due = startAt, due <= now {
      startAt = nil
      startGuardian()
    }
    if let unheard, unheard.repeatAt <= now { report(unheard.message) }
  }

  // MARK: - Guardians

  private func hasBegun(at now: MonotonicTime) {
    history.becameReady(at: now)
    history.didWork()
  }

  /// The guardian has been silent for long, or was told to go.
  private func judge(_ now: Moment) {
    if killAt != nil {
      // It is dead before another one comes; that is seen like every other end.
      killAt = now.attended + Self.abortGrace
      return signal(SIGKILL)
    }
    guard let pid, silence?.seen(sight(of: pid), at: now.attended) == true else { return }
    log.write(event: "guardian_stuck", level: .warn, at: now) {
      $0.field("child", pid)
      $0.field("msg", "the guardian stands still; another one takes its place")
    }
    signal(SIGABRT)
    signal(SIGCONT)
    killAt = now.attended + Self.abortGrace
  }

  private func sight(of pid: Int32) -> Standstill.Sight {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    switch activity.state {
    case .stopped where activity.hasTerminal:
      // Somebody has suspended it at a terminal, and means to go on with it.
      if !isSuspended { log.write(event: "guardian_suspended", level: .warn) { $0.field("child", pid) } }
      isSuspended = true
      return .excused
    case .stopped: return .stopped
    case .sleeping where hasAnswered: return .asleep(processorTicks: activity.processorTicks)
    case .running where hasAnswered: return .running(processorTicks: activity.processorTicks)
    default: return .excused
    }
  }

  private func signal(_ signal: CInt) {
    switch watched {
    case .parent(let process, _): process.kill(signal)
    case .child(let process, _): process.kill(signal)
    case nil: break
    }
  }

  private func watch(_ process: OtherProcess) -> Bool {
    let registration = try? loop.register(fd: process.fd, interest: .read) { [unowned self] _ in
      guardianIsReady()
    }
    guard let registration else { return false }
    watched = .parent(process, registration)
    hasBegun(at: loop.moment().monotonic)
    return true
  }

  private func guardianIsReady() {
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

  private func guardianEnded(_ who: String?) {
    (provenAt, killAt, silence) = (nil, nil, nil)
    (hasAnswered, isSuspended) = (false, false)
    guard phase != .closed, !Kernel.makes("leavesTheBankUnguarded") else { return }
    let now = loop.moment()
    log.write(event: "guardian_lost", level: .warn, at: now) { $0.field("msg", who) }
    switch history.died(at: now.monotonic) {
    case .atOnce: startGuardian()
    case .after(let pause): startAt = now.monotonic + pause
    // It is never given up, and only rests for as long as it may.
    case .giveUp: startAt = now.monotonic + .seconds(1)
    }
    if history.deathsInARow >= Self.worry, let startAt {
      log.write(event: "guardian_missing", level: .error, at: now) {
        $0.field("deaths", history.deathsInARow)
        $0.field("pause_ms", startAt.since(now.monotonic).milliseconds)
        $0.field("msg", "the bank is open without a guardian; look at guardian.log and bankd.stderr")
      }
    }
  }

  /// Starts a guardian for the bank as it is now. Should the bank open, and this process die, before that one listens, it
  /// would never hear of the opening: it is told beforehand to open the bank again, as if it had been open.
  private func startGuardian() {
    let isForgetful = Kernel.makes("forgetsThatItWasOpen")
    let words =
      [
        "--home", home.path, "--adopt", "\(CurrentProcess.pid)", "--phase",
        (isForgetful ? Phase.opening : phase).rawValue, "--patience", "\(pulse.patience.milliseconds)",
      ] + (isForgetful ? [] : ["--opened"]) + ["--"] + options.lasting
    do throws(SystemError) {
      // A session of its own, and no tie to this process: it is there for when this process dies.
      let child = try ChildProcess.spawn(
        executable: executable, arguments: words, environment: environment, secondDescriptor: lock.share(),
        standardOutput: .null, standardError: home.placeForErrors, newSession: true)
      let registration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
        guardianIsReady()
      }
      watched = .child(child, registration)
      unheard = nil
      provenAt = loop.moment().monotonic + Self.proof
      log.write(event: "guardian_started") { $0.field("child", child.pid) }
    } catch { guardianEnded(error.description) }
  }
}
