// Owns the promises of a guarded bank, judged by what the world sees of its processes: never two coordinators or two
// guardians at work in one home; whoever works is not ended; whoever is missing comes back within a bounded time; a bank that
// was closed stays closed. It must not know how guardian and coordinator agree on any of it.
// Invariant: time in which whoever has to act stood still, or waited for its disk, is held against nobody.

import Glibc
import Guardian
import Posix
import Time

extension Simulation {
  // MARK: - Beginnings

  /// A guardian has begun: it is the only one, and a coordinator that it was to take over is the one that was there.
  func judgeBeginning(of program: GuardianProgram, _ process: SimulatedProcess) {
    guard !process.isDoomed, program.guardian.hasHome else { return }
    for other in guardians where other !== process && other.body is GuardianProgram {
      violate(.guarding, "guardian \(process.pid) has the home, and so has guardian \(other.pid)")
    }
    guard let pid = program.adopted, let coordinator, coordinator.process.isAlive else { return }
    statistics.adoptions += 1
    if coordinator.process.pid != pid {
      violate(
        .guarding, "guardian \(process.pid) is to guard \(pid), and \(coordinator.process.pid) is at work")
    }
  }

  /// Whether a coordinator may begin that holds the lock.
  func mayBegin(_ process: SimulatedProcess) -> Bool {
    guard !process.isDoomed, violation == nil else { return false }
    if let coordinator {
      violate(.guarding, "coordinator \(process.pid) begins, and \(coordinator.process.pid) has not ended")
      return false
    }
    if guarded.isClosed {
      violate(.guarding, "coordinator \(process.pid) opens a bank that was closed")
      return false
    }
    return true
  }

  // MARK: - Ends

  /// A guardian or a coordinator gets a signal of the other: it may be ended if it stands still.
  func judgeGuarding(_ sender: SimulatedProcess, _ target: SimulatedProcess, _ signal: CInt) {
    guard guarded.isThere, sender.outlivesParent, target.outlivesParent, target.body != nil,
      signal == SIGABRT || signal == SIGKILL
    else { return }
    // It may go on again between the look at it and the signal.
    let moment = MonotonicTime(nanoseconds: sender.clock.nanoseconds - 5_000_000)
    guard !target.standsStill(at: moment) else { return }
    violate(.guarding, "process \(target.pid) works, and is ended by process \(sender.pid)")
  }

  /// A guardian or a coordinator has ended.
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
          violate(.guarding, "guardian \(process.pid) goes, and its bank was not closed")
        }
      case .neverOpened, .diedWhileClosing:
        if guarded.hasOpened {
          violate(.guarding, "guardian \(process.pid) ends with \(code), and leaves a bank that was open")
        }
      case .givenUp: break
      case nil: violate(.guarding, "guardian \(process.pid) ends with \(code) without an end of its work")
      }
      if guarded.isClosed, code != 0 {
        violate(.guarding, "the bank was closed, and guardian \(process.pid) ends with \(code)")
      }
    default: break
    }
  }

  // MARK: - Time

  /// Looks who is there and who is missing.
  func checkGuarding() {
    guard guarded.isThere, violation == nil else { return }
    let passed = clock.now.since(guarded.checkedAt)
    guarded.checkedAt = clock.now
    if coordinator?.hasOpened == true { guarded.hasOpened = true }
    let guardians = guardians
    // One that has closed stays for a moment with those who have not heard its last words.
    let isOpen = coordinator.map { !$0.hasClosed } ?? false
    let hasGuardian = guardians.contains { !$0.standsStill(at: clock.now) }
    // One that could not be started without a descriptor is tried again after a pause.
    let isCrowded = coordinator.map { $0.process.openFiles < 1_024 } ?? false
    let isMissing = isOpen && guardians.isEmpty && !isCrowded
    if !guarded.missing.look(isMissing, isAbleCoordinator, after: passed) {
      violate(.guarding, "the guardian has died, and there is no other")
    }
    if !guarded.unguarded.look(isOpen && !hasGuardian && !isCrowded, isAbleCoordinator, after: passed) {
      violate(.guarding, "a coordinator has been without a guardian for long")
    }
    let isWithout = coordinator?.process.isStopped ?? true
    if !guarded.leaderless.look(isWithout && hasGuardian && !guarded.isClosed, after: passed) {
      violate(.guarding, "a bank with a guardian has been without a coordinator for long")
    }
    let isSeenClosed = guarded.isClosed && guarded.closedAt <= clock.now
    if !guarded.leftOver.look(isSeenClosed && hasGuardian, after: passed) {
      violate(.guarding, "the bank was closed, and its guardian stays")
    }
  }

  /// Whether a coordinator is there that could start a guardian: not one that waits for its disk.
  private var isAbleCoordinator: Bool {
    guard let process = coordinator?.process else { return false }
    let isAwaited = process.clock <= clock.now + .milliseconds(5)
    return isAwaited && !process.standsStill(at: clock.now)
  }

  /// The history is over: whoever guarded a bank that has closed has gone.
  func checkGuardianIsGone() {
    guard guarded.isThere, let left = guardedProcesses.first(where: { !$0.standsStill(at: clock.now) }) else {
      return
    }
    violate(.guarding, "the bank was closed, and process \(left.pid) is left")
  }
}
