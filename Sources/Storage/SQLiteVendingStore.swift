// Vending machine on disk: writing of entries.
// Invariant: an entry is written completely, or the transaction is rolled back. A unique constraint of the
// database ensures that a request is executed once.

import BankModel
import QueueCore
import VendingCore

/// Vending machine in a SQLite database: one process, one connection, one thread. See `SQLiteStore` for its settings.
public final class SQLiteVendingStore: EntryDatabaseStore<VendingEntry>, VendingStore {
  let statements: VendingStatements

  override class var schema: Schema { .vending }
  /// Reserves space for the WAL and the data of further changes.
  override class var reservePlan: ReservedSpace.ReservePlan {
    ReservedSpace.ReservePlan(limit: 1 << 20, share: 16)
  }

  override init(_ database: Database) throws(StoreError) {
    statements = try VendingStatements(database)
    try super.init(database)
  }

  /// Reads the stored state. In a new store, `machine` becomes the number that identifies the machine.
  ///
  /// - Throws: `.damaged` if the stored balance is not the sum of the rows, or if an open purchase costs more than the
  ///   balance.
  public func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let known = try database.note("machine", while: "reading the machine's name")
    let lastPurchase =
      try database.number("SELECT max(number) FROM purchase", while: "counting purchases") ?? 0
    let plain = try database.note("plain purchases", while: "reading how purchases are named")
    if known == nil || plain == nil, !database.isReadOnly {
      // An older program named the stock orders of its purchases by the number alone, and these orders keep
      // their names.
      try begin(
        "('machine', \(known ?? machine)), ('plain purchases', \(plain ?? lastPurchase))",
        while: "naming the machine")
    }
    var stored = StoredVending(machine: known ?? machine, account: try readAccount())
    stored.sequence = try database.number("SELECT max(sequence) FROM ledger", while: "counting changes") ?? 0
    let last = try database.number(
      "SELECT balance FROM ledger WHERE sequence = \(stored.sequence)", while: "reading the balance")
    guard (last ?? 0) == stored.account.balance else {
      throw damage(MessageDetail(.balanceDiffers, last ?? 0, stored.account.balance))
    }
    stored.lastPurchase = lastPurchase
    stored.lastPlainPurchase = plain ?? lastPurchase
    stored.unfinished = try unfinished()
    guard stored.unfinished.allSatisfy({ $0.state != .open || $0.price <= stored.account.balance }) else {
      throw damage(MessageDetail(.purchaseExceedsBalance))
    }
    isLoaded = true
    return stored
  }

  override func write(_ entry: VendingEntry) throws(StoreError) {
    if let purchase = entry.purchase { try write(purchase) }
    if let change = entry.change { try write(change) }
  }

  private func write(_ change: MoneyChange) throws(StoreError) {
    let row = statements.insertChange
    row.bindAll(change.sequence, Int64(change.kind.rawValue), change.amount, change.balance)
    try row.bind(5, text: change.product?.name)
    row.bindAll(from: 6, change.dates?.made ?? -1, change.dates?.expires ?? -1)
    try row.bind(8, text: change.request.text)
    row.bind(9, change.at.milliseconds)
    try row.run(violation: MessageDetail(.moneyChangeTwice, change.sequence, change.request))
  }

  /// Adds an open purchase, or changes the state of a stored one.
  private func write(_ purchase: StoredPurchase) throws(StoreError) {
    let (number, state) = (purchase.number, Int64(purchase.state.rawValue))
    if purchase.state == .open {
      let row = statements.insertPurchase
      row.bind(1, number)
      try row.bind(2, text: purchase.request.text)
      try row.bind(3, text: purchase.product.name)
      row.bindAll(from: 4, purchase.price, state, purchase.at.milliseconds)
      try row.run(violation: MessageDetail(.purchaseTwice, number, purchase.request))
    } else {
      statements.endPurchase.bindAll(number, state)
      try statements.endPurchase.bind(3, text: purchase.request.text)
      try statements.endPurchase.run()
      if database.changes != 1 { throw damage(MessageDetail(.purchaseEnded, number)) }
    }
  }
}

struct VendingStatements {
  let insertChange, insertPurchase, endPurchase: Statement
  let changeOfRequest, purchaseOfRequest: Statement
  let changes, bought, latest, purchases, unfinished, sums, sales: Statement

  /// Columns of the ledger, in the order in which they are read and bound.
  static let changeColumns = "sequence, kind, amount, balance, product, made, expires, request, at_ms"
  static let purchaseColumns = "number, request, product, price, state, at_ms"

  init(_ database: Database) throws(StoreError) {
    let prepare = database.prepare(_:while:)
    insertChange = try prepare(
      "INSERT INTO ledger (\(Self.changeColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "writing the ledger")
    insertPurchase = try prepare(
      "INSERT INTO purchase (\(Self.purchaseColumns)) VALUES (?, ?, ?, ?, ?, ?)", "writing an intent")
    endPurchase = try prepare(
      "UPDATE purchase SET state = ?2 WHERE number = ?1 AND request = ?3 AND state <= 2 AND state < ?2",
      "ending a purchase")

    changeOfRequest = try prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE request = ?", "looking for a request")
    purchaseOfRequest = try prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE request = ?", "looking for a purchase")
    changes = try prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? ORDER BY sequence LIMIT ?",
      "reading the ledger")
    bought = try prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? AND kind = 2 ORDER BY sequence LIMIT ?",
      "reading the purchases")
    // The index of purchases is by product. A scan of the ledger could read any number of coins between two
    // purchases.
    latest = try prepare(
      """
      SELECT \(Self.changeColumns) FROM ledger WHERE kind = 2 AND product = ? ORDER BY sequence DESC LIMIT ?
      """, "reading the latest purchases")
    purchases = try prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE number > ? ORDER BY number LIMIT ?",
      "reading the intents")
    unfinished = try prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE state <= 2 ORDER BY number",
      "reading the open intents")
    sums = try prepare("SELECT kind, sum(amount) FROM ledger GROUP BY kind", "counting the money")
    sales = try prepare(
      "SELECT product, count(*) FROM ledger WHERE kind = 2 GROUP BY product ORDER BY product",
      "counting the purchases")
  }
}
