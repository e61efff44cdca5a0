// Ends a set of processes whose complete list is unknown, because they may start others meanwhile.
// Invariant: a process is signalled while its pidfd is held, so no signal reaches an unrelated process. The search is
// repeated after exits, until it finds no process or the time limit is reached.
// Errors: a process that cannot be ended (it runs as another user by now, or waits for a disk that does not
// respond) is reported after a time limit.
import Glibc
import Posix
import Time

/// A process that is to end.
protocol TerminableProcess: AnyObject {
  var pid: pid_t { get }
  /// Pidfd: readable after the process has exited.
  var fd: CInt { get }
  /// Sends a signal, SIGTERM or SIGKILL.
  func end(by signal: CInt)
  /// Reaps the process if it is a child. It is called after the exit.
  func release()
}

/// Sends SIGTERM to processes, and after a while SIGKILL, without blocking.
final class ProcessTerminator {
  /// Stage between the start of the termination and its end.
  private enum Phase {
    case idle
    /// SIGTERM was sent; SIGKILL follows at `until`.
    case termSent(until: MonotonicTime)
    /// SIGKILL was sent. At `giveUpAt` the remaining processes count as processes that cannot be ended.
    case killed(giveUpAt: MonotonicTime)
    case done
  }

  /// A process whose exit is awaited, and how the exit is noticed.
  private struct Entry {
    let process: any TerminableProcess
    /// Nil if the loop cannot watch the process, for example for lack of kernel memory.
    var registration: Registration?
    /// Polled for an exit while `registration` is nil.
    var hasEnded: () -> Bool = { false }
  }

  /// Result of one scan for processes to end: those that it found and signalled, and whether others may exist.
  struct ScanResult {
    /// Processes that were not held before the scan.
    var processes: [any TerminableProcess] = []
    /// True if new processes may exist, for example because a process exited during the scan.
    var isChanging = false
  }

  /// Scans for at most `room` processes that are to be ended and that no earlier scan has found (`isHeld`). It sends
  /// the signal to each as soon as it finds it, because the process may be about to start another.
  typealias Search = (
    _ signal: CInt, _ room: Int, _ isHeld: (pid_t) -> Bool
  ) throws(SystemError) -> ScanResult

  /// Maximum number of held processes, each of which needs a descriptor. The search finds the remaining ones
  /// after these have exited.
  private static let maximumHeld = 256
  /// Maximum number of immediate rescans for processes that start others faster than the search finds them.
  /// After the last one the loop handles other events first.
  private static let maximumRescans = 64
  /// Pause before the next scan after descriptors or memory have run out.
  private static let pause = TimeSpan.milliseconds(10)

  private let loop: EventLoop
  private let killTimeout: TimeSpan
  private let search: Search
  private var phase = Phase.idle
  /// Processes whose exits are awaited, by process id.
  private var held: [pid_t: Entry] = [:]
  /// Time of the next scan; nil if none is due before the next exit.
  private var scanAt: MonotonicTime?
  /// Time of the next poll of the processes that the loop cannot watch; nil if it watches all.
  private var pollAt: MonotonicTime?

  /// - Parameter killTimeout: time to wait after SIGKILL for the remaining processes to exit.
  init(on loop: EventLoop, killTimeout: TimeSpan, search: @escaping Search) {
    (self.loop, self.killTimeout, self.search) = (loop, killTimeout, search)
  }

  deinit { for case let registration? in held.values.map(\.registration) { loop.deregister(registration) } }

  /// True if no process is left, or only processes that could not be ended. False before ``begin(grace:at:)``.
  var isDone: Bool { if case .done = phase { true } else { false } }
  var isBegun: Bool { if case .idle = phase { false } else { true } }
  /// Process ids of the known processes that have not exited.
  var remaining: [pid_t] { held.keys.sorted() }

  /// Latest time for the next ``runIteration(at:)``; nil if no call is due before the next event.
  var deadline: MonotonicTime? {
    switch phase {
    case .idle: pollAt
    case .done: nil
    case .termSent(let until): MonotonicTime.earliest(until, scanAt, pollAt)
    case .killed(let giveUpAt): MonotonicTime.earliest(giveUpAt, scanAt, pollAt)
    }
  }

  /// Adds a running process that is to be ended and is known before the search. It is added even if the kernel has no
  /// memory to watch it: until the kernel has memory again, `hasEnded` is polled for its exit.
  ///
  /// - Parameter hasEnded: returns true after the process has exited.
  func hold(known process: any TerminableProcess, hasEnded: @escaping () -> Bool) {
    held[process.pid] = Entry(process: process, hasEnded: hasEnded)
    pollUnwatched(at: loop.wokeAt)
  }

  /// Adds a process that a scan has found and signalled, and watches its pidfd for the exit.
  private func hold(_ process: any TerminableProcess) throws(SystemError) {
    held[process.pid] = Entry(process: process, registration: try watch(process))
  }

  private func watch(_ process: any TerminableProcess) throws(SystemError) -> Registration {
    let pid = process.pid
    return try loop.register(fd: process.fd, interest: .read) { [weak self] _ in self?.ended(pid) }
  }

  /// Watches, or else polls for their exit, the awaited processes that the loop could not watch before.
  private func pollUnwatched(at now: MonotonicTime) {
    pollAt = nil
    for (pid, entry) in held where entry.registration == nil {
      if let registration = try? watch(entry.process) {
        held[pid]?.registration = registration
      } else if entry.hasEnded() {
        ended(pid)
      } else {
        pollAt = now + Self.pause
      }
    }
  }

  /// Sends SIGTERM to all processes, and SIGKILL after `grace`; SIGKILL at once if `grace` is zero. A second call can
  /// only shorten the time until SIGKILL.
  func begin(grace: TimeSpan, at now: MonotonicTime) {
    guard case .idle = phase else { return bringForward(to: now + grace, at: now) }
    guard grace > .zero else { return kill(at: now) }
    phase = .termSent(until: now + grace)
    for entry in held.values { entry.process.end(by: SIGTERM) }
    scan(at: now)
  }

  /// Does the work that is due.
  func runIteration(at now: MonotonicTime) {
    if let pollAt, pollAt <= now { pollUnwatched(at: now) }
    if let scanAt, scanAt <= now { scan(at: now) }
    switch phase {
    case .termSent(let until) where until <= now: kill(at: now)
    case .killed(let giveUpAt) where giveUpAt <= now: phase = .done
    default: break
    }
  }

  /// Moves SIGKILL to an earlier time; a later time changes nothing.
  private func bringForward(to moment: MonotonicTime, at now: MonotonicTime) {
    guard case .termSent(let until) = phase, moment < until else { return }
    phase = .termSent(until: moment)
    runIteration(at: now)
  }

  /// Sends SIGKILL to all held processes, and scans for others.
  private func kill(at now: MonotonicTime) {
    phase = .killed(giveUpAt: now + killTimeout)
    for entry in held.values { entry.process.end(by: SIGKILL) }
    scan(at: now)
  }

  /// Releases a process that has exited, and schedules a scan for its children.
  private func ended(_ pid: pid_t) {
    guard let entry = held.removeValue(forKey: pid) else { return }
    if let registration = entry.registration { loop.deregister(registration) }
    entry.process.release()
    // The kernel gave the children of the process a new parent before it reported the exit. One scan in the next
    // iteration covers all exits of this one.
    if isBegun { scanAt = loop.wokeAt }
  }

  /// Searches and signals until nothing changes. The termination is over if no process is held then.
  private func scan(at now: MonotonicTime) {
    let signal: CInt
    switch phase {
    case .idle, .done: return
    case .termSent: signal = SIGTERM
    case .killed: signal = SIGKILL
    }
    scanAt = nil
    do throws(SystemError) {
      for _ in 1...Self.maximumRescans {
        let room = Self.maximumHeld - held.count
        // The next exit makes room and triggers another scan.
        guard room > 0 else { return }
        let found = try search(signal, room) { held[$0] != nil }
        for process in found.processes { try hold(process) }
        guard found.isChanging else {
          if held.isEmpty { phase = .done }
          return
        }
      }
      scanAt = now
    } catch {
      // Descriptors or kernel memory have run out. Both shortages are temporary.
      scanAt = now + Self.pause
    }
  }
}
