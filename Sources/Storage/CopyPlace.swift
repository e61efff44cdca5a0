// Owns the directory in which a database is copied to be looked into: how it is made, that it is gone with the value, and
// that one which a killed process has left behind is taken away by the next. It knows no database.
// Invariant: whoever uses such a directory has it locked, so what is not locked belongs to nobody. Only directories of this
// user that have the name of a copy are looked at, and only files that a copy consists of are removed.

import ByteText
import Glibc

final class CopyPlace {
  struct Trouble: Error { let text: String }

  private static let prefix = "bank-copy-"
  private static let name = "copy"
  private static let suffixes = ["", "-wal", "-journal", "-shm"]

  /// The directory for such things that the environment names; nil if it names none.
  static var wish: String? { getenv("TMPDIR").map { ByteText.text(of: UnsafePointer($0)) } }

  var database: String { "\(path)/\(Self.name)" }

  private let path: String
  /// The directory itself, locked until it is closed. See flock(2).
  private let descriptor: CInt

  private init(_ path: String, _ descriptor: CInt) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    Self.remove(path, descriptor)
    close(descriptor)
  }

  static func make(in place: String) -> Result<CopyPlace, Trouble> {
    // Somebody who sweeps may be quicker than the lock, and takes it for one that was left.
    for _ in 0..<16 {
      var template = ByteText.bytes(of: "\(place)/\(prefix)XXXXXX").map { CChar(bitPattern: $0) } + [0]
      guard mkdtemp(&template) != nil else {
        return .failure(Trouble(text: "mkdtemp in \(place): \(String(cString: strerror(errno)))"))
      }
      let path = ByteText.text(of: template.dropLast().map(UInt8.init(bitPattern:)))
      if let descriptor = lock(path) { return .success(CopyPlace(path, descriptor)) }
    }
    return .failure(Trouble(text: "in \(place) somebody else removes every directory"))
  }

  /// Takes away what processes have left that were killed.
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

  /// Opens and locks a directory of this user; nil where it is none, is gone, or is somebody's.
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

  private static func remove(_ path: String, _ descriptor: CInt) {
    for suffix in suffixes { unlinkat(descriptor, name + suffix, 0) }
    _ = path.withByteString { rmdir($0) }
  }
}
