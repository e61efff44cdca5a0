// Checks of commands: which may run at the same time, their environment and input, when the runner may answer, the
// meaning of their exit status, and the receipt.
// Invariant: a command is identified by the environment variables that it started with.
import BankModel
import CommandRunner
import Glibc
import Posix
import QueueCore
import Time
import Wire

extension InvariantChecker {
  /// Registers a command that starts. Returns nil if its customer cannot be identified.
  func commandStarted(_ process: SimulatedProcess, _ words: [String], at now: MonotonicTime) -> CommandTree? {
    let variables = process.environment
    guard let key = variables["BANK_KEY"], let attempt = variables["BANK_ATTEMPT"].flatMap({ Int32($0) }),
      let day = variables["BANK_DAY"].flatMap({ BusinessDay($0) }),
      let ticket = variables["BANK_TICKET"].flatMap({ TicketNumber($0) }),
      let service = variables["BANK_SERVICE"].flatMap({ ServiceName($0) })
    else {
      violate(.process, "a command starts without its customer's variables: \(variables.inOrder.map(\.key))")
      return nil
    }
    let name = TicketID(day: day, ticket: ticket)
    let others = commands.registerKey(key, of: name)
    if let other = others.key { violate(.process, "ticket \(ticket) has the key \(key), but had \(other)") }
    if let other = others.name {
      violate(.process, "ticket \(ticket) of day \(day) has the key \(key) of ticket \(other.ticket)")
    }
    if words != (service == CommandServicesPlan.timed ? [key] : []) {
      violate(.process, "the command of ticket \(ticket) starts with other arguments: \(words)")
    }
    for tree in commands.stillRunning(of: name) {
      violate(
        .process,
        "attempt \(attempt) at ticket \(ticket) starts while of command \(tree.root) (attempt \(tree.attempt)) "
          + "these run: \(tree.stillRunning.sorted())")
    }
    // A cancelled customer may be in flight to a window, so its command may still start.
    if outcomes[name] == .served {
      violate(.process, "ticket \(ticket) has its receipt, but a command starts")
    }
    let tree = CommandTree(process, name, service, attempt: attempt, at: now)
    commands.begin(tree)
    return tree
  }

  /// Longest time between a cancellation or a timeout and its signal to the command.
  private static let maxTransitTime = TimeSpan.seconds(1)

  /// Checks the payload of a command that has read its standard input to the end.
  func commandReadInput(_ pid: pid_t, _ bytes: [UInt8]) {
    guard let tree = commands[pid], let order = onDisk[tree.name] else { return }
    let expected = SimulatedPayload.of(tree.service, order.account, order.itemName) ?? []
    if bytes != expected {
      violate(
        .payload,
        "the command of ticket \(tree.name.ticket) reads \(bytes.count) bytes, not the \(expected.count) "
          + "of its payload")
    }
  }

  /// Records the exit of a process of a command, and checks that it did not run too long.
  func commandEnded(_ pid: pid_t, _ ending: ExitStatus.Termination, at moment: MonotonicTime) {
    guard let tree = commands.end(pid) else { return }
    if pid == tree.root {
      switch ending {
      case .code(let code): tree.end(.code(code), at: moment)
      case .signal(let signal, _): tree.end(.signal(signal), at: moment)
      case .unknown: break
      }
    }
    checkTime(of: tree, pid, at: moment)
    guard let cancelled = commands.cancelledAt[tree.name] else { return }
    // A running runner receives the cancellation soon, and the command then has its grace time. A hung runner
    // is killed later.
    let grace = world.plan.commandServices.grace
    var latest = cancelled + grace + CommandServicesPlan.runnerTimeout + .seconds(15)
    if let runner = tree.runner, runner.isAlive, !runner.isStalled(at: world.host.now) {
      latest = min(latest, max(cancelled, runner.lastStallEnd) + grace + Self.maxTransitTime)
    }
    if moment > latest {
      violate(.process, "process \(pid) runs too long after ticket \(tree.name.ticket) was cancelled")
    }
  }

  /// Checks that a command past its timeout ends within its grace time, unless its runner has died or is stalled.
  private func checkTime(of tree: CommandTree, _ pid: pid_t, at moment: MonotonicTime) {
    guard pid == tree.root, tree.service == CommandServicesPlan.timed, let runner = tree.runner,
      runner.isAlive, !runner.isStalled(at: world.host.now)
    else { return }
    let plan = world.plan.commandServices
    let latest = max(tree.startedAt + plan.timeout, runner.lastStallEnd) + plan.grace + Self.maxTransitTime
    if moment > latest {
      violate(
        .process,
        "command \(pid) of ticket \(tree.name.ticket) has run for "
          + "\(moment.since(tree.startedAt).milliseconds) ms; its timeout is \(plan.timeout.milliseconds) ms")
    }
  }

  /// The bank has closed: checks that no command runs.
  func checkCommandsAreGone() {
    for tree in commands.stillRunning {
      violate(
        .process,
        "the bank has ended, but of the command of ticket \(tree.name.ticket) these run: "
          + "\(tree.stillRunning.sorted())")
    }
  }

  // MARK: - Answers

  /// Checks a runner's answer for a customer that it holds.
  func handleCommandAnswer(_ holder: Holder, _ answer: TellerAnswer) {
    let ticket = holder.lease.ticket
    let name = TicketID(day: view.day, ticket: ticket)
    for tree in commands.stillRunning(of: name) {
      violate(
        .process,
        "ticket \(ticket) has a report, but of its command \(tree.root) these run: \(tree.stillRunning.sorted())"
      )
    }
    let tree = commands.last(of: name).flatMap { $0.attempt == holder.lease.attempt ? $0 : nil }
    switch answer {
    case .worked: verify(tree, .served, ticket)
    case .failed(let failure): verify(failure, of: tree, ticket)
    case .done, .outOfStock: violate(.result, "ticket \(ticket) is reported as done without a result")
    case .returned: break
    }
  }

  /// Checks that a reported failure is that of the command's process.
  private func verify(_ failure: WorkFailure, of tree: CommandTree?, _ ticket: TicketNumber) {
    guard let end = failure.processEnd else {
      switch failure.consequence {
      case .later: return
      case .pause where world.commands.removedAt != nil: return
      default: return violate(.result, "ticket \(ticket) has failed without a process: \(failure)")
      }
    }
    guard let tree, let ending = tree.ending, ending.end == end else {
      return violate(
        .result,
        "ticket \(ticket) has failed with \(end), but its command with \(tree?.ending.map { "\($0.end)" } ?? "nothing")"
      )
    }
    let timeout = world.plan.commandServices.timeout
    if failure.words.hasPrefix("took longer"), tree.service == CommandServicesPlan.timed,
      ending.at.since(tree.startedAt) + .milliseconds(20) >= timeout
    {
      world.statistics.commandsTimedOut += 1
      if failure.consequence != .again { violate(.result, "ticket \(ticket) took too long: \(failure)") }
      return
    }
    verify(tree, verdict(of: failure.consequence), ticket)
  }

  /// Checks that a report matches the exit status of the command.
  private func verify(_ tree: CommandTree?, _ verdict: CommandVerdict, _ ticket: TicketNumber) {
    guard let tree, let ending = tree.ending else {
      return violate(
        .result, "ticket \(ticket) is reported as \(verdict), but no command of it has ended")
    }
    let wanted = world.plan.commandServices.verdict(of: tree.service, ending.end)
    if wanted != verdict {
      violate(
        .result,
        "the command of ticket \(ticket) has ended with \(ending.end), which means \(wanted), not \(verdict)"
      )
    }
  }

  /// The meaning of an exit status that has this consequence.
  private func verdict(of consequence: WorkFailure.Consequence) -> CommandVerdict {
    switch consequence {
    case .again: .failed
    case .later: .later
    case .never: .dead
    case .crash: .crash
    case .pause: .pause
    }
  }

  /// Returns the end that must be recorded for a command's attempt. Also stores the further consequences: a dead
  /// letter, or a pause of the service.
  func end(of failure: WorkFailure, _ holder: Holder) -> AttemptEnd {
    switch failure.consequence {
    case .again: return .failed
    case .never:
      step.verdict.hopeless.insert(holder.lease.ticket)
      return .failed
    case .crash: return .killed
    case .later:
      let most = policy[holder.window.service.index].maxDeferrals
      return holder.lease.attempt >= most ? .failed : .deferred
    case .pause:
      let index = holder.window.service.index
      if !paused[index] { step.expectedPause = holder.window.service }
      (paused[index], committedPauses[index]) = (true, true)
      for place in sealedTransactions.indices { sealedTransactions[place].paused[index] = true }
      return .deferred
    }
  }

  /// True if the command's timeout, its grace time and the additional time limit of its runner have passed, even if the
  /// runner reports progress.
  func hasExceededTimeout(_ holder: Holder, at now: Moment) -> Bool {
    policy[holder.window.service.index].timeout.map { holder.heldSince + $0 <= now.listeningTime } ?? false
  }

  /// Checks the runner of an attempt that ran out of time. The command's timeout ends long before the time limit of its
  /// runner, and a working runner kills the command at that timeout.
  func checkExpiry(at window: Window, _ generation: Generation) {
    guard window.service.isForCommands,
      let runner = world.workers.first(where: { $0.window == window && $0.generation == generation }),
      !runner.process.isStalled(at: world.clock.now)
    else { return }
    violate(
      .process, "the timeout of \(window) has passed and its runner works, but its command does not end")
  }

  // MARK: - Receipts

  /// Checks that a receipt's result is that of the command's process, in the attempt that the receipt names.
  func checkCommand(_ receipt: Receipt) {
    guard receipt.service.isForCommands else { return }
    guard receipt.outcome == .served else {
      if receipt.result != nil {
        violate(.result, "ticket \(receipt.ticket) was not served, but has a result")
      }
      return
    }
    let name = TicketID(day: view.day, ticket: receipt.ticket)
    guard let result = receipt.result else {
      return violate(
        .result, "ticket \(receipt.ticket) was served by a command, but its receipt has no result")
    }
    guard let tree = commands.last(of: name), tree.attempt == receipt.attempts, let ending = tree.ending,
      result.ending == ending.end
    else {
      return violate(
        .result, "the receipt of ticket \(receipt.ticket) ends with \(String(describing: result.ending))")
    }
    let kept = min(world.plan.commandServices.resultBytes, Int64(TruncatedOutput.longest))
    for (excerpt, stream) in [(result.output, STDOUT_FILENO), (result.errors, STDERR_FILENO)] {
      guard let words = tree.objection(to: excerpt, on: stream, kept: kept) else { continue }
      violate(.result, "the receipt of ticket \(receipt.ticket) has for stream \(stream) \(words)")
    }
  }

  /// The world's time, or the coordinator's if that is ahead.
  private var latestMoment: MonotonicTime {
    max(world.clock.now, world.coordinator?.process.clock ?? world.clock.now)
  }

  /// Checks the stored receipt of a command, whose output bytes may be missing if the disk was nearly
  /// full.
  func checkCommandOnDisk(_ receipt: Receipt, _ name: TicketID) {
    guard receipt.service.isForCommands else { return }
    if receipt.outcome == .cancelled { commands.cancelledAt[name] = latestMoment }
    guard var wanted = commands.results[name], receipt.outcome == .served else {
      if receipt.result != nil { violate(.result, "ticket \(name.ticket) has a result that was not stored") }
      return
    }
    guard let found = receipt.result else {
      return violate(.result, "ticket \(name.ticket) is on disk without its result")
    }
    if found.size == 0 { wanted = wanted.withoutBytes }
    if found.output != wanted.output || found.errors != wanted.errors || found.ending != wanted.ending {
      violate(.result, "ticket \(name.ticket) is on disk with the result of another ticket")
    }
  }
}
