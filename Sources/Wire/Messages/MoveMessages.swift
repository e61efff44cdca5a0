// Owns what is asked and told of a bank whose books are moved to those that branches share. It knows no database, and not how
// anything is moved.

import BankModel

/// Where the books of a closed bank are to be moved.
public struct MoveOrder: Codable, Sendable, Equatable {
  /// The address, without a password.
  public var address: String
  /// What the branch is called to which belongs what has happened so far; nil for the name of the home.
  public var branch: String?
  public init(address: String, branch: String? = nil) { (self.address, self.branch) = (address, branch) }
  enum CodingKeys: Int, CodingKey { case address = 1, branch }
}

/// How many rows of a kind there were, and are there now.
public struct MovedRows: Codable, Sendable, Equatable {
  /// What is counted: `days`, `tickets`, `receipts`, `results`, `shortages`, `attempts`, `keys`, `waiting`, `delayed`, `dead`,
  /// `payloads`.
  public var name: String
  /// In the home, and in the shared books.
  public var before, after: Int64
  public init(name: String, before: Int64, after: Int64) {
    (self.name, self.before, self.after) = (name, before, after)
  }
  enum CodingKeys: Int, CodingKey { case name = 1, before, after }
}

/// What a move has brought.
public struct MoveReport: Codable, Sendable, Equatable {
  /// Where the books are, as it may be shown.
  public var place: String
  /// The present day.
  public var day: Int64
  /// What was counted.
  public var rows: [MovedRows]
  /// The sums of the ledger there.
  public var ledger: [LedgerRow]
  /// Whether an earlier move has brought it: branches may have worked there since.
  public var isRepeated: Bool
  /// The file in the home that says where the books are; without it the bank is opened with those in its home.
  public var note: String

  public init(
    place: String, day: Int64, rows: [MovedRows], ledger: [LedgerRow], isRepeated: Bool, note: String
  ) {
    (self.place, self.day, self.rows) = (place, day, rows)
    (self.ledger, self.isRepeated, self.note) = (ledger, isRepeated, note)
  }
  enum CodingKeys: Int, CodingKey { case place = 1, day, rows, ledger, isRepeated, note }
}
