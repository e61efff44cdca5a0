// Owns one worker's log file: the line that is being written, the lines that wait, and the file behind them.
// It must not know what events mean. One process writes one file; readers only read. Invariant: the file
// holds whole lines in order, apart from the end of one that a crash or a full disk has cut, which the next
// writer completes or closes. At most 64 KiB wait in memory. A file that somebody has removed or renamed is
// made anew; until then the lines wait. Failure: opening throws. Afterwards nothing here ends or delays the
// process: lines that cannot be kept are counted, and the next line that can be says how many are missing.
import BankModel
import Posix
import Time

/// Writes the log of one worker.
///
/// A line after a quiet time is written at once. Lines that follow within ``gathering`` of the last write wait for
/// ``flushIfDue(_:)``, so that a busy worker makes some two hundred writes a second and not one a line. Not Sendable.
public final class LogFile {
  /// How long after a write the next lines are gathered.
  public static let gathering: TimeSpan = .milliseconds(5)
  /// How long after a failed write the next is tried.
  public static let retry: TimeSpan = .seconds(1)
  static let bufferLimit = 64 << 10
  /// The file.
  public let path: String
  /// How many lines could not be kept since the last one that said so.
  public private(set) var dropped = 0
  let limit: Int64
  let keep: Int32
  var descriptor: FileDescriptor
  /// How long the file is, as far as this process knows.
  var size: Int64
  /// The file is rotated before a line that would take it beyond this; later than the limit where a rotation failed.
  var rotationSize: Int64
  /// Since when the name does not lead to the open file; nil while it does.
  var missingSince: MonotonicTime?
  private let identity: [UInt8]
  /// How every line of one level and one millisecond begins: a busy worker writes dozens of them, and to write the time
  /// alone took 750 instructions of a customer with two lines, by callgrind.
  private var head: [UInt8] = []
  private var headMoment: WallTime?
  private var headLevel = LogLevel.info
  private var buffer: [UInt8] = []
  private var lastWrite = MonotonicTime(nanoseconds: 0)
  private var latest: Moment?
  private var isFailing = false
  private var isFilling = false

  /// Opens a log, or makes one with 0600, to write at its end. `open(2)` O_APPEND
  ///
  /// Every line names the worker, such as `deposit-1`, the process, and the generation.
  /// - Parameters:
  ///   - limit: bytes that the file may have before it becomes `path.1`; below 1 for no limit.
  ///   - keep: how many rotated files are kept: `path.1`, `path.2` …
  public init(
    path: String, worker: String, pid: Int32 = CurrentProcess.pid, generation: Int32, limit: Int64,
    keep: Int32
  ) throws(SystemError) {
    let descriptor = try Self.open(path)
    let size = try descriptor.size()
    self.path = path
    self.limit = limit > 0 ? limit : .max
    self.keep = max(0, keep)
    self.size = size
    rotationSize = self.limit
    self.descriptor = descriptor
    var fields = LogFields(continuing: [])
    fields.field("worker", worker)
    fields.field("pid", pid)
    fields.field("gen", generation)
    fields.append(" event=")
    identity = fields.bytes
    buffer.reserveCapacity(4096)
    if Self.isCut(path, size: size) { buffer.append(UInt8(ascii: "\n")) }
  }

  /// Writes an event, or keeps it for the next flush.
  ///
  /// - Parameters:
  ///   - event: what happened, a word of ASCII letters and `_`.
  ///   - moment: when, on both clocks.
  ///   - fill: adds the event's own fields, `msg` last by custom. It must not write to this log.
  public func write(
    event: StaticString, level: LogLevel = .info, at moment: Moment = SystemClock.moment(),
    _ fill: (inout LogFields) -> Void = { _ in }
  ) {
    let now = moment.monotonic
    if isFailing { flushIfDue(now) }
    if dropped > 0, !isFailing {
      let count = dropped
      dropped = 0
      append("log_dropped", .warn, moment, now) { $0.field("count", count) }
    }
    append(event, level, moment, now, fill)
    if !isFailing, now.since(lastWrite) >= Self.gathering { flush(at: now) }
  }

  /// When ``flushIfDue(_:)`` wants to be called; nil while nothing waits.
  public var nextFlush: MonotonicTime? {
    buffer.isEmpty ? nil : lastWrite + (isFailing ? Self.retry : Self.gathering)
  }

  /// Writes what waits, if it has waited long enough.
  public func flushIfDue(_ now: MonotonicTime) {
    if let nextFlush, now >= nextFlush { flush(at: now) }
  }

  /// Writes what waits, now. For the end of a process, and before anything that may end it.
  public func flush() { flush(at: SystemClock.monotonic(), isLast: true) }

  private func append(
    _ event: StaticString, _ level: LogLevel, _ moment: Moment, _ now: MonotonicTime,
    _ fill: (inout LogFields) -> Void
  ) {
    precondition(!isFilling, "an event is not written from within another")
    isFilling = true
    var moment = moment
    // Whoever looked at the clock before somebody who has written meanwhile writes after that line all the same.
    if let latest, moment.monotonic < latest.monotonic { moment = latest }
    latest = moment
    let begin = buffer.count
    // The buffer moves into the fields and back, so that the line is made where it stays.
    var fields = LogFields(continuing: [])
    swap(&fields.bytes, &buffer)
    if moment.wall != headMoment || level != headLevel { makeHead(level, moment.wall) }
    fields.bytes.append(contentsOf: head)
    fields.append(event)
    fill(&fields)
    fields.bytes.append(UInt8(ascii: "\n"))
    swap(&fields.bytes, &buffer)
    isFilling = false
    makeRoom(forLineAt: begin, now)
  }

  private func makeHead(_ level: LogLevel, _ moment: WallTime) {
    head.removeAll(keepingCapacity: true)
    head.append(contentsOf: "ts=".utf8)
    Timestamp.appendUTC(milliseconds: moment.milliseconds, to: &head)
    let label = Self.label(level)
    head.append(contentsOf: UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount))
    head.append(contentsOf: identity)
    headMoment = moment
    headLevel = level
  }

  /// Rotates before a line that would make the file too long, and drops the line where there is no room for it.
  private func makeRoom(forLineAt begin: Int, _ now: MonotonicTime) {
    if size + Int64(buffer.count) > rotationSize, size + Int64(begin) > 0, !isFailing {
      let line = Array(buffer[begin...])
      buffer.removeSubrange(begin...)
      flush(at: now)
      if buffer.isEmpty { rotate() }
      buffer.append(contentsOf: line)
    }
    guard buffer.count > Self.bufferLimit else { return }
    if !isFailing { flush(at: now) }
    guard isFailing, buffer.count > Self.bufferLimit else { return }
    // Without its last line the buffer was small enough, and lines are dropped whole.
    let end = buffer.count - 1
    let start = buffer[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    buffer.removeSubrange(start...)
    dropped += 1
  }

  private func flush(at now: MonotonicTime, isLast: Bool = false) {
    guard !buffer.isEmpty else { return }
    var written = 0
    isFailing = !isLast && !hasPlace(at: now)
    if isFailing { lastWrite = now }
    while written < buffer.count, !isFailing {
      let result = buffer.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in
          try descriptor.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))
        }
      }
      if case .success(.bytes(let count)) = result { written += count } else { isFailing = true }
    }
    size += Int64(written)
    lastWrite = now
    // After a failure the rest stays, beginning with the end of a line that was cut.
    if written == buffer.count {
      buffer.removeAll(keepingCapacity: true)
    } else {
      buffer.removeSubrange(..<written)
    }
  }

  private static func label(_ level: LogLevel) -> StaticString {
    switch level {
    case .debug: " level=debug"
    case .info: " level=info"
    case .warn: " level=warn"
    case .error: " level=error"
    }
  }
}
