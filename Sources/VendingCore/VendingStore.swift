// Interface of a vending machine to its store: loading, staging, committing and queries.
// Invariant: after an error no entry staged since the last commit is kept.

import BankModel

/// State of a machine as loaded from a store.
public struct StoredVending: Sendable, Equatable {
  /// Identity of the machine, which is part of its order names at the stock.
  public var machine: Int64
  /// Totals of the machine's money.
  public var account: MoneyAccount
  /// Sequence number of the last change; 0 before the first.
  public var sequence: Int64
  /// The last purchase that was started; 0 before the first.
  public var lastPurchase: PurchaseNumber
  /// The last purchase whose order name at the stock contains only its number, without its time; 0 for none.
  public var lastPlainPurchase: PurchaseNumber
  /// Purchases that are in progress, or abandoned and not yet released by the stock, in the order of their start.
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

/// Number of completed purchases of one product.
public struct ProductSales: Hashable, Sendable {
  /// Name of the product.
  public var product: ItemID
  /// Number of completed purchases.
  public var count: Int64
  public init(product: ItemID, count: Int64) { (self.product, self.count) = (product, count) }
}

/// Result of an audit of a machine, counted from the rows.
public struct VendingAudit: Sendable, Equatable {
  /// Number of rows of the ledger.
  public var changes: Int64 = 0
  /// The money, summed over the rows.
  public var account = MoneyAccount()
  /// Number of completed purchases, and of those that are in progress or abandoned and not yet released.
  public var purchases: Int64 = 0, unfinished: Int64 = 0
  /// Difference between the balance and the sum of the rows, in won.
  public var difference: Won = 0
  /// Violations of the invariants.
  public var messageDetails: [MessageDetail] = []
  /// Violations of the invariants, one English sentence each.
  public var problems: [String] { messageDetails.map(\.description) }
  public init() {}
}

/// Store of a vending machine. One user at a time.
public protocol VendingStore<Failure>: EntryStore where Entry == VendingEntry {
  /// Reads the stored state. A new store uses `machine` as the identity of its machine.
  func load(newMachine machine: Int64) throws(Failure) -> StoredVending

  /// The record of a request; nil if it is unknown.
  func request(_ id: OrderID) throws(Failure) -> StoredRequest?

  /// Completed purchases after a sequence number of the ledger, in order.
  func purchases(after sequence: Int64, limit: Int) throws(Failure) -> [MoneyChange]

  /// The latest completed purchases, oldest first; at most `limit`.
  func latestPurchases(limit: Int) throws(Failure) -> [MoneyChange]

  /// Number of completed purchases of each product, by product; products that were never bought are omitted.
  func sales() throws(Failure) -> [ProductSales]

  /// Checks the invariants by the stored rows. Returns sums and violations. Nothing may be staged.
  func audit() throws(Failure) -> VendingAudit
}
