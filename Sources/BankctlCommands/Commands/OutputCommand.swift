// `output`: the output of a ticket's command, also while it runs.
// Invariant: standard output contains only the bytes of the command, and with `--json` an error. All other messages go
// to standard error.

import Wire

/// Implementation of `bankctl output`.
enum OutputCommand {
  /// Prints the output of a ticket's command, with `--follow` until the command ends.
  static func run(_ session: Session) throws(CommandError) {
    let number = session.number("N")
    let stream: OutputStreamer.Stream = session.invocation.flag("stderr") ? .errors : .output
    let question = ControlCommand.ticket(number: number, day: session.invocation.integer("day"))
    let (ticket, server) = try CoordinatorClient.withReadableBank(session) {
      coordinator throws(CommandError) in
      let ticket = try coordinator.answer(to: question).ticket
      return (ticket, OutputOwnerBranch.branch(of: ticket, coordinator))
    }
    if session.invocation.flag("follow"), ticket.state != .done, ticket.state != .dead {
      let wait = try InterruptibleWait()
      defer { wait.end() }
      let watch = OutputStreamer(
        day: ticket.day, ticket: number, session, try CoordinatorClient.open(session), wait)
      _ = try watch.streamUntilEnd(streams: [stream])
      return
    }
    let isWhole = try OutputStreamer.show(ticket, stream, session)
    if !isWhole, let server {
      let messages = session.messages.outputElsewhere(
        ticket.ticket, day: session.invocation.integer("day"), isErrors: stream == .errors, server)
      throw .commandFailure(.outputAtOtherBranch, messages)
    }
  }
}
