// Records in `meta` with which the databases of a home refer to each other.
// Invariant: the functions of this file write a record in its own transaction, so the commit includes no other
// change.

import BankModel
import QueueCore
import Time

extension Transactions {
  /// The last recorded opening of a bank that used this database; nil for none.
  func readBank() throws(StoreError) -> BankIdentity? {
    guard let bankID = try database.note("bank books"), let opening = try database.note("bank opening"),
      let moment = try database.note("bank moment")
    else { return nil }
    return BankIdentity(bankID: bankID, opening: opening, openedAt: WallTime(milliseconds: moment))
  }

  /// Records the opening of a bank that uses this database. Nothing may be staged.
  func write(_ bank: BankIdentity) throws(StoreError) {
    try requireHealth()
    precondition(!isOpen, "A mark is written in its own transaction.")
    do throws(StoreError) {
      try beginIfNeeded()
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES ('bank books', \(bank.bankID)), ('bank opening', \(bank.opening)),
          ('bank moment', \(bank.openedAt.milliseconds))
        """, while: "recording the bank")
      try commit()
    } catch { throw recover(from: error, makesSpace: false) }
    if isLogLost { try checkpointIfDue() }
  }
}

extension Database {
  /// Returns a number from `meta` by its name, or nil if it is not stored.
  func note(_ name: String, while purpose: StaticString = "reading a named number") throws(StoreError)
    -> Int64?
  {
    try number("SELECT value FROM meta WHERE name = '\(name)'", while: purpose)
  }
}

extension DatabaseStore {
  /// The last recorded opening of a bank that used this database; nil for none.
  public func lastBank() throws(StoreError) -> BankIdentity? { try transactions.readBank() }
  /// Records the opening of a bank that uses this database. Durable on return. Nothing may be staged.
  public func remember(_ bank: BankIdentity) throws(StoreError) { try transactions.write(bank) }
}

extension SQLiteStore {
  /// Time of the bank's opening that has this number; nil if none is recorded.
  public func moment(ofOpening number: Int64) throws(StoreError) -> WallTime? {
    try database.note("\(Self.opening)\(number)").map { WallTime(milliseconds: $0) }
  }

  /// Recorded state of the database of another process, such as `stock`; nil if none was recorded.
  public func knownDatabase(of service: String) throws(StoreError) -> RecordedDatabase? {
    guard let identity = try database.note("\(service) identity"),
      let opening = try database.note("\(service) opening")
    else { return nil }
    return RecordedDatabase(identity: identity, opening: opening)
  }

  /// Records the state of the database of another process. Durable on return. Nothing may be staged.
  public func remember(_ known: RecordedDatabase, of service: String) throws(StoreError) {
    try requireHealth()
    try inTransaction { () throws(StoreError) in
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES
          ('\(service) identity', \(known.identity)), ('\(service) opening', \(known.opening))
        """, while: "recording a service's database")
    }
  }
}
