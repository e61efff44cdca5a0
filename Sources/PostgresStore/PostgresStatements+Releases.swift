// SQL statements about possible reservations of a branch's stock for cancelled tickets.
// Invariant: any branch writes a row of `stock_release`, in the transaction that cancels. Only the branch whose number
// is in the row deletes it, after the stock of that branch has released the reservation or has none.
import Postgres

extension PostgresStatements {
  /// Maximum number of tickets per query.
  static let releasesAtOnce = 256

  /// Adds the tickets of a commit's cancelled customers, for which the stock may have reservations. Requires the
  /// statement that finished them, earlier in the segment. Parameters: branch, epoch, number of the commit, tickets.
  static let addReleases = PostgresStatement(
    "bank-owe", [.integer, .integer, .integer, .integers],
    """
    INSERT INTO bank.stock_release SELECT l.branch, r.day, r.ticket, r.issued_ms
    FROM bank.receipt r JOIN bank.lane l ON l.number = r.lane
    WHERE r.day = \(today) AND r.ticket = ANY ($4) AND r.branch = $1 AND r.epoch = $2 AND r.commit_no = $3 AND l.branch > 0
    ON CONFLICT DO NOTHING
    """)

  /// Tickets for which the stock of a branch must be asked: day, ticket, issue time. Parameter: branch.
  static let pollReleases = PostgresStatement(
    "bank-look-releases", [.integer],
    """
    SELECT day, ticket, issued_ms FROM bank.stock_release WHERE branch = $1 ORDER BY day, ticket LIMIT \(releasesAtOnce)
    """)

  /// Deletes the rows of released tickets. Parameters: branch, epoch, and per ticket: day and number.
  static let released = PostgresStatement(
    "bank-released", [.integer, .integer, .integers, .integers],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.stock_release r USING unnest($3, $4) AS w (day, ticket)
      WHERE r.branch = $1 AND r.day = w.day AND r.ticket = w.ticket AND EXISTS (SELECT FROM fence)
    )
    SELECT EXISTS (SELECT FROM fence)
    """)
}
