// Owns `kill`: has the process of a window ended, and says how soon its customer was served again, as the board tells it.
// Invariants: at a terminal it is asked first; what is ended is the process that was looked at, and no other.
// Failure: CommandError; exit code 1 where the answer was no, 4 for no such window, 5 where another process is there by now.
import Posix
import Time
import Wire

enum KillCommand {
  /// How long somebody may wait to be served again.
  private static let patience = TimeSpan.seconds(10)

  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let name = session.name("WINDOW")
    let coordinator = try CoordinatorClient.open(session)
    let window = try window(name, in: try BoardCommand.first(coordinator), session)
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
    let outcome = try outcome(of: killing, window, pid, coordinator)
    try session.show(
      [
        "version": 1, "window": .string(name), "pid": .init(pid), "generation": .init(window.generation),
        "ticket": .init(outcome.ticket), "served_again_ms": .init(outcome.milliseconds),
        "successor_pid": .init(outcome.successor),
      ], or: [session.words.killed(name, pid, outcome)])
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

  /// What became of it, as far as it can be seen in time.
  struct Outcome: Equatable {
    /// Whom the process was serving.
    var ticket: Int64?
    /// Milliseconds from the death until the customer was served again.
    var milliseconds: Int64?
    /// The next process at the window.
    var successor: Int32?
  }

  private static func outcome(
    of killing: UInt32, _ window: BoardWindow, _ pid: Int32, _ coordinator: CoordinatorClient
  ) throws(CommandError) -> Outcome {
    var watch = DeathWatch(window: window, pid: pid)
    var isEnded = false
    let deadline = SystemClock.monotonic() + patience
    while !(isEnded && watch.isOver), let reply = try coordinator.next(until: deadline) {
      if reply.number == killing { isEnded = true }
      if case .board(let frame) = reply.answer { watch.see(frame) }
    }
    return watch.outcome
  }
}

/// What is seen of a death in frame after frame.
struct DeathWatch {
  private let window: BoardWindow
  private let pid: Int32
  private var diedAt: Int64?
  private var staysEmpty = false
  private(set) var outcome = KillCommand.Outcome()

  init(window: BoardWindow, pid: Int32) { (self.window, self.pid) = (window, pid) }

  /// Whether there is nothing more to be seen.
  var isOver: Bool {
    diedAt != nil && (outcome.successor != nil || staysEmpty)
      && (outcome.ticket == nil || outcome.milliseconds != nil)
  }

  mutating func see(_ frame: BoardFrame) {
    if let death = frame.events.last(where: {
      $0.kind == .died && $0.pid == pid && $0.window == window.window
    }) {
      (diedAt, outcome.ticket) = (death.time, death.ticket)
      let again = frame.events.first {
        $0.kind == .started && $0.ticket == death.ticket && $0.sequence > death.sequence
      }
      if let again, death.ticket != nil { outcome.milliseconds = max(0, again.time - death.time) }
    }
    guard let diedAt else { return }
    if outcome.milliseconds == nil, let ticket = outcome.ticket,
      let serving = frame.serving.first(where: { $0.ticket == ticket && $0.since >= diedAt })
    {
      outcome.milliseconds = serving.since - diedAt
    }
    let next = frame.windows.first { $0.window == window.window && $0.generation > window.generation }
    if let next, next.state == .idle || next.state == .serving { outcome.successor = next.pid }
    // Nobody comes to a window that is to stay empty.
    staysEmpty = next?.isFailed == true || !frame.windows.contains { $0.window == window.window }
  }
}
