// Owns the statements by which somebody comes to be nobody's again: who is due, whom an operator has brought back, whom a
// branch has not served.
// Invariant: whoever waits and was claimed once lies alone in a row of `returned`, and in no claim. What changes the pieces of a
// lane holds the lane's lock, and against a change of their epochs the rows of all branches: a piece of a claim that is put down
// while its epoch ends would be nobody's for ever.
import Postgres

extension PostgresStatements {
  /// How many may come back in one transaction.
  static let returnedAtOnce = 500

  /// Every branch, held against a change of its epoch.
  static let holdBranches = PostgresStatement(
    "bank-hold-branches", [], "SELECT id FROM bank.branch ORDER BY id FOR KEY SHARE")

  /// Whoever comes back: the branch's own number and epoch are `$1` and `$2`, `$3` is the number of the commit.
  private struct Return {
    var name: String
    /// Types of the parameters from `$4` on.
    var parameters: [PostgresType]
    /// What has to hold of the customer's row.
    var condition: String
    /// What is set besides.
    var setting = ""
    /// The column of the tally that is less by it; nil where who comes back has waited all the time.
    var counted: String?
    /// What has to hold of the claim.
    var claim = "true"
  }

  /// Both ends as subqueries: only so the index is entered at the first moment, and left at the last.
  private static let due = Return(
    name: "due", parameters: [.integer],
    condition: """
      due_ms <= (SELECT \(PostgresSchema.nowMilliseconds)) AND due_ms > (SELECT \(PostgresSchema.nowMilliseconds) - $4)
      """, counted: "delayed")
  private static let dead = Return(
    name: "dead", parameters: [.integer],
    condition: "position BETWEEN (3::bigint << 60) AND (4::bigint << 60) - 1",
    setting: ", crashes = 0, failures = 0, begun = 0, is_begun = false", counted: "dead")
  private static let deadTicket = Return(
    name: "dead-ticket", parameters: [.integer],
    condition: "position = ANY (ARRAY (SELECT (3::bigint << 60) | (l.number << 40) | $4 FROM bank.lane l))",
    setting: ", crashes = 0, failures = 0, begun = 0, is_begun = false", counted: "dead")
  private static let unserved = Return(
    name: "unserved", parameters: [.integers], condition: "position = ANY ($4)",
    claim: "k.branch = $1 AND k.epoch = $2")

  /// Locks the lanes of those who are due. For how long they may be due, in milliseconds.
  static let lockDue = locking(
    "bank-lock-due", [.integer], due.condition.replacing("$4", with: "$1"), limit: "\(returnedAtOnce)")
  /// Those who are due wait again. Branch, epoch, number of the commit, and for how long they may be due, in milliseconds; how
  /// many there are.
  static let reviveDue = returning(due, limit: "\(returnedAtOnce)")
  /// Locks the lanes of dead letters. How many at most.
  static let lockDead = locking(
    "bank-lock-dead", [.integer], dead.condition.replacing("$4", with: "$1"), limit: "$1")
  /// Dead letters wait again. Branch, epoch, number of the commit, how many at most; how many there are.
  static let reviveDead = returning(dead, limit: "$4")
  /// Locks the lane of a dead letter. The ticket.
  static let lockDeadTicket = locking(
    "bank-lock-dead-ticket", [.integer], deadTicket.condition.replacing("$4", with: "$1"), limit: "1")
  /// A dead letter waits again. Branch, epoch, number of the commit, ticket; how many there are.
  static let reviveTicket = returning(deadTicket, limit: "1")
  /// Customers who were claimed and not served. Branch, epoch, 0, positions; how many there are. Behind the lane's lock.
  static let giveBackUnserved = returning(unserved, limit: "ALL")

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

  /// Only in lanes whose locks this transaction has: others may have come to the condition meanwhile. The rest of a claim is
  /// put down when the claim is gone, since one of the pieces has its key.
  private static func returning(_ kind: Return, limit: String) -> PostgresStatement {
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
          SELECT k.ctid AS place, k.first, k.last, k.branch, k.epoch, k.at, k.number FROM bank.claim k
          WHERE k.lane = m.lane AND k.last >= m.ticket ORDER BY k.last LIMIT 1) AS k
        WHERE k.first <= m.ticket AND \(kind.claim)
      ), cut AS (
        DELETE FROM bank.claim WHERE ctid = ANY (ARRAY (SELECT DISTINCT place FROM owned)) RETURNING lane
      ), rest AS (
        INSERT INTO bank.claim
        SELECT lane, piece_first, piece_last, branch, epoch, at, number FROM (
          SELECT lane, branch, epoch, at, number, ticket + 1 AS piece_first,
            coalesce(lead(ticket) OVER (PARTITION BY place ORDER BY ticket) - 1, last) AS piece_last FROM owned
          UNION ALL
          SELECT lane, branch, epoch, at, number, first,
            ticket - 1 FROM (SELECT DISTINCT ON (place) * FROM owned ORDER BY place, ticket) AS o
        ) AS pieces WHERE piece_first <= piece_last AND (SELECT count(*) FROM cut) > 0
      ), front AS MATERIALIZED (
        SELECT lane, \(front("l.lane")) AS last FROM (SELECT DISTINCT lane FROM moved) AS l
      ), back AS (
        INSERT INTO bank.returned
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

  private static let isOwned = "m.ticket IN (SELECT ticket FROM owned)"
  /// Not in a piece that was given back as a whole.
  private static let notYetBack = """
    coalesce((SELECT r.last FROM bank.returned r WHERE r.lane = m.lane AND r.first <= m.ticket
      ORDER BY r.first DESC LIMIT 1) < m.ticket, true)
    """

  private static func moving(_ kind: Return) -> String {
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

  private static func counting(_ kind: Return) -> String {
    guard let column = kind.counted else { return "SELECT 1" }
    return """
      INSERT INTO bank.tally (branch, epoch, commit_no, day, lane, waiting, \(column))
      SELECT $1, $2, $3, \(today), lane, count(*), -count(*) FROM moved GROUP BY lane
      """
  }
}
