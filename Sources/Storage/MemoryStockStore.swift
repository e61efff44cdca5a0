// In-memory stock with the guarantees of the store on disk. Injected failures and crashes are in
// `MemoryEntryStore`.

import BankModel
import QueueCore
import StockCore

/// Content of an in-memory stock.
public struct MemoryStock {
  /// Number that identifies the ledger; nil before the first load.
  var ledger: Int64?
  var items: [ItemID] = []
  var shelves: [ItemID: [Lot]] = [:]
  var changes: [StockChange] = []
  var orders: [OrderID: StoredOrder] = [:]
}

/// In-memory stock.
public final class MemoryStockStore: MemoryEntryStore<MemoryStock>, StockStore {
  /// Creates an empty store.
  public init() { super.init(empty: MemoryStock()) }

  /// Reads the stored stock. In a new store, `ledger` becomes the number that identifies its ledger.
  public func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock {
    try beginLoading()
    contents.ledger = contents.ledger ?? ledger
    keep()
    return StoredStock(
      items: stocks, sequence: Int64(contents.changes.count), ledger: contents.ledger ?? ledger)
  }

  private var stocks: [ItemStock] {
    contents.items.map { ItemStock(item: $0, lots: contents.shelves[$0] ?? []) }
  }

  /// Adds an entry to the open transaction. See `StockStore`.
  public func stage(_ entry: StockEntry) throws(StoreError) {
    try stage { () throws(StoreError) in
      for item in entry.items {
        if contents.items.contains(item) { throw damage(MessageDetail(.itemKept, item)) }
        contents.items.append(item)
      }
      for change in entry.changes { try write(change) }
      switch entry.name {
      case .ordered(let id, let content, let outcome):
        if contents.orders[id] != nil { throw damage(MessageDetail(.orderAnswered, id)) }
        contents.orders[id] = StoredOrder(content: content, outcome: outcome, changes: entry.changes)
      case .wasReturned(let id):
        guard let order = contents.orders[id], order.outcome == .done, order.returned == nil else {
          throw damage(MessageDetail(.orderReservationMissing, id))
        }
        contents.orders[id]?.returned = entry.changes
      case nil: break
      }
    }
  }

  /// Adds a row to the ledger, and changes the lot.
  private func write(_ change: StockChange) throws(StoreError) {
    guard contents.items.contains(change.item) else { throw damage(MessageDetail(.itemUnknown, change.item)) }
    guard change.sequence == Int64(contents.changes.count + 1), change.difference != 0, change.lot >= 0 else {
      throw damage(MessageDetail(.changeTwice, change.sequence))
    }
    contents.changes.append(change)
    var lots = (contents.shelves[change.item] ?? []).filter { $0.dates != change.dates }
    if change.lot > 0 {
      let place = lots.firstIndex { !$0.comesBefore(change.dates) } ?? lots.count
      lots.insert(Lot(dates: change.dates, quantity: change.lot), at: place)
    }
    contents.shelves[change.item] = lots
  }

  /// The stored order with this id; nil if there is none.
  public func order(_ id: OrderID) throws(StoreError) -> StoredOrder? {
    try requireHealth()
    return contents.orders[id]
  }

  /// Orders that the stock has answered, sorted by id. See `StockStore`.
  public func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [OrderRecord] {
    try requireHealth()
    let names = contents.orders.keys.filter { name in id.map { $0.text < name.text } ?? true }
    return names.sorted { $0.text < $1.text }.prefix(max(0, limit)).compactMap { name in
      contents.orders[name].map { $0.kept(as: name) }
    }
  }

  /// Rows of the ledger after a sequence number, in order.
  public func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try requireHealth()
    return Array(contents.changes.dropFirst(Int(clamping: max(0, sequence))).prefix(max(0, limit)))
  }

  /// Checks the invariants of the committed data. See `StockStore`.
  public func audit() throws(StoreError) -> StockAudit {
    try beginAudit()
    var audit = StockAuditor(items: contents.items)
    for change in contents.changes { try audit.visit(change, order: order) }
    try audit.endRun(order)
    for shelf in stocks { audit.visit(shelf) }
    audit.report.orders = Int64(contents.orders.count)
    audit.ordersWithRows = contents.orders.values.reduce(0) {
      $0 + ($1.changes.isEmpty ? 0 : 1) + ($1.returned?.isEmpty ?? true ? 0 : 1)
    }
    return audit.finished()
  }
}
