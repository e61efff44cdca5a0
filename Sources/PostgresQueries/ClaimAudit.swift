// Audit of all tickets of one day. It reads receipts, customers and attempts in ascending order of their tickets. Among
// its rules are: a ticket is stored once; money, attempts and results match their ticket; on the present day, a receipt
// was written by the branch that had claimed the customer; within a page, which is one claim, customers were started in
// order.
//
// Branches serve concurrently, so this audit does not compare the order of two pages. The order of starts is not
// checked for a branch whose clock stepped back, nor on a day on which a clock was set back.
//
// Invariant: memory does not grow with the number of tickets.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Storage

struct ClaimAudit {
  private let reading: PostgresReader
  private let day: PostgresReader.AuditedDay
  /// Branches whose clocks do not show the order in which they started customers.
  private let disordered: Set<PostgresBranch>
  /// False if a clock was set back on the present day, so that times do not show an order.
  private let isOrdered: Bool
  /// Order in which the customers of each page were started.
  private var order = OrderScan(starts: [], disordered: [])
  /// Page of the last customer of each lane.
  private var pages: [Int64: (page: Page, number: Int)] = [:]
  /// Number of pages so far, which is also the number of the last page.
  private var pageCount = 0
  /// Receipts to look up among the returned claims.
  private var orphanedReceipts: [OrphanedReceipt] = []

  /// A claim of a branch in an epoch, identified by its first ticket.
  private struct Page: Equatable {
    var first: Int64
    var branch: PostgresBranch
  }

  /// A receipt without a present claim of its branch. Its claim must be among the returned ones.
  private struct OrphanedReceipt {
    var ticket: TicketNumber
    var lane: Int64
    var branch: PostgresBranch
  }

  init(
    _ reading: PostgresReader, _ day: PostgresReader.AuditedDay, disordered: Set<PostgresBranch>,
    isOrdered: Bool
  ) {
    (self.reading, self.day, self.disordered, self.isOrdered) = (reading, day, disordered, isOrdered)
  }

  /// Reads the receipts, customers and attempts of the day, adds findings to `record`, and counts in `walk` and
  /// `customers`.
  mutating func run(
    _ walk: inout ReceiptScan, _ customers: inout CustomerCounts, _ record: inout AuditRecord
  ) throws(StoreError) {
    var receipts = try SnapshotCursor(reading.connection, "receipts", receiptsInOrder)
    var customerRows = try SnapshotCursor(reading.connection, "customers", customersInOrder)
    var attempts = try AttemptCountCursor(
      day.day, SnapshotCursor(reading.connection, "attempts", attemptsInOrder))
    var tickets = TicketScan(day: day.day, issued: day.issued)
    var hasReceipt = try receipts.step()
    var hasCustomer = try customerRows.step()
    while hasReceipt || hasCustomer {
      let receipt = hasReceipt ? receipts.integer(0) : Int64.max
      let customer = hasCustomer ? customerRows.integer(0) : Int64.max
      tickets.visit(min(receipt, customer), &record)
      if receipt <= customer {
        try visit(receipts, &walk, &attempts, &record)
        hasReceipt = try receipts.step()
      } else {
        try visit(customer: customerRows, &customers, &attempts, &record)
        hasCustomer = try customerRows.step()
      }
    }
    tickets.end(&record)
    try attempts.skip(to: .max, &record)
    try findOrphanedReceipts(&record)
    for cursor in [receipts, customerRows, attempts.cursor] { try cursor.close() }
  }

  // MARK: - One ticket

  /// Checks one receipt: its money, attempts, result, branch, claim and order of start.
  private mutating func visit(
    _ row: SnapshotCursor, _ walk: inout ReceiptScan, _ attempts: inout AttemptCountCursor,
    _ record: inout AuditRecord
  ) throws(StoreError) {
    let (ticket, lane) = (row.integer(0), row.integer(1))
    let recorded = try attempts.attemptCount(ticket, &record)
    guard let sequence = ReceiptSequence.sequence(day.day, ticket), let line = reading.lines[lane],
      let outcome = UInt8(exactly: row.integer(2)).flatMap(Outcome.init(rawValue:))
    else {
      return record.note(MessageDetail(.receiptInvalid, ReceiptSequence.sequence(day.day, ticket) ?? ticket))
    }
    let money = ReceiptMoney(
      sequence: sequence, service: line.service, outcome: outcome, amount: row.integer(5),
      account: row.integer(6), debit: row.optional(7), credit: row.optional(8))
    guard walk.visit(day.day, ticket, money, &record) else { return }
    let counted = row.integer(4)
    // A cancelled customer may or may not have been at a window. If another branch owned the customer, that branch
    // records the end of the attempt later.
    let isPossible =
      outcome.isFinishedByWorker ? counted == recorded + 1 : 0...recorded + 1 ~= counted
    if !isPossible {
      record.note(MessageDetail(.attemptsDiffer, ticket, day.day, counted, recorded))
    }
    if row.boolean(12), outcome != .served {
      record.note(MessageDetail(.resultWithoutReceipt, ticket, day.day))
    }
    if row.boolean(13) { record.note(MessageDetail(.resultInvalid, sequence)) }
    let branch = PostgresBranch(id: row.integer(10), epoch: row.integer(11))
    if let owner = reading.owners[lane], outcome.isFinishedByWorker, owner != branch.id {
      record.note(MessageDetail(.juiceAtWrongBranch, ticket, day.day, branch.id, owner))
    }
    guard day.isPresent, row.optional(3) != nil else { return }
    guard let first = row.optional(14), row.optional(15) == branch.id, row.optional(16) == branch.epoch else {
      orphanedReceipts.append(OrphanedReceipt(ticket: ticket, lane: lane, branch: branch))
      if orphanedReceipts.count >= 2_048 { try findOrphanedReceipts(&record) }
      return
    }
    guard outcome == .served, let started = row.optional(9), isOrdered, !disordered.contains(branch) else {
      return
    }
    let number = number(of: Page(first: first, branch: branch), in: lane, of: line)
    order.visit(day.day, ticket, line, under: number, attempts: counted, startedAt: started, &record)
  }

  /// Number under which the starts of this page's customers are compared with each other. The pages of a lane are read
  /// one after the other, so a new page drops the preceding one.
  private mutating func number(of page: Page, in lane: Int64, of line: Line) -> Int {
    if let last = pages[lane] {
      if last.page == page { return last.number }
      order.forget(line, under: last.number)
    }
    pageCount += 1
    pages[lane] = (page, pageCount)
    return pageCount
  }

  /// Counts one unfinished customer, and checks its money, due time and attempts.
  private func visit(
    customer row: SnapshotCursor, _ customers: inout CustomerCounts, _ attempts: inout AttemptCountCursor,
    _ record: inout AuditRecord
  ) throws(StoreError) {
    let (ticket, place) = (row.integer(0), row.integer(1))
    let recorded = try attempts.attemptCount(ticket, &record)
    guard let state = CustomerRowKey.state(place), let line = reading.lines[PostgresPosition.lane(place)]
    else {
      return record.note(MessageDetail(.customerKeyInvalid, place))
    }
    customers.count(state, line)
    if row.integer(2) < (line.service.movesMoney ? 1 : 0) || row.integer(3) < 0 {
      record.note(MessageDetail(.moneyInvalid, ticket))
    }
    if (row.optional(5) != nil) != (state == .delayed) {
      record.note(MessageDetail(.dueTimeWithoutDelay, ticket))
    }
    if row.integer(4) != recorded {
      record.note(MessageDetail(.attemptsDiffer, ticket, day.day, row.integer(4), recorded))
    }
  }

  // MARK: - Returned claims

  /// Adds a finding for each receipt in `orphanedReceipts` whose branch had no claim on the customer. Returned claims
  /// are in the table `released_claim`.
  private mutating func findOrphanedReceipts(_ record: inout AuditRecord) throws(StoreError) {
    guard !orphanedReceipts.isEmpty else { return }
    let rows = try reading.connection.ask(
      .once(
        """
        SELECT DISTINCT s.ticket FROM unnest($1, $2, $3, $4) AS s (ticket, lane, branch, epoch)
        JOIN bank.released_claim f USING (lane, branch, epoch) WHERE s.ticket BETWEEN f.first AND f.last
        """,
        [.integers, .integers, .integers, .integers],
        [
          .integers(orphanedReceipts.map(\.ticket)), .integers(orphanedReceipts.map(\.lane)),
          .integers(orphanedReceipts.map(\.branch.id)),
          .integers(orphanedReceipts.map(\.branch.epoch)),
        ]))[0]
    let found = Set((0..<rows.count).compactMap { rows.integer($0, 0) })
    for stray in orphanedReceipts where !found.contains(stray.ticket) {
      record.note(
        MessageDetail(.receiptOutsideClaim, stray.ticket, day.day, stray.branch.id, stray.branch.epoch))
    }
    orphanedReceipts.removeAll(keepingCapacity: true)
  }

  // MARK: - Queries

  /// Receipts of the day, and for the present day the claim of each.
  private var receiptsInOrder: String {
    let isWrong =
      ["output", "stderr"].map { name in
        """
        \(name)_file_length NOT BETWEEN 0 AND \(name)_length OR \
        coalesce(octet_length(\(name)_head), 0) + coalesce(octet_length(\(name)_tail), 0) > \(name)_length
        """
      }.joined(separator: " OR ")
    let claim =
      day.isPresent
      ? """
      LEFT JOIN LATERAL (SELECT first, branch, epoch FROM bank.claim k
        WHERE k.lane = r.lane AND k.last >= r.ticket ORDER BY k.last LIMIT 1) AS k ON k.first <= r.ticket
      """ : "CROSS JOIN (SELECT NULL::bigint AS first, NULL::bigint AS branch, NULL::bigint AS epoch) AS k"
    return """
      SELECT r.ticket, r.lane, outcome, window_number, attempts, amount, account, debit, credit, started_ms, r.branch,
        r.epoch, duration_ns IS NOT NULL, duration_ns IS NOT NULL AND coalesce(duration_ns < 0
          OR (exit_code IS NOT NULL AND exit_signal IS NOT NULL) OR \(isWrong), true), k.first, k.branch, k.epoch
      FROM bank.receipt r \(claim) WHERE r.day = \(day.day) ORDER BY r.ticket
      """
  }

  /// Customers of the present day; none for a closed day.
  private var customersInOrder: String {
    let ticket = "position & \(PostgresPosition.highestTicket)"
    return """
      SELECT \(ticket), position, amount, account, attempts, due_ms FROM bank.customer
      WHERE \(day.isPresent) ORDER BY \(ticket)
      """
  }

  /// For each ticket of the day with attempts: their count, their first and last number, and the number of the first
  /// attempt with an invalid end.
  private var attemptsInOrder: String {
    let last = AttemptEnd.allCases.map(\.rawValue).max() ?? 0
    return """
      SELECT ticket, count(*), min(number), max(number), min(number) FILTER (WHERE ending NOT BETWEEN 1 AND \(last))
      FROM bank.attempt WHERE day = \(day.day) GROUP BY ticket ORDER BY ticket
      """
  }
}

/// Number of recorded attempts of each ticket, in ticket order.
private struct AttemptCountCursor {
  private(set) var cursor: SnapshotCursor
  private let day: BusinessDay
  /// The next ticket with attempts; nil at the end.
  private var next: TicketNumber?

  init(_ day: BusinessDay, _ cursor: SnapshotCursor) throws(StoreError) {
    (self.day, self.cursor) = (day, cursor)
    next = try self.cursor.step() ? self.cursor.integer(0) : nil
  }

  /// Returns the number of attempts of a ticket, and adds findings about the attempts themselves.
  mutating func attemptCount(_ ticket: TicketNumber, _ record: inout AuditRecord) throws(StoreError) -> Int64
  {
    try skip(to: ticket, &record)
    guard next == ticket else { return 0 }
    let count = cursor.integer(1)
    if cursor.integer(2) != 1 || cursor.integer(3) != count {
      record.note(MessageDetail(.attemptsNotNumbered, ticket, day, count))
    }
    if let strange = cursor.optional(4) {
      record.note(MessageDetail(.attemptEndUnknown, ticket, day, strange))
    }
    try advance()
    return count
  }

  /// Skips lower tickets and adds a finding for each of them. Their attempts belong to no receipt and no customer.
  mutating func skip(to ticket: TicketNumber, _ record: inout AuditRecord) throws(StoreError) {
    while let stray = next, stray < ticket {
      record.note(MessageDetail(.attemptsWithoutTicket, stray, day))
      try advance()
    }
  }

  /// Reads the next ticket with attempts.
  private mutating func advance() throws(StoreError) { next = try cursor.step() ? cursor.integer(0) : nil }
}
