// Disk of a few megabytes that a test may fill: a tmpfs over the home of a branch (tmpfs(5), mount(2)). It needs the
// right to mount; without it tests are skipped with a reason.
// Invariant: it is unmounted when the branch closes, however the test ended.
import Foundation
import Glibc
import Testing

struct SmallDisk {
  /// Reason for a skipped test.
  static let requirement: Comment = "needs the right to mount a tmpfs (run as root)"

  /// True if a tmpfs can be mounted here; tried once.
  static let isPossible: Bool = {
    var template = Array("/tmp/branch-mount-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return false }
    let place = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { rmdir(place) }
    guard mount("tmpfs", place, "tmpfs", 0, "size=64k") == 0 else {
      print("tests of a full disk are skipped: \(requirement)")
      return false
    }
    umount2(place, Int32(MNT_DETACH))
    return true
  }()

  private let place: String

  /// Mounts a disk of this size over the home of a branch, or at another path of it.
  init(kibibytes: Int, under branch: ScratchBank, at path: String? = nil) throws {
    let place = path ?? branch.home
    mkdir(place, 0o700)
    guard mount("tmpfs", place, "tmpfs", 0, "size=\(kibibytes)k,mode=0700") == 0 else {
      throw TestFailure("cannot mount a tmpfs on \(place): \(String(cString: strerror(errno)))")
    }
    self.place = place
    branch.atClose { umount2(place, Int32(MNT_DETACH)) }
  }

  /// Free space in bytes. See statvfs(3).
  var free: Int {
    var facts = statvfs()
    return statvfs(place, &facts) == 0 ? Int(facts.f_bavail) * Int(facts.f_bsize) : 0
  }

  private var filler: String { place + "/filler" }

  /// Fills the disk, except for this number of bytes.
  func fill(leaving rest: Int = 0) throws {
    let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TestFailure("cannot create \(filler)") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 0x5A, count: 4096)
    while free > rest || rest == 0 {
      guard write(descriptor, block, block.count) > 0 else { break }
    }
    guard rest > 0 || errno == ENOSPC else {
      throw TestFailure("\(filler): \(String(cString: strerror(errno)))")
    }
  }

  /// Frees the space that `fill` took.
  func makeRoom() { unlink(filler) }

  /// Remounts the disk read-only, for root too, or writable again. No process may have a file open for writing.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("tmpfs", place, "tmpfs", flags, "mode=0700") == 0 else {
      throw TestFailure("cannot remount \(place): \(String(cString: strerror(errno)))")
    }
  }

  /// Enlarges the disk while it is in use.
  func grow(toKibibytes kibibytes: Int) throws {
    guard mount("tmpfs", place, "tmpfs", UInt(MS_REMOUNT), "size=\(kibibytes)k,mode=0700") == 0 else {
      throw TestFailure("cannot enlarge \(place): \(String(cString: strerror(errno)))")
    }
  }
}
