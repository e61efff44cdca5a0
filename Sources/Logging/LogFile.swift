// Log file of one process: the line in progress, the buffered lines, and the file.
// Invariant: the lines of the file are in order. A crash or a full disk may cut the last line: the same process
// completes it with its next write, and the next process ends it with a line feed. A removed or renamed file is created
// again, and lines are buffered in the meantime.
// Errors: opening throws. No later error ends the process: lines that cannot be stored are counted, and a later line
// reports their number.
import BankModel
import Posix
import Time

/// Writes the log of one process.
///
/// If the last write is less than ``gathering`` ago, a line is buffered until a later line or ``flushIfDue(_:)`` writes
/// it. This saves a busy process most of its writes.
public final class LogFile {
  /// Time after a write during which further lines are buffered.
  public static let gathering: TimeSpan = .milliseconds(5)
  /// Delay before a failed write is retried.
  public static let retry: TimeSpan = .seconds(1)
  /// Maximum number of buffered bytes.
  static let bufferLimit = 64 << 10
  /// Path of the file.
  public let path: String
  /// Number of lines lost after the last line that reported lost lines.
  public private(set) var dropped = 0
  /// Size in bytes at which the file is rotated; `Int64.max` for no limit.
  let limit: Int64
  /// Number of rotated files to keep.
  let keep: Int32
  var descriptor: FileDescriptor
  /// Size of the file, as known to this process.
  var size: Int64
  /// Size of the file above which a line requires a rotation first. It exceeds `limit` after a failed rotation.
  var rotationSize: Int64
  /// Time at which the path was first found not to refer to the open file; nil while the path refers to it.
  var missingSince: MonotonicTime?
  /// The fields `worker`, `pid` and `gen`, and the key of the event.
  private let identity: [UInt8]
  /// Cached start of the lines of one level and millisecond, because formatting the time is expensive.
  private var linePrefix: [UInt8] = []
  private var prefixTime: WallTime?
  private var prefixLevel = LogLevel.info
  private var buffer: [UInt8] = []
  /// Time of the last flush, also of a failed one.
  private var lastWrite = MonotonicTime(nanoseconds: 0)
  /// Time of the last line.
  private var latest: Moment?
  /// True after a failed flush, until one succeeds.
  private var isFailing = false
  /// True while a caller adds the fields of a line.
  private var isFilling = false

  /// Opens a log for appending, or creates it with mode 0600. `open(2)` O_APPEND
  ///
  /// The lines contain the name of the log, such as `deposit-1`, the pid and the generation.
  /// - Parameters:
  ///   - limit: file size in bytes at which the file becomes `path.1`; below 1 for no limit.
  ///   - keep: number of rotated files: `path.1`, `path.2` …
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

  /// Writes an event, or buffers it for the next flush.
  ///
  /// - Parameters:
  ///   - event: name of the event, of ASCII letters and `_`.
  ///   - moment: time of the event, on both clocks.
  ///   - fill: adds the event's own fields, `msg` last by convention. It must not write to this log.
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

  /// Deadline for the next call of ``flushIfDue(_:)``; nil while nothing is buffered.
  public var nextFlush: MonotonicTime? {
    buffer.isEmpty ? nil : lastWrite + (isFailing ? Self.retry : Self.gathering)
  }

  /// Writes the buffered lines if they are due.
  public func flushIfDue(_ now: MonotonicTime) {
    if let nextFlush, now >= nextFlush { flush(at: now) }
  }

  /// Writes the buffered lines now. Call it at the end of a process, and before any step that may end the process.
  public func flush() { flush(at: SystemClock.monotonic(), isLast: true) }

  private func append(
    _ event: StaticString, _ level: LogLevel, _ moment: Moment, _ now: MonotonicTime,
    _ fill: (inout LogFields) -> Void
  ) {
    precondition(!isFilling, "an event is not written from within another")
    isFilling = true
    var moment = moment
    // A caller may have read the clock before the previous line was written. In this case its line gets the time of
    // the previous line.
    if let latest, moment.monotonic < latest.monotonic { moment = latest }
    latest = moment
    let begin = buffer.count
    // The buffer is swapped into the fields and back, so that the line is formatted in place.
    var fields = LogFields(continuing: [])
    swap(&fields.bytes, &buffer)
    if moment.wall != prefixTime || level != prefixLevel { makeLinePrefix(level, moment.wall) }
    fields.bytes.append(contentsOf: linePrefix)
    fields.append(event)
    fill(&fields)
    fields.bytes.append(UInt8(ascii: "\n"))
    swap(&fields.bytes, &buffer)
    isFilling = false
    rotateIfNeeded(forLineAt: begin, now)
  }

  private func makeLinePrefix(_ level: LogLevel, _ moment: WallTime) {
    linePrefix.removeAll(keepingCapacity: true)
    linePrefix.append(contentsOf: "ts=".utf8)
    Timestamp.appendUTC(milliseconds: moment.milliseconds, to: &linePrefix)
    let label = Self.label(level)
    linePrefix.append(contentsOf: UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount))
    linePrefix.append(contentsOf: identity)
    prefixTime = moment
    prefixLevel = level
  }

  /// Rotates before a line that would make the file too long. Drops the line if the buffer is full and cannot be
  /// written.
  private func rotateIfNeeded(forLineAt begin: Int, _ now: MonotonicTime) {
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
    // The buffer was within its limit before its last line was appended. This line is dropped as a whole.
    let end = buffer.count - 1
    let start = buffer[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    buffer.removeSubrange(start...)
    dropped += 1
  }

  /// Writes the buffer. `isLast` skips the check that the path still refers to the open file.
  private func flush(at now: MonotonicTime, isLast: Bool = false) {
    guard !buffer.isEmpty else { return }
    var written = 0
    isFailing = !isLast && !ensureFileExists(at: now)
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
    // After a failed write the buffer keeps the unwritten bytes, which may start in the middle of a line.
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
