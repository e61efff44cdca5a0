// Owns one connection to one SQLite database: opening, scripts, statements, the size of the log, closing. It knows no
// table. Invariant: one connection a file, on one thread, holding the file's lock from the first read to the end.
// What fails is thrown as a StoreError; after a failed write that matters the owner abandons the connection.

import BankModel
import ByteText
import CSQLite
import Glibc
import QueueCore

final class Database {
  let handle: OpaquePointer
  /// The file as it is called in messages.
  let path: String
  /// The file that is open; another one than ``path`` where a copy is looked at.
  let file: String
  let isReadOnly: Bool
  let volume: any Volume
  /// Frames in the write-ahead log after the last commit. Before the first one so many as there may be, in a log that
  /// another process has left behind.
  private(set) var logFrames: Int32 = 0
  private var isOpen = true
  /// Called when the file does not stay as it is any more; nil where nobody relies on it.
  private var onThaw: (() -> Void)?
  /// Called again and again by whatever this connection is at, as it goes on.
  private let onProgress: (() -> Void)?
  /// Instructions of SQLite's machine between two calls: a few milliseconds.
  private static let progressStep: Int32 = 100_000

  /// Opens a file that exists. Nothing is read yet and no lock is taken.
  convenience init(
    path: String, naming name: String? = nil, on volume: any Volume = SystemVolume(),
    onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(
      Self.plainName(path), SQLITE_OPEN_READWRITE, file: path, path: name ?? path, isReadOnly: false,
      on: volume, onProgress)
  }

  /// Opens a file that nobody changes meanwhile, without locks and without a log. See https://sqlite.org/uri.html.
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
      // It is work that calls this, and not a timer: what stands still calls nobody. See sqlite3_progress_handler.
      sqlite3_progress_handler(
        handle, Self.progressStep,
        { context in
          if let context { Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().onProgress?() }
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
    }
    // The hook stands in for SQLite's own checkpoints, which swallow the errors of fsync.
    sqlite3_wal_hook(
      handle,
      { context, _, _, frames in
        if let context { Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().logFrames = frames }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { if isOpen { close() } }

  /// Makes an empty file that only its owner may read, unless there is a file. See open(2).
  ///
  /// SQLite gives its log and its journal the permissions of the database, and syncs the directory itself before the
  /// first transaction is durable.
  static func createFile(_ path: String, on volume: any Volume = SystemVolume()) throws(StoreError) {
    if path.utf8.contains(0) { throw .failed(path: path, detail: Remark(.zeroByte)) }
    switch volume.create(path) {
    case 0: break
    case let reason where reason == ENOSPC || reason == EDQUOT || reason == EFBIG:
      throw .diskFull(detail: Remark(.notCreated, path, String(cString: strerror(reason))))
    case let reason:
      throw .failed(path: path, detail: Remark(.fileNotCreated, String(cString: strerror(reason))))
    }
  }

  /// Made once, before the first connection. Nobody reads the statistics, and a receipt takes a tenth less without them
  /// (1,190 and 1,350 ns, by a loop in C).
  private static let settings: Void = { _ = sqlite_leave_out_memory_statistics() }()
  /// SQLite gives names such as `:memory:` and `file:…` a meaning of their own; a path never begins like that.
  private static func plainName(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

  /// A path as it stands in a URI: whatever is no letter, digit or one of `/._-` is written as its number.
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

  /// Runs statements that give no rows of interest. See sqlite3_exec.
  func execute(_ script: String, while purpose: StaticString) throws(StoreError) {
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    if code != SQLITE_OK { throw StoreError(sqlite: handle, code: code, path: path, while: purpose) }
  }

  /// Prepares a statement that is kept. See sqlite3_prepare_v3.
  func prepare(_ sql: String, while purpose: StaticString) throws(StoreError) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      throw StoreError(sqlite: handle, code: code, path: path, while: purpose)
    }
    return Statement(handle: prepared, purpose: purpose)
  }

  func withStatement<Result>(
    _ sql: String, while purpose: StaticString, _ body: (Statement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let statement = try prepare(sql, while: purpose)
    defer { sqlite3_finalize(statement.handle) }
    return try body(statement)
  }

  /// The number in the first column of the first row; nil where there is no row or it is null.
  func number(_ sql: String, while purpose: StaticString) throws(StoreError) -> Int64? {
    try withStatement(sql, while: purpose) { row throws(StoreError) in try row.first { $0.optional(0) } ?? nil
    }
  }

  /// The text in the first column of the first row; nil where there is none.
  func text(_ sql: String, while purpose: StaticString) throws(StoreError) -> String? {
    try withStatement(sql, while: purpose) { row throws(StoreError) in try row.first { $0.text(0) } }
  }

  /// The pages of the database, those in the log too.
  func pageCount() throws(StoreError) -> Int64 {
    try number("PRAGMA page_count", while: "reading the size") ?? 0
  }

  /// Asks SQLite whether the whole file is sound. See https://sqlite.org/pragma.html#pragma_integrity_check.
  func examine(into findings: inout Findings) throws(StoreError) {
    try withStatement("PRAGMA integrity_check(\(Findings.limit))", while: "checking the file") {
      row throws(StoreError) in
      while try row.step() {
        let finding = row.text(0)
        if finding != "ok" { findings.note(Remark(.fileUnsound, finding)) }
      }
    }
  }

  /// Whether a transaction is open. SQLite ends one by itself after some errors.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  var changes: Int64 { sqlite3_changes64(handle) }

  /// Copies the log into the database. See sqlite3_wal_checkpoint_v2.
  func checkpoint(_ mode: Int32) throws(StoreError) {
    thaw()
    if volume.makes("copiesTheLogWithoutSyncing") {
      sqlite3_exec(handle, "PRAGMA synchronous = OFF", nil, nil, nil)
    }
    defer {
      if volume.makes("copiesTheLogWithoutSyncing") {
        sqlite3_exec(handle, "PRAGMA synchronous = FULL", nil, nil, nil)
      }
    }
    let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
    if code != SQLITE_OK {
      throw StoreError(sqlite: handle, code: code, path: path, while: "copying the log into the database")
    }
    logFrames = 0
  }

  /// From now on the file stays as it is, for whoever reads it in its place: what is committed is in the log. To be called
  /// when the log was copied.
  ///
  /// - Parameter onThaw: called before the file is written to again, and at the latest when it is closed.
  func freeze(onThaw: @escaping () -> Void) {
    thaw()
    self.onThaw = onThaw
  }

  var isFrozen: Bool { onThaw != nil }

  func thaw() {
    guard let onThaw else { return }
    self.onThaw = nil
    onThaw()
  }

  /// Counts the log that is there: SQLite says how much is in it only with a commit, and where the disk is full there is
  /// none before it is copied.
  func noteLog() { logFrames = Int32(clamping: length(of: path + "-wal") / HeldRoom.frame) }
  func forgetLog() { logFrames = 0 }

  /// Lets the file grow by multiples of so many bytes, each allocated as a whole. See SQLITE_FCNTL_CHUNK_SIZE.
  func growInSteps(of bytes: Int64) {
    var size = Int32(clamping: bytes)
    // Where it cannot be done, the file grows page by page, and somebody else may be quicker.
    _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &size)
  }

  /// Takes room for a file of so many bytes, where there is any. See SQLITE_FCNTL_SIZE_HINT.
  func grow(to bytes: Int64) {
    var size = bytes
    _ = sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_HINT, &size)
  }

  /// Frees every statement and closes the connection; SQLite copies the log and removes it.
  func close() {
    precondition(isOpen, "The connection is already closed.")
    thaw()
    while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
    isOpen = false
  }

  /// Leaves the connection open for good.
  ///
  /// Closing would copy the log into the database. After a failed fsync the log in memory and the log on disk may
  /// differ, so nothing may be copied; the next start reads what really is on disk.
  func abandon() {
    guard isOpen else { return }
    thaw()
    sqlite3_wal_hook(handle, nil, nil)
    sqlite3_progress_handler(handle, 0, nil, nil)
    isOpen = false
    volume.abandoned(handle)
  }
}
