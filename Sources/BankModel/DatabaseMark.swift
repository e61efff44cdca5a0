// Check that the databases of one home directory belong together: what each has stored about the other, and
// the consequence of a mismatch.
// The bank counts its openings and stores the time of each. A database beside it stores the current opening
// as soon as it is accepted, and then the bank stores that it has done so. A database that lacks the newer
// entry is therefore an older copy.
// Invariant: a crash between any two of these writes causes no mismatch. Nothing is written while a mismatch
// needs the operator's decision, so it is reported until the right file is back or the operator accepts it.

import Time

/// One opening of a bank, as stored by a database beside it.
public struct BankMark: Hashable, Sendable, Codable {
  /// Number in ``BooksName`` of the bank's database.
  public var books: Int64
  /// Number of the opening, from 1.
  public var opening: Int64
  /// Time of the opening.
  public var openedAt: WallTime

  public init(books: Int64, opening: Int64, openedAt: WallTime) {
    (self.books, self.opening, self.openedAt) = (books, opening, openedAt)
  }

  enum CodingKeys: Int, CodingKey {
    case books = 1
    case opening, openedAt
  }
}

/// Identity of a database beside the bank's, and the last opening it stored.
public struct DatabaseMark: Hashable, Sendable, Codable {
  /// A number that was drawn when the database was created.
  public var identity: Int64
  /// Last opening with which it was used; nil if it has stored none.
  public var bank: BankMark?

  public init(identity: Int64, bank: BankMark?) { (self.identity, self.bank) = (identity, bank) }

  enum CodingKeys: Int, CodingKey {
    case identity = 1
    case bank = 2
  }
}

/// Entry in the bank's database about a database beside it.
public struct KnownDatabase: Hashable, Sendable {
  /// A number that was drawn when that database was created.
  public var identity: Int64
  /// Last opening of the bank that the other database has stored.
  public var opening: Int64

  public init(identity: Int64, opening: Int64) { (self.identity, self.opening) = (identity, opening) }
}

/// Reason why a database and the bank's database do not belong together. The raw values are part of messages.
public enum DatabaseMismatch: UInt8, Named {
  /// The database was last used with another bank database: `bank.db` is new.
  case newBank = 1
  /// The database is new, and the bank has used another one before.
  case newDatabase = 2
  /// The database has stored an opening that `bank.db` does not contain: `bank.db` is an older copy.
  case olderBank = 3
  /// The bank has used it in a later opening: the database is an older copy.
  case olderDatabase = 4
  case otherDatabase = 5

  /// True for a mistake. The other cases are done on purpose, for example when an operator sets a damaged
  /// file aside.
  public var isProblem: Bool { self != .newBank && self != .newDatabase }

  /// Names in JSON, in the order of the raw values.
  public static let names = ["new_bank", "new_database", "older_bank", "older_database", "other_database"]

  /// Finds the mismatch between a database and the bank; nil if there is none.
  ///
  /// - Parameters:
  ///   - books: number in ``BooksName`` of the bank's database.
  ///   - known: the bank's entry about the database; nil if it has never used one.
  ///   - moment: time of the opening that the database has stored, according to the bank.
  public static func between(
    _ database: DatabaseMark, books: Int64, known: KnownDatabase?, moment: WallTime?
  ) -> DatabaseMismatch? {
    guard let seen = database.bank else {
      guard let known else { return nil }
      return known.identity == database.identity ? .olderDatabase : .newDatabase
    }
    guard seen.books == books else {
      return known == nil || known?.identity == database.identity ? .newBank : .otherDatabase
    }
    if seen.openedAt != moment { return .olderBank }
    guard let known else { return nil }
    return known.identity != database.identity || seen.opening < known.opening ? .olderDatabase : nil
  }
}
