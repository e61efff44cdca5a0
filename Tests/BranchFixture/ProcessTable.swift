// Processes of this machine that belong to one branch. A variable in the environment marks every process that the
// branch starts, and descendants inherit it, so a process of another program is never signalled.
import Foundation
import Glibc

public final class ProcessTable {
  public static let mark = "BANK_TEST_BRANCH"
  public let branch: String
  /// Processes that were seen with the mark. A process that exits loses its environment before its descriptors, and
  /// with them its locks, are closed; only a zombie has released everything.
  private var known: Set<Int> = []

  public init(branch: String) { self.branch = branch }

  /// True if a process of this branch has this pid and is not a zombie.
  public func isAlive(_ pid: Int) -> Bool {
    guard let state = Self.state(pid), state != "Z", state != "X" else { return false }
    return isOurs(pid)
  }

  /// Pids of all running processes of the branch.
  public func all() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int($0) }.filter { isAlive($0) }.sorted()
  }

  /// True if a process may turn out to belong to this branch in a moment: a process has no environment during exec.
  public func mayHaveStartingProcess() -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int($0) }.contains { pid in
      guard Self.read("/proc/\(pid)/environ").isEmpty,
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
      else { return false }
      return program.hasPrefix(Binaries.directory + "/bank") || program.hasPrefix(branch + "/")
    }
  }

  public func name(_ pid: Int) -> String {
    String(decoding: Self.read("/proc/\(pid)/cmdline").map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
  }

  /// Sends a signal to a process of this branch; returns false if there is no such process.
  @discardableResult
  public func signal(_ pid: Int, _ number: Int32) -> Bool { isAlive(pid) && kill(pid_t(pid), number) == 0 }

  private func isOurs(_ pid: Int) -> Bool {
    let environment = Self.read("/proc/\(pid)/environ")
    if environment.isEmpty { return known.contains(pid) && Self.state(pid).map { $0 != "Z" } ?? false }
    guard environment.split(separator: 0).contains(where: { $0.elementsEqual("\(Self.mark)=\(branch)".utf8) })
    else { return false }
    known.insert(pid)
    return true
  }

  /// State that follows the name, which may contain any character, also brackets (proc(5)).
  private static func state(_ pid: Int) -> Character? {
    let stat = String(decoding: read("/proc/\(pid)/stat"), as: UTF8.self)
    return stat.lastIndex(of: ")").flatMap { stat[$0...].dropFirst(2).first }
  }

  private static func read(_ path: String) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return Data() }
    defer { close(descriptor) }
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return content }
      content.append(contentsOf: buffer.prefix(count))
    }
  }
}
