// Failures of a disk on demand, injected where SQLite calls the system: in the table of functions of its open
// files. Invariant: a fault stays until it is healed, and its table as long as the process.

import CSQLite
import Glibc

@testable import Storage

/// Replaces SQLite's functions for one open file. See https://sqlite.org/c3ref/io_methods.html.
final class FileFault {
  enum File: Int32 {
    case database = 7  // SQLITE_FCNTL_FILE_POINTER
    case log = 28  // SQLITE_FCNTL_JOURNAL_POINTER
  }

  private let file: UnsafeMutablePointer<sqlite3_file>
  private let original: UnsafePointer<sqlite3_io_methods>
  /// Outlives the fault on purpose: SQLite may look at it until the connection is closed.
  private let methods: UnsafeMutablePointer<sqlite3_io_methods>

  convenience init(in store: SQLiteStore, _ kind: File) { self.init(in: store.database, kind) }

  init(in database: Database, _ kind: File) {
    var found: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(database.handle, "main", kind.rawValue, &found)
    guard code == SQLITE_OK, let found, let methods = found.pointee.pMethods else {
      preconditionFailure("SQLite has no such file open.")
    }
    file = found
    original = methods
    // The second one stays unchanged: a function that fails once replaces the first by it.
    self.methods = .allocate(capacity: 2)
    self.methods.initialize(repeating: original.pointee, count: 2)
    file.pointee.pMethods = UnsafePointer(self.methods)
  }

  var sync: Int32 = 0 {
    didSet {
      precondition(sync == SQLITE_IOERR | 4 << 8, "Only this failure of fsync is known here.")
      methods.pointee.xSync = { _, _ in SQLITE_IOERR | 4 << 8 }
    }
  }

  var write: Int32 = 0 {
    didSet {
      if write == SQLITE_FULL {
        methods.pointee.xWrite = { _, _, _, _ in SQLITE_FULL }
      } else {
        methods.pointee.xWrite = { _, _, _, _ in SQLITE_IOERR | 3 << 8 }
      }
    }
  }

  /// The next write finds the disk full, and the one after it does not.
  func fillOnce() {
    methods.pointee.xWrite = { file, _, _, _ in
      if let file, let methods = file.pointee.pMethods { file.pointee.pMethods = methods + 1 }
      return SQLITE_FULL
    }
  }

  /// The file cannot become longer; its present space can be written.
  func keepLength() {
    methods.pointee.xWrite = { file, bytes, count, offset in
      guard let file, let methods = file.pointee.pMethods else { return SQLITE_FULL }
      var length: sqlite3_int64 = 0
      let original = (methods + 1).pointee
      guard original.xFileSize(file, &length) == SQLITE_OK, offset + Int64(count) <= length else {
        return SQLITE_FULL
      }
      return original.xWrite(file, bytes, count, offset)
    }
  }

  /// A limit of the size of files shows only in the system's number, too.
  func limitSize() {
    methods.pointee.xWrite = { _, _, _, _ in SQLITE_IOERR | 3 << 8 }
    methods.pointee.xFileControl = { _, operation, answer in
      if operation == SQLITE_FCNTL_LAST_ERRNO { answer?.storeBytes(of: EFBIG, as: Int32.self) }
      return SQLITE_OK
    }
  }

  /// A quota shows only in the system's number, which SQLite keeps with the file.
  func useUpQuota() {
    methods.pointee.xWrite = { _, _, _, _ in SQLITE_IOERR | 3 << 8 }
    methods.pointee.xFileControl = { _, operation, answer in
      if operation == SQLITE_FCNTL_LAST_ERRNO { answer?.storeBytes(of: EDQUOT, as: Int32.self) }
      return SQLITE_OK
    }
  }

  func heal() { file.pointee.pMethods = original }
}
