// Reset of the queue: it writes a receipt for every customer, in ticket order. It works in pieces, because the
// coordinator must handle other events meanwhile.
// Invariant: the receipts are in ticket order. After the last piece no customer is left, and each customer with a
// ticket has one receipt. A call that needs the complete result first writes all remaining pieces.

import BankModel
import QueueCore
import Time

/// Progress of a reset that is written in pieces.
struct BulkCancel {
  let day: BusinessDay
  let moment: WallTime
  /// Approximate number of customers at the start of the reset.
  let total: Int64
  /// Number of receipts written so far.
  var done: Int64 = 0
  /// Last ticket of the pieces written so far.
  var after: TicketNumber = 0

  /// Maximum number of tickets in a piece.
  static let piece: TicketNumber = 1_024
  /// Maximum number of rows of an incomplete request that one piece removes.
  static let withdrawn = 2_048

  /// Keys of ticket 0 for each state and line, with the line's service and the code of its priority.
  static let bases = """
    (SELECT ((column1 << 60) | (number << 40)) AS base, service, code FROM line CROSS JOIN
      (VALUES \(CustomerPosition.storedStates.map { "(\($0.rawValue))" }.joined(separator: ", "))))
    """
}

extension SQLiteStore {
  /// Progress of the reset; nil if none is in progress. See `QueueStore`.
  public var resetProgress: ResetProgress? {
    bulkCancel.map { ResetProgress(done: $0.done, total: max($0.done, $0.total)) }
  }

  /// Writes the next piece of the reset. See `QueueStore`.
  public func continueReset() throws(StoreError) {
    guard bulkCancel != nil else { return }
    try requireHealth()
    do throws(StoreError) { try writePiece() } catch { throw recover(from: error) }
  }

  /// Writes all remaining pieces of the reset.
  func finishBulkCancel() throws(StoreError) { while bulkCancel != nil { try writePiece() } }

  /// Writes the next piece of the reset, or ends the reset if no ticket is left.
  private func writePiece() throws(StoreError) {
    guard var bulkCancel else { return }
    // Customers of an incomplete request have no tickets, so they are removed without receipts.
    if hasUnissuedToRemove { return try withdraw(limit: BulkCancel.withdrawn) }
    guard let first = try firstTicket(after: bulkCancel.after) else { return try end(bulkCancel) }
    bulkCancel.after = try endOfDeletionPiece(of: first...first + BulkCancel.piece - 1)
    let cancelled = try cancel(first...bulkCancel.after, bulkCancel)
    bulkCancel.done += cancelled
    if bulkCancel.day == saved?.day { staged.cancelled += cancelled }
    statements.releaseSome.bindAll(bulkCancel.day, first, bulkCancel.after)
    try statements.releaseSome.run(violation: MessageDetail(.waitingWasCancelled, bulkCancel.day))
    try dropPayloads(of: first...bulkCancel.after)
    self.bulkCancel = bulkCancel
  }

  /// Writes the receipts of all customers with these tickets. Returns the number of receipts.
  private func cancel(
    _ tickets: ClosedRange<TicketNumber>, _ bulkCancel: BulkCancel
  ) throws(StoreError) -> Int64 {
    let before = sequence
    let row = statements.leaving
    row.bindAll(tickets.lowerBound, tickets.upperBound)
    defer { row.reset() }
    while try row.step() {
      sequence += 1
      try addToBatch(
        ReceiptEntry(
          sequence: sequence, day: bulkCancel.day, ticket: row.integer(0), service: row.integer(1),
          priority: row.integer(2), outcome: Int64(Outcome.cancelled.rawValue), generation: 0, pid: 0,
          attempts: row.integer(3), amount: row.integer(4), account: row.integer(5), issued: row.integer(6),
          finished: bulkCancel.moment.milliseconds, itemName: row.text(7)))
    }
    try writeBatch()
    return sequence - before
  }

  /// The lowest stored ticket above `ticket`; nil for none.
  private func firstTicket(after ticket: TicketNumber) throws(StoreError) -> TicketNumber? {
    statements.firstTicket.bind(1, ticket)
    return try statements.firstTicket.first { $0.optional(0) } ?? nil
  }

  /// Deletes the rows of all customers after the last piece.
  private func end(_ bulkCancel: BulkCancel) throws(StoreError) {
    try statements.deleteEveryone.run()
    if database.changes != bulkCancel.done { throw damage(MessageDetail(.cancelIncomplete, bulkCancel.day)) }
    payloads = RowBounds()
    self.bulkCancel = nil
  }
}
