// Work at a window whose customers are served by commands: one command at a time, from the assignment to the answer.
// Invariant: a retry is reported only after no process of the command is left, so that the customer's next attempt
// never runs beside it. A finished or recalled customer does not wait for processes that cannot be ended.
// Errors: a shortage of resources on this host causes a retry and is not counted as a failure. If a command's output
// cannot be written to its file, the command continues without the file, and the reason is reported.
//
// The files `outputDirectory/DAY/TICKET.out` and `.err` are created with the first byte and grow with the output, so
// that a reader can follow them. If the result contains a whole stream, that stream's file is removed at the end of the
// command. Until the receipt is stored, there may be neither file nor receipt. The files of an attempt without a result
// stay, because the database stores only the last lines of its output.
import BankModel
import CommandRunner
import Glibc
import Posix
import Teller
import Time
import Wire

/// Runs a command for the whole work of each customer.
public final class CommandProvider: ResourceProvider {
  /// Receives the result of each customer's work.
  public var onResult: ((Lease, ProvisionResult) -> Void)?

  /// What the provider does for its current customer.
  private enum Stage {
    case idle
    /// Unless the last command was short, the start of this one is postponed to the next iteration, because it blocks
    /// this process and earlier messages have to be sent before.
    case requested(Assignment, isFresh: Bool)
    case running(Assignment, CommandInvocation, RunningCommand)
    /// The result is reported in the next iteration.
    case finished(Assignment, ProvisionResult)
    /// The customer would be retried, but waits for the end of processes that this process could not end.
    case awaitingOrphans(Assignment, ProvisionResult, checkAt: MonotonicTime)
    /// The command is ended before this process exits.
    case ending(RunningCommand, until: MonotonicTime)
    /// The command could not be ended in time.
    case givenUp(RunningCommand)
  }

  /// Time for which this process waits for the end of its command before it exits: longer than ending a tree of
  /// processes usually takes.
  static let exitTimeout = TimeSpan.milliseconds(800)

  /// Interval between two checks of processes that could not be ended.
  private static let checkInterval = TimeSpan.milliseconds(250)

  /// Duration below which a command is short. The next one is expected to be short, too.
  static let shortCommandLimit = TimeSpan.milliseconds(3)
  /// Limit in bytes of a short command's output: half of a pipe's capacity.
  private static let shortOutputLimit: Int64 = 32 << 10

  private let loop: EventLoop
  private let home: String?
  private let reportError: (String) -> Void
  private var group: CommandGroup
  /// How commands are made; nil before the settings arrived, or if they contain no command.
  private var plan: CommandPlan?
  private let programPaths = ProgramPathCache()
  private var stage = Stage.idle
  private var signals: SignalSource?
  /// True if orphaned descendants of commands become children of this process.
  private var adoptsAll = false
  /// True if a child has exited since children were last reaped.
  private var hasExitedChildren = false
  /// Processes of earlier customers that could not be ended.
  private var leftBehind: Set<pid_t> = []
  /// True if the last command was short.
  public private(set) var isWorkShort = false
  /// True after a failure to write output was reported.
  private var hasReportedError = false

  /// A provider whose commands are watched by this loop.
  ///
  /// - Parameters:
  ///   - home: default working directory of commands; nil for that of this process.
  ///   - group: control group below which the groups of the commands are created; nil for none.
  ///   - reportError: receives one line for the operator of the bank.
  public init(
    loop: EventLoop, home: String? = nil, group: ControlGroup? = nil,
    reportError: @escaping (String) -> Void = {
      _ = try? StandardStreams.write("bank-runner: \($0)\n", to: .error)
    }
  ) {
    (self.loop, self.home, self.group, self.reportError) = (
      loop, home, CommandGroup(below: group), reportError
    )
  }

  /// Makes this process the subreaper of all descendants of its commands. From then on every child is considered a
  /// command, or a descendant of one. Call it before the first command.
  public func adoptDescendants() throws(SystemError) {
    try Subreaper.become()
    signals = try SignalSource([SIGCHLD], on: loop) { [weak self] _ in self?.hasExitedChildren = true }
    adoptsAll = true
  }

  /// Receives the settings with the command to run, and creates the directory for its output.
  public func begin(_ settings: TellerSettings) {
    guard let command = settings.command else { return }
    plan = CommandPlan(
      command, service: settings.serviceName, home: home, own: Environment.all(), programPaths: programPaths)
    guard command.outputBytes > 0, !command.outputDirectory.isEmpty else { return }
    do throws(SystemError) { try Directory.create(path: command.outputDirectory, recursive: false) } catch {
      reportErrorOnce("the output of commands is not written to files: \(error)")
    }
  }

  /// Requests the start of this customer's command. It starts in the next call of ``finishIteration()`` if the last
  /// command was short, and in the call after that if it was not.
  public func provide(_ assignment: Assignment) {
    switch stage {
    case .idle, .requested, .finished: stage = .requested(assignment, isFresh: true)
    case .running, .awaitingOrphans, .ending, .givenUp:
      preconditionFailure("one customer at a time, and none after the end")
    }
  }

  /// Time of the next useful ``finishIteration()``.
  public var nextDeadline: MonotonicTime? {
    switch stage {
    case .idle, .givenUp: nil
    case .requested, .finished: loop.wokeAt
    case .awaitingOrphans(_, _, let checkAt): checkAt
    case .running(_, _, let command): command.deadline
    case .ending(let command, let until): MonotonicTime.earlier(command.deadline, until)
    }
  }

  /// Starts the requested command, continues the running one, and reports its result.
  public func finishIteration() {
    switch stage {
    case .idle: reapDescendants()
    case .givenUp: break
    case .requested(let assignment, isFresh: true) where !isWorkShort:
      stage = .requested(assignment, isFresh: false)
    case .requested(let assignment, _): start(assignment)
    case .running(let assignment, let order, let command):
      if let outcome = command.runIteration(at: SystemClock.monotonic()) {
        if command.hasEndedGroup { group.dropCurrent() }
        finish(assignment, order, outcome)
      } else if !command.isReadingDelayed {
        enableChildSignals()
        if hasExitedChildren, adoptsAll { command.reapDescendants() }
        hasExitedChildren = false
      }
    case .finished(let assignment, let provisionResult):
      stage = .idle
      onResult?(assignment.lease, provisionResult)
    case .awaitingOrphans(let assignment, let provisionResult, _): wait(assignment, provisionResult)
    case .ending(let command, let until):
      let now = SystemClock.monotonic()
      if command.runIteration(at: now) != nil {
        stage = .idle
      } else if until <= now {
        stage = .givenUp(command)
      }
    }
  }

  /// Ends the command; see `RunningCommand.cancel(at:)`. The customer of a command that has not started is returned.
  public func abandon() {
    switch stage {
    case .requested(let assignment, _), .finished(let assignment, .later):
      stage = .finished(assignment, .returned)
    case .running where Mutant.doesNotKillCancelledCommand.isActive: break
    case .running(_, _, let command): command.cancel(at: SystemClock.monotonic())
    case .awaitingOrphans(let assignment, let provisionResult, _):
      stage = .finished(assignment, provisionResult)
    case .idle, .finished, .ending, .givenUp: break
    }
  }

  /// Ends the command with all its descendants by SIGKILL.
  public func end() {
    switch stage {
    case .running(_, _, let command):
      let now = SystemClock.monotonic()
      command.end(at: now)
      stage = .ending(command, until: now + Self.exitTimeout)
    case .idle, .requested, .finished, .awaitingOrphans: stage = .idle
    case .ending, .givenUp: break
    }
  }

  /// False while the command's processes exit after ``end()``, for at most ``exitTimeout``.
  public var hasEnded: Bool { if case .ending = stage { false } else { true } }

  // MARK: One command

  /// Starts the command of a customer. A customer whose command cannot start gets its result in the next iteration.
  private func start(_ assignment: Assignment) {
    guard let plan else {
      return stage = .finished(assignment, .failed(WorkFailure("the orders name no command", .pause)))
    }
    if !leftBehind.isEmpty { leftBehind.formIntersection(Subreaper.children()) }
    let (adoptsAll, leftBehind) = (adoptsAll, leftBehind)
    do throws(CommandPlan.UnservableCustomer) {
      var order = try plan.order(for: assignment, at: SystemClock.wall())
      order.program.group = group.groupForNext()
      do throws(SystemError) {
        let started = try RunningCommand.start(
          order, on: loop, at: SystemClock.monotonic(),
          readDelay: isWorkShort ? Self.shortCommandLimit : .zero
        ) { adoptsAll && !leftBehind.contains($0) }
        switch started {
        case .success(let command):
          stage = .running(assignment, order, command)
          if command.isReadingDelayed { signals?.pause() } else { enableChildSignals() }
        // The cached path may be outdated, because the program was moved: search once more.
        case .failure where programPaths.forget(): start(assignment)
        case .failure(let refusal):
          stage = .finished(assignment, .failed(plan.classifier.failure(of: refusal)))
        }
      } catch  where error.call == ControlGroup.call {
        // The command could not start in its group, for example because another process has removed the group. A
        // command and its descendants can be ended without a group, too.
        reportError("commands start without a control group: \(error)")
        group = CommandGroup(below: nil)
        start(assignment)
      } catch {
        // Nothing has started, so the teller's machine may request the same attempt again.
        stage = .finished(assignment, .later("the command cannot be started now: \(error)"))
      }
    } catch {
      stage = .finished(assignment, .failed(error.failure))
    }
  }

  /// Reports the result of a command that has run, unless its customer has to wait for left-behind processes.
  private func finish(_ assignment: Assignment, _ order: CommandInvocation, _ outcome: CommandOutcome) {
    guard let plan else { preconditionFailure("nothing runs without a plan") }
    stage = .idle
    // All children were reaped with the command, except those in `leftBehind`.
    hasExitedChildren = false
    leftBehind.formUnion(outcome.leftBehind)
    if !leftBehind.isEmpty { enableChildSignals() }
    isWorkShort =
      leftBehind.isEmpty && outcome.duration < Self.shortCommandLimit
      && outcome.output.length + outcome.errors.length <= Self.shortOutputLimit
    let provisionResult = plan.provisionResult(of: outcome, for: assignment)
    if case .worked(let result) = provisionResult {
      clear(order.output, outcome.output, result.output)
      clear(order.errors, outcome.errors, result.errors)
    }
    if let failure = outcome.output.fileFailure ?? outcome.errors.fileFailure {
      reportErrorOnce("the output of the command of ticket \(assignment.ticket) is incomplete: \(failure)")
    } else if outcome.output.fileLength > 0 || outcome.errors.fileLength > 0 {
      hasReportedError = false
    }
    guard !outcome.leftBehind.isEmpty else {
      onResult?(assignment.lease, provisionResult)
      return
    }
    let pids = outcome.leftBehind.map(String.init).joined(separator: ", ")
    reportError("processes of the command of ticket \(assignment.ticket) cannot be ended: \(pids)")
    // A finished or recalled customer does not wait. A customer that would be retried waits until no process of this
    // attempt is left.
    var isOver = outcome.interruption == .cancel
    if case .worked = provisionResult { isOver = true }
    if isOver { onResult?(assignment.lease, provisionResult) } else { wait(assignment, provisionResult) }
  }

  /// Reports a customer's result once no process of the attempt is left.
  private func wait(_ assignment: Assignment, _ provisionResult: ProvisionResult) {
    for pid in Subreaper.children() where leftBehind.contains(pid) {
      _ = try? ChildProcess.adopted(pid)?.reap()
    }
    leftBehind.formIntersection(Subreaper.children())
    guard leftBehind.isEmpty else {
      return stage = .awaitingOrphans(
        assignment, provisionResult, checkAt: SystemClock.monotonic() + Self.checkInterval)
    }
    stage = .idle
    onResult?(assignment.lease, provisionResult)
  }

  /// Removes the output file of a stream if nothing was written to it, or if the result contains the whole
  /// stream.
  private func clear(_ bounds: OutputCapture.Bounds, _ stream: CapturedOutput, _ excerpt: TruncatedOutput) {
    guard excerpt.filed == 0, stream.fileLength > 0 || stream.fileFailure != nil, let file = bounds.file
    else { return }
    _ = try? Directory.unlink(file)
  }

  /// Enables SIGCHLD. If that fails now, the next iteration tries again.
  private func enableChildSignals() { try? signals?.resume() }

  /// Reaps processes that could not be ended with their command, and have exited since.
  private func reapDescendants() {
    guard hasExitedChildren else { return }
    hasExitedChildren = false
    guard adoptsAll else { return }
    for pid in Subreaper.children() { _ = try? ChildProcess.adopted(pid)?.reap() }
  }

  /// Reports an error of writing output, unless the previous one was reported and no output was written since.
  private func reportErrorOnce(_ message: String) {
    guard !hasReportedError else { return }
    hasReportedError = true
    reportError(message)
  }
}
