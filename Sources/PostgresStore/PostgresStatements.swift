// SQL statements that a branch executes.
// The comment of a statement lists its parameters in order, and its result.
//
// Invariant: a transaction that changes customers for a branch contains the epoch of the branch, and locks the branch's
// row until the commit (the fence). A late transaction of an ended epoch does not find the row and changes no customer.
// Tasks that any branch may repeat have no fence, such as the move of a large request to its lines.
//
// A lock and the statement that it guards are two statements of one segment. The second statement sees everything
// that was committed before the lock was acquired; a single statement would not. A fence needs no preceding lock
// statement: if it has waited for a transaction that raises the epoch, it reads the row again.
//
// A plan is made once, often while the tables are empty, and must also be efficient with a million rows. So statements
// find rows of large tables by a key, and the sessions disable other plans (``PostgresURL/ofSharedStore(_:)``).
import Postgres

extension PostgresURL {
  /// Address of the shared database, with the settings of its sessions; see ``PostgresURL``.
  ///
  /// For a table that was just emptied the planner chooses a sequential scan, and a session keeps this plan when the
  /// table has grown again. The planner must also not join the finished tickets with the customers by a nested loop.
  ///
  /// - Throws: the errors of ``PostgresURL``.
  public static func ofSharedStore(_ address: String) throws(PostgresError) -> PostgresURL {
    try PostgresURL(
      address, sessionDefaults: ["enable_seqscan=off", "enable_bitmapscan=off", "enable_nestloop=off"])
  }
}

/// The prepared SQL statements of a branch.
enum PostgresStatements {
  /// Row of the branch, locked against a change of its epoch. Parameters: `$1` branch, `$2` epoch.
  static let fence = """
    fence AS MATERIALIZED (SELECT FROM bank.branch WHERE id = $1 AND epoch = $2 FOR KEY SHARE)
    """
  /// SQL expression: number of the present day.
  static let today = "(SELECT max(day) FROM bank.day)"
  /// Bits of a position that contain the ticket.
  static let ticketMask = "1099511627775"
  /// Bits of a lane's number.
  static let laneMask = "1048575"
  /// SQL expression: the lane in a position.
  static func lane(_ position: String = "position") -> String { "((\(position) >> 40) & \(laneMask))" }
  /// SQL expression: position before the first waiting customer of a lane. It is in parentheses, because these
  /// operators have equal precedence.
  static func base(_ lane: String) -> String { "((1::bigint << 60) | (\(lane) << 40))" }
  /// SQL expression: the last ticket of a lane that was ever claimed; 0 for none.
  static func lastClaimed(_ lane: String) -> String {
    """
    greatest(coalesce((SELECT last FROM bank.claim WHERE lane = \(lane) ORDER BY last DESC LIMIT 1), 0), \
    coalesce((SELECT max(last) FROM bank.returned_range WHERE lane = \(lane)), 0))
    """
  }
  /// SQL condition: a lane may have waiting customers that no branch has claimed.
  static func hasUnclaimed(_ lane: String) -> String {
    """
    (EXISTS (SELECT FROM bank.returned_range WHERE lane = \(lane)) OR (SELECT position FROM bank.customer
      WHERE position > \(base(lane)) + \(lastClaimed(lane)) AND position < \(base(lane)) + \(claimLimit(lane))
      ORDER BY position LIMIT 1) IS NOT NULL)
    """
  }

  // MARK: - A branch and its lease

  /// Joins or rejoins. Parameters: name, length of the lease in milliseconds, host name, last epoch that the branch
  /// remembers, and identity of the home and of the running machine. The remembered epoch is necessary after a
  /// failover, because the new server may lack the latest one. Returns no row if the name belongs to another home
  /// whose lease is valid.
  static let join = PostgresStatement(
    "bank-join", [.text, .integer, .text, .integer, .text],
    """
    INSERT INTO bank.branch AS b (name, epoch, lease_expires_at, epoch_xid, host, opened_ms, schema_version,
      holder_identity)
    VALUES ($1, $4 + 1, clock_timestamp() + $2 * interval '1 ms', pg_current_xact_id(), $3,
      \(PostgresSchema.nowMilliseconds), \(PostgresSchema.version), $5)
    ON CONFLICT (name) DO UPDATE
    SET epoch = greatest(b.epoch, $4) + 1, lease_expires_at = excluded.lease_expires_at,
      epoch_xid = pg_current_xact_id(), host = excluded.host, opened_ms = excluded.opened_ms,
      schema_version = excluded.schema_version, holder_identity = excluded.holder_identity, closed = false,
      oldest_issued_ms = NULL
    WHERE b.holder_identity = $5 OR b.closed OR b.lease_expires_at <= clock_timestamp()
    RETURNING id, epoch
    """)

  /// Epoch and number of transactions of a branch before it joins; no row if the branch has never joined. Parameter:
  /// name.
  static let former = PostgresStatement(
    "bank-former", [.text], "SELECT epoch, commits FROM bank.branch WHERE name = $1")

  /// The open branch of this name: epoch, host name, and end of the lease in microseconds since 1970. It belongs to
  /// another home if ``join`` has returned no row. Parameter: name.
  static let nameHolder = PostgresStatement(
    "bank-namesake", [.text],
    "SELECT epoch, host, \(leaseEnd) FROM bank.branch WHERE name = $1 AND NOT closed"
  )

  /// Renews a lease. Parameters: branch, epoch, length of the lease from now on, windows, transactions so far, and
  /// issue time of the longest-waiting customer that the branch owns. Returns the number of transactions that the
  /// previous renewal has stored.
  static let renew = PostgresStatement(
    "bank-renew", [.integer, .integer, .integer, .integer, .integer, .integer],
    """
    UPDATE bank.branch SET lease_expires_at = clock_timestamp() + $3 * interval '1 ms', windows = $4, commits = $5,
      oldest_issued_ms = $6
    WHERE id = $1 AND epoch = $2 RETURNING (SELECT commits FROM bank.branch WHERE id = $1)
    """)

  /// Branches with an expired lease that have claims, or slices of a request without tickets: number, epoch, name.
  static let expired = PostgresStatement(
    "bank-expired", [],
    """
    SELECT id, epoch, name FROM bank.branch b WHERE lease_expires_at < clock_timestamp()
    AND (EXISTS (SELECT FROM bank.claim k WHERE k.branch = b.id AND k.epoch = b.epoch) OR EXISTS (
      SELECT FROM bank.staged_slice a WHERE a.branch = b.id AND NOT EXISTS (
        SELECT FROM bank.staged_batch t
        WHERE t.branch = a.branch AND t.epoch = a.epoch AND t.request_number = a.request_number)))
    """)

  /// Ends the epoch of a branch with an expired lease. Parameters: branch, epoch, and the end of the lease in
  /// microseconds, which the caller has seen unchanged for the length of the lease; 0 to let the server's clock decide.
  /// Returns no row if the lease was renewed or the epoch has ended.
  static let fenceExpired = PostgresStatement(
    "bank-fence", [.integer, .integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, epoch_xid = pg_current_xact_id(), lease_expires_at = '-infinity'
    WHERE id = $1 AND epoch = $2
      AND CASE WHEN $3 = 0 THEN lease_expires_at < clock_timestamp() ELSE \(leaseEnd) = $3 END RETURNING id
    """)
  /// End of a lease, in microseconds since 1970; NULL if it was ended.
  static let leaseEnd = "(extract(epoch FROM nullif(lease_expires_at, '-infinity')) * 1000000)::bigint"

  /// Ends the branch's own epoch, even if its lease has expired. Parameters: branch and epoch.
  static let leave = PostgresStatement(
    "bank-leave", [.integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, lease_expires_at = '-infinity', epoch_xid = pg_current_xact_id(),
      closed = true, windows = 0, oldest_issued_ms = NULL
    WHERE id = $1 AND epoch = $2 RETURNING id
    """)

  /// Returns the claims of the epochs that this transaction has ended, if any. Claims without waiting customers remain.
  /// The statement that ends the epoch must precede this one in the segment. The preceding statement may have waited
  /// for a claim or a completion, which only a later statement sees. Claims before the first waiting customer of a lane
  /// are skipped, so the statement does not look up the customers of these claims.
  static let returnClaimed = PostgresStatement(
    "bank-give-back", [],
    """
    WITH RECURSIVE lanes (lane) AS (
      (SELECT lane FROM bank.claim ORDER BY lane LIMIT 1) UNION ALL
      SELECT (SELECT k.lane FROM bank.claim k WHERE k.lane > lanes.lane ORDER BY k.lane LIMIT 1)
      FROM lanes WHERE lane IS NOT NULL
    ), front AS MATERIALIZED (
      SELECT lane, (
        SELECT position & \(ticketMask) FROM bank.customer
        WHERE position > \(base("lanes.lane")) AND position < \(base("(lanes.lane + 1)"))
        ORDER BY position LIMIT 1) AS first
      FROM lanes WHERE lane IS NOT NULL
    ), near AS MATERIALIZED (
      SELECT k.ctid AS place, k.lane, k.first, k.last FROM bank.claim k JOIN front ON k.lane = front.lane
      WHERE k.branch = (SELECT id FROM bank.branch WHERE epoch_xid = pg_current_xact_id())
        AND k.epoch < (SELECT epoch FROM bank.branch WHERE epoch_xid = pg_current_xact_id())
        AND k.last >= front.first
    ), cut AS (
      DELETE FROM bank.claim WHERE ctid = ANY (ARRAY (
        SELECT place FROM near WHERE (
          SELECT c.position FROM bank.customer c WHERE c.position BETWEEN
            \(base("near.lane")) + near.first AND \(base("near.lane")) + near.last LIMIT 1) IS NOT NULL))
      RETURNING *
    ), former AS (INSERT INTO bank.released_claim SELECT lane, first, last, branch, epoch, claimed_at FROM cut)
    INSERT INTO bank.returned_range SELECT lane, first, last FROM cut RETURNING lane, first, last
    """)

  /// Notifies all branches of the lanes that have returned ranges.
  static let tellReturned = PostgresStatement(
    "bank-tell-returned", [],
    "SELECT count(pg_notify('\(channel)', lane::text)) FROM (SELECT DISTINCT lane FROM bank.returned_range) AS l"
  )
  /// Notification channel. The payload is the number of a lane that may have waiting customers, or
  /// ``cancelledElsewhere`` with a day and a ticket after a cancellation, or empty after the start of a drain or a day.
  static let channel = "bank"

  // MARK: - Claiming

  /// Lock for claiming and returning customers of a lane.
  static let lockLane = PostgresStatement(
    "bank-lock-lane", [.integer],
    "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), $1::int)")

  /// Columns of a customer in a page.
  private static let page = """
    c.position, c.amount, c.account, c.issued_ms, c.attempts, c.crashes, c.failures, c.started_attempts, c.is_running,
    c.item_name, c.payload
    """
  /// Number of columns of ``page``.
  static let pageColumns = 11
  /// Bytes of payloads at which a page ends.
  static let maxPayloadBytes = 8 << 20
  /// Maximum bytes of a page that is sent while the lane is locked. A larger page is queried later by the claim's
  /// number. A customer without a payload takes about 128 bytes.
  private static let maxBytesUnderLock = 32 << 10
  /// Position in the only row that is returned instead of a page that is larger than this maximum.
  static let oversizedPage: Int64 = -1
  private static let marker =
    "SELECT \(oversizedPage)::bigint, 0, 0, 0, 0, 0, 0, 0, false, NULL::text, NULL::bytea"
  /// SQL condition: the rows of a page exceed ``maxBytesUnderLock``.
  private static func isHeavy(_ bytes: String) -> String {
    "count(*) * 128 + coalesce(sum(\(bytes)), 0) > \(maxBytesUnderLock)"
  }

  /// Time of a claim: not before the time of the lane's claim with the highest tickets, even if the server's clock was
  /// set back. From these times the audit detects a page that was claimed out of order.
  private static let claimedAt = """
    greatest(clock_timestamp(), (SELECT claimed_at FROM bank.claim WHERE lane = $3 ORDER BY last DESC LIMIT 1))
    """

  /// Claims the first returned ranges of a lane, and returns their remaining customers. Requires the lane's lock in the
  /// same segment. Parameters: branch, epoch, lane, maximum number of tickets in these ranges, and the claim's number.
  /// The first range is claimed even if it has more tickets.
  static let claimReturned = PostgresStatement(
    "bank-claim-returned", [.integer, .integer, .integer, .integer, .integer],
    """
    WITH \(fence), pieces AS MATERIALIZED (
      SELECT lane, first, last FROM bank.returned_range WHERE lane = $3 AND EXISTS (SELECT FROM fence)
      ORDER BY first LIMIT 256 FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM bank.returned_range WHERE lane = $3 AND first = ANY (ARRAY (
        SELECT first FROM (SELECT first, sum(last - first + 1) OVER (ORDER BY first) AS through,
          row_number() OVER (ORDER BY first) AS number FROM pieces) AS f WHERE number = 1 OR through <= $4))
      RETURNING lane, first, last
    ), taken AS (
      INSERT INTO bank.claim SELECT lane, first, last, $1, $2, \(claimedAt), $5 FROM gone RETURNING lane, first, last
    ), weight AS MATERIALIZED (
      SELECT \(isHeavy("octet_length(c.payload)")) AS is_heavy FROM taken CROSS JOIN LATERAL (
        SELECT payload FROM bank.customer
        WHERE position BETWEEN \(base("taken.lane")) + taken.first AND \(base("taken.lane")) + taken.last OFFSET 0) AS c
    )
    SELECT \(page) FROM taken CROSS JOIN LATERAL (
      SELECT * FROM bank.customer
      WHERE position BETWEEN \(base("taken.lane")) + taken.first AND \(base("taken.lane")) + taken.last
      ORDER BY position OFFSET 0) AS c
    WHERE NOT (SELECT is_heavy FROM weight)
    UNION ALL \(marker) FROM weight WHERE is_heavy
    ORDER BY position
    """)

  /// Claims the next page of a lane, after all earlier claims, and returns its customers. Requires the lane's lock in
  /// the same segment. Parameters: branch, epoch, lane, maximum number of customers, and the claim's number.
  static let claimNext = PostgresStatement(
    "bank-claim-next", [.integer, .integer, .integer, .integer, .integer],
    """
    WITH \(fence), long AS MATERIALIZED (
      SELECT position, octet_length(payload) AS bytes FROM bank.customer
      WHERE EXISTS (SELECT FROM fence) AND position < \(base("$3")) + \(claimLimit("$3"))
        AND position > \(base("$3")) + \(lastClaimed("$3"))
      ORDER BY position LIMIT $4
    ), page AS MATERIALIZED (
      SELECT min(position) AS first, CASE WHEN sum(bytes) >= \(maxPayloadBytes) THEN (
        SELECT max(position) FROM (
          SELECT position, sum(bytes) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM long) AS l
        WHERE before IS NULL OR before < \(maxPayloadBytes)) ELSE max(position) END AS last, \(isHeavy("bytes")) AS is_heavy
      FROM long
    ), taken AS (
      INSERT INTO bank.claim
      SELECT $3, first - \(base("$3")), last - \(base("$3")), $1, $2, \(claimedAt), $5 FROM page
      WHERE first IS NOT NULL
    )
    SELECT \(page) FROM bank.customer c
    WHERE position BETWEEN (SELECT first FROM page) AND (SELECT last FROM page) AND NOT (SELECT is_heavy FROM page)
    UNION ALL \(marker) FROM page WHERE first IS NOT NULL AND is_heavy
    ORDER BY position
    """)

  /// Customers of the pages claimed under a number. Parameters: branch, epoch, number.
  static let claimed = PostgresStatement(
    "bank-claimed", [.integer, .integer, .integer],
    """
    SELECT \(page) FROM (
      SELECT lane, first, last FROM bank.claim WHERE branch = $1 AND epoch = $2 AND number = $3 ORDER BY lane, first OFFSET 0
    ) AS taken CROSS JOIN LATERAL (
      SELECT * FROM bank.customer
      WHERE position BETWEEN \(base("taken.lane")) + taken.first AND \(base("taken.lane")) + taken.last
      ORDER BY position OFFSET 0) AS c
    """)

  /// True if a page was claimed under a number. Parameters: branch, epoch, number.
  static let hasClaimed = PostgresStatement(
    "bank-has-claimed", [.integer, .integer, .integer],
    "SELECT EXISTS (SELECT FROM bank.claim WHERE branch = $1 AND epoch = $2 AND number = $3)")

  /// Payload of a customer. Parameter: position.
  static let payload = PostgresStatement(
    "bank-payload", [.integer], "SELECT payload FROM bank.customer WHERE position = $1")

  // MARK: - Connections

  /// Start of the server process of this connection; timeline of the server (changed by the promotion of a standby);
  /// system identifier; and true if the database has the schema of a bank.
  static let begin = PostgresStatement(
    "bank-begin", [],
    """
    SELECT \(beganAt), ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,
      (SELECT system_identifier FROM pg_control_system()), to_regclass('bank.meta') IS NOT NULL
    FROM pg_stat_activity a WHERE pid = pg_backend_pid()
    """)
  /// Random number that identifies the database, for any version of the schema: before version 4 its name was `books`.
  static let identity = PostgresStatement(
    "bank-sight", [], "SELECT (SELECT value FROM bank.meta WHERE name IN ('bank id', 'books') LIMIT 1)")
  /// Start of a server process, in microseconds since 1970.
  private static let beganAt = "(extract(epoch FROM a.backend_start) * 1000000)::bigint"

  /// Terminates earlier server processes, and returns how many of them still existed. Parameters: their pids, and their
  /// start times.
  static let endFormer = PostgresStatement(
    "bank-end-former", [.integers, .integers],
    """
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a JOIN unnest($1, $2) AS w (pid, began)
    ON a.pid = w.pid AND \(beganAt) = w.began
    """)
}
