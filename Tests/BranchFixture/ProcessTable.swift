// The processes of this machine that belong to one branch. They are known by a variable that the branch puts into
// the environment of everything it starts and that is inherited, so nobody else's process is ever signalled.
import Foundation
import Glibc

public final class ProcessTable {
  public static let mark = "BANK_TEST_BRANCH"
  public let branch: String
  /// Those that were seen with the mark. A process that is ending loses its environment some time before its
  /// descriptors, and with them its locks, are closed; only when it is a zombie has it let go of everything.
  private var known: Set<Int> = []

  public init(branch: String) { self.branch = branch }

  /// Whether a process of this branch has this pid and has not ended; a zombie has.
  public func isAlive(_ pid: Int) -> Bool {
    guard let state = Self.state(pid), state != "Z", state != "X" else { return false }
    return isOurs(pid)
  }

  /// All that are alive.
  public func all() -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int($0) }.filter { isAlive($0) }.sorted()
  }

  /// Whether a process may turn out to be of this branch in a moment: between the beginning of an exec and its end a
  /// process has no environment yet.
  public func isSomebodyComing() -> Bool {
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

  /// Sends a signal to one that is ours; false where there is no such process.
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

  /// The state behind the name, which may hold anything, also brackets (proc(5)).
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
