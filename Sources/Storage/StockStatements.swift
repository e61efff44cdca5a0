// Owns every statement that the stock's store runs often, each prepared once when the store is opened. It knows the
// tables and binds nothing. Invariant: preparing them all is also the test that the tables are there.
// A statement that cannot be prepared means a damaged database.

import CSQLite
import QueueCore

/// The statements of a stock's store.
struct StockStatements {
  let insertItem, putLot, deleteLot, insertChange: Statement
  let insertOrder, insertShortage, markReturned: Statement
  let items, lots, order, orders, shortages, changes: Statement

  /// Columns of a row of the ledger, in the order in which rows are read and written.
  static let changeColumns = "sequence, item, kind, made, expires, difference, lot, present, order_id, at_ms"

  init(_ database: Database) throws(StoreError) {
    insertItem = try database.prepare(
      "INSERT INTO item (number, name) VALUES (?, ?)", while: "adding an item")
    putLot = try database.prepare(
      """
      INSERT INTO lot (item, expires, made, quantity) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET quantity = excluded.quantity
      """, while: "changing a lot")
    deleteLot = try database.prepare(
      "DELETE FROM lot WHERE item = ? AND expires = ? AND made = ?", while: "emptying a lot")
    insertChange = try database.prepare(
      "INSERT INTO ledger (\(Self.changeColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      while: "writing the ledger")
    insertOrder = try database.prepare(
      "INSERT INTO stock_order (id, content, outcome, first, last, at_ms) VALUES (?, ?, ?, ?, ?, ?)",
      while: "remembering an order")
    insertShortage = try database.prepare(
      "INSERT INTO shortage (order_id, place, item, needed, available) VALUES (?, ?, ?, ?, ?)",
      while: "remembering a shortage")
    markReturned = try database.prepare(
      """
      UPDATE stock_order SET returned_first = ?2, returned_last = ?3
      WHERE id = ?1 AND outcome = 1 AND returned_first IS NULL
      """, while: "giving an order back")

    items = try database.prepare("SELECT number, name FROM item ORDER BY number", while: "reading the items")
    // A lot without dates is sold last.
    lots = try database.prepare(
      "SELECT item, made, expires, quantity FROM lot ORDER BY item, expires = -1, expires, made",
      while: "reading the lots")
    order = try database.prepare(
      "SELECT content, outcome, first, last, returned_first, returned_last FROM stock_order WHERE id = ?",
      while: "looking for an order")
    orders = try database.prepare(
      """
      SELECT id, content, outcome, returned_first FROM stock_order WHERE id > ? ORDER BY id LIMIT ?
      """, while: "listing the orders")
    shortages = try database.prepare(
      "SELECT item, needed, available FROM shortage WHERE order_id = ? ORDER BY place",
      while: "reading a shortage")
    changes = try database.prepare(
      "SELECT \(Self.changeColumns) FROM ledger WHERE sequence > ? ORDER BY sequence LIMIT ?",
      while: "reading the ledger")
  }
}
