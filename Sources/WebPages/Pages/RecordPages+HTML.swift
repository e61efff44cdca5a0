// Owns how long lists look: customers, dead letters, receipts. Invariant: a filter stands in the URL and in nothing else, a page
// holds at most 200 rows, and what is done to a selection is asked about first, with its number.
import BankModel

extension RecordFilter {
  /// The query of this filter, with its `?`; "" for none.
  public var query: String {
    var parts: [String] = []
    if let service { parts.append("service=\(service)") }
    if let state { parts.append("state=\(state.name)") }
    if let outcome { parts.append("outcome=\(outcome.name)") }
    if let day { parts.append("day=\(day)") }
    if after != 0 { parts.append("after=\(after)") }
    return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
  }

  func from(_ after: Int64) -> RecordFilter {
    var filter = self
    filter.after = after
    return filter
  }
}

extension TicketList {
  fileprivate func parts(
    _ path: String, _ frame: PageFrame, row: (TicketRow) -> HTML
  ) -> [Region] {
    [
      .block("total", total.map { "\(frame.words.people($0))" } ?? ""),
      .rows("tickets", rows, key: { "\($0.ticket)" }, row: row),
      .block("pages", frame.paging(path, filter, next)),
    ]
  }

  fileprivate func body(
    _ title: String, _ path: String, _ fields: HTML,
    _ actions: [(path: String, some: String, all: String, look: HTML)], columns: [PageFrame.Column],
    _ frame: PageFrame, _ regions: [Region]
  ) -> HTML {
    """
    \(frame.heading(title, regions.place("total", "span", #" class="count""#)))
    \(frame.filterForm(path, filter, fields))
    \(frame.selection(regions, actions, filter, total, columns))
    \(regions.place("pages"))
    """
  }
}

extension TicketsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.tickets }

  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { list.parts("/tickets", frame, row: frame.ticketRow) }

  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let states: [CustomerState] = [.waiting, .serving, .delayed, .dead]
    let fields: HTML = """
      \(frame.select("state", words.state, [("", words.all)] + states.map { ($0.name, words.phrases.header($0)) }, chosen: list.filter.state?.name ?? ""))\
      \(frame.serviceChoice(list.services, words.all, chosen: list.filter.service))
      """
    let cancel = ("/tickets/cancel", words.cancelSelected, words.cancelAll, "danger" as HTML)
    return list.body(
      words.tickets, "/tickets", fields, [cancel], columns: frame.ticketColumns, frame, regions)
  }
}

extension DeadPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.deadLetters }

  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] { list.parts("/dead", frame, row: frame.deadRow) }

  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let requeue = ("/tickets/requeue", words.requeueSelected, words.requeueAll, "strong" as HTML)
    let cancel = ("/tickets/cancel", words.cancelSelected, words.cancelAll, "danger" as HTML)
    let fields = frame.serviceChoice(list.services, words.all, chosen: list.filter.service)
    var dead = list
    dead.filter.state = .dead
    return dead.body(
      words.deadLetters, "/dead", fields, [requeue, cancel], columns: frame.deadColumns, frame, regions)
  }
}

extension ReceiptsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.receipts }

  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows("receipts", rows, key: { "\($0.sequence)" }, row: frame.receiptRow),
      .block("pages", frame.paging("/receipts", filter, next)),
    ]
  }

  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let outcomes = [("", words.all)] + Outcome.allCases.map { ($0.name, words.phrases.outcome($0)) }
    let fields: HTML = """
      \(frame.select("outcome", words.outcome, outcomes, chosen: filter.outcome?.name ?? ""))\
      \(frame.serviceChoice(services, words.all, chosen: filter.service))
      """
    return """
      \(frame.heading(words.receipts))
      \(frame.filterForm("/receipts", filter, fields))
      <section class="card">\(frame.receiptTable(regions.place("receipts", "tbody", #" data-empty="\#(words.noReceipts)""#)))</section>
      \(regions.place("pages"))
      """
  }
}
