// SQL statements for a large request for tickets. The slices of the request are stored first, without tickets. Then one
// short transaction issues its tickets. Then its customers are moved to their lines, a few slices in each transaction.
// A list whose customers have keys is an exception: its customers are moved when the tickets are issued.
// Invariant: tickets are issued only if all slices are at the server. A request that has its tickets is complete and
// durable, so any branch may continue it. Only its own branch continues a request without tickets.
import Postgres

extension PostgresStatements {
  /// Slices that one transaction moves to `customer`.
  private static let slicesAtOnce = 4

  /// SQL expression: exclusive upper bound of the tickets of a lane that may be claimed while large requests are being
  /// moved to it; the highest ticket if there are none.
  static func claimLimit(_ lane: String) -> String {
    "coalesce((SELECT min(next) FROM bank.staged_batch WHERE \(lane) = ANY (lanes)), \(ticketMask))"
  }

  /// Stores one slice, once. Parameters: branch and present epoch; epoch and number of the request; index of the slice,
  /// and the number of customers before it; lanes, with the waiting and delayed customers in each; then per customer as
  /// in ``intake``, with its own key and digest. Returns true if the epoch is valid.
  static let storeSlice = PostgresStatement(
    "bank-arrive",
    [
      .integer, .integer, .integer, .integer, .integer, .integer, .integers, .integers, .integers, .integers,
      .integers,
      .integers, .integers, .texts, .manyBytes, .texts, .integers,
    ],
    """
    WITH \(fence), arrived AS (
      INSERT INTO bank.staged_slice
      SELECT $1, $3, $4, $5, $6, cardinality($10), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17 FROM fence
      ON CONFLICT DO NOTHING
    )
    SELECT EXISTS (SELECT FROM fence)
    """)

  /// Makes the commit of this transaction not wait for the disk. A branch sends slices again if a server has lost them.
  static let asynchronousCommit = PostgresStatement(
    "bank-arrive-unawaited", [], "SELECT set_config('synchronous_commit', 'off', true)")

  /// Issues tickets to a request whose slices are all stored; result as in ``intake``. Parameters: branch, epoch,
  /// number of the commit, key and digest, number of customers, issue time, epoch and number of the request, and its
  /// lanes. Requires the intake lock.
  static let issue = PostgresStatement(
    "bank-issue",
    [.integer, .integer, .integer, .text, .integer, .integer, .integer, .integer, .integer, .integers],
    """
    WITH \(fence), \(presentDay), known AS (
      SELECT day, first, last, request_digest FROM bank.ticket_batch WHERE key = $4
    ), repeated AS (
      SELECT day, first, last FROM bank.ticket_batch WHERE branch = $1 AND epoch = $8 AND request_number = $9
    ), staged AS MATERIALIZED (
      SELECT coalesce(sum(count), 0) = $6 AS is_whole FROM bank.staged_slice
      WHERE branch = $1 AND epoch = $8 AND request_number = $9
    ), number AS (
      SELECT day, \(number) AS last FROM today WHERE NOT draining AND EXISTS (SELECT FROM fence)
        AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated) AND (SELECT is_whole FROM staged)
    ), taken AS (
      INSERT INTO bank.ticket_batch (day, first, last, branch, key, request_digest, epoch, request_number)
      SELECT day, number.last + 1, number.last + $6, $1, $4, $5, $8, $9 FROM number RETURNING day, first, last
    ), packed AS (
      INSERT INTO bank.staged_batch (branch, epoch, request_number, day, first, next, last, issued_ms, lanes)
      SELECT $1, $8, $9, day, first, first, last, $7, $10 FROM taken
    ), counted AS (
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane) SELECT $1, $2, $3, day, 0 FROM taken
    )
    SELECT 0::bigint, day, first, last, NULL::bigint, 0::bigint FROM taken
    UNION ALL SELECT 2, day, first, last, NULL, 0 FROM repeated WHERE EXISTS (SELECT FROM fence)
    UNION ALL SELECT 1, day, first, last, request_digest, 0 FROM known
      WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 3, day, 0, 0, NULL, 0 FROM today
      WHERE draining AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 5, day, 0, 0, NULL, 0 FROM today
      WHERE NOT draining AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known)
        AND NOT EXISTS (SELECT FROM repeated) AND NOT (SELECT is_whole FROM staged)
    """)

  /// Issues tickets for a list whose customers have keys of their own; result as in ``intakeList``, or
  /// `unstaged` if slices are missing. The customers are moved in the same transaction. Parameters: branch, epoch,
  /// number of the commit, issue time, epoch and number of the request, and number of customers.
  static let issueList = PostgresStatement(
    "bank-issue-list", [.integer, .integer, .integer, .integer, .integer, .integer, .integer],
    list(
      given: """
        given AS MATERIALIZED (
          SELECT o.base, o.amount, o.account, o.due, o.item_name, o.payload, o.key, o.digest,
            a.customers_before + o.number AS place
          FROM (SELECT * FROM bank.staged_slice WHERE branch = $1 AND epoch = $5 AND request_number = $6) AS a
            CROSS JOIN LATERAL unnest(a.position_bases, a.amounts, a.accounts, a.due_times, a.item_names, a.payloads,
            a.keys, a.digests) WITH ORDINALITY
            AS o (base, amount, account, due, item_name, payload, key, digest, number)
        )
        """,
      keys: "ARRAY (SELECT key FROM given WHERE key IS NOT NULL)",
      bases: "ARRAY (SELECT DISTINCT base FROM given)",
      isWhole: "(SELECT count(*) = $7 FROM given)"))

  /// Locks a large request that is being moved, against other branches that continue it. Parameters: branch, and epoch
  /// and number of the request.
  static let lockBatch = PostgresStatement(
    "bank-lock-batch", [.integer, .integer, .integer],
    "SELECT next FROM bank.staged_batch WHERE branch = $1 AND epoch = $2 AND request_number = $3 FOR UPDATE")

  /// Moves the next slices of a large request to `customer`, where branches may claim them. Requires ``lockBatch`` in
  /// the same segment. Parameters: branch, and epoch and number of the request. Returns true if more are left, and the
  /// number of notified lanes.
  static let moveSlices = PostgresStatement(
    "bank-unpack", [.integer, .integer, .integer],
    """
    WITH held AS MATERIALIZED (
      SELECT * FROM bank.staged_batch WHERE branch = $1 AND epoch = $2 AND request_number = $3
    ), slices AS MATERIALIZED (
      SELECT ctid AS place, a.* FROM bank.staged_slice a
      WHERE branch = $1 AND epoch = $2 AND request_number = $3 AND EXISTS (SELECT FROM held)
      ORDER BY part LIMIT \(slicesAtOnce)
    ), gone AS (
      DELETE FROM bank.staged_slice WHERE ctid = ANY (ARRAY (SELECT place FROM slices))
    ), added AS (
      INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, item_name, payload)
      SELECT o.base | (held.first + s.customers_before + o.number - 1), o.amount, o.account, held.issued_ms,
        nullif(o.due, 0), o.item_name, o.payload
      FROM held CROSS JOIN slices s CROSS JOIN LATERAL
        unnest(s.position_bases, s.amounts, s.accounts, s.due_times, s.item_names, s.payloads) WITH ORDINALITY
        AS o (base, amount, account, due, item_name, payload, number)
    ), reached AS MATERIALIZED (
      SELECT held.first + max(s.customers_before + s.count) AS next FROM held CROSS JOIN slices s GROUP BY held.first
    ), moved AS (
      UPDATE bank.staged_batch b SET next = reached.next FROM reached
      WHERE b.branch = $1 AND b.epoch = $2 AND b.request_number = $3 AND reached.next <= b.last
    ), ended AS (
      DELETE FROM bank.staged_batch b USING reached
      WHERE b.branch = $1 AND b.epoch = $2 AND b.request_number = $3 AND reached.next > b.last
    ), counted AS (
      INSERT INTO bank.counter_delta AS t (branch, epoch, commit_no, day, lane, issued, waiting, delayed)
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

  /// A limited number of large requests whose customers are still being moved, of this branch and of branches that are
  /// not open. Parameter: branch.
  static let pollLargeRequests = PostgresStatement(
    "bank-look-batches", [.integer],
    """
    SELECT branch, epoch, request_number FROM bank.staged_batch b WHERE branch = $1 OR NOT EXISTS (
      SELECT FROM bank.branch WHERE id = b.branch AND NOT closed AND lease_expires_at > clock_timestamp())
    ORDER BY branch, epoch, request_number LIMIT 8
    """)

  /// Deletes slices of a branch that belong to no row of `staged_batch`, except those of the requests to keep.
  /// Parameters: branch, epoch, and epochs and numbers of these requests.
  static let deleteSlices = PostgresStatement(
    "bank-forget-arriving", [.integer, .integer, .integers, .integers],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.staged_slice a WHERE branch = $1 AND EXISTS (SELECT FROM fence) AND NOT EXISTS (
        SELECT FROM unnest($3, $4) AS kept (epoch, request_number)
        WHERE kept.epoch = a.epoch AND kept.request_number = a.request_number)
        AND NOT EXISTS (
          SELECT FROM bank.staged_batch b
          WHERE b.branch = a.branch AND b.epoch = a.epoch AND b.request_number = a.request_number)
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM fence), (SELECT count(*) FROM gone)
    """)

  /// Deletes the slices without tickets of the branch whose epoch this transaction has ended. A branch that is still
  /// running sends them again.
  static let forgetArrivingOfEnded = PostgresStatement(
    "bank-forget-ended", [],
    """
    DELETE FROM bank.staged_slice a WHERE branch = (SELECT id FROM bank.branch WHERE epoch_xid = pg_current_xact_id())
      AND NOT EXISTS (
        SELECT FROM bank.staged_batch b
        WHERE b.branch = a.branch AND b.epoch = a.epoch AND b.request_number = a.request_number)
    """)
}
