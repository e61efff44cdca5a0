// Request and result of a move of a bank's database.
// The destination is a database that several branches can share.

import BankModel

/// Destination for the database of a closed bank.
public struct MoveParameters: Codable, Sendable, Equatable {
  /// Address, without a password.
  public var address: String
  /// Name of the branch that gets the existing data; nil for the name of the home.
  public var branch: String?
  public init(address: String, branch: String? = nil) { (self.address, self.branch) = (address, branch) }
  /// Field number of each property of a request to move the database, in messages.
  enum CodingKeys: Int, CodingKey { case address = 1, branch }
}

/// Number of rows of a kind, before and after a move.
public struct MovedRows: Codable, Sendable, Equatable {
  /// Kind of rows, such as `days` or `tickets`.
  public var name: String
  /// Number of rows in the database of the home, and in the shared database.
  public var before, after: Int64
  public init(name: String, before: Int64, after: Int64) {
    (self.name, self.before, self.after) = (name, before, after)
  }
  /// Field number of each property of the number of moved rows of a kind, in messages.
  enum CodingKeys: Int, CodingKey { case name = 1, before, after }
}

/// Result of moving the database of a closed home to PostgreSQL.
public struct MoveReport: Codable, Sendable, Equatable {
  /// Location of the database. It contains no password.
  public var location: String
  /// The current day.
  public var day: Int64
  /// Row counts by kind.
  public var rows: [MovedRows]
  /// Sums of the ledger at the destination.
  public var ledger: [LedgerRow]
  /// True if an earlier move had already moved the database. Branches may have changed it since.
  public var isRepeated: Bool
  /// Path of the marker file in the home, which contains the location. Without this file the coordinator opens
  /// the database in the home.
  public var note: String

  public init(
    place: String, day: Int64, rows: [MovedRows], ledger: [LedgerRow], isRepeated: Bool, note: String
  ) {
    (self.location, self.day, self.rows) = (place, day, rows)
    (self.ledger, self.isRepeated, self.note) = (ledger, isRepeated, note)
  }
  /// Field number of each property of the result of a move, in messages.
  enum CodingKeys: Int, CodingKey { case location = 1, day, rows, ledger, isRepeated, note }
}
