// Owns `kill`: has the process of a window ended, and says how soon its customer was served again, as the board tells it.
// Invariants: at a terminal it is asked first; what is ended is the process that was looked at, and no other.
// Failure: CommandError; exit code 1 where the answer was no, 4 for no such window, 5 where another process is there by now.
import Posix
import Reports
import Time
import Wire

enum KillCommand {
  /// How long somebody may wait to be served again.
  private static let patience = TimeSpan.seconds(10)

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let name = session.name("WINDOW")
    let coordinator = try CoordinatorClient.open(session)
    let frame = try BoardCommand.first(coordinator)
    let window = try window(name, in: frame, session)
    guard let pid = window.pid else {
      throw .failure(Failure(.otherProcess, subject: "\(name) \(window.generation) 0"))
    }
    let isAsked = session.isAtTerminal && !session.invocation.flag("yes")
    if isAsked, try !session.confirm(session.words.askKill(name, pid, ticket: window.tickets.first)) {
      session.note(session.words.nothingChanged)
      return .failed
    }
    // What has happened meanwhile is not waited for: the board goes on from here.
    let killing = try coordinator.send(.endTeller(window: name, generation: window.generation, pid: pid))
    var watch = KillWatch(window: name, generation: window.generation, pid: pid, in: frame)
    try look(&watch, killing, coordinator)
    try session.show(
      [
        "version": 1, "window": .string(name), "pid": .init(pid), "generation": .init(window.generation),
        "ticket": .init(watch.ticket), "served_again_ms": .init(watch.milliseconds),
        "successor_pid": .init(watch.successor),
      ], or: [session.words.killed(watch)])
    return .done
  }

  private static func window(
    _ name: String, in frame: BoardFrame, _ session: Session
  ) throws(CommandError) -> BoardWindow {
    guard let window = frame.windows.first(where: { $0.window == name }) else {
      throw .failure(Failure(.noSuchWindow, subject: name))
    }
    return window
  }

  /// Looks on until there is nothing more to be seen of it, or for so long.
  private static func look(
    _ watch: inout KillWatch, _ killing: UInt32, _ coordinator: CoordinatorClient
  ) throws(CommandError) {
    var isEnded = false
    let deadline = SystemClock.monotonic() + patience
    while !(isEnded && watch.isSettled), let reply = try coordinator.next(until: deadline) {
      if reply.number == killing { isEnded = true }
      if case .board(let frame) = reply.answer { watch.hear(frame) }
    }
  }
}
