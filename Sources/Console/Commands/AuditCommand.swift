// Owns `audit`: whether every promise that can be checked is kept, on an open bank and on a stopped home.
// Invariant: the exit code says no whenever anything is not as promised.
import Wire

enum AuditCommand {
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let answer = try CoordinatorClient.consult(session) { coordinator throws(CommandError) in
      // Every row is counted, so a large home takes its time.
      try coordinator.answer(to: .audit, within: nil, TaskProgress(.audit, session.words))
    }
    guard case .audit(let report) = answer else { throw answer.unexpected }
    try session.show(
      .audit(report), or: lines(report, session.words, session.output.palette, within: session.columns))
    return report.isClean ? .done : .failed
  }

  static func lines(
    _ report: AuditReport, _ words: MessageCatalog, _ palette: Palette, within columns: Int? = nil
  ) -> [String] {
    var table = TextTable([.left, .right])
    let numbers: [(MessageCatalog.Column, Int64)] = [
      (.issued, report.issued), (.served, report.served), (.cancelled, report.cancelled),
      (.waiting, report.waiting), (.delayed, report.delayed), (.dead, report.dead),
    ]
    for (column, number) in numbers {
      table.add([.init(words.column(column)), .init(MessageCatalog.grouped(number))])
    }
    var checks = [
      (words.lost, report.lost), (words.duplicated, report.duplicated),
      (words.ledgerDifference, report.ledgerDifference),
    ]
    if let stock = report.stockDifference { checks.append((words.stockDifference, stock)) }
    if let money = report.moneyDifference { checks.append((words.moneyDifference, money)) }
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm)])
    }
    let verdict = report.isClean ? words.clean : palette.paint(words.broken, .alarm)
    return [verdict] + table.lines(palette, indent: 2, within: columns)
      + words.findings(report.problems, report.remarks).map { palette.paint("- \($0)", .alarm) }
      + words.findings(report.notes ?? [], report.noteRemarks).map { "- \($0)" }
  }
}
