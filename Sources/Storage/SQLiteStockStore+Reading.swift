// Owns how rows of the stock are read, and the audit that reads them all. It changes nothing.
// Invariant: an audit streams its rows, so memory is bounded however long the ledger is. A value that means nothing
// throws `.damaged` where somebody wants to use it, and is a finding in an audit.

import BankModel
import QueueCore
import StockCore
import Time

extension SQLiteStockStore {
  /// What is known of an order. See `StockStore`.
  public func order(_ id: OrderID) throws(StoreError) -> StoredOrder? {
    try transactions.requireHealth()
    let row = statements.order
    try row.bind(1, text: id.text)
    guard try row.step() else { return nil }
    let (content, outcome) = (row.text(0), row.integer(1))
    let done = Self.range(row, 2)
    let returned = Self.range(row, 4)
    row.reset()
    return StoredOrder(
      content: content, outcome: try self.outcome(outcome, of: id), changes: try changes(in: done),
      returned: returned == nil ? nil : try changes(in: returned))
  }

  /// Orders that were answered, by their names. See `StockStore`.
  public func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [KeptOrder] {
    try transactions.requireHealth()
    var found: [KeptOrder] = []
    let row = statements.orders
    try row.bind(1, text: id?.text ?? "")
    row.bind(2, Int64(limit))
    while try row.step() {
      let name = OrderID(row.text(0))
      guard let state = UInt8(exactly: row.integer(2)).flatMap(KeptOrder.State.init(rawValue:)),
        state != .givenBack
      else {
        let outcome = row.integer(2)
        row.reset()
        throw damage(Remark(.orderOutcome, name, outcome))
      }
      let isReturned = state == .done && !row.isNull(3)
      found.append(KeptOrder(id: name, content: row.text(1), state: isReturned ? .givenBack : state))
    }
    return found
  }

  /// Rows of the ledger behind a place, in order. See `StockStore`.
  public func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try transactions.requireHealth()
    var changes: [StockChange] = []
    statements.changes.bind(1, sequence)
    statements.changes.bind(2, Int64(limit))
    while try statements.changes.step() {
      do throws(StoreError) { changes.append(try change(in: statements.changes)) } catch {
        statements.changes.reset()
        throw error
      }
    }
    return changes
  }

  private static func range(_ row: Statement, _ column: Int32) -> ClosedRange<Int64>? {
    guard let first = row.optional(column), let last = row.optional(column + 1), first <= last else {
      return nil
    }
    return first...last
  }

  private func changes(in range: ClosedRange<Int64>?) throws(StoreError) -> [StockChange] {
    guard let range, range.count <= StockLimits.lots else { return [] }
    return try changes(after: range.lowerBound - 1, limit: range.count)
  }

  private func outcome(_ code: Int64, of id: OrderID) throws(StoreError) -> StoredOrder.Outcome {
    switch code {
    case 1: return .done
    case 3: return .void
    case 2: break
    default: throw damage(Remark(.orderOutcome, id, code))
    }
    var shortages: [Shortage] = []
    let row = statements.shortages
    try row.bind(1, text: id.text)
    while try row.step() {
      guard let item = item(row.integer(0)) else {
        row.reset()
        throw damage(Remark(.orderShortUnknown, id))
      }
      shortages.append(Shortage(item: item, needed: row.integer(1), available: row.integer(2)))
    }
    return .short(shortages)
  }

  private func change(in row: Statement) throws(StoreError) -> StockChange {
    guard let item = item(row.integer(1)),
      let kind = UInt8(exactly: row.integer(2)).flatMap(StockChange.Kind.init(rawValue:))
    else { throw damage(Remark(.changeMeaningless, row.integer(0))) }
    return StockChange(
      sequence: row.integer(0), item: item, kind: kind, dates: Self.dates(row.integer(3), row.integer(4)),
      difference: row.integer(5), lot: row.integer(6), present: row.integer(7),
      order: row.optionalText(8).map { OrderID($0) }, at: WallTime(milliseconds: row.integer(9)))
  }

  private func item(_ number: Int64) -> ItemID? {
    number >= 1 && number <= Int64(items.count) ? items[Int(number) - 1] : nil
  }

  private static func dates(_ made: Int64, _ expires: Int64) -> LotDates? {
    expires == -1 ? nil : LotDates(made: made, expires: expires)
  }

  // MARK: - At the start

  func readLedgerName() throws(StoreError) -> Int64? {
    try database.number("SELECT value FROM meta WHERE name = 'ledger'", while: "reading the ledger's name")
  }

  func readShelves() throws(StoreError) -> [ItemStock] {
    var shelves = items.map { ItemStock(item: $0, lots: []) }
    let row = statements.lots
    while try row.step() {
      let lot = Lot(dates: Self.dates(row.integer(1), row.integer(2)), quantity: row.integer(3))
      guard item(row.integer(0)) != nil, lot.quantity > 0, lot.quantity <= StockLimits.quantity else {
        row.reset()
        throw damage(Remark(.lotMeaningless, row.integer(0)))
      }
      shelves[Int(row.integer(0)) - 1].lots.append(lot)
    }
    return shelves
  }

  // MARK: - The audit

  /// Checks everything that can be checked. See `StockStore`.
  public func audit() throws(StoreError) -> StockAudit {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "An audit looks at what is committed: commit or roll back first.")
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
      try audit.finishLedger(order: order)
      for shelf in try readShelves() { audit.visit(shelf) }
      try count(into: &audit)
    } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      audit.findings.note(detail)
    }
    return audit.finished()
  }

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
    if short > 0 { audit.findings.note(Remark(.strangeOrderRows, short)) }
  }
}

extension Statement {
  /// The text in a column, or nil for null.
  fileprivate func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
