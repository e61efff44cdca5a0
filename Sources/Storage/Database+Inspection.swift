// Read-only access to a database: no file is changed, not even by recovery of the WAL or by a migration, and
// the directory may be read-only.
//
// A database of the current version without a WAL and a rollback journal is read in place. One of an older
// version, or with one of these files, is copied with them, and the copy is opened normally.
//
// Invariant: the inspected files stay byte for byte the same. The caller ensures that no other process writes to
// them. Errors of opening have the inspected path, even for a copy.

import BankModel
import ByteText
import CSQLite
import Glibc
import QueueCore

extension Database {
  /// Opens a database for reading: the file itself if possible, or else a copy of it.
  static func inspect(path: String, schema: Schema) throws(StoreError) -> Database {
    let volume = SystemVolume()
    if volume.length(of: path + "-wal") == 0, volume.length(of: path + "-journal") == 0,
      let database = try inPlace(path, schema, on: volume)
    {
      return database
    }
    return try copied(path, schema)
  }

  /// Opens a file that another connection keeps unchanged, without the content of its WAL. See
  /// ``freeze(onThaw:)``.
  static func look(
    atFrozen path: String, on volume: any Volume, schema: Schema
  ) throws(StoreError) -> Database {
    guard let database = try inPlace(path, schema, on: volume) else {
      throw .damaged(path: path, detail: MessageDetail(.olderVersion))
    }
    return database
  }

  /// Opens the database in place. Returns nil if its schema would have to be migrated first.
  private static func inPlace(
    _ path: String, _ schema: Schema, on volume: any Volume
  ) throws(StoreError) -> Database? {
    let database = try Database(immutable: path, on: volume)
    try database.examineHeader(schema)
    let version = try database.examineContent(schema)
    guard version == schema.version else { return nil }
    try database.examineStructure()
    return database
  }

  /// Copies the database to the first directory in which that succeeds, and opens the copy.
  private static func copied(_ path: String, _ schema: Schema) throws(StoreError) -> Database {
    let environmentDirectory = InspectionCopyDirectory.environmentDirectory
    var trouble = ""
    for place in [environmentDirectory, "/tmp", "/var/tmp", "/dev/shm"].compactMap(\.self)
    where place.hasPrefix("/") {
      InspectionCopyDirectory.sweep(place)
      let directory: InspectionCopyDirectory
      switch InspectionCopyDirectory.make(in: place) {
      case .success(let made): directory = made
      case .failure(let errorText):
        trouble = errorText.text
        continue
      }
      // The deinitializer unlinks the files, after the copy was opened or has failed.
      defer { withExtendedLifetime(directory) {} }
      guard let failure = try copy(path, to: directory.database) else {
        let database = try open(path: directory.database, naming: path, schema: schema)
        // In a database without a WAL, the first read creates the WAL, and for that SQLite needs the names of
        // the files.
        _ = try database.number("SELECT count(*) FROM sqlite_schema", while: "reading a copy")
        return database
      }
      trouble = failure
    }
    throw .failed(path: path, detail: MessageDetail(.notCopied, trouble))
  }

  /// Copies a database with its WAL and its rollback journal. Returns the error of writing to the target directory;
  /// nil on success.
  private static func copy(_ path: String, to target: String) throws(StoreError) -> String? {
    for suffix in ["", "-wal", "-journal"]
    where suffix.isEmpty || SystemVolume().length(of: path + suffix) > 0 {
      let failure = try copyFile(path + suffix, to: target + suffix, of: path)
      if failure != nil { return failure }
    }
    return nil
  }

  /// Copies a file to a new file with mode 0600. Returns the error of writing; nil on success. `read(2)`, `write(2)`
  ///
  /// - Throws: the error of reading.
  private static func copyFile(
    _ source: String, to target: String, of path: String
  ) throws(StoreError) -> String? {
    /// Text of the error of the last system call.
    func errorText(_ call: String, _ name: String) -> String {
      "\(call) of \(name): \(String(cString: strerror(errno)))"
    }
    let from = source.withByteString { Glibc.open($0, O_RDONLY | O_CLOEXEC) }
    guard from >= 0 else {
      throw .failed(path: path, detail: MessageDetail(quoting: errorText("open", source)))
    }
    defer { Glibc.close(from) }
    let to = target.withByteString {
      Glibc.open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard to >= 0 else { return errorText("open", target) }
    defer { Glibc.close(to) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = read(from, buffer.baseAddress, buffer.count)
      if count == 0 { return nil }
      if count < 0 {
        if errno == EINTR { continue }
        throw .failed(path: path, detail: MessageDetail(quoting: errorText("read", source)))
      }
      var written = 0
      while written < count {
        let step = write(to, buffer.baseAddress! + written, count - written)
        if step < 0 {
          if errno == EINTR { continue }
          return errorText("write", target)
        }
        written += step
      }
    }
  }
}
