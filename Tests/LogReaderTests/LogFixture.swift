// A directory of logs for the time of a test, and the writer's side of it: lines, rotation. It writes as the
// bank does: a line in one piece, a rotation by renaming from the old end on. Failure: a test that cannot
// write its files traps.
import BankModel
import Glibc
import Posix
import Testing

@testable import Logging

/// A home with logs in it, removed at the end.
final class LogFixture: Sendable {
  let home: String
  var logs: String { home + "/logs" }

  init(withLogs: Bool = true) {
    var template = Array("/tmp/bank-logs-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "the test has a directory of its own")
    home = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if withLogs { makeLogs() }
  }

  deinit { Directory.removeTree(home) }

  func makeLogs() { precondition(mkdir(logs, 0o700) == 0) }

  /// Appends text to `NAME`, such as `loan-1.log`.
  func append(_ text: String, to name: String) { append(Array(text.utf8), to: name) }

  func append(_ bytes: [UInt8], to name: String) {
    let file = open("\(logs)/\(name)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    precondition(file >= 0, "\(name) can be written")
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + done, $0.count - done) }
      precondition(count > 0)
      done += count
    }
  }

  func move(_ old: String, to new: String) { precondition(rename("\(logs)/\(old)", "\(logs)/\(new)") == 0) }

  func delete(_ name: String) { precondition(unlink("\(logs)/\(name)") == 0) }

  func makePipe(_ name: String) { precondition(mkfifo("\(logs)/\(name)", 0o600) == 0) }

  func cut(_ name: String) { precondition(truncate("\(logs)/\(name)", 0) == 0) }

  /// Renames `NAME.log` to `NAME.log.1` and so on; of the old files `keep` stay.
  func rotate(_ worker: String, keep: Int = 3) {
    for age in (0..<keep).reversed() {
      let old = age == 0 ? "\(worker).log" : "\(worker).log.\(age)"
      // Not every age exists.
      _ = rename("\(logs)/\(old)", "\(logs)/\(worker).log.\(age + 1)")
    }
  }
}

/// Lines as a worker would write them.
enum Sample {
  /// 2026-11-21T08:00:00Z.
  static let morning: Int64 = 1_795_248_000_000

  static func line(_ worker: String, _ number: Int, at time: Int64) -> String {
    "ts=\(Timestamp.utc(milliseconds: time)) level=info worker=\(worker) pid=42 gen=1 event=started "
      + "ticket=\(number)"
  }
}

extension LogRecord {
  var text: String { String(decoding: line, as: UTF8.self) }
}

extension LogReader {
  func all() throws -> [LogRecord] {
    var records: [LogRecord] = []
    while let record = try next() { records.append(record) }
    return records
  }
}

/// The expected result of a merge, found in the plainest way: all lines of all workers, sorted by time, name
/// and place.
func naiveMerge(_ logs: [String: [String]]) -> [LogRecord] {
  var placed: [(record: LogRecord, place: Int)] = []
  for (worker, lines) in logs {
    var time = LogRecord.unknownTime
    for (place, line) in lines.enumerated() {
      time = max(time, LogLine.parse(Array(line.utf8))?.timestamp ?? time)
      placed.append((LogRecord(worker: worker, time: time, line: Array(line.utf8)), place))
    }
  }
  placed.sort { ($0.record.time, $0.record.worker, $0.place) < ($1.record.time, $1.record.worker, $1.place) }
  return placed.map(\.record)
}

/// The seed of a randomised test: a new one each run, or the one in BANK_SEED.
func testSeed(_ test: String) -> UInt64 {
  let seed =
    Environment.value("BANK_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64(UInt32.max))
  print("\(test): repeat with BANK_SEED=\(seed) swift test --filter LogReaderTests")
  return seed
}

/// Random logs of a few workers; some lines have no time stamp, some clocks go back.
func randomLogs(_ random: inout SeededGenerator, clocksGoBack: Bool) -> [String: [String]] {
  var logs: [String: [String]] = [:]
  for worker in ["coordinator", "deposit-1", "deposit-2", "loan-1", "loan-10"].shuffled(using: &random)
    .prefix(Int(random.draw(1...5)))
  {
    var time = Sample.morning + random.draw(0...20)
    logs[worker] = (0..<Int(random.draw(0...60))).map { number in
      time += random.draw(clocksGoBack ? -5...6 : 0...6)
      switch random.draw(0...9) {
      case 0: return "line of another program \(number)"
      case 1: return ""
      case 2: return "level=info worker=\(worker) event=untimed ticket=\(number)"
      case 3: return "level=info ts=\(Timestamp.utc(milliseconds: time)) event=late msg=\"시작 \(number)\""
      default: return Sample.line(worker, number, at: time)
      }
    }
  }
  return logs
}
