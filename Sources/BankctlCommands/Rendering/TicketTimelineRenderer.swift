// Text display of one customer: state, and the events in order of time.
// Invariant: an event starts with its time; other lines are indented.
import Posix
import Wire

/// Makes the text lines about one customer and its events.
struct TicketTimelineRenderer {
  let ticket: TicketReport
  let messages: MessageCatalog
  let palette: Palette

  var lines: [String] {
    var lines = [palette.paint(headline, .heading), "  " + stateLine]
    if let counted = ticket.counted { lines.append("  " + messages.counted(counted)) }
    if let payload = ticket.payload { lines.append("  " + messages.payloadLine(payload)) }
    lines.append(at(ticket.issuedAt, messages.issued))
    for (place, attempt) in ticket.attempts.enumerated() { lines += timeline(of: attempt, place) }
    if let receipt = ticket.receipt {
      lines.append(at(receipt.finishedAt, messages.receipt(receipt)))
      if let result = receipt.result { lines.append(at(receipt.finishedAt, messages.left(result))) }
    }
    return lines
  }

  private var headline: String {
    var parts = [
      messages.customer(ticket.ticket), messages.phrases.service(ticket.service),
      messages.grade(ticket.priority),
      messages.business(ticket.service, ticket.amount, ticket.itemName),
    ]
    if ticket.amount > 0 { parts.append(messages.account(ticket.account)) }
    return (parts + [messages.day(ticket.day)]).joined(separator: " · ")
  }

  private var stateLine: String {
    switch ticket.state {
    case .waiting:
      messages.waitingAt(ticket.position, eta: ticket.etaMilliseconds.map { messages.span(milliseconds: $0) })
    case .delayed:
      messages.delayedUntil(
        ticket.dueAt.map { Timestamp.utc(milliseconds: $0) }, isOrdered: ticket.attempts.isEmpty)
    case .serving:
      messages.servedAt(ticket.window) + (ticket.progress.map { ", " + messages.progress($0) } ?? "")
    case .dead: messages.deadLetter(ticket.ticket)
    case .done: messages.state(ticket.state)
    }
  }

  /// The lines about the start and the end of an attempt; `place` is its index among the attempts of the ticket.
  private func timeline(of attempt: AttemptReport, _ place: Int) -> [String] {
    // For an attempt that was lost with its coordinator, start and window are unknown.
    let lines = attempt.end == .lost ? [] : [at(attempt.startedAt, messages.attemptBegan(attempt))]
    guard let end = attempt.end, let endedAt = attempt.endedAt else { return lines }
    let isSentAway = end == .served && ticket.receipt?.outcome == .outOfStock
    var detail = ""
    if let signal = attempt.signal { detail += " (\(Signals.name(signal)))" }
    if let code = attempt.code { detail += " (" + messages.exitCode(code) + ")" }
    // A lost attempt has no line for its start, so the branch is shown with its end.
    if attempt.end == .lost, let branch = attempt.branch { detail += " (" + messages.branch(branch) + ")" }
    let workerText =
      attempt.words.map { $0.split(whereSeparator: \.isNewline).map { "    " + messages.safe(String($0)) } }
      ?? []
    let isLast = place == ticket.attempts.count - 1
    if attempt.isFatal == true || isLast && ticket.state == .dead {
      let reason = messages.attemptFailed(end) + detail
      return lines + [
        at(endedAt, palette.paint(reason, .alarm)),
        at(endedAt, palette.paint(messages.becameDead(attempts: place + 1, reason), .alarm)),
      ] + workerText
    }
    // For the last attempt of a cancelled ticket it is unknown whether the customer had returned to the
    // queue.
    let isOpen = isLast && ticket.state == .done
    let text =
      isSentAway ? messages.sentAway : isOpen ? messages.attemptFailed(end) : messages.attemptEnded(end)
    return lines + [at(endedAt, palette.paint(text + detail, end == .served ? nil : .alarm))] + workerText
  }

  /// A line with a time in front of the text.
  private func at(_ milliseconds: Int64, _ text: String) -> String {
    palette.paint(Timestamp.utc(milliseconds: milliseconds), .quiet) + "  " + text
  }
}
