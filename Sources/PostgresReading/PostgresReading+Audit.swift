// Audit of a shared database: comparison of the counts and the claims with the rows.
// Invariant: the audit reads everything in one snapshot, which blocks no writer. It counts rows while it reads them
// and stores only those of days, so memory is bounded for any length of the queue. An invalid value is a finding. It
// ends at most its part of the audit.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Storage
import Time

extension PostgresReading {
  /// Verifies every invariant that can be checked in the shared database. See `QueueReading`.
  ///
  /// Days whose receipts were pruned are skipped. Claims are checked for the present day only.
  ///
  /// If the customers of large requests are being moved to their lines, the audit first waits for them, for about 30 s
  /// at most.
  public func audit() throws(StoreError) -> StoreAudit {
    for _ in 0..<Self.looksAtArriving {
      if let audit = try audit(amidst: false) { return audit }
      _ = try connection.ask(.once("SELECT pg_sleep(0.1)"))
    }
    return try audit(amidst: true) ?? StoreAudit()
  }

  private static let looksAtArriving = 300

  /// - Parameter amidst: if false, the result is nil while the customers of a large request are being moved to their
  ///   lines.
  private func audit(amidst: Bool) throws(StoreError) -> StoreAudit? {
    try connection.inSnapshot { () throws(StoreError) in
      let staged = try connection.ask(.once("SELECT EXISTS (SELECT FROM bank.staged_batch)"))[0]
      if staged.boolean(0, 0) == true, !amidst { return nil }
      // The audit reads whole tables. The settings of the connection are for other queries, which use keys.
      _ = try connection.ask(
        .once("SET LOCAL enable_seqscan = on"), .once("SET LOCAL enable_bitmapscan = on"))
      var record = AuditRecord(services: services)
      try find(into: &record) { record throws(StoreError) in
        _ = try look()
        record = AuditRecord(services: services)
        var days = try readDays(&record)
        try auditIntake(&days, &record)
        let counts = try readTallies(&days, &record)
        try auditHolders(days, counts, &record)
        try auditCommits(days, &record)
      }
      try find(into: &record) { record throws(StoreError) in try auditClaims(&record) }
      try find(into: &record) { record throws(StoreError) in try auditReleases(&record) }
      for remark in try serverFaults() { record.note(remark) }
      return record.finished()
    }
  }

  /// Durability of a commit beyond the server's own disk. For information only; not a finding.
  public func replicationNote() throws(StoreError) -> Remark {
    let (_, commit, standbys) = try serverSettings()
    return standbys.isEmpty || Self.isUnawaited(commit)
      ? Remark(.standbyUnawaited) : Remark(.standbyAwaited, commit, standbys)
  }

  private func serverFaults() throws(StoreError) -> [Remark] {
    let (fsync, commit, standbys) = try serverSettings()
    var faults: [Remark] = []
    if fsync == "off" { faults.append(Remark(.fsyncOff)) }
    // Branches wait for the server's disk in any case. Waiting for the disk alone is sufficient if no standby is
    // configured.
    if commit == "local" && !standbys.isEmpty {
      faults.append(Remark(.commitsUnawaited, commit))
    }
    return faults
  }

  /// Remark about the checks that the audit skips if a clock was set back on the present day; nil for none.
  public func clockNote() throws(StoreError) -> Remark? {
    let day = try presentDay()
    return try clockWasSetBack(on: day) ? Remark(.clockSetBack, day) : nil
  }

  private func clockWasSetBack(on day: BusinessDay) throws(StoreError) -> Bool {
    let rows = try connection.ask(.once("SELECT value FROM bank.meta WHERE name = 'clock set back'"))[0]
    return rows.integer(0, 0) == day
  }

  private static func isUnawaited(_ commit: String) -> Bool { ["off", "local"].contains(commit) }

  private func serverSettings() throws(StoreError) -> (fsync: String, commit: String, standbys: String) {
    let rows = try connection.ask(
      .once(
        """
        SELECT current_setting('fsync'), current_setting('synchronous_commit'), \
        current_setting('synchronous_standby_names')
        """))[0]
    return (rows.text(0, 0) ?? "", rows.text(0, 1) ?? "", rows.text(0, 2) ?? "")
  }

  /// Runs one part of the audit. Damage that stops this part becomes a finding.
  private func find(
    into record: inout AuditRecord, _ part: (inout AuditRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) { try part(&record) } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      record.note(detail)
    }
  }

  // MARK: - Days and issued tickets

  /// Data about one day, collected from its row, its tickets and its counts.
  struct AuditedDay {
    var day: BusinessDay
    var isPresent: Bool
    /// True if its receipts were not pruned.
    var isKept: Bool
    /// Last issued ticket.
    var issued: TicketNumber = 0
    var books: Books
  }

  private func readDays(_ record: inout AuditRecord) throws(StoreError) -> [AuditedDay] {
    var cursor = try SnapshotCursor(
      connection, "days",
      """
      SELECT day, opened_ms, closed_ms IS NULL, to_regclass('bank.receipt_' || day) IS NOT NULL,
        day = max(day) OVER () FROM bank.day ORDER BY day
      """)
    var days: [AuditedDay] = []
    while try cursor.step() {
      let number = cursor.integer(0)
      if number != Int64(days.count) + 1 { record.note(Remark(.dayOutOfPlace, number, days.count + 1)) }
      let isPresent = cursor.boolean(4)
      if cursor.boolean(2), !isPresent { record.note(Remark(.dayNotClosed, number)) }
      guard ReceiptPlace.days ~= number else { continue }
      var books = Books(day: number, openedAt: WallTime(milliseconds: cursor.integer(1)))
      books.know(services: services.count)
      days.append(
        AuditedDay(
          day: number, isPresent: isPresent, isKept: cursor.boolean(3) || isPresent, books: books))
    }
    return days
  }

  /// Checks that tickets were issued consecutively, each once.
  private func auditIntake(_ days: inout [AuditedDay], _ record: inout AuditRecord) throws(StoreError) {
    var places: [BusinessDay: Int] = [:]
    for (place, day) in days.enumerated() { places[day.day] = place }
    var cursor = try SnapshotCursor(
      connection, "batches", "SELECT day, first, last FROM bank.ticket_batch ORDER BY day, last")
    while try cursor.step() {
      let (day, first, last) = (cursor.integer(0), cursor.integer(1), cursor.integer(2))
      guard let place = places[day], first >= 1, last <= Limits.ticket else {
        record.note(Remark(.keyOfTicketsOfNobody, first, last, day))
        continue
      }
      let before = days[place].issued
      if first > before + 1 { record.note(Remark(.intakeGap, before + 1, first - 1, day)) }
      if first <= before { record.note(Remark(.intakeTwice, first, min(before, last), day)) }
      days[place].issued = max(before, last)
    }
    for day in days { record.audit.issued += day.issued }
  }

  /// Reads the counts of the branches, by day and lane, into the counters of each day.
  ///
  /// - Returns: number of delayed customers of the present day by service.
  private func readTallies(
    _ days: inout [AuditedDay], _ record: inout AuditRecord
  ) throws(StoreError) -> [Int64] {
    var places: [BusinessDay: Int] = [:]
    for (place, day) in days.enumerated() { places[day.day] = place }
    var cursor = try SnapshotCursor(
      connection, "tallies",
      """
      SELECT day, lane, sum(issued)::bigint, sum(waiting)::bigint, sum(delayed)::bigint, sum(dead)::bigint,
        sum(served)::bigint, sum(out_of_stock)::bigint, sum(cancelled)::bigint
      FROM bank.counter_delta GROUP BY day, lane ORDER BY day, lane
      """)
    while try cursor.step() {
      let counts = (2...8).map { min(max(cursor.integer($0), -Self.mostCounted), Self.mostCounted) }
      // A commit that changed no count has a row with lane 0.
      if counts.allSatisfy({ $0 == 0 }) { continue }
      guard let place = places[cursor.integer(0)] else {
        record.note(
          Remark(.rowMeaningless, "bank.counter_delta", "\(cursor.integer(0))-\(cursor.integer(1))"))
        continue
      }
      days[place].books.add(counts, of: try line(of: cursor.integer(1)))
    }
    for day in days where day.isKept {
      record.compare(.booksIssued, ["\(day.day)"], books: day.books.issued, rows: day.issued)
    }
    return days.last?.books.delayedByService ?? []
  }

  /// Checks that every ticket with a receipt, except a cancelled one, is in the commit of its receipt, and that a
  /// commit contains no other ticket. A client that follows commits would miss a receipt without a commit.
  private func auditCommits(_ days: [AuditedDay], _ record: inout AuditRecord) throws(StoreError) {
    for day in days where day.isKept {
      var cursor = try SnapshotCursor(
        connection, "commits",
        """
        SELECT ticket, branch, epoch, commit_no, is_receipt IS NOT NULL
        FROM (SELECT branch, epoch, commit_no, unnest(tickets) AS ticket, true AS is_commit FROM bank.commit
            WHERE day = \(day.day)) AS c
          FULL JOIN (SELECT branch, epoch, commit_no, ticket, true AS is_receipt FROM bank.receipt
            WHERE day = \(day.day) AND outcome <> \(Outcome.cancelled.rawValue)) AS r
          USING (ticket, branch, epoch, commit_no)
        WHERE is_commit IS NULL OR is_receipt IS NULL ORDER BY ticket, branch, epoch, commit_no
        """)
      while try cursor.step() {
        record.note(
          Remark(
            cursor.boolean(4) ? .receiptWithoutCommit : .commitWithoutReceipt, cursor.integer(0), day.day,
            cursor.integer(1), cursor.integer(2), cursor.integer(3)))
      }
      try cursor.close()
    }
  }

  /// Checks that every row of `stock_release` belongs to a cancelled customer in a lane of the row's branch. Days whose
  /// receipts were pruned are skipped.
  private func auditReleases(_ record: inout AuditRecord) throws(StoreError) {
    var cursor = try SnapshotCursor(
      connection, "releases",
      """
      SELECT ticket, day FROM bank.stock_release o
      WHERE to_regclass('bank.receipt_' || day) IS NOT NULL AND NOT EXISTS (
        SELECT FROM bank.receipt r JOIN bank.lane l ON l.number = r.lane WHERE r.day = o.day AND r.ticket = o.ticket
          AND r.outcome = \(Outcome.cancelled.rawValue) AND l.branch = o.branch)
      ORDER BY day, ticket
      """)
    while try cursor.step() { record.note(Remark(.releaseUnknown, cursor.integer(0), cursor.integer(1))) }
    try cursor.close()
  }

  /// Limit for the counts of a damaged database, so that their sums do not overflow.
  private static let mostCounted: Int64 = 1 << 48

  // MARK: - All tickets

  private func auditHolders(
    _ days: [AuditedDay], _ delayed: [Int64], _ record: inout AuditRecord
  ) throws(StoreError) {
    var walk = ReceiptWalk(last: days.last?.day ?? 0)
    var customers = CustomerCounts()
    let present = days.last?.day ?? 0
    let steps = try branchesWhoseClockWentBack(on: present)
    let isOrdered = try !clockWasSetBack(on: present)
    for day in days where day.isKept {
      var holders = HolderAudit(self, day, disordered: steps, isOrdered: isOrdered)
      try holders.run(&walk, &customers, &record)
    }
    record.count(customers)
    for day in days where day.isKept {
      let found = walk.counts[day.day] ?? DayReceipts()
      record.compare(.booksServed, ["\(day.day)"], books: day.books.served, rows: found.served)
      record.compare(.booksCancelled, ["\(day.day)"], books: day.books.cancelled, rows: found.cancelled)
      if !day.isPresent, day.books.waitingInAll != 0 || day.books.delayed != 0 || day.books.dead != 0 {
        record.note(Remark(.dayClosedEarly, day.day))
      }
    }
    guard let present = days.last else { return record.note(Remark(.noBusinessDay)) }
    record.compare(present.books, customers, walk.counts[present.day], delayed: delayed)
  }

  /// Branches whose clocks do not show the order in which they started customers, because a later commit has an earlier
  /// time.
  private func branchesWhoseClockWentBack(on day: BusinessDay) throws(StoreError) -> Set<PostgresBranch> {
    var cursor = try SnapshotCursor(
      connection, "clocks",
      """
      SELECT DISTINCT branch, epoch FROM (
        SELECT branch, epoch, finished_ms, max(finished_ms) OVER (
          PARTITION BY branch, epoch ORDER BY commit_no
          GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM bank.receipt WHERE day = \(day)) AS r WHERE finished_ms < before
      """)
    var found: Set<PostgresBranch> = []
    while try cursor.step() {
      found.insert(PostgresBranch(id: cursor.integer(0), epoch: cursor.integer(1)))
    }
    return found
  }
}

extension Books {
  /// Adds the counts of a line: issued, waiting, delayed, dead, served, out of stock, cancelled.
  fileprivate mutating func add(_ counts: [Int64], of line: Line) {
    issued += counts[0]
    waiting[line] += counts[1]
    delayed += counts[2]
    delayedByService[line.service.index] += counts[2]
    dead += counts[3]
    served += counts[4] + counts[5]
    servedByService[line.service.index] += counts[4] + counts[5]
    cancelled += counts[6]
  }
}
