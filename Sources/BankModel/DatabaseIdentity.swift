// Check that the databases of one home directory belong together. Each service database, such as `stock.db`, stores
// an entry about `bank.db`, and `bank.db` stores an entry about each service database. The bank counts its openings
// and stores the time of each. After the check has passed, the service database stores the current opening. After
// that, `bank.db` stores that the service database has stored this opening. A service database without the opening
// that `bank.db` attributes to it is therefore an older copy.
// Invariant: a crash between any two of these writes causes no mismatch. While a mismatch needs the operator's
// decision, neither entry is written.

import Time

/// Number and time of one opening of a bank.
public struct BankIdentity: Hashable, Sendable, Codable {
  /// ``BankID/number`` of the bank's database.
  public var bankID: Int64
  /// Number of the opening.
  public var opening: Int64
  /// Time of the opening.
  public var openedAt: WallTime

  public init(bankID: Int64, opening: Int64, openedAt: WallTime) {
    (self.bankID, self.opening, self.openedAt) = (bankID, opening, openedAt)
  }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case bankID = 1
    case opening, openedAt
  }
}

/// Identity of a service database, and the last opening that it has stored.
public struct DatabaseIdentity: Hashable, Sendable, Codable {
  /// Random number, drawn when the database was created.
  public var identity: Int64
  /// Last opening that the database has stored; nil if it has stored none.
  public var bank: BankIdentity?

  public init(identity: Int64, bank: BankIdentity?) { (self.identity, self.bank) = (identity, bank) }

  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case identity = 1
    case bank = 2
  }
}

/// Entry in `bank.db` about a service database: its identity, and the last opening of the bank that it has stored.
public struct RecordedDatabase: Hashable, Sendable {
  /// Random number, drawn when the service database was created.
  public var identity: Int64
  /// Last opening of the bank that the service database has stored, according to `bank.db`.
  public var opening: Int64

  public init(identity: Int64, opening: Int64) { (self.identity, self.opening) = (identity, opening) }
}

/// Reason why a service database and the bank's database do not belong together. The raw values are part of messages.
public enum DatabaseMismatch: UInt8, NameCodable {
  /// The database was last used with another bank database, and `bank.db` contains no other service database.
  case newBank = 1
  /// The database has stored no opening, and the bank has used another one before.
  case newDatabase = 2
  /// The database has stored an opening that `bank.db` does not contain: `bank.db` is an older copy.
  case olderBank = 3
  /// The bank has used this database in a later opening than this copy has stored, or has used another database since:
  /// this copy is older.
  case olderDatabase = 4
  /// The database was last used with another bank database, and `bank.db` contains another service database.
  case otherDatabase = 5

  /// True if the mismatch is an error. False if an operator can have caused it on purpose, for example by setting a
  /// damaged file aside.
  public var isProblem: Bool { self != .newBank && self != .newDatabase }

  /// Names in JSON, in the order of the raw values.
  public static let names = ["new_bank", "new_database", "older_bank", "older_database", "other_database"]

  /// Returns the mismatch between a service database and the bank's database, or nil if there is none.
  ///
  /// - Parameters:
  ///   - bankID: ``BankID/number`` of the bank's database.
  ///   - known: the entry in `bank.db` about the service database; nil if there is none.
  ///   - moment: time that `bank.db` has stored for the last opening in `database`; nil if `bank.db` has stored none.
  public static func between(
    _ database: DatabaseIdentity, bankID: Int64, known: RecordedDatabase?, moment: WallTime?
  ) -> DatabaseMismatch? {
    guard let seen = database.bank else {
      guard let known else { return nil }
      return known.identity == database.identity ? .olderDatabase : .newDatabase
    }
    guard seen.bankID == bankID else {
      return known == nil || known?.identity == database.identity ? .newBank : .otherDatabase
    }
    if seen.openedAt != moment { return .olderBank }
    // A later opening than the recorded one: the coordinator was killed after the service database had stored the
    // opening, and before `bank.db` had. The identity may differ, because the opening may have accepted the database.
    guard let known, seen.opening <= known.opening else { return nil }
    return known.identity != database.identity || seen.opening < known.opening ? .olderDatabase : nil
  }
}
