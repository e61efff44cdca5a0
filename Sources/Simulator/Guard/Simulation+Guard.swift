// The guarded bank of the simulated world: its guardian and its coordinator, which start each other, the
// operator who opens it when both are gone, and their faults. See Simulation+GuardInvariants for the checks.
// Invariant: the world starts a guardian only if no guardian and no coordinator is left. Guardians start the
// coordinators, and coordinators start the other guardians.

import BankModel
import Coordinator
import Glibc
import Guardian
import Posix
import Time

extension Simulation {
  /// Running guardians and coordinators in the order in which they were started, including those before their first
  /// turn.
  var guardedProcesses: [SimulatedProcess] {
    host.processes.values.filter { $0.outlivesParent && $0.isAlive }.sorted { $0.pid < $1.pid }
  }

  /// Running guardians in the order of their starts.
  var guardians: [SimulatedProcess] { guardedProcesses.filter { $0.executable == GuardianProgram.path } }

  // MARK: - Processes

  /// The operator opens a bank without processes, and kills the processes if all of them are stopped.
  func openOrKillGuardedBank() {
    guard !guardState.isOver else { return }
    let processes = guardedProcesses
    if processes.isEmpty { return openGuardedBank() }
    guard processes.allSatisfy(\.isStopped) else { return }
    for process in processes { process.kill() }
  }

  /// Starts a guardian, as the operator does, which then starts the coordinator.
  private func openGuardedBank() {
    trace.line(clock.now, "the operator opens the bank")
    (guardState.isClosed, guardState.mayBeClosed, guardState.hasOpened) = (false, false, false)
    let home = StockProgram.home.path
    let arguments = ["--home", home, "--", "--home", home, "--config", ConfigurationWriter.path]
    guard let make = guardianProgram(arguments) else { return }
    let process = host.start(make)
    (process.executable, process.outlivesParent) = (GuardianProgram.path, true)
  }

  /// Returns a closure that creates the program at the guardian's path.
  func guardianProgram(_ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    { [unowned self] process in
      statistics.guardianStarts += 1
      trace.line(clock.now, "guardian \(process.pid) starts: \(arguments.joined(separator: " "))")
      guard let program = try? GuardianProgram(arguments, in: process) else { return nil }
      verifyGuardianStart(of: program, process)
      return program
    }
  }

  /// Returns a closure that creates the program at the coordinator's path.
  func coordinatorProgram(_ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    { [unowned self] process in
      let ties: HomeOwnership
      do {
        ties = try HomeOwnership(arguments, lock: process.inherited(4), guardian: GuardianProgram.path)
      } catch {
        trace.line(clock.now, "process \(process.pid) must not open the bank: \(error)")
        return nil
      }
      guard mayStart(process) else { return nil }
      var program: CoordinatorProgram?
      let isOpen = openStore { [unowned self] stored, incarnation in
        program = try? CoordinatorProgram(
          stored, number: coordinators, incarnation: incarnation, of: process, ties, in: self)
        coordinator = program
        return program
      }
      return isOpen ? program : nil
    }
  }

  /// Checks the exit of a guardian or a coordinator. The operator looks later whether a working process is left.
  func guardedProcessEnded(_ process: SimulatedProcess) {
    guard guardState.isEnabled, process.outlivesParent else { return }
    verifyExit(of: process)
    scheduleOperator()
  }

  /// Schedules the next look of the operator: soon without processes, else later.
  private func scheduleOperator() {
    let patience: TimeSpan =
      guardedProcesses.isEmpty
      ? .milliseconds(guardState.chance.draw(20...1_500))
      : .milliseconds(guardState.chance.draw(3_000...8_000))
    eventQueue.add(.coordinatorStart, at: clock.now + patience)
  }

  // MARK: - Faults

  /// Plans the next fault of the guardian, of its coordinator, or of both.
  func planGuardFault() {
    if guardState.isEnabled { planFault(.guardFault, &guardState.chance) { $0 / 2...$0 * 6 } }
  }

  func injectGuardFault() {
    guard !isFaultFree else { return }
    planGuardFault()
    let drawn = guardState.chance.draw(0...11)
    guard let guardian = guardians.last else { return }
    trace.line(clock.now, "fault \(drawn) in guardian \(guardian.pid)")
    switch drawn {
    case 0...2:
      statistics.note(.guardianKilled)
      guardian.kill()
    case 3...5: guardian.callsUntilKill = Int(guardState.chance.draw(0...60))
    case 6...7:
      statistics.note(.guardianStalled)
      guardian.stall(until: clock.now + .milliseconds(guardState.chance.draw(5...15_000)))
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

  /// Stops a process permanently. Some do not react to SIGABRT either.
  private func stop(_ process: SimulatedProcess) {
    if guardState.chance.draw(0...1) == 0 { process.stop() } else { process.hangForever() }
    scheduleOperator()
  }
}
