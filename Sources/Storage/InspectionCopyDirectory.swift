// Temporary directory for the copy of a database that is inspected. The directory is removed when its object is
// released. If the process was killed before that, a later process of this user that makes a copy in the same
// place removes the directory.
// Invariant: a directory in use is locked. Only directories of this user with the name prefix are removed, and of
// their content only the files of a copy.

import ByteText
import Glibc

/// Temporary directory for the copy of one database.
final class InspectionCopyDirectory {
  struct CopyError: Error { let text: String }

  private static let prefix = "bank-copy-"
  private static let name = "copy"
  private static let suffixes = ["", "-wal", "-journal", "-shm"]

  /// Directory in the environment variable TMPDIR; nil if the variable is not set.
  static var environmentDirectory: String? { getenv("TMPDIR").map { ByteText.text(of: UnsafePointer($0)) } }

  /// Path of the copied database.
  var database: String { "\(path)/\(Self.name)" }

  private let path: String
  /// The open directory. Its lock is held until the descriptor is closed. `flock(2)`
  private let descriptor: CInt

  private init(_ path: String, _ descriptor: CInt) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    Self.remove(path, descriptor)
    close(descriptor)
  }

  /// Creates and locks a new directory in `place`.
  static func make(in place: String) -> Result<InspectionCopyDirectory, CopyError> {
    // Another process that removes abandoned directories may lock the new directory first and remove it.
    for _ in 0..<16 {
      var template = ByteText.bytes(of: "\(place)/\(prefix)XXXXXX").map { CChar(bitPattern: $0) } + [0]
      guard mkdtemp(&template) != nil else {
        return .failure(CopyError(text: "mkdtemp in \(place): \(String(cString: strerror(errno)))"))
      }
      let path = ByteText.text(of: template.dropLast().map(UInt8.init(bitPattern:)))
      if let descriptor = lock(path) { return .success(InspectionCopyDirectory(path, descriptor)) }
    }
    return .failure(CopyError(text: "in \(place) another process removes every directory"))
  }

  /// Removes the directories of this kind that killed processes have left in `place`.
  static func sweep(_ place: String) {
    guard let directory = place.withByteString({ opendir($0) }) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let found = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(entry.pointee.d_reclen)) { ByteText.text(of: $0) }
      }
      guard found.hasPrefix(prefix), let descriptor = lock("\(place)/\(found)") else { continue }
      remove("\(place)/\(found)", descriptor)
      close(descriptor)
    }
  }

  /// Opens and locks a directory of this user. Returns nil if the path is not a directory, belongs to another
  /// user, was removed, or is locked.
  private static func lock(_ path: String) -> CInt? {
    let descriptor = path.withByteString { open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    var own = stat()
    var named = stat()
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &own) == 0, own.st_uid == geteuid(),
      path.withByteString({ lstat($0, &named) }) == 0, named.st_ino == own.st_ino, named.st_dev == own.st_dev
    else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Removes the files of a copy and the directory itself.
  private static func remove(_ path: String, _ descriptor: CInt) {
    for suffix in suffixes { unlinkat(descriptor, name + suffix, 0) }
    _ = path.withByteString { rmdir($0) }
  }
}
