// Owns a walk over the rows of one question within a snapshot: they come in portions, so that neither end keeps more of them.
// Invariant: it lives within a snapshot, which ends it.
import BankModel
import Postgres
import QueueCore

struct SnapshotCursor {
  /// Rows of a portion.
  private static let portion = 4_096

  private let connection: ReadingConnection
  private let name: String
  private var rows: PostgresRows?
  private var row = -1
  private var isOver = false

  /// - Parameters:
  ///   - name: of the cursor; in a snapshot each has another.
  ///   - question: in SQL, with an order.
  init(_ connection: ReadingConnection, _ name: String, _ question: String) throws(StoreError) {
    self.connection = connection
    self.name = name
    _ = try connection.ask(.once("DECLARE \(name) NO SCROLL CURSOR FOR \(question)"))
  }

  /// Goes on to the next row; false behind the last one.
  mutating func step() throws(StoreError) -> Bool {
    row += 1
    if let rows, row < rows.count { return true }
    guard !isOver else { return false }
    let rows = try connection.ask(.once("FETCH FORWARD \(Self.portion) FROM \(name)"))[0]
    self.rows = rows
    isOver = rows.count < Self.portion
    row = 0
    return rows.count > 0
  }

  /// No more is wanted of it.
  func close() throws(StoreError) { _ = try connection.ask(.once("CLOSE \(name)")) }

  /// nil for NULL, and for what is no whole number.
  func optional(_ column: Int) -> Int64? { rows?.integer(row, column) }
  /// A column that is never NULL.
  func integer(_ column: Int) -> Int64 { rows?.integer(row, column) ?? 0 }
  func boolean(_ column: Int) -> Bool { rows?.boolean(row, column) ?? false }
}
