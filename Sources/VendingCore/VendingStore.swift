// Owns what a vending machine needs of a disk: what is read at the start, what is staged and committed, what is asked
// for. Invariant of every store: after an error nothing that was staged since the last commit is kept.

import BankModel

/// A machine as a store has kept it.
public struct StoredVending: Sendable, Equatable {
  /// Which machine this is: one that was made anew has another name, so no two ask the stock under one.
  public var machine: Int64
  /// The money.
  public var account: MoneyAccount
  /// The last change; 0 before the first.
  public var sequence: Int64
  /// The last purchase that was begun; 0 before the first.
  public var lastPurchase: PurchaseNumber
  /// The last purchase whose order at the stock is called by its number alone, without its moment; 0 where none is.
  public var lastPlainPurchase: PurchaseNumber
  /// Purchases whose end is not known, in the order in which they were begun.
  public var unfinished: [StoredPurchase]

  public init(
    machine: Int64, account: MoneyAccount = MoneyAccount(), sequence: Int64 = 0,
    lastPurchase: PurchaseNumber = 0, lastPlainPurchase: PurchaseNumber = 0, unfinished: [StoredPurchase] = []
  ) {
    (self.machine, self.account, self.sequence) = (machine, account, sequence)
    (self.lastPurchase, self.lastPlainPurchase) = (lastPurchase, lastPlainPurchase)
    self.unfinished = unfinished
  }
}

/// So many purchases of one product.
public struct ProductSales: Hashable, Sendable {
  /// Of what.
  public var product: ItemID
  /// How many.
  public var count: Int64
  public init(product: ItemID, count: Int64) { (self.product, self.count) = (product, count) }
}

/// What an audit of a machine found; every number is counted from the rows.
public struct VendingAudit: Sendable, Equatable {
  /// Rows of the ledger.
  public var changes: Int64 = 0
  /// The money as the rows tell it.
  public var account = MoneyAccount()
  /// Purchases that were made, and those whose end is not known yet.
  public var purchases: Int64 = 0, unfinished: Int64 = 0
  /// Won by which the balance differs from what the rows say.
  public var difference: Won = 0
  /// Everything that is not as promised.
  public var remarks: [Remark] = []
  /// Everything that is not as promised, a sentence each, in English.
  public var problems: [String] { remarks.map(\.description) }
  public init() {}
}

/// Keeps a vending machine. One user at a time; every call is synchronous.
public protocol VendingStore<Failure>: EntryStore where Entry == VendingEntry {
  /// Reads what is kept. A new store takes `machine` as the name of its machine.
  func load(newMachine machine: Int64) throws(Failure) -> StoredVending

  /// What is known of a request.
  func request(_ id: OrderID) throws(Failure) -> StoredRequest?

  /// Purchases that were made behind a place in the ledger, in order.
  func purchases(after sequence: Int64, limit: Int) throws(Failure) -> [MoneyChange]

  /// The latest purchases that were made, the oldest of them first; at most so many, and no more is read than these.
  func latestPurchases(limit: Int) throws(Failure) -> [MoneyChange]

  /// How many of each product were ever bought, those that were never left out, by product.
  func sales() throws(Failure) -> [ProductSales]

  /// Checks everything that can be checked. Nothing may be staged.
  func audit() throws(Failure) -> VendingAudit
}
