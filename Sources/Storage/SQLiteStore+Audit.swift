// Owns the audit: what the books promise against what the rows say. It changes nothing. Invariant: rows are
// streamed and counted, never collected, so memory is bounded however long the queue or the history is. A page that
// cannot be read is a finding like any other; only a system that refuses ends an audit early.

import BankModel
import QueueCore
import Time

/// What the books say of one day.
struct DayRow {
  var day: BusinessDay
  var isClosed: Bool
  var firstSequence, issued, served, cancelled, delayed, dead: Int64
  /// What is counted by line and by service, 0 in a closed day, and the steps of the clock.
  var counted: Books
}

/// What the receipts say of one day.
struct DayReceipts {
  var served: Int64 = 0
  var cancelled: Int64 = 0
  var lowest = TicketNumber.max
  var highest = TicketNumber.min
  var servedByService = [Int64](repeating: 0, count: Service.allCases.count)

  /// All receipts of the day.
  var count: Int64 { served + cancelled }
}

/// What the rows of customers say.
struct CustomerCounts {
  var waiting = [Int64](repeating: 0, count: Line.allCases.count)
  var delayed: Int64 = 0
  var dead: Int64 = 0
}

extension SQLiteStore {
  /// Checks everything that can be checked from what is kept and committed. See `QueueStore`.
  ///
  /// Nothing may be staged. Takes about a second a million rows.
  public func audit() throws(StoreError) -> StoreAudit {
    try settle()
    precondition(!hasStagedChanges, "An audit looks at what is committed: commit or roll back first.")
    var report = AuditReport()
    try find(into: &report) { report throws(StoreError) in
      try database.examine(into: &report.findings)
    }
    try find(into: &report) { report throws(StoreError) in
      let days = try readDays(&report)
      let receipts = try auditReceipts(days, &report)
      let customers = try auditCustomers(day: days.last?.day ?? 0, &report)
      try compare(days, receipts, &report)
      try comparePresent(days.last, receipts, customers, &report)
      try auditOrder(days, &report)
    }
    try find(into: &report, auditAttempts)
    try find(into: &report, auditKeys)
    return report.finished()
  }

  /// Runs one part of the audit; damage that stops it becomes a finding.
  private func find(
    into report: inout AuditReport, _ part: (inout AuditReport) throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) { try part(&report) } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      report.note(detail)
    }
  }

  // MARK: Days

  /// The rows of all days: a row a day is little, and every other count is held against them.
  private func readDays(_ report: inout AuditReport) throws(StoreError) -> [DayRow] {
    let days = try database.withStatement(
      """
      SELECT day, closed_ms, first_sequence, issued, served, cancelled, delayed, dead, \(BookColumns.list)
      FROM day ORDER BY day
      """, while: "reading the days"
    ) { row throws(StoreError) in
      var days: [DayRow] = []
      while try row.step() {
        var counted = Books(day: row.integer(0), openedAt: WallTime(milliseconds: 0))
        BookColumns.read(row, from: 8, into: &counted)
        days.append(
          DayRow(
            day: row.integer(0), isClosed: row.optional(1) != nil, firstSequence: row.integer(2),
            issued: row.integer(3), served: row.integer(4), cancelled: row.integer(5),
            delayed: row.integer(6),
            dead: row.integer(7), counted: counted))
      }
      return days
    }
    for (index, day) in days.enumerated() {
      report.audit.issued &+= day.issued
      if day.day != Int64(index) + 1 { report.note(Remark(.dayOutOfPlace, day.day, index + 1)) }
      if day.isClosed == (index == days.count - 1) {
        report.note(Remark(day.isClosed ? .dayNotFollowed : .dayNotClosed, day.day))
      }
    }
    return days
  }

  /// Holds the books of each day against its receipts.
  private func compare(
    _ days: [DayRow], _ receipts: [BusinessDay: DayReceipts], _ report: inout AuditReport
  ) throws(StoreError) {
    var first: Int64 = 1
    for day in days {
      let found = receipts[day.day] ?? DayReceipts()
      report.compare(.booksServed, ["\(day.day)"], books: day.served, rows: found.served)
      report.compare(.booksCancelled, ["\(day.day)"], books: day.cancelled, rows: found.cancelled)
      report.compare(.booksFirstReceipt, ["\(day.day)"], books: day.firstSequence, rows: first)
      first += found.count
      guard day.isClosed else { continue }
      if day.delayed != 0 || day.dead != 0 || day.counted.waitingInAll != 0 {
        report.note(Remark(.dayClosedEarly, day.day))
      }
      // The database keeps receipts of one ticket apart, so these three numbers say that nobody is missing.
      let isComplete =
        found.count == day.issued && (found.count == 0 || (found.lowest == 1 && found.highest == day.issued))
      if !isComplete { try walk(day, with: "", &report) }
    }
  }

  /// Holds the books of the present day against customers and receipts.
  private func comparePresent(
    _ day: DayRow?, _ receipts: [BusinessDay: DayReceipts], _ customers: CustomerCounts,
    _ report: inout AuditReport
  ) throws(StoreError) {
    guard let day else {
      if report.audit.waiting + report.audit.delayed + report.audit.dead > 0 {
        report.note(Remark(.noDay))
      }
      return
    }
    // Whoever came with a request that is not whole has no ticket.
    let arriving = try readArrivals() ?? .max
    if !day.isClosed {
      try walk(day, with: "UNION ALL SELECT ticket FROM customer WHERE ticket < \(arriving)", &report)
    }
    report.compare(.booksDelayed, books: day.delayed, rows: customers.delayed)
    report.compare(.booksDead, books: day.dead, rows: customers.dead)
    let served = receipts[day.day]?.servedByService ?? DayReceipts().servedByService
    for (line, waiting) in zip(Line.allCases, customers.waiting) {
      report.compare(
        .booksWaiting, [line.service.name, line.grade.name], books: day.counted.waiting[line.index],
        rows: waiting)
    }
    for (service, rows) in zip(Service.allCases, served) {
      let books = day.counted.servedByService[Int(service.rawValue) - 1]
      report.compare(.booksOfService, [service.name], books: books, rows: rows)
    }
  }

  /// Finds the tickets of a day that are missing or too many, and names them.
  private func walk(
    _ day: DayRow, with others: String, _ report: inout AuditReport
  ) throws(StoreError) {
    var walk = TicketWalk(day: day.day, issued: day.issued)
    try database.withStatement(
      "SELECT ticket FROM receipt WHERE day = ?1 \(others) ORDER BY ticket", while: "counting tickets"
    ) { row throws(StoreError) in
      row.bind(1, day.day)
      while try row.step() { walk.visit(row.integer(0), &report) }
    }
    walk.end(&report)
  }
}
