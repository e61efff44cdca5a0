// A control group that a test makes and hands over to a bank, as systemd does it with `Delegate=yes`: the bank is started in it.
// Where this machine lets nobody do so the test is told why. Whatever is in it is ended with the test, and it is removed.
import Foundation
import Glibc
import Testing

struct DelegatedGroup {
  let path: String

  /// - Throws: Trouble that says why there can be none here.
  init(for branch: Branch) throws {
    let mounts = (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? ""
    let point = mounts.split(separator: "\n").map { $0.split(separator: " ") }.first { fields in
      fields.firstIndex(of: "-").map { fields.count > $0 + 1 && fields[$0 + 1] == "cgroup2" } ?? false
    }?[4]
    let own = ((try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? "").split(
      separator: "\n"
    )
    .first { $0.hasPrefix("0::/") }?.dropFirst(3)
    guard let point, let own else { throw Trouble("no cgroup2 is mounted here") }
    let path = "\(point)\(own == "/" ? "" : own)/bank-test-\(getpid())"
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw Trouble("no group can be made in \(point)\(own): \(String(cString: strerror(errno)))")
    }
    self.path = path
    branch.atClose { [self] in remove() }
    guard access(path + "/cgroup.kill", W_OK) == 0 else { throw Trouble("this kernel ends no group") }
    typealias Call =
      @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "setxattr"),
      unsafeBitCast(symbol, to: Call.self)(path, "user.delegate", "1", 1, 0) == 0
    else { throw Trouble("this kernel marks no group") }
  }

  /// The groups below, each with its path.
  var below: [String] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
        && isDirectory.boolValue
    }.sorted()
  }

  /// Who is in one of them.
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
      Moment.pass(milliseconds: 2)
    } while ContinuousClock.now < deadline
    Issue.record("the group of a test is left: \(path)")
  }
}
