// Owns the part of the audit that looks at rows one by one: receipts and their money, customers, attempts, keys.
// It knows no books. Invariant: each table is read once, in the order of its key, and nothing of it is kept but
// counts. A value that means nothing is a finding, not an end.

import BankModel
import QueueCore

extension SQLiteStore {
  func auditReceipts(
    _ days: [DayRow], _ report: inout AuditReport
  ) throws(StoreError) -> [BusinessDay: DayReceipts] {
    var walk = ReceiptWalk(last: days.last?.books.day ?? 0)
    var expected: Int64 = 1
    try database.withStatement(
      """
      SELECT sequence, day, ticket, service, grade, outcome, attempts, amount, account, debit, credit
      FROM receipt ORDER BY sequence
      """, while: "reading all receipts"
    ) { row throws(StoreError) in
      while try row.step() {
        let (sequence, day, ticket) = (row.integer(0), row.integer(1), row.integer(2))
        if sequence != expected { report.note(Remark(.receiptMissing, expected, sequence)) }
        expected = sequence &+ 1
        guard let outcome = UInt8(exactly: row.integer(5)).flatMap(Outcome.init(rawValue:)),
          let line = try? line(service: row.integer(3), priority: row.integer(4))
        else {
          report.note(Remark(.receiptMeaningless, sequence))
          continue
        }
        let money = ReceiptMoney(
          sequence: sequence, service: line.service, outcome: outcome, amount: row.integer(7),
          account: row.integer(8), debit: row.optional(9), credit: row.optional(10))
        guard walk.visit(day, ticket, money, &report) else { continue }
        try requireAttempts(row.integer(6) - (outcome.isAttended ? 1 : 0), day, ticket, outcome, &report)
      }
    }
    return walk.counts
  }

  /// Reads all receipts once more, by number: whether customers were begun in the order of their lines.
  func auditOrder(_ days: [DayRow], _ report: inout AuditReport) throws(StoreError) {
    let starts = try database.withStatement(
      "SELECT value FROM meta WHERE name LIKE '\(Self.receiptsBefore)%'", while: "reading the starts"
    ) { row throws(StoreError) in try row.all { $0.integer(0) } }
    var walk = OrderWalk(
      starts: starts, disordered: DisorderedDays.among(days.map { ($0.books.day, $0.books.clockSteps) }))
    let isAnybodyLater =
      try database.number("SELECT 1 FROM later LIMIT 1", while: "looking for orders") != nil
    let due =
      isAnybodyLater
      ? "(SELECT due_ms FROM later WHERE later.day = receipt.day AND later.ticket = receipt.ticket)" : "NULL"
    try database.withStatement(
      """
      SELECT day, ticket, service, grade, attempts, started_ms, sequence, \(due) FROM receipt
      WHERE outcome = 1 AND started_ms IS NOT NULL ORDER BY day, ticket
      """, while: "reading all receipts by number"
    ) { row throws(StoreError) in
      while try row.step() {
        // What means nothing was noted before.
        guard let line = try? line(service: row.integer(2), priority: row.integer(3)) else { continue }
        walk.visit(
          row.integer(0), row.integer(1), line, receipt: row.integer(6), attempts: row.integer(4),
          startedAt: row.integer(5), isLater: row.optional(7) != nil, &report)
      }
    }
  }

  func auditCustomers(day: BusinessDay, _ report: inout AuditReport) throws(StoreError) -> CustomerCounts {
    var counts = CustomerCounts()
    let arriving = try readArrivals() ?? .max
    try database.withStatement(
      "SELECT position, amount, account, \(CustomerAttempts.ended), due_ms FROM customer ORDER BY position",
      while: "reading all customers"
    ) { row throws(StoreError) in
      while try row.step() {
        let position = CustomerPosition(key: row.integer(0))
        guard let state = position.state, let line = lines[position.line] else {
          report.note(Remark(.customerMeaningless, position.key))
          continue
        }
        if state != .dead, position.ticket >= arriving { continue }
        counts.count(state, line)
        if row.integer(1) < (line.service.movesMoney ? 1 : 0) || row.integer(2) < 0 {
          report.note(Remark(.impossibleMoney, position.ticket))
        }
        if (row.optional(4) != nil) != (state == .delayed) {
          report.note(Remark(.momentWithoutDelay, position.ticket))
        }
        try requireAttempts(row.integer(3), day, position.ticket, nil, &report)
      }
    }
    report.count(counts)
    return counts
  }

  /// Notes a ticket that counts attempts of which none is recorded; the others are held against their records by
  /// ``auditAttempts(_:)``.
  private func requireAttempts(
    _ counted: Int64, _ day: BusinessDay, _ ticket: TicketNumber, _ outcome: Outcome?,
    _ report: inout AuditReport
  ) throws(StoreError) {
    // Who is cancelled at a window has one attempt that ended with the cancellation.
    if counted == 0 || (counted == 1 && outcome == .cancelled) { return }
    if counted > 0, try hasAttempts(day, ticket) { return }
    report.note(Remark(.attemptsUnrecorded, ticket, day, counted))
  }

  private func hasAttempts(_ day: BusinessDay, _ ticket: TicketNumber) throws(StoreError) -> Bool {
    statements.attempts.bindAll(day, ticket)
    defer { statements.attempts.reset() }
    return try statements.attempts.step()
  }

  /// Reads all attempts: numbered from 1 without a gap, and as many as the ticket says.
  func auditAttempts(_ report: inout AuditReport) throws(StoreError) {
    let present = try database.number("SELECT max(day) FROM day", while: "looking for the present day")
    var (day, ticket, count): (BusinessDay, TicketNumber, Int64) = (0, 0, 0)
    try database.withStatement(
      "SELECT day, ticket, number, ending FROM attempt ORDER BY day, ticket, number",
      while: "reading all attempts"
    ) { row throws(StoreError) in
      while try row.step() {
        if row.integer(0) != day || row.integer(1) != ticket {
          if count > 0 { try compareAttempts(count, day, ticket, isPresent: day == present, &report) }
          (day, ticket, count) = (row.integer(0), row.integer(1), 0)
        }
        count += 1
        if row.integer(2) != count {
          report.note(Remark(.attemptOutOfPlace, ticket, day, row.integer(2), count))
        }
        if UInt8(exactly: row.integer(3)).flatMap(AttemptEnd.init(rawValue:)) == nil {
          report.note(Remark(.attemptEndUnknown, ticket, day, row.integer(2)))
        }
      }
    }
    if count > 0 { try compareAttempts(count, day, ticket, isPresent: day == present, &report) }
  }

  private func compareAttempts(
    _ recorded: Int64, _ day: BusinessDay, _ ticket: TicketNumber, isPresent: Bool,
    _ report: inout AuditReport
  ) throws(StoreError) {
    let possible: ClosedRange<Int64>
    let counted: Int64
    if let receipt = try bareReceipt(day: day, ticket: ticket) {
      counted = Int64(receipt.attempts)
      // The last attempt of who is served is the receipt; who is cancelled may have been at a window or not.
      possible = recorded + (receipt.outcome.isAttended ? 1 : 0)...recorded + 1
    } else if isPresent, let found = try find(ticket) {
      counted = Int64(found.customer.attempts)
      possible = recorded...recorded
    } else {
      return report.note(Remark(.attemptsOfNobody, ticket, day))
    }
    if !possible.contains(counted) { report.note(Remark(.attemptsDiffer, ticket, day, counted, recorded)) }
  }

  /// Looks for keys that stand for tickets that were never issued.
  func auditKeys(_ report: inout AuditReport) throws(StoreError) {
    try database.withStatement(
      """
      SELECT key.day, key.first, key.last FROM request_key AS key LEFT JOIN day ON day.day = key.day
      WHERE (day.day IS NULL OR key.first < 1 OR key.last < key.first OR key.last > day.issued)
        AND NOT (key.first >= \(try readArrivals() ?? .max) AND key.day = (SELECT max(day) FROM day))
      """, while: "reading all keys"
    ) { row throws(StoreError) in
      while try row.step() {
        report.note(Remark(.keyOfTicketsOfNobody, row.integer(1), row.integer(2), row.integer(0)))
      }
    }
  }
}
