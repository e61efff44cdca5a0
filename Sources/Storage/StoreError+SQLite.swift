// Translation of SQLite's result codes into errors of the store.
// An unknown code is treated as a failed system call. The meaning of an I/O error and of a failed opening depends
// on errno.

import BankModel
import CSQLite
import Glibc
import QueueCore

extension StoreError {
  /// The error of the last call on a connection. See https://sqlite.org/rescode.html.
  ///
  /// A full disk is `SQLITE_FULL`. An exceeded quota, a failed creation, or a file size limit (RLIMIT_FSIZE,
  /// with SIGXFSZ ignored) is another code, with the errno of the system. A failed fsync is never treated as a
  /// full disk, whatever its errno is, because its effect is unknown.
  init(sqlite connection: OpaquePointer?, code: Int32, path: String, while purpose: StaticString) {
    let name = Self.name(of: code)
    let message =
      connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    var detail = "\(name): \(message), while \(purpose)"
    switch code & 0xFF {
    case SQLITE_FULL: self = .diskFull(detail: MessageDetail(quoting: detail))
    // All SQL is written in this module, so a statement that SQLite rejects means foreign tables.
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_ERROR:
      self = .damaged(path: path, detail: MessageDetail(quoting: detail))
    case SQLITE_BUSY, SQLITE_LOCKED: self = .inUse(path: path)
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY:
      let reasons = connection.map(Self.systemErrors) ?? []
      if let reason = reasons.first { detail += " (\(String(cString: strerror(reason))))" }
      let isFull = !reasons.isEmpty && reasons.allSatisfy { $0 == ENOSPC || $0 == EDQUOT || $0 == EFBIG }
      self =
        isFull && Self.leavesNothingBehind(code)
        ? .diskFull(detail: MessageDetail(quoting: detail))
        : .failed(path: path, detail: MessageDetail(quoting: detail))
    default: self = .failed(path: path, detail: MessageDetail(quoting: detail))
    }
  }

  /// The errno values of the last error: that of the WAL file, and that of the connection.
  ///
  /// Both are needed. After a failed commit the value of the connection may be that of an earlier error, and
  /// after a failed checkpoint the value of the WAL file may be. So a disk counts as full only if no value
  /// contradicts it.
  private static func systemErrors(of connection: OpaquePointer) -> [Int32] {
    var last: Int32 = 0
    var log: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    if code == SQLITE_OK, let log, let methods = log.pointee.pMethods {
      _ = methods.pointee.xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &last)
    }
    return [last, sqlite3_system_errno(connection)].filter { $0 != 0 }
  }

  /// True if a call that failed for lack of space had no lasting effect: a write to the WAL that is rolled
  /// back, a file that was not created, or a file that could not grow.
  private static func leavesNothingBehind(_ code: Int32) -> Bool {
    code & 0xFF == SQLITE_CANTOPEN || code == ioErrorWrite || code == ioErrorTruncate
  }

  // Extended codes as in sqlite3.h, because Swift does not import computed macros.
  private static var ioErrorWrite: Int32 { SQLITE_IOERR | 3 << 8 }
  private static var ioErrorTruncate: Int32 { SQLITE_IOERR | 6 << 8 }

  /// Name of a result code as in sqlite3.h; the number if the name is not in the table.
  static func name(of code: Int32) -> String {
    if let name = names[code] { return name }
    guard let name = names[code & 0xFF] else { return "SQLite result code \(code)" }
    return code & 0xFF == SQLITE_IOERR ? "\(name) (\(code))" : name
  }

  private static let names: [Int32: String] = [
    SQLITE_IOERR: "SQLITE_IOERR", SQLITE_IOERR | 1 << 8: "SQLITE_IOERR_READ",
    SQLITE_IOERR | 2 << 8: "SQLITE_IOERR_SHORT_READ", ioErrorWrite: "SQLITE_IOERR_WRITE",
    SQLITE_IOERR | 4 << 8: "SQLITE_IOERR_FSYNC", SQLITE_IOERR | 5 << 8: "SQLITE_IOERR_DIR_FSYNC",
    ioErrorTruncate: "SQLITE_IOERR_TRUNCATE", SQLITE_CORRUPT: "SQLITE_CORRUPT",
    SQLITE_NOTADB: "SQLITE_NOTADB",
    SQLITE_FULL: "SQLITE_FULL", SQLITE_BUSY: "SQLITE_BUSY", SQLITE_LOCKED: "SQLITE_LOCKED",
    SQLITE_READONLY: "SQLITE_READONLY", SQLITE_CANTOPEN: "SQLITE_CANTOPEN", SQLITE_NOMEM: "SQLITE_NOMEM",
    SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", SQLITE_CONSTRAINT | 6 << 8: "SQLITE_CONSTRAINT_PRIMARYKEY",
    SQLITE_CONSTRAINT | 8 << 8: "SQLITE_CONSTRAINT_UNIQUE", SQLITE_ERROR: "SQLITE_ERROR",
  ]
}
