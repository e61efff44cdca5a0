// The mark that a process carries in a limit: its contents, and that it cannot be lost by accident.
// Invariant: every process a test starts has ended with it.
import Glibc
import PosixFixture
import Testing
import Time

@testable import Posix

@Suite struct ProcessMarkTests {
  private let mark = ProcessMark(owner: 0x12_3456_789A, service: 4711)

  /// Runs a program with this mark and returns its output.
  private func output(of script: String, mark: ProcessMark, path: String = "/bin/sh") throws -> String {
    let pipe = try DescriptorPair.pipe()
    let limit = try #require(mark.limit())
    let program = ChildProcess.Program(
      path: path, words: ["sh", "-c", script].map { Array($0.utf8) },
      environment: ["PATH": "/usr/bin:/bin:/usr/sbin"],
      limits: [limit])
    let child = try ChildProcess.start(
      program, input: try FileDescriptor.open("/dev/null", .readOnly), output: pipe.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    defer { child.end() }
    return String(decoding: try pipe.first.readAll(), as: UTF8.self)
  }

  @Test("a mark is an argument of a command line, and no limit that a person sets is one")
  func words() {
    #expect(ProcessMark(mark.description) == mark)
    for word in ["", "1", "1.", ".1", "1.65536", "-1.1", "1.1.1", "a.b"] { #expect(ProcessMark(word) == nil) }
    for limit in [0, 1, 200_000, UInt64.max, UInt64(Int64.max) + 1, 1 << 61] {
      #expect(ProcessMark(limit: limit) == nil, "\(limit)")
    }
    #expect(ProcessMark(owner: .max, service: 1) == ProcessMark(owner: (1 << 39) - 1, service: 1))
    #expect(mark.sharesOwner(of: ProcessMark(owner: mark.owner, service: 1)))
    #expect(!mark.sharesOwner(of: ProcessMark(owner: mark.owner + 1, service: 4711)))
  }

  @Test("it survives a cleared environment, another session, another program, and dead parents")
  func inherited() throws {
    let others = CurrentProcess.uid == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
    let text = try output(
      of: "setsid env -i \(others)sh -c 'cat /proc/self/limits; exit' & wait", mark: mark)
    let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("Max realtime timeout") })
    let limits = line.split(separator: " ").compactMap { UInt64($0) }
    #expect(limits.count == 2)
    #expect(limits.allSatisfy { ProcessMark(limit: $0) == mark }, "\(line)")
  }

  @Test("a marked process marks others within it, and both marks can be read")
  func nested() async {
    await #expect(processExitsWith: .success) {
      let mark = ProcessMark(owner: 0x12_3456_789A, service: 4711)
      let inner = ProcessMark(owner: 77, service: 1)
      #expect(ProcessMark.marks(of: getpid()).isEmpty)
      #expect(mark.adopt())
      #expect(ProcessMark.marks(of: getpid()) == [mark, mark])
      #expect(inner.adopt())
      #expect(ProcessMark.marks(of: getpid()) == [inner, mark])
    }
  }

  @Test("a process that has gone has no marks")
  func gone() throws {
    let child = try ChildProcess.spawn(executable: "/bin/true", environment: [:])
    _ = child.wait()
    #expect(ProcessMark.marks(of: child.pid).isEmpty)
  }
}
