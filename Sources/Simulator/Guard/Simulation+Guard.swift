// Owns the guarded bank of the simulated world: its guardian and its coordinator, which start each other, the operator who
// opens it when neither is left, and what goes wrong with them.
// It must not judge; see Simulation+GuardPromises. Invariant: the world starts guardians only, and only where no process of
// the bank is left: every coordinator is started by a guardian, and every other guardian by a coordinator.

import BankModel
import Coordinator
import Glibc
import Guardian
import Posix
import Time

extension Simulation {
  /// The guardians and coordinators that live, whether or not they have begun, in the order in which they were started.
  var guardedProcesses: [SimulatedProcess] {
    host.processes.values.filter { $0.outlivesParent && $0.isAlive }.sorted { $0.pid < $1.pid }
  }

  var guardians: [SimulatedProcess] { guardedProcesses.filter { $0.executable == GuardianProgram.path } }

  // MARK: - Processes

  /// The operator looks in: opens a bank that has nobody left, and ends those who stand still where nobody else would.
  func lookAfterTheBank() {
    guard !guarded.isOver else { return }
    let processes = guardedProcesses
    if processes.isEmpty { return openGuardedBank() }
    guard processes.allSatisfy(\.isStopped) else { return }
    for process in processes { process.kill() }
  }

  private func openGuardedBank() {
    trace.line(clock.now, "the operator opens the bank")
    (guarded.isClosed, guarded.mayBeClosed, guarded.hasOpened) = (false, false, false)
    let home = StockProgram.home.path
    let words = ["--home", home, "--", "--home", home, "--config", ConfigurationScribe.path]
    guard let make = guardianProgram(words) else { return }
    let process = host.start(make)
    (process.executable, process.outlivesParent) = (GuardianProgram.path, true)
  }

  /// What the path of the guardian starts.
  func guardianProgram(_ words: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    { [unowned self] process in
      statistics.guardianStarts += 1
      trace.line(clock.now, "guardian \(process.pid) starts: \(words.joined(separator: " "))")
      guard let program = try? GuardianProgram(words, in: process) else { return nil }
      judgeBeginning(of: program, process)
      return program
    }
  }

  /// What the path of the coordinator starts.
  func coordinatorProgram(_ words: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    { [unowned self] process in
      let ties: HomeTies
      do {
        ties = try HomeTies(words, lock: process.inherited(4), guardian: GuardianProgram.path)
      } catch {
        trace.line(clock.now, "process \(process.pid) must not open the bank: \(error)")
        return nil
      }
      guard mayBegin(process) else { return nil }
      var program: BankProgram?
      let isOpen = openStore { [unowned self] stored, incarnation in
        program = try? BankProgram(
          stored, number: coordinators, incarnation: incarnation, of: process, ties, in: self)
        coordinator = program
        return program
      }
      return isOpen ? program : nil
    }
  }

  /// A process has ended. Where nobody is left, or nobody who works, the operator comes.
  func guardedProcessEnded(_ process: SimulatedProcess) {
    guard guarded.isThere, process.outlivesParent else { return }
    judgeEnd(of: process)
    callOperator()
  }

  private func callOperator() {
    let patience: TimeSpan =
      guardedProcesses.isEmpty
      ? .milliseconds(guarded.chance.draw(20...1_500)) : .milliseconds(guarded.chance.draw(3_000...8_000))
    agenda.add(.coordinatorStart, at: clock.now + patience)
  }

  // MARK: - What goes wrong

  /// Plans the next thing that goes wrong with those who guard and are guarded.
  func planGuardFault() {
    if guarded.isThere { planFault(.guardFault, &guarded.chance) { $0 / 2...$0 * 6 } }
  }

  /// Something is wrong with the guardian, or with both.
  func troubleGuard() {
    guard !isCalm else { return }
    planGuardFault()
    let drawn = guarded.chance.draw(0...11)
    guard let guardian = guardians.last else { return }
    trace.line(clock.now, "trouble \(drawn) with guardian \(guardian.pid)")
    switch drawn {
    case 0...2:
      statistics.note(.guardianKilled)
      guardian.kill()
    case 3...5: guardian.fuse = Int(guarded.chance.draw(0...60))
    case 6...7:
      statistics.note(.guardianStalled)
      guardian.stand(until: clock.now + .milliseconds(guarded.chance.draw(5...15_000)))
    case 8:
      statistics.note(.guardianStalled)
      stop(guardian)
    case 9...10:
      statistics.note(.bankKilled)
      for process in guardedProcesses { process.kill() }
    default:
      guard let coordinator else { return }
      statistics.note(.coordinatorStuck)
      stop(coordinator.process)
    }
  }

  /// A process is stopped for good; some do not even hear SIGABRT.
  private func stop(_ process: SimulatedProcess) {
    if guarded.chance.draw(0...1) == 0 { process.stop() } else { process.getStuck() }
    callOperator()
  }
}
