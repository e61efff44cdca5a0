// Audit of the claims of each lane: no ticket is claimed twice, every waiting customer before the last claim is in a
// claim or a returned range, and pages were claimed in ticket order.
//
// A claim of several customers that was made later than a claim of higher tickets must overlap a released claim: the
// pages of a fenced branch are recorded as such when they are returned. A claim of one customer needs no such record,
// because a customer that is due or requeued returns alone.
//
// Invariant: memory does not grow with the number of claims.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Storage

extension PostgresReader {
  /// Checks the claims of all lanes, and the order in which they were made.
  func auditClaims(_ record: inout AuditRecord) throws(StoreError) {
    try auditCoverage(&record)
    try auditClaimOrder(&record)
  }

  /// A range of tickets in one lane: claimed by a branch, or returned and free to be claimed again.
  private struct ClaimRange {
    var lane, first, last: Int64
    var branch, epoch: Int64?
    /// True for a returned range, and for a claim whose branch is still in the epoch of the claim.
    var isInForce: Bool
    var isReported = false

    init?(_ row: SnapshotCursor) {
      (lane, first, last) = (row.integer(0), row.integer(1), row.integer(2))
      (branch, epoch) = (row.optional(3), row.optional(4))
      isInForce = row.boolean(5)
    }
  }

  /// Checks that claims and returned ranges do not overlap, that every waiting customer before the last of them is in
  /// one of them, and that the epoch of its claim has not ended.
  private func auditCoverage(_ record: inout AuditRecord) throws(StoreError) {
    var pieces = try SnapshotCursor(
      connection, "pieces",
      """
      SELECT lane, first, last, k.branch, k.epoch, coalesce(b.epoch = k.epoch, false)
      FROM bank.claim k LEFT JOIN bank.branch b ON b.id = k.branch
      UNION ALL SELECT lane, first, last, NULL, NULL, true FROM bank.returned_range ORDER BY 1, 2, 3
      """)
    let waiting = CustomerRowKey.all(of: .waiting)
    var customers = try SnapshotCursor(
      connection, "waiting",
      """
      SELECT position FROM bank.customer WHERE position BETWEEN \(waiting.lowerBound) AND \(waiting.upperBound)
      ORDER BY position
      """)
    var hasCustomer = try customers.step()
    // The last ticket of the lane that the preceding pieces have covered.
    var before: (lane: Int64, last: Int64) = (0, 0)
    while try pieces.step() {
      guard var piece = ClaimRange(pieces) else { continue }
      if piece.lane == before.lane, piece.first <= before.last {
        note(.claimsOverlap, piece.lane, [piece.first, min(piece.last, before.last)], &record)
      }
      before = (piece.lane, piece.lane == before.lane ? max(before.last, piece.last) : piece.last)
      while hasCustomer {
        let position = customers.integer(0)
        let (lane, ticket) = (PostgresPosition.lane(position), PostgresPosition.ticket(position))
        if (lane, ticket) > (piece.lane, piece.last) { break }
        if lane == piece.lane {
          if ticket < piece.first {
            note(.claimMissing, lane, [ticket], &record)
          } else if !piece.isInForce, !piece.isReported {
            piece.isReported = true
            note(.claimOfEndedEpoch, lane, [ticket, piece.branch ?? 0, piece.epoch ?? 0], &record)
          }
        }
        hasCustomer = try customers.step()
      }
    }
    for cursor in [pieces, customers] { try cursor.close() }
  }

  /// Checks that no page of several tickets was claimed later than a page of higher tickets in the same lane, unless
  /// it overlaps a released claim. The pages of each lane are read from the last to the first.
  private func auditClaimOrder(_ record: inout AuditRecord) throws(StoreError) {
    var claims = try SnapshotCursor(
      connection, "turns",
      "SELECT lane, first, last, claimed_at FROM bank.claim ORDER BY lane DESC, last DESC")
    var earliest: (lane: Int64, at: Int64) = (0, .max)
    var late: [(lane: Int64, first: Int64, last: Int64)] = []
    while try claims.step() {
      let (lane, at) = (claims.integer(0), claims.integer(3))
      if lane != earliest.lane { earliest = (lane, .max) }
      let (first, last) = (claims.integer(1), claims.integer(2))
      if at > earliest.at, first < last { late.append((lane, first, last)) }
      earliest.at = min(earliest.at, at)
      if late.count >= 2_048 { try explain(&late, &record) }
    }
    try explain(&late, &record)
    try claims.close()
  }

  /// Adds a finding for each late claim that overlaps no released claim, and forgets the late claims.
  private func explain(
    _ late: inout [(lane: Int64, first: Int64, last: Int64)], _ record: inout AuditRecord
  ) throws(StoreError) {
    guard !late.isEmpty else { return }
    let rows = try connection.ask(
      .once(
        """
        SELECT DISTINCT l.place FROM unnest($1, $2, $3) WITH ORDINALITY AS l (lane, first, last, place)
        JOIN bank.released_claim f ON f.lane = l.lane AND f.first <= l.last AND f.last >= l.first
        """,
        [.integers, .integers, .integers],
        [.integers(late.map(\.lane)), .integers(late.map(\.first)), .integers(late.map(\.last))]))[0]
    let explained = Set((0..<rows.count).compactMap { rows.integer($0, 0) })
    for (position, claim) in late.enumerated() where !explained.contains(Int64(position) + 1) {
      note(.claimedOutOfOrder, claim.lane, [claim.first, claim.last], &record)
    }
    late.removeAll(keepingCapacity: true)
  }

  /// Adds a finding about a lane, with the names of its service and priority.
  private func note(
    _ kind: MessageDetail.Kind, _ lane: Int64, _ values: [Int64], _ record: inout AuditRecord
  ) {
    var messageDetail = MessageDetail(kind)
    let line = lines[lane]
    messageDetail.values =
      [line.map { services[$0.service].text } ?? "\(lane)", line?.priority.name ?? "?"]
      + values.map { "\($0)" }
    record.note(messageDetail)
  }
}
