// The log file: whole lines, few writes, rotation without loss, and a full disk that ends nothing. The test
// sets the time, so nothing here waits.

import BankModel
import Glibc
import Posix
import Testing
import Time

@testable import Logging

@Suite("A log file") struct LogFileTests {
  @Test("writes the line of the contract") func contract() throws {
    let folder = try TemporaryLogDirectory()
    let log = try LogFile(
      path: folder.log, worker: "deposit-1", pid: 4243, generation: 1, limit: 1 << 20, keep: 3)
    let phrase = StringCatalog(.korean).started(ticket: 7, priority: .regular, service: .deposit)
    log.write(event: "started", at: moment(at: .seconds(10))) {
      $0.field("day", 1)
      $0.field("ticket", 7)
      $0.field("service", ServiceName.deposit.text)
      $0.field("attempt", 1)
      $0.field("absent", nil)
      $0.field("msg", phrase)
    }
    #expect(
      try folder.text() == """
        ts=2026-11-21T08:00:10.000Z level=info worker=deposit-1 pid=4243 gen=1 event=started day=1 ticket=7 \
        service=deposit attempt=1 msg="7번 고객 예금업무 시작"\n
        """)
    #expect(try FileMetadata.inspect(folder.log)?.mode == 0o600)
  }

  @Test("writes at once after a quiet time, and batches later lines") func gathers() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open()
    log.write(event: "first", at: moment(at: .milliseconds(1000)))
    #expect(try folder.events() == ["first"])
    #expect(log.nextFlush == nil)
    log.write(event: "second", at: moment(at: .milliseconds(1001)))
    log.write(event: "third", at: moment(at: .milliseconds(1004)))
    #expect(try folder.events() == ["first"])
    let due = MonotonicTime(nanoseconds: 1_005_000_000)
    #expect(log.nextFlush == due)
    log.flushIfDue(MonotonicTime(nanoseconds: 1_004_999_999))
    #expect(try folder.events() == ["first"])
    log.flushIfDue(due)
    #expect(try folder.events() == ["first", "second", "third"])
    log.write(event: "fourth", at: moment(at: .milliseconds(1010)))
    #expect(try folder.events().last == "fourth")
  }

  @Test("starts every line with its own time and level; time goes back only with the calendar's clock")
  func heads() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open()
    var moments = [1000, 1000, 1001, 1001, 1000, 1002].map { moment(at: .milliseconds($0)) }
    moments[5].wall.milliseconds -= 3
    let levels: [LogLevel] = [.info, .info, .info, .warn, .warn, .warn]
    for (moment, level) in zip(moments, levels) { log.write(event: "seen", level: level, at: moment) }
    log.flush()
    let lines = try folder.text().split(separator: "\n").map { $0.split(separator: " ") }
    #expect(
      lines.map { String($0[0].suffix(5)) } == [".000Z", ".000Z", ".001Z", ".001Z", ".001Z", ".999Z"],
      "\(lines)")
    #expect(lines.map { String($0[1]) } == levels.map { "level=\($0)" })
  }

  @Test("writes fields that were prepared before, and others in their place") func fragments() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open()
    var fragment = LogFragment()
    for ticket in 7...8 {
      fragment.replace {
        $0.field("ticket", ticket)
        $0.field("payload", "a b")
      }
      for event in [0, 1] {
        log.write(event: "seen", at: moment(at: .seconds(1))) {
          $0.fields(fragment)
          $0.field("event", event)
        }
      }
    }
    log.flush()
    let ends = try folder.text().split(separator: "\n").map { $0.split(separator: "event=seen ")[1] }
    #expect(
      ends
        == [7, 7, 8, 8].enumerated().map { "ticket=\($1) payload=\"a b\" event=\($0 % 2)" }.map { $0[...] })
  }

  @Test("a flush writes waiting lines") func flush() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open()
    log.write(event: "first", at: moment(at: .seconds(1)))
    log.write(event: "second", at: moment(at: .seconds(1)))
    log.flush()
    #expect(try folder.events() == ["first", "second"])
    #expect(log.nextFlush == nil)
  }

  @Test("holds no more than its buffer while it batches") func bounded() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open()
    for _ in 0..<100 {
      log.write(event: "long", at: moment(at: .seconds(1))) {
        $0.field("msg", String(repeating: "x", count: 4000))
      }
    }
    #expect(try folder.text().utf8.count > 300_000)
    #expect(log.dropped == 0)
  }

  @Test("continues at the end of an existing file") func appends() throws {
    let folder = try TemporaryLogDirectory()
    try folder.open().write(event: "first", at: moment(at: .seconds(1)))
    try folder.open().write(event: "second", at: moment(at: .seconds(2)))
    #expect(try folder.events() == ["first", "second"])
  }

  @Test("closes a line that a crash has cut, so that the next one is whole") func cut() throws {
    let folder = try TemporaryLogDirectory()
    try folder.write("ts=2026-11-21T08:00:00.000Z level=info wor")
    try folder.open().write(event: "after", at: moment(at: .seconds(1)))
    let lines = try folder.text().split(separator: "\n")
    #expect(lines.count == 2)
    #expect(LogLine.parse(Array(lines[0].utf8)) == nil)
    #expect(LogLine.parse(Array(lines[1].utf8))?["event"] == "after")
  }

  @Test("rotates between lines, keeps the configured number of files, and loses none of those") func rotates()
    throws
  {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open(limit: 1000, keep: 3)
    for number in 1...200 {
      log.write(event: "tick", at: moment(at: .milliseconds(Int64(number)))) { $0.field("number", number) }
    }
    log.flush()
    var numbers: [Int] = []
    for name in [".3", ".2", ".1", ""] {
      let text = try folder.text(name)
      #expect(text.utf8.count <= 1000)
      #expect(text.hasSuffix("\n"))
      numbers += text.split(separator: "\n").compactMap { LogLine.parse(Array($0.utf8))?["number"] }
        .compactMap { Int($0) }
    }
    #expect(numbers == Array((201 - numbers.count)...200))
    #expect(numbers.count > 30)
    #expect(try FileMetadata.inspect(folder.log + ".4") == nil)
  }

  @Test("without kept files a rotation starts an empty file") func keepsNone() throws {
    let folder = try TemporaryLogDirectory()
    let log = try folder.open(limit: 300, keep: 0)
    for number in 1...20 { log.write(event: "tick", at: moment(at: .seconds(Int64(number)))) }
    #expect(try folder.text().utf8.count <= 300)
    #expect(try FileMetadata.inspect(folder.log + ".1") == nil)
  }

  @Test("continues in the open file when a rotation fails") func rotationFails() throws {
    let folder = try TemporaryLogDirectory()
    try Directory.create(path: folder.log + ".1")
    let log = try folder.open(limit: 300, keep: 1)
    for number in 1...20 { log.write(event: "tick", at: moment(at: .seconds(Int64(number)))) }
    #expect(try folder.events().count == 20)
    #expect(log.dropped == 0)
  }

  @Test("without a descriptor for the new file the log keeps its name, and nothing is renamed")
  func rotationWithoutDescriptors() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryLogDirectory()
      let log = try folder.open(limit: 300, keep: 2)
      for name in [".1", ".2"] {
        try FileDescriptor.open(folder.log + name, [.writeOnly, .create], mode: 0o600).writeAll(
          Array(name.utf8))
      }
      var former = rlimit()
      try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former) == 0)
      var none = rlimit(rlim_cur: 3, rlim_max: former.rlim_max)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
      for number in 1...20 { log.write(event: "tick", at: moment(at: .seconds(Int64(number)))) }
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &former) == 0)
      #expect(try folder.events().count == 20)
      #expect(try [".1", ".2"].map { try folder.text($0) } == [".1", ".2"])
      #expect(log.dropped == 0)
      // With descriptors it rotates again.
      for number in 21...40 { log.write(event: "tick", at: moment(at: .seconds(Int64(number)))) }
      #expect(try folder.text().utf8.count <= 300 && FileMetadata.inspect(folder.log + ".new") == nil)
    }
  }

  @Test("a log whose file cannot be opened is a typed error that names it") func cannotOpen() throws {
    let folder = try TemporaryLogDirectory()
    let error = #expect(throws: SystemError.self) {
      try LogFile(path: folder.path + "/no/x.log", worker: "w", generation: 1, limit: 0, keep: 0)
    }
    #expect(error?.subject == folder.path + "/no/x.log")
  }

  @Test("a full disk ends nothing: lines are counted, and the next success gives the missing number")
  func fullDisk() throws {
    // A pipe that is not read takes a limited amount, like a disk.
    let folder = try TemporaryLogDirectory()
    #expect(mkfifo(folder.log, 0o600) == 0)
    let reader = try FileDescriptor.open(folder.log, [.readOnly, .nonBlocking])
    let log = try folder.open()
    let padding = String(repeating: "p", count: 1000)
    var written = 0
    while log.dropped < 10 {
      written += 1
      log.write(event: "tick", at: moment(at: .seconds(Int64(written)))) {
        $0.field("number", written)
        $0.field("msg", padding)
      }
      try #require(written < 10_000)
    }
    var text = try drain(reader)
    log.write(event: "tick", at: moment(at: .seconds(Int64(written + 10)))) {
      $0.field("number", written + 1)
    }
    log.flush()
    text += try drain(reader)
    log.flush()
    text += try drain(reader)
    let lines = text.split(separator: 0x0a).map { LogLine.parse($0) }
    #expect(!lines.contains(nil))
    let numbers = lines.compactMap { $0?["number"] }.compactMap { Int($0) }
    #expect(numbers == Array(1...(written - 10)) + [written + 1])
    let note = try #require(lines.compactMap { $0 }.first { $0["event"] == "log_dropped" })
    #expect(note["count"] == "10")
    #expect(note.level == .warn)
    #expect(log.dropped == 0)
    #expect(log.nextFlush == nil)
  }

  @Test("while the disk is full, a write is tried once a second") func retry() throws {
    let folder = try TemporaryLogDirectory()
    try #require(symlink("/dev/full", folder.log) == 0)
    let log = try folder.open()
    log.write(event: "lost", at: moment(at: .seconds(1)))
    #expect(log.nextFlush == MonotonicTime(nanoseconds: 2_000_000_000))
    log.flushIfDue(MonotonicTime(nanoseconds: 2_000_000_000))
    #expect(log.nextFlush == MonotonicTime(nanoseconds: 3_000_000_000))
  }

  private func drain(_ reader: borrowing FileDescriptor) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(reader.rawValue, $0.baseAddress, $0.count) }
      guard count > 0 else { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }
}

/// A time this long after 08:00 of the day of the contract's example.
func moment(at offset: TimeSpan) -> Moment {
  Moment(
    monotonic: MonotonicTime(nanoseconds: offset.nanoseconds),
    wall: WallTime(milliseconds: 1_795_248_000_000 + offset.milliseconds))
}

/// A directory of its own that is removed with the test.
final class TemporaryLogDirectory {
  let path: String
  var log: String { path + "/x.log" }

  init() throws {
    path = "/tmp/logbook-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: path)
  }

  deinit {
    for name in (try? Directory.entries(of: path)) ?? [] { _ = Glibc.remove("\(path)/\(name)") }
    _ = Glibc.rmdir(path)
  }

  func open(limit: Int64 = 1 << 20, keep: Int32 = 3) throws -> LogFile {
    try LogFile(path: log, worker: "w", pid: 1, generation: 1, limit: limit, keep: keep)
  }

  func text(_ suffix: String = "") throws -> String {
    String(decoding: try FileDescriptor.open(log + suffix, .readOnly).readAll(), as: UTF8.self)
  }

  func write(_ text: String) throws {
    try FileDescriptor.open(log, [.writeOnly, .create]).writeAll(Array(text.utf8))
  }

  func events() throws -> [String] {
    try text().split(separator: "\n").map { LogLine.parse(Array($0.utf8))?["event"] ?? "?" }
  }
}
