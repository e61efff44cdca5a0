// `ledger`, `account` and `audit`: the sums of the bank's accounts, and the check of all verifiable
// guarantees. The commands work on an open bank and on the home of a closed bank.
// Invariant: the exit code is not 0 if a check fails, for example if the trial balance is not zero.
import Wire

/// Implementations of `bankctl ledger` and `bankctl account`.
enum LedgerCommand {
  /// Prints the sums of all accounts and the trial balance. Returns 1 if the trial balance is not zero.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let answer = try ask(.ledger, session)
    guard case .ledger(let rows) = answer else { throw answer.unexpected }
    let difference = rows.reduce(0) { $0 &+ $1.balance }
    let isEmpty = rows.allSatisfy { $0.transfers == 0 }
    if isEmpty, !session.asJSON { session.note(session.messages.noEntries) }
    try session.show(.ledger(rows), or: lines(rows, session) + [session.messages.trialBalance(difference)])
    return difference == 0 ? .done : .failed
  }

  /// Prints one account with its latest transfers.
  static func account(_ session: Session) throws(CommandError) {
    let number = session.number("N")
    let answer = try ask(.account(number), session)
    guard case .account(let report) = answer else { throw answer.unexpected }
    // An account without transfers is reported as missing, not as a balance of zero won.
    if report.row.transfers == 0, report.latest.isEmpty {
      throw .commandFailure(.noSuchAccount, session.messages.noSuchAccount(number))
    }
    try session.show(
      .account(report),
      or: lines([report.row], session) + report.latest.flatMap { ReceiptsCommand.lines($0, session) })
  }

  /// Sends a question about the ledger to the open bank, or to an inspector of the closed one, and returns the answer
  /// without a timeout.
  private static func ask(_ question: ControlCommand, _ session: Session) throws(CommandError)
    -> ControlAnswer
  {
    try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
      try coordinator.answer(to: question, within: nil, TaskProgress(.ledger, session.messages))
    }
  }

  /// The accounts as the lines of a table.
  private static func lines(_ rows: [LedgerRow], _ session: Session) -> [String] {
    table(rows, session.messages).lines(session.output.palette, within: session.columns)
  }

  /// The accounts as a table: name, debit, credit, balance.
  static func table(_ rows: [LedgerRow], _ messages: MessageCatalog) -> TextTable {
    var table = TextTable([.left, .right, .right, .right])
    table.addHeadings([MessageCatalog.Column.account, .debit, .credit, .balance].map(messages.column))
    for row in rows {
      let sums = [row.debit, row.credit, row.balance].map { TextTable.Cell(MessageCatalog.grouped($0)) }
      table.add([.init(messages.ledgerAccount(row.account))] + sums)
    }
    return table
  }
}

/// Implementation of `bankctl audit`.
enum AuditCommand {
  /// Prints the result of an audit. Returns 1 if a check fails.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let answer = try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
      // The duration of an audit grows with the database, so the wait has no timeout.
      try coordinator.answer(to: .audit, within: nil, TaskProgress(.audit, session.messages))
    }
    guard case .audit(let report) = answer else { throw answer.unexpected }
    try session.show(
      .audit(report), or: lines(report, session.messages, session.output.palette, within: session.columns))
    return report.isClean ? .done : .failed
  }

  /// The result of an audit as text: verdict, numbers, problems, notes.
  static func lines(
    _ report: AuditReport, _ messages: MessageCatalog, _ palette: Palette, within columns: Int? = nil
  ) -> [String] {
    var table = TextTable([.left, .right])
    let numbers: [(MessageCatalog.Column, Int64)] = [
      (.issued, report.issued), (.served, report.served), (.cancelled, report.cancelled),
      (.waiting, report.waiting), (.delayed, report.delayed), (.dead, report.dead),
    ]
    for (column, number) in numbers {
      table.add([.init(messages.column(column)), .init(MessageCatalog.grouped(number))])
    }
    var checks = [
      (messages.lost, report.lost), (messages.duplicated, report.duplicated),
      (messages.ledgerDifference, report.ledgerDifference),
    ]
    if let stock = report.stockDifference { checks.append((messages.stockDifference, stock)) }
    if let money = report.moneyDifference { checks.append((messages.moneyDifference, money)) }
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm)])
    }
    let verdict = report.isClean ? messages.clean : palette.paint(messages.broken, .alarm)
    return [verdict] + table.lines(palette, indent: 2, within: columns)
      + messages.findings(report.problems, report.messageDetails).map { palette.paint("- \($0)", .alarm) }
      + messages.findings(report.notes ?? [], report.noteDetails).map { "- \($0)" }
  }
}
