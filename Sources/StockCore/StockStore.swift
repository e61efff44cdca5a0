// Owns what the stock needs of a disk: what is read at the start, what is staged and committed, what is asked for.
// Invariant of every store: after an error nothing that was staged since the last commit is kept.

import BankModel

/// The stock as a store has kept it.
public struct StoredStock: Sendable, Equatable {
  /// Every item, in the order in which they were first heard of.
  public var items: [ItemStock]
  /// The last change; 0 before the first.
  public var sequence: Int64
  /// Which ledger this is; see ``StockPicture/ledger``.
  public var ledger: Int64

  public init(items: [ItemStock] = [], sequence: Int64 = 0, ledger: Int64) {
    (self.items, self.sequence, self.ledger) = (items, sequence, ledger)
  }
}

/// What an audit of the stock found; every number is counted from the rows.
public struct StockAudit: Sendable, Equatable {
  /// Items that are known, orders that were answered, and rows of the ledger.
  public var items: Int64 = 0, orders: Int64 = 0, changes: Int64 = 0
  /// Pieces by which the lots differ from what the ledger says, all added up.
  public var difference: Int64 = 0
  /// Everything that is not as promised.
  public var remarks: [Remark] = []
  /// Everything that is not as promised, a sentence each, in English.
  public var problems: [String] { remarks.map(\.description) }
  public init() {}
}

/// Keeps the stock. One user at a time; every call is synchronous.
public protocol StockStore<Failure>: EntryStore where Entry == StockEntry {
  /// Reads what is kept. A new store takes `ledger` as the name of its ledger.
  func load(newLedger ledger: Int64) throws(Failure) -> StoredStock

  /// What is known of an order.
  func order(_ id: OrderID) throws(Failure) -> StoredOrder?

  /// Orders that were answered, by their names, beginning behind one; nil begins.
  func orders(after id: OrderID?, limit: Int) throws(Failure) -> [KeptOrder]

  /// Rows of the ledger behind a place, in order.
  func changes(after sequence: Int64, limit: Int) throws(Failure) -> [StockChange]

  /// Checks everything that can be checked. Nothing may be staged.
  func audit() throws(Failure) -> StockAudit
}
