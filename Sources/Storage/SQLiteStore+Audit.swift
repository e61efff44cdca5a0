// Audit: comparison of the counters with the rows.
// Invariant: rows are streamed and counted, so memory does not grow with the queue. Damage is a finding, and ends
// at most its part of the audit.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Checks the invariants of the committed data. Nothing may be staged. See `QueueReader`.
  public func audit() throws(StoreError) -> StoreAudit {
    try settle()
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
    var report = AuditRecord(services: services)
    try find(into: &report) { report throws(StoreError) in try database.examine(into: &report.findings) }
    try find(into: &report) { report throws(StoreError) in
      let days = try readDays(&report)
      let receipts = try auditReceipts(days, &report)
      let customers = try auditCustomers(day: days.last?.dayCounters.day ?? 0, &report)
      compare(days, receipts, &report)
      comparePresent(days.last, receipts, customers, try storedDelayedByService(), &report)
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

  /// Reads the rows of all days.
  private func readDays(_ report: inout AuditRecord) throws(StoreError) -> [DayRow] {
    let days = try database.withStatement(
      "SELECT \(DayRow.columns) FROM day ORDER BY day", while: "reading the days"
    ) { row throws(StoreError) in try row.all { DayRow($0, lines, services) } }
    for (index, day) in days.enumerated() {
      let number = day.dayCounters.day
      report.audit.issued &+= day.dayCounters.issued
      if !day.isReadable { report.note(MessageDetail(.dayCountersInvalid, number)) }
      if number != Int64(index) + 1 { report.note(MessageDetail(.dayOutOfOrder, number, index + 1)) }
      if day.isClosed == (index == days.count - 1) {
        report.note(MessageDetail(day.isClosed ? .nextDayMissing : .dayNotClosed, number))
      }
    }
    return days
  }

  /// Compares the counters of each day with the receipts of the day.
  private func compare(
    _ days: [DayRow], _ receipts: [BusinessDay: DayReceipts], _ report: inout AuditRecord
  ) {
    var first: Int64 = 1
    for day in days {
      let dayCounters = day.dayCounters
      let found = receipts[dayCounters.day] ?? DayReceipts()
      report.compare(
        .servedCountDiffers, ["\(dayCounters.day)"], bankID: dayCounters.served, rows: found.served)
      report.compare(
        .cancelledCountDiffers, ["\(dayCounters.day)"], bankID: dayCounters.cancelled, rows: found.cancelled)
      report.compare(.firstReceiptDiffers, ["\(dayCounters.day)"], bankID: day.firstSequence, rows: first)
      first += found.count
      if day.isClosed, dayCounters.delayed != 0 || dayCounters.dead != 0 || dayCounters.waitingInAll != 0 {
        report.note(MessageDetail(.dayClosedEarly, dayCounters.day))
      }
    }
  }

  /// Compares the counters of the current day with the stored customers and the receipts.
  private func comparePresent(
    _ day: DayRow?, _ receipts: [BusinessDay: DayReceipts], _ customers: CustomerCounts, _ delayed: [Int64]?,
    _ report: inout AuditRecord
  ) {
    guard let day else {
      if report.audit.waiting + report.audit.delayed + report.audit.dead > 0 {
        report.note(MessageDetail(.customersWithoutDay))
      }
      return
    }
    report.compare(day.dayCounters, customers, receipts[day.dayCounters.day], delayed: delayed)
  }
}
