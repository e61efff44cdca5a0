// Checks of a guarded bank, as observed from its processes. Two coordinators or two guardians never work in one home. A
// working process is not killed. A missing one is replaced within a bounded time. A closed bank stays closed.
// Invariant: time does not count while the process that has to act was stalled or waited for its disk.

import Glibc
import Guardian
import Posix
import Time

extension Simulation {
  // MARK: - Starts

  /// Checks a guardian that has started: it is the only one, and the coordinator that it takes over is the
  /// existing one.
  func judgeBeginning(of program: GuardianProgram, _ process: SimulatedProcess) {
    guard !process.isDoomed, program.guardian.hasHome else { return }
    for other in guardians where other !== process && other.body is GuardianProgram {
      violate(.guarding, "guardian \(process.pid) owns the home, and so does guardian \(other.pid)")
    }
    guard let pid = program.adopted, let coordinator, coordinator.process.isAlive else { return }
    statistics.adoptions += 1
    if coordinator.process.pid != pid {
      violate(
        .guarding, "guardian \(process.pid) has to guard \(pid), but \(coordinator.process.pid) is running")
    }
  }

  /// True if a coordinator that holds the lock may start.
  func mayBegin(_ process: SimulatedProcess) -> Bool {
    guard !process.isDoomed, violation == nil else { return false }
    if let coordinator {
      violate(.guarding, "coordinator \(process.pid) starts, but \(coordinator.process.pid) has not ended")
      return false
    }
    if guarded.isClosed {
      violate(.guarding, "coordinator \(process.pid) opens a bank that was closed")
      return false
    }
    return true
  }

  // MARK: - Exits

  /// Checks a signal of a guardian to a coordinator or the reverse: it may only kill a stalled process.
  func judgeGuarding(_ sender: SimulatedProcess, _ target: SimulatedProcess, _ signal: CInt) {
    guard guarded.isThere, sender.outlivesParent, target.outlivesParent, target.body != nil,
      signal == SIGABRT || signal == SIGKILL
    else { return }
    // The target may resume between the sender's check and the signal.
    let moment = MonotonicTime(nanoseconds: sender.clock.nanoseconds - 5_000_000)
    guard !target.standsStill(at: moment) else { return }
    violate(.guarding, "process \(target.pid) is working, but is ended by process \(sender.pid)")
  }

  /// Checks the exit of a guardian or a coordinator.
  func judgeEnd(of process: SimulatedProcess) {
    let how = process.ending?.status.ending
    trace.line(clock.now, "process \(process.pid) has ended: \(process.ending.map { "\($0.status)" } ?? "")")
    switch process.body {
    case let program as BankProgram:
      if how == .code(0) || how == .code(1) && program.hasClosed {
        (guarded.isClosed, guarded.closedAt) = (true, process.ending?.at ?? clock.now)
      }
      if program.hasClosed { guarded.mayBeClosed = true }
    case let program as GuardianProgram:
      if case .signal? = how, process.fuse != nil { statistics.note(.guardianKilled) }
      guard case .code(let code)? = how else { return }
      switch program.end {
      case .closed:
        if !guarded.isClosed, !guarded.mayBeClosed {
          violate(.guarding, "guardian \(process.pid) exits, but its bank was not closed")
        }
      case .neverOpened, .diedWhileClosing:
        if guarded.hasOpened {
          violate(.guarding, "guardian \(process.pid) exits with \(code) and leaves an open bank")
        }
      case .givenUp: break
      case nil: violate(.guarding, "guardian \(process.pid) exits with \(code) before its work is done")
      }
      if guarded.isClosed, code != 0 {
        violate(.guarding, "the bank was closed, but guardian \(process.pid) exits with \(code)")
      }
    default: break
    }
  }

  // MARK: - Time

  /// Checks which processes exist, and how long one was missing.
  func checkGuarding() {
    guard guarded.isThere, violation == nil else { return }
    let passed = clock.now.since(guarded.checkedAt)
    guarded.checkedAt = clock.now
    if coordinator?.hasOpened == true { guarded.hasOpened = true }
    let guardians = guardians
    // A coordinator that has closed stays for a moment until its clients have received the last messages.
    let isOpen = coordinator.map { !$0.hasClosed } ?? false
    let hasGuardian = guardians.contains { !$0.standsStill(at: clock.now) }
    // A guardian that could not be started for lack of a descriptor is started again after a pause.
    let isCrowded = coordinator.map { $0.process.openFiles < 1_024 } ?? false
    let isMissing = isOpen && guardians.isEmpty && !isCrowded
    if !guarded.missing.look(isMissing, isAbleCoordinator, after: passed) {
      violate(.guarding, "the guardian has died and was not replaced")
    }
    if !guarded.unguarded.look(isOpen && !hasGuardian && !isCrowded, isAbleCoordinator, after: passed) {
      violate(.guarding, "a coordinator has had no guardian for too long")
    }
    let isWithout = coordinator?.process.isStopped ?? true
    if !guarded.leaderless.look(isWithout && hasGuardian && !guarded.isClosed, after: passed) {
      violate(.guarding, "a bank with a guardian has had no coordinator for too long")
    }
    let isSeenClosed = guarded.isClosed && guarded.closedAt <= clock.now
    if !guarded.leftOver.look(isSeenClosed && hasGuardian, after: passed) {
      violate(.guarding, "the bank was closed, but its guardian still runs")
    }
  }

  /// True if there is a coordinator that could start a guardian, and that does not wait for its disk.
  private var isAbleCoordinator: Bool {
    guard let process = coordinator?.process else { return false }
    let isAwaited = process.clock <= clock.now + .milliseconds(5)
    return isAwaited && !process.standsStill(at: clock.now)
  }

  /// The history is over: no working guardian or coordinator of a closed bank may be left.
  func checkGuardianIsGone() {
    guard guarded.isThere, let left = guardedProcesses.first(where: { !$0.standsStill(at: clock.now) }) else {
      return
    }
    violate(.guarding, "the bank was closed, but process \(left.pid) still runs")
  }
}
