// Owns the vending machine on disk: how an entry becomes rows. How rows are read stands in the extension; what happens
// after an error in `Transactions`. Invariant: an entry is written whole or the transaction is gone; a request is done
// once, which the database itself sees to.

import BankModel
import QueueCore
import VendingCore

/// A vending machine in a SQLite database: one process, one connection, one thread. See `SQLiteStore` for its settings.
public final class SQLiteVendingStore: DatabaseStore, VendingStore {
  let statements: VendingStatements
  private var isLoaded = false
  /// What was staged since the last commit: it is written again where a full disk took it and room was made.
  private var staged: [VendingEntry] = []

  override class var schema: Schema { .vending }
  /// What is held back: the log of a few changes, and what some thousand changes write.
  override class var reservePlan: HeldRoom.Plan { HeldRoom.Plan(limit: 1 << 20, share: 16) }

  /// What is kept in a database that was opened.
  override init(_ database: Database) throws(StoreError) {
    statements = try VendingStatements(database)
    try super.init(database)
  }

  /// Whether anything was staged since the last commit.
  public var hasStagedChanges: Bool { transactions.isOpen }

  /// Reads what is kept. A new store takes `machine` as the name of its machine.
  ///
  /// - Throws: `.damaged` where the money that is there is not what the rows say.
  public func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try transactions.requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let known = try database.number(
      "SELECT value FROM meta WHERE name = 'machine'", while: "reading the machine's name")
    let lastPurchase =
      try database.number("SELECT max(number) FROM purchase", while: "counting purchases") ?? 0
    let plain = try database.number(
      "SELECT value FROM meta WHERE name = 'plain purchases'", while: "reading how purchases are called")
    if known == nil || plain == nil, !database.isReadOnly {
      try begin(known ?? machine, lastPlain: plain ?? lastPurchase)
    }
    var stored = StoredVending(machine: known ?? machine, account: try readAccount())
    stored.sequence = try database.number("SELECT max(sequence) FROM ledger", while: "counting changes") ?? 0
    let last = try database.number(
      "SELECT balance FROM ledger WHERE sequence = \(stored.sequence)", while: "reading the balance")
    guard (last ?? 0) == stored.account.balance else {
      throw damage(Remark(.balanceDiffers, last ?? 0, stored.account.balance))
    }
    stored.lastPurchase = lastPurchase
    stored.lastPlainPurchase = plain ?? lastPurchase
    stored.unfinished = try unfinished()
    guard stored.unfinished.allSatisfy({ $0.state != .open || $0.price <= stored.account.balance }) else {
      throw damage(Remark(.purchaseCostsMore))
    }
    isLoaded = true
    return stored
  }

  /// Purchases that a program began which called their orders by number alone keep these names.
  private func begin(_ machine: Int64, lastPlain: PurchaseNumber) throws(StoreError) {
    try attempt { _ throws(StoreError) in
      try database.execute(
        "INSERT OR IGNORE INTO meta VALUES ('machine', \(machine)), ('plain purchases', \(lastPlain))",
        while: "naming the machine")
      try transactions.commit()
    }
  }

  /// Adds to the open transaction. See `VendingStore`.
  ///
  /// - Throws: `.diskFull`, or `.damaged` where a promise would be broken: a second end of one request.
  public func stage(_ entry: VendingEntry) throws(StoreError) {
    try transactions.requireHealth()
    precondition(isLoaded, "A store is loaded before anything is staged.")
    staged.append(entry)
    try attempt { isAgain throws(StoreError) in
      for entry in isAgain ? staged[...] : staged.suffix(1) { try write(entry) }
    }
  }

  /// Returns when everything that was staged is on disk. See `VendingStore`.
  public func commit() throws(StoreError) {
    try transactions.requireHealth()
    guard hasStagedChanges else { return }
    try attempt { isAgain throws(StoreError) in
      if isAgain { for entry in staged { try write(entry) } }
      try transactions.commit()
    }
    staged.removeAll(keepingCapacity: true)
    room.committed()
    if try transactions.checkpointIfDue() { room.ease() }
  }

  /// Forgets everything that was staged since the last commit.
  public func rollBack() {
    transactions.rollBack()
    staged.removeAll(keepingCapacity: true)
  }

  /// Does something with the open transaction, and again with everything that was staged where room was made for it.
  private func attempt(_ body: (_ isAgain: Bool) throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try transactions.attempt(undo: {}, body) } catch {
      staged.removeAll(keepingCapacity: true)
      throw error
    }
  }

  // MARK: - Rows

  private func write(_ entry: VendingEntry) throws(StoreError) {
    if let purchase = entry.purchase { try write(purchase) }
    if let change = entry.change { try write(change) }
  }

  private func write(_ change: MoneyChange) throws(StoreError) {
    let row = statements.insertChange
    row.bind(1, change.sequence)
    row.bind(2, change.kind.rawValue)
    row.bind(3, change.amount)
    row.bind(4, change.balance)
    if let product = change.product {
      try row.bind(5, text: product.name)
    } else {
      row.bind(5, optional: nil)
    }
    row.bind(6, change.dates?.made ?? -1)
    row.bind(7, change.dates?.expires ?? -1)
    try row.bind(8, text: change.request.text)
    row.bind(9, change.at.milliseconds)
    try row.run(broken: Remark(.moneyChangeTwice, change.sequence, change.request))
  }

  private func write(_ purchase: StoredPurchase) throws(StoreError) {
    guard purchase.state == .open else { return try end(purchase) }
    let row = statements.insertPurchase
    row.bind(1, purchase.number)
    try row.bind(2, text: purchase.request.text)
    try row.bind(3, text: purchase.product.name)
    row.bind(4, purchase.price)
    row.bind(5, purchase.state.rawValue)
    row.bind(6, purchase.at.milliseconds)
    try row.run(broken: Remark(.purchaseTwice, purchase.number, purchase.request))
  }

  private func end(_ purchase: StoredPurchase) throws(StoreError) {
    statements.endPurchase.bind(1, purchase.number)
    statements.endPurchase.bind(2, purchase.state.rawValue)
    try statements.endPurchase.bind(3, text: purchase.request.text)
    try statements.endPurchase.run()
    if database.changes != 1 { throw damage(Remark(.purchaseEnded, purchase.number)) }
  }

  func damage(_ detail: Remark) -> StoreError { .damaged(path: database.path, detail: detail) }
}
