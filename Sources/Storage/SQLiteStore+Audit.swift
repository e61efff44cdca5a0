// Audit: comparison of the counters with the rows.
// Invariant: rows are streamed and counted. Only those of days and starts are collected, so memory does not grow with
// the queue. Damage is a finding. It ends at most its part of the audit, and only an error of the system ends the
// whole audit.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Checks every invariant of the committed data. See `QueueStore`.
  ///
  /// Nothing may be staged. The audit takes about one second per million rows.
  public func audit() throws(StoreError) -> StoreAudit {
    try settle()
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
    var report = AuditRecord(services: services)
    try find(into: &report) { report throws(StoreError) in try database.examine(into: &report.findings) }
    try find(into: &report) { report throws(StoreError) in
      let days = try readDays(&report)
      let receipts = try auditReceipts(days, &report)
      let customers = try auditCustomers(day: days.last?.books.day ?? 0, &report)
      compare(days, receipts, &report)
      comparePresent(days.last, receipts, customers, try keptDelayedByService(), &report)
      try auditTickets(days, &report)
    }
    try find(into: &report, auditAttempts)
    try find(into: &report, auditKeys)
    try find(into: &report, auditPayloads)
    try find(into: &report, auditResults)
    return report.finished()
  }

  /// Runs one part of the audit. If damage stops this part, it becomes a finding.
  private func find(
    into report: inout AuditRecord, _ part: (inout AuditRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) { try part(&report) } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      report.note(detail)
    }
  }

  /// Reads the rows of all days. They are few, and all other counts are compared with them.
  private func readDays(_ report: inout AuditRecord) throws(StoreError) -> [DayRow] {
    let days = try database.withStatement(
      "SELECT \(DayRow.columns) FROM day ORDER BY day", while: "reading the days"
    ) { row throws(StoreError) in try row.all { DayRow($0, lines, services) } }
    for (index, day) in days.enumerated() {
      let number = day.books.day
      report.audit.issued &+= day.books.issued
      if !day.isReadable { report.note(Remark(.booksImpossible, number)) }
      if number != Int64(index) + 1 { report.note(Remark(.dayOutOfPlace, number, index + 1)) }
      if day.isClosed == (index == days.count - 1) {
        report.note(Remark(day.isClosed ? .dayNotFollowed : .dayNotClosed, number))
      }
    }
    return days
  }

  private func compare(
    _ days: [DayRow], _ receipts: [BusinessDay: DayReceipts], _ report: inout AuditRecord
  ) {
    var first: Int64 = 1
    for day in days {
      let books = day.books
      let found = receipts[books.day] ?? DayReceipts()
      report.compare(.booksServed, ["\(books.day)"], books: books.served, rows: found.served)
      report.compare(.booksCancelled, ["\(books.day)"], books: books.cancelled, rows: found.cancelled)
      report.compare(.booksFirstReceipt, ["\(books.day)"], books: day.firstSequence, rows: first)
      first += found.count
      if day.isClosed, books.delayed != 0 || books.dead != 0 || books.waitingInAll != 0 {
        report.note(Remark(.dayClosedEarly, books.day))
      }
    }
  }

  private func comparePresent(
    _ day: DayRow?, _ receipts: [BusinessDay: DayReceipts], _ customers: CustomerCounts, _ delayed: [Int64]?,
    _ report: inout AuditRecord
  ) {
    guard let day else {
      if report.audit.waiting + report.audit.delayed + report.audit.dead > 0 { report.note(Remark(.noDay)) }
      return
    }
    report.compare(day.books, customers, receipts[day.books.day], delayed: delayed)
  }
}
