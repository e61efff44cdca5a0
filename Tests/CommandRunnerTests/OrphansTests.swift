// Processes that are found by the key of their customer, and ended. Invariant: every process a test starts is
// killed by it in the end, by its key.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@testable import CommandRunner

@Suite struct OrphansTests {
  /// Starts processes that are not children of this one, and reports when they run.
  private func abandon(_ script: String, key: String) throws {
    let directory = try TemporaryDirectory("command-tests")
    let file = directory.file("ready")
    let shell = try ChildProcess.spawn(
      executable: "/bin/sh",
      arguments: ["-c", "setsid sh -c '\(script) touch \(file); wait' >/dev/null 2>&1 &"],
      environment: ["PATH": path, "BANK_KEY": key], newSession: true)
    #expect(shell.wait().isSuccess)
    #expect(try eventually { try FileMetadata.inspect(file) != nil })
  }

  private func end(_ key: String, grace: TimeSpan) throws -> Bool {
    try end(OrphanTraces(key: key), grace: grace)
  }

  private func end(_ traces: OrphanTraces, grace: TimeSpan = .zero) throws -> Bool {
    let loop = try EventLoop()
    let orphans = Orphans(traces, on: loop)
    orphans.end(grace: grace, at: SystemClock.monotonic())
    let end = SystemClock.monotonic() + .seconds(120)
    while !orphans.areGone, SystemClock.monotonic() < end {
      try loop.runOnce(until: MonotonicTime.earlier(orphans.deadline, end))
      orphans.runIteration(at: SystemClock.monotonic())
    }
    return orphans.areGone && orphans.left.isEmpty
  }

  private func freshKey() -> String { "test-\(getpid())-\(RandomSeed.fromSystem())" }

  @Test("those with the key are found and ended with their descendants, and no others are")
  func found() throws {
    let (key, mark) = (freshKey(), "600.\(getpid())\(RandomSeed.fromSystem() % 1_000_000)")
    defer { for pid in Orphans.find(key: key) + Orphans.find(key: key + "x") { kill(pid, SIGKILL) } }
    try abandon("sleep 600 & env -i sleep \(mark) & trap \"\" TERM;", key: key)
    try abandon("sleep 600 &", key: key + "x")
    // Besides the shell and its sleep, the touch that reports them may not have ended yet.
    #expect(try eventually { Orphans.find(key: key + "x").count == 2 })
    let others = Orphans.find(key: key + "x")
    // The shell and one sleep; the other has cleared its environment.
    #expect(try eventually { Orphans.find(key: key).count == 2 && exists(mark) })
    #expect(try end(key, grace: .milliseconds(50)))
    #expect(Orphans.find(key: key).isEmpty)
    #expect(!exists(mark))
    #expect(Orphans.find(key: key + "x") == others)
    let start = SystemClock.monotonic()
    #expect(try end(key + "x", grace: .zero))
    print(
      "the end of orphans: \(SystemClock.monotonic().since(start).inSeconds * 1000) ms, of \(ProcessTable.all().count) processes"
    )
    #expect(Orphans.find(key: key + "x").isEmpty)
  }

  private func exists(_ mark: String) -> Bool {
    ProcessTable.all().contains { ProcessTable.alive($0) && ProcessTable.arguments(of: $0).last == mark }
  }

  @Test(
    "a process that replaces itself by its child, again and again, is found in between",
    arguments: ["0.001", "0.005", "0.02"])
  func replaced(_ pause: String) throws {
    let key = freshKey()
    defer { for pid in Orphans.find(key: key) { kill(pid, SIGKILL) } }
    let shell = try ChildProcess.spawn(
      executable: "/bin/sh",
      arguments: [
        "-c",
        "exec setsid perl -e 'use POSIX; my $e = time + 60; while (time < $e) { exit 0 if fork; select(undef, undef, undef, \(pause)); }'",
      ], environment: ["PATH": path, "BANK_KEY": key], newSession: true)
    _ = shell.wait()
    for _ in 1...3 where try !end(key, grace: .zero) { Issue.record("it was given up") }
    // A missed process shows itself soon: it runs for a minute.
    #expect(try !eventually(within: .milliseconds(300)) { !Orphans.find(key: key).isEmpty })
  }

  /// Starts a process with the mark, and the processes of the script, and reports when they run.
  private func abandon(_ script: String, mark: ProcessMark, environment: EnvironmentVariables = [:]) throws {
    let directory = try TemporaryDirectory("command-tests")
    let file = directory.file("ready")
    let words = ["sh", "-c", "(\(script)) >/dev/null 2>&1 & touch \(file)"]
    let child = try ChildProcess.start(
      ChildProcess.Program(
        path: "/bin/sh", words: words.map { Array($0.utf8) },
        environment: environment.overlaid(by: ["PATH": path]), limits: [try #require(mark.limit())]),
      input: try FileDescriptor.open("/dev/null", .readOnly),
      output: try FileDescriptor.open("/dev/null", .writeOnly),
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    #expect(child.wait().isSuccess)
    #expect(try eventually { try FileMetadata.inspect(file) != nil })
  }

  @Test("a mark finds processes with cleared environment, another session and another user")
  func marked() throws {
    let number = RandomSeed.fromSystem()
    let mark = ProcessMark(owner: number, service: 7)
    let other = ProcessMark(owner: number &+ 1, service: 7)
    let names = [
      "600.\(number % 1_000_000_007)1", "600.\(number % 1_000_000_007)2", "600.\(number % 1_000_000_007)3",
    ]
    let key = freshKey()
    let traces = OrphanTraces(keysFrom: key, mark: mark, keeper: nil)
    defer {
      for others in [mark, other] {
        _ = try? end(OrphanTraces(keysFrom: key + "-", mark: others, keeper: nil))
      }
    }
    try abandon("exec setsid env -i sleep \(names[0])", mark: mark)
    let user = CurrentProcess.uid == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
    try abandon("exec setsid env -i \(user)sleep \(names[1])", mark: mark)
    // Of another home with the same database, a copy for instance: the same keys, another mark.
    try abandon("exec setsid sleep \(names[2])", mark: other, environment: ["BANK_KEY": key + "-1"])
    #expect(try eventually { names.allSatisfy(exists) })
    #expect(try end(traces))
    #expect(names.map(exists) == [false, false, true])
  }

  @Test("without a process with the key there is nothing to do")
  func noOrphan() throws {
    #expect(Orphans.find(key: freshKey()).isEmpty)
    #expect(try end(freshKey(), grace: .seconds(60)))
  }

  @Test("descendants of this process are its own, and not orphans")
  func own() throws {
    let key = freshKey()
    let child = try ChildProcess.spawn(
      executable: "/bin/sleep", arguments: ["600"], environment: ["BANK_KEY": key])
    defer { child.end() }
    #expect(Orphans.find(key: key).isEmpty)
    #expect(try end(key, grace: .zero))
    #expect(ProcessTable.alive(child.pid))
  }

  @Test("a setting is found as a whole, wherever a read cuts it")
  func settings() {
    func finds(_ text: String) -> [Bool] {
      let bytes = Array(text.utf8)
      return (0...bytes.count).map { cut in
        var progress = EnvironmentMatcher.Progress(Array("BANK_KEY=ab".utf8))
        var found = false
        for piece in [bytes[..<cut], bytes[cut...]] where !found {
          found = Array(piece).withUnsafeBytes { progress.consume($0) }
        }
        return found || progress.isAtMatch
      }
    }
    for text in ["BANK_KEY=ab\0", "A=1\0BANK_KEY=ab\0B=2\0", "B=\0BANK_KEY=ab", "\0\0BANK_KEY=ab\0"] {
      #expect(finds(text).allSatisfy { $0 }, "\(text)")
    }
    for text in [
      "", "BANK_KEY=a\0", "BANK_KEY=abc\0", "XBANK_KEY=ab\0", "X=BANK_KEY=ab\0", "BANK_KEY=a\0b\0",
    ] {
      #expect(finds(text).allSatisfy { !$0 }, "\(text)")
    }
  }
}
