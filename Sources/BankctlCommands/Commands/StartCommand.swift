// `start`: opens a bank with a guardian, and returns when the bank is open;
// with `--foreground`, when it has closed.
import Arguments
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Implementation of `bankctl start`.
enum StartCommand {
  /// Opens the bank and prints its processes. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    if session.invocation.flag("foreground") { return try ForegroundGuardian.stay(session) }
    let report = try persist(session)
    try session.show(.status(report), or: lines(report, session))
    reportProblems(report, session)
    return .done
  }

  /// Opens the bank. If the former coordinator is still exiting and has the lock of the home, waits for its exit
  /// instead of failing with `already_open`.
  private static func persist(_ session: Session) throws(CommandError) -> StatusReport {
    let meter = ProgressMeter(messages: session.messages)
    defer { meter.finish() }
    let deadline = SystemClock.monotonic() + CoordinatorClient.reconnectTimeout
    while true {
      do throws(CommandError) { return try open(session, meter) } catch {
        guard case .failure(let failure) = error, failure.code == .alreadyOpen, !session.isBankAnswering,
          SystemClock.monotonic() < deadline
        else { throw explained(error, session) }
        Pause.briefly()
      }
    }
  }

  /// Adds the guardian to the error if the coordinator has exited and the guardian has not restarted it. The home is
  /// then locked although the bank is not open.
  private static func explained(_ error: CommandError, _ session: Session) -> CommandError {
    guard case .failure(let failure) = error, failure.code == .alreadyOpen, !session.isBankAnswering,
      let coordinator = pid_t(failure.subject), !ProcessTable.alive(coordinator),
      let guardian = session.home.guardians.first
    else { return error }
    let isStopped = ProcessTable.activity(of: guardian)?.state == .stopped
    return .commandFailure(
      as: failure.code,
      session.messages.heldByGuardian(
        home: session.home.path, coordinator: coordinator, guardian: guardian, isStopped: isStopped))
  }

  /// Launches a guarded coordinator, and waits until the bank is open. Returns the status.
  private static func open(_ session: Session, _ meter: ProgressMeter) throws(CommandError) -> StatusReport {
    let order = try session.openingOrder(juice: session.invocation.integer("juice"))
    let launched = try fromControl(
      session.environment.launcher().launch(order, guarded: true, standardError: sink(session.home)))
    var found: ControlAnswer?
    do throws(ControlError) {
      let number = try launched.connection.send(.awaitOpen)
      while found == nil {
        if let reply = try launched.connection.next(until: meter.nextDue) {
          if reply.number == number { found = reply.answer }
        } else {
          meter.pass(session.messages.doing(.opening))
        }
      }
    } catch {
      let end = launched.explain(error)
      if case .coordinatorEnded(let status) = end, status.isSuccess { throw closedMeanwhile(session) }
      throw .control(end)
    }
    guard let answer = found else { throw .control(.lost) }
    if case .failure(let failure) = answer {
      if failure.code == .draining { throw closedMeanwhile(session) }
      // The next try must not connect to this coordinator while it exits. The coordinator exits after it sees the
      // closed connection.
      launched.connection.hangUp()
      _ = launched.awaitExit(until: SystemClock.monotonic() + StopCommand.exitTimeout)
      throw .failure(failure)
    }
    return try answer.status
  }

  /// Error for a bank that another process closed while it was being opened.
  private static func closedMeanwhile(_ session: Session) -> CommandError {
    .commandFailure(
      as: .draining, session.messages.closedWhileOpening(home: session.home.path))
  }

  /// Standard error of a background coordinator, which must not keep a terminal or pipe of the caller open. Output
  /// outside the logs, such as the reason of a trap, is appended to `bankd.stderr` in the directory of the logs, or
  /// discarded if that directory does not exist yet.
  private static func sink(_ home: BankHome) -> ChildProcess.Output {
    let hasLogs = (try? FileMetadata.inspect(home.logs))?.isDirectory == true
    return hasLogs ? .append(path: Paths.join(home.logs, "bankd.stderr")) : .null
  }

  /// Prints reason and remedy for the workers that are not working.
  static func reportProblems(_ report: StatusReport, _ session: Session) {
    for worker in report.workers {
      if let sentence = session.messages.notWorking(worker) { session.note(sentence) }
    }
  }

  /// The process id of a worker, or its state if it has no process.
  private static func state(of worker: WorkerReport, _ messages: MessageCatalog) -> String {
    if worker.pid != 0 { return "pid \(worker.pid)" }
    return worker.isFailed == true ? messages.failed : messages.state(worker.state)
  }

  /// The text about an open bank: a sentence, its branch, and a table of the workers.
  static func lines(_ report: StatusReport, _ session: Session) -> [String] {
    var table = TextTable([.left, .left])
    for worker in report.workers {
      table.add([
        .init(worker.name, worker.service == .loan ? .loan : nil), .init(state(of: worker, session.messages)),
      ])
    }
    let branch = report.branch.map { ["  " + session.messages.thisBranch($0)] } ?? []
    return [session.messages.opened(report)] + branch
      + table.lines(session.output.palette, indent: 2, within: session.columns)
  }
}
