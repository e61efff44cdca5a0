// Owns what is told of a whole database to whoever carries it to another place: row after row, as it lies there.
// Invariant: one row is known at a time. A value that means nothing is `.damaged`, never a trap.

import BankModel
import QueueCore
import Time

extension SQLiteStore: QueueExport {
  /// All business days in order. See `QueueExport`.
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

  /// All idempotency keys in the order of days and tickets. See `QueueExport`.
  public func eachKey(_ body: (ExportedKey) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      "SELECT key, day, first, last, request FROM request_key WHERE \(hasTickets) ORDER BY day, first",
      while: "reading the keys"
    ) { row throws(StoreError) in
      while try row.step() {
        let tickets = IssuedTickets(day: row.integer(1), first: row.integer(2), last: row.integer(3))
        try body(
          ExportedKey(key: row.text(0), request: KeyedRequest(tickets: tickets, request: row.optional(4))))
      }
    }
  }

  /// The keys of a request that is half taken in stand for nobody yet.
  private var hasTickets: String {
    hasArrivals
      ? "day < (SELECT max(day) FROM day) OR first < \(arrivals.bound)" : "true"
  }

  /// All attempts in the order of days, tickets and their own numbers. See `QueueExport`.
  public func eachAttempt(_ body: (Attempt) throws(StoreError) -> Void) throws(StoreError) {
    try settle()
    try database.withStatement(
      """
      SELECT day, ticket, number, service, place, generation, pid, started_ms, ended_ms, ending, exit_code, exit_signal,
        words, EXISTS (SELECT 1 FROM meta WHERE name = 'dead ' || day || ' ' || ticket || ' ' || number)
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

  /// How many there are of everything. See `QueueExport`.
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
      (.payloads, "SELECT count(*) FROM payload WHERE ticket < \(arrivals.bound)"),
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
            AND ticket < \(arrivals.bound)
          """, while: "counting the rows") ?? 0
    }
    return rows
  }
}
