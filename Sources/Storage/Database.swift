// One connection to one SQLite database: opening, scripts, statements, size of the WAL, closing.
// Invariant: a file that may be written has one connection, on one thread, and the connection holds the file's
// lock until it is closed. A connection to an immutable file takes no lock. If the outcome of a failed write is
// unknown, the owner abandons the connection.

import BankModel
import ByteText
import CSQLite
import Glibc
import QueueCore

/// An open connection to one SQLite file.
final class Database {
  let handle: OpaquePointer
  /// File name for error messages.
  let path: String
  /// Path of the open file. It differs from ``path`` if a copy is inspected.
  let file: String
  /// True if the file is opened as immutable.
  let isReadOnly: Bool
  /// File system that contains the file.
  let volume: any Volume
  /// Number of frames in the WAL after the last commit; 0 after a checkpoint. Before the first commit it is an upper
  /// bound for a WAL that another process has left.
  private(set) var logFrames: Int32 = 0
  private var isOpen = true
  /// Called before the file changes again; nil if the file is not frozen.
  private var onThaw: (() -> Void)?
  /// Called repeatedly during long operations of this connection.
  private let onProgress: (() -> Void)?
  /// SQLite VM instructions between two calls of ``onProgress``.
  private static let progressStep: Int32 = 100_000

  /// Opens an existing file. Nothing is read and no lock is taken.
  convenience init(
    path: String, naming name: String? = nil, on volume: any Volume = SystemVolume(),
    onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(
      Self.plainName(path), SQLITE_OPEN_READWRITE, file: path, path: name ?? path, isReadOnly: false,
      on: volume, onProgress)
  }

  /// Opens a file that does not change while it is open, without locks and without its WAL. See
  /// https://sqlite.org/uri.html.
  convenience init(immutable path: String, on volume: any Volume = SystemVolume()) throws(StoreError) {
    let name = "file:" + Self.escaped(Self.plainName(path)) + "?immutable=1"
    try self.init(
      name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, file: path, path: path, isReadOnly: true, on: volume, nil)
  }

  private init(
    _ name: String, _ mode: Int32, file: String, path: String, isReadOnly: Bool, on volume: any Volume,
    _ onProgress: (() -> Void)?
  ) throws(StoreError) {
    _ = Self.settings
    self.onProgress = onProgress
    self.volume = volume
    var opened: OpaquePointer?
    let flags = mode | SQLITE_OPEN_NOMUTEX
    let code = name.withByteString { sqlite3_open_v2($0, &opened, flags, volume.vfs) }
    guard code == SQLITE_OK, let opened else {
      let error = StoreError(sqlite: opened, code: code, path: path, while: "opening the file")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    self.file = file
    self.isReadOnly = isReadOnly
    sqlite3_extended_result_codes(handle, 1)
    if onProgress != nil {
      // SQLite calls the handler after a number of instructions and not by a timer, so the calls stop if the
      // operation hangs. See sqlite3_progress_handler.
      sqlite3_progress_handler(
        handle, Self.progressStep,
        { context in
          if let context { Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().onProgress?() }
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
    }
    // The hook replaces SQLite's automatic checkpoints, which ignore errors of fsync.
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        if let context { Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().logFrames = frames }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { if isOpen { close() } }

  /// Creates an empty file with mode 0600, unless the file exists. `open(2)`
  ///
  /// SQLite creates its WAL and its journal with the permissions of the database.
  static func createFile(_ path: String, on volume: any Volume = SystemVolume()) throws(StoreError) {
    if path.utf8.contains(0) { throw .failed(path: path, detail: MessageDetail(.zeroByte)) }
    switch volume.create(path) {
    case 0: break
    case let reason where reason == ENOSPC || reason == EDQUOT || reason == EFBIG:
      throw .diskFull(detail: MessageDetail(.notCreated, path, String(cString: strerror(reason))))
    case let reason:
      throw .failed(path: path, detail: MessageDetail(.fileNotCreated, String(cString: strerror(reason))))
    }
  }

  /// Chooses SQLite's settings for the whole process, before the first connection.
  ///
  /// The memory statistics are not used, and they take time.
  private static let settings: Void = { _ = sqlite_leave_out_memory_statistics() }()
  /// The path in a form that starts with `/` or `./`, so that SQLite does not take it for a name such as `:memory:`.
  private static func plainName(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

  /// Percent-encodes all bytes of a path for a URI except letters, digits and `/._-`.
  private static func escaped(_ path: String) -> String {
    ByteText.bytes(of: path).map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }.joined()
  }

  /// Executes statements and ignores their rows. See sqlite3_exec.
  func execute(_ script: String, while purpose: StaticString) throws(StoreError) {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    if code != SQLITE_OK { throw StoreError(sqlite: handle, code: code, path: path, while: purpose) }
  }

  /// Prepares a statement for repeated use. See sqlite3_prepare_v3.
  func prepare(_ sql: String, while purpose: StaticString) throws(StoreError) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      throw StoreError(sqlite: handle, code: code, path: path, while: purpose)
    }
    return Statement(handle: prepared, purpose: purpose)
  }

  /// Prepares a statement, runs `body` with it, and finalizes it.
  func withStatement<Result>(
    _ sql: String, while purpose: StaticString, _ body: (Statement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let statement = try prepare(sql, while: purpose)
    defer { sqlite3_finalize(statement.handle) }
    return try body(statement)
  }

  /// The number in the first column of the first row; nil if there is no row or it is null.
  func number(_ sql: String, while purpose: StaticString) throws(StoreError) -> Int64? {
    try withStatement(sql, while: purpose) { row throws(StoreError) in try row.first { $0.optional(0) } ?? nil
    }
  }

  /// The text in the first column of the first row; nil if there is no row.
  func text(_ sql: String, while purpose: StaticString) throws(StoreError) -> String? {
    try withStatement(sql, while: purpose) { row throws(StoreError) in try row.first { $0.text(0) } }
  }

  /// Number of pages of the database, including those in the WAL.
  func pageCount() throws(StoreError) -> Int64 {
    try number("PRAGMA page_count", while: "reading the size") ?? 0
  }

  /// Runs SQLite's check of the whole file. See https://sqlite.org/pragma.html#pragma_integrity_check.
  func examine(into findings: inout Findings) throws(StoreError) {
    try withStatement("PRAGMA integrity_check(\(Findings.limit))", while: "checking the file") {
      row throws(StoreError) in
      while try row.step() {
        let finding = row.text(0)
        if finding != "ok" { findings.note(MessageDetail(.integrityCheckFailed, finding)) }
      }
    }
  }

  /// True if a transaction is open in SQLite, which rolls back by itself after some errors.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  /// Number of rows that the last INSERT, UPDATE or DELETE has changed.
  var changes: Int64 { sqlite3_changes64(handle) }

  /// Checkpoints the WAL. See sqlite3_wal_checkpoint_v2.
  func checkpoint(_ mode: Int32) throws(StoreError) {
    thaw()
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
    if code != SQLITE_OK {
      throw StoreError(sqlite: handle, code: code, path: path, while: "copying the WAL into the database")
    }
    logFrames = 0
  }

  /// Keeps the file unchanged from now on, for a process that reads it in place. Commits then change only the
  /// WAL. Call it after a checkpoint.
  ///
  /// - Parameter onThaw: called before the file changes again, at the latest when the connection is closed or
  ///   abandoned.
  func freeze(onThaw: @escaping () -> Void) {
    thaw()
    self.onThaw = onThaw
  }

  /// True if the file must stay unchanged; see ``freeze(onThaw:)``.
  var isFrozen: Bool { onThaw != nil }

  /// Ends a freeze, if there is one, and calls its `onThaw`.
  func thaw() {
    guard let onThaw else { return }
    self.onThaw = nil
    onThaw()
  }

  /// Initializes the frame count from the size of the existing WAL, because SQLite reports the count only with a
  /// commit.
  func updateLogFrames() { logFrames = Int32(clamping: length(of: path + "-wal") / ReservedSpace.frame) }
  /// Sets the frame count to 0, because the WAL is new.
  func resetLogFrames() { logFrames = 0 }

  /// Makes the file grow in steps of this many bytes, each allocated as a whole. See SQLITE_FCNTL_CHUNK_SIZE.
  func growInSteps(of bytes: Int64) {
    var size = Int32(clamping: bytes)
    // If this is not supported, the file grows page by page, and another process may use the space first.
    _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &size)
  }

  /// Preallocates a file of this many bytes, if there is space. See SQLITE_FCNTL_SIZE_HINT.
  func grow(to bytes: Int64) {
    var size = bytes
    _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_HINT, &size)
  }

  /// Finalizes all statements and closes the connection. SQLite checkpoints the WAL and removes it, unless the
  /// opening of the database failed before the WAL was rewritten.
  func close() {
    precondition(isOpen, "The connection is already closed.")
    thaw()
    while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
    isOpen = false
  }

  /// Leaves the connection open until the process exits. A close would checkpoint the WAL. After a failed fsync
  /// the WAL in memory and the WAL on disk may differ, so it must not be copied.
  func abandon() {
    guard isOpen else { return }
    thaw()
    sqlite3_wal_hook(handle, nil, nil)
    sqlite3_progress_handler(handle, 0, nil, nil)
    isOpen = false
    volume.abandoned(handle)
  }
}
