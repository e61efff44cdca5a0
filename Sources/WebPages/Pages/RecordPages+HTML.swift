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

extension TicketsPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.tickets }

  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("total", total.map { "\(frame.words.people($0))" } ?? ""),
      .rows("tickets", rows, key: { "\($0.ticket)" }, row: frame.ticketRow),
      .block("pages", frame.paging("/tickets", filter, next)),
    ]
  }

  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let states: [CustomerState] = [.waiting, .serving, .delayed, .dead]
    let fields: HTML = """
      \(frame.select("state", words.state, [("", words.all)] + states.map { ($0.name, words.phrases.header($0)) }, chosen: filter.state?.name ?? ""))\
      \(frame.serviceChoice(services, words.all, chosen: filter.service))
      """
    let total = regions.place("total", "span", #" class="count""#)
    return """
      \(frame.heading(words.tickets, total))
      \(frame.filterForm("/tickets", filter, fields))
      \(frame.selection(regions, [("/tickets/cancel", words.cancelSelected, words.cancelAll, "danger")], filter, self.total, frame.ticketColumns))
      \(regions.place("pages"))
      """
  }
}

extension DeadPage {
  /// The name of the page.
  public func title(_ frame: PageFrame) -> String { frame.words.deadLetters }

  /// The parts that change.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .block("total", total.map { "\(frame.words.people($0))" } ?? ""),
      .rows("tickets", rows, key: { "\($0.ticket)" }, row: frame.deadRow),
      .block("pages", frame.paging("/dead", filter, next)),
    ]
  }

  /// The page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let words = frame.words
    let total = regions.place("total", "span", #" class="count""#)
    let actions: [(String, String, String, HTML)] = [
      ("/tickets/requeue", words.requeueSelected, words.requeueAll, "strong"),
      ("/tickets/cancel", words.cancelSelected, words.cancelAll, "danger"),
    ]
    var dead = filter
    dead.state = .dead
    return """
      \(frame.heading(words.deadLetters, total))
      \(frame.filterForm("/dead", filter, frame.serviceChoice(services, words.all, chosen: filter.service)))
      \(frame.selection(regions, actions, dead, self.total, frame.deadColumns))
      \(regions.place("pages"))
      """
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
