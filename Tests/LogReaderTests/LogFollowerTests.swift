// Following of logs: over rotation, new workers, cut and removed files, a home that comes later. The tests
// wait for lines, and for nothing else.

import BankModel
import Glibc
import Posix
import Testing
import Time

@testable import Logging

@Suite("Following logs") struct LogFollowerTests {
  /// A follower with its loop, and the lines it has delivered.
  private final class FollowerRunner {
    let loop: EventLoop
    let follower: LogFollower
    var records: [LogRecord] = []
    var texts: [String] { records.map(\.text) }

    init(_ query: LogQuery, gathering: TimeSpan = .milliseconds(5)) throws {
      loop = try EventLoop()
      follower = try LogFollower(query, on: loop, gathering: gathering)
    }

    /// A follower on a kernel that has no watch left.
    init(unwatched query: LogQuery) throws {
      loop = try EventLoop()
      let watch = try LogDirectoryWatcher(query.directory, on: loop) { () throws(SystemError) in
        throw SystemError(call: "inotify_init1", subject: "", code: EMFILE)
      }
      follower = try LogFollower(query, watchedBy: watch, gathering: .milliseconds(5))
    }

    /// Runs until the condition holds; gives up, and fails the test, after a minute.
    func listen(until isDone: (FollowerRunner) -> Bool) throws {
      let end = SystemClock.monotonic() + .seconds(120)
      while !isDone(self) {
        while let record = try follower.next() { records.append(record) }
        if isDone(self) { return }
        try #require(
          SystemClock.monotonic() < end, "\(records.count) lines came, the last: \(texts.last ?? "")")
        try loop.runOnce(until: min(end, follower.deadline ?? end))
      }
    }

    func listen(count: Int) throws { try listen { $0.records.count >= count } }

    /// Runs until all that was written so far is delivered. The kernel notes a change before the write
    /// returns.
    func settle() throws {
      try loop.runOnce(until: SystemClock.monotonic())
      try listen { $0.follower.deadline == nil }
    }
  }

  @Test("starts with the last lines and continues with new ones") func tail() throws {
    let scratch = LogFixture()
    scratch.append("a\nb\nc\n", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs, last: 2))
    try listener.listen(count: 2)
    scratch.append("d\n", to: "loan-1.log")
    try listener.listen(count: 3)
    #expect(listener.texts == ["b", "c", "d"])
  }

  @Test(
    "works by the clock without kernel watches, over rotation, new workers and a removed directory"
  )
  func unwatched() throws {
    let scratch = LogFixture()
    scratch.append("a\n", to: "loan-1.log")
    let listener = try FollowerRunner(unwatched: LogQuery(directory: scratch.logs))
    try listener.listen(count: 1)
    scratch.append("b\n", to: "loan-1.log")
    try listener.listen(count: 2)
    #expect(rename("\(scratch.logs)/loan-1.log", "\(scratch.logs)/loan-1.log.1") == 0)
    scratch.append("c\n", to: "loan-1.log")
    try listener.listen(count: 3)
    scratch.append("d\n", to: "deposit-1.log")
    try listener.listen(count: 4)
    #expect(listener.texts == ["a", "b", "c", "d"])
    let due = try #require(listener.follower.deadline)
    #expect(due.since(SystemClock.monotonic()) > .milliseconds(50), "it does not spin")
  }

  @Test("waits for the kernel alone while no worker writes") func idle() throws {
    let scratch = LogFixture()
    scratch.append("a\n", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    try listener.settle()
    #expect(listener.texts == ["a"])
    #expect(try listener.follower.next() == nil)
    #expect(listener.follower.deadline == nil)
  }

  @Test("holds a line back until its line feed is there") func partial() throws {
    let scratch = LogFixture()
    scratch.append("one\ntw", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    try listener.settle()
    #expect(listener.texts == ["one"])
    scratch.append("", to: "deposit-1.log")
    scratch.append("o", to: "loan-1.log")
    try listener.settle()
    #expect(listener.texts == ["one"])
    scratch.append("\nthree\n", to: "loan-1.log")
    try listener.listen(count: 3)
    #expect(listener.texts == ["one", "two", "three"])
  }

  @Test("notices a worker whose log appears, unless others were requested") func newcomer() throws {
    let scratch = LogFixture()
    scratch.append("", to: "loan-1.log")
    let all = try FollowerRunner(LogQuery(directory: scratch.logs))
    let one = try FollowerRunner(LogQuery(directory: scratch.logs, workers: ["loan-1"]))
    scratch.append("x\n", to: "deposit-7.log")
    scratch.append("y\n", to: "loan-1.log")
    try all.listen(count: 2)
    try one.listen(count: 1)
    try one.settle()
    #expect(all.records.map(\.worker) == ["deposit-7", "loan-1"])
    #expect(one.texts == ["y"])
  }

  @Test("waits for a home that does not exist yet, and for one that comes again") func homeless() throws {
    let scratch = LogFixture(withLogs: false)
    #expect(rmdir(scratch.home) == 0)
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs, workers: ["loan-1"]))
    for round in 1...3 {
      try listener.settle()
      #expect(mkdir(scratch.home, 0o700) == 0)
      if round == 2 { try listener.settle() }
      scratch.makeLogs()
      if round == 3 { try listener.settle() }
      scratch.append("round \(round)\n", to: "loan-1.log")
      try listener.listen(count: round)
      Directory.removeTree(scratch.home)
    }
    #expect(listener.texts == ["round 1", "round 2", "round 3"])
  }

  @Test("finishes a file that is rotated away, with its last lines") func rotation() throws {
    let scratch = LogFixture()
    scratch.append("a\n", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    try listener.settle()
    scratch.append("b\nc", to: "loan-1.log")
    scratch.rotate("loan-1")
    scratch.append("d\n", to: "loan-1.log")
    scratch.rotate("loan-1")
    scratch.append("e\n", to: "loan-1.log")
    try listener.listen(count: 5)
    #expect(listener.texts == ["a", "b", "c", "d", "e"])
  }

  @Test("recognises the old files when only the present one is removed") func removal() throws {
    let scratch = LogFixture()
    scratch.append("old\n", to: "loan-1.log")
    scratch.rotate("loan-1")
    scratch.append("a\n", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs, last: 1))
    try listener.settle()
    scratch.append("b\n", to: "loan-1.log")
    scratch.delete("loan-1.log")
    try listener.settle()
    scratch.append("c\n", to: "loan-1.log")
    try listener.listen(count: 3)
    #expect(listener.texts == ["a", "b", "c"])
  }

  @Test("continues at the start of a file that was cut") func truncation() throws {
    let scratch = LogFixture()
    scratch.append("a long first line\nunfinished", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    try listener.settle()
    scratch.cut("loan-1.log")
    try listener.settle()
    scratch.append("b\n", to: "loan-1.log")
    try listener.listen(count: 2)
    #expect(listener.texts == ["a long first line", "b"])
  }

  @Test("orders the new lines of several workers by time") func order() throws {
    let scratch = LogFixture()
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    try listener.settle()
    for number in 0..<50 {
      let worker = "deposit-\(number % 3)"
      scratch.append(
        Sample.line(worker, number, at: Sample.morning + Int64(100 - number % 3)) + "\n", to: "\(worker).log")
    }
    try listener.listen(count: 50)
    #expect(listener.records.map(\.time) == listener.records.map(\.time).sorted())
  }

  @Test("keeps a line back while an earlier one can still come") func horizon() throws {
    let scratch = LogFixture()
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs))
    var clock = Sample.morning
    listener.follower.wallClock = { WallTime(milliseconds: clock) }
    try listener.settle()
    scratch.append(Sample.line("deposit-1", 1, at: Sample.morning + 500) + "\n", to: "deposit-1.log")
    var looks = 0
    try listener.listen { _ in
      looks += 1
      return looks == 20
    }
    #expect(listener.records.isEmpty)
    scratch.append(Sample.line("loan-1", 2, at: Sample.morning + 400) + "\n", to: "loan-1.log")
    try listener.loop.runOnce(until: SystemClock.monotonic())
    clock += 1_000
    try listener.settle()
    #expect(listener.records.map(\.worker) == ["loan-1", "deposit-1"])
  }

  @Test("a stamp far in the future does not hold a line back without end") func future() throws {
    let scratch = LogFixture()
    scratch.append(Sample.line("loan-1", 1, at: Timestamp.latest) + "\n", to: "loan-1.log")
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs, last: 0))
    try listener.settle()
    scratch.append(Sample.line("loan-1", 2, at: Timestamp.latest) + "\n", to: "loan-1.log")
    try listener.listen(count: 1)
    #expect(listener.texts[0].hasSuffix("ticket=2"))
  }

  @Test("refuses a name that no log has, if there are logs") func stranger() throws {
    let scratch = LogFixture()
    scratch.append("a\n", to: "loan-1.log")
    #expect(throws: LogFailure.unknownWorker("loan-2", known: ["loan-1"])) {
      try FollowerRunner(LogQuery(directory: scratch.logs, workers: ["loan-2"]))
    }
  }

  @Test("loses and doubles nothing, whatever happens between two looks") func history() throws {
    var random = SeededGenerator(seed: testSeed("history"))
    for _ in 0..<20 {
      let scratch = LogFixture()
      let workers = ["deposit-1", "deposit-2", "loan-1"]
      var written: [String: [String]] = [:]
      var time = Sample.morning
      let listener = try FollowerRunner(LogQuery(directory: scratch.logs), gathering: .zero)
      for number in 0..<300 {
        let worker = workers[Int(random.draw(0...2))]
        switch random.draw(0...19) {
        case 0, 1: scratch.rotate(worker, keep: 30)
        case 2: try listener.settle()
        default:
          time += random.draw(0...2)
          let line = Sample.line(worker, number, at: time)
          written[worker, default: []].append(line)
          let cut = line.index(line.startIndex, offsetBy: Int(random.draw(0...40)))
          scratch.append(String(line[..<cut]), to: "\(worker).log")
          if random.draw(0...3) == 0 { try listener.settle() }
          scratch.append(line[cut...] + "\n", to: "\(worker).log")
        }
      }
      try listener.settle()
      for worker in workers {
        let told = listener.records.filter { $0.worker == worker }.map(\.text)
        let isSame = told == written[worker] ?? []
        #expect(isSame, "\(worker): \(told.count) of \(written[worker]?.count ?? 0) lines")
      }
    }
  }

  @Test("follows the bank's own writer over its rotations and restarts") func ownWriter() throws {
    let scratch = LogFixture()
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs), gathering: .zero)
    var number = 0
    for generation: Int32 in 1...20 {
      let file = try LogFile(
        path: "\(scratch.logs)/loan-1.log", worker: "loan-1", generation: generation, limit: 700, keep: 5)
      for _ in 0..<7 {
        number += 1
        file.write(event: "started") { $0.field("ticket", number) }
      }
      file.flush()
      // A killed worker's last line, which the next one closes.
      if generation % 3 == 0 { scratch.append("ts=2026-11-21T08:00:00.0", to: "loan-1.log") }
      try listener.settle()
    }
    let numbers = listener.records.compactMap { LogLine.parse($0.line)?["ticket"] }
    #expect(numbers == (1...number).map { "\($0)" })
    #expect(listener.records.count == number + 6)
    #expect(try Directory.entries(of: scratch.logs).count == 6)
  }

  @Test("delivers each line once, in its worker's order, while workers write and rotate") func storm()
    throws
  {
    let scratch = LogFixture()
    let count = 4_000
    let listener = try FollowerRunner(LogQuery(directory: scratch.logs), gathering: .milliseconds(2))
    let writers = ["deposit-1", "loan-1", "loan-2"].map { worker in
      WriterThread {
        for number in 0..<count {
          scratch.append(
            Sample.line(worker, number, at: SystemClock.wall().milliseconds) + "\n", to: "\(worker).log")
          if number % 97 == 96 { scratch.rotate(worker, keep: 60) }
        }
      }
    }
    try listener.listen(count: writers.count * count)
    for writer in writers { writer.join() }
    try listener.settle()
    #expect(listener.records.count == writers.count * count)
    for worker in ["deposit-1", "loan-1", "loan-2"] {
      let numbers = listener.records.filter { $0.worker == worker }.compactMap {
        LogLine.parse($0.line)?["ticket"]
      }
      let isSame = numbers == (0..<count).map { "\($0)" }
      #expect(isSame, "\(worker): \(numbers.count) lines")
    }
  }
}

/// A thread that writes beside the test.
private final class WriterThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    let code = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, work)
    precondition(code == 0)
  }

  func join() { pthread_join(thread, nil) }
}
