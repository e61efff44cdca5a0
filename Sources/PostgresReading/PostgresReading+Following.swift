// Owns the receipts of all branches for whoever follows them: of each branch those behind the last that was seen.
// Invariant: a branch's commits take effect in their order, and none of a former epoch behind one of a later; so nothing of a
// branch is seen late, whatever the others do. All branches are read in one snapshot.
import BankModel
import Postgres
import PostgresStore
import QueueCore

extension PostgresReading {
  /// The receipts of all branches behind these marks, from a day on.
  ///
  /// - Parameters:
  ///   - marks: of each branch the last receipt that was seen; of a branch without one everything is wanted.
  ///   - service: of which service; nil for all.
  ///   - limit: about so many, from 1: each branch has its share of them, and sixteen at least.
  public func receipts(
    from day: BusinessDay, behind marks: [ReceiptMark], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts {
    let lanes = service.map { service in lines.filter { $0.value.service == service }.map(\.key) }
    let rows = try connection.ask(
      Self.following(
        .integers(marks.map(\.branch)), .integers(marks.map(\.epoch)), .integers(marks.map(\.commit)),
        .integers(marks.map(\.ticket)), .integer(day), lanes.map { .integers($0) } ?? .null,
        .integer(Int64(max(1, limit))), .integer(Int64([Receipt].longestResults))))[0]
    let first = rows.columns - 4
    var portions: [MergedReceipts.Portion] = []
    for row in 0..<rows.count {
      let receipt = try receipt(rows, row)
      guard let branch = receipt.branch, let epoch = rows.integer(row, first),
        let commit = rows.integer(row, first + 1), let wasThere = rows.integer(row, first + 2),
        let portion = rows.integer(row, first + 3)
      else { throw damage(of: "receipt", "\(receipt.day)-\(receipt.ticket)") }
      let mark = ReceiptMark(branch: branch, epoch: epoch, commit: commit, ticket: receipt.ticket)
      if portions.last?.receipts.last?.mark.branch != branch { portions.append(.init([], isCut: false)) }
      let last = portions.count - 1
      portions[last].receipts.append(MarkedReceipt(receipt, mark))
      portions[last].isCut = wasThere >= portion || portions[last].receipts.count < wasThere
    }
    return MergedReceipts(portions)
  }

  /// Of each branch the receipts behind its mark, until they or their results are as many as are its share. Branches, epochs,
  /// commits and tickets of the marks; day, lanes or nothing; how many in all, and how many bytes of results. Behind each
  /// receipt come its epoch and commit, how many of its branch there were, and of how many there may be more.
  private static let following = PostgresStatement(
    "follow-receipts", [.integers, .integers, .integers, .integers, .integer, .integers, .integer, .integer],
    """
    WITH share AS MATERIALIZED (
      SELECT greatest(16, $7 / greatest(1, count(*))) AS rows, greatest(1, $8 / greatest(1, count(*))) AS bytes
      FROM bank.branch)
    SELECT \(columns), \(result), epoch, commit_no, was_there, share.rows
    FROM share CROSS JOIN (SELECT id FROM bank.branch) AS b
      LEFT JOIN unnest($1, $2, $3, $4) AS m (seen, in_epoch, with_commit, last) ON m.seen = b.id
      CROSS JOIN LATERAL (
        SELECT *, count(*) OVER () AS was_there,
          sum(\(size)) OVER (ORDER BY epoch, commit_no, ticket ROWS UNBOUNDED PRECEDING) - (\(size)) AS before
        FROM (
          SELECT * FROM bank.receipt AS r
          WHERE r.branch = b.id AND r.day >= $5 AND ($6 IS NULL OR r.lane = ANY ($6))
            AND (r.epoch, r.commit_no, r.ticket) > (coalesce(m.in_epoch, 0), coalesce(m.with_commit, 0), coalesce(m.last, 0))
          ORDER BY r.epoch, r.commit_no, r.ticket LIMIT share.rows) AS r) AS r
    WHERE before < share.bytes ORDER BY b.id, r.epoch, r.commit_no, r.ticket
    """)
}
