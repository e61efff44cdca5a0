// Reserve file next to the database. Its blocks are released when the disk is full.
// Invariant: the counted blocks are allocated, so no other process can use them. If the file is unusable, or an
// attempt to grow it shows that the file system cannot preallocate, there is no reserve, and `isPossible` is
// false.

import ByteText
import Glibc

/// Reserve of disk space in a file with allocated blocks.
final class DiskReserve: SpaceReserve {
  private let descriptor: CInt
  let path: String
  private(set) var size: Int64 = 0
  private(set) var isPossible: Bool

  /// Opens the reserve at a path, or creates an empty one with mode 0600. See open(2).
  init(path: String) {
    self.path = path
    descriptor = path.withByteString { Glibc.open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    isPossible = descriptor >= 0
    var facts = stat()
    guard isPossible, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      isPossible = false
      return
    }
    // Only allocated blocks count: a copied file may have a length without blocks.
    size = min(Int64(facts.st_size), Int64(facts.st_blocks) * 512)
    if size < facts.st_size { cut(to: size) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Allocates blocks until the file has at least this size. Returns false if that fails. See posix_fallocate(3).
  func grow(to wanted: Int64) -> Bool {
    guard isPossible, wanted > size else { return isPossible }
    // Some file systems allocate all remaining space before they fail, and in that time no other process could
    // write.
    if let free = room?.free, wanted - size > free { return false }
    while true {
      switch posix_fallocate(descriptor, off_t(size), off_t(wanted - size)) {
      case 0:
        size = wanted
        return true
      case EINTR: continue
      case ENOSPC, EDQUOT, EFBIG: break
      // The file system does not support the call, or the disk is broken, which other operations will report.
      default: isPossible = false
      }
      // Release blocks that the failed call may have allocated.
      _ = ftruncate(descriptor, off_t(size))
      return false
    }
  }

  /// Releases the blocks beyond this size. See ftruncate(2).
  func cut(to wanted: Int64) {
    guard isPossible, wanted <= size, ftruncate(descriptor, off_t(wanted)) == 0 else { return }
    size = wanted
  }

  /// Size of the file system, and the space that is free for the user of this process. `statvfs(3)`
  var room: (capacity: Int64, free: Int64)? {
    var facts = statvfs()
    guard isPossible, fstatvfs(descriptor, &facts) == 0 else { return nil }
    let block = Int64(clamping: facts.f_frsize)
    /// Size of this number of blocks in bytes; the maximum if it does not fit.
    func bytes(_ blocks: UInt) -> Int64 {
      let (product, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: block)
      return overflow ? .max : product
    }
    return (bytes(facts.f_blocks), bytes(facts.f_bavail))
  }

  /// Extends a file by allocated bytes. The file is unchanged if there is not enough space.
  static func extend(_ path: String, by bytes: Int64) {
    let file = path.withByteString { Glibc.open($0, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
    guard file >= 0 else { return }
    defer { close(file) }
    var facts = stat()
    guard fstat(file, &facts) == 0 else { return }
    if posix_fallocate(file, facts.st_size, off_t(bytes)) != 0 { _ = ftruncate(file, facts.st_size) }
  }
}
