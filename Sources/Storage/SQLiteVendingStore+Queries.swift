// Queries and audit of the vending machine on disk.
// Invariant: an audit reads its rows in pages, so memory does not grow with the ledger. An invalid value throws
// `.damaged` in a query. In an audit it is a finding, and the rows after it are not read.

import BankModel
import QueueCore
import Time
import VendingCore

extension SQLiteVendingStore {
  /// The stored change or purchase with this request id; nil if there is none.
  public func request(_ id: OrderID) throws(StoreError) -> StoredRequest? {
    try transactions.requireHealth()
    try statements.changeOfRequest.bind(1, text: id.text)
    if let change = try statements.changeOfRequest.first(change) { return .done(change) }
    return try purchase(of: id).map { .purchase($0) }
  }

  /// The purchase with this request id; nil if there is none.
  private func purchase(of id: OrderID) throws(StoreError) -> StoredPurchase? {
    try statements.purchaseOfRequest.bind(1, text: id.text)
    return try statements.purchaseOfRequest.first(purchase)
  }

  /// Completed purchases after a sequence number, in commit order. See `VendingStore`.
  public func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try page(statements.bought, after: sequence, limit: limit, change)
  }

  /// The latest completed purchases. See `VendingStore`.
  public func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try transactions.requireHealth()
    var latest: [MoneyChange] = []
    for sale in try sales() {
      try statements.latest.bind(1, text: sale.product.name)
      statements.latest.bind(2, Int64(max(0, limit)))
      latest += try statements.latest.all(change)
    }
    return latest.sorted { $0.sequence < $1.sequence }.suffix(max(0, limit))
  }

  /// Number of purchases of each product, over all time. See `VendingStore`.
  public func sales() throws(StoreError) -> [ProductSales] {
    try transactions.requireHealth()
    return try statements.sales.all { ProductSales(product: ItemID($0.text(0)), count: $0.integer(1)) }
  }

  /// Purchases that are open or being released, by number.
  func unfinished() throws(StoreError) -> [StoredPurchase] { try statements.unfinished.all(purchase) }

  /// Sums of the inserted, spent and returned money, and the balance.
  func readAccount() throws(StoreError) -> MoneyAccount {
    var account = MoneyAccount()
    _ = try statements.sums.all { row in
      let sum = row.integer(1)
      switch row.integer(0) {
      case 1: account.inserted = sum
      case 2: account.spent = sum
      default: account.returned = sum
      }
    }
    account.balance = account.inserted &- account.spent &- account.returned
    return account
  }

  /// Makes a change from a row of the ledger.
  private func change(_ row: Statement) throws(StoreError) -> MoneyChange {
    guard let kind = UInt8(exactly: row.integer(1)).flatMap(MoneyChange.Kind.init(rawValue:)) else {
      throw damage(MessageDetail(.changeInvalid, row.integer(0)))
    }
    let (made, expires) = (row.integer(5), row.integer(6))
    return MoneyChange(
      sequence: row.integer(0), kind: kind, amount: row.integer(2), balance: row.integer(3),
      product: row.isNull(4) ? nil : ItemID(row.text(4)),
      dates: expires == -1 ? nil : LotDates(made: made, expires: expires), request: OrderID(row.text(7)),
      at: WallTime(milliseconds: row.integer(8)))
  }

  /// Makes a purchase from a row; throws if a value is invalid.
  private func purchase(_ row: Statement) throws(StoreError) -> StoredPurchase {
    guard let state = UInt8(exactly: row.integer(4)).flatMap(StoredPurchase.State.init(rawValue:)) else {
      throw damage(MessageDetail(.purchaseState, row.integer(0), row.integer(4)))
    }
    guard row.integer(0) > 0 else { throw damage(MessageDetail(.purchaseNumber, row.integer(0))) }
    return StoredPurchase(
      number: row.integer(0), request: OrderID(row.text(1)), product: ItemID(row.text(2)),
      price: row.integer(3), state: state, at: WallTime(milliseconds: row.integer(5)))
  }

  /// Reads at most `limit` rows after a number.
  private func page<Row>(
    _ statement: Statement, after place: Int64, limit: Int, _ read: (Statement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    try transactions.requireHealth()
    statement.bindAll(place, Int64(max(0, limit)))
    return try statement.all(read)
  }

  /// Checks the invariants of the committed data. See `VendingStore`.
  public func audit() throws(StoreError) -> VendingAudit {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
    var audit = VendingAuditor()
    do throws(StoreError) {
      try database.examine(into: &audit.findings)
      var last: Int64 = 0
      while let end = try visitChanges(after: last, &audit) { last = end }
      last = 0
      while let end = try visitPurchases(after: last, &audit) { last = end }
    } catch {
      guard case .damaged(_, let detail) = error else { throw error }
      audit.findings.note(detail)
    }
    return audit.finished()
  }

  /// Checks the next page of ledger rows. Returns the last sequence number; nil at the end.
  private func visitChanges(after last: Int64, _ audit: inout VendingAuditor) throws(StoreError) -> Int64? {
    let rows = try page(statements.changes, after: last, limit: 1_000, change)
    for row in rows { audit.visit(row, try purchase(of: row.request)) }
    return rows.last?.sequence
  }

  /// Checks the next page of purchases. Returns the last number; nil at the end.
  private func visitPurchases(after last: Int64, _ audit: inout VendingAuditor) throws(StoreError) -> Int64? {
    let rows = try page(statements.purchases, after: last, limit: 1_000, purchase)
    for row in rows { audit.visit(row) }
    return rows.last?.number
  }
}
