// Elements of the record pages: filters, tables of customers and receipts, paging.
// Invariant: on a narrow screen each cell with a value shows the name of its column.
import BankModel

extension PageFrame {
  /// A column of a table: its name, and the class of its cells.
  typealias Column = (name: String, look: HTML)

  /// Head of a table with the names of its columns.
  private func head(_ columns: [Column]) -> HTML {
    let cells = columns.map { #"<th scope="col" class="\#($0.look)">\#($0.name)</th>"# as HTML }
    return "<thead><tr>\(cells)</tr></thead>"
  }

  /// A cell of a table. A narrow screen omits a cell without a value.
  func cell(_ name: String, _ value: HTML?, _ cssClass: HTML = "") -> HTML {
    guard let value else { return #"<td class="\#(cssClass) none">–</td>"# }
    return #"<td class="\#(cssClass)" data-name="\#(name)">\#(value)</td>"#
  }

  /// A form that requests the list with another filter.
  func filterForm(_ path: String, _ filter: RecordFilter, _ fields: HTML) -> HTML {
    let day: HTML? = filter.day.map { hidden("day", "\($0)") }
    return """
      <form method="get" action="\(path)" class="fields card" role="search" aria-label="\(messages.filter)">\(day)\(fields)\
      \(number("after", messages.afterNumber, value: filter.after > 0 ? filter.after : nil, in: 0...Int64.max, isRequired: false))\
      <button>\(messages.apply)</button></form>
      """
  }

  /// Links to the first and the next page of a list; `next` is the number after which the next one starts, nil on the
  /// last page.
  func paging(_ path: String, _ filter: RecordFilter, _ next: Int64?) -> HTML {
    let first: HTML? =
      filter.after > 0
      ? #"<a class="button" href="\#(path)\#(filter.from(0).query)">\#(messages.first)</a> "# : nil
    let following: HTML? = next.map {
      #"<a class="button" href="\#(path)\#(filter.from($0).query)" rel="next">\#(messages.next)</a>"#
    }
    guard first != nil || following != nil else { return "" }
    return #"<p class="row">\#(first)\#(following)</p>"#
  }

  /// Command for customers of a list: path of the form, text of the button for the selected customers, text of the
  /// button for all customers, and class of the buttons.
  typealias ListAction = (path: String, some: String, all: String, look: HTML)

  /// A list of customers with checkboxes, and commands for the selected ones or for all that match the filter.
  ///
  /// The buttons are in the form of the list, and each has its own action. The day of the rows is in a region that
  /// changes with them.
  func selection(_ regions: [Region], _ actions: [ListAction], _ columns: [Column]) -> HTML {
    let buttons = actions.map { action -> HTML in
      #"<button class="\#(action.look)" formaction="\#(action.path)"\#(disabledAttribute)>\#(action.some)</button>"#
    }
    let columns = [(messages.select, "check"), (messages.ticket, "")] + columns
    let table: HTML = """
      \(regions.place("day"))<div class="row">\(buttons)</div><div class="scroll-x"><table class="stack">\(head(columns))\
      \(regions.place("tickets", "tbody", #" data-empty="\#(messages.none)""#))</table></div>
      """
    return """
      <section class="card">\(form(actions.first?.path ?? "", attributes: " data-ask", table))\
      \(regions.place("wholes", "div", #" class="row""#))</section>
      """
  }

  /// The forms for all customers of a filter; none if the list is empty.
  func wholeListForms(_ actions: [ListAction], _ list: TicketList, in state: CustomerState?) -> HTML {
    guard list.total ?? Int64(list.rows.count) > 0 else { return "" }
    var filter = list.filter
    filter.state = state
    let fields = filterFields(filter) + [("all", "1"), ("day", "\(list.day)")]
    return "\(actions.map { form($0.path, fields, attributes: " data-ask", button($0.all)) })"
  }

  /// Hidden fields with the service, the state and the start of a filter.
  func filterFields(_ filter: RecordFilter) -> [(name: HTML, value: String)] {
    var fields: [(name: HTML, value: String)] = []
    if let service = filter.service { fields.append(("service", service.text)) }
    if let state = filter.state { fields.append(("state", state.name)) }
    if filter.after > 0 { fields.append(("after", "\(filter.after)")) }
    return fields
  }

  /// Columns of a table of customers without a receipt, to the right of the ticket number.
  var ticketColumns: [Column] {
    [
      (messages.state, ""), (messages.window, ""), (messages.business, "n"), (messages.attempts, "n"),
      (messages.issuedAt, ""),
    ]
  }

  /// Table row of a customer without a receipt.
  func ticketRow(_ row: TicketRow) -> HTML {
    let business: HTML? =
      row.amount > 0 ? "\(messages.won(row.amount))" : row.itemName.map { "\(messages.juice(ItemID($0)))" }
    return selectable(
      row,
      """
      \(cell(messages.state, #"<b class="badge \#(row.state.name)">\#(messages.stateLabel(row.state))</b>"#))\
      \(cell(messages.window, row.window.map { "\($0)" }))\(cell(messages.business, business, "n"))\
      \(cell(messages.attempts, row.attempts > 0 ? "\(row.attempts)" : nil, "n"))\(cell(messages.issuedAt, date(row.issuedAt), "whole"))
      """)
  }

  /// Columns of a table of dead letters, to the right of the ticket number.
  var deadColumns: [Column] { [(messages.reason, ""), (messages.attempts, "n"), (messages.issuedAt, "")] }

  /// Table row of a dead letter; the reason is the first cell after the ticket.
  func deadRow(_ row: TicketRow) -> HTML {
    let reason: HTML? = messages.phrases.reason(row.end, signal: row.signal, code: row.code).map {
      #"<b class="alarm">\#($0)</b>"#
    }
    let said: HTML? = row.reason.map { #" <small class="said-last" dir="auto">\#($0)</small>"# }
    return selectable(
      row,
      """
      \(cell(messages.reason, reason.map { "\($0)\(said)" }, "whole"))\
      \(cell(messages.attempts, "\(row.attempts)", "n"))\(cell(messages.issuedAt, date(row.issuedAt), "whole"))
      """)
  }

  /// Table row of a customer with a checkbox.
  private func selectable(_ row: TicketRow, _ cells: HTML) -> HTML {
    """
    <tr data-key="\(row.key)" data-ticket="\(row.ticket)" class="\(tint(row.service))">\
    <td class="check"><label><input type="checkbox" name="ticket" value="\(row.ticket)" \
    aria-label="\(messages.select): \(row.ticket)"\(disabledAttribute)></label></td>\
    <th scope="row">\(ticketLink(row.ticket, of: row.day, row.service, row.priority))</th>\(cells)</tr>
    """
  }

  /// Table of receipts around its rows.
  func receiptTable(_ rows: HTML) -> HTML {
    let columns: [Column] = [
      (messages.ticket, ""), (messages.outcome, ""), (messages.window, ""), (messages.amount, "n"),
      (messages.debit, ""),
      (messages.credit, ""), (messages.attempts, "n"), (messages.finished, ""),
    ]
    return #"<div class="scroll-x"><table class="stack">\#(head(columns))\#(rows)</table></div>"#
  }

  /// Table row of a receipt.
  func receiptRow(_ row: ReceiptRow) -> HTML {
    let cssClass: HTML = row.outcome == .served ? "good" : "alarm"
    return """
      <tr data-key="\(row.sequence)" class="\(tint(row.service))"><th scope="row">\
      \(ticketLink(row.ticket, of: row.day, row.service, row.priority))</th>\
      \(cell(messages.outcome, #"<b class="\#(cssClass)">\#(messages.phrases.outcome(row.outcome))</b>"#))\
      \(cell(messages.window, row.window.map { "\($0)" }))\
      \(cell(messages.amount, row.amount > 0 ? "\(messages.won(row.amount))" : nil, "n"))\
      \(cell(messages.debit, row.debit.map { "\(messages.phrases.ledgerAccount($0))" }))\
      \(cell(messages.credit, row.credit.map { "\(messages.phrases.ledgerAccount($0))" }))\
      \(cell(messages.attempts, row.attempts > 0 ? "\(row.attempts)" : nil, "n"))\(cell(messages.finished, date(row.finishedAt), "whole"))</tr>
      """
  }
}
