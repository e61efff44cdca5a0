// Export of days, idempotency keys and attempts, row by row, and the number of rows of every kind.
// Invariant: one row is in memory at a time. An invalid attempt throws `.damaged`.

import BankModel
import QueueCore
import Time

extension SQLiteStore: QueueExport {
  /// Calls `body` with each business day, in order.
  public func eachDay(_ body: (ExportedDay) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      "SELECT day, opened_ms, closed_ms, issued FROM day ORDER BY day", while: "reading the days"
    ) { row throws(StoreError) in
      while try row.step() {
        try body(
          ExportedDay(
            day: row.integer(0), openedAt: WallTime(milliseconds: row.integer(1)),
            closedAt: row.optional(2).map(WallTime.init(milliseconds:)), issued: row.integer(3)))
      }
    }
  }

  /// Calls `body` with each idempotency key, except those of an incomplete request, by day and ticket.
  public func eachKey(_ body: (ExportedKey) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      "SELECT key, day, first, last, request_digest FROM request_key WHERE \(hasTickets) ORDER BY day, first",
      while: "reading the keys"
    ) { row throws(StoreError) in
      while try row.step() {
        let tickets = IssuedTickets(day: row.integer(1), first: row.integer(2), last: row.integer(3))
        try body(
          ExportedKey(key: row.text(0), request: KeyedRequest(tickets: tickets, request: row.optional(4))))
      }
    }
  }

  /// SQL condition that excludes the keys of an incomplete request, which has no tickets yet.
  private var hasTickets: String {
    hasUnissuedCustomers
      ? "day < (SELECT max(day) FROM day) OR first < \(unissued.bound)" : "true"
  }

  /// Calls `body` with each attempt, by day, ticket and number of the attempt.
  public func eachAttempt(_ body: (Attempt) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      """
      SELECT day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code,
        exit_signal, reason,
        EXISTS (SELECT 1 FROM meta WHERE name = 'dead ' || day || ' ' || ticket || ' ' || number)
      FROM attempt ORDER BY day, ticket, number
      """, while: "reading the attempts"
    ) { row throws(StoreError) in
      while try row.step() {
        var attempt = try attempt(row)
        attempt.isFatal = row.integer(13) == 1
        try body(attempt)
      }
    }
  }

  /// Counts the rows of every kind, without those of an incomplete request.
  public func countRows() throws(StoreError) -> ExportedRows {
    try settle()
    var rows = ExportedRows()
    let questions: [(ExportedRows.Kind, String)] = [
      (.days, "SELECT count(*) FROM day"), (.tickets, "SELECT total(issued) FROM day"),
      (.receipts, "SELECT total(json_array_length(entries)) FROM receipt_page"),
      (.results, "SELECT count(*) FROM result"),
      (.shortages, "SELECT count(DISTINCT day << 40 | ticket) FROM shortage"),
      (.attempts, "SELECT count(*) FROM attempt"),
      (.keys, "SELECT count(*) FROM request_key WHERE \(hasTickets)"),
      (.payloads, "SELECT count(*) FROM payload WHERE ticket < \(unissued.bound)"),
    ]
    for (kind, question) in questions {
      rows[kind] = try database.number(question, while: "counting the rows") ?? 0
    }
    let states: [(ExportedRows.Kind, CustomerState)] = [
      (.waiting, .waiting), (.delayed, .delayed), (.dead, .dead),
    ]
    for (kind, state) in states {
      let keys = CustomerPosition.keys(of: state)
      rows[kind] =
        try database.number(
          """
          SELECT count(*) FROM customer WHERE position BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
            AND ticket < \(unissued.bound)
          """, while: "counting the rows") ?? 0
    }
    return rows
  }
}
