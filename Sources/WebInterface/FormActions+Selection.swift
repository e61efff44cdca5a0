// Selections of tickets: first the confirmation with the number of customers, then the command for at most this number
// of customers.
// Invariant: the command applies only to customers of the confirmed day. For a filter it is executed for at most the
// confirmed number of customers, in the order of the ticket numbers.
import BankModel
import Posix
import WebCore
import WebPages
import Wire

extension FormActions {
  /// The customers that a form selects to be cancelled or requeued, and the progress of this command.
  private struct Selection {
    let form: SubmittedForm
    let isCancelling: Bool
    let page: String
    let choice: Choice
    /// The confirmed numbers; nil before the confirmation.
    let confirmed: ConfirmationToken?
    /// The day of the form; nil for none.
    let day: BusinessDay?
    /// Number of customers for which the command was executed.
    var done: Int64 = 0
    /// Number of customers for which the coordinator refused the command.
    var refused: Int64 = 0
    /// The command continues after this ticket number.
    var after: Int64 = 0

    /// Answers the form with the numbers of done and refused customers.
    func answer() {
      if refused > 0, case .tickets = choice {
        return form.answer(.partly(done: done, of: done + refused), at: page)
      }
      // Customers who no longer match the filter are not counted.
      guard done > 0 else { return form.refuse(.nothingSelected, at: page) }
      form.answer(isCancelling ? .cancelled(count: done) : .requeued(count: done), at: page)
    }

    /// Answers the form with the failure of the command.
    func refuse(_ failure: Failure) { form.refuse(PageRefusal(failure), at: page) }
  }

  /// The customers that a form selects: tickets by number, or all customers of a filter.
  private enum Choice {
    case tickets([TicketNumber])
    case all(PageFilter)
  }

  /// Cancels the customers that a form selects, or requeues them if `isCancelling` is false. Without a confirmation in
  /// the form, asks for it.
  func applySelection(_ form: SubmittedForm, isCancelling: Bool) throws(FieldError) {
    let fields = form.fields
    let day = try fields.day()
    let choice = try choice(fields, isCancelling)
    let confirmed = try Self.confirmed(fields, day)
    let page = form.back(or: Self.page(choice, day, isCancelling))
    guard let choice else { return form.refuse(.nothingSelected, at: page) }
    let selection = Selection(
      form: form, isCancelling: isCancelling, page: page, choice: choice, confirmed: confirmed, day: day)
    application.dataSources.subscribeBriefly([.board], at: SystemClock.monotonic())
    control.ask(.status) { [self] outcome in
      switch outcome.only(\.status) {
      case .success(let report): begin(selection, report)
      case .failure(let failure): selection.refuse(failure)
      }
    }
  }

  /// The customers that a form selects; nil if it selects none.
  private func choice(_ fields: RequestFields, _ isCancelling: Bool) throws(FieldError) -> Choice? {
    try fields.exclude("ticket", beside: "all")
    var filter = PageFilter()
    filter.service = try fields.service()
    filter.state = try fields.state()
    filter.after = try fields.after()
    guard try fields.number("all", in: 1...Int64.max) != nil else {
      for name in ["service", "state", "after"] where fields.has(name) {
        throw FieldError(name, .excluded(by: "ticket"))
      }
      return try fields.numbers("ticket", in: 1...Limits.ticket, atMost: TicketSelection.ticketsAtMost).map {
        .tickets(Set($0).sorted())
      }
    }
    if !isCancelling {
      guard filter.state ?? .dead == .dead else { throw FieldError("state", .value(expected: "dead")) }
      filter.state = .dead
    }
    guard filter.state != .done else {
      throw FieldError("state", .value(expected: "a state of customers without a receipt"))
    }
    return .all(filter)
  }

  /// What the user has confirmed, from the form's field `confirmed`; nil before the confirmation. If the field contains
  /// only a count, the form must also contain the day.
  private static func confirmed(
    _ fields: RequestFields, _ day: BusinessDay?
  ) throws(FieldError) -> ConfirmationToken? {
    guard let text = try fields.text("confirmed") else { return nil }
    if let confirmed = ConfirmationToken(digits: text) {
      guard day ?? confirmed.day == confirmed.day else {
        throw FieldError("day", .value(expected: "the day that was confirmed"))
      }
      return confirmed
    }
    guard let count = Int64(text), count > 0 else {
      throw FieldError("confirmed", .value(expected: "the number of the question"))
    }
    return ConfirmationToken(count: count, last: Limits.ticket, day: try fields.needed(day, "day"))
  }

  /// Path of the page to which the form returns: the list that contains the selection, or the only selected ticket.
  private static func page(_ choice: Choice?, _ day: BusinessDay?, _ isCancelling: Bool) -> String {
    switch choice {
    case .tickets(let tickets) where tickets.count == 1:
      return "/ticket/\(tickets[0])" + (day.map { "?day=\($0)" } ?? "")
    case .all(let filter) where filter.state == .dead: return "/dead"
    default: return isCancelling ? "/tickets" : "/dead"
    }
  }

  /// Checks day and confirmation, then executes the command or asks for the confirmation.
  private func begin(_ selection: Selection, _ report: StatusReport) {
    let asked = selection.confirmed?.day ?? selection.day ?? report.day
    guard asked == report.day else { return selection.form.refuse(.dayChanged, at: selection.page) }
    guard let confirmed = selection.confirmed else { return ask(selection, report) }
    switch selection.choice {
    case .tickets(let tickets):
      guard confirmed.count == Int64(tickets.count) else {
        return selection.form.refuse(.changed, at: selection.page)
      }
      act(selection, tickets, confirmed)
    case .all(let filter):
      var first = selection
      first.after = filter.after
      continueSelection(first, filter, confirmed)
    }
  }

  // MARK: - Confirmation

  /// Counts the selected customers, and answers with the page that asks for the confirmation.
  private func ask(_ selection: Selection, _ report: StatusReport) {
    let issued = max(1, report.bank?.queue.issued ?? report.queue.issued)
    /// Sends the confirmation page for this number of customers.
    func pose(_ count: Int64) {
      guard count > 0 else { return selection.form.refuse(.nothingSelected, at: selection.page) }
      let bound = ConfirmationToken(count: count, last: issued, day: report.day)
      let frame = application.pageSubscriptions.frame(selection.form.exchange.request)
      let question = Self.question(selection, bound)
      selection.form.exchange.respond(
        .page(ConfirmPage(confirmation: question, back: selection.page).html(frame)))
    }
    switch selection.choice {
    case .tickets(let tickets): pose(Int64(tickets.count))
    case .all(let filter) where filter.after == 0: pose(application.count(filter.service, filter.state) ?? 0)
    case .all(let filter):
      count(filter, startingAfter: filter.after) { result in
        switch result {
        case .success(let count): pose(count)
        case .failure(let failure): selection.refuse(failure)
        }
      }
    }
  }

  /// The question of the confirmation page; `bound` contains the numbers that its "yes" confirms.
  private static func question(_ selection: Selection, _ bound: ConfirmationToken) -> Confirmation {
    switch selection.choice {
    case .tickets(let tickets):
      selection.isCancelling ? .cancel(tickets, bound) : .requeue(tickets, bound)
    case .all(let filter):
      selection.isCancelling ? .cancelAll(filter.record, bound) : .requeueAll(filter.record, bound)
    }
  }

  /// Counts the customers of a filter after a ticket number. `counted` is the number counted so far.
  private func count(
    _ filter: PageFilter, startingAfter after: Int64, counted: Int64 = 0,
    _ listener: @escaping (Result<Int64, Failure>) -> Void
  ) {
    list(filter, after) { [self] outcome in
      switch outcome {
      case .success(let tickets):
        let sum = counted + Int64(tickets.count)
        guard let last = tickets.last, Int64(tickets.count) == TicketSelection.ticketsAtMost else {
          return listener(.success(sum))
        }
        count(filter, startingAfter: last, counted: sum, listener)
      case .failure(let failure): listener(.failure(failure))
      }
    }
  }

  /// Reads the next tickets of a filter after a ticket number, at most as many as one command accepts.
  private func list(
    _ filter: PageFilter, _ after: Int64, _ listener: @escaping (Result<[TicketNumber], Failure>) -> Void
  ) {
    let query = TicketQuery(
      state: filter.state, service: filter.service, after: after, limit: TicketSelection.ticketsAtMost)
    control.ask(.tickets(query), within: .seconds(30)) { outcome in
      listener(outcome.map { $0.flatMap(\.tickets).map(\.ticket) })
    }
  }

  // MARK: - Execution

  /// Executes the command for customers that were selected by their tickets.
  private func act(_ selection: Selection, _ tickets: [TicketNumber], _ confirmed: ConfirmationToken) {
    order(selection, tickets, confirmed) { outcome in
      switch outcome {
      case .success(let report):
        var done = selection
        (done.done, done.refused) = (report.done, Int64(report.refused.count))
        // The reason for a refusal is shown only for a single ticket.
        if tickets.count == 1, let refused = report.refused.first {
          return selection.form.refuse(PageRefusal(of: refused.reason), at: selection.page)
        }
        done.answer()
      case .failure(let failure): selection.refuse(failure)
      }
    }
  }

  /// Sends the command of a selection (cancel or requeue) for these tickets to the coordinator.
  private func order(
    _ selection: Selection, _ tickets: [TicketNumber], _ confirmed: ConfirmationToken,
    _ listener: @escaping (Result<SelectionReport, Failure>) -> Void
  ) {
    let chosen = TicketSelection(spans: Self.spans(tickets), day: confirmed.day)
    control.ask(selection.isCancelling ? .cancelAll(chosen) : .requeueAll(chosen), within: .seconds(30)) {
      listener($0.only(\.selection))
    }
  }

  /// Merges consecutive numbers into spans: 3, 4, 5 and 9 become 3 to 5 and 9.
  static func spans(_ tickets: [Int64]) -> [TicketNumbers] {
    tickets.sorted().reduce(into: []) { spans, ticket in
      if let last = spans.last, last.last == ticket || last.last + 1 == ticket {
        spans[spans.count - 1].last = ticket
      } else {
        spans.append(TicketNumbers(ticket))
      }
    }
  }

  /// Executes the command for the next tickets of a filter, until the confirmed number is reached or none is left.
  private func continueSelection(_ selection: Selection, _ filter: PageFilter, _ confirmed: ConfirmationToken)
  {
    let left = confirmed.count - selection.done
    guard left > 0 else { return selection.answer() }
    list(filter, selection.after) { [self] outcome in
      let tickets: [TicketNumber]
      switch outcome {
      case .success(let listed): tickets = Array(listed.filter { $0 <= confirmed.last }.prefix(Int(left)))
      case .failure(let failure):
        return selection.done == 0 ? selection.refuse(failure) : selection.answer()
      }
      guard let last = tickets.last else { return selection.answer() }
      order(selection, tickets, confirmed) { [self] outcome in
        var next = selection
        next.after = last
        switch outcome {
        case .success(let report):
          next.done += report.done
          next.refused += Int64(report.refused.count)
          continueSelection(next, filter, confirmed)
        case .failure(let failure): selection.done == 0 ? selection.refuse(failure) : selection.answer()
        }
      }
    }
  }
}

extension PageRefusal {
  /// Reason why the command was refused for one ticket of a selection.
  fileprivate init(of reason: Failure.Code) {
    self =
      switch reason {
      case .noSuchTicket: .noSuchTicket
      case .wrongDay: .dayChanged
      default: .wrongState
      }
  }
}
