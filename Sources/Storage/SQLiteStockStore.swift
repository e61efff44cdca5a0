// Stock on disk: writing of entries.
// Invariant: an entry is written completely, or the transaction is rolled back. The primary key of the database
// ensures that an order is written once.

import BankModel
import QueueCore
import StockCore

/// Stock in a SQLite database: one process, one connection, one thread. See `SQLiteStore` for its settings.
public final class SQLiteStockStore: EntryDatabaseStore<StockEntry>, StockStore {
  let statements: StockStatements
  /// Names of the items, with item n at index n − 1, including staged ones.
  var items: [ItemID] = []
  /// Numbers of the items, including staged ones.
  private var numbers: [ItemID: Int64] = [:]
  /// Number of items on disk.
  private var committedItems = 0

  override class var schema: Schema { .stock }
  /// Reserves space for the WAL and the data of further orders.
  override class var reservePlan: ReservedSpace.ReservePlan {
    ReservedSpace.ReservePlan(limit: 2 << 20, share: 16)
  }

  override init(_ database: Database) throws(StoreError) {
    statements = try StockStatements(database)
    try super.init(database)
  }

  /// Reads the stored stock. In a new store, `ledger` becomes the number that identifies its ledger.
  public func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let known = try database.note("ledger", while: "reading the ledger's name")
    if known == nil, !database.isReadOnly { try begin("('ledger', \(ledger))", while: "naming the ledger") }
    try readItems()
    isLoaded = true
    let sequence = try database.number("SELECT max(sequence) FROM ledger", while: "counting changes") ?? 0
    return StoredStock(items: try readShelves(), sequence: sequence, ledger: known ?? ledger)
  }

  private func readItems() throws(StoreError) {
    (items, numbers) = ([], [:])
    _ = try statements.items.all { row throws(StoreError) in
      let item = ItemID(row.text(1))
      guard row.integer(0) == Int64(items.count + 1), item.isValid else {
        throw damage(MessageDetail(.itemNumber, items.count + 1))
      }
      know(item)
    }
    committedItems = items.count
  }

  /// Registers an item, which gets the next number.
  private func know(_ item: ItemID) {
    items.append(item)
    numbers[item] = Int64(items.count)
  }

  override func markCommitted() { committedItems = items.count }

  override func discardUncommitted() {
    for item in items[committedItems...] { numbers[item] = nil }
    items.removeSubrange(committedItems...)
  }

  override func write(_ entry: StockEntry) throws(StoreError) {
    for item in entry.items {
      statements.insertItem.bind(1, Int64(items.count + 1))
      try statements.insertItem.bind(2, text: item.name)
      try statements.insertItem.run(violation: MessageDetail(.itemKept, item))
      know(item)
    }
    for change in entry.changes { try write(change) }
    switch entry.name {
    case .ordered(let id, let content, let outcome): try remember(id, content, outcome, entry)
    case .wasReturned(let id): try markReturned(id, entry.changes)
    case nil: break
    }
  }

  /// Adds a row to the ledger, and changes the row of the lot.
  private func write(_ change: StockChange) throws(StoreError) {
    let item = try number(of: change.item)
    let (made, expires) = (change.dates?.made ?? -1, change.dates?.expires ?? -1)
    let row = statements.insertChange
    row.bindAll(
      change.sequence, item, Int64(change.kind.rawValue), made, expires, change.difference, change.lot,
      change.present)
    try row.bind(9, text: change.order?.text)
    row.bind(10, change.at.milliseconds)
    try row.run(violation: MessageDetail(.changeTwice, change.sequence))
    let lot = change.lot == 0 ? statements.deleteLot : statements.putLot
    lot.bindAll(item, expires, made)
    if change.lot > 0 { lot.bind(4, change.lot) }
    try lot.run(violation: MessageDetail(.lotBalanceInvalid, change.sequence, change.lot))
  }

  /// Adds the row of an order and those of its missing items.
  private func remember(
    _ id: OrderID, _ content: String, _ outcome: StoredOrder.Outcome, _ entry: StockEntry
  ) throws(StoreError) {
    let row = statements.insertOrder
    try row.bind(1, text: id.text)
    try row.bind(2, text: content)
    row.bindAll(
      from: 3, outcome.code, entry.changes.first?.sequence, entry.changes.last?.sequence,
      entry.at.milliseconds)
    try row.run(violation: MessageDetail(.orderAnswered, id))
    guard case .short(let shortages) = outcome else { return }
    for (place, shortage) in shortages.enumerated() {
      let row = statements.insertShortage
      try row.bind(1, text: id.text)
      try row.bindAll(from: 2, Int64(place), number(of: shortage.item), shortage.needed, shortage.available)
      try row.run(violation: MessageDetail(.orderShortAlready, id))
    }
  }

  /// Records in the row of an order which ledger rows are its return.
  private func markReturned(_ id: OrderID, _ changes: [StockChange]) throws(StoreError) {
    try statements.markReturned.bind(1, text: id.text)
    statements.markReturned.bindAll(from: 2, changes.first?.sequence, changes.last?.sequence)
    try statements.markReturned.run()
    if database.changes != 1 { throw damage(MessageDetail(.orderReservationMissing, id)) }
  }

  /// Number of an item; throws if the item is unknown.
  private func number(of item: ItemID) throws(StoreError) -> Int64 {
    guard let number = numbers[item] else { throw damage(MessageDetail(.itemUnknown, item)) }
    return number
  }
}

extension StoredOrder.Outcome {
  /// Number of the outcome in the column `outcome`.
  fileprivate var code: Int64 {
    switch self {
    case .done: 1
    case .short: 2
    case .void: 3
    }
  }
}

struct StockStatements {
  let insertItem, putLot, deleteLot, insertChange: Statement
  let insertOrder, insertShortage, markReturned: Statement
  let items, lots, order, orders, shortages, changes: Statement

  /// Columns of the ledger, in the order in which they are read and bound.
  static let changeColumns = "sequence, item, kind, made, expires, difference, lot, present, order_id, at_ms"

  init(_ database: Database) throws(StoreError) {
    let prepare = database.prepare(_:while:)
    insertItem = try prepare("INSERT INTO item (number, name) VALUES (?, ?)", "adding an item")
    putLot = try prepare(
      """
      INSERT INTO lot (item, expires, made, quantity) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET quantity = excluded.quantity
      """, "changing a lot")
    deleteLot = try prepare("DELETE FROM lot WHERE item = ? AND expires = ? AND made = ?", "emptying a lot")
    insertChange = try prepare(
      "INSERT INTO ledger (\(Self.changeColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "writing the ledger"
    )
    insertOrder = try prepare(
      "INSERT INTO stock_order (id, content, outcome, first, last, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
      "recording an order")
    insertShortage = try prepare(
      "INSERT INTO shortage (order_id, place, item, needed, available) VALUES (?, ?, ?, ?, ?)",
      "recording a shortage")
    markReturned = try prepare(
      """
      UPDATE stock_order SET returned_first = ?2, returned_last = ?3
      WHERE id = ?1 AND outcome = 1 AND returned_first IS NULL
      """, "returning an order")

    items = try prepare("SELECT number, name FROM item ORDER BY number", "reading the items")
    // Lots without dates are last, because they are sold last.
    lots = try prepare(
      "SELECT item, made, expires, quantity FROM lot ORDER BY item, expires = -1, expires, made",
      "reading the lots")
    order = try prepare(
      "SELECT content, outcome, first, last, returned_first, returned_last FROM stock_order WHERE id = ?",
      "looking for an order")
    orders = try prepare(
      """
      SELECT id, content, outcome, returned_first FROM stock_order WHERE id > ? ORDER BY id LIMIT ?
      """, "listing the orders")
    shortages = try prepare(
      "SELECT item, needed, available FROM shortage WHERE order_id = ? ORDER BY place", "reading a shortage")
    changes = try prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? ORDER BY sequence LIMIT ?",
      "reading the ledger")
  }
}
