// Owns the statements by which a large request for tickets comes into the books: slice by slice before it has tickets, then its
// tickets in one short transaction, and then its customers, slice by slice again.
// Invariant: a slice is at the server before any lock is taken. What has its tickets is whole and durable, so any branch may go
// on with it; what has none yet is seen by no branch but its own.
import Postgres

extension PostgresStatements {
  /// Slices that come into `customer` by one transaction.
  private static let slicesAtOnce = 4

  /// The last ticket of a lane behind which nobody is claimed while a large request is still coming in, or the highest there is.
  static func gate(_ lane: String) -> String {
    "coalesce((SELECT min(next) FROM bank.batch WHERE \(lane) = ANY (lanes)), \(ticketMask))"
  }

  /// One slice arrives, once. Branch and present epoch; the request's own epoch and number; the part and how many customers
  /// are in front of it; lanes, and how many wait and are delayed in each; and of each customer as in ``intake``, with its own
  /// key and what is asked for under it. Back comes whether the epoch goes on.
  static let arrive = PostgresStatement(
    "bank-arrive",
    [
      .integer, .integer, .integer, .integer, .integer, .integer, .integers, .integers, .integers, .integers,
      .integers,
      .integers, .integers, .texts, .manyBytes, .texts, .integers,
    ],
    """
    WITH \(fence), arrived AS (
      INSERT INTO bank.arriving
      SELECT $1, $3, $4, $5, $6, cardinality($10), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17 FROM fence
      ON CONFLICT DO NOTHING
    )
    SELECT EXISTS (SELECT FROM fence)
    """)

  /// Slices are made anew where a server has lost them, so no disk is waited for.
  static let arriveUnawaited = PostgresStatement(
    "bank-arrive-unawaited", [], "SELECT set_config('synchronous_commit', 'off', true)")

  /// Gives tickets to a request whose slices have all arrived: as ``intake``. Branch, epoch, number of the commit, key and what
  /// is asked for under it, how many, moment of issue, the request's own epoch and number, and its lanes. Behind the lock of the
  /// intake.
  static let issue = PostgresStatement(
    "bank-issue",
    [.integer, .integer, .integer, .text, .integer, .integer, .integer, .integer, .integer, .integers],
    """
    WITH \(fence), \(presentDay), known AS (SELECT day, first, last, request FROM bank.intake WHERE key = $4),
    repeated AS (SELECT day, first, last FROM bank.intake WHERE branch = $1 AND epoch = $8 AND number = $9),
    staged AS MATERIALIZED (
      SELECT coalesce(sum(count), 0) = $6 AS is_whole FROM bank.arriving WHERE branch = $1 AND epoch = $8 AND number = $9
    ), number AS (
      SELECT day, \(number) AS last FROM today WHERE NOT draining AND EXISTS (SELECT FROM fence)
        AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated) AND (SELECT is_whole FROM staged)
    ), taken AS (
      INSERT INTO bank.intake (day, first, last, branch, key, request, epoch, number)
      SELECT day, number.last + 1, number.last + $6, $1, $4, $5, $8, $9 FROM number RETURNING day, first, last
    ), packed AS (
      INSERT INTO bank.batch (branch, epoch, number, day, first, next, last, issued_ms, lanes)
      SELECT $1, $8, $9, day, first, first, last, $7, $10 FROM taken
    ), counted AS (
      INSERT INTO bank.tally (branch, epoch, commit_no, day, lane) SELECT $1, $2, $3, day, 0 FROM taken
    )
    SELECT 0::bigint, day, first, last, NULL::bigint, 0::bigint FROM taken
    UNION ALL SELECT 2, day, first, last, NULL, 0 FROM repeated WHERE EXISTS (SELECT FROM fence)
    UNION ALL SELECT 1, day, first, last, request, 0 FROM known
      WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 3, day, 0, 0, NULL, 0 FROM today
      WHERE draining AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 5, day, 0, 0, NULL, 0 FROM today
      WHERE NOT draining AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known)
        AND NOT EXISTS (SELECT FROM repeated) AND NOT (SELECT is_whole FROM staged)
    """)

  /// The same for a list of which customers have keys of their own, as ``intakeList``: its customers come in with their tickets.
  /// Branch, epoch, number of the commit, moment of issue, the request's own epoch and number, and how many customers it has.
  static let issueList = PostgresStatement(
    "bank-issue-list", [.integer, .integer, .integer, .integer, .integer, .integer, .integer],
    list(
      given: """
        given AS MATERIALIZED (
          SELECT o.base, o.amount, o.account, o.due, o.article, o.payload, o.key, o.digest, a.before + o.number AS place
          FROM (SELECT * FROM bank.arriving WHERE branch = $1 AND epoch = $5 AND number = $6) AS a CROSS JOIN LATERAL
            unnest(a.bases, a.amounts, a.accounts, a.dues, a.articles, a.payloads, a.keys, a.digests) WITH ORDINALITY
            AS o (base, amount, account, due, article, payload, key, digest, number)
        )
        """,
      keys: "ARRAY (SELECT key FROM given WHERE key IS NOT NULL)",
      bases: "ARRAY (SELECT DISTINCT base FROM given)",
      isWhole: "(SELECT count(*) = $7 FROM given)"))

  /// Holds a large request that is coming in, against others that go on with it. Branch, and the request's own epoch and number.
  static let lockBatch = PostgresStatement(
    "bank-lock-batch", [.integer, .integer, .integer],
    "SELECT next FROM bank.batch WHERE branch = $1 AND epoch = $2 AND number = $3 FOR UPDATE")

  /// The next slices of a large request become customers, whom any branch may claim. Behind ``lockBatch`` and in its segment.
  /// Branch, and the request's own epoch and number. Back comes whether more are left.
  static let unpack = PostgresStatement(
    "bank-unpack", [.integer, .integer, .integer],
    """
    WITH held AS MATERIALIZED (
      SELECT * FROM bank.batch WHERE branch = $1 AND epoch = $2 AND number = $3
    ), slices AS MATERIALIZED (
      SELECT ctid AS place, a.* FROM bank.arriving a
      WHERE branch = $1 AND epoch = $2 AND number = $3 AND EXISTS (SELECT FROM held) ORDER BY part LIMIT \(slicesAtOnce)
    ), gone AS (
      DELETE FROM bank.arriving WHERE ctid = ANY (ARRAY (SELECT place FROM slices))
    ), added AS (
      INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, article, payload)
      SELECT o.base | (held.first + s.before + o.number - 1), o.amount, o.account, held.issued_ms, nullif(o.due, 0),
        o.article, o.payload
      FROM held CROSS JOIN slices s CROSS JOIN LATERAL
        unnest(s.bases, s.amounts, s.accounts, s.dues, s.articles, s.payloads) WITH ORDINALITY
        AS o (base, amount, account, due, article, payload, number)
    ), reached AS MATERIALIZED (
      SELECT held.first + max(s.before + s.count) AS next FROM held CROSS JOIN slices s GROUP BY held.first
    ), moved AS (
      UPDATE bank.batch b SET next = reached.next FROM reached
      WHERE b.branch = $1 AND b.epoch = $2 AND b.number = $3 AND reached.next <= b.last
    ), ended AS (
      DELETE FROM bank.batch b USING reached
      WHERE b.branch = $1 AND b.epoch = $2 AND b.number = $3 AND reached.next > b.last
    ), counted AS (
      INSERT INTO bank.tally AS t (branch, epoch, commit_no, day, lane, issued, waiting, delayed)
      SELECT $1, 0, 0, held.day, c.lane, sum(c.waiting + c.delayed), sum(c.waiting), sum(c.delayed)
      FROM held CROSS JOIN slices s CROSS JOIN LATERAL unnest(s.lanes, s.waiting, s.delayed) AS c (lane, waiting, delayed)
      GROUP BY held.day, c.lane ORDER BY c.lane
      ON CONFLICT (branch, epoch, commit_no, day, lane) DO UPDATE SET issued = t.issued + excluded.issued,
        waiting = t.waiting + excluded.waiting, delayed = t.delayed + excluded.delayed
    )
    SELECT coalesce((SELECT reached.next <= held.last FROM reached CROSS JOIN held), false), (
      SELECT count(pg_notify('\(channel)', l.lane::text)) FROM (
        SELECT lane FROM (SELECT DISTINCT unnest(lanes) AS lane FROM slices) AS c WHERE NOT \(hasUnclaimed("c.lane"))
        UNION SELECT unnest(held.lanes) FROM held CROSS JOIN reached WHERE reached.next > held.last) AS l)
    """)

  /// Large requests that have their tickets and are still coming in, and that nobody goes on with: those of this branch, and of
  /// branches that are gone. Branch.
  static let lookAtBatches = PostgresStatement(
    "bank-look-batches", [.integer],
    """
    SELECT branch, epoch, number FROM bank.batch b WHERE branch = $1 OR NOT EXISTS (
      SELECT FROM bank.branch WHERE id = b.branch AND NOT closed AND expires_at > clock_timestamp())
    ORDER BY branch, epoch, number LIMIT 8
    """)

  /// Forgets slices of a branch for which no tickets were given, besides those of some of its requests. Branch, epoch, and the
  /// own epochs and numbers of these.
  static let forgetArriving = PostgresStatement(
    "bank-forget-arriving", [.integer, .integer, .integers, .integers],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.arriving a WHERE branch = $1 AND EXISTS (SELECT FROM fence) AND NOT EXISTS (
        SELECT FROM unnest($3, $4) AS kept (epoch, number) WHERE kept.epoch = a.epoch AND kept.number = a.number)
        AND NOT EXISTS (
          SELECT FROM bank.batch b WHERE b.branch = a.branch AND b.epoch = a.epoch AND b.number = a.number)
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM fence), (SELECT count(*) FROM gone)
    """)

  /// Forgets the same of a branch whose epoch this transaction has ended: it sends them again if it lives.
  static let forgetArrivingOfEnded = PostgresStatement(
    "bank-forget-ended", [],
    """
    DELETE FROM bank.arriving a WHERE branch = (SELECT id FROM bank.branch WHERE fencing = pg_current_xact_id())
      AND NOT EXISTS (
        SELECT FROM bank.batch b WHERE b.branch = a.branch AND b.epoch = a.epoch AND b.number = a.number)
    """)
}
