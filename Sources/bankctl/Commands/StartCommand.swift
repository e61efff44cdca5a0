// Owns `start`: opens a bank and returns when every window is ready, or stays with it in the foreground.
// It must not know how a bank opens.
// Invariant: what is printed is true: the windows that are named have reported ready.
// Failure: CommandError.
import Arguments
import BankModel
import ControlClient
import Posix
import Wire

/// The command `start`.
enum StartCommand {
  /// How long a coordinator that has said its last word may take to end.
  private static let farewell = Duration.seconds(30)

  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    if session.invocation.flag("foreground") { return try stay(session) }
    let report = try open(session)
    try session.show(.status(report), or: lines(report, session))
    return .done
  }

  private static func open(_ session: Session) throws(CommandError) -> StatusReport {
    let order = try session.openingOrder()
    let launched: LaunchedBank
    let answer: ControlAnswer
    do throws(ControlError) {
      launched = try session.surroundings.launcher().launch(order, standardError: sink(session.home))
    } catch {
      throw .control(error)
    }
    do throws(ControlError) {
      answer = try launched.connection.call(.awaitOpen, within: nil)
    } catch {
      throw .control(launched.explain(error))
    }
    if case .failure(let failure) = answer {
      // The next attempt shall not meet this one on its way out.
      _ = launched.awaitExit(until: SystemClock.monotonic() + farewell)
      throw .failure(failure)
    }
    return try answer.status
  }

  /// A coordinator in the background must hold nobody's terminal or pipe. What it cannot log any more, such
  /// as the reason of a trap, goes to a file beside its logs, as soon as there is a place for logs.
  private static func sink(_ home: BankHome) -> ChildProcess.Output {
    let hasLogs = (try? FileFacts.inspect(home.logs))?.isDirectory == true
    return hasLogs ? .append(path: Paths.join(home.logs, "bankd.stderr")) : .null
  }

  private static func lines(_ report: StatusReport, _ session: Session) -> [String] {
    var table = TextTable([.left, .left])
    for worker in report.workers {
      table.add([.init(worker.name, worker.service == .loan ? .loan : nil), .init("pid \(worker.pid)")])
    }
    return [session.words.opened(report)] + table.lines(session.output.palette, indent: 2)
  }

  // MARK: Foreground

  private static func stay(_ session: Session) throws(CommandError) -> ProgramExit {
    let bank = try ForegroundBank.begin(session)
    let stopped: StoppedReport?
    do throws(CommandError) {
      stopped = try attend(bank, session)
    } catch {
      bank.end(within: .seconds(1))
      throw error
    }
    let status = bank.end(within: farewell)
    guard status.isSuccess else {
      let message = session.words.coordinatorDied(status)
      throw .complaint(Complaint(code: "coordinator_ended", exit: .failed, message: message))
    }
    if let stopped, !session.asJSON { try session.show([:], or: session.words.stopped(stopped)) }
    return .done
  }

  /// Stays until the coordinator has said its last word.
  private static func attend(
    _ bank: ForegroundBank, _ session: Session
  ) throws(CommandError) -> StoppedReport? {
    let meter = ProgressMeter(words: session.words)
    defer { meter.finish() }
    var isOpen = false
    var stopped: StoppedReport?
    try bank.send(.awaitOpen)
    while true {
      switch try bank.next() {
      case .reply(let reply):
        switch reply.answer {
        case .failure(let failure):
          guard isOpen else { throw .failure(failure) }
          session.note(session.words.sentence(failure, home: session.home.path))
        case .status(let report) where !isOpen:
          isOpen = true
          // Nobody has to read this for the bank to go on.
          try? session.show(.status(report), or: lines(report, session))
        case .progress(let report):
          meter.update(session.words.phase(report.phase), done: report.done, total: report.total)
        case .stopped(let report): stopped = report
        default: break
        }
      case .interrupted(let count):
        if count == 1 { session.note(session.words.draining) }
        if count <= 2 { try bank.send(.stop(StopOrder(now: count == 2, timeoutMilliseconds: nil))) }
      case .ended: return stopped
      case .news, .newsEnded: break
      }
    }
  }
}
