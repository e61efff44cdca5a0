// Owns the way to a database that is only looked at: nothing of it is changed, not even by recovering its log or by
// migrating it, and it may lie where nobody can write.
// A whole database of the present version without a log is read in its place. Any other is copied, with its log, and the
// copy is opened like any database; its files have lost their names before anybody reads it, so nothing of it is left.
// Invariant: the files that are looked at stay byte for byte the same. The caller keeps everybody off them.
// Failure: StoreError with the path that is looked at, wherever the copy lies.

import CSQLite
import Glibc
import QueueCore

extension Database {
  /// Opens what is only to be read.
  static func inspect(path: String, schema: Schema) throws(StoreError) -> Database {
    if length(of: path + "-wal") == 0, length(of: path + "-journal") == 0,
      let database = try inPlace(path, schema)
    {
      return database
    }
    return try copied(path, schema)
  }

  /// The database where it lies; nil where it would have to be changed first.
  private static func inPlace(_ path: String, _ schema: Schema) throws(StoreError) -> Database? {
    let database = try Database(immutable: path)
    try database.examineHeader(schema)
    let version = try database.examineContent(schema)
    guard version == schema.version else { return nil }
    try database.examineStructure()
    return database
  }

  private static func copied(_ path: String, _ schema: Schema) throws(StoreError) -> Database {
    let directory = try makeDirectory(for: path)
    let copy = directory + "/copy"
    let suffixes = ["", "-wal", "-journal"]
    defer {
      for suffix in suffixes + ["-shm"] { unlink(copy + suffix) }
      rmdir(directory)
    }
    for suffix in suffixes where length(of: path + suffix) > 0 || suffix.isEmpty {
      try copyFile(path + suffix, to: copy + suffix, of: path)
    }
    return try open(path: copy, naming: path, schema: schema)
  }

  /// A directory of our own, in the first place that takes one.
  private static func makeDirectory(for path: String) throws(StoreError) -> String {
    let wish = getenv("TMPDIR").map { String(cString: $0) }
    var reason: Int32 = ENOENT
    for place in [wish, "/tmp", "/var/tmp", "/dev/shm"].compactMap(\.self) where place.hasPrefix("/") {
      var template = Array("\(place)/bank-copy-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      }
      reason = errno
    }
    let words = "there is no place for a copy to look into: \(String(cString: strerror(reason)))"
    throw .failed(path: path, detail: words + "; set TMPDIR")
  }

  /// Copies a file, 0600. See copy_file_range(2).
  private static func copyFile(_ source: String, to target: String, of path: String) throws(StoreError) {
    func fail(_ call: String) -> StoreError {
      let reason = "\(source) could not be copied (\(call): \(String(cString: strerror(errno))))"
      if errno == ENOSPC || errno == EDQUOT {
        return .failed(path: path, detail: reason + "; set TMPDIR to a place with room for it")
      }
      return .failed(path: path, detail: reason)
    }
    let from = Glibc.open(source, O_RDONLY | O_CLOEXEC)
    guard from >= 0 else { throw fail("open") }
    defer { Glibc.close(from) }
    let to = Glibc.open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard to >= 0 else { throw fail("open") }
    defer { Glibc.close(to) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = read(from, buffer.baseAddress, buffer.count)
      if count == 0 { return }
      if count < 0 {
        if errno == EINTR { continue }
        throw fail("read")
      }
      var written = 0
      while written < count {
        let step = write(to, buffer.baseAddress! + written, count - written)
        if step < 0 {
          if errno == EINTR { continue }
          throw fail("write")
        }
        written += step
      }
    }
  }
}
