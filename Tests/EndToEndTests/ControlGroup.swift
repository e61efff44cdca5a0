// Control group that a test creates and delegates to a bank, as systemd does with `Delegate=yes`; the bank is started
// in it. A test without the permission gets the reason. The group and its processes end with the test.
import Foundation
import Glibc
import Testing

struct DelegatedGroup {
  let path: String

  /// - Throws: Trouble with the reason if no group can be created here.
  init(for branch: ScratchBank) throws {
    let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
    let point = mounts.split(separator: "\n").map { $0.split(separator: " ") }.first { fields in
      fields.firstIndex(of: "-").map { fields.count > $0 + 1 && fields[$0 + 1] == "cgroup2" } ?? false
    }?[4]
    let own = ((try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? "").split(
      separator: "\n"
    )
    .first { $0.hasPrefix("0::/") }?.dropFirst(3)
    guard let point, let own else { throw TestFailure("no cgroup2 is mounted here") }
    let path = "\(point)\(own == "/" ? "" : own)/bank-test-\(getpid())"
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw TestFailure("no group can be created in \(point)\(own): \(String(cString: strerror(errno)))")
    }
    self.path = path
    branch.atClose { [self] in remove() }
    guard access(path + "/cgroup.kill", W_OK) == 0 else {
      throw TestFailure("this kernel cannot kill a group (no cgroup.kill)")
    }
    typealias Call =
      @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "setxattr"),
      unsafeBitCast(symbol, to: Call.self)(path, "user.delegate", "1", 1, 0) == 0
    else { throw TestFailure("this kernel supports no extended attributes for a group") }
  }

  /// Groups below this one, by path.
  var below: [String] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
        && isDirectory.boolValue
    }.sorted()
  }

  /// Pids in one of these groups.
  func members(of name: String) -> [Int32] {
    ((try? String(contentsOfFile: "\(path)/\(name)/cgroup.procs", encoding: .utf8)) ?? "").split(
      separator: "\n"
    )
    .compactMap { Int32($0) }
  }

  private func remove() {
    if let file = fopen(path + "/cgroup.kill", "w") {
      fputs("1", file)
      fclose(file)
    }
    let deadline = ContinuousClock.now + .seconds(10)
    repeat {
      for name in below.reversed() { rmdir("\(path)/\(name)") }
      if rmdir(path) == 0 { return }
      Polling.pause(milliseconds: 2)
    } while ContinuousClock.now < deadline
    Issue.record("the group of a test is left: \(path)")
  }
}
