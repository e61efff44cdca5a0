// Text display of one customer's history: state, and all events in order of time.
// Invariant: every event starts with its time. Lines of the present state, and the quoted reason of an attempt, are
// indented and have none.
import Posix
import Wire

struct TicketStory {
  let ticket: TicketReport
  let words: MessageCatalog
  let palette: Palette

  var lines: [String] {
    var lines = [palette.paint(headline, .heading), "  " + standing]
    if let counted = ticket.counted { lines.append("  " + words.counted(counted)) }
    if let payload = ticket.payload { lines.append("  " + words.carries(payload)) }
    lines.append(at(ticket.issuedAt, words.issued))
    for (place, attempt) in ticket.attempts.enumerated() { lines += story(of: attempt, place) }
    if let receipt = ticket.receipt {
      lines.append(at(receipt.finishedAt, words.receipt(receipt)))
      if let result = receipt.result { lines.append(at(receipt.finishedAt, words.left(result))) }
    }
    return lines
  }

  private var headline: String {
    var parts = [
      words.customer(ticket.ticket), words.phrases.service(ticket.service), words.grade(ticket.priority),
      words.business(ticket.service, ticket.amount, ticket.article),
    ]
    if ticket.amount > 0 { parts.append(words.account(ticket.account)) }
    return (parts + [words.day(ticket.day)]).joined(separator: " · ")
  }

  private var standing: String {
    switch ticket.state {
    case .waiting:
      words.waitingAt(ticket.position, eta: ticket.etaMilliseconds.map { words.span(milliseconds: $0) })
    case .delayed:
      words.delayedUntil(
        ticket.dueAt.map { Timestamp.utc(milliseconds: $0) }, isOrdered: ticket.attempts.isEmpty)
    case .serving: words.servedAt(ticket.window) + (ticket.progress.map { ", " + words.progress($0) } ?? "")
    case .dead: words.putAside(ticket.ticket)
    case .done: words.state(ticket.state)
    }
  }

  private func story(of attempt: AttemptReport, _ place: Int) -> [String] {
    // For an attempt that was lost with its coordinator, start and window are unknown.
    let lines = attempt.end == .lost ? [] : [at(attempt.startedAt, words.attemptBegan(attempt))]
    guard let end = attempt.end, let endedAt = attempt.endedAt else { return lines }
    let isSentAway = end == .served && ticket.receipt?.outcome == .outOfStock
    var detail = ""
    if let signal = attempt.signal { detail += " (\(Signals.name(signal)))" }
    if let code = attempt.code { detail += " (" + words.exitCode(code) + ")" }
    // A lost attempt has no line for its start, so the branch is shown with its end.
    if attempt.end == .lost, let branch = attempt.branch { detail += " (" + words.branch(branch) + ")" }
    let said =
      attempt.words.map { $0.split(whereSeparator: \.isNewline).map { "    " + words.safe(String($0)) } }
      ?? []
    let isLast = place == ticket.attempts.count - 1
    if attempt.isFatal == true || isLast && ticket.state == .dead {
      let reason = words.attemptFailed(end) + detail
      return lines + [
        at(endedAt, palette.paint(reason, .alarm)),
        at(endedAt, palette.paint(words.becameDead(attempts: place + 1, reason), .alarm)),
      ] + said
    }
    // For the last attempt of a cancelled ticket it is unknown whether the customer had returned to the
    // queue.
    let isOpen = isLast && ticket.state == .done
    let text = isSentAway ? words.sentAway : isOpen ? words.attemptFailed(end) : words.attemptEnded(end)
    return lines + [at(endedAt, palette.paint(text + detail, end == .served ? nil : .alarm))] + said
  }

  private func at(_ milliseconds: Int64, _ text: String) -> String {
    palette.paint(Timestamp.utc(milliseconds: milliseconds), .quiet) + "  " + text
  }
}
