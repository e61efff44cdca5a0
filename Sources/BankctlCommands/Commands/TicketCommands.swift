// `ticket`, `cancel` and `requeue`.
// Invariant: for one ticket, the JSON output is the customer after the change.
import Wire

/// Implementations of `bankctl ticket`, `bankctl cancel` and `bankctl requeue`.
enum TicketCommands {
  /// Prints the events of one customer.
  static func timeline(_ session: Session) throws(CommandError) {
    let question = ControlCommand.ticket(number: session.number("N"), day: session.invocation.integer("day"))
    let ticket = try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
      try coordinator.answer(to: question, TaskProgress(.ticket, session.messages)).ticket
    }
    let timeline = TicketTimelineRenderer(
      ticket: ticket, messages: session.messages, palette: session.output.palette)
    try session.show(.ticket(ticket), or: timeline.lines)
  }

  /// Cancels one customer or several. Returns the exit code.
  static func cancel(_ session: Session) throws(CommandError) -> ProgramExit {
    let tickets = try SelectionCommands.tickets(session)
    guard tickets.count == 1, let number = tickets.first?.only else {
      return try SelectionCommands.run(
        session, tickets, TaskProgress(.cancel, session.messages), done: session.messages.cancelledSeveral
      ) { .cancelAll($0) }
    }
    // A retry after a lost connection must use the same day, because ticket numbers are unique only within a
    // day.
    var day = session.invocation.integer("day")
    var isRepeated = false
    let ticket = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      let wasRepeated = isRepeated
      isRepeated = true
      if day == nil { day = try coordinator.presentDay() }
      let meant = day ?? 0
      do throws(CommandError) {
        let task = TaskProgress(.cancel, session.messages)
        return try coordinator.answer(to: .cancel(number, day: meant), task).ticket
      } catch {
        // A repeated request is refused if the first one has succeeded and its answer was lost.
        guard wasRepeated, case .failure(let failure) = error, failure.code == .wrongState else {
          throw error
        }
        let ticket = try coordinator.answer(to: .ticket(number: number, day: meant)).ticket
        guard ticket.receipt?.outcome == .cancelled else { throw error }
        return ticket
      }
    }
    try session.show(.ticket(ticket), or: [session.messages.cancelled(number)])
    return .done
  }

  /// Returns one dead letter, several or all to their lines. Returns the exit code.
  static func requeue(_ session: Session) throws(CommandError) -> ProgramExit {
    if session.invocation.flag("dead") { return try requeueAll(session) }
    let tickets = try SelectionCommands.tickets(session)
    guard tickets.count == 1, let number = tickets.first?.only else {
      return try SelectionCommands.run(
        session, tickets, TaskProgress(.requeue, session.messages), done: session.messages.requeuedSeveral
      ) { .requeueAll($0) }
    }
    var day = session.invocation.integer("day")
    // A retry after a lost connection is refused if the first request has succeeded, with the state of the ticket as
    // the reason.
    let ticket = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      if day == nil { day = try coordinator.presentDay() }
      let meant = day ?? 0
      let task = TaskProgress(.requeue, session.messages)
      return try coordinator.answer(to: .requeue(number, day: meant), task).ticket
    }
    try session.show(.ticket(ticket), or: [session.messages.requeued(ticket: number)])
    return .done
  }

  /// Returns all dead letters to their lines.
  private static func requeueAll(_ session: Session) throws(CommandError) -> ProgramExit {
    let answer = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      let task = TaskProgress(.requeue, session.messages, withProgress: true)
      return try coordinator.answer(to: .requeueDead, within: nil, task)
    }
    guard case .requeued(let count) = answer else { throw answer.unexpected }
    try session.show(["version": 1, "requeued": .init(count)], or: [session.messages.requeued(count)])
    return .done
  }
}

extension TicketNumbers {
  /// The ticket of a span with one ticket; nil for other spans.
  fileprivate var only: Int64? { first == last ? first : nil }
}
