// Owns the stock on disk: how an entry becomes rows. How rows are read stands in the extension; what happens after an
// error in `Transactions`. Invariant: an entry is written whole or the transaction is gone; an order is written once,
// which the database itself sees to.

import BankModel
import QueueCore
import StockCore

/// The stock in a SQLite database: one process, one connection, one thread. See `SQLiteStore` for its settings.
public final class SQLiteStockStore: DatabaseStore, StockStore {
  let statements: StockStatements
  /// Names by number − 1; those that are staged too.
  var items: [ItemID] = []
  var numbers: [ItemID: Int64] = [:]
  private var committedItems = 0
  /// What was staged since the last commit: it is written again where a full disk took it and room was made.
  private var staged: [StockEntry] = []
  private var isLoaded = false

  override class var schema: Schema { .stock }
  /// What is held back: the log of a few orders, and what some thousand orders write.
  override class var reservePlan: HeldRoom.Plan { HeldRoom.Plan(limit: 2 << 20, share: 16) }

  /// What is kept in a database that was opened.
  override init(_ database: Database) throws(StoreError) {
    statements = try StockStatements(database)
    try super.init(database)
  }

  /// Whether anything was staged since the last commit.
  public var hasStagedChanges: Bool { transactions.isOpen }

  /// Reads what is kept. A new store takes `ledger` as the name of its ledger.
  public func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let known = try readLedgerName()
    if known == nil, !database.isReadOnly { try begin(ledger) }
    try readItems()
    isLoaded = true
    let sequence = try database.number("SELECT max(sequence) FROM ledger", while: "counting changes") ?? 0
    return StoredStock(items: try readShelves(), sequence: sequence, ledger: known ?? ledger)
  }

  private func begin(_ ledger: Int64) throws(StoreError) {
    try attempt { _ throws(StoreError) in
      try database.execute("INSERT INTO meta VALUES ('ledger', \(ledger))", while: "naming the ledger")
      try transactions.commit()
    }
  }

  /// Adds to the open transaction. See `StockStore`.
  ///
  /// - Throws: `.diskFull`, or `.damaged` where a promise would be broken: a second order of the same name.
  public func stage(_ entry: StockEntry) throws(StoreError) {
    try transactions.requireHealth()
    precondition(isLoaded, "A store is loaded before anything is staged.")
    staged.append(entry)
    try attempt { isAgain throws(StoreError) in
      for entry in isAgain ? staged[...] : staged.suffix(1) { try write(entry) }
    }
  }

  private func write(_ entry: StockEntry) throws(StoreError) {
    for item in entry.items { try add(item) }
    for change in entry.changes { try write(change) }
    switch entry.name {
    case .ordered(let id, let content, let outcome): try remember(id, content, outcome, entry)
    case .givenBack(let id): try markReturned(id, entry.changes)
    case nil: break
    }
  }

  /// Returns when everything that was staged is on disk. See `StockStore`.
  public func commit() throws(StoreError) {
    try transactions.requireHealth()
    guard hasStagedChanges else { return }
    try attempt { isAgain throws(StoreError) in
      if isAgain { for entry in staged { try write(entry) } }
      try transactions.commit()
    }
    committedItems = items.count
    staged.removeAll(keepingCapacity: true)
    room.committed()
    if try transactions.checkpointIfDue() { room.ease() }
  }

  /// Forgets everything that was staged since the last commit.
  public func rollBack() {
    transactions.rollBack()
    forgetItems()
    staged.removeAll(keepingCapacity: true)
  }

  /// Does something with the open transaction, and again with everything that was staged where room was made for it.
  private func attempt(_ body: (_ isAgain: Bool) throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try transactions.attempt(undo: forgetItems, body) } catch {
      staged.removeAll(keepingCapacity: true)
      throw error
    }
  }

  private func forgetItems() {
    for item in items[committedItems...] { numbers[item] = nil }
    items.removeSubrange(committedItems...)
  }

  private func readItems() throws(StoreError) {
    (items, numbers) = ([], [:])
    while try statements.items.step() {
      let item = ItemID(statements.items.text(1))
      guard statements.items.integer(0) == Int64(items.count + 1), item.isValid else {
        statements.items.reset()
        throw damage(Remark(.itemNumber, items.count + 1))
      }
      items.append(item)
      numbers[item] = Int64(items.count)
    }
    committedItems = items.count
  }

  // MARK: - Rows

  private func add(_ item: ItemID) throws(StoreError) {
    statements.insertItem.bind(1, Int64(items.count + 1))
    try statements.insertItem.bind(2, text: item.name)
    try statements.insertItem.run(broken: Remark(.itemKept, item))
    items.append(item)
    numbers[item] = Int64(items.count)
  }

  private func write(_ change: StockChange) throws(StoreError) {
    let item = try number(of: change.item)
    let (made, expires) = (change.dates?.made ?? -1, change.dates?.expires ?? -1)
    let row = statements.insertChange
    row.bind(1, change.sequence)
    row.bind(2, item)
    row.bind(3, change.kind.rawValue)
    row.bind(4, made)
    row.bind(5, expires)
    row.bind(6, change.difference)
    row.bind(7, change.lot)
    row.bind(8, change.present)
    if let order = change.order { try row.bind(9, text: order.text) } else { row.bind(9, optional: nil) }
    row.bind(10, change.at.milliseconds)
    try row.run(broken: Remark(.changeTwice, change.sequence))
    let lot = change.lot == 0 ? statements.deleteLot : statements.putLot
    lot.bind(1, item)
    lot.bind(2, expires)
    lot.bind(3, made)
    if change.lot > 0 { lot.bind(4, change.lot) }
    try lot.run(broken: Remark(.changeLeavesLot, change.sequence, change.lot))
  }

  private func remember(
    _ id: OrderID, _ content: String, _ outcome: StoredOrder.Outcome, _ entry: StockEntry
  ) throws(StoreError) {
    let row = statements.insertOrder
    try row.bind(1, text: id.text)
    try row.bind(2, text: content)
    row.bind(3, outcome.code)
    row.bind(4, optional: entry.changes.first?.sequence)
    row.bind(5, optional: entry.changes.last?.sequence)
    row.bind(6, entry.at.milliseconds)
    try row.run(broken: Remark(.orderAnswered, id))
    guard case .short(let shortages) = outcome else { return }
    for (place, shortage) in shortages.enumerated() {
      let row = statements.insertShortage
      try row.bind(1, text: id.text)
      row.bind(2, Int64(place))
      row.bind(3, try number(of: shortage.item))
      row.bind(4, shortage.needed)
      row.bind(5, shortage.available)
      try row.run(broken: Remark(.orderShortAlready, id))
    }
  }

  private func markReturned(_ id: OrderID, _ changes: [StockChange]) throws(StoreError) {
    try statements.markReturned.bind(1, text: id.text)
    statements.markReturned.bind(2, optional: changes.first?.sequence)
    statements.markReturned.bind(3, optional: changes.last?.sequence)
    try statements.markReturned.run()
    if database.changes != 1 { throw damage(Remark(.orderNotHolding, id)) }
  }

  private func number(of item: ItemID) throws(StoreError) -> Int64 {
    guard let number = numbers[item] else { throw damage(Remark(.itemUnknown, item)) }
    return number
  }

  func damage(_ detail: Remark) -> StoreError { .damaged(path: database.path, detail: detail) }
}

extension StoredOrder.Outcome {
  /// The number in the database.
  var code: UInt8 {
    switch self {
    case .done: 1
    case .short: 2
    case .void: 3
    }
  }
}
