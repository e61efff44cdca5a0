// SQL statements for the whole bank: cancellations, the business day and its end, and the queries of a poll.
// Invariant: a day ends only if no customer is left, under the lock under which tickets are issued. So every customer
// belongs to the last day.
import Postgres

extension PostgresStatements {
  // MARK: - Cancelling

  /// Cancels a customer of any branch. All branches are notified, because one of them may own the customer. Parameters:
  /// branch, epoch, number of the commit, ticket. Returns true if the epoch is valid, and the former state of the
  /// customer, or null if there is none.
  static let cancel = PostgresStatement(
    "bank-cancel", [.integer, .integer, .integer, .integer],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.customer WHERE position = ANY (ARRAY (
        SELECT (state << 60) | (l.number << 40) | $4 FROM bank.lane l CROSS JOIN generate_series(1::bigint, 3) AS state))
        AND EXISTS (SELECT FROM fence)
      RETURNING *
    ), \(cancelled)
    SELECT EXISTS (SELECT FROM fence), (SELECT position >> 60 FROM gone), (
      SELECT count(pg_notify('\(channel)', '\(cancelledElsewhere)' || \(today) || ' ' || $4)) FROM gone)
    """)

  /// Prefix of the notification of a cancellation, before the day and the ticket.
  static let cancelledElsewhere = "out "

  /// Tickets of the present day that were cancelled in the claims of a branch. Parameters: branch, epoch.
  static let cancelledElsewhereOf = PostgresStatement(
    "bank-taken-out", [.integer, .integer],
    """
    SELECT array_agg(r.ticket) FROM bank.receipt r WHERE r.day = \(today) AND r.outcome = 2 AND (
      SELECT k.first <= r.ticket AND k.branch = $1 AND k.epoch = $2 FROM bank.claim k
      WHERE k.lane = r.lane AND k.last >= r.ticket ORDER BY k.last LIMIT 1)
    """)

  /// Cancels all customers, if the day has not ended. Parameters: branch, epoch, number of the commit, day. Returns
  /// true if the epoch is valid, and the number of cancelled customers.
  static let cancelAll = PostgresStatement(
    "bank-cancel-all", [.integer, .integer, .integer, .integer],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.customer WHERE position > 0 AND EXISTS (SELECT FROM fence) AND \(today) = $4 RETURNING *), \(cancelled)
    SELECT EXISTS (SELECT FROM fence), (SELECT count(*) FROM gone)
    """)

  /// Writes the receipts, stock releases and counts of the customers that `gone` has deleted.
  private static let cancelled = """
    written AS (
      INSERT INTO bank.receipt (day, ticket, lane, outcome, generation, pid, attempts, amount, account, issued_ms,
        finished_ms, item_name, branch, epoch, commit_no)
      SELECT \(today), position & \(ticketMask), \(lane()), 2, 0, 0, attempts, amount, account, issued_ms,
        \(PostgresSchema.nowMilliseconds), item_name, $1, $2, $3 FROM gone
    ), owed AS (
      INSERT INTO bank.stock_release SELECT l.branch, \(today), gone.position & \(ticketMask), gone.issued_ms
      FROM gone JOIN bank.lane l ON l.number = \(lane("gone.position")) WHERE l.branch > 0 ON CONFLICT DO NOTHING
    ), counted AS (
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, waiting, delayed, dead, cancelled)
      SELECT $1, $2, $3, \(today), \(lane()), -count(*) FILTER (WHERE position >> 60 = 1),
        -count(*) FILTER (WHERE position >> 60 = 2), -count(*) FILTER (WHERE position >> 60 = 3), count(*)
      FROM gone GROUP BY \(lane())
    )
    """

  /// State of a ticket of the present day. Parameter: ticket. Returns the state of its customer or null; then branch,
  /// epoch and commit number of its receipt, or nulls.
  static let ticketState = PostgresStatement(
    "bank-whereabouts", [.integer],
    """
    SELECT (SELECT position >> 60 FROM bank.customer WHERE position = ANY (ARRAY (
        SELECT (state << 60) | (l.number << 40) | $1 FROM bank.lane l CROSS JOIN generate_series(1::bigint, 3) AS state))),
      r.branch, r.epoch, r.commit_no
    FROM (SELECT) AS one LEFT JOIN bank.receipt r ON r.day = \(today) AND r.ticket = $1
    """)

  // MARK: - The day

  /// Starts the drain of a day that has not ended: the bank accepts no new customers. Parameters: branch, epoch, day.
  static let drain = PostgresStatement(
    "bank-drain", [.integer, .integer, .integer],
    """
    WITH \(fence), drained AS (
      UPDATE bank.day SET draining = true WHERE day = $3 AND day = \(today) AND EXISTS (SELECT FROM fence) RETURNING day
    )
    SELECT EXISTS (SELECT FROM fence), count(pg_notify('\(channel)', '')) FROM drained
    """)

  /// Ends a drain that no branch continues: no branch is open except the one whose epoch this transaction has ended,
  /// and the day has not ended. Parameter: 1; with any other value the statement does nothing.
  static let endDrain = PostgresStatement(
    "bank-end-drain", [.integer],
    """
    UPDATE bank.day SET draining = false WHERE $1 = 1 AND day = \(today) AND draining AND NOT EXISTS (
      SELECT FROM bank.branch
      WHERE epoch_xid IS DISTINCT FROM pg_current_xact_id() AND NOT closed AND lease_expires_at > clock_timestamp())
    """)

  /// Locks all lanes, in order. Requires ``lockNumbers``, so that no lane is added.
  static let lockAllLanes = PostgresStatement(
    "bank-lock-all-lanes", [],
    """
    SELECT count(pg_advisory_xact_lock(\(PostgresSchema.lockClass), number::int)) FROM (
      SELECT number FROM bank.lane ORDER BY number OFFSET 0) AS l
    """)

  /// Ends the drain of an earlier session that could not end the day, for example because dead letters were left. A
  /// branch sends this before it joins. It has no effect if the branch was not shut down cleanly, or if another branch
  /// is open. Parameter: name.
  static let continueDay = PostgresStatement(
    "bank-go-on", [.text],
    """
    UPDATE bank.day SET draining = false WHERE day = \(today) AND draining AND NOT EXISTS (
      SELECT FROM bank.branch WHERE NOT closed AND (name = $1 OR lease_expires_at > clock_timestamp()))
    RETURNING day
    """)

  /// Ends a day without customers and starts the next one. Requires the intake lock. Parameters: branch, epoch, day.
  /// Returns true if the epoch is valid, and the present day.
  static let endDay = PostgresStatement(
    "bank-end-day", [.integer, .integer, .integer],
    """
    WITH \(fence), ended AS (
      UPDATE bank.day SET closed_ms = \(PostgresSchema.nowMilliseconds), draining = false
      WHERE day = $3 AND day = \(today) AND EXISTS (SELECT FROM fence)
        AND NOT EXISTS (SELECT FROM bank.customer WHERE position > 0 LIMIT 1)
        AND NOT EXISTS (SELECT FROM bank.staged_batch)
      RETURNING day, closed_ms
    ), begun AS (INSERT INTO bank.day (day, opened_ms) SELECT day + 1, closed_ms FROM ended RETURNING day)
    SELECT EXISTS (SELECT FROM fence), coalesce((SELECT day FROM begun), \(today)), (SELECT count(pg_notify('\(channel)', '')) FROM begun)
    """)

  /// Deletes all rows of a table of claims or ranges if this transaction has ended the day. Parameter: day.
  static func deleteClaims(_ table: String) -> PostgresStatement {
    PostgresStatement(
      "bank-forget-\(table)", [.integer],
      "DELETE FROM bank.\(table) WHERE (SELECT xmin FROM bank.day WHERE day = $1) = pg_current_xact_id()::xid AND \(today) > $1"
    )
  }

  /// Ended days that still have data to prune. Parameter: the first day to keep.
  static let prunable = PostgresStatement(
    "bank-prunable", [.integer],
    """
    SELECT array_agg(day) FROM bank.day WHERE day < $1 AND closed_ms IS NOT NULL
      AND to_regclass('bank.receipt_' || day) IS NOT NULL
    """)

  /// Deletes the tickets and keys of the days before one. Parameter: the first day to keep.
  static let pruneIntake = PostgresStatement(
    "bank-prune-intake", [.integer], "DELETE FROM bank.ticket_batch WHERE day < $1 AND day < \(today)")

  // MARK: - Polling

  /// Lanes, each with true if it may have waiting customers that no branch has claimed.
  static let pollLanes = PostgresStatement(
    "bank-look-lanes", [],
    "SELECT number, service, priority_code, branch, \(hasUnclaimed("l.number")) FROM bank.lane l ORDER BY number"
  )

  /// True if a lane may have waiting customers that no branch has claimed. Parameter: lane.
  static let pollLane = PostgresStatement(
    "bank-look-lane", [.integer], "SELECT \(hasUnclaimed("$1"))")

  /// State of the day for a poll. Parameter: maximum age of a due time, in milliseconds. Returns:
  ///
  /// - the day, its start, true if the bank drains, and the server's clock;
  /// - the next due time, the number of services, the number of `BankID`, and the last ticket of the day;
  /// - the issue time of the longest-waiting customer, unclaimed or claimed by a branch.
  ///
  /// The age is limited, because the index keeps the entries of dead rows while an old snapshot is open. A query
  /// without the limit would visit each of them.
  static let pollDay = PostgresStatement(
    "bank-look-day", [.integer],
    """
    SELECT day, opened_ms, draining, \(PostgresSchema.nowMilliseconds),
      (SELECT due_ms FROM bank.customer WHERE due_ms > (SELECT \(PostgresSchema.nowMilliseconds) - $1)
        ORDER BY due_ms LIMIT 1),
      (SELECT number FROM bank.service ORDER BY number DESC LIMIT 1),
      (SELECT value FROM bank.meta WHERE name = 'bank id'),
      coalesce((SELECT last FROM bank.ticket_batch i WHERE i.day = d.day ORDER BY last DESC LIMIT 1), 0),
      least((SELECT min(first.issued_ms) FROM bank.lane l CROSS JOIN LATERAL (
          SELECT issued_ms FROM bank.customer
          WHERE position > \(base("l.number")) + \(lastClaimed("l.number")) AND position < \(base("(l.number + 1)"))
          ORDER BY position LIMIT 1) AS first),
        (SELECT min(first.issued_ms) FROM (
          SELECT lane, first, last FROM bank.returned_range ORDER BY lane, first LIMIT \(returnedRowsSearched)) AS r
          CROSS JOIN LATERAL (
          SELECT issued_ms FROM bank.customer WHERE position BETWEEN \(base("r.lane")) + r.first AND \(base("r.lane")) + r.last
          ORDER BY position LIMIT 1) AS first),
        (SELECT min(oldest_issued_ms) FROM bank.branch WHERE NOT closed AND lease_expires_at > clock_timestamp()))
    FROM bank.day d ORDER BY day DESC LIMIT 1
    """)

  /// Maximum number of rows of `returned_range` that are searched for the longest-waiting customer; they are searched
  /// in the order of lanes and tickets.
  private static let returnedRowsSearched = 256

  /// Counts of the day by branch and lane, including large requests that have tickets and are still being moved.
  static let pollCounts = PostgresStatement(
    "bank-look-numbers", [],
    """
    SELECT branch, lane, sum(issued)::bigint, sum(waiting)::bigint, sum(delayed)::bigint, sum(dead)::bigint,
      sum(served)::bigint, sum(out_of_stock)::bigint, sum(cancelled)::bigint
    FROM (
      SELECT branch, lane, issued, waiting, delayed, dead, served, out_of_stock, cancelled FROM bank.counter_delta
      WHERE day = \(today) AND lane > 0
      UNION ALL SELECT a.branch, c.lane, c.waiting + c.delayed, c.waiting, c.delayed, 0, 0, 0, 0
      FROM bank.staged_batch b JOIN bank.staged_slice a
        ON a.branch = b.branch AND a.epoch = b.epoch AND a.request_number = b.request_number
        CROSS JOIN LATERAL unnest(a.lanes, a.waiting, a.delayed) AS c (lane, waiting, delayed)) AS n
    GROUP BY branch, lane
    """)

  /// Number of the last ended day, the number of its served customers (including those with the outcome out of
  /// stock), and the number of those with this outcome.
  static let lookAtEnded = PostgresStatement(
    "bank-look-ended", [],
    """
    SELECT \(today) - 1, coalesce(sum(served + out_of_stock), 0)::bigint, coalesce(sum(out_of_stock), 0)::bigint
    FROM bank.counter_delta WHERE day = \(today) - 1 AND lane > 0
    """)

  /// All branches, with the remaining milliseconds of the lease, and its end as in ``leaseEnd``.
  static let pollBranches = PostgresStatement(
    "bank-look-branches", [],
    """
    SELECT id, name, host, epoch, closed, windows, commits,
      greatest(0,
        coalesce(extract(epoch FROM nullif(lease_expires_at, '-infinity') - clock_timestamp()) * 1000, 0))::bigint,
      \(leaseEnd)
    FROM bank.branch ORDER BY id
    """)

  /// Records that a clock was set back on a day. After that, times that branches have stored may be out of order.
  /// Parameter: day.
  static let noteClock = PostgresStatement(
    "bank-note-clock", [.integer],
    """
    INSERT INTO bank.meta AS m VALUES ('clock set back', $1)
    ON CONFLICT (name) DO UPDATE SET value = greatest(m.value, excluded.value)
    """)

  /// Identity of the database: number, day and ticket of `BankID`.
  static let bankID = PostgresStatement(
    "bank-identity", [],
    """
    SELECT (SELECT value FROM bank.meta WHERE name = 'bank id'),
      (SELECT value FROM bank.meta WHERE name = 'bank id day'),
      (SELECT value FROM bank.meta WHERE name = 'bank id ticket')
    """)
}
