// `move`: copies the database of a closed bank into a shared database, and prints the counted rows.
// Invariant: the counts are printed after the commit, so the rows exist.
// Errors: `CommandError`; exit code 5 if nothing was moved because of the state of the source or the target.
import Arguments
import Configuration
import Wire

/// Implementation of `bankctl move`.
enum MoveCommand {
  /// Moves the closed bank into the shared database of `--to`, and prints the counts.
  static func run(_ session: Session) throws(CommandError) {
    guard let given = session.invocation.text("to") else { throw .usage(session.messages.moveNeedsAddress) }
    guard let to = try session.environment.store(flag: given, session.messages, option: "--to") else {
      throw .usage(session.messages.moveNeedsAddress)
    }
    let file = try session.environment.configuration(flag: nil, home: session.home)
    let branch = file.flatMap { try? BankConfiguration.load(path: $0) }?.store.branch
    let coordinator = try CoordinatorClient.inspect(session)
    defer { coordinator.disconnect() }
    let answer = try coordinator.answer(
      to: .move(MoveParameters(address: to.address.description, branch: branch)), within: nil,
      TaskProgress(.move, session.messages, withProgress: true))
    guard case .moved(let report) = answer else { throw answer.unexpected }
    try session.show(.moved(report), or: lines(report, session))
  }

  /// The counted rows before and after the move, and what to do next.
  static func lines(_ report: MoveReport, _ session: Session) -> [String] {
    let messages = session.messages
    var table = TextTable([.left, .right, .right])
    table.addHeadings(["", messages.inHome, messages.inDatabase])
    for rows in report.rows where rows.before != 0 || rows.after != 0 {
      let numbers = [rows.before, rows.after].map { TextTable.Cell(MessageCatalog.grouped($0)) }
      table.add([.init(messages.movedRows(rows.name))] + numbers)
    }
    return [messages.moved(report)] + table.lines(session.output.palette, indent: 2, within: session.columns)
      + [messages.trialBalance(report.ledger.reduce(0) { $0 &+ $1.balance }), messages.afterMove(report)]
  }
}
