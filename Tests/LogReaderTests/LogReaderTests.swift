// Reading of finished logs, on files: rotated ones, the last lines, from a time on.

import BankModel
import Posix
import Testing

@testable import Logging

@Suite("Reading logs") struct LogReaderTests {
  /// Spreads the lines of each worker over a random number of files.
  private func write(_ logs: [String: [String]], to scratch: LogFixture, _ random: inout SeededGenerator) {
    for (worker, lines) in logs {
      scratch.append("", to: "\(worker).log")
      for line in lines {
        if random.draw(0...20) == 0 {
          scratch.rotate(worker, keep: 100)
          scratch.append("", to: "\(worker).log")
        }
        scratch.append(line + "\n", to: "\(worker).log")
      }
    }
  }

  @Test("gives all lines of all files, merged, and no incomplete one") func all() throws {
    var random = SeededGenerator(seed: testSeed("all"))
    for _ in 0..<25 {
      let scratch = LogFixture()
      let logs = randomLogs(&random, clocksGoBack: true)
      write(logs, to: scratch, &random)
      if let worker = logs.keys.first { scratch.append("ts=2026-11-21T08:0", to: "\(worker).log") }
      #expect(try LogReader(LogQuery(directory: scratch.logs)).all() == naiveMerge(logs))
    }
  }

  @Test("gives the last lines as a plain sort would", arguments: [0, 1, 2, 5, 10, 37, 100, 10_000])
  func tail(count: Int) throws {
    var random = SeededGenerator(seed: testSeed("tail"))
    for _ in 0..<10 {
      let scratch = LogFixture()
      let logs = randomLogs(&random, clocksGoBack: false)
      write(logs, to: scratch, &random)
      if let worker = logs.keys.first { scratch.append("unfinished", to: "\(worker).log") }
      let reader = try LogReader(LogQuery(directory: scratch.logs, last: count))
      #expect(try reader.all() == naiveMerge(logs).suffix(count))
    }
  }

  @Test("gives the lines from a time on, also of files that are too large to be read whole") func since()
    throws
  {
    var random = SeededGenerator(seed: testSeed("since"))
    let scratch = LogFixture()
    var logs: [String: [String]] = [:]
    for worker in ["deposit-1", "loan-1"] {
      var time = Sample.morning
      logs[worker] = (0..<9_000).map { number in
        time += random.draw(0...3)
        return random.draw(0...50) == 0 ? "untimed \(number)" : Sample.line(worker, number, at: time)
      }
      for (index, lines) in [logs[worker]![..<6_000], logs[worker]![6_000...]].enumerated() {
        if index > 0 { scratch.rotate(worker) }
        scratch.append(lines.joined(separator: "\n") + "\n", to: "\(worker).log")
      }
    }
    let merged = naiveMerge(logs)
    for _ in 0..<12 {
      let time = Sample.morning + random.draw(-10...14_000)
      let expected = merged.filter { $0.time >= time }
      #expect(try LogReader(LogQuery(directory: scratch.logs, since: time)).all() == expected)
      let last = LogQuery(directory: scratch.logs, last: 7, since: time)
      #expect(try LogReader(last).all() == expected.suffix(7))
    }
    let late = try LogReader(LogQuery(directory: scratch.logs, since: merged[merged.count - 5].time))
    _ = try late.all()
    #expect(late.bytesRead < 2_000_000)
  }

  @Test("reads only the end of a file of a million lines for the last ten") func bounded() throws {
    let scratch = LogFixture()
    for block in 0..<100 {
      let lines = (0..<10_000).map {
        Sample.line("loan-1", block * 10_000 + $0, at: Sample.morning + Int64(block))
      }
      scratch.append(lines.joined(separator: "\n") + "\n", to: "loan-1.log")
    }
    let reader = try LogReader(LogQuery(directory: scratch.logs, last: 10))
    let records = try reader.all()
    #expect(records.count == 10)
    #expect(records.last?.text.hasSuffix("ticket=999999") == true)
    #expect(reader.bytesRead <= 3 * 65_536)
  }

  @Test("keeps control characters and invalid UTF-8 unchanged") func bytes() throws {
    let scratch = LogFixture()
    let line: [UInt8] = [0x1b, 0x5b, 0x32, 0x4a, 0x00, 0xff, 0x0d, 0x7f]
    scratch.append(line + [10], to: "loan-1.log")
    #expect(try LogReader(LogQuery(directory: scratch.logs)).all().map(\.line) == [line])
  }

  @Test("takes a last line without a line feed as complete in a file that was rotated away")
  func unterminated()
    throws
  {
    let scratch = LogFixture()
    scratch.append("one\ntwo", to: "loan-1.log")
    scratch.rotate("loan-1")
    scratch.append("three\nfou", to: "loan-1.log")
    for count in [nil, 2, 3, 4] {
      let texts = try LogReader(LogQuery(directory: scratch.logs, last: count)).all().map(\.text)
      #expect(texts == ["one", "two", "three"].suffix(count ?? 3))
    }
  }

  @Test("reads the requested workers, and lists the existing ones if one is unknown") func workers()
    throws
  {
    let scratch = LogFixture()
    for name in ["coordinator.log", "loan-1.log.2", "deposit-1.log", "notes.txt", ".log", "loan-1.log.02"] {
      scratch.append("\(name)\n", to: name)
    }
    let loan = try LogReader(LogQuery(directory: scratch.logs, workers: ["loan-1", "coordinator", "loan-1"]))
    #expect(try loan.all().map(\.text) == ["coordinator.log", "loan-1.log.2"])
    let stranger = LogQuery(directory: scratch.logs, workers: ["loan-1", "../x"])
    #expect(throws: LogFailure.unknownWorker("../x", known: ["coordinator", "deposit-1", "loan-1"])) {
      try LogReader(stranger)
    }
  }

  @Test("reports a missing directory, and does not wait for a pipe") func nothing() throws {
    let scratch = LogFixture(withLogs: false)
    #expect(throws: LogFailure.noDirectory(scratch.logs)) { try LogReader(LogQuery(directory: scratch.logs)) }
    scratch.makeLogs()
    #expect(try LogReader(LogQuery(directory: scratch.logs)).all().isEmpty)
    scratch.makePipe("loan-1.log")
    #expect(try LogReader(LogQuery(directory: scratch.logs)).all().isEmpty)
  }

  @Test("names belong to workers only if they are written as a rotation writes them") func names() {
    #expect(LogDirectory.parse("loan-1.log").map { "\($0.worker) \($0.age)" } == "loan-1 0")
    #expect(LogDirectory.parse("loan-1.log.12").map { "\($0.worker) \($0.age)" } == "loan-1 12")
    for other in [
      "loan-1.log.0", "loan-1.log.01", "loan-1.log.+1", "loan-1.log.gz", ".log", ".log.1", "log", "",
    ] {
      #expect(LogDirectory.parse(other) == nil)
    }
  }

  @Test("a walk over the files misses none and keeps their order, over any number of rotations")
  func rotationWhileWalking() throws {
    for (rotations, within) in [(1, 0), (2, 0), (3, 0), (9, 0), (9, 2), (2, 1)] {
      let scratch = LogFixture()
      for number in 1...4 {
        scratch.append("old \(number)\n", to: "loan-1.log")
        if number < 4 { scratch.rotate("loan-1", keep: 60) }
      }
      var looks = 0
      let found = try LogDirectory(path: scratch.logs).segments(of: "loan-1") { _ in
        if looks == within {
          for number in 1...rotations {
            scratch.rotate("loan-1", keep: 60)
            scratch.append("new \(number)\n", to: "loan-1.log")
          }
        }
        looks += 1
        return false
      }
      let texts = try found.map { String(decoding: try $0.read(0..<$0.sizeAtOpening), as: UTF8.self) }
      let all = (1...4).map { "old \($0)\n" } + (1...rotations).map { "new \($0)\n" }
      // Files that came while it walked may be met or not; the next walk meets them.
      #expect(texts == Array(all.prefix(texts.count)), "\(rotations) rotations at look \(within)")
      #expect(texts.count >= 4)
    }
  }
}
