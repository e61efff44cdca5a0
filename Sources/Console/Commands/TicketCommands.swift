// Owns the commands about one customer: ticket, cancel, requeue.
// They must not know how a story is laid out.
// Invariant: what is printed is the customer after the change.
import Arguments
import BankModel
import ControlClient
import Wire

enum TicketCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let number = session.invocation.operands.integer("N") ?? 0
    let day = session.invocation.integer("day")
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      try coordinator.ask(.ticket(number: number, day: day), TaskProgress(.ticket, session.words)) {
        answer throws(CommandError) in try session.show(ticket: try answer.ticket, headline: nil)
      }
    }
    return .done
  }
}

enum CancelCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let number = session.invocation.operands.integer("N") ?? 0
    // Whoever repeats this after a lost connection means the same day, and so the same customer.
    var day = session.invocation.integer("day")
    var isRepeated = false
    try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      let wasRepeated = isRepeated
      isRepeated = true
      if day == nil { day = try coordinator.presentDay() }
      let meant = day ?? 0
      do throws(CommandError) {
        try coordinator.ask(.cancel(number, day: meant), TaskProgress(.cancel, session.words)) {
          answer throws(CommandError) in
          try session.show(ticket: try answer.ticket, headline: session.words.cancelled(number))
        }
      } catch {
        // The first time it was done, and the answer was lost.
        guard wasRepeated, case .failure(let failure) = error, failure.code == .wrongState else {
          throw error
        }
        try coordinator.ask(.ticket(number: number, day: meant)) { answer throws(CommandError) in
          let ticket = try answer.ticket
          guard ticket.receipt?.outcome == .cancelled else { throw error }
          try session.show(ticket: ticket, headline: session.words.cancelled(number))
        }
      }
    }
    return .done
  }
}

enum RequeueCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    var day = session.invocation.integer("day")
    try CoordinatorClient.converse(session) { coordinator throws(CommandError) in
      if session.invocation.flag("dead") { return try requeueAll(at: coordinator, session) }
      if day == nil { day = try coordinator.presentDay() }
      let meant = day ?? 0
      try requeue(on: meant, at: coordinator, session)
    }
    return .done
  }

  private static func requeueAll(at coordinator: CoordinatorClient, _ session: Session) throws(CommandError) {
    let task = TaskProgress(.requeue, session.words, asksHowFar: true)
    try coordinator.ask(.requeueDead, within: nil, task) { answer throws(CommandError) in
      guard case .requeued(let count) = answer else { throw answer.unexpected }
      try session.show(["version": 1, "requeued": .init(count)], or: [session.words.requeued(count)])
    }
  }

  /// Repeated after a lost connection it is refused where the first attempt was in time, and that says so.
  private static func requeue(on day: Int64, at coordinator: CoordinatorClient, _ session: Session)
    throws(CommandError)
  {
    let number = session.invocation.operands.integer("N") ?? 0
    try coordinator.ask(.requeue(number, day: day), TaskProgress(.requeue, session.words)) {
      answer throws(CommandError) in
      try session.show(ticket: try answer.ticket, headline: session.words.requeued(ticket: number))
    }
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
