// Owns how the databases of a home keep what they have seen of each other: named numbers in `meta`. It judges nothing.
// Invariant: a note is one transaction of its own, so it never carries anything else to the disk.

import BankModel
import QueueCore
import Time

extension Transactions {
  /// The last opening of a bank with which this database was used; nil where it knows of none.
  func readBank() throws(StoreError) -> BankMark? {
    guard let books = try database.note("bank books"), let opening = try database.note("bank opening"),
      let moment = try database.note("bank moment")
    else { return nil }
    return BankMark(books: books, opening: opening, openedAt: WallTime(milliseconds: moment))
  }

  /// Writes down with which opening of a bank this database is used. Nothing may be staged.
  func write(_ bank: BankMark) throws(StoreError) {
    try requireHealth()
    precondition(!isOpen, "A note is a transaction of its own.")
    do throws(StoreError) {
      try beginIfNeeded()
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES ('bank books', \(bank.books)), ('bank opening', \(bank.opening)),
          ('bank moment', \(bank.openedAt.milliseconds))
        """, while: "noting the bank")
      try commit()
    } catch { throw recover(from: error, makesRoom: false) }
    if isLogLost { try checkpointIfDue() }
  }
}

extension Database {
  /// A named number that was kept; nil where it was not.
  func note(_ name: String, while purpose: StaticString = "reading a note") throws(StoreError) -> Int64? {
    try number("SELECT value FROM meta WHERE name = '\(name)'", while: purpose)
  }
}

extension DatabaseStore {
  /// The last opening of a bank with which the database of a service was used; nil where it knows of none.
  public func lastBank() throws(StoreError) -> BankMark? { try transactions.readBank() }
  /// Writes down with which opening of a bank the database of a service is used; durable when it returns. Nothing may be
  /// staged.
  public func remember(_ bank: BankMark) throws(StoreError) { try transactions.write(bank) }
}

extension SQLiteStore {
  /// When an opening of this bank was; nil where there was none of this number.
  public func moment(ofOpening number: Int64) throws(StoreError) -> WallTime? {
    try database.note("\(Self.opening)\(number)").map { WallTime(milliseconds: $0) }
  }

  /// What these books remember of a database beside them, such as that of `stock`; nil where they have seen none.
  public func knownDatabase(of service: String) throws(StoreError) -> KnownDatabase? {
    guard let identity = try database.note("\(service) identity"),
      let opening = try database.note("\(service) opening")
    else { return nil }
    return KnownDatabase(identity: identity, opening: opening)
  }

  /// Writes down what was seen of a database beside these books; durable when it returns. Nothing may be staged.
  public func remember(_ known: KnownDatabase, of service: String) throws(StoreError) {
    try requireHealth()
    try inTransaction { () throws(StoreError) in
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES
          ('\(service) identity', \(known.identity)), ('\(service) opening', \(known.opening))
        """, while: "noting a database beside the books")
    }
  }
}
