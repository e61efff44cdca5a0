// Opening of a database of this project: creation, checks, lock, settings, and migrations to the current version.
// Invariant: a foreign or newer file, or one with a damaged header, is not written to, because the header is
// checked before SQLite may read it. The exception is a file with a rollback journal, which SQLite rolls back
// first. A crash at any point leaves an empty file, or a complete database of some version.

import BankModel
import CSQLite
import Glibc
import QueueCore

extension Database {
  /// Size of SQLite's page cache. SQLite reads a negative number as KiB.
  private static let cacheSize = -8192
  /// Maximum size, in pages, of a file whose structure is checked when it is opened.
  private static let checkedPages: Int64 = 2_048
  /// Size in bytes to which SQLite truncates a larger WAL when it starts to overwrite it. PRAGMA
  /// journal_size_limit
  private static let logSizeLimit = 16 << 20

  /// Opens the database at a path, or creates it. The file stays locked until the connection is closed.
  ///
  /// - Parameter maximumPages: limit on the size of the file in pages, for tests of a full disk.
  static func open(
    path: String, naming name: String? = nil, on volume: any Volume = SystemVolume(), schema: Schema,
    maximumPages: Int64? = nil, onProgress: (() -> Void)? = nil
  ) throws(StoreError) -> Database {
    try requireFile(path, naming: name ?? path, on: volume)
    try createFile(path, on: volume)
    let database = try Database(path: path, naming: name, on: volume, onProgress: onProgress)
    try database.examineHeader(schema)
    database.keepLogOnClose(true)
    try database.takeLock()
    database.updateLogFrames()
    let version = try database.examineContent(schema)
    try database.settle(maximumPages: maximumPages)
    try database.examineStructure()
    try database.rewriteLog()
    database.keepLogOnClose(false)
    try database.migrate(from: version, with: schema)
    try database.startLog()
    return database
  }

  /// Sets whether the close of the connection leaves an existing WAL as it is or checkpoints it. A WAL that may not be
  /// on disk must not be copied: after a power failure a partial copy without its WAL would be a partial transaction.
  private func keepLogOnClose(_ keeps: Bool) {
    guard !keeps || length(of: file + "-wal") > 0 else { return }
    let code = sqlite_keep_log_on_close(handle, keeps ? 1 : 0)
    precondition(code == SQLITE_OK, "SQLite cannot leave a WAL unchanged (\(code)).")
  }

  /// Refuses to create an empty database next to the WAL or the rollback journal of a missing one, because SQLite
  /// would delete that file.
  private static func requireFile(
    _ path: String, naming name: String, on volume: any Volume
  ) throws(StoreError) {
    guard volume.isMissing(path) else { return }
    for suffix in ["-wal", "-journal"] where volume.length(of: path + suffix) > 0 {
      throw .damaged(path: name, detail: MessageDetail(.missingBesideLog, name + suffix))
    }
  }

  /// Checks that the file is empty or a database of this schema, before SQLite reads it. Reads the header through the
  /// connection's own descriptor, without a lock.
  ///
  /// A second descriptor is not possible, because its close would release every lock of this process on the
  /// file. See https://sqlite.org/fileformat2.html#the_database_header and fcntl(2).
  func examineHeader(_ schema: Schema) throws(StoreError) {
    // The length is not queried from SQLite, which treats a file of one byte as empty.
    let length = self.length(of: file)
    if length == 0 {
      // SQLite would delete a WAL that it finds next to an empty database.
      if self.length(of: file + "-wal") > 0 {
        throw .damaged(path: path, detail: MessageDetail(.emptyBesideLog))
      }
      return
    }
    // A crash during the creation of the file can leave a partial header and a journal that rolls it back.
    if self.length(of: file + "-journal") > 0 { return }
    let header = try fileStart(100)
    guard length >= 100, header.starts(with: "SQLite format 3\0".utf8) else {
      throw .damaged(path: path, detail: MessageDetail(.notSQLite))
    }
    try checkHeader(
      applicationID: Self.number(in: header, at: 68), version: Self.number(in: header, at: 60), by: schema)
  }

  /// Takes the file's lock permanently. The first read recovers the WAL of a killed process.
  private func takeLock() throws(StoreError) {
    try execute("PRAGMA locking_mode = EXCLUSIVE", while: "requesting the lock")
    _ = try number("SELECT count(*) FROM sqlite_schema", while: "taking the lock and reading the WAL")
  }

  /// Checks the header again, now as SQLite reads it, with the content of the WAL. Returns the version; 0 for
  /// an empty database.
  func examineContent(_ schema: Schema) throws(StoreError) -> Int64 {
    if try pageCount() == 0 { return 0 }
    let applicationID = try number("PRAGMA application_id", while: "reading the header") ?? 0
    let version = try number("PRAGMA user_version", while: "reading the header") ?? 0
    try checkHeader(applicationID: applicationID, version: version, by: schema)
    return version
  }

  /// Throws if the file belongs to another application, has a newer schema, or no valid version.
  private func checkHeader(applicationID: Int64, version: Int64, by schema: Schema) throws(StoreError) {
    guard applicationID == schema.applicationID else {
      throw .damaged(path: path, detail: MessageDetail(.otherApplication))
    }
    if version > schema.version { throw .newerSchema(path: path, found: version, known: schema.version) }
    if version < 1 { throw .damaged(path: path, detail: MessageDetail(.noSchemaVersion)) }
  }

  /// Chooses SQLite's settings of this connection. `maximumPages` limits the size of the file, for tests of a full
  /// disk.
  private func settle(maximumPages: Int64?) throws(StoreError) {
    try execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = \(Self.cacheSize);
      PRAGMA journal_size_limit = \(Self.logSizeLimit);
      PRAGMA secure_delete = OFF;
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;
      """, while: "choosing the settings")
    if let maximumPages {
      try execute("PRAGMA max_page_count = \(maximumPages)", while: "choosing the settings")
    }
  }

  /// Checks a file for damage, unless it is so large that the check takes long.
  func examineStructure() throws(StoreError) {
    guard 1...Self.checkedPages ~= (try pageCount()) else { return }
    let finding = try text("PRAGMA quick_check(1)", while: "checking the file") ?? "ok"
    // The first line of the result contains only the name of the database.
    let detail = finding.split(separator: "\n").last.map(String.init) ?? finding
    if finding != "ok" { throw .damaged(path: path, detail: MessageDetail(.integrityCheckFailed, detail)) }
  }

  /// Migrates the schema to the current version, with one transaction per step.
  ///
  /// The first step runs before the WAL is switched on, so that the database file itself contains the application
  /// id.
  private func migrate(from version: Int64, with schema: Schema) throws(StoreError) {
    for (index, script) in schema.migrations.enumerated().dropFirst(Int(version)) {
      do throws(StoreError) {
        try execute("BEGIN EXCLUSIVE", while: "starting a migration")
        try execute(script, while: "migrating the schema")
        try execute(
          "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = \(index + 1); COMMIT",
          while: "ending a migration")
      } catch {
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        throw error
      }
    }
  }

  /// Rewrites and syncs a WAL that another process has left, byte for byte, because its last sync may have failed.
  ///
  /// That process may have exited after a failed sync. Linux marks pages clean after a failed write-back, so
  /// reads return them from memory, but no later sync would write them. After a power failure the WAL would end
  /// before these pages, and later commits would be lost. See fsync(2) and https://lwn.net/Articles/752063/.
  private func rewriteLog() throws(StoreError) {
    let length = self.length(of: file + "-wal")
    guard length > 0 else { return }
    var log: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    guard code == SQLITE_OK, let log, let methods = log.pointee.pMethods?.pointee else { return }
    /// Throws if SQLite has returned an error.
    func require(_ code: Int32) throws(StoreError) {
      if code != SQLITE_OK {
        throw StoreError(sqlite: nil, code: code, path: path, while: "rewriting the WAL")
      }
    }
    // SQLite's Unix VFS accepts less than 128 KiB per call.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var place: Int64 = 0
    while place < length {
      let count = Int32(min(Int64(buffer.count), length - place))
      try require(methods.xRead(log, buffer.baseAddress, count, place))
      try require(methods.xWrite(log, buffer.baseAddress, count, place))
      place += Int64(count)
    }
    try require(methods.xSync(log, SQLITE_SYNC_NORMAL))
  }

  private func startLog() throws(StoreError) {
    let mode = try text("PRAGMA journal_mode = WAL", while: "switching WAL mode on") ?? ""
    if mode != "wal" { throw .failed(path: path, detail: MessageDetail(.walNotEnabled, mode)) }
  }

  /// Replaces an unlinked WAL with a new one, under the name that the next process opens. SQLite copies the
  /// content of the old WAL into the database before the new one starts.
  func renewLog() throws(StoreError) {
    thaw()
    let mode = try text("PRAGMA journal_mode = DELETE", while: "leaving WAL mode") ?? ""
    if mode != "delete" { throw .failed(path: path, detail: MessageDetail(.walNotDisabled, mode)) }
    try startLog()
    resetLogFrames()
  }

  /// The open file of the connection. See https://sqlite.org/c3ref/io_methods.html.
  private func openFile() throws(StoreError) -> UnsafeMutablePointer<sqlite3_file> {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, file.pointee.pMethods != nil else {
      throw StoreError(sqlite: handle, code: code, path: path, while: "looking for the open file")
    }
    return file
  }

  /// Reads the first bytes of the file. Bytes beyond its end are zero.
  private func fileStart(_ count: Int) throws(StoreError) -> [UInt8] {
    let file = try openFile()
    var bytes = [UInt8](repeating: 0, count: count)
    let code = file.pointee.pMethods.pointee.xRead(file, &bytes, Int32(count), 0)
    let isLowOnSpace = code == SQLITE_IOERR | 2 << 8
    if code != SQLITE_OK && !isLowOnSpace {
      throw StoreError(sqlite: handle, code: code, path: path, while: "reading the header of the file")
    }
    return bytes
  }

  /// The big-endian number of four bytes of a header.
  private static func number(in header: [UInt8], at offset: Int) -> Int64 {
    Int64(header[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }

  /// Length of a file in bytes, on the volume of the database; 0 if the file does not exist.
  func length(of path: String) -> Int64 { volume.length(of: path) }
}
