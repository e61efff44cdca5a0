// `receipts`: the receipts of customers in commit order, and with `--follow` also later ones.
// Invariant: a follower prints a receipt once, also after a restart of the coordinator.
import Arguments
import BankModel
import Posix
import Wire

/// Implementation of `bankctl receipts`.
enum ReceiptsCommand {
  /// Prints the selected receipts, and with `--follow` also later ones.
  static func run(_ session: Session) throws(CommandError) {
    let days: ReceiptQuery.Days =
      if let day = session.invocation.integer("day") {
        .day(day)
      } else {
        session.invocation.text("day") == "all" ? .all : .present
      }
    if session.output.isTerminal, !session.asJSON, !isNarrow(session) {
      try session.output.line(session.output.palette.paint(heading(session.messages), .quiet))
    }
    if session.invocation.flag("follow") { return try follow(days, session) }
    var query = ReceiptQuery(
      days: days, follow: false, service: try chosenService(session),
      limit: session.invocation.integer("limit"))
    var count: Int64 = 0
    let meter = ProgressMeter(messages: session.messages)
    defer { meter.finish() }
    try CoordinatorClient.withReadableBank(session, resumes: true) { coordinator throws(CommandError) in
      guard query.limit != 0 else { return }
      let task = TaskProgress(.receipts, session.messages, meter)
      try coordinator.ask(.receipts(query), task) { answer throws(CommandError) in
        for receipt in try answer.receipts {
          try show(receipt, session)
          count += 1
          query.limit = query.limit.map { $0 - 1 }
          // After a reconnect, continue after this receipt and stay on this day.
          query.after = receipt.sequence
          if query.days == .present { query.days = .day(receipt.day) }
        }
        // On a terminal the rows themselves show the progress.
        if !session.output.isTerminal { task.count(count) }
      }
    }
    try session.output.flush()
    if count == 0, !session.asJSON { session.note(session.messages.noReceipts) }
  }

  /// Prints receipts as they are committed, until the bank closes.
  private static func follow(_ days: ReceiptQuery.Days, _ session: Session) throws(CommandError) {
    var query = ReceiptQuery(days: days, follow: true, service: try chosenService(session))
    try session.output.flush()
    /// Prints the receipts in an answer, and changes the query so that a repetition after a reconnect returns only
    /// later ones.
    func handle(_ answer: ControlAnswer) throws(CommandError) {
      for receipt in try answer.receipts {
        try show(receipt, session)
        query.advance(past: receipt)
        // The present day may change before the connection is lost. The position in the commit order stays
        // valid.
        if receipt.mark == nil, query.days == .present { query.days = .all }
      }
      try session.output.flush()
    }
    do throws(CommandError) {
      try CoordinatorClient.follow(session, .receipts(query), handle)
    } catch {
      // If the bank has closed, read the receipts that this and other branches have committed since the last printed
      // one.
      guard case .control = error, query.positions != nil else { throw error }
      try CoordinatorClient.withReadableBank(session, resumes: true) { coordinator throws(CommandError) in
        guard coordinator.isInspector else { return }
        try coordinator.ask(.receipts(query), nil, handle)
      }
      throw error
    }
  }

  /// The service of `--service`; nil for all.
  private static func chosenService(_ session: Session) throws(CommandError) -> ServiceName? {
    guard let name = session.invocation.text("service") else { return nil }
    return try session.service(named: name)
  }

  /// Prints one receipt as a row, a record or JSON.
  private static func show(_ receipt: ReceiptReport, _ session: Session) throws(CommandError) {
    if session.asJSON {
      try session.output.line(.receipt(receipt))
    } else {
      for line in lines(receipt, session) { try session.output.line(line) }
    }
  }

  /// Column widths for typical values. A wider cell shifts the cells after it and is not truncated.
  private static let widths = [4, 7, 9, 8, 10, 12, 17]

  /// Minimum width of a terminal for rows. On a narrower terminal a receipt is printed as a record, in which the
  /// cells have their headings.
  private static let narrow = 80

  /// True if the terminal is too narrow for rows.
  private static func isNarrow(_ session: Session) -> Bool { session.columns.map { $0 < narrow } ?? false }

  /// The headings of all cells.
  private static func headings(_ messages: MessageCatalog) -> [String] {
    let columns: [MessageCatalog.Column] = [
      .day, .ticket, .service, .grade, .outcome, .window, .amount, .finished,
    ]
    return columns.map(messages.column)
  }

  /// The line with the headings, above the rows.
  private static func heading(_ messages: MessageCatalog) -> String { row(headings(messages)) }

  /// One receipt as a row, or as a record on a narrow terminal.
  static func lines(_ receipt: ReceiptReport, _ session: Session) -> [String] {
    let (messages, palette) = (session.messages, session.output.palette)
    guard isNarrow(session), let columns = session.columns else { return [line(receipt, messages, palette)] }
    let role: Palette.Role? = receipt.service == .loan ? .loan : nil
    var cells = cells(of: receipt, messages).map { TextTable.Cell($0, role) }
    cells[0].text = messages.day(receipt.day)
    return TextTable.record(cells, headings(messages), palette, columns: columns)
  }

  /// One receipt as a row.
  static func line(_ receipt: ReceiptReport, _ messages: MessageCatalog, _ palette: Palette) -> String {
    palette.paint(row(cells(of: receipt, messages)), of: receipt.service)
  }

  /// The cells of a receipt, in the order of the headings.
  private static func cells(of receipt: ReceiptReport, _ messages: MessageCatalog) -> [String] {
    [
      String(receipt.day), String(receipt.ticket), messages.phrases.service(receipt.service),
      messages.grade(receipt.priority), messages.outcome(receipt.outcome), receipt.window ?? "-",
      messages.business(receipt.service, receipt.amount, receipt.itemName),
      Timestamp.utc(milliseconds: receipt.finishedAt)
        + (receipt.branch.map { "  " + messages.branch($0) } ?? ""),
    ]
  }

  /// Cells in one line, padded to the widths of the columns.
  private static func row(_ cells: [String]) -> String {
    var text = ""
    for (cell, width) in zip(cells, widths) { text += DisplayWidth.padded(cell, to: width) + " " }
    return text + (cells.last ?? "")
  }
}
