// Receipts of all branches for a client that follows them: of each branch, the receipts after the last ones that the
// client has seen.
// Invariant: the commits of a branch take effect in order, also across its epochs. A new receipt of a branch therefore
// has no place before a receipt already seen. Receipts of cancelled customers have a separate order. One statement
// reads the receipts in one snapshot.
import BankModel
import Postgres
import PostgresStore
import QueueCore

extension PostgresReader {
  /// The next receipts of all branches, from a day on.
  ///
  /// - Parameters:
  ///   - marks: for each branch the last seen receipt of a cancelled customer, and the last seen one of all other
  ///     customers. Without a mark the list starts at the first receipt of the day.
  ///   - service: service of the receipts; nil for all.
  ///   - limit: approximate maximum, from 1. The two lists of each branch get equal shares.
  public func receipts(
    from day: BusinessDay, behind marks: [ReceiptPosition], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts {
    let lanes = service.map { service in lines.filter { $0.value.service == service }.map(\.key) }
    let rows = try connection.ask(
      Self.following(
        .integers(marks.map(\.branch)), .integers(marks.map { $0.isCancelled ? 1 : 0 }),
        .integers(marks.map(\.epoch)), .integers(marks.map(\.commit)), .integers(marks.map(\.ticket)),
        .integer(day), lanes.map { .integers($0) } ?? .null, .integer(Int64(max(1, limit))),
        .integer(Int64([Receipt].maxResultBytes))))[0]
    let first = rows.columns - 4
    var portions: [MergedReceipts.BranchPage] = []
    for row in 0..<rows.count {
      let receipt = try receipt(rows, row)
      guard let branch = receipt.branch, let epoch = rows.integer(row, first),
        let commit = rows.integer(row, first + 1), let wasThere = rows.integer(row, first + 2),
        let portion = rows.integer(row, first + 3)
      else { throw damage(of: "receipt", "\(receipt.day)-\(receipt.ticket)") }
      let mark = ReceiptPosition(
        branch: branch, epoch: epoch, commit: commit, ticket: receipt.ticket,
        isCancelled: receipt.outcome == .cancelled)
      if portions.last?.receipts.last?.mark.isSameSequence(as: mark) != true {
        portions.append(.init([], isCut: false))
      }
      let last = portions.count - 1
      portions[last].receipts.append(ReceiptWithPosition(receipt, mark))
      portions[last].isCut = wasThere >= portion || portions[last].receipts.count < wasThere
    }
    return MergedReceipts(portions)
  }

  /// For each branch, and for its cancelled (1) and all its other customers (0), the receipts after the mark, up to the
  /// share of rows or result bytes. Parameters: branches, kinds, epochs, commits and tickets of the marks; day, lanes
  /// or null; total rows; total bytes of results. Each row contains a receipt, its epoch and commit, the number of
  /// rows of its branch and kind, and the share of rows. If the number of rows reaches the share, more receipts may
  /// follow.
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
        FROM (\(servedReceipts) UNION ALL \(cancelled)) AS r) AS r
    WHERE before < share.bytes ORDER BY b.id, k.kind, r.epoch, r.commit_no, r.ticket
    """)

  /// Receipts of customers that were not cancelled. The query finds them through the commits, from the mark on until
  /// the share is full.
  private static let servedReceipts = """
    (SELECT r.* FROM (
        SELECT * FROM bank.commit WHERE k.kind = 0 AND branch = b.id AND day >= $6
          AND (epoch, commit_no) >= (coalesce(m.in_epoch, 0), coalesce(m.with_commit, 0))
        ORDER BY epoch, commit_no OFFSET 0) AS c
      CROSS JOIN LATERAL (
        SELECT * FROM bank.receipt AS r WHERE r.day = c.day AND r.ticket = ANY (c.tickets) AND \(condition)
        ORDER BY r.ticket OFFSET 0) AS r
      ORDER BY c.epoch, c.commit_no, r.ticket LIMIT share.rows)
    """

  /// Receipts of cancelled customers have a separate index.
  private static let cancelled = """
    (SELECT * FROM bank.receipt AS r
      WHERE k.kind = 1 AND r.outcome = 2 AND r.branch = b.id AND r.day >= $6 AND \(condition)
      ORDER BY r.epoch, r.commit_no, r.ticket LIMIT share.rows)
    """

  /// Condition: after the mark, and in one of the requested lanes.
  private static let condition = """
    ($7 IS NULL OR r.lane = ANY ($7))
        AND (r.epoch, r.commit_no, r.ticket) > (coalesce(m.in_epoch, 0), coalesce(m.with_commit, 0), coalesce(m.last, 0))
    """
}
