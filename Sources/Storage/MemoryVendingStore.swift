// In-memory vending machine with the guarantees of the store on disk. Injected failures and crashes are in
// `MemoryEntryStore`.

import BankModel
import QueueCore
import VendingCore

/// Content of an in-memory vending machine.
public struct MemoryVending {
  /// Number that identifies the machine; nil before the first load.
  var machine: Int64?
  var changes: [MoneyChange] = []
  var purchases: [StoredPurchase] = []
}

/// In-memory vending machine.
public final class MemoryVendingStore: MemoryEntryStore<MemoryVending>, VendingStore {
  /// Creates an empty store.
  public init() { super.init(empty: MemoryVending()) }
  /// All committed rows of the ledger, for checks.
  public var committedChanges: [MoneyChange] { committed.changes }
  /// All committed purchases, for checks.
  public var committedPurchases: [StoredPurchase] { committed.purchases }

  /// Reads the stored state. In a new store, `machine` becomes the number that identifies the machine.
  public func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try beginLoading()
    contents.machine = contents.machine ?? machine
    keep()
    var account = MoneyAccount()
    for change in contents.changes { account.apply(change) }
    return StoredVending(
      machine: contents.machine ?? machine, account: account, sequence: Int64(contents.changes.count),
      lastPurchase: Int64(contents.purchases.count),
      unfinished: contents.purchases.filter { $0.state == .open || $0.state == .releasing })
  }

  /// Adds an entry to the open transaction. See `VendingStore`.
  public func stage(_ entry: VendingEntry) throws(StoreError) {
    try stage { () throws(StoreError) in
      if let purchase = entry.purchase { try write(purchase) }
      if let change = entry.change { try write(change) }
    }
  }

  /// Adds an open purchase, or changes the state of a stored one.
  private func write(_ purchase: StoredPurchase) throws(StoreError) {
    if purchase.state == .open {
      let isNew = !contents.purchases.contains { $0.request == purchase.request }
      guard isNew, purchase.number == Int64(contents.purchases.count + 1) else {
        throw damage(MessageDetail(.purchaseTwice, purchase.number, purchase.request))
      }
      return contents.purchases.append(purchase)
    }
    let place = contents.purchases.firstIndex {
      $0.number == purchase.number && $0.request == purchase.request
    }
    guard let place, contents.purchases[place].state.rawValue <= 2,
      contents.purchases[place].state.rawValue < purchase.state.rawValue
    else { throw damage(MessageDetail(.purchaseEnded, purchase.number)) }
    contents.purchases[place].state = purchase.state
  }

  private func write(_ change: MoneyChange) throws(StoreError) {
    let isNew = !contents.changes.contains { $0.request == change.request }
    guard isNew, change.sequence == Int64(contents.changes.count + 1) else {
      throw damage(MessageDetail(.moneyChangeTwice, change.sequence, change.request))
    }
    contents.changes.append(change)
  }

  /// The latest completed purchases. See `VendingStore`.
  public func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try requireHealth()
    return contents.changes.filter { $0.kind == .bought }.suffix(max(0, limit))
  }

  /// The stored change or purchase with this request id; nil if there is none.
  public func request(_ id: OrderID) throws(StoreError) -> StoredRequest? {
    try requireHealth()
    if let change = contents.changes.first(where: { $0.request == id }) { return .done(change) }
    return purchase(id).map { .purchase($0) }
  }

  private func purchase(_ id: OrderID) -> StoredPurchase? { contents.purchases.first { $0.request == id } }

  /// Completed purchases after a sequence number, in commit order.
  public func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try requireHealth()
    return Array(
      contents.changes.filter { $0.kind == .bought && $0.sequence > sequence }.prefix(max(0, limit)))
  }

  /// Number of purchases of each product, over all time.
  public func sales() throws(StoreError) -> [ProductSales] {
    try requireHealth()
    var counts: [ItemID: Int64] = [:]
    for change in contents.changes where change.kind == .bought {
      counts[change.product ?? ItemID(""), default: 0] += 1
    }
    return counts.sorted { $0.key < $1.key }.map { ProductSales(product: $0.key, count: $0.value) }
  }

  /// Checks the invariants of the committed data. See `VendingStore`.
  public func audit() throws(StoreError) -> VendingAudit {
    try beginAudit()
    var audit = VendingAuditor()
    for change in contents.changes { audit.visit(change, purchase(change.request)) }
    for purchase in contents.purchases { audit.visit(purchase) }
    return audit.finished()
  }
}
