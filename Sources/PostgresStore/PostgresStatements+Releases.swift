// Owns the statements about what a branch's stock may have put by for tickets that were cancelled.
// Invariant: a row of `release` is written in the transaction that cancels, whoever does, and taken out by its branch alone when
// its stock has given back: as often as it is asked in between, the stock gives back once.
import Postgres

extension PostgresStatements {
  /// How many are told at once.
  static let releasesAtOnce = 256

  /// Notes those of a commit who were cancelled and for whom something may be put by. Behind the statement that has ended them.
  /// Branch, epoch, number of the commit, tickets.
  static let owe = PostgresStatement(
    "bank-owe", [.integer, .integer, .integer, .integers],
    """
    INSERT INTO bank.release SELECT l.branch, r.day, r.ticket, r.issued_ms
    FROM bank.receipt r JOIN bank.lane l ON l.number = r.lane
    WHERE r.day = \(today) AND r.ticket = ANY ($4) AND r.branch = $1 AND r.epoch = $2 AND r.commit_no = $3 AND l.branch > 0
    ON CONFLICT DO NOTHING
    """)

  /// For which tickets the stock of a branch is to be asked: day, ticket, moment of issue. The branch.
  static let lookAtReleases = PostgresStatement(
    "bank-look-releases", [.integer],
    """
    SELECT day, ticket, issued_ms FROM bank.release WHERE branch = $1 ORDER BY day, ticket LIMIT \(releasesAtOnce)
    """)

  /// The stock of a branch has given back. Branch, epoch, and of each: day and ticket.
  static let released = PostgresStatement(
    "bank-released", [.integer, .integer, .integers, .integers],
    """
    WITH \(fence), gone AS (
      DELETE FROM bank.release r USING unnest($3, $4) AS w (day, ticket)
      WHERE r.branch = $1 AND r.day = w.day AND r.ticket = w.ticket AND EXISTS (SELECT FROM fence)
    )
    SELECT EXISTS (SELECT FROM fence)
    """)
}
