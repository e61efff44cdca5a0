// Commands of the simulated world: their starts, the reports to the checker, and the faults of commands and runners.
// Invariant: in a history without commands, nothing is drawn here.
import BankModel
import CommandExecutor
import Glibc
import Posix
import Teller
import Time
import Wire

/// State of the commands in the simulated world.
struct CommandState {
  var chance: SeededGenerator
  /// Running commands without their descendants, in the order in which they started.
  var programs: [CommandHandle] = []
  /// Time of the last removal of the commands' program file; nil if it was never removed.
  var removedAt: MonotonicTime?

  init(seed: UInt64) { chance = SeededGenerator(seed: seed &* 47 &+ 0xC033) }
}

/// A running command: its process and its program.
final class CommandHandle {
  let process: SimulatedProcess
  /// The command's program, owned by its process, and released with it.
  private(set) weak var program: CommandProgram?
  init(_ process: SimulatedProcess, _ program: CommandProgram) {
    (self.process, self.program) = (process, program)
  }
}

/// The program at a window for commands: the production teller with the production provider.
final class RunnerProgram: WindowProgram {
  let teller: TellerProcess

  init(_ home: String) throws(SystemError) {
    let loop = try EventLoop()
    let provider = CommandProvider(loop: loop, home: home, reportError: { _ in })
    try provider.adoptDescendants()
    teller = try TellerProcess(
      descriptor: FileDescriptor(owning: 3), loop: loop, role: .runner, provider: provider,
      reportError: { _ in })
  }
}

extension Simulation {
  var hasCommands: Bool { plan.commandServices.isEnabled }

  /// Creates the program file of the commands, and plans their first fault.
  func installCommands() {
    guard hasCommands else { return }
    host.killableBeforeStart = [Paths.lastPart(of: CommandServicesPlan.program)]
    createProgramFile()
    planCommandFault()
  }

  private func createProgramFile() {
    host.files.makeDirectories(Paths.directory(of: CommandServicesPlan.program))
    _ = host.files.make(CommandServicesPlan.program, isDirectory: false, mode: 0o755)
  }

  // MARK: - Processes

  /// Returns a closure that creates the program at the commands' path; nil in a history without commands.
  func commandProgram(_ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasCommands else { return nil }
    let seed = commands.chance.next()
    return { [unowned self] process in
      guard let tree = checker.commandStarted(process, arguments, at: process.clock) else { return nil }
      var chance = SeededGenerator(seed: seed)
      let script = CommandScript(
        &chance, isTimed: tree.service == CommandServicesPlan.timed, timeout: plan.commandServices.timeout,
        isFaultFree: isFaultFree)
      statistics.commands += 1
      trace.line(process.clock, "command \(process.pid) of ticket \(tree.name.ticket) starts: \(script)")
      guard let program = try? CommandProgram(process, script, in: self) else { return nil }
      commands.programs.append(CommandHandle(process, program))
      return program
    }
  }

  /// Adds a process that a process of a command has started to the tree of the command.
  func commandStarted(_ process: SimulatedProcess, of parent: SimulatedProcess) {
    guard let tree = checker.commands[parent.pid] else { return }
    statistics.commandProcesses += 1
    trace.line(parent.clock, "process \(process.pid) of command \(tree.root) starts")
    checker.commands.join(process.pid, tree)
  }

  /// Records bytes that a process of a command has written.
  func commandWroteOutput(_ process: SimulatedProcess, _ bytes: [UInt8], on stream: CInt) {
    checker.commands[process.pid]?.recordOutput(bytes, on: stream)
  }

  /// Passes the whole input that a command has read to the checker.
  func commandReadInput(_ process: SimulatedProcess, _ bytes: [UInt8]) {
    guard !process.isMarkedForTermination else { return }
    checker.commandReadInput(process.pid, bytes)
  }

  /// Passes the exit of a process to the checker, which knows whether it belongs to a command.
  func commandEnded(_ process: SimulatedProcess) {
    guard hasCommands, let ending = process.ending else { return }
    commands.programs.removeAll { $0.process === process }
    checker.commandEnded(process.pid, ending.status.ending, at: ending.at)
  }

  // MARK: - Faults

  func planCommandFault() {
    if hasCommands { planFault(.commandFault, &commands.chance) { $0 / 3...$0 * 2 } }
  }

  /// Injects a drawn fault of commands or their runners, or ends such a fault, and plans the next one.
  func injectCommandFault() {
    guard !isFaultFree else { return }
    planCommandFault()
    if host.files[CommandServicesPlan.program] == nil { return createProgramFile() }
    let drawn = commands.chance.draw(0...11)
    trace.line(clock.now, "fault \(drawn) in commands")
    switch drawn {
    case 0...1: resumePausedCommandServices()
    case 2:
      statistics.note(.commandRemoved)
      commands.removedAt = clock.now
      _ = host.files.unlink(CommandServicesPlan.program)
    case 3...4:
      guard let runner = some(of: workers.filter { $0.window.service.isForCommands }) else { return }
      statistics.note(.runnerKilled)
      if commands.chance.draw(0...2) == 0 {
        runner.process.callsUntilKill = Int(commands.chance.draw(0...40))
      } else {
        runner.process.kill()
      }
    case 5...6: cancelCommandCustomer()
    case 7:
      guard let command = someCommand(), !command.isStopped else { return }
      statistics.note(.commandHung)
      command.stop()
      eventQueue.add(
        .descriptorsRestored(pid: command.pid),
        at: clock.now + .milliseconds(commands.chance.draw(100...4_000)))
    case 8:
      guard let command = someCommand() else { return }
      statistics.note(.commandKilled)
      command.kill(by: commands.chance.draw(0...1) == 0 ? SIGKILL : SIGSEGV)
    case 9:
      // Kill the coordinator of a running command. Its runners are killed with it.
      guard let process = coordinator?.process, someCommand() != nil else { return }
      statistics.note(.runnerKilled)
      process.kill()
    default: someCommand()?.callsUntilKill = Int(commands.chance.draw(0...30))
    }
  }

  /// Draws a running command; nil if there is none.
  private func someCommand() -> SimulatedProcess? {
    let processes = commands.programs.map(\.process)
    guard !processes.isEmpty else { return nil }
    return processes[Int(commands.chance.draw(0...Int64(processes.count) - 1))]
  }

  /// Lets a client resume the paused services of commands, as an operator does.
  private func resumePausedCommandServices() {
    guard let client = clients.first(where: { $0.state == .ready }), !client.line.process.isStopped else {
      return
    }
    for (service, index) in zip(CommandServicesPlan.services, CommandServicesPlan.indices)
    where index < checker.paused.count && checker.paused[index] {
      client.ask(SimulatedClient.PlannedRequest(command: .resume(service)))
    }
  }

  /// Lets a client cancel a customer that a runner holds.
  private func cancelCommandCustomer() {
    let holders = checker.holders.filter { $0.window.service.isForCommands }
    guard !holders.isEmpty, let client = clients.first(where: { $0.state == .ready }),
      !client.line.process.isStopped
    else { return }
    var holder = holders[Int(commands.chance.draw(0...Int64(holders.count) - 1))]
    // Often choose the customer with the oldest sign of progress, whose command may never exit by itself.
    if commands.chance.draw(0...1) == 0,
      let oldest = holders.min(by: { $0.progressAt < $1.progressAt })
    {
      holder = oldest
    }
    statistics.note(.commandCancelled)
    client.ask(SimulatedClient.PlannedRequest(command: .cancel(holder.lease.ticket, day: checker.view.day)))
  }

  /// Ends the faults of commands: their program file exists again, and running commands exit soon.
  func endCommandFaults() {
    guard hasCommands else { return }
    if host.files[CommandServicesPlan.program] == nil { createProgramFile() }
    for seat in commands.programs {
      seat.process.callsUntilKill = nil
      seat.process.resume()
      seat.program?.calm()
    }
  }

  /// True if the faults ended some time ago, and no exit of a command that its runner still has to report would pause
  /// the service. The bank may stop only then, because after the stop no client would resume that service.
  var areCommandsHeard: Bool {
    guard hasCommands else { return true }
    guard clock.now.since(faultFreeSince) > .seconds(1) else { return false }
    return checker.holders.allSatisfy { holder in
      let name = TicketID(day: checker.view.day, ticket: holder.lease.ticket)
      guard let tree = checker.commands.last(of: name), tree.attempt == holder.lease.attempt,
        let ending = tree.ending
      else { return true }
      return plan.commandServices.verdict(of: tree.service, ending.end) != .pause
    }
  }

  /// True if this history has commands, and a service is paused until a client resumes it.
  var isServicePaused: Bool { hasCommands && checker.paused.contains(true) }
}
