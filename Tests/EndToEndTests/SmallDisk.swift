// A disk of a few megabytes that a test may fill: a tmpfs over the home of a branch (tmpfs(5), mount(2)). It needs
// the right to mount; where that is missing, tests that want it are skipped and say so.
// Invariant: it is unmounted when the branch closes, however the test ended.
import Foundation
import Glibc
import Testing

struct SmallDisk {
  /// Why a test is skipped.
  static let requirement: Comment = "needs the right to mount a tmpfs (run as root)"

  /// Whether a tmpfs can be mounted here: it is tried once.
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
  init(kibibytes: Int, under branch: Branch, at path: String? = nil) throws {
    let place = path ?? branch.home
    mkdir(place, 0o700)
    guard mount("tmpfs", place, "tmpfs", 0, "size=\(kibibytes)k,mode=0700") == 0 else {
      throw Trouble("cannot mount a tmpfs on \(place): \(String(cString: strerror(errno)))")
    }
    self.place = place
    branch.atClose { umount2(place, Int32(MNT_DETACH)) }
  }

  /// The free room in bytes. See statvfs(3).
  var free: Int {
    var facts = statvfs()
    return statvfs(place, &facts) == 0 ? Int(facts.f_bavail) * Int(facts.f_bsize) : 0
  }

  private var filler: String { place + "/filler" }

  /// Takes all the room that is left, but for so many bytes.
  func fill(leaving rest: Int = 0) throws {
    let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Trouble("cannot create \(filler)") }
    defer { close(descriptor) }
    let block = [UInt8](repeating: 0x5A, count: 4096)
    while free > rest || rest == 0 {
      guard write(descriptor, block, block.count) > 0 else { break }
    }
    guard rest > 0 || errno == ENOSPC else { throw Trouble("\(filler): \(String(cString: strerror(errno)))") }
  }

  /// Gives back what `fill` took.
  func makeRoom() { unlink(filler) }

  /// Makes it a disk that nobody can write to, root included, or an ordinary one again. Nobody may have a file open for
  /// writing.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("tmpfs", place, "tmpfs", flags, "mode=0700") == 0 else {
      throw Trouble("cannot remount \(place): \(String(cString: strerror(errno)))")
    }
  }

  /// Makes the disk larger while it is in use.
  func grow(toKibibytes kibibytes: Int) throws {
    guard mount("tmpfs", place, "tmpfs", UInt(MS_REMOUNT), "size=\(kibibytes)k,mode=0700") == 0 else {
      throw Trouble("cannot enlarge \(place): \(String(cString: strerror(errno)))")
    }
  }
}
