// Owns `ledger` and `account`: the sums of the branch's accounts, on an open bank and on a stopped home.
// Invariant: a trial balance that is not zero is exit code 1.
import Wire

enum LedgerCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let answer = try ask(.ledger, session)
    guard case .ledger(let rows) = answer else { throw answer.unexpected }
    let difference = rows.reduce(0) { $0 &+ $1.balance }
    let isEmpty = rows.allSatisfy { $0.transfers == 0 }
    if isEmpty, !session.asJSON { session.note(session.words.noEntries) }
    try session.show(.ledger(rows), or: lines(rows, session) + [session.words.trialBalance(difference)])
    return difference == 0 ? .done : .failed
  }

  static func account(_ session: Session) throws(CommandError) {
    let number = session.number("N")
    let answer = try ask(.account(number), session)
    guard case .account(let report) = answer else { throw answer.unexpected }
    // An account begins with its first business; one that was never used is no account of zero won.
    if report.row.transfers == 0, report.latest.isEmpty {
      throw .complaint("no_such_account", .notFound, session.words.noSuchAccount(number))
    }
    try session.show(
      .account(report),
      or: lines([report.row], session) + report.latest.flatMap { ReceiptsCommand.lines($0, session) })
  }

  private static func ask(_ question: ControlCommand, _ session: Session) throws(CommandError)
    -> ControlAnswer
  {
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      try coordinator.answer(to: question, within: nil, TaskProgress(.ledger, session.words))
    }
  }

  private static func lines(_ rows: [LedgerRow], _ session: Session) -> [String] {
    table(rows, session.words).lines(session.output.palette, within: session.columns)
  }

  static func table(_ rows: [LedgerRow], _ words: MessageCatalog) -> TextTable {
    var table = TextTable([.left, .right, .right, .right])
    table.addHeadings([MessageCatalog.Column.account, .debit, .credit, .balance].map(words.column))
    for row in rows {
      let sums = [row.debit, row.credit, row.balance].map { TextTable.Cell(MessageCatalog.grouped($0)) }
      table.add([.init(words.ledgerAccount(row.account))] + sums)
    }
    return table
  }
}
