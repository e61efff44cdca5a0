// Owns the ending of processes of which nobody has the whole list: they start others while they are ended.
// Invariant: each is held by its pidfd from when it is found until it has ended, so no signal reaches a stranger; and the
// processes are looked for again after each end, until a look finds nobody.
// Failure: one that cannot be ended (it has become another user's, or waits for a dead disk) is given up after a time,
// and named.
import Glibc
import Posix
import Time

/// A process that is to end.
protocol HeldProcess: AnyObject {
  var pid: pid_t { get }
  /// A pidfd: readable when it has ended.
  var fd: CInt { get }
  /// SIGTERM, or SIGKILL.
  func end(by signal: CInt)
  /// Collects it; it has ended.
  func release()
}

/// Asks processes to end, and after a while ends them, without waiting.
final class ProcessEnding {
  private enum Phase {
    case idle
    /// They were asked, and have time until then.
    case asked(until: MonotonicTime)
    case killed(giveUpAt: MonotonicTime)
    case done
  }

  private struct Entry {
    let process: any HeldProcess
    /// Nil while the kernel refuses to watch the process.
    var registration: Registration?
    /// Asked in place of the kernel's watch.
    var hasEnded: () -> Bool = { false }
  }

  /// What a look has come to.
  struct Found {
    /// Processes that were not held, and have been signalled.
    var processes: [any HeldProcess] = []
    /// Whether there may be others by now: one that was there has ended meanwhile.
    var isChanging = false
  }

  /// Looks for processes that are to be ended and are not held yet, at most `room` of them, and sends each the signal as
  /// soon as it is found: it may be starting another.
  typealias Search = (
    _ signal: CInt, _ room: Int, _ isHeld: (pid_t) -> Bool
  ) throws(SystemError) -> Found

  /// More are not held at once: each costs a descriptor. The others are found when these have ended.
  private static let mostHeld = 256
  /// So often it is looked again at once for those who start others faster than they are found; then others have a turn.
  private static let mostLooks = 64
  /// When to look again where descriptors or memory have run out.
  private static let pause = TimeSpan.milliseconds(10)

  private let loop: EventLoop
  private let patience: TimeSpan
  private let search: Search
  private var phase = Phase.idle
  private var held: [pid_t: Entry] = [:]
  private var lookAt: MonotonicTime?
  /// When those that the kernel refused to watch are asked again whether they have ended; nil if it watches all.
  private var watchAt: MonotonicTime?

  /// - Parameter patience: from SIGKILL until what is left is given up.
  init(on loop: EventLoop, patience: TimeSpan, search: @escaping Search) {
    (self.loop, self.patience, self.search) = (loop, patience, search)
  }

  deinit { for case let registration? in held.values.map(\.registration) { loop.deregister(registration) } }

  /// Whether nobody is left, or nobody who could be ended. False until ``begin(grace:at:)``.
  var isDone: Bool { if case .done = phase { true } else { false } }
  /// Whether ``begin(grace:at:)`` was called.
  var isBegun: Bool { if case .idle = phase { false } else { true } }
  /// Those who are known and have not ended.
  var remaining: [pid_t] { held.keys.sorted() }

  /// When ``turn(at:)`` is to be called, if nothing happens before.
  var deadline: MonotonicTime? {
    switch phase {
    case .idle: watchAt
    case .done: nil
    case .asked(let until): MonotonicTime.earliest(until, lookAt, watchAt)
    case .killed(let giveUpAt): MonotonicTime.earliest(giveUpAt, lookAt, watchAt)
    }
  }

  /// Watches a process that is known beforehand. It has begun, and so it is held even if the kernel has no memory for the watch:
  /// until it has, the process itself is asked now and then whether it has ended.
  ///
  /// - Parameter hasEnded: true after its end.
  func hold(known process: any HeldProcess, hasEnded: @escaping () -> Bool) {
    held[process.pid] = Entry(process: process, hasEnded: hasEnded)
    watchUnwatched(at: loop.wokeAt)
  }

  private func hold(_ process: any HeldProcess) throws(SystemError) {
    held[process.pid] = Entry(process: process, registration: try watch(process))
  }

  private func watch(_ process: any HeldProcess) throws(SystemError) -> Registration {
    let pid = process.pid
    return try loop.register(fd: process.fd, interest: .read) { [weak self] _ in self?.ended(pid) }
  }

  private func watchUnwatched(at now: MonotonicTime) {
    watchAt = nil
    for (pid, entry) in held where entry.registration == nil {
      if let registration = try? watch(entry.process) {
        held[pid]?.registration = registration
      } else if entry.hasEnded() {
        ended(pid)
      } else {
        watchAt = now + Self.pause
      }
    }
  }

  /// Asks all of them to end by SIGTERM, and after `grace` ends them by SIGKILL; at once where that is zero.
  func begin(grace: TimeSpan, at now: MonotonicTime) {
    guard case .idle = phase else { return hasten(to: now + grace, at: now) }
    guard grace > .zero else { return kill(at: now) }
    phase = .asked(until: now + grace)
    for entry in held.values { entry.process.end(by: SIGTERM) }
    look(at: now)
  }

  /// Does what is due.
  func turn(at now: MonotonicTime) {
    if let watchAt, watchAt <= now { watchUnwatched(at: now) }
    if let lookAt, lookAt <= now { look(at: now) }
    switch phase {
    case .asked(let until) where until <= now: kill(at: now)
    case .killed(let giveUpAt) where giveUpAt <= now: phase = .done
    default: break
    }
  }

  private func hasten(to moment: MonotonicTime, at now: MonotonicTime) {
    guard case .asked(let until) = phase, moment < until else { return }
    phase = .asked(until: moment)
    turn(at: now)
  }

  private func kill(at now: MonotonicTime) {
    phase = .killed(giveUpAt: now + patience)
    for entry in held.values { entry.process.end(by: SIGKILL) }
    look(at: now)
  }

  private func ended(_ pid: pid_t) {
    guard let entry = held.removeValue(forKey: pid) else { return }
    if let registration = entry.registration { loop.deregister(registration) }
    entry.process.release()
    // Its children have fallen to somebody else by now, before its end was told. They are looked for in the next turn,
    // once for all who have ended in this one.
    if isBegun { lookAt = loop.wokeAt }
  }

  private func look(at now: MonotonicTime) {
    let signal: CInt
    switch phase {
    case .idle, .done: return
    case .asked: signal = SIGTERM
    case .killed: signal = SIGKILL
    }
    lookAt = nil
    do throws(SystemError) {
      for _ in 1...Self.mostLooks {
        let room = Self.mostHeld - held.count
        // Whoever ends makes room and has it looked again.
        guard room > 0 else { return }
        let found = try search(signal, room) { held[$0] != nil }
        for process in found.processes { try hold(process) }
        guard found.isChanging else {
          if held.isEmpty { phase = .done }
          return
        }
      }
      lookAt = now
    } catch {
      // No descriptors, or no memory in the kernel: both come back.
      lookAt = now + Self.pause
    }
  }
}
