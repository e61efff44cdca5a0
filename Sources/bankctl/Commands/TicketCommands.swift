// Owns the commands about one customer: ticket, cancel, requeue.
// They must not know how a story is laid out.
// Invariant: what is printed is the customer after the change.
// Failure: CommandError.
import Arguments
import BankModel
import ControlClient
import Wire

/// The command `ticket`.
enum TicketCommand {
  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let number = session.invocation.operands.integer("N") ?? 0
    let day = session.invocation.integer("day")
    try Desk.consult(session) { desk throws(CommandError) in
      try desk.ask(.ticket(number: number, day: day)) { answer throws(CommandError) in
        try session.show(ticket: try answer.ticket, headline: nil)
      }
    }
    return .done
  }
}

/// The command `cancel`.
enum CancelCommand {
  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let number = session.invocation.operands.integer("N") ?? 0
    let day = session.invocation.integer("day")
    try Desk.open(session).ask(.cancel(number, day: day)) { answer throws(CommandError) in
      try session.show(ticket: try answer.ticket, headline: session.words.cancelled(number))
    }
    return .done
  }
}

/// The command `requeue`.
enum RequeueCommand {
  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let desk = try Desk.open(session)
    if session.invocation.flag("dead") {
      try desk.ask(.requeueDead, within: nil) { answer throws(CommandError) in
        guard case .requeued(let count) = answer else { throw answer.unexpected }
        try session.show(["version": 1, "requeued": .init(count)], or: [session.words.requeued(count)])
      }
    } else {
      let number = session.invocation.operands.integer("N") ?? 0
      let day = session.invocation.integer("day")
      try desk.ask(.requeue(number, day: day)) { answer throws(CommandError) in
        try session.show(ticket: try answer.ticket, headline: session.words.requeued(ticket: number))
      }
    }
    return .done
  }
}

extension Session {
  /// Prints a customer: the document, or the one sentence that a change deserves, or the whole story.
  fileprivate func show(ticket: TicketReport, headline: String?) throws(CommandError) {
    try show(
      .ticket(ticket),
      or: headline.map { [$0] } ?? TicketStory(ticket: ticket, words: words, palette: output.palette).lines)
  }
}
