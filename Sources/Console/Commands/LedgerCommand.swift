// Owns `ledger` and `account`: the sums of the branch's accounts, on an open bank and on a stopped home.
// Invariant: a trial balance that is not zero is exit code 1.
import Arguments
import ControlClient
import Wire

enum LedgerCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    var exit = ProgramExit.failed
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      try coordinator.ask(.ledger, within: nil, TaskProgress(.ledger, session.words)) {
        answer throws(CommandError) in
        guard case .ledger(let rows) = answer else { throw answer.unexpected }
        let difference = rows.reduce(0) { $0 &+ $1.balance }
        exit = difference == 0 ? .done : .failed
        let verdict = session.words.trialBalance(difference)
        let isEmpty = rows.allSatisfy { $0.transfers == 0 }
        if isEmpty, !session.asJSON { session.note(session.words.noEntries) }
        let lines = table(rows, session.words).lines(session.output.palette, within: session.columns)
        try session.show(.ledger(rows), or: lines + [verdict])
      }
    }
    return exit
  }

  static func table(_ rows: [LedgerRow], _ words: MessageCatalog) -> TextTable {
    var table = TextTable([.left, .right, .right, .right])
    table.addHeadings([MessageCatalog.Column.account, .debit, .credit, .balance].map(words.column))
    for row in rows {
      table.add([
        .init(words.ledgerAccount(row.account)), .init(MessageCatalog.grouped(row.debit)),
        .init(MessageCatalog.grouped(row.credit)), .init(MessageCatalog.grouped(row.balance)),
      ])
    }
    return table
  }
}

enum AccountCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let number = session.invocation.operands.integer("N") ?? 0
    try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      try coordinator.ask(.account(number), within: nil, TaskProgress(.ledger, session.words)) {
        answer throws(CommandError) in
        guard case .account(let report) = answer else { throw answer.unexpected }
        // An account begins with its first business; one that was never used is no account of zero won.
        if report.row.transfers == 0, report.latest.isEmpty {
          let message = session.words.noSuchAccount(number)
          throw .complaint(Complaint(code: "no_such_account", exit: .notFound, message: message))
        }
        let lines =
          LedgerCommand.table([report.row], session.words).lines(
            session.output.palette, within: session.columns)
          + report.latest.flatMap { ReceiptsCommand.lines($0, session) }
        try session.show(.account(report), or: lines)
      }
    }
    return .done
  }
}
