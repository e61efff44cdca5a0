// Owns every statement that a branch runs often. It knows the tables and sends nothing.
// Invariant: whatever changes the books for a branch says under which epoch, and holds the branch's row until the commit (the
// fence): a late word of an old epoch finds no such row and changes nothing.
//
// A lock and what it guards are two statements of one segment: the second sees what was committed before it got the lock, the
// first would not. A fence may wait for whoever raises the epoch, and is looked at anew then, so it needs no lock before it.
//
// A plan is made once, often when the tables are empty, and must be the right one with a million rows as well: so what is looked
// for is found by a key in every statement, and the sessions are told to do nothing else (``PostgresPlace/ofBooks(_:)``).
import Postgres

extension PostgresPlace {
  /// The address of the books that branches share; see ``PostgresPlace``.
  ///
  /// To the planner a table that was just emptied is best read from end to end, and nobody tells the sessions when that has
  /// changed. Nor must what was completed be held against its customers one by one.
  ///
  /// - Throws: as ``PostgresPlace`` does.
  public static func ofBooks(_ address: String) throws(PostgresError) -> PostgresPlace {
    try PostgresPlace(
      address, wishes: ["enable_seqscan=off", "enable_bitmapscan=off", "enable_nestloop=off"])
  }
}

enum PostgresStatements {
  /// The row of the branch, held against a change of its epoch. Of parameters `$1` (branch) and `$2` (epoch).
  static let fence = """
    fence AS MATERIALIZED (SELECT FROM bank.branch WHERE id = $1 AND epoch = $2 FOR KEY SHARE)
    """
  static let today = "(SELECT max(day) FROM bank.day)"
  static let ticketMask = "1099511627775"
  static let laneMask = "1048575"
  /// The lane in a position.
  static func lane(_ position: String = "position") -> String { "((\(position) >> 40) & \(laneMask))" }
  /// The first position of those who wait in a lane, less one ticket. In SQL all these operators bind alike, from the left.
  static func base(_ lane: String) -> String { "((1::bigint << 60) | (\(lane) << 40))" }
  /// The last ticket of a lane that was ever claimed.
  static func front(_ lane: String) -> String {
    """
    greatest(coalesce((SELECT last FROM bank.claim WHERE lane = \(lane) ORDER BY last DESC LIMIT 1), 0), \
    coalesce((SELECT max(last) FROM bank.returned WHERE lane = \(lane)), 0))
    """
  }
  /// Whether somebody may wait in a lane whom nobody has.
  static func hasUnclaimed(_ lane: String) -> String {
    """
    (EXISTS (SELECT FROM bank.returned WHERE lane = \(lane)) OR (SELECT position FROM bank.customer
      WHERE position > \(base(lane)) + \(front(lane)) AND position < \(base(lane)) + \(gate(lane))
      ORDER BY position LIMIT 1) IS NOT NULL)
    """
  }

  // MARK: - A branch and its lease

  /// A branch begins, or begins anew. The name, how long the lease is in milliseconds, the machine, the epoch in which it
  /// was as far as it knows, and the proof of which home on which running machine it is. A server that follows a lost one may
  /// know less. Nothing comes back if the name belongs to another home whose lease still runs.
  static let join = PostgresStatement(
    "bank-join", [.text, .integer, .text, .integer, .text],
    """
    INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing, host, opened_ms, version, proof)
    VALUES ($1, $4 + 1, clock_timestamp() + $2 * interval '1 ms', pg_current_xact_id(), $3,
      \(PostgresSchema.nowMilliseconds), \(PostgresSchema.version), $5)
    ON CONFLICT (name) DO UPDATE
    SET epoch = greatest(b.epoch, $4) + 1, expires_at = excluded.expires_at, fencing = pg_current_xact_id(),
      host = excluded.host, opened_ms = excluded.opened_ms, version = excluded.version, proof = excluded.proof,
      closed = false, oldest_ms = NULL
    WHERE b.proof = $5 OR b.closed OR b.expires_at <= clock_timestamp()
    RETURNING id, epoch
    """)

  /// The epoch and the transactions of a branch before it joins; no row where it never did. Its name.
  static let former = PostgresStatement(
    "bank-former", [.text], "SELECT epoch, commits FROM bank.branch WHERE name = $1")

  /// The branch of a name as another home has it: its epoch, its machine, and when its lease ends, in microseconds. The name.
  static let namesake = PostgresStatement(
    "bank-namesake", [.text],
    "SELECT epoch, host, \(leaseEnd) FROM bank.branch WHERE name = $1 AND NOT closed"
  )

  /// Branch, epoch, how long the lease is from now on, windows, transactions so far, and the moment of issue of the customer
  /// who has waited longest in its hands. Back comes how many transactions the books have counted before.
  static let renew = PostgresStatement(
    "bank-renew", [.integer, .integer, .integer, .integer, .integer, .integer],
    """
    UPDATE bank.branch SET expires_at = clock_timestamp() + $3 * interval '1 ms', windows = $4, commits = $5, oldest_ms = $6
    WHERE id = $1 AND epoch = $2 RETURNING (SELECT commits FROM bank.branch WHERE id = $1)
    """)

  /// The branches whose lease has run out and who may have something, or have left slices of a request without tickets.
  static let expired = PostgresStatement(
    "bank-expired", [],
    """
    SELECT id, epoch, name FROM bank.branch b WHERE expires_at < clock_timestamp()
    AND (EXISTS (SELECT FROM bank.claim k WHERE k.branch = b.id AND k.epoch = b.epoch) OR EXISTS (
      SELECT FROM bank.arriving a WHERE a.branch = b.id AND NOT EXISTS (
        SELECT FROM bank.batch t WHERE t.branch = a.branch AND t.epoch = a.epoch AND t.number = a.number)))
    """)

  /// Ends the epoch of a branch whose lease has run out. Branch, epoch, and the end of the lease in microseconds, which a rescuer
  /// has seen not to move for its length; 0 where the database's clock decides.
  static let fenceExpired = PostgresStatement(
    "bank-fence", [.integer, .integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, fencing = pg_current_xact_id(), expires_at = '-infinity'
    WHERE id = $1 AND epoch = $2
      AND CASE WHEN $3 = 0 THEN expires_at < clock_timestamp() ELSE \(leaseEnd) = $3 END RETURNING id
    """)
  /// When a lease ends, in microseconds since 1970; NULL where it was ended.
  static let leaseEnd = "(extract(epoch FROM nullif(expires_at, '-infinity')) * 1000000)::bigint"

  /// Ends one's own epoch, whatever the lease. Branch and epoch.
  static let leave = PostgresStatement(
    "bank-leave", [.integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, expires_at = '-infinity', fencing = pg_current_xact_id(), closed = true,
      windows = 0, oldest_ms = NULL
    WHERE id = $1 AND epoch = $2 RETURNING id
    """)

  /// Gives back what the epochs have left that this transaction has ended; nothing where it has ended none. Claims of which
  /// everybody was served stay. Behind the statement that ends the epoch and in its segment: that one may have waited for a
  /// claim or a completion, which only a later statement sees. Before the first who waits in a lane there is nobody to be looked
  /// for, so the claims of a long day cost nothing.
  static let giveBack = PostgresStatement(
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
      WHERE k.branch = (SELECT id FROM bank.branch WHERE fencing = pg_current_xact_id())
        AND k.epoch < (SELECT epoch FROM bank.branch WHERE fencing = pg_current_xact_id())
        AND k.last >= front.first
    ), cut AS (
      DELETE FROM bank.claim WHERE ctid = ANY (ARRAY (
        SELECT place FROM near WHERE (
          SELECT c.position FROM bank.customer c WHERE c.position BETWEEN
            \(base("near.lane")) + near.first AND \(base("near.lane")) + near.last LIMIT 1) IS NOT NULL))
      RETURNING *
    ), former AS (INSERT INTO bank.former_claim SELECT lane, first, last, branch, epoch, at FROM cut)
    INSERT INTO bank.returned SELECT lane, first, last FROM cut RETURNING lane, first, last
    """)

  /// Tells everybody that somebody waits in these lanes.
  static let tellReturned = PostgresStatement(
    "bank-tell-returned", [],
    "SELECT count(pg_notify('\(channel)', lane::text)) FROM (SELECT DISTINCT lane FROM bank.returned) AS l")
  /// Where it is told that somebody waits (the lane), or that something else is to be looked at (nothing).
  static let channel = "bank"

  // MARK: - Claiming

  /// The lock under which pages of a lane are claimed.
  static let lockLane = PostgresStatement(
    "bank-lock-lane", [.integer],
    "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), $1::int)")

  /// What there is to know of a customer in a page.
  private static let page = """
    c.position, c.amount, c.account, c.issued_ms, c.attempts, c.crashes, c.failures, c.begun, c.is_begun, c.article, c.payload
    """
  /// Columns of ``page``.
  static let pageColumns = 11
  /// Bytes of payloads with which a page ends.
  static let longestPayloads = 8 << 20
  /// More than this is not sent while the lane is locked, in bytes: it is asked for by the claim's number. A customer without a
  /// payload takes about 128.
  private static let longestUnderLock = 32 << 10
  /// The position of the row that comes in the place of such a page.
  static let elsewhere: Int64 = -1
  private static let marker =
    "SELECT \(elsewhere)::bigint, 0, 0, 0, 0, 0, 0, 0, false, NULL::text, NULL::bytea"
  private static func isHeavy(_ bytes: String) -> String {
    "count(*) * 128 + coalesce(sum(\(bytes)), 0) > \(longestUnderLock)"
  }

  /// When a page is claimed: not before the last page in front, also if the database's clock was set back since. By these moments
  /// the audit finds a page that was claimed out of turn.
  private static let claimedAt = """
    greatest(clock_timestamp(), (SELECT at FROM bank.claim WHERE lane = $3 ORDER BY last DESC LIMIT 1))
    """

  /// Claims the first of what was given back in a lane, and tells who is left of it. Behind the lane's lock and in its
  /// segment. Branch, epoch, lane, of how many tickets at most besides the first piece, and the claim's number.
  static let claimReturned = PostgresStatement(
    "bank-claim-returned", [.integer, .integer, .integer, .integer, .integer],
    """
    WITH \(fence), pieces AS MATERIALIZED (
      SELECT lane, first, last FROM bank.returned WHERE lane = $3 AND EXISTS (SELECT FROM fence)
      ORDER BY first LIMIT 256 FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM bank.returned WHERE lane = $3 AND first = ANY (ARRAY (
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

  /// Claims the next page of a lane, behind everything that was ever claimed of it, and tells who is in it. Behind the lane's
  /// lock and in its segment. Branch, epoch, lane, how many customers at most, and the claim's number.
  static let claimNext = PostgresStatement(
    "bank-claim-next", [.integer, .integer, .integer, .integer, .integer],
    """
    WITH \(fence), long AS MATERIALIZED (
      SELECT position, octet_length(payload) AS bytes FROM bank.customer
      WHERE EXISTS (SELECT FROM fence) AND position < \(base("$3")) + \(gate("$3"))
        AND position > \(base("$3")) + \(front("$3"))
      ORDER BY position LIMIT $4
    ), page AS MATERIALIZED (
      SELECT min(position) AS first, CASE WHEN sum(bytes) >= \(longestPayloads) THEN (
        SELECT max(position) FROM (
          SELECT position, sum(bytes) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM long) AS l
        WHERE before IS NULL OR before < \(longestPayloads)) ELSE max(position) END AS last, \(isHeavy("bytes")) AS is_heavy
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

  /// Who is in the pages that were claimed under a number. Branch, epoch, number.
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

  /// Whether anything was claimed under a number. Branch, epoch, number.
  static let hasClaimed = PostgresStatement(
    "bank-has-claimed", [.integer, .integer, .integer],
    "SELECT EXISTS (SELECT FROM bank.claim WHERE branch = $1 AND epoch = $2 AND number = $3)")

  /// What a customer carries. The position.
  static let payload = PostgresStatement(
    "bank-payload", [.integer], "SELECT payload FROM bank.customer WHERE position = $1")

  // MARK: - Connections

  /// When the server's process for this connection has begun, and who the server is: its timeline (a standby that takes over
  /// is on another one), its identifier, and whether it has books.
  static let begin = PostgresStatement(
    "bank-begin", [],
    """
    SELECT \(beganAt), ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,
      (SELECT system_identifier FROM pg_control_system()), to_regclass('bank.meta') IS NOT NULL
    FROM pg_stat_activity a WHERE pid = pg_backend_pid()
    """)
  /// The number of the books.
  static let sight = PostgresStatement(
    "bank-sight", [], "SELECT (SELECT value FROM bank.meta WHERE name = 'books')")
  private static let beganAt = "(extract(epoch FROM a.backend_start) * 1000000)::bigint"

  /// Ends former processes of the server, and tells how many of them are still there. Their numbers, and when they began.
  static let endFormer = PostgresStatement(
    "bank-end-former", [.integers, .integers],
    """
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a JOIN unnest($1, $2) AS w (pid, began)
    ON a.pid = w.pid AND \(beganAt) = w.began
    """)
}
