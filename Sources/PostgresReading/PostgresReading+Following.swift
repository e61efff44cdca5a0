// Owns the receipts of all branches for whoever follows them: of each branch those behind the last that were seen.
// Invariant: a branch's commits take effect in their order, and none of a former epoch behind one of a later; so nothing of a
// branch is seen late, whatever the others do. What it cancels goes another way, in an order of its own. All is read in one snapshot.
import BankModel
import Postgres
import PostgresStore
import QueueCore

extension PostgresReading {
  /// The receipts of all branches behind these marks, from a day on.
  ///
  /// - Parameters:
  ///   - marks: of each branch the last receipts that were seen, of customers who were attended to and of cancelled ones; where
  ///     there is none everything is wanted.
  ///   - service: of which service; nil for all.
  ///   - limit: about so many, from 1: each branch has its share of them, and sixteen at least.
  public func receipts(
    from day: BusinessDay, behind marks: [ReceiptMark], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts {
    let lanes = service.map { service in lines.filter { $0.value.service == service }.map(\.key) }
    let rows = try connection.ask(
      Self.following(
        .integers(marks.map(\.branch)), .integers(marks.map { $0.isCancelled ? 1 : 0 }),
        .integers(marks.map(\.epoch)), .integers(marks.map(\.commit)), .integers(marks.map(\.ticket)),
        .integer(day), lanes.map { .integers($0) } ?? .null, .integer(Int64(max(1, limit))),
        .integer(Int64([Receipt].longestResults))))[0]
    let first = rows.columns - 4
    var portions: [MergedReceipts.Portion] = []
    for row in 0..<rows.count {
      let receipt = try receipt(rows, row)
      guard let branch = receipt.branch, let epoch = rows.integer(row, first),
        let commit = rows.integer(row, first + 1), let wasThere = rows.integer(row, first + 2),
        let portion = rows.integer(row, first + 3)
      else { throw damage(of: "receipt", "\(receipt.day)-\(receipt.ticket)") }
      let mark = ReceiptMark(
        branch: branch, epoch: epoch, commit: commit, ticket: receipt.ticket,
        isCancelled: receipt.outcome == .cancelled)
      if portions.last?.receipts.last?.mark.isOfSameOrder(as: mark) != true {
        portions.append(.init([], isCut: false))
      }
      let last = portions.count - 1
      portions[last].receipts.append(MarkedReceipt(receipt, mark))
      portions[last].isCut = wasThere >= portion || portions[last].receipts.count < wasThere
    }
    return MergedReceipts(portions)
  }

  /// Of each branch, and of the attended to (0) and the cancelled (1), the receipts behind the mark, until they or their results
  /// are as many as are its share. Branches, kinds, epochs, commits and tickets of the marks; day, lanes or nothing; how many in
  /// all, and how many bytes of results. Behind each receipt come its epoch and commit, how many of its kind there were, and of
  /// how many there may be more.
  private static let following = PostgresStatement(
    "follow-receipts",
    [.integers, .integers, .integers, .integers, .integers, .integer, .integers, .integer, .integer],
    """
    WITH share AS MATERIALIZED (
      SELECT greatest(16, $8 / greatest(1, 2 * count(*))) AS rows, greatest(1, $9 / greatest(1, 2 * count(*))) AS bytes
      FROM bank.branch)
    SELECT \(columns), \(result), epoch, commit_no, was_there, share.rows
    FROM share CROSS JOIN (SELECT id FROM bank.branch) AS b CROSS JOIN (VALUES (0::bigint), (1)) AS k (kind)
      LEFT JOIN unnest($1, $2, $3, $4, $5) AS m (seen, in_kind, in_epoch, with_commit, last)
        ON m.seen = b.id AND m.in_kind = k.kind
      CROSS JOIN LATERAL (
        SELECT *, count(*) OVER () AS was_there,
          sum(\(size)) OVER (ORDER BY epoch, commit_no, ticket ROWS UNBOUNDED PRECEDING) - (\(size)) AS before
        FROM (\(attendedTo) UNION ALL \(cancelled)) AS r) AS r
    WHERE before < share.bytes ORDER BY b.id, k.kind, r.epoch, r.commit_no, r.ticket
    """)

  /// Those who were attended to stand in their commits, which are gone through from the mark on until there are enough.
  private static let attendedTo = """
    (SELECT r.* FROM (
        SELECT * FROM bank.commit WHERE k.kind = 0 AND branch = b.id AND day >= $6
          AND (epoch, commit_no) >= (coalesce(m.in_epoch, 0), coalesce(m.with_commit, 0))
        ORDER BY epoch, commit_no OFFSET 0) AS c
      CROSS JOIN LATERAL (
        SELECT * FROM bank.receipt AS r WHERE r.day = c.day AND r.ticket = ANY (c.tickets) AND \(wanted)
        ORDER BY r.ticket OFFSET 0) AS r
      ORDER BY c.epoch, c.commit_no, r.ticket LIMIT share.rows)
    """

  /// The cancelled have an index of their own.
  private static let cancelled = """
    (SELECT * FROM bank.receipt AS r
      WHERE k.kind = 1 AND r.outcome = 2 AND r.branch = b.id AND r.day >= $6 AND \(wanted)
      ORDER BY r.epoch, r.commit_no, r.ticket LIMIT share.rows)
    """

  /// Behind the mark, and of the lanes that are wanted.
  private static let wanted = """
    ($7 IS NULL OR r.lane = ANY ($7))
        AND (r.epoch, r.commit_no, r.ticket) > (coalesce(m.in_epoch, 0), coalesce(m.with_commit, 0), coalesce(m.last, 0))
    """
}
