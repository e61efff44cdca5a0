// `cancel` and `requeue` of several tickets: `3 5 7-12`.
// Invariant: the output is the bank's answer: the number of changed tickets, and the reason for each refused
// ticket.
// Errors: `CommandError`; the exit code is that of the first refusal.
import BankModel
import Wire

/// Requests of `bankctl cancel` and `bankctl requeue` for several tickets at once.
enum SelectionCommands {
  /// The ticket numbers and ranges of the operands; throws if one is invalid or there are too many tickets.
  static func tickets(_ session: Session) throws(CommandError) -> [TicketNumbers] {
    var spans: [TicketNumbers] = []
    for word in session.invocation.operands.texts("N") {
      guard let span = span(word) else { throw .usage(session.messages.noTickets(word)) }
      spans.append(span)
    }
    let most = TicketSelection.ticketsAtMost
    // No overflow: the loop stops adding as soon as the sum exceeds the limit.
    var count: Int64 = 0
    for span in spans where count <= most { count += span.last - span.first + 1 }
    guard count <= most else { throw .usage(session.messages.tooManyTickets(most)) }
    return spans
  }

  /// Parses `7` or `7-12`. Returns nil for other text.
  static func span(_ word: String) -> TicketNumbers? {
    let parts = word.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part -> Int64? in
      guard !part.isEmpty, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return Int64(part)
    }
    guard numbers.count == parts.count, let first = numbers.first, let last = numbers.last, first >= 1,
      first <= last, last <= Limits.ticket
    else { return nil }
    return TicketNumbers(first: first, last: last)
  }

  /// Sends one request for all tickets and prints the result: the sentence `done` for the number of changed tickets,
  /// and the refused ones. Returns the exit code.
  ///
  /// - Parameter command: Makes the request for a selection.
  static func run(
    _ session: Session, _ spans: [TicketNumbers], _ task: @autoclosure () -> TaskProgress,
    done: (Int64) -> String, _ command: (TicketSelection) -> ControlCommand
  ) throws(CommandError) -> ProgramExit {
    // A retry after a lost connection must use the same day, because ticket numbers are unique only within a
    // day.
    var day = session.invocation.integer("day")
    let report = try CoordinatorClient.withOpenBank(session) { coordinator throws(CommandError) in
      if day == nil { day = try coordinator.presentDay() }
      return try coordinator.answer(
        to: command(TicketSelection(spans: spans, day: day)), within: nil, task()
      ).selection
    }
    var lines = [done(report.done)]
    for refused in report.refused { lines.append("  " + session.messages.refused(refused)) }
    try session.show(.selection(report, day: day ?? 0), or: lines)
    return report.refused.first.map { ProgramExit($0.reason) } ?? .done
  }
}

extension ControlAnswer {
  /// The result for several tickets; throws if the answer is of another kind.
  fileprivate var selection: SelectionReport {
    get throws(CommandError) { if case .selection(let report) = self { report } else { throw unexpected } }
  }
}
