// Read-only access to a database: nothing is changed, not even by log recovery or migration, and the directory may be
// read-only.
//
// A sound database of the present version without a log is read in place. Any other one is copied with its log, and the
// copy is opened normally. The files of the copy are unlinked before it is read. So it remains only if the process is
// killed in between, and the next process that needs a copy removes it.
//
// Invariant: the inspected files stay byte for byte the same. The caller ensures that no other process writes to them.
// Errors: StoreError with the inspected path, even for a copy.

import BankModel
import ByteText
import CSQLite
import Glibc
import QueueCore

extension Database {
  static func inspect(path: String, schema: Schema) throws(StoreError) -> Database {
    let volume = SystemVolume()
    if volume.length(of: path + "-wal") == 0, volume.length(of: path + "-journal") == 0,
      let database = try inPlace(path, schema, on: volume)
    {
      return database
    }
    return try copied(path, schema)
  }

  /// Opens a file that another connection keeps unchanged, without the content of its log. See ``freeze(onThaw:)``.
  static func look(
    atFrozen path: String, on volume: any Volume, schema: Schema
  ) throws(StoreError) -> Database {
    guard let database = try inPlace(path, schema, on: volume) else {
      throw .damaged(path: path, detail: Remark(.olderVersion))
    }
    return database
  }

  /// The database in place; nil if it would have to be changed first.
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

  /// A copy in the first directory with enough space.
  private static func copied(_ path: String, _ schema: Schema) throws(StoreError) -> Database {
    let wish = CopyPlace.wish
    var trouble = ""
    for place in [wish, "/tmp", "/var/tmp", "/dev/shm"].compactMap(\.self) where place.hasPrefix("/") {
      CopyPlace.sweep(place)
      let directory: CopyPlace
      switch CopyPlace.make(in: place) {
      case .success(let made): directory = made
      case .failure(let words):
        trouble = words.text
        continue
      }
      // The files are unlinked when the copy is open or has failed.
      defer { withExtendedLifetime(directory) {} }
      guard let failure = try copy(path, to: directory.database) else {
        let database = try open(path: directory.database, naming: path, schema: schema)
        // The first read creates a log that was just switched on, and needs the file names.
        _ = try database.number("SELECT count(*) FROM sqlite_schema", while: "reading a copy")
        return database
      }
      trouble = failure
    }
    throw .failed(path: path, detail: Remark(.notCopied, trouble))
  }

  /// Copies a database with its log and journal.
  ///
  /// - Returns: the error of the target directory; nil on success.
  private static func copy(_ path: String, to target: String) throws(StoreError) -> String? {
    for suffix in ["", "-wal", "-journal"]
    where suffix.isEmpty || SystemVolume().length(of: path + suffix) > 0 {
      let failure = try copyFile(path + suffix, to: target + suffix, of: path)
      if failure != nil { return failure }
    }
    return nil
  }

  /// Copies a file with mode 0600. See read(2) and write(2).
  ///
  /// - Returns: the error of writing; nil on success.
  /// - Throws: the error of reading.
  private static func copyFile(
    _ source: String, to target: String, of path: String
  ) throws(StoreError) -> String? {
    func words(_ call: String, _ name: String) -> String {
      "\(call) of \(name): \(String(cString: strerror(errno)))"
    }
    let from = source.withByteString { Glibc.open($0, O_RDONLY | O_CLOEXEC) }
    guard from >= 0 else { throw .failed(path: path, detail: Remark(quoting: words("open", source))) }
    defer { Glibc.close(from) }
    let to = target.withByteString {
      Glibc.open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard to >= 0 else { return words("open", target) }
    defer { Glibc.close(to) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = read(from, buffer.baseAddress, buffer.count)
      if count == 0 { return nil }
      if count < 0 {
        if errno == EINTR { continue }
        throw .failed(path: path, detail: Remark(quoting: words("read", source)))
      }
      var written = 0
      while written < count {
        let step = write(to, buffer.baseAddress! + written, count - written)
        if step < 0 {
          if errno == EINTR { continue }
          return words("write", target)
        }
        written += step
      }
    }
  }
}
