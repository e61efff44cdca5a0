// Owns what becomes of a selection of tickets: it is asked about with its number, and then done with all of them at once.
// Invariant: what is done is done with the number that was confirmed, or not at all; where that is all of a filter, they are
// gone through page by page in the order of their numbers, each once.
import BankModel
import Posix
import WebCore
import WebPages
import Wire

extension FormActions {
  /// What shall become of whom.
  private struct Selection {
    let form: SentForm
    let isCancelling: Bool
    let page: String
    /// All of this filter; nil for those that are named.
    let filter: RecordFilter?
    var done: Int64 = 0
    var refused: Int64 = 0
    /// The highest number that was gone through.
    var after: Int64 = 0

    func answer() {
      if refused > 0 { return form.answer(.partly(done: done, of: done + refused), at: page) }
      form.answer(isCancelling ? .cancelled(count: done) : .requeued(count: done), at: page)
    }
  }

  func choose(_ form: SentForm, isCancelling: Bool) {
    var filter: RecordFilter?
    if form.fields["all"] != nil {
      let chosen = PageFilter(form.fields)
      filter = RecordFilter(service: chosen.service, state: isCancelling ? chosen.state : .dead)
    }
    let tickets = form.fields.all("ticket").compactMap { Int64($0) }.filter { $0 > 0 }
    let page = form.back(or: Self.page(tickets, filter, isCancelling))
    let selection = Selection(form: form, isCancelling: isCancelling, page: page, filter: filter)
    application.feeds.want([.board], at: SystemClock.monotonic())
    if let filter { return chooseAll(selection, filter) }
    guard !tickets.isEmpty, Int64(tickets.count) <= TicketSelection.ticketsAtMost else {
      return form.refuse(.nothingSelected, at: page)
    }
    guard let confirmed = form.fields.number("confirmed") else {
      return ask(form, isCancelling ? .cancel(tickets) : .requeue(tickets), page)
    }
    guard confirmed == Int64(tickets.count) else { return form.refuse(.changed, at: page) }
    order(selection, tickets) { outcome in
      switch outcome {
      case .success(let report):
        var done = selection
        (done.done, done.refused) = (report.done, Int64(report.refused.count))
        // Of one alone it is said why.
        if tickets.count == 1, let refused = report.refused.first {
          return form.refuse(refused.reason == .noSuchTicket ? .noSuchTicket : .wrongState, at: page)
        }
        done.answer()
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  /// Where the list is from which they come.
  private static func page(_ tickets: [Int64], _ filter: RecordFilter?, _ isCancelling: Bool) -> String {
    if tickets.count == 1, filter == nil { return "/ticket/\(tickets[0])" }
    return isCancelling && filter?.state != .dead ? "/tickets" : "/dead"
  }

  private func ask(_ form: SentForm, _ question: Confirmation, _ page: String) {
    let frame = application.director.frame(form.exchange.request)
    form.exchange.respond(.page(ConfirmPage(confirmation: question, back: page).html(frame)))
  }

  private func order(
    _ selection: Selection, _ tickets: [Int64],
    _ listener: @escaping (Result<SelectionReport, Failure>) -> Void
  ) {
    let chosen = TicketSelection(spans: Self.spans(tickets), day: application.feeds.board?.day)
    control.ask(selection.isCancelling ? .cancelAll(chosen) : .requeueAll(chosen), within: .seconds(30)) {
      listener($0.only(\.selection))
    }
  }

  /// Numbers that stand behind one another as one span.
  static func spans(_ tickets: [Int64]) -> [TicketNumbers] {
    tickets.sorted().reduce(into: []) { spans, ticket in
      if let last = spans.last, last.last == ticket || last.last + 1 == ticket {
        spans[spans.count - 1].last = ticket
      } else {
        spans.append(TicketNumbers(ticket))
      }
    }
  }

  // MARK: - All of a filter

  private func chooseAll(_ selection: Selection, _ filter: RecordFilter) {
    let form = selection.form
    control.ask(.status) { [self] _ in
      // The board says how many there are; where nobody follows it, the first look does.
      guard let count = application.count(filter.service, filter.state), count > 0 else {
        return form.refuse(.nothingSelected, at: selection.page)
      }
      guard let confirmed = form.fields.number("confirmed") else {
        let question: Confirmation =
          selection.isCancelling ? .cancelAll(filter, count: count) : .requeueAll(filter, count: count)
        return ask(form, question, selection.page)
      }
      guard confirmed == count else { return form.refuse(.changed, at: selection.page) }
      goOn(selection, filter)
    }
  }

  private func goOn(_ selection: Selection, _ filter: RecordFilter) {
    let query = TicketQuery(
      state: filter.state, service: filter.service, after: selection.after,
      limit: TicketSelection.ticketsAtMost)
    control.ask(.tickets(query), within: .seconds(30)) { [self] outcome in
      guard case .success(let answers) = outcome else {
        if case .failure(let failure) = outcome, selection.done == 0 {
          return selection.form.refuse(PageRefusal(failure), at: selection.page)
        }
        return selection.answer()
      }
      let tickets = answers.flatMap(\.tickets).map(\.ticket)
      guard let last = tickets.last else { return selection.answer() }
      order(selection, tickets) { [self] outcome in
        var next = selection
        next.after = last
        switch outcome {
        case .success(let report):
          next.done += report.done
          next.refused += Int64(report.refused.count)
          goOn(next, filter)
        case .failure(let failure):
          guard selection.done == 0 else { return selection.answer() }
          selection.form.refuse(PageRefusal(failure), at: selection.page)
        }
      }
    }
  }
}
