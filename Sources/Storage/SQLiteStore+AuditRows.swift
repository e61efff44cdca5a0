// Audit of customers, attempts and keys, row by row.
// Invariant: only counts are held in memory. An invalid value in a scanned row is a finding and does not end the
// audit.

import BankModel
import QueueCore

extension SQLiteStore {
  /// Checks the rows of all customers. Returns their numbers.
  func auditCustomers(day: BusinessDay, _ report: inout AuditRecord) throws(StoreError) -> CustomerCounts {
    var counts = CustomerCounts()
    let arriving = try readFirstUnissued() ?? .max
    try database.withStatement(
      "SELECT position, amount, account, \(CustomerAttempts.ended), due_ms FROM customer ORDER BY position",
      while: "reading all customers"
    ) { row throws(StoreError) in
      while try row.step() {
        let position = CustomerPosition(key: row.integer(0))
        guard let state = position.state, let line = lines[position.line] else {
          report.note(MessageDetail(.customerKeyInvalid, position.key))
          continue
        }
        if state != .dead, position.ticket >= arriving { continue }
        counts.count(state, line)
        if row.integer(1) < (line.service.movesMoney ? 1 : 0) || row.integer(2) < 0 {
          report.note(MessageDetail(.moneyInvalid, position.ticket))
        }
        if (row.optional(4) != nil) != (state == .delayed) {
          report.note(MessageDetail(.dueTimeWithoutDelay, position.ticket))
        }
        try requireAttempts(row.integer(3), day, position.ticket, nil, &report)
      }
    }
    report.count(counts)
    return counts
  }

  /// Adds a finding if the row of a ticket counts attempts and none is recorded. If any are recorded,
  /// ``auditAttempts(_:)`` compares their number.
  func requireAttempts(
    _ counted: Int64, _ day: BusinessDay, _ ticket: TicketNumber, _ outcome: Outcome?,
    _ report: inout AuditRecord
  ) throws(StoreError) {
    // The attempt that a cancellation has ended need not have a row.
    if counted == 0 || (counted == 1 && outcome == .cancelled) { return }
    if counted > 0, try hasAttempts(day, ticket) { return }
    report.note(MessageDetail(.attemptsUnrecorded, ticket, day, counted))
  }

  private func hasAttempts(_ day: BusinessDay, _ ticket: TicketNumber) throws(StoreError) -> Bool {
    statements.attempts.bindAll(day, ticket)
    defer { statements.attempts.reset() }
    return try statements.attempts.step()
  }

  /// Checks that attempts are numbered from 1 without gaps, and that their number matches the count in the
  /// ticket's row.
  func auditAttempts(_ report: inout AuditRecord) throws(StoreError) {
    let present = try database.number("SELECT max(day) FROM day", while: "looking for the current day")
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
          report.note(MessageDetail(.attemptOutOfOrder, ticket, day, row.integer(2), count))
        }
        if UInt8(exactly: row.integer(3)).flatMap(AttemptEnd.init(rawValue:)) == nil {
          report.note(MessageDetail(.attemptEndUnknown, ticket, day, row.integer(2)))
        }
      }
    }
    if count > 0 { try compareAttempts(count, day, ticket, isPresent: day == present, &report) }
  }

  /// Adds a finding if the row of a ticket contradicts the number of recorded attempts. `isPresent` is true on the
  /// current day.
  private func compareAttempts(
    _ recorded: Int64, _ day: BusinessDay, _ ticket: TicketNumber, isPresent: Bool,
    _ report: inout AuditRecord
  ) throws(StoreError) {
    let possible: ClosedRange<Int64>
    let counted: Int64
    if let receipt = try bareReceipt(day: day, ticket: ticket) {
      counted = Int64(receipt.attempts)
      // The last attempt of a served customer has no row, because the receipt records it. The attempt that a
      // cancellation has ended need not have one.
      possible = recorded + (receipt.outcome.isFinishedByWorker ? 1 : 0)...recorded + 1
    } else if isPresent, let found = try find(ticket) {
      counted = Int64(found.customer.attempts)
      possible = recorded...recorded
    } else {
      return report.note(MessageDetail(.attemptsWithoutTicket, ticket, day))
    }
    if !possible.contains(counted) {
      report.note(MessageDetail(.attemptsDiffer, ticket, day, counted, recorded))
    }
  }

  /// Adds a finding for each key whose tickets are not a range of issued tickets. The keys of an incomplete request
  /// are skipped.
  func auditKeys(_ report: inout AuditRecord) throws(StoreError) {
    try database.withStatement(
      """
      SELECT key.day, key.first, key.last FROM request_key AS key LEFT JOIN day ON day.day = key.day
      WHERE (day.day IS NULL OR key.first < 1 OR key.last < key.first OR key.last > day.issued)
        AND NOT (key.first >= \(try readFirstUnissued() ?? .max) AND key.day = (SELECT max(day) FROM day))
      """, while: "reading all keys"
    ) { row throws(StoreError) in
      while try row.step() {
        report.note(MessageDetail(.keyOfUnissuedRange, row.integer(1), row.integer(2), row.integer(0)))
      }
    }
  }
}
