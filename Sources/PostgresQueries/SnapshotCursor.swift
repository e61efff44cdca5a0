// Iterator over the rows of one query within a snapshot. Rows are fetched in portions, so memory is bounded.
// Invariant: a cursor is valid within its snapshot. The end of the snapshot closes it.
import BankModel
import Postgres
import QueueCore

/// Rows of one query, read one after the other.
struct SnapshotCursor {
  /// Maximum rows per fetch.
  private static let rowsPerFetch = 4_096

  private let connection: BlockingConnection
  private let name: String
  private var rows: PostgresRows?
  private var row = -1
  private var isOver = false

  /// Starts the query.
  ///
  /// - Parameters:
  ///   - name: name of the cursor, unique among the open cursors of the snapshot.
  ///   - query: SQL query with an order.
  init(_ connection: BlockingConnection, _ name: String, _ query: String) throws(StoreError) {
    self.connection = connection
    self.name = name
    _ = try connection.ask(.once("DECLARE \(name) NO SCROLL CURSOR FOR \(query)"))
  }

  /// Advances to the next row; false after the last one.
  mutating func step() throws(StoreError) -> Bool {
    row += 1
    if let rows, row < rows.count { return true }
    guard !isOver else { return false }
    let rows = try connection.ask(.once("FETCH FORWARD \(Self.rowsPerFetch) FROM \(name)"))[0]
    self.rows = rows
    isOver = rows.count < Self.rowsPerFetch
    row = 0
    return rows.count > 0
  }

  /// Ends the query before the end of its snapshot, so that its name is free.
  func close() throws(StoreError) { _ = try connection.ask(.once("CLOSE \(name)")) }

  /// Value of a column; nil for NULL, and for a value that is not an integer.
  func optional(_ column: Int) -> Int64? { rows?.integer(row, column) }
  /// Value of an integer column; 0 for NULL.
  func integer(_ column: Int) -> Int64 { rows?.integer(row, column) ?? 0 }
  /// Value of a boolean column; false for NULL.
  func boolean(_ column: Int) -> Bool { rows?.boolean(row, column) ?? false }
}
