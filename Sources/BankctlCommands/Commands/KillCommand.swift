// `kill`: kills a process of the bank. For the process of a window, the command reads from the snapshots how
// soon the customer of that process was served again.
// Invariants: on a terminal the user confirms first, unless `--yes` was given. Only the process that was shown is
// killed.
// Errors: `CommandError`; exit code 1 if the user declined, 4 for an unknown name, 5 if the process has exited or was
// replaced.
import Posix
import JSONOutput
import Time
import Wire

/// Implementation of `bankctl kill`.
enum KillCommand {
  /// Maximum wait until the customer is served again, or the process is replaced.
  static let recoveryTimeout = TimeSpan.seconds(10)

  /// Kills the named process and prints the recovery. Returns the exit code.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let name = session.name("PROCESS")
    let coordinator = try CoordinatorClient.open(session)
    let frame = try BoardCommand.first(coordinator)
    guard let window = frame.windows.first(where: { $0.window == name }) else {
      return try killWithoutWindow(name, beside: frame.windows.map(\.window), coordinator, session)
    }
    guard let pid = window.pid else {
      throw .failure(Failure(.processChanged, subject: "\(name) \(window.generation) 0"))
    }
    let isAsked = session.isAtTerminal && !session.invocation.flag("yes")
    if isAsked, try !session.confirm(session.messages.askKill(name, pid, ticket: window.tickets.first)) {
      session.note(session.messages.nothingChanged)
      return .failed
    }
    // The tracker starts from the snapshot before the confirmation.
    let killing = try coordinator.send(.killWorker(window: name, generation: window.generation, pid: pid))
    var watch = KillTracker(window: name, generation: window.generation, pid: pid, in: frame)
    try awaitResults(&watch, killing, coordinator)
    try session.show(
      [
        "version": 1, "process": .string(name), "window": .string(name), "pid": .init(pid),
        "generation": .init(window.generation),
        "ticket": .init(watch.ticket), "recovery_ms": .init(watch.milliseconds),
        "successor_pid": .init(watch.successor),
      ], or: [session.messages.killed(watch)])
    return .done
  }

  /// Passes snapshots to the tracker until it has seen the recovery and request `killing` was answered, or
  /// `recoveryTimeout` has passed.
  private static func awaitResults(
    _ watch: inout KillTracker, _ killing: UInt32, _ coordinator: CoordinatorClient
  ) throws(CommandError) {
    var isEnded = false
    let deadline = SystemClock.monotonic() + recoveryTimeout
    while !(isEnded && watch.isSettled), let reply = try coordinator.next(until: deadline) {
      if reply.number == killing { isEnded = true }
      if case .board(let frame) = reply.answer { watch.handle(frame) }
    }
  }
}
