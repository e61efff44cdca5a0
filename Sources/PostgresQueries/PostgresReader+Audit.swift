// Audit of a shared database: comparison of the counts and the claims with the rows.
// Invariant: the audit reads one snapshot, and its memory does not grow with the number of tickets. An invalid value is
// a finding, and ends at most the part of the audit that has read the value.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Storage
import Time

extension PostgresReader {
  /// Verifies the invariants that can be checked in the shared database. See `QueueReader`.
  ///
  /// Receipts and counts of pruned days are not checked. Claims exist for the present day only.
  ///
  /// If the customers of large requests are being moved to their lines, the audit first waits for them for a limited
  /// time.
  public func audit() throws(StoreError) -> StoreAudit {
    for _ in 0..<Self.maxWaitsForLargeRequests {
      if let audit = try audit(duringLargeRequest: false) { return audit }
      _ = try connection.ask(.once("SELECT pg_sleep(0.1)"))
    }
    return try audit(duringLargeRequest: true) ?? StoreAudit()
  }

  /// Maximum number of waits of 0.1 s for large requests.
  private static let maxWaitsForLargeRequests = 300

  /// Audits the database once; nil while a large request is being moved to its lines, unless `duringLargeRequest` is
  /// true.
  private func audit(duringLargeRequest: Bool) throws(StoreError) -> StoreAudit? {
    try connection.inSnapshot { () throws(StoreError) in
      let staged = try connection.ask(.once("SELECT EXISTS (SELECT FROM bank.staged_batch)"))[0]
      if staged.boolean(0, 0) == true, !duringLargeRequest { return nil }
      // The audit reads whole tables. The settings of the connection are for other queries, which use keys.
      _ = try connection.ask(
        .once("SET LOCAL enable_seqscan = on"), .once("SET LOCAL enable_bitmapscan = on"))
      var record = AuditRecord(services: services)
      try find(into: &record) { record throws(StoreError) in
        _ = try refresh()
        record = AuditRecord(services: services)
        var days = try readDays(&record)
        try auditIntake(&days, &record)
        let counts = try readTallies(&days, &record)
        try auditReceiptClaims(days, counts, &record)
        try auditCommits(days, &record)
      }
      try find(into: &record) { record throws(StoreError) in try auditClaims(&record) }
      try find(into: &record) { record throws(StoreError) in try auditReleases(&record) }
      for messageDetail in try serverFaults() { record.note(messageDetail) }
      return record.finished()
    }
  }

  /// Remark that says whether commits wait for a standby, beside the server's own disk. It is not a finding.
  public func replicationNote() throws(StoreError) -> MessageDetail {
    let (_, commit, standbys) = try serverSettings()
    return standbys.isEmpty || Self.isUnawaited(commit)
      ? MessageDetail(.standbyAsynchronous) : MessageDetail(.standbySynchronous, commit, standbys)
  }

  /// Findings about settings of the server under which it can lose commits.
  private func serverFaults() throws(StoreError) -> [MessageDetail] {
    let (fsync, commit, standbys) = try serverSettings()
    var faults: [MessageDetail] = []
    if fsync == "off" { faults.append(MessageDetail(.fsyncOff)) }
    // The sessions of the bank replace `off` by `on`. Waiting for the server's disk is sufficient if no standby is
    // configured.
    if commit == "local" && !standbys.isEmpty {
      faults.append(MessageDetail(.synchronousCommitOff, commit))
    }
    return faults
  }

  /// Remark about the checks that the audit skips if a clock was set back on the present day; nil for none.
  public func clockNote() throws(StoreError) -> MessageDetail? {
    let day = try presentDay()
    return try clockWasSetBack(on: day) ? MessageDetail(.clockSetBack, day) : nil
  }

  /// True if a branch has recorded that a clock was set back on this day.
  private func clockWasSetBack(on day: BusinessDay) throws(StoreError) -> Bool {
    let rows = try connection.ask(.once("SELECT value FROM bank.meta WHERE name = 'clock set back'"))[0]
    return rows.integer(0, 0) == day
  }

  /// True if a commit does not wait for a standby with this value of `synchronous_commit`.
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

  /// Data about one day.
  struct AuditedDay {
    var day: BusinessDay
    /// True for the present day, which has not ended.
    var isPresent: Bool
    /// True if its receipts were not pruned.
    var isKept: Bool
    /// Last issued ticket.
    var issued: TicketNumber = 0
    var dayCounters: DayCounters
  }

  /// Reads all days, and checks that they are numbered consecutively and that only the last one is open.
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
      if number != Int64(days.count) + 1 {
        record.note(MessageDetail(.dayOutOfOrder, number, days.count + 1))
      }
      let isPresent = cursor.boolean(4)
      if cursor.boolean(2), !isPresent { record.note(MessageDetail(.dayNotClosed, number)) }
      guard ReceiptSequence.days ~= number else { continue }
      var dayCounters = DayCounters(day: number, openedAt: WallTime(milliseconds: cursor.integer(1)))
      dayCounters.know(services: services.count)
      days.append(
        AuditedDay(
          day: number, isPresent: isPresent, isKept: cursor.boolean(3) || isPresent, dayCounters: dayCounters)
      )
    }
    return days
  }

  /// Checks that tickets were issued consecutively, each once.
  private func auditIntake(_ days: inout [AuditedDay], _ record: inout AuditRecord) throws(StoreError) {
    var indexes: [BusinessDay: Int] = [:]
    for (index, day) in days.enumerated() { indexes[day.day] = index }
    var cursor = try SnapshotCursor(
      connection, "batches", "SELECT day, first, last FROM bank.ticket_batch ORDER BY day, last")
    while try cursor.step() {
      let (day, first, last) = (cursor.integer(0), cursor.integer(1), cursor.integer(2))
      guard let index = indexes[day], first >= 1, last <= Limits.ticket else {
        record.note(MessageDetail(.keyOfUnissuedRange, first, last, day))
        continue
      }
      let before = days[index].issued
      if first > before + 1 { record.note(MessageDetail(.ticketGap, before + 1, first - 1, day)) }
      if first <= before { record.note(MessageDetail(.ticketsIssuedTwice, first, min(before, last), day)) }
      days[index].issued = max(before, last)
    }
    for day in days { record.audit.issued += day.issued }
  }

  /// Adds the counts that the branches have stored, by day and lane, to the counters of each day. Returns the numbers
  /// of delayed customers of the present day by service.
  private func readTallies(
    _ days: inout [AuditedDay], _ record: inout AuditRecord
  ) throws(StoreError) -> [Int64] {
    var indexes: [BusinessDay: Int] = [:]
    for (index, day) in days.enumerated() { indexes[day.day] = index }
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
      guard let index = indexes[cursor.integer(0)] else {
        record.note(
          MessageDetail(.rowInvalid, "bank.counter_delta", "\(cursor.integer(0))-\(cursor.integer(1))"))
        continue
      }
      days[index].dayCounters.add(counts, of: try line(of: cursor.integer(1)))
    }
    for day in days where day.isKept {
      record.compare(.issuedCountDiffers, ["\(day.day)"], bankID: day.dayCounters.issued, rows: day.issued)
    }
    return days.last?.dayCounters.delayedByService ?? []
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
          MessageDetail(
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
    while try cursor.step() {
      record.note(MessageDetail(.releaseNotFound, cursor.integer(0), cursor.integer(1)))
    }
    try cursor.close()
  }

  /// Limit for the counts of a damaged database, so that their sums do not overflow.
  private static let mostCounted: Int64 = 1 << 48

  // MARK: - All tickets

  /// Audits all tickets of each day, and compares their numbers with the counts.
  private func auditReceiptClaims(
    _ days: [AuditedDay], _ delayed: [Int64], _ record: inout AuditRecord
  ) throws(StoreError) {
    var walk = ReceiptScan(last: days.last?.day ?? 0)
    var customers = CustomerCounts()
    let present = days.last?.day ?? 0
    let steps = try branchesWithClockSteps(on: present)
    let isOrdered = try !clockWasSetBack(on: present)
    for day in days where day.isKept {
      var holders = ClaimAudit(self, day, disordered: steps, isOrdered: isOrdered)
      try holders.run(&walk, &customers, &record)
    }
    record.count(customers)
    for day in days where day.isKept {
      let found = walk.counts[day.day] ?? DayReceipts()
      record.compare(.servedCountDiffers, ["\(day.day)"], bankID: day.dayCounters.served, rows: found.served)
      record.compare(
        .cancelledCountDiffers, ["\(day.day)"], bankID: day.dayCounters.cancelled, rows: found.cancelled)
      if !day.isPresent,
        day.dayCounters.waitingInAll != 0 || day.dayCounters.delayed != 0 || day.dayCounters.dead != 0
      {
        record.note(MessageDetail(.dayClosedEarly, day.day))
      }
    }
    guard let present = days.last else { return record.note(MessageDetail(.noBusinessDay)) }
    record.compare(present.dayCounters, customers, walk.counts[present.day], delayed: delayed)
  }

  /// Branches whose clocks do not show the order in which they started customers, because a later commit has an earlier
  /// time.
  private func branchesWithClockSteps(on day: BusinessDay) throws(StoreError) -> Set<PostgresBranch> {
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

extension DayCounters {
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
