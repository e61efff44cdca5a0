// Queries of finished customers: receipts by day and ticket, and attempts.
// Invariant: the database limits each list of receipts in rows and in bytes of results, so that no result of a query
// exceeds the limit of a connection.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Time

extension PostgresReader {
  /// Receipts by day and ticket after a sequence number. See `QueueReader`.
  public func receipts(
    day: BusinessDay?, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    let after = ReceiptSequence.parts(of: sequence)
    let days = day.map { $0...$0 } ?? ReceiptSequence.days
    return try receipts(days, after, lanes: nil, limit: limit)
  }

  /// Receipts of one service after the sequence number `sequence`, up to `last`, by day and ticket. See `QueueReader`.
  public func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    let (after, end) = (ReceiptSequence.parts(of: sequence), ReceiptSequence.parts(of: last))
    guard sequence < last, end.day >= ReceiptSequence.days.lowerBound else { return [] }
    let days = ReceiptSequence.days.lowerBound...min(end.day, ReceiptSequence.days.upperBound)
    let isOfStock = service.usesStock && stock != nil
    let lanes = lines.filter { $0.value.service == service && (!isOfStock || owners[$0.key] == stock) }.map(
      \.key)
    let page = try receipts(days, after, lanes: lanes, limit: limit)
    return Array(page.prefix { $0.sequence <= last })
  }

  /// Receipts of these days and lanes (nil for all) after a ticket.
  private func receipts(
    _ days: ClosedRange<BusinessDay>, _ after: (day: BusinessDay, ticket: TicketNumber), lanes: [Int64]?,
    limit: Int
  ) throws(StoreError) -> [Receipt] {
    // Each query is about one day, because a query by both key columns would read the index from its start.
    var found: [Receipt] = []
    var (day, ticket) =
      after.day < days.lowerBound ? (days.lowerBound, 0) : (after.day, after.ticket)
    while day <= days.upperBound, found.count < limit, found.resultBytes < [Receipt].maxResultBytes {
      let asked = min(limit - found.count, Self.longestPage)
      let rows = try connection.ask(
        Self.page(
          .integer(day), .integer(ticket), .integer(Int64(asked)), lanes.map { .integers($0) } ?? .null,
          .integer(Int64([Receipt].maxResultBytes - found.resultBytes))))[0]
      for row in 0..<rows.count { found.append(try receipt(rows, row)) }
      if rows.count == asked, let last = found.last {
        ticket = last.ticket
      } else if found.resultBytes < [Receipt].maxResultBytes,
        let next = try connection.ask(Self.nextDay(.integer(day)))[0].integer(0, 0)
      {
        (day, ticket) = (next, 0)
      } else {
        break
      }
    }
    return found
  }

  /// Maximum rows per query.
  private static let longestPage = 4_096

  /// The receipt of one ticket; nil if there is none.
  public func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    let rows = try connection.ask(Self.one(.integer(day), .integer(ticket)))[0]
    return rows.count > 0 ? try receipt(rows, 0) : nil
  }

  /// Number of cancelled receipts of a day in a range of tickets. See `QueueReader`.
  public func countCancelled(
    _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
  ) throws(StoreError) -> Int64 {
    try connection.ask(
      Self.cancelled(.integer(day), .integer(tickets.lowerBound), .integer(tickets.upperBound)))[0]
      .integer(0, 0) ?? 0
  }

  /// Number of receipts of a day with the outcome out of stock.
  public func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 {
    try connection.ask(Self.outOfStockCount(.integer(day)))[0].integer(0, 0) ?? 0
  }

  /// Cancelled tickets for which stocks may have reservations. See `QueueReader`.
  public func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    let rows = try connection.ask(
      Self.unreleased(
        .integer(ticket?.day ?? .min), .integer(ticket?.ticket ?? .min), .integer(Int64(max(0, limit))),
        .integer(stock ?? 0)))[0]
    return (0..<rows.count).map { row in
      TicketOfDay(day: rows.integer(row, 0) ?? 0, ticket: rows.integer(row, 1) ?? 0)
    }
  }

  // MARK: - Attempts

  /// Attempts of one ticket that ended without a receipt, in order.
  public func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] {
    let rows = try connection.ask(Self.attempts(.integer(day), .integer(ticket)))[0]
    var attempts: [Attempt] = []
    for row in 0..<rows.count { attempts.append(try attempt(rows, row, day, ticket)) }
    return attempts
  }

  /// One attempt from a row; throws if the row is invalid.
  private func attempt(
    _ rows: PostgresRows, _ row: Int, _ day: BusinessDay, _ ticket: TicketNumber
  ) throws(StoreError) -> Attempt {
    let number = rows.integer(row, 0) ?? 0
    guard let end = rows.integer(row, 7).flatMap({ UInt8(exactly: $0) }).flatMap(AttemptEnd.init(rawValue:))
    else { throw .damaged(path: name, detail: MessageDetail(.attemptEndUnknown, ticket, day, number)) }
    guard let service = rows.integer(row, 1).flatMap({ services.service(numbered: $0) }),
      let started = rows.integer(row, 5), let ended = rows.integer(row, 6)
    else { throw damage(of: "attempt", "\(day)-\(ticket)-\(number)") }
    var attempt = Attempt(
      day: day, ticket: ticket, number: try int32(number),
      window: Window(service: service, place: try int32(rows.integer(row, 2))),
      generation: try int32(rows.integer(row, 3)), pid: try int32(rows.integer(row, 4)),
      startedAt: WallTime(milliseconds: started), endedAt: WallTime(milliseconds: ended), end: end,
      processEnd: try processEnd(rows.integer(row, 8), rows.integer(row, 9)), words: rows.text(row, 10) ?? "")
    attempt.isFatal = rows.boolean(row, 11) ?? false
    attempt.branch = rows.integer(row, 12)
    return attempt
  }

  /// Exit code or signal of a process; nil if both are missing.
  private func processEnd(_ code: Int64?, _ signal: Int64?) throws(StoreError) -> ProcessEnd? {
    ProcessEnd(code: code == nil ? nil : try int32(code), signal: signal == nil ? nil : try int32(signal))
  }

  // MARK: - Rows

  /// One receipt from a row; throws if the row is invalid.
  func receipt(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> Receipt {
    let (day, ticket) = (rows.integer(row, 0) ?? 0, rows.integer(row, 1) ?? 0)
    guard let sequence = ReceiptSequence.sequence(day, ticket), let lane = rows.integer(row, 2),
      let amount = rows.integer(row, 8), let account = rows.integer(row, 9),
      let issued = rows.integer(row, 12), let finished = rows.integer(row, 14)
    else { throw damage(of: "receipt", "\(day)-\(ticket)") }
    let line = try line(of: lane)
    guard let outcome = rows.integer(row, 3).flatMap({ UInt8(exactly: $0) }).flatMap(Outcome.init(rawValue:))
    else {
      throw .damaged(path: name, detail: MessageDetail(.receiptOutcome, sequence, rows.integer(row, 3) ?? 0))
    }
    var rule: PostingRule?
    if let debit = rows.integer(row, 10), let credit = rows.integer(row, 11) {
      rule = PostingRule(debit: debit, credit: credit, account: account)
      guard rule != nil else { throw .damaged(path: name, detail: MessageDetail(.transferInvalid, sequence)) }
    }
    var window: Window?
    if let place = rows.integer(row, 4) { window = Window(service: line.service, place: try int32(place)) }
    var receipt = Receipt(
      sequence: sequence, day: day, ticket: ticket, service: line.service, priority: line.priority,
      outcome: outcome, window: window, generation: try int32(rows.integer(row, 5)),
      pid: try int32(rows.integer(row, 6)), attempts: try int32(rows.integer(row, 7)), amount: amount,
      account: account, issuedAt: WallTime(milliseconds: issued),
      startedAt: rows.integer(row, 13).map(WallTime.init(milliseconds:)),
      finishedAt: WallTime(milliseconds: finished), itemName: rows.text(row, 15) ?? "",
      shortages: PostgresShortages.read(rows.text(row, 16)), result: try result(rows, row, sequence),
      postingRule: rule)
    receipt.branch = rows.integer(row, 17)
    return receipt
  }

  /// Result of the work from a row; nil if the work has none.
  private func result(_ rows: PostgresRows, _ row: Int, _ sequence: Int64) throws(StoreError) -> WorkResult? {
    guard rows.columns > 18, let duration = rows.integer(row, 18) else { return nil }
    /// Stored parts of an output stream, from four columns.
    func excerpt(_ column: Int) -> TruncatedOutput? {
      TruncatedOutput(
        first: rows.bytes(row, column) ?? [], last: rows.bytes(row, column + 1) ?? [],
        length: rows.integer(row, column + 2), filed: rows.integer(row, column + 3) ?? 0)
    }
    guard let output = excerpt(21), let errors = excerpt(25) else {
      throw .damaged(path: name, detail: MessageDetail(.resultInvalid, sequence))
    }
    return WorkResult(
      ending: try processEnd(rows.integer(row, 19), rows.integer(row, 20)),
      duration: TimeSpan(nanoseconds: duration), output: output, errors: errors)
  }

  // MARK: - Statements

  /// Columns of a receipt, without those of its result.
  static let columns = """
    day, ticket, lane, outcome, window_number, generation, pid, attempts, amount, account, debit, credit, issued_ms, \
    started_ms, finished_ms, item_name, shortages, branch
    """
  /// Columns of the result of a receipt.
  static let result = """
    duration_ns, exit_code, exit_signal, output_head, output_tail, output_length, output_file_length, \
    stderr_head, stderr_tail, stderr_length, stderr_file_length
    """
  /// SQL expression: stored bytes of a receipt's result.
  static let size = ["output_head", "output_tail", "stderr_head", "stderr_tail"]
    .map { "coalesce(octet_length(\($0)), 0)" }.joined(separator: " + ")

  /// Receipts of a day after a ticket. Parameters: day, ticket, maximum rows, lanes or null for all, maximum bytes of
  /// results.
  private static let page = PostgresStatement(
    "read-receipts", [.integer, .integer, .integer, .integers, .integer],
    """
    SELECT \(columns), \(result) FROM (
      SELECT *, sum(\(size)) OVER (ORDER BY ticket ROWS UNBOUNDED PRECEDING) - (\(size)) AS before FROM (
        SELECT * FROM bank.receipt WHERE day = $1 AND ticket > $2 AND ($4 IS NULL OR lane = ANY ($4))
        ORDER BY ticket LIMIT $3) AS r) AS r
    WHERE before < $5 ORDER BY ticket
    """)
  /// The first day after a day.
  private static let nextDay = PostgresStatement(
    "read-next-day", [.integer], "SELECT day FROM bank.day WHERE day > $1 ORDER BY day LIMIT 1")
  /// The receipt of a ticket.
  private static let one = PostgresStatement(
    "read-receipt", [.integer, .integer],
    "SELECT \(columns), \(result) FROM bank.receipt WHERE day = $1 AND ticket = $2")
  /// Number of cancelled receipts of a day in a range of tickets.
  private static let cancelled = PostgresStatement(
    "count-cancelled", [.integer, .integer, .integer],
    """
    SELECT count(*) FROM bank.receipt
    WHERE day = $1 AND ticket BETWEEN $2 AND $3 AND outcome = \(Outcome.cancelled.rawValue)
    """)
  private static let outOfStockCount = PostgresStatement(
    "count-sent-away", [.integer],
    "SELECT count(*) FROM bank.receipt WHERE day = $1 AND outcome = \(Outcome.outOfStock.rawValue)")
  /// Cancelled tickets after a day and ticket, of one branch or (0) of all.
  private static let unreleased = PostgresStatement(
    "read-unreleased", [.integer, .integer, .integer, .integer],
    """
    SELECT day, ticket FROM bank.stock_release WHERE (day, ticket) > ($1, $2) AND ($4 = 0 OR branch = $4)
    ORDER BY day, ticket LIMIT $3
    """)
  private static let attempts = PostgresStatement(
    "read-attempts", [.integer, .integer],
    """
    SELECT number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code, exit_signal,
      reason, is_fatal, branch
    FROM bank.attempt WHERE day = $1 AND ticket = $2 ORDER BY number
    """)
}
