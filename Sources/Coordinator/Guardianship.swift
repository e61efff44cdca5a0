// Owns the coordinator's side of being guarded: it tells how the bank is, and replaces a guardian that has died.
// It must not know what the guardian decides, nor anything of the queue.
// Invariant: nothing here waits, and no death of a guardian changes anything for a customer.
// Failure: a guardian that cannot live is started again slower and slower, and given up in the end: the bank goes on
// without one, and says so in its log.

import BankModel
import Glibc
import Logbook
import Posix
import Supervision

/// The tie between a coordinator and whoever watches over it.
final class Guardianship {
  /// How far the bank has come, in the words of the guardian's command line.
  private enum Phase: String {
    case opening, open, stopping, closed
  }

  /// How a guardian that runs is watched.
  private enum Watched {
    /// The one that has started this process.
    case parent(OtherProcess, Registration)
    /// One that this process has started.
    case child(ChildProcess, Registration)
  }

  /// A guardian that has lived this long has begun its work.
  private static let proof = TimeSpan.seconds(1)
  /// With this field the guardian knows that everything is kept and the home is free.
  private static let closedField = "X_BANK_CLOSED"

  private let home: BankHome
  private let options: CoordinatorOptions
  private let lock: HomeLock
  private let loop: EventLoop
  private let log: LogFile
  private let notifier: ServiceNotifier?
  private let executable: String
  private let environment: [String: String]
  private var phase = Phase.opening
  private var watched: Watched?
  private var history: RestartHistory
  private var startAt: MonotonicTime?
  private var provenAt: MonotonicTime?
  private var pulseAt: MonotonicTime?

  init(
    _ home: BankHome, _ options: CoordinatorOptions, lock: HomeLock, loop: EventLoop, log: LogFile,
    executable: String
  ) {
    self.home = home
    self.options = options
    self.lock = lock
    self.loop = loop
    self.log = log
    self.executable = executable
    let variables = Environment.all()
    notifier = ServiceNotifier(environment: variables)
    environment = ServiceNotifier.strip(variables)
    history = RestartHistory(policy: RestartPolicy(), seed: RandomSeed.fromSystem())
    pulseAt = pulse.map { SystemClock.moment().monotonic + $0 }
  }

  /// The guardian's process; nil where there is none at the moment, or none is wanted.
  var pid: Int32? {
    switch watched {
    case .parent(let process, _): process.pid
    case .child(let process, _): process.pid
    case nil: nil
    }
  }

  /// Whether this bank is one that is opened again after a crash.
  var isGuarded: Bool { options.guardian != nil }

  /// Begins to watch the guardian that has started this process, if one has.
  func begin() {
    guard let guardian = options.guardian else { return }
    let process = try? OtherProcess(pid: guardian)
    // The number is only certain to be the guardian's while it is this process's parent.
    guard let process, CurrentProcess.parentPid == guardian, watch(process) else { return guardianEnded(nil) }
  }

  // MARK: - What is told

  /// Every window has a teller at work.
  func opened(windows: Int, day: Int64) {
    guard phase == .opening else { return }
    phase = .open
    tell(.ready(status: "Day \(day), \(windows) windows are open."))
  }

  /// The bank begins to end.
  func stopping() {
    guard phase == .opening || phase == .open else { return }
    phase = .stopping
    tell(.stopping.with("STATUS", "The bank is closing."))
  }

  /// Everything is kept; the lock is still held.
  func closed() {
    phase = .closed
    startAt = nil
    tell(ServiceMessage().with(Self.closedField, "1").with("STATUS", "The bank is closed."))
  }

  /// The database is gone: nobody shall make another, empty bank in its place.
  func lost() {
    phase = .closed
    startAt = nil
    tell(ServiceMessage().with(Self.closedField, "lost").with("STATUS", "The database is gone."))
  }

  private func tell(_ message: ServiceMessage) {
    notifier?.tell(message.with("MAINPID", "\(CurrentProcess.pid)"))
  }

  // MARK: - Time

  private var pulse: TimeSpan? {
    notifier?.watchdog.map { TimeSpan($0 / 2) }
  }

  /// When something has to be done by itself next.
  var nextDeadline: MonotonicTime? { [startAt, provenAt, pulseAt].compactMap { $0 }.min() }

  /// Does what is due. The sign of life comes from here, so it is the loop that gives it.
  func keepTime(_ now: MonotonicTime) {
    if let due = pulseAt, due <= now, let pulse {
      tell(.watchdog)
      pulseAt = now + pulse
    }
    if let due = provenAt, due <= now {
      provenAt = nil
      history.becameReady(at: now)
    }
    if let due = startAt, due <= now {
      startAt = nil
      startGuardian()
    }
  }

  // MARK: - Guardians

  private func watch(_ process: OtherProcess) -> Bool {
    guard
      let registration = try? loop.register(
        fd: process.fd, interest: .read, handler: { [unowned self] _ in guardianIsReady() })
    else { return false }
    watched = .parent(process, registration)
    history.becameReady(at: SystemClock.moment().monotonic)
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
    provenAt = nil
    guard phase != .closed else { return }
    let now = SystemClock.moment()
    log.write(event: "guardian_lost", level: .warn, at: now) { $0.field("msg", who) }
    switch history.died(at: now.monotonic) {
    case .atOnce: startGuardian()
    case .after(let pause): startAt = now.monotonic + pause
    case .giveUp:
      log.write(event: "guardian_given_up", level: .error, at: now) {
        $0.field("msg", "the bank goes on without a guardian; look at guardian.log and bankd.stderr")
      }
    }
  }

  private func startGuardian() {
    let words =
      ["--home", home.path, "--adopt", "\(CurrentProcess.pid)", "--phase", phase.rawValue]
      + (options.isRecovery ? ["--opened"] : []) + ["--"] + options.lasting
    do throws(SystemError) {
      // A session of its own, and no tie to this process: it is there for when this process dies.
      let child = try ChildProcess.spawn(
        executable: executable, arguments: words, environment: environment, keepsake: lock.share(),
        standardOutput: .null, standardError: home.placeForErrors, newSession: true)
      let registration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
        guardianIsReady()
      }
      watched = .child(child, registration)
      provenAt = SystemClock.moment().monotonic + Self.proof
      log.write(event: "guardian_started") { $0.field("child", child.pid) }
    } catch {
      guardianEnded(error.description)
    }
  }
}
