// `snapshot`: prints the snapshot of the bank once, or again after changes, for pipes and scripts.
// Invariant: with `--watch`, a snapshot is one line.
// Errors: `CommandError`. If the bank closes while the command follows it, the command ends without an error.
import BankModel
import Posix
import Time
import Wire

/// Implementation of `bankctl snapshot`.
enum BoardCommand {
  static func run(_ session: Session) throws(CommandError) {
    guard session.invocation.flag("watch") else {
      let frame = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
        try first(coordinator)
      }
      return try session.show(
        .board(frame),
        or: BoardRenderer(
          frame: frame, messages: session.messages, palette: session.output.palette, columns: session.columns
        ).lines)
    }
    var state: BankState?
    try CoordinatorClient.follow(session, .board, isOver: { state == .draining || state == .closed }) {
      answer throws(CommandError) in
      let frame = try answer.board
      state = frame.state
      let picture = BoardRenderer(
        frame: frame, messages: session.messages, palette: session.output.palette, columns: nil)
      try session.line(.board(frame), or: picture.line)
      try session.output.flush()
    }
  }

  /// Subscribes to the snapshots of a coordinator, and returns the first one.
  static func first(_ coordinator: CoordinatorClient) throws(CommandError) -> BoardFrame {
    let number = try coordinator.send(.board)
    let deadline = SystemClock.monotonic() + CoordinatorClient.replyTimeout
    while let reply = try coordinator.next(until: deadline) {
      if reply.number == number { return try reply.answer.board }
    }
    throw .control(.timedOut(what: "a response"))
  }
}

extension ControlAnswer {
  /// The snapshot in the answer; throws if the answer is of another kind.
  var board: BoardFrame {
    get throws(CommandError) { if case .board(let frame) = self { frame } else { throw unexpected } }
  }
}
