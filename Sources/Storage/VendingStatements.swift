// Owns every statement that the vending machine's store runs often, each prepared once when the store is opened. It
// knows the tables and binds nothing. Invariant: preparing them all is also the test that the tables are there.
// A statement that cannot be prepared means a damaged database.

import QueueCore

/// The statements of a vending machine's store.
struct VendingStatements {
  let insertChange, insertPurchase, endPurchase: Statement
  let changeOfRequest, purchaseOfRequest: Statement
  let changes, bought, latest, purchases, unfinished, sums, sales: Statement

  /// Columns of a row of the ledger, in the order in which rows are read and written.
  static let changeColumns = "sequence, kind, amount, balance, product, made, expires, request, at_ms"
  /// Columns of a purchase, in the order in which rows are read and written.
  static let purchaseColumns = "number, request, product, price, state, at_ms"

  init(_ database: Database) throws(StoreError) {
    insertChange = try database.prepare(
      "INSERT INTO ledger (\(Self.changeColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      while: "writing the ledger")
    insertPurchase = try database.prepare(
      "INSERT INTO purchase (\(Self.purchaseColumns)) VALUES (?, ?, ?, ?, ?, ?)", while: "writing an intent")
    endPurchase = try database.prepare(
      "UPDATE purchase SET state = ?2 WHERE number = ?1 AND request = ?3 AND state <= 2 AND state < ?2",
      while: "ending a purchase")

    changeOfRequest = try database.prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE request = ?", while: "looking for a request")
    purchaseOfRequest = try database.prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE request = ?", while: "looking for a purchase")
    changes = try database.prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? ORDER BY sequence LIMIT ?",
      while: "reading the ledger")
    bought = try database.prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? AND kind = 2 ORDER BY sequence LIMIT ?",
      while: "reading the purchases")
    // The index of purchases has them by product: between two of them there may be any number of coins in the ledger.
    latest = try database.prepare(
      """
      SELECT \(Self.changeColumns) FROM ledger WHERE kind = 2 AND product = ? ORDER BY sequence DESC LIMIT ?
      """, while: "reading the latest purchases")
    purchases = try database.prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE number > ? ORDER BY number LIMIT ?",
      while: "reading the intents")
    unfinished = try database.prepare(
      "SELECT \(Self.purchaseColumns) FROM purchase WHERE state <= 2 ORDER BY number",
      while: "reading the open intents")
    sums = try database.prepare(
      "SELECT kind, sum(amount) FROM ledger GROUP BY kind", while: "counting the money")
    sales = try database.prepare(
      "SELECT product, count(*) FROM ledger WHERE kind = 2 GROUP BY product ORDER BY product",
      while: "counting the purchases")
  }
}
