// Interface of the stock to its store: loading, staging, committing and queries.
// Invariant of every store: after an error no entry staged since the last commit is kept.

import BankModel

/// State of the stock as loaded from a store.
public struct StoredStock: Sendable, Equatable {
  /// The items, in the order of first use.
  public var items: [ItemStock]
  /// Sequence number of the last change; 0 before the first.
  public var sequence: Int64
  /// Identity of the ledger; see ``StockSnapshot/ledger``.
  public var ledger: Int64

  public init(items: [ItemStock] = [], sequence: Int64 = 0, ledger: Int64) {
    (self.items, self.sequence, self.ledger) = (items, sequence, ledger)
  }
}

/// Result of an audit of the stock, counted from the rows.
public struct StockAudit: Sendable, Equatable {
  /// Number of known items, answered orders, and rows of the ledger.
  public var items: Int64 = 0, orders: Int64 = 0, changes: Int64 = 0
  /// Sum of the differences between lots and ledger, in pieces.
  public var difference: Int64 = 0
  /// Violations of the invariants.
  public var messageDetails: [MessageDetail] = []
  /// Violations of the invariants, one English sentence each.
  public var problems: [String] { messageDetails.map(\.description) }
  public init() {}
}

/// Store of the stock. One user at a time; calls are synchronous.
public protocol StockStore<Failure>: EntryStore where Entry == StockEntry {
  /// Reads the stored state. A new store uses `ledger` as the identity of its ledger.
  func load(newLedger ledger: Int64) throws(Failure) -> StoredStock

  /// The record of an order; nil if it is unknown.
  func order(_ id: OrderID) throws(Failure) -> StoredOrder?

  /// Answered orders, sorted by name, after `id`; nil starts with the first.
  func orders(after id: OrderID?, limit: Int) throws(Failure) -> [OrderRecord]

  /// Rows of the ledger after a sequence number, in order.
  func changes(after sequence: Int64, limit: Int) throws(Failure) -> [StockChange]

  /// Checks the invariants by the stored rows. Returns counts and violations. Nothing may be staged.
  func audit() throws(Failure) -> StockAudit
}
