// HTML of long lists: customers, dead letters, receipts.
// Invariant: the server stores no filter, because the URL of a list contains it.
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

  /// A copy of the filter for the rows after this ticket number, or after this sequence number of receipts.
  func from(_ after: Int64) -> RecordFilter {
    var filter = self
    filter.after = after
    return filter
  }
}

extension TicketList {
  /// Changing regions of a page with this list.
  fileprivate func parts(
    _ path: String, _ actions: [PageFrame.ListAction], in state: CustomerState?, _ frame: PageFrame,
    row: (TicketRow) -> HTML
  ) -> [Region] {
    [
      .block("total", total.map { "\(frame.messages.customerCount($0))" } ?? ""),
      .block("day", frame.hidden("day", "\(day)")),
      .rows("tickets", rows, key: \.key, row: row),
      .block("wholes", frame.wholeListForms(actions, self, in: state)),
      .block("pages", frame.paging(path, filter, next)),
    ]
  }

  /// Content of a page with this list: heading, filter, rows with checkboxes, and paging.
  fileprivate func body(
    _ title: String, _ path: String, _ fields: HTML, _ actions: [PageFrame.ListAction],
    columns: [PageFrame.Column], _ frame: PageFrame, _ regions: [Region]
  ) -> HTML {
    """
    \(frame.heading(title, regions.place("total", "span", #" class="count""#)))
    \(frame.filterForm(path, filter, fields))
    \(frame.selection(regions, actions, columns))
    \(regions.place("pages"))
    """
  }
}

extension PageFrame {
  /// Command that cancels customers of a list.
  fileprivate var cancelling: ListAction {
    ("/tickets/cancel", messages.cancelSelected, messages.cancelAll, "danger")
  }
  /// Command that requeues dead letters of a list.
  fileprivate var requeueing: ListAction {
    ("/tickets/requeue", messages.requeueSelected, messages.requeueAll, "strong")
  }
}

extension TicketsPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.tickets }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    list.parts("/tickets", [frame.cancelling], in: list.filter.state, frame, row: frame.ticketRow)
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let states: [CustomerState] = [.waiting, .serving, .delayed, .dead]
    let fields: HTML = """
      \(frame.select("state", messages.state, [("", messages.all)] + states.map { ($0.name, messages.phrases.header($0)) }, chosen: list.filter.state?.name ?? ""))\
      \(frame.serviceChoice(list.services, messages.all, chosen: list.filter.service))
      """
    return list.body(
      messages.tickets, "/tickets", fields, [frame.cancelling], columns: frame.ticketColumns, frame, regions)
  }
}

extension DeadPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.deadLetters }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    list.parts("/dead", [frame.requeueing, frame.cancelling], in: .dead, frame, row: frame.deadRow)
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let fields = frame.serviceChoice(list.services, messages.all, chosen: list.filter.service)
    return list.body(
      messages.deadLetters, "/dead", fields, [frame.requeueing, frame.cancelling], columns: frame.deadColumns,
      frame, regions)
  }
}

extension ReceiptsPage {
  /// Title of the page.
  public func title(_ frame: PageFrame) -> String { frame.messages.receipts }

  /// Changing regions of the page.
  public func parts(_ frame: PageFrame) -> [Region] {
    [
      .rows("receipts", rows, key: { "\($0.sequence)" }, row: frame.receiptRow),
      .block("pages", frame.paging("/receipts", filter, next)),
    ]
  }

  /// Content of the page.
  public func body(_ frame: PageFrame, _ regions: [Region]) -> HTML {
    let messages = frame.messages
    let outcomes = [("", messages.all)] + Outcome.allCases.map { ($0.name, messages.phrases.outcome($0)) }
    let fields: HTML = """
      \(frame.select("outcome", messages.outcome, outcomes, chosen: filter.outcome?.name ?? ""))\
      \(frame.serviceChoice(services, messages.all, chosen: filter.service))
      """
    return """
      \(frame.heading(messages.receipts))
      \(frame.filterForm("/receipts", filter, fields))
      <section class="card">\(frame.receiptTable(regions.place("receipts", "tbody", #" data-empty="\#(messages.noReceipts)""#)))</section>
      \(regions.place("pages"))
      """
  }
}
