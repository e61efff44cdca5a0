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
  private static let fence = """
    fence AS MATERIALIZED (SELECT FROM bank.branch WHERE id = $1 AND epoch = $2 FOR KEY SHARE)
    """
  private static let page = """
    c.position, c.amount, c.account, c.issued_ms, c.attempts, c.crashes, c.failures, c.article, \
    octet_length(c.payload)::bigint
    """
  /// Columns of ``page``.
  static let pageColumns = 9

  // MARK: - A branch and its lease

  /// A branch begins, or begins anew. The name, and how long the lease is in milliseconds.
  static let join = PostgresStatement(
    "bank-join", [.text, .integer],
    """
    INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing)
    VALUES ($1, 1, clock_timestamp() + $2 * interval '1 ms', pg_current_xact_id())
    ON CONFLICT (name) DO UPDATE
    SET epoch = b.epoch + 1, expires_at = excluded.expires_at, fencing = pg_current_xact_id()
    RETURNING id, epoch
    """)

  /// Branch, epoch, and how long the lease is from now on.
  static let renew = PostgresStatement(
    "bank-renew", [.integer, .integer, .integer],
    """
    UPDATE bank.branch SET expires_at = clock_timestamp() + $3 * interval '1 ms'
    WHERE id = $1 AND epoch = $2 RETURNING id
    """)

  /// The branches whose lease has run out and who may have something.
  static let expired = PostgresStatement(
    "bank-expired", [],
    """
    SELECT id, epoch, name FROM bank.branch b WHERE expires_at < clock_timestamp()
    AND EXISTS (SELECT FROM bank.claim k WHERE k.branch = b.id AND k.epoch = b.epoch)
    """)

  /// Ends the epoch of a branch whose lease has run out. Branch and epoch.
  static let fenceExpired = PostgresStatement(
    "bank-fence", [.integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, fencing = pg_current_xact_id()
    WHERE id = $1 AND epoch = $2 AND expires_at < clock_timestamp() RETURNING id
    """)

  /// Ends one's own epoch, whatever the lease. Branch and epoch.
  static let leave = PostgresStatement(
    "bank-leave", [.integer, .integer],
    """
    UPDATE bank.branch SET epoch = epoch + 1, expires_at = '-infinity', fencing = pg_current_xact_id()
    WHERE id = $1 AND epoch = $2 RETURNING id
    """)

  /// Gives back what the epoch has left that this transaction has ended; nothing where it has ended none. Claims of which
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
        AND k.epoch = (SELECT epoch - 1 FROM bank.branch WHERE fencing = pg_current_xact_id())
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

  /// The first position of those who wait in a lane, less one ticket. In SQL all these operators bind alike, from the left.
  private static func base(_ lane: String) -> String { "((1::bigint << 60) | (\(lane) << 40))" }

  // MARK: - Intake

  /// The lock under which tickets are given.
  static let lockIntake = PostgresStatement(
    "bank-lock-intake", [],
    "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")

  /// Gives tickets to those of one request, or tells which were given before under the same key. Branch, epoch, day, key and
  /// what is asked for under it, how many, and of each: lane and state as the first part of the position, amount, account,
  /// moment of issue, moment before which nobody is to be served (0 for at once), article, payload.
  static let intake = PostgresStatement(
    "bank-intake",
    [
      .integer, .integer, .integer, .text, .integer, .integer, .integers, .integers, .integers, .integer,
      .integers,
      .texts, .manyBytes,
    ],
    """
    WITH \(fence), known AS (SELECT day, first, last, request FROM bank.intake WHERE key = $4),
    number AS (
      SELECT coalesce((SELECT last FROM bank.intake WHERE day = $3 ORDER BY last DESC LIMIT 1), 0) AS last
      WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known)
    ), taken AS (
      INSERT INTO bank.intake (day, first, last, branch, key, request)
      SELECT $3, number.last + 1, number.last + $6, $1, $4, $5 FROM number RETURNING day, first, last
    ), added AS (
      INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, article, payload)
      SELECT o.base | (taken.first + o.number - 1), o.amount, o.account, $10, nullif(o.due, 0), o.article, o.payload
      FROM taken CROSS JOIN
        unnest($7, $8, $9, $11, $12, $13) WITH ORDINALITY AS o (base, amount, account, due, article, payload, number)
    )
    SELECT true, day, first, last, NULL::bigint FROM taken
    UNION ALL SELECT false, day, first, last, request FROM known WHERE EXISTS (SELECT FROM fence)
    """)

  // MARK: - Claiming

  /// The lock under which new pages of a lane are claimed.
  static let lockLane = PostgresStatement(
    "bank-lock-lane", [.integer],
    "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), $1::int)")

  /// Claims the first of what was given back in a lane, and tells who is left of it. Branch, epoch, lane.
  static let claimReturned = PostgresStatement(
    "bank-claim-returned", [.integer, .integer, .integer],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.returned r WHERE EXISTS (SELECT FROM fence) AND (r.lane, r.first) = (
        SELECT lane, first FROM bank.returned WHERE lane = $3 ORDER BY first LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING r.lane, r.first, r.last
    ), taken AS (
      INSERT INTO bank.claim SELECT lane, first, last, $1, $2, clock_timestamp() FROM gone RETURNING lane, first, last
    )
    SELECT \(page) FROM taken CROSS JOIN LATERAL (
      SELECT * FROM bank.customer
      WHERE position BETWEEN \(base("taken.lane")) + taken.first AND \(base("taken.lane")) + taken.last
      ORDER BY position OFFSET 0) AS c
    ORDER BY c.position
    """)

  /// Claims the next page of a lane, behind everything that was ever claimed of it, and tells who is in it. Behind the lane's
  /// lock and in its segment. Branch, epoch, lane, and how many customers at most.
  static let claimNext = PostgresStatement(
    "bank-claim-next", [.integer, .integer, .integer, .integer],
    """
    WITH \(fence), page AS MATERIALIZED (
      SELECT * FROM bank.customer
      WHERE EXISTS (SELECT FROM fence) AND position < \(base("($3 + 1)"))
        AND position > \(base("$3")) + greatest(
          coalesce((SELECT last FROM bank.claim WHERE lane = $3 ORDER BY last DESC LIMIT 1), 0),
          coalesce((SELECT max(last) FROM bank.returned WHERE lane = $3), 0))
      ORDER BY position LIMIT $4
    ), taken AS (
      INSERT INTO bank.claim
      SELECT $3, min(position) - \(base("$3")), max(position) - \(base("$3")), $1, $2, clock_timestamp()
      FROM page HAVING count(*) > 0
    )
    SELECT \(page) FROM page c ORDER BY c.position
    """)

  /// Gives back a part of one page of one's own, such as a customer whom an operator has brought back. What lies before and
  /// behind it stays claimed. Branch, epoch, lane, first and last ticket.
  static let giveBackPart = PostgresStatement(
    "bank-give-back-part", [.integer, .integer, .integer, .integer, .integer],
    """
    WITH \(fence), cut AS (
      DELETE FROM bank.claim WHERE EXISTS (SELECT FROM fence) AND branch = $1 AND epoch = $2
        AND first <= $4 AND last >= $5 AND $5 >= $4 AND (lane, last) = (
          SELECT lane, last FROM bank.claim WHERE lane = $3 AND last >= $4 ORDER BY last LIMIT 1)
      RETURNING *
    ), former AS (INSERT INTO bank.former_claim SELECT lane, first, last, branch, epoch, at FROM cut),
    before AS (INSERT INTO bank.claim SELECT lane, first, $4 - 1, branch, epoch, at FROM cut WHERE first < $4),
    behind AS (INSERT INTO bank.claim SELECT lane, $5 + 1, last, branch, epoch, at FROM cut WHERE last > $5)
    INSERT INTO bank.returned SELECT lane, $4, $5 FROM cut RETURNING lane, first, last
    """)

  /// What a customer carries. The position.
  static let payload = PostgresStatement(
    "bank-payload", [.integer], "SELECT payload FROM bank.customer WHERE position = $1")

  // MARK: - Completing

  /// Ends customers: what comes back has a receipt by this, and nobody else has been changed. Branch, epoch, the number of
  /// this commit, day, and of each: position, outcome, place (-1 for no window), generation, pid, attempts, debit and credit
  /// (both `Int64.min` where nothing was moved), moment of the start (-1 for none), moment of the end.
  static let complete = PostgresStatement(
    "bank-complete",
    [.integer, .integer, .integer, .integer] + Array(repeating: .integers, count: 10),
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.customer WHERE position = ANY ($5) AND EXISTS (SELECT FROM fence)
      RETURNING position, amount, account, issued_ms, article
    ), written AS (
      INSERT INTO bank.receipt
      SELECT $4, gone.position & \(ticketMask), (gone.position >> 40) & 1048575, outcome, nullif(place, -1), generation,
        pid, attempts, amount, account, nullif(debit, \(nothing)), nullif(credit, \(nothing)), issued_ms,
        nullif(started_ms, -1), finished_ms, article, $1, $2, $3
      FROM gone JOIN unnest($5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        AS w (position, outcome, place, generation, pid, attempts, debit, credit, started_ms, finished_ms)
        ON w.position = gone.position
      RETURNING ticket
    ), counted AS (
      INSERT INTO bank.tally SELECT $1, $2, $3, $4, (SELECT count(*) FROM written) FROM fence
    )
    SELECT array_agg(ticket) FROM written
    """)

  private static let ticketMask = "1099511627775"
  private static let nothing = "(-9223372036854775807 - 1)"

  /// Which of these tickets have a receipt, and by whose commit. Day and tickets.
  static let receipts = PostgresStatement(
    "bank-receipts", [.integer, .integers],
    """
    SELECT ticket, branch, epoch, commit_no FROM bank.receipt WHERE day = $1 AND ticket = ANY ($2) ORDER BY ticket
    """)

  /// The last commit of an epoch that is in the books. Branch and epoch.
  static let lastCommit = PostgresStatement(
    "bank-last-commit", [.integer, .integer],
    "SELECT max(commit_no) FROM bank.tally WHERE branch = $1 AND epoch = $2")
}
