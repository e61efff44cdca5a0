// One prepared statement: binding, stepping, reading columns. The connection owns its memory and frees it on
// close.
// Invariant: outside of a call of the store a statement is reset, so that no read blocks a checkpoint. A failed
// step resets the statement and throws SQLite's error.

import BankModel
import CSQLite
import QueueCore

/// A statement that is prepared once and used many times.
///
/// It contains one pointer and one literal, so passing it allocates no memory and changes no reference counts.
struct Statement {
  let handle: OpaquePointer
  /// Purpose of the statement. It completes the text `while …` of error messages.
  let purpose: StaticString

  /// Binds an integer to the parameter `index`, which counts from 1. See sqlite3_bind_int64.
  func bind(_ index: Int32, _ value: Int64) {
    let code = sqlite3_bind_int64(handle, index, value)
    precondition(code == SQLITE_OK, "A parameter was bound that the statement does not have.")
  }

  /// Binds integers and nulls to consecutive parameters. The function is inlined, so that no array is
  /// allocated.
  @inline(__always) func bindAll(from first: Int32 = 1, _ values: Int64?...) {
    var index = first
    for value in values {
      bind(index, optional: value)
      index += 1
    }
  }

  func bind(_ index: Int32, _ value: Int32) { bind(index, Int64(value)) }
  func bind(_ index: Int32, _ value: UInt8) { bind(index, Int64(value)) }

  func bind(_ index: Int32, optional value: Int64?) {
    if let value { return bind(index, value) }
    let code = sqlite3_bind_null(handle, index)
    precondition(code == SQLITE_OK, "A parameter was bound that the statement does not have.")
  }

  /// Binds text, which SQLite copies. See sqlite3_bind_text64.
  func bind(_ index: Int32, text: String) throws(StoreError) {
    var text = text
    let code = text.withUTF8 { copyText(index, UnsafeRawBufferPointer($0)) }
    if code != SQLITE_OK { throw failure(code) }
  }

  /// Binds UTF-8 text, which SQLite copies.
  func bind(_ index: Int32, utf8 text: [UInt8]) throws(StoreError) {
    let code = text.withUnsafeBytes { copyText(index, $0) }
    if code != SQLITE_OK { throw failure(code) }
  }

  /// Binds a copy of UTF-8 bytes as text. Returns SQLite's result code.
  private func copyText(_ index: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    bytes.withMemoryRebound(to: CChar.self) {
      // The destructor argument −1 is SQLITE_TRANSIENT and requests a copy. Swift does not import that macro.
      sqlite3_bind_text64(
        handle, index, $0.baseAddress, UInt64($0.count),
        unsafeBitCast(-1, to: sqlite3_destructor_type.self), UInt8(SQLITE_UTF8))
    }
  }

  /// Binds bytes without copying. They must stay valid until the statement has run. See sqlite3_bind_blob64.
  func bind(_ index: Int32, uncopied bytes: UnsafeRawBufferPointer) throws(StoreError) {
    // SQLite reads a null pointer as NULL, so empty bytes are bound as an empty blob.
    let code =
      bytes.isEmpty
      ? sqlite3_bind_zeroblob(handle, index, 0)
      : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    if code != SQLITE_OK { throw failure(code) }
  }

  /// The bytes in a column; empty for null.
  func bytes(_ column: Int32) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// Binds text, or null for empty text.
  func bind(_ index: Int32, nonEmpty text: String) throws(StoreError) {
    if text.isEmpty { bind(index, optional: nil) } else { try bind(index, text: text) }
  }

  func bind(_ index: Int32, text: String?) throws(StoreError) {
    if let text { try bind(index, text: text) } else { bind(index, optional: nil) }
  }

  /// Steps to the next row. If there is none, resets the statement and returns false. See sqlite3_step.
  func step() throws(StoreError) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      sqlite3_reset(handle)
      return false
    }
    throw failure(code)
  }

  /// Runs a statement that returns no rows.
  ///
  /// - Parameter violation: description of the violated invariant if a constraint rejects the row.
  func run(violation: @autoclosure () -> MessageDetail? = nil) throws(StoreError) {
    let code = sqlite3_step(handle)
    guard code == SQLITE_DONE || code == SQLITE_ROW else {
      let error = failure(code)
      if code & 0xFF == SQLITE_CONSTRAINT, let violatedInvariant = violation() {
        throw .damaged(path: path, detail: violatedInvariant)
      }
      throw error
    }
    sqlite3_reset(handle)
  }

  /// Converts all rows. Resets the statement, even if a row is invalid.
  func all<Row>(
    reserving count: Int = 0, _ read: (Statement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    defer { reset() }
    var rows: [Row] = []
    rows.reserveCapacity(count)
    while try step() { rows.append(try read(self)) }
    return rows
  }

  /// Converts the first row; nil if there is none. Resets the statement.
  func first<Row>(_ read: (Statement) throws(StoreError) -> Row) throws(StoreError) -> Row? {
    defer { reset() }
    return try step() ? try read(self) : nil
  }

  /// Ends the run of the statement; the bound values stay.
  func reset() { sqlite3_reset(handle) }
  /// The integer in a column, which counts from 0; 0 for null.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  /// The integer in a column; nil for null.
  func optional(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The text in a column; empty for null.
  func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// The UTF-8 bytes of the text in a column; empty for null.
  func utf8(_ column: Int32) -> [UInt8] {
    guard let text = sqlite3_column_text(handle, column) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, column))
    return Array(UnsafeBufferPointer(start: text, count: count))
  }

  /// Calls `body` with the UTF-8 bytes of the text in a column, without copying. They are valid until the next
  /// step; empty for null.
  func withUTF8<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let text = sqlite3_column_text(handle, column)
    return body(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))))
  }

  var path: String {
    guard let name = sqlite3_db_filename(sqlite3_db_handle(handle), "main") else { return "" }
    return String(cString: name)
  }

  /// The error of the statement's last call. Resets the statement.
  private func failure(_ code: Int32) -> StoreError {
    let error = StoreError(sqlite: sqlite3_db_handle(handle), code: code, path: path, while: purpose)
    sqlite3_reset(handle)
    return error
  }
}
