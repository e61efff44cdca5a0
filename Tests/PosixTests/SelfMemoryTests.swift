// Release of a process's own memory.
import Glibc
import Testing

@testable import Posix

@Suite struct SelfMemoryTests {
  /// The kilobytes of files that are mapped and in RAM. proc_pid_status(5)
  private static func mappedKilobytes() throws -> Int {
    let text = try #require(ProcessTable.text(of: "/proc/self/status", limit: 16 << 10))
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
    return try #require(
      line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) })
  }

  private nonisolated(unsafe) static var written = [7, 8, 9]

  @Test("most of the mapped program is released, and everything works as before")
  func giveBack() async {
    // In a process of its own, because the tests that run beside this one use the program, too.
    await #expect(processExitsWith: .success) {
      // Read once, so that it is mapped now.
      let names = (1...200).compactMap { strerror($0).map { String(cString: $0) } }
      Self.written.append(10)
      let setting = getenv("PATH").map { String(cString: $0) }
      let before = try Self.mappedKilobytes()
      SelfMemory.releaseFilePages()
      SelfMemory.trimHeap()
      let after = try Self.mappedKilobytes()
      #expect(after < before - before / 4, "\(before) kB to \(after) kB")
      #expect(Self.written == [7, 8, 9, 10])
      #expect(names == (1...200).compactMap { strerror($0).map { String(cString: $0) } })
      #expect(setting == getenv("PATH").map { String(cString: $0) })
      for _ in 0..<100 { SelfMemory.releaseFilePages() }
    }
  }
}
