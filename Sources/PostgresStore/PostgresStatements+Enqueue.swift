// SQL statements that issue tickets and assign numbers to lanes.
// Invariant: tickets and keys are issued under one lock that is held until the commit. So tickets have no gaps, and no
// key is stored twice.
import Postgres

extension PostgresStatements {
  /// Lock for issuing tickets.
  static let lockIntake = PostgresStatement(
    "bank-lock-intake", [],
    "SELECT pg_advisory_xact_lock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")

  /// Result of a request for tickets. `known` is for the tickets of a known key, and `repeated` for the tickets that
  /// the same request got when it was sent earlier.
  enum EnqueueOutcome: Int64 {
    case new = 0
    case known, repeated, draining
    /// The key was used by a different request.
    case conflict
    /// Slices of the request are missing and must be sent again.
    case unstaged
  }

  /// The present day, and whether the bank drains, as `today`.
  static let presentDay =
    "today AS MATERIALIZED (SELECT day, draining FROM bank.day ORDER BY day DESC LIMIT 1)"
  /// The last ticket of the present day; 0 for none.
  static let number = """
    coalesce((SELECT last FROM bank.ticket_batch WHERE day = today.day ORDER BY last DESC LIMIT 1), 0)
    """
  /// Counts the added customers.
  private static let counted = """
    counted AS (
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, issued, waiting, delayed)
      SELECT $1, $2, $3, today.day, \(lane()), count(*), count(*) FILTER (WHERE position >> 60 = 1),
        count(*) FILTER (WHERE position >> 60 = 2)
      FROM added CROSS JOIN today GROUP BY today.day, \(lane()))
    """
  /// SQL that notifies all branches of the lanes that get waiting customers and had no unclaimed customers before.
  private static func notification(_ bases: String) -> String {
    """
    told AS MATERIALIZED (
      SELECT count(pg_notify('\(channel)', l.lane::text)) AS count FROM (
        SELECT DISTINCT \(lane("base")) AS lane FROM unnest(\(bases)) AS b (base) WHERE base >> 60 = 1) AS l
      WHERE NOT \(hasUnclaimed("l.lane")))
    """
  }

  /// Issues tickets to the customers of one request, or returns those issued earlier under the same key or to the same
  /// request. Parameters: branch, epoch, number of the commit, key and digest, number of customers, issue time, epoch
  /// and number of the request. Per customer: lane and state as the upper part of the position, amount, account, due
  /// time (0 for none), item name, payload.
  static let intake = PostgresStatement(
    "bank-intake",
    [
      .integer, .integer, .integer, .text, .integer, .integer, .integer, .integer, .integer, .integers,
      .integers,
      .integers, .integers, .texts, .manyBytes,
    ],
    """
    WITH \(fence), \(presentDay), known AS (
      SELECT day, first, last, request_digest FROM bank.ticket_batch WHERE key = $4
    ), repeated AS (
      SELECT day, first, last FROM bank.ticket_batch WHERE branch = $1 AND epoch = $8 AND request_number = $9
    ), number AS (
      SELECT day, \(number) AS last FROM today WHERE NOT draining AND EXISTS (SELECT FROM fence)
        AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated)
    ), taken AS (
      INSERT INTO bank.ticket_batch (day, first, last, branch, key, request_digest, epoch, request_number)
      SELECT day, number.last + 1, number.last + $6, $1, $4, $5, $8, $9 FROM number RETURNING day, first, last
    ), added AS (
      INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, item_name, payload)
      SELECT o.base | (taken.first + o.number - 1), o.amount, o.account, $7, nullif(o.due, 0), o.item_name, o.payload
      FROM taken CROSS JOIN
        unnest($10, $11, $12, $13, $14, $15) WITH ORDINALITY
        AS o (base, amount, account, due, item_name, payload, number)
      RETURNING position
    ), \(counted), \(notification("$10"))
    SELECT 0::bigint, day, first, last, NULL::bigint, told.count FROM taken CROSS JOIN told
    UNION ALL SELECT 2, day, first, last, NULL, 0 FROM repeated WHERE EXISTS (SELECT FROM fence)
    UNION ALL SELECT 1, day, first, last, request_digest, 0 FROM known
      WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 3, day, 0, 0, NULL, 0 FROM today
      WHERE draining AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM repeated)
    """)

  /// Issues tickets to a list whose customers have keys of their own, or none. Parameters as in ``intake``, without
  /// key, digest and number of customers; per customer also key and digest (`Int64.min` for none); then all these keys
  /// without missing ones. A customer with a known key gets no new ticket. If a key was used by a different request, no
  /// customer gets one. Consecutive customers without keys share one row.
  static let intakeList = PostgresStatement(
    "bank-intake-list",
    [
      .integer, .integer, .integer, .integer, .integer, .integer, .integers, .integers, .integers, .integers,
      .texts,
      .manyBytes, .texts, .integers, .texts,
    ],
    list(
      given: """
        given AS MATERIALIZED (
          SELECT * FROM unnest($7, $8, $9, $10, $11, $12, $13, $14) WITH ORDINALITY
            AS g (base, amount, account, due, item_name, payload, key, digest, place)
        )
        """, keys: "$15", bases: "$7", isWhole: "true"))

  /// Statement that issues tickets to a list, whose customers are selected by `given`. `$1` to `$6` are as in
  /// ``intakeList``.
  static func list(given: String, keys: String, bases: String, isWhole: String) -> String {
    """
    WITH \(fence), \(presentDay), \(given), known AS MATERIALIZED (
      SELECT i.day, i.first, i.last, i.request_digest, i.key,
        i.branch = $1 AND i.epoch = $5 AND i.request_number = $6 AS is_own
      FROM bank.ticket_batch i WHERE i.key = ANY (\(keys))
    ), conflict AS MATERIALIZED (
      SELECT known.key FROM known JOIN given ON given.key = known.key
      WHERE known.request_digest <> given.digest AND given.digest <> -9223372036854775807 - 1 LIMIT 1
    ), repeated AS MATERIALIZED (
      SELECT day, first, last FROM bank.ticket_batch WHERE branch = $1 AND epoch = $5 AND request_number = $6
    ), number AS MATERIALIZED (
      SELECT day, \(number) AS last FROM today WHERE NOT draining AND EXISTS (SELECT FROM fence)
        AND NOT EXISTS (SELECT FROM conflict) AND NOT EXISTS (SELECT FROM repeated) AND \(isWhole)
    ), fresh AS MATERIALIZED (
      SELECT given.*, number.day, number.last + row_number() OVER (ORDER BY place) AS ticket
      FROM given LEFT JOIN known ON known.key = given.key CROSS JOIN number WHERE known.key IS NULL
    ), taken AS (
      INSERT INTO bank.ticket_batch (day, first, last, branch, key, request_digest, epoch, request_number)
      SELECT day, min(ticket), max(ticket), $1, key, nullif(min(digest), -9223372036854775807 - 1), $5, $6 FROM (
        SELECT day, ticket, key, digest, ticket - row_number() OVER (PARTITION BY key IS NULL ORDER BY ticket) AS run
        FROM fresh) AS f
      GROUP BY day, key, CASE WHEN key IS NULL THEN run END
      RETURNING day, first, last
    ), added AS (
      INSERT INTO bank.customer (position, amount, account, issued_ms, due_ms, item_name, payload)
      SELECT base | ticket, amount, account, $4, nullif(due, 0), item_name, payload FROM fresh RETURNING position
    ), \(counted), \(notification(bases))
    SELECT 0::bigint, day, first, last, NULL::text, told.count FROM taken CROSS JOIN told
    UNION ALL SELECT 2, day, first, last, NULL, 0 FROM repeated WHERE EXISTS (SELECT FROM fence)
    UNION ALL SELECT 1, day, first, last, NULL, 0 FROM known WHERE EXISTS (SELECT FROM fence)
      AND is_own IS NOT TRUE AND (NOT EXISTS (SELECT FROM conflict) OR EXISTS (SELECT FROM repeated))
    UNION ALL SELECT 4, 0, 0, 0, key, 0 FROM conflict WHERE EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM repeated)
    UNION ALL SELECT 3, day, 0, 0, NULL, 0 FROM today WHERE draining AND EXISTS (SELECT FROM fence)
      AND NOT EXISTS (SELECT FROM conflict) AND NOT EXISTS (SELECT FROM repeated)
      AND EXISTS (SELECT FROM given LEFT JOIN known ON known.key = given.key WHERE known.key IS NULL)
    UNION ALL SELECT 5, day, 0, 0, NULL, 0 FROM today WHERE NOT draining AND EXISTS (SELECT FROM fence)
      AND NOT EXISTS (SELECT FROM repeated) AND NOT \(isWhole)
    """
  }

  /// Paused services of a branch. Parameter: name.
  static let paused = PostgresStatement(
    "bank-paused", [.text],
    "SELECT service FROM bank.branch, unnest(paused_services) AS service WHERE name = $1")

  /// Stores the paused services of a branch. Parameters: branch, epoch, numbers of services.
  static let keepPaused = PostgresStatement(
    "bank-keep-paused", [.integer, .integer, .integers],
    "UPDATE bank.branch SET paused_services = $3 WHERE id = $1 AND epoch = $2 RETURNING id")

  /// Lock for assigning numbers to services and lanes, and for creating tables.
  static let lockNumbers = PostgresStatement("bank-lock-numbers", [], PostgresSchema.lockMigration)

  /// Assigns numbers to new services. Parameter: names.
  static let addServices = PostgresStatement(
    "bank-add-services", [.texts],
    """
    INSERT INTO bank.service SELECT (SELECT max(number) FROM bank.service) + row_number() OVER (ORDER BY place), name
    FROM unnest($1) WITH ORDINALITY AS n (name, place) WHERE name <> ALL (ARRAY (SELECT name FROM bank.service))
    """)

  /// Assigns numbers to new lanes. Parameters: services, priorities, and the only branches that serve them (0 for all).
  static let addLanes = PostgresStatement(
    "bank-add-lanes", [.integers, .integers, .integers],
    """
    INSERT INTO bank.lane SELECT
      coalesce((SELECT number FROM bank.lane ORDER BY number DESC LIMIT 1), 0) + row_number() OVER (ORDER BY place),
      service, priority_code, branch
    FROM unnest($1, $2, $3) WITH ORDINALITY AS n (service, priority_code, branch, place)
    WHERE NOT EXISTS (
      SELECT FROM bank.lane l
      WHERE l.service = n.service AND l.priority_code = n.priority_code AND l.branch = n.branch)
    """)

  /// Names of all services, by number.
  static let services = PostgresStatement(
    "bank-services", [], "SELECT name FROM bank.service ORDER BY number")
  /// Number, service, priority and only branch (0 for all) of each lane.
  static let lanes = PostgresStatement(
    "bank-lanes", [], "SELECT number, service, priority_code, branch FROM bank.lane ORDER BY number")
}
