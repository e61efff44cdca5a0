// Queries and audit of the stock on disk.
// Invariant: an audit reads the ledger in pages, so memory does not grow with it. An invalid value throws
// `.damaged` in a query. In an audit it is a finding, and the rows after it are not read.

import BankModel
import QueueCore
import StockCore
import Time

extension SQLiteStockStore {
  /// The stored order with this id; nil if there is none.
  public func order(_ id: OrderID) throws(StoreError) -> StoredOrder? {
    try transactions.requireHealth()
    try statements.order.bind(1, text: id.text)
    return try statements.order.first { row throws(StoreError) in
      let returned = Self.range(row, 4)
      return StoredOrder(
        content: row.text(0), outcome: try outcome(row.integer(1), of: id),
        changes: try changes(in: Self.range(row, 2)),
        returned: returned == nil ? nil : try changes(in: returned))
    }
  }

  /// Orders that the stock has answered, sorted by id. See `StockStore`.
  public func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [OrderRecord] {
    try transactions.requireHealth()
    try statements.orders.bind(1, text: id?.text ?? "")
    statements.orders.bind(2, Int64(limit))
    return try statements.orders.all { row throws(StoreError) in
      let name = OrderID(row.text(0))
      guard let state = UInt8(exactly: row.integer(2)).flatMap(OrderRecord.State.init(rawValue:)),
        state != .wasReturned
      else { throw damage(MessageDetail(.orderOutcome, name, row.integer(2))) }
      let isReturned = state == .done && !row.isNull(3)
      return OrderRecord(id: name, content: row.text(1), state: isReturned ? .wasReturned : state)
    }
  }

  /// Rows of the ledger after a sequence number, in order. See `StockStore`.
  public func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try transactions.requireHealth()
    statements.changes.bindAll(sequence, Int64(limit))
    return try statements.changes.all(change)
  }

  /// The range in two columns; nil if a column is null or the range is empty.
  private static func range(_ row: Statement, _ column: Int32) -> ClosedRange<Int64>? {
    guard let first = row.optional(column), let last = row.optional(column + 1), first <= last else {
      return nil
    }
    return first...last
  }

  /// The ledger rows of a range of sequence numbers; empty if the range is nil or too long.
  private func changes(in range: ClosedRange<Int64>?) throws(StoreError) -> [StockChange] {
    guard let range, range.count <= StockLimits.lots else { return [] }
    return try changes(after: range.lowerBound - 1, limit: range.count)
  }

  /// Outcome of an order from its code, with the missing items of an order that was short.
  private func outcome(_ code: Int64, of id: OrderID) throws(StoreError) -> StoredOrder.Outcome {
    switch code {
    case 1: return .done
    case 3: return .void
    case 2: break
    default: throw damage(MessageDetail(.orderOutcome, id, code))
    }
    try statements.shortages.bind(1, text: id.text)
    return .short(
      try statements.shortages.all { row throws(StoreError) in
        guard let item = item(row.integer(0)) else { throw damage(MessageDetail(.orderShortUnknown, id)) }
        return Shortage(item: item, needed: row.integer(1), available: row.integer(2))
      })
  }

  private func change(_ row: Statement) throws(StoreError) -> StockChange {
    guard let item = item(row.integer(1)),
      let kind = UInt8(exactly: row.integer(2)).flatMap(StockChange.Kind.init(rawValue:))
    else { throw damage(MessageDetail(.changeInvalid, row.integer(0))) }
    return StockChange(
      sequence: row.integer(0), item: item, kind: kind, dates: Self.dates(row.integer(3), row.integer(4)),
      difference: row.integer(5), lot: row.integer(6), present: row.integer(7),
      order: row.optionalText(8).map { OrderID($0) }, at: WallTime(milliseconds: row.integer(9)))
  }

  /// Name of the item with this number; nil if there is none.
  private func item(_ number: Int64) -> ItemID? {
    number >= 1 && number <= Int64(items.count) ? items[Int(number) - 1] : nil
  }

  /// Dates of a lot; nil for a lot without dates.
  private static func dates(_ made: Int64, _ expires: Int64) -> LotDates? {
    expires == -1 ? nil : LotDates(made: made, expires: expires)
  }

  func readShelves() throws(StoreError) -> [ItemStock] {
    var shelves = items.map { ItemStock(item: $0, lots: []) }
    _ = try statements.lots.all { row throws(StoreError) in
      let lot = Lot(dates: Self.dates(row.integer(1), row.integer(2)), quantity: row.integer(3))
      guard item(row.integer(0)) != nil, lot.quantity > 0, lot.quantity <= StockLimits.quantity else {
        throw damage(MessageDetail(.lotInvalid, row.integer(0)))
      }
      shelves[Int(row.integer(0)) - 1].lots.append(lot)
    }
    return shelves
  }

  /// Checks the invariants of the committed data. See `StockStore`.
  public func audit() throws(StoreError) -> StockAudit {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
    var audit = StockAuditor(items: items)
    do throws(StoreError) {
      try database.examine(into: &audit.findings)
      var last: Int64 = 0
      while true {
        let page = try changes(after: last, limit: 1_000)
        guard let end = page.last else { break }
        for change in page { try audit.visit(change, order: order) }
        last = end.sequence
      }
      try audit.endRun(order)
      for shelf in try readShelves() { audit.visit(shelf) }
      try count(into: &audit)
    } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      audit.findings.note(detail)
    }
    return audit.finished()
  }

  /// Counts the orders, and adds a finding if the rows of an order do not match its outcome.
  private func count(into audit: inout StockAuditor) throws(StoreError) {
    audit.report.orders =
      try database.number("SELECT count(*) FROM stock_order", while: "counting orders") ?? 0
    audit.ordersWithRows =
      try database.number(
        "SELECT count(first) + count(returned_first) FROM stock_order", while: "counting orders") ?? 0
    let short =
      try database.number(
        """
        SELECT count(*) FROM stock_order
        WHERE (outcome = 2) <> EXISTS (SELECT 1 FROM shortage WHERE order_id = id) OR (outcome <> 1 AND first IS NOT NULL)
        """, while: "counting shortages") ?? 0
    if short > 0 { audit.findings.note(MessageDetail(.unexpectedOrderRows, short)) }
  }
}

extension Statement {
  fileprivate func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
