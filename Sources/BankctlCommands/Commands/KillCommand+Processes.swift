// Kills a process that has no window: the coordinator, the guardian, the stock, the vending machine or the
// web server. This program sends the signal itself, because the coordinator kills only the processes of
// windows.
// Invariants: on a terminal the user confirms first, unless `--yes` was given. This program opens a pidfd of the
// process before a second status confirms the process id, so it kills only the process that it has shown.
// Errors: `CommandError`; exit code 1 if the user declined, 4 for an unknown name, 5 if the process has exited
// or was replaced.
import BankModel
import Glibc
import Posix
import Time
import Wire

extension KillCommand {
  /// A process without a window, as a status report describes it.
  private struct Target {
    let pid: Int32
    /// Nil for the guardian.
    let generation: Int64?
    let isReady: Bool
  }

  /// Kills the named process, and waits for its successor. Returns the exit code.
  /// - Parameter windows: Names of the windows in the snapshot, for the error message about an unknown name.
  static func killWithoutWindow(
    _ name: String, beside windows: [String], _ coordinator: CoordinatorClient, _ session: Session
  ) throws(CommandError) -> ProgramExit {
    let words = session.messages
    let report = try coordinator.status(.status)
    guard let target = find(name, in: report) else {
      throw .commandFailure(as: .noSuchWindow, words.noSuchProcess(name, windows + names(in: report)))
    }
    let gone = CommandError.commandFailure(as: .processChanged, words.processGone(name))
    guard target.pid > 0, let process = try fromSystem(ProcessHandle(pid: target.pid)) else { throw gone }
    let isAsked = session.isAtTerminal && !session.invocation.flag("yes")
    if isAsked, try !session.confirm(words.askKill(process: name, target.pid)) {
      session.note(words.nothingChanged)
      return .failed
    }
    // If the bank runs in another PID namespace, the process id may belong to any program of this namespace.
    guard ProcessTable.name(of: target.pid)?.hasPrefix("bank") == true else { throw gone }
    guard try find(name, in: CoordinatorClient.picture(session))?.pid == target.pid else { throw gone }
    guard process.kill(SIGKILL) else {
      guard ProcessTable.alive(target.pid) else { throw gone }
      throw .control(.notPermitted(socket: session.home.socket))
    }
    let successor = awaitSuccessor(of: target, name, session)
    try session.show(
      [
        "version": 1, "process": .string(name), "window": .null, "pid": .init(target.pid),
        "generation": .init(target.generation), "ticket": .null, "recovery_ms": .null,
        "successor_pid": .init(successor),
      ], or: [words.killed(name, target.pid, successor: successor)])
    return .done
  }

  /// The process with this name in a status report; nil for an unknown name.
  private static func find(_ name: String, in report: StatusReport) -> Target? {
    switch name {
    case "coordinator": Target(pid: report.pid, generation: report.generation, isReady: true)
    case "guardian": report.guardianPid.map { Target(pid: $0, generation: nil, isReady: true) }
    default:
      report.workers.first { $0.name == name && $0.isWithoutWindow }.map {
        Target(
          pid: $0.pid, generation: Int64($0.generation), isReady: $0.state == .idle || $0.state == .serving)
      }
    }
  }

  /// Names of the processes without a window in a status report.
  private static func names(in report: StatusReport) -> [String] {
    ["coordinator"] + (report.guardianPid == nil ? [] : ["guardian"])
      + report.workers.filter(\.isWithoutWindow).map(\.name)
  }

  /// Waits until the process that replaces a killed one is ready. Returns its process id, or nil after
  /// `recoveryTimeout` or if the bank closed.
  private static func awaitSuccessor(of target: Target, _ name: String, _ session: Session) -> Int32? {
    let deadline = SystemClock.monotonic() + recoveryTimeout
    while SystemClock.monotonic() < deadline, !session.isBankClosed {
      if let report = try? CoordinatorClient.picture(session), let next = find(name, in: report),
        next.pid > 0, next.pid != target.pid, next.isReady
      {
        return next.pid
      }
      Pause.briefly()
    }
    return nil
  }
}

extension WorkerReport {
  fileprivate var isWithoutWindow: Bool { [.stock, .vending, .web].contains(role) }
}
