// Reset of the queue: it writes a receipt for every customer, in ticket order. It works in pieces, because two
// million customers take seconds and the coordinator must handle other events meanwhile.
// Invariant: the receipts are in ticket order. After the last piece no customer is left, and each customer with a
// ticket has one receipt. A call that needs the complete result first writes all remaining pieces.

import BankModel
import QueueCore
import Time

struct QueueSweep {
  let day: BusinessDay
  let moment: WallTime
  let total: Int64
  var done: Int64 = 0
  var after: TicketNumber = 0

  static let piece: TicketNumber = 1_024
  /// Maximum number of rows of an incomplete request that one piece removes.
  static let withdrawn = 2_048

  /// Keys of ticket 0 for each state and line, with the line's service and the code of its priority.
  static let bases = """
    (SELECT ((column1 << 60) | (number << 40)) AS base, service, code FROM line CROSS JOIN
      (VALUES \(CustomerPosition.keptStates.map { "(\($0.rawValue))" }.joined(separator: ", "))))
    """
}

extension SQLiteStore {
  /// Progress of the reset; nil if none is in progress. See `QueueStore`.
  public var emptying: EmptyingProgress? {
    sweep.map { EmptyingProgress(done: $0.done, total: max($0.done, $0.total)) }
  }

  /// Writes the next piece of the reset. See `QueueStore`.
  public func emptyFurther() throws(StoreError) {
    guard sweep != nil else { return }
    try requireHealth()
    do throws(StoreError) { try writePiece() } catch { throw recover(from: error) }
  }

  func finishSweep() throws(StoreError) { while sweep != nil { try writePiece() } }

  private func writePiece() throws(StoreError) {
    guard var sweep else { return }
    // Customers of an incomplete request have no tickets, so they are removed without receipts.
    if hasUnwithdrawn { return try withdraw(limit: QueueSweep.withdrawn) }
    guard let first = try firstTicket(after: sweep.after) else { return try end(sweep) }
    sweep.after = try endOfPiece(of: first...first + QueueSweep.piece - 1)
    let cancelled = try cancel(first...sweep.after, sweep)
    sweep.done += cancelled
    if sweep.day == saved?.day { staged.cancelled += cancelled }
    statements.releaseSome.bindAll(sweep.day, first, sweep.after)
    try statements.releaseSome.run(broken: Remark(.waitsCancelled, sweep.day))
    try dropPayloads(of: first...sweep.after)
    self.sweep = sweep
  }

  /// Writes the receipts of all customers with these tickets. Returns the number of receipts.
  private func cancel(
    _ tickets: ClosedRange<TicketNumber>, _ sweep: QueueSweep
  ) throws(StoreError) -> Int64 {
    let before = sequence
    let row = statements.leaving
    row.bindAll(tickets.lowerBound, tickets.upperBound)
    defer { row.reset() }
    while try row.step() {
      sequence += 1
      try gather(
        ReceiptEntry(
          sequence: sequence, day: sweep.day, ticket: row.integer(0), service: row.integer(1),
          priority: row.integer(2), outcome: Int64(Outcome.cancelled.rawValue), generation: 0, pid: 0,
          attempts: row.integer(3), amount: row.integer(4), account: row.integer(5), issued: row.integer(6),
          finished: sweep.moment.milliseconds, article: row.text(7)))
    }
    try writeGathered()
    return sequence - before
  }

  /// The lowest stored ticket above `ticket`; nil for none.
  private func firstTicket(after ticket: TicketNumber) throws(StoreError) -> TicketNumber? {
    statements.firstTicket.bind(1, ticket)
    return try statements.firstTicket.first { $0.optional(0) } ?? nil
  }

  private func end(_ sweep: QueueSweep) throws(StoreError) {
    try statements.deleteEveryone.run()
    if database.changes != sweep.done { throw damage(Remark(.uncancelled, sweep.day)) }
    payloads = RowBounds()
    self.sweep = nil
  }
}
