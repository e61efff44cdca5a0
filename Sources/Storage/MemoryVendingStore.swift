// Owns the vending machine in memory: the same promises as the store on disk, for tests and for simulated histories,
// with crashes and failures at will. It knows no file. Invariant: what was staged and not committed is a copy beside what
// was, so taking it back is forgetting it. Written for plainness and not for speed.

import BankModel
import QueueCore
import VendingCore

/// A store that forgets everything when the process ends, and before that only what it is told to.
public final class MemoryVendingStore: VendingStore {
  private struct Contents {
    var machine: Int64?
    var changes: [MoneyChange] = []
    var purchases: [StoredPurchase] = []
  }

  private var contents = Contents()
  private var committed = Contents()
  /// The error that the next commit meets; nil for none.
  private var nextFailure: StoreError?
  private var nextAuditFailure: StoreError?
  private var keepsFailed = false
  /// The error that the next entry meets; nil for none.
  private var nextRefusal: StoreError?
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

  /// Makes the next entry fail, and with it everything that was staged before it.
  public func failStage(with error: StoreError) { nextRefusal = error }

  /// Every row of the ledger that is on disk, for whoever checks it.
  public var committedChanges: [MoneyChange] { committed.changes }

  /// Every purchase as it is on disk, for whoever checks it.
  public var committedPurchases: [StoredPurchase] { committed.purchases }

  /// Makes the next audit fail.
  public func failAudit(with error: StoreError) { nextAuditFailure = error }

  /// The process that used this store was killed: what was not committed is gone, and the store can be loaded again.
  public func crash() {
    (end, nextFailure, nextRefusal) = (nil, nil, nil)
    rollBack()
  }

  /// Reads what is kept. A new store takes `machine` as the name of its machine.
  public func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    contents.machine = contents.machine ?? machine
    committed = contents
    var account = MoneyAccount()
    for change in contents.changes { account.apply(change) }
    return StoredVending(
      machine: contents.machine ?? machine, account: account, sequence: Int64(contents.changes.count),
      lastPurchase: Int64(contents.purchases.count),
      unfinished: contents.purchases.filter { $0.state == .open || $0.state == .releasing })
  }

  /// Adds to the open transaction. See `VendingStore`.
  public func stage(_ entry: VendingEntry) throws(StoreError) {
    try requireHealth()
    hasStagedChanges = true
    do throws(StoreError) {
      if let error = nextRefusal {
        nextRefusal = nil
        throw error
      }
      if let purchase = entry.purchase { try write(purchase) }
      if let change = entry.change { try write(change) }
    } catch {
      rollBack()
      throw error
    }
  }

  private func write(_ purchase: StoredPurchase) throws(StoreError) {
    if purchase.state == .open {
      let isNew = !contents.purchases.contains { $0.request == purchase.request }
      guard isNew, purchase.number == Int64(contents.purchases.count + 1) else {
        throw damage(Remark(.purchaseTwice, purchase.number, purchase.request))
      }
      return contents.purchases.append(purchase)
    }
    let place = contents.purchases.firstIndex {
      $0.number == purchase.number && $0.request == purchase.request
    }
    guard let place, contents.purchases[place].state.rawValue <= 2,
      contents.purchases[place].state.rawValue < purchase.state.rawValue
    else { throw damage(Remark(.purchaseEnded, purchase.number)) }
    contents.purchases[place].state = purchase.state
  }

  private func write(_ change: MoneyChange) throws(StoreError) {
    let isNew = !contents.changes.contains { $0.request == change.request }
    guard isNew, change.sequence == Int64(contents.changes.count + 1) else {
      throw damage(Remark(.moneyChangeTwice, change.sequence, change.request))
    }
    contents.changes.append(change)
  }

  /// Keeps everything that was staged. See `VendingStore`.
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

  /// The latest purchases that were made. See `VendingStore`.
  public func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try requireHealth()
    return contents.changes.filter { $0.kind == .bought }.suffix(max(0, limit))
  }

  /// What is known of a request.
  public func request(_ id: OrderID) throws(StoreError) -> StoredRequest? {
    try requireHealth()
    if let change = contents.changes.first(where: { $0.request == id }) { return .done(change) }
    return purchase(id).map { .purchase($0) }
  }

  private func purchase(_ id: OrderID) -> StoredPurchase? { contents.purchases.first { $0.request == id } }

  /// Purchases that were made behind a place, in order.
  public func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try requireHealth()
    return Array(
      contents.changes.filter { $0.kind == .bought && $0.sequence > sequence }.prefix(max(0, limit)))
  }

  /// How many of each product were ever bought.
  public func sales() throws(StoreError) -> [ProductSales] {
    try requireHealth()
    var counts: [ItemID: Int64] = [:]
    for change in contents.changes where change.kind == .bought {
      counts[change.product ?? ItemID(""), default: 0] += 1
    }
    return counts.sorted { $0.key < $1.key }.map { ProductSales(product: $0.key, count: $0.value) }
  }

  /// Checks everything that can be checked. See `VendingStore`.
  public func audit() throws(StoreError) -> VendingAudit {
    try requireHealth()
    if let error = nextAuditFailure {
      nextAuditFailure = nil
      throw error
    }
    audits += 1
    precondition(!hasStagedChanges, "An audit looks at what is committed: commit or roll back first.")
    var audit = VendingAuditor()
    for change in contents.changes { audit.visit(change, purchase(change.request)) }
    for purchase in contents.purchases { audit.visit(purchase) }
    return audit.finished()
  }

  private func requireHealth() throws(StoreError) {
    if let end { throw end }
  }

  private func damage(_ detail: Remark) -> StoreError { .damaged(path: "memory", detail: detail) }
}
