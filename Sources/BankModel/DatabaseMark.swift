// Owns how the databases of one home know each other again: what each has seen of the other, and what follows where that
// does not fit. It knows no disk.
// The bank counts its openings and keeps the moment of each. A database beside it writes down with which opening it works
// as soon as it is accepted, and then the bank writes down that it has. So whoever is behind the other is an older copy.
// Invariant: a crash between any two of these writings makes no mismatch, and nothing is written while there is one that
// the operator has to decide, so it is told until the right file is back or the operator goes on.

import Time

/// One opening of a bank, as a database beside it remembers it.
public struct BankMark: Hashable, Sendable, Codable {
  /// The number in the name of the bank's books.
  public var books: Int64
  /// The number of the opening, from 1.
  public var opening: Int64
  /// When that was.
  public var openedAt: WallTime

  public init(books: Int64, opening: Int64, openedAt: WallTime) {
    (self.books, self.opening, self.openedAt) = (books, opening, openedAt)
  }

  enum CodingKeys: Int, CodingKey {
    case books = 1
    case opening, openedAt
  }
}

/// A database beside the bank's, as it tells of itself.
public struct DatabaseMark: Hashable, Sendable, Codable {
  /// The number that was drawn when it was made.
  public var identity: Int64
  /// The last opening with which it was used; nil where it knows of none.
  public var bank: BankMark?

  public init(identity: Int64, bank: BankMark?) { (self.identity, self.bank) = (identity, bank) }

  enum CodingKeys: Int, CodingKey {
    case identity = 1
    case bank = 2
  }
}

/// What the bank remembers of a database beside its own.
public struct KnownDatabase: Hashable, Sendable {
  /// The number that was drawn when it was made.
  public var identity: Int64
  /// The last opening of the bank that the database has written down.
  public var opening: Int64

  public init(identity: Int64, opening: Int64) { (self.identity, self.opening) = (identity, opening) }
}

/// Why a database and the bank's do not belong together as they are. The numbers stand in messages.
public enum DatabaseMismatch: UInt8, Named {
  /// It has last worked with other books: `bank.db` is a new one.
  case newBank = 1
  /// It is a new one, and the bank has known another.
  case newDatabase = 2
  /// It has seen an opening of these books that they know nothing of: `bank.db` is an older copy.
  case olderBank = 3
  /// The bank has seen it with a later opening: it is an older copy.
  case olderDatabase = 4
  /// It belongs to another bank.
  case otherDatabase = 5

  /// Whether it is a mistake. The others are what a person does on purpose, such as setting a damaged file aside.
  public var isProblem: Bool { self != .newBank && self != .newDatabase }

  /// The names in JSON, in the order of the numbers.
  public static let names = ["new_bank", "new_database", "older_bank", "older_database", "other_database"]

  /// What is wrong between a database and the bank; nil where nothing is.
  ///
  /// - Parameters:
  ///   - books: The number in the name of the bank's books.
  ///   - known: What the bank remembers of the database; nil where it has never seen one.
  ///   - moment: The moment of the opening of which the database knows, as the bank remembers it.
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
