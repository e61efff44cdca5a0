// SQL statements that return customers to their lines: customers that are due, dead letters that an operator
// requeues, and claimed customers that a branch returns unserved.
//
// Invariant: a customer that was returned, and whose ticket is not above the last ticket ever claimed, is in no claim
// until it is claimed again. It is alone in a row of `returned_range`, unless its whole range was returned. A
// transaction of these statements holds the locks of the lanes whose claims it changes. It also locks the rows of all
// branches against a change of their epochs. Without these locks, a piece of a claim that is inserted while its epoch
// ends would never be returned.
import Postgres

extension PostgresStatements {
  /// Maximum number of due customers per transaction.
  static let returnedAtOnce = 500

  /// Locks the rows of all branches against a change of their epochs.
  static let lockBranchRows = PostgresStatement(
    "bank-hold-branches", [], "SELECT id FROM bank.branch ORDER BY id FOR KEY SHARE")

  /// Parts of a statement that returns customers to their lines. `$1` and `$2` are the branch's own number and epoch,
  /// `$3` is the number of the commit.
  private struct ReturnStatement {
    var name: String
    /// Types of the parameters from `$4` on.
    var parameters: [PostgresType]
    /// Condition on the customer's row.
    var condition: String
    /// Additional assignments.
    var setting = ""
    /// Column of `counter_delta` that decreases; nil if the customers were waiting all the time.
    var counted: String?
    /// Condition on the claim.
    var claim = "true"
  }

  /// Customers that are due, up to a maximum age. Both bounds are subqueries, so that the index scan uses them as start
  /// and end.
  private static let due = ReturnStatement(
    name: "due", parameters: [.integer],
    condition: """
      due_ms <= (SELECT \(PostgresSchema.nowMilliseconds)) AND due_ms > (SELECT \(PostgresSchema.nowMilliseconds) - $4)
      """, counted: "delayed")
  /// Dead letters, up to a maximum number.
  private static let dead = ReturnStatement(
    name: "dead", parameters: [.integer],
    condition: "position BETWEEN (3::bigint << 60) AND (4::bigint << 60) - 1",
    setting: ", crashes = 0, failures = 0, started_attempts = 0, is_running = false", counted: "dead")
  /// The dead letter with the ticket `$4`.
  private static let deadTicket = ReturnStatement(
    name: "dead-ticket", parameters: [.integer],
    condition: "position = ANY (ARRAY (SELECT (3::bigint << 60) | (l.number << 40) | $4 FROM bank.lane l))",
    setting: ", crashes = 0, failures = 0, started_attempts = 0, is_running = false", counted: "dead")
  /// Waiting customers at these positions that the branch has claimed.
  private static let unserved = ReturnStatement(
    name: "unserved", parameters: [.integers], condition: "position = ANY ($4)",
    claim: "k.branch = $1 AND k.epoch = $2")

  /// Locks the lanes of due customers. Parameter: maximum age of their due times, in milliseconds.
  static let lockDue = locking(
    "bank-lock-due", [.integer], due.condition.replacing("$4", with: "$1"), limit: "\(returnedAtOnce)")
  /// Returns due customers to their lines. Parameters: branch, epoch, number of the commit, and maximum age of the due
  /// times, in milliseconds. Returns their number.
  static let requeueDue = returning(due, limit: "\(returnedAtOnce)")
  /// Locks the lanes of dead letters. Parameter: maximum number.
  static let lockDead = locking(
    "bank-lock-dead", [.integer], dead.condition.replacing("$4", with: "$1"), limit: "$1")
  /// Returns dead letters to their lines. Parameters: branch, epoch, number of the commit, maximum number. Returns
  /// their number.
  static let requeueDeadLetters = returning(dead, limit: "$4")
  /// Locks the lane of a dead letter. Parameter: ticket.
  static let lockDeadTicket = locking(
    "bank-lock-dead-ticket", [.integer], deadTicket.condition.replacing("$4", with: "$1"), limit: "1")
  /// Returns one dead letter to its line. Parameters: branch, epoch, number of the commit, ticket. Returns the number
  /// of customers.
  static let requeueTicket = returning(deadTicket, limit: "1")
  /// Returns claimed customers that were not served, if the branch owns them. Requires the lane's lock. Parameters:
  /// branch, epoch, 0, positions. Returns the number of these customers that are still waiting, owned or not.
  static let returnUnserved = returning(unserved, limit: "ALL")

  /// Statement that locks the lanes of the customers that satisfy a condition, in order.
  private static func locking(
    _ name: String, _ types: [PostgresType], _ condition: String, limit: String
  ) -> PostgresStatement {
    PostgresStatement(
      name, types,
      """
      SELECT count(pg_advisory_xact_lock(\(PostgresSchema.lockClass), lane::int)) FROM (
        SELECT DISTINCT lane FROM (SELECT \(lane()) AS lane FROM bank.customer WHERE \(condition) LIMIT \(limit)) AS c
        ORDER BY lane OFFSET 0) AS l
      """)
  }

  /// Statement that returns customers to their lines. It changes customers only in lanes that this transaction has
  /// locked, because further rows may meet the condition by now. The rest of a claim is inserted after the claim was
  /// deleted, because one of its pieces has the same key.
  private static func returning(_ kind: ReturnStatement, limit: String) -> PostgresStatement {
    PostgresStatement(
      "bank-return-\(kind.name)", [.integer, .integer, .integer] + kind.parameters,
      """
      WITH \(fence), held AS MATERIALIZED (
        SELECT objid::bigint AS lane FROM pg_locks WHERE locktype = 'advisory' AND classid = \(PostgresSchema.lockClass)
          AND objsubid = 2 AND pid = pg_backend_pid() AND granted
      ), chosen AS MATERIALIZED (
        SELECT position FROM bank.customer WHERE \(kind.condition) AND EXISTS (SELECT FROM fence)
          AND \(lane()) = ANY (ARRAY (SELECT lane FROM held)) LIMIT \(limit) FOR UPDATE SKIP LOCKED
      ), moved AS MATERIALIZED (
        \(moving(kind))
      ), owned AS MATERIALIZED (
        SELECT m.lane, m.ticket, k.* FROM moved m CROSS JOIN LATERAL (
          SELECT k.ctid AS place, k.first, k.last, k.branch, k.epoch, k.claimed_at, k.number FROM bank.claim k
          WHERE k.lane = m.lane AND k.last >= m.ticket ORDER BY k.last LIMIT 1) AS k
        WHERE k.first <= m.ticket AND \(kind.claim)
      ), cut AS (
        DELETE FROM bank.claim WHERE ctid = ANY (ARRAY (SELECT DISTINCT place FROM owned)) RETURNING lane
      ), rest AS (
        INSERT INTO bank.claim
        SELECT lane, piece_first, piece_last, branch, epoch, claimed_at, number FROM (
          SELECT lane, branch, epoch, claimed_at, number, ticket + 1 AS piece_first,
            coalesce(lead(ticket) OVER (PARTITION BY place ORDER BY ticket) - 1, last) AS piece_last FROM owned
          UNION ALL
          SELECT lane, branch, epoch, claimed_at, number, first,
            ticket - 1 FROM (SELECT DISTINCT ON (place) * FROM owned ORDER BY place, ticket) AS o
        ) AS pieces WHERE piece_first <= piece_last AND (SELECT count(*) FROM cut) > 0
      ), front AS MATERIALIZED (
        SELECT lane, \(lastClaimed("l.lane")) AS last FROM (SELECT DISTINCT lane FROM moved) AS l
      ), back AS (
        INSERT INTO bank.returned_range
        SELECT m.lane, m.ticket, m.ticket FROM moved m JOIN front ON front.lane = m.lane
        WHERE m.ticket <= front.last AND \(kind.counted == nil ? isOwned : notYetBack)
        RETURNING lane
      ), counted AS (
        \(counting(kind))
      )
      SELECT (SELECT count(*) FROM moved), (
        SELECT count(pg_notify('\(channel)', lane::text)) FROM (SELECT DISTINCT lane FROM moved) AS l
        WHERE NOT \(hasUnclaimed("l.lane"))), EXISTS (SELECT FROM fence)
      """)
  }

  /// True if the branch of the transaction has claimed the ticket.
  private static let isOwned = "m.ticket IN (SELECT ticket FROM owned)"
  /// True if the ticket is not in a range that was returned as a whole.
  private static let notYetBack = """
    coalesce((SELECT r.last FROM bank.returned_range r WHERE r.lane = m.lane AND r.first <= m.ticket
      ORDER BY r.first DESC LIMIT 1) < m.ticket, true)
    """

  /// SQL that makes the chosen customers wait; for customers that wait already, it only selects them.
  private static func moving(_ kind: ReturnStatement) -> String {
    guard kind.counted != nil else {
      return "SELECT \(lane()) AS lane, position & \(ticketMask) AS ticket FROM chosen"
    }
    return """
      UPDATE bank.customer SET position = (1::bigint << 60) | (position & ((1::bigint << 60) - 1)),
        due_ms = NULL\(kind.setting)
      WHERE position = ANY (ARRAY (SELECT position FROM chosen))
      RETURNING \(lane()) AS lane, position & \(ticketMask) AS ticket
      """
  }

  /// SQL that counts the returned customers as waiting; no count changes if they waited before.
  private static func counting(_ kind: ReturnStatement) -> String {
    guard let column = kind.counted else { return "SELECT 1" }
    return """
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, waiting, \(column))
      SELECT $1, $2, $3, \(today), lane, count(*), -count(*) FROM moved GROUP BY lane
      """
  }
}
