// Owns the way to a database that is only looked at: nothing of it is changed, not even by recovering its log or by
// migrating it, and it may lie where nobody can write.
// A whole database of the present version without a log is read in its place. Any other is copied, with its log, and the
// copy is opened like any database; its files have lost their names before anybody reads it, so nothing of it is left but
// by a process that is killed in between, and the next one that needs a copy takes that away.
// Invariant: the files that are looked at stay byte for byte the same. The caller keeps everybody off them.
// Failure: StoreError with the path that is looked at, wherever the copy lies.

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

  /// Opens a file that another connection keeps as it is, and reads nothing of what stands in the log. See
  /// ``freeze(onThaw:)``.
  static func look(
    atFrozen path: String, on volume: any Volume, schema: Schema
  ) throws(StoreError) -> Database {
    guard let database = try inPlace(path, schema, on: volume) else {
      throw .damaged(path: path, detail: Remark(.olderVersion))
    }
    return database
  }

  /// The database where it lies; nil where it would have to be changed first.
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

  /// A copy in the first place that has room for it.
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
      // The names go when the copy is open, or was given up.
      defer { withExtendedLifetime(directory) {} }
      guard let failure = try copy(path, to: directory.database) else {
        let database = try open(path: directory.database, naming: path, schema: schema)
        // A log that was just switched on is made by the first read, which needs the names.
        _ = try database.number("SELECT count(*) FROM sqlite_schema", while: "reading a copy")
        return database
      }
      trouble = failure
    }
    throw .failed(path: path, detail: Remark(.notCopied, trouble))
  }

  /// Copies a database and what stands beside it.
  ///
  /// - Returns: why this place cannot take it; nil when it is there.
  private static func copy(_ path: String, to target: String) throws(StoreError) -> String? {
    for suffix in ["", "-wal", "-journal"]
    where suffix.isEmpty || SystemVolume().length(of: path + suffix) > 0 {
      let failure = try copyFile(path + suffix, to: target + suffix, of: path)
      if failure != nil { return failure }
    }
    return nil
  }

  /// Copies a file, 0600. See read(2) and write(2).
  ///
  /// - Returns: why it could not be written.
  /// - Throws: why it could not be read.
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
