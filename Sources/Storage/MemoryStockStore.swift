// Owns the stock in memory: the same promises as the store on disk, for tests and for simulated histories, with crashes
// and failures at will. It knows no file. Invariant: what was staged and not committed is a copy beside what was, so
// taking it back is forgetting it. Written for plainness and not for speed.

import BankModel
import QueueCore
import StockCore

/// A store that forgets everything when the process ends, and before that only what it is told to.
public final class MemoryStockStore: StockStore {
  private struct Contents {
    var ledger: Int64?
    var items: [ItemID] = []
    var shelves: [ItemID: [Lot]] = [:]
    var changes: [StockChange] = []
    var orders: [OrderID: StoredOrder] = [:]
  }

  private var contents = Contents()
  private var committed = Contents()
  /// The error that the next commit meets; nil for none.
  private var nextFailure: StoreError?
  private var nextAuditFailure: StoreError?
  private var keepsFailed = false
  private var end: StoreError?

  /// Whether anything was staged since the last commit.
  public private(set) var hasStagedChanges = false

  /// How often everything was checked.
  public private(set) var audits = 0

  /// An empty store.
  public init() {}

  /// Makes the next commit fail. One that is kept is on disk all the same, as after an fsync of which nobody knows.
  public func failCommit(with error: StoreError, isKept: Bool = false) {
    nextFailure = error
    keepsFailed = isKept
  }

  /// Makes the next audit fail.
  public func failAudit(with error: StoreError) { nextAuditFailure = error }

  /// The process that used this store was killed: what was not committed is gone, and the store can be loaded again.
  public func crash() {
    (end, nextFailure) = (nil, nil)
    rollBack()
  }

  /// Reads what is kept. A new store takes `ledger` as the name of its ledger.
  public func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    contents.ledger = contents.ledger ?? ledger
    committed = contents
    return StoredStock(
      items: stocks, sequence: Int64(contents.changes.count), ledger: contents.ledger ?? ledger)
  }

  private var stocks: [ItemStock] {
    contents.items.map { ItemStock(item: $0, lots: contents.shelves[$0] ?? []) }
  }

  /// Adds to the open transaction. See `StockStore`.
  public func stage(_ entry: StockEntry) throws(StoreError) {
    try requireHealth()
    hasStagedChanges = true
    do throws(StoreError) {
      for item in entry.items {
        if contents.items.contains(item) { throw damage(Remark(.itemKept, item)) }
        contents.items.append(item)
      }
      for change in entry.changes { try write(change) }
      switch entry.name {
      case .ordered(let id, let content, let outcome):
        if contents.orders[id] != nil { throw damage(Remark(.orderAnswered, id)) }
        contents.orders[id] = StoredOrder(content: content, outcome: outcome, changes: entry.changes)
      case .givenBack(let id):
        guard let order = contents.orders[id], order.outcome == .done, order.returned == nil else {
          throw damage(Remark(.orderNotHolding, id))
        }
        contents.orders[id]?.returned = entry.changes
      case nil: break
      }
    } catch {
      rollBack()
      throw error
    }
  }

  private func write(_ change: StockChange) throws(StoreError) {
    guard contents.items.contains(change.item) else { throw damage(Remark(.itemUnknown, change.item)) }
    guard change.sequence == Int64(contents.changes.count + 1), change.difference != 0, change.lot >= 0 else {
      throw damage(Remark(.changeTwice, change.sequence))
    }
    contents.changes.append(change)
    var lots = (contents.shelves[change.item] ?? []).filter { $0.dates != change.dates }
    if change.lot > 0 {
      let place = lots.firstIndex { !$0.comesBefore(change.dates) } ?? lots.count
      lots.insert(Lot(dates: change.dates, quantity: change.lot), at: place)
    }
    contents.shelves[change.item] = lots
  }

  /// Keeps everything that was staged. See `StockStore`.
  public func commit() throws(StoreError) {
    try requireHealth()
    if let error = nextFailure {
      nextFailure = nil
      if keepsFailed { committed = contents }
      rollBack()
      if case .failed = error { end = error }
      throw error
    }
    committed = contents
    hasStagedChanges = false
  }

  /// Forgets everything that was staged since the last commit.
  public func rollBack() {
    contents = committed
    hasStagedChanges = false
  }

  /// What is known of an order.
  public func order(_ id: OrderID) throws(StoreError) -> StoredOrder? {
    try requireHealth()
    return contents.orders[id]
  }

  /// Orders that were answered, by their names. See `StockStore`.
  public func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [KeptOrder] {
    try requireHealth()
    let names = contents.orders.keys.filter { name in id.map { $0.text < name.text } ?? true }
    return names.sorted { $0.text < $1.text }.prefix(max(0, limit)).compactMap { name in
      contents.orders[name].map { $0.kept(as: name) }
    }
  }

  /// Rows of the ledger behind a place, in order.
  public func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try requireHealth()
    return Array(contents.changes.dropFirst(Int(clamping: max(0, sequence))).prefix(max(0, limit)))
  }

  /// Checks everything that can be checked. See `StockStore`.
  public func audit() throws(StoreError) -> StockAudit {
    try requireHealth()
    if let error = nextAuditFailure {
      nextAuditFailure = nil
      throw error
    }
    audits += 1
    precondition(!hasStagedChanges, "An audit looks at what is committed: commit or roll back first.")
    var audit = StockAuditor(items: contents.items)
    for change in contents.changes { try audit.visit(change, order: order) }
    try audit.finishLedger(order: order)
    for shelf in stocks { audit.visit(shelf) }
    audit.report.orders = Int64(contents.orders.count)
    audit.ordersWithRows = contents.orders.values.reduce(0) {
      $0 + ($1.changes.isEmpty ? 0 : 1) + ($1.returned?.isEmpty ?? true ? 0 : 1)
    }
    return audit.finished()
  }

  private func requireHealth() throws(StoreError) {
    if let end { throw end }
  }

  private func damage(_ detail: Remark) -> StoreError { .damaged(path: "memory", detail: detail) }
}
