// Checks of a guarded bank, as observed from its processes: one coordinator and one guardian work in a home, a working
// process is not killed, a missing one is replaced within a bounded time, and a closed bank stays closed.
// Invariant: time does not count while the process that has to act was stalled or waited for its disk.

import Glibc
import Guardian
import Posix
import Time

extension Simulation {
  // MARK: - Starts

  /// Checks a guardian that has started: it is the only one, and the coordinator that it takes over is the
  /// existing one.
  func verifyGuardianStart(of program: GuardianProgram, _ process: SimulatedProcess) {
    guard !process.isMarkedForTermination, program.guardian.hasHome else { return }
    for other in guardians where other !== process && other.body is GuardianProgram {
      violate(.guardianship, "guardian \(process.pid) owns the home, and so does guardian \(other.pid)")
    }
    guard let pid = program.adopted, let coordinator, coordinator.process.isAlive else { return }
    statistics.adoptions += 1
    if coordinator.process.pid != pid {
      violate(
        .guardianship,
        "guardian \(process.pid) has to guard \(pid), but \(coordinator.process.pid) is running")
    }
  }

  /// True if a coordinator that holds the lock may start. A second one, or one in a closed bank, is a violation.
  func mayStart(_ process: SimulatedProcess) -> Bool {
    guard !process.isMarkedForTermination, violation == nil else { return false }
    if let coordinator {
      violate(
        .guardianship, "coordinator \(process.pid) starts, but \(coordinator.process.pid) has not ended")
      return false
    }
    if guardState.isClosed {
      violate(.guardianship, "coordinator \(process.pid) opens a bank that was closed")
      return false
    }
    return true
  }

  // MARK: - Exits

  /// Checks a signal of a guardian to a coordinator or the reverse: it may only kill a stalled process.
  func verifyGuardSignal(_ sender: SimulatedProcess, _ target: SimulatedProcess, _ signal: CInt) {
    guard guardState.isEnabled, sender.outlivesParent, target.outlivesParent, target.body != nil,
      signal == SIGABRT || signal == SIGKILL
    else { return }
    // The target may resume between the sender's check and the signal.
    let moment = MonotonicTime(nanoseconds: sender.clock.nanoseconds - 5_000_000)
    guard !target.isStalled(at: moment) else { return }
    violate(.guardianship, "process \(target.pid) is working, but is ended by process \(sender.pid)")
  }

  func verifyExit(of process: SimulatedProcess) {
    let how = process.ending?.status.ending
    trace.line(clock.now, "process \(process.pid) has ended: \(process.ending.map { "\($0.status)" } ?? "")")
    switch process.body {
    case let program as CoordinatorProgram:
      if how == .code(0) || how == .code(1) && program.hasClosed {
        (guardState.isClosed, guardState.closedAt) = (true, process.ending?.at ?? clock.now)
      }
      if program.hasClosed { guardState.mayBeClosed = true }
    case let program as GuardianProgram:
      if case .signal? = how, process.callsUntilKill != nil { statistics.note(.guardianKilled) }
      guard case .code(let code)? = how else { return }
      switch program.end {
      case .closed:
        if !guardState.isClosed, !guardState.mayBeClosed {
          violate(.guardianship, "guardian \(process.pid) exits, but its bank was not closed")
        }
      case .neverOpened, .diedWhileClosing:
        if guardState.hasOpened {
          violate(.guardianship, "guardian \(process.pid) exits with \(code) and leaves an open bank")
        }
      case .givenUp: break
      case nil: violate(.guardianship, "guardian \(process.pid) exits with \(code) before its work is done")
      }
      if guardState.isClosed, code != 0 {
        violate(.guardianship, "the bank was closed, but guardian \(process.pid) exits with \(code)")
      }
    default: break
    }
  }

  // MARK: - Time

  /// Checks which processes exist, and how long one was missing.
  func checkGuarding() {
    guard guardState.isEnabled, violation == nil else { return }
    let passed = clock.now.since(guardState.checkedAt)
    guardState.checkedAt = clock.now
    if coordinator?.hasOpened == true { guardState.hasOpened = true }
    let guardians = guardians
    // A coordinator that has closed stays for a moment until its clients have received the last messages.
    let isOpen = coordinator.map { !$0.hasClosed } ?? false
    let hasGuardian = guardians.contains { !$0.isStalled(at: clock.now) }
    // A guardian that could not be started for lack of a descriptor is started again after a pause.
    let isCrowded = coordinator.map { $0.process.openFiles < 1_024 } ?? false
    let isMissing = isOpen && guardians.isEmpty && !isCrowded
    if !guardState.missing.update(isMissing, isCoordinatorWorking, after: passed) {
      violate(.guardianship, "the guardian has died and was not replaced")
    }
    if !guardState.withoutGuardian.update(
      isOpen && !hasGuardian && !isCrowded, isCoordinatorWorking, after: passed)
    {
      violate(.guardianship, "a coordinator has had no guardian for too long")
    }
    let isWithout = coordinator?.process.isStopped ?? true
    if !guardState.withoutCoordinator.update(isWithout && hasGuardian && !guardState.isClosed, after: passed)
    {
      violate(.guardianship, "a bank with a guardian has had no coordinator for too long")
    }
    let isSeenClosed = guardState.isClosed && guardState.closedAt <= clock.now
    if !guardState.guardianAfterClose.update(isSeenClosed && hasGuardian, after: passed) {
      violate(.guardianship, "the bank was closed, but its guardian still runs")
    }
  }

  /// True if there is a coordinator that could start a guardian: it is not stalled and does not wait for its disk.
  private var isCoordinatorWorking: Bool {
    guard let process = coordinator?.process else { return false }
    let isAwaited = process.clock <= clock.now + .milliseconds(5)
    return isAwaited && !process.isStalled(at: clock.now)
  }

  /// Checks at the end of a history that no working guardian or coordinator of the closed bank is left.
  func checkGuardianIsGone() {
    guard guardState.isEnabled, let left = guardedProcesses.first(where: { !$0.isStalled(at: clock.now) })
    else {
      return
    }
    violate(.guardianship, "the bank was closed, but process \(left.pid) still runs")
  }
}
