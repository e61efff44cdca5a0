// One log as a stream of lines, across all of its files and rotations.
// Invariant: the lines are returned once, in the order of the files. A line in progress is returned when its line feed
// is written, its file has a successor, or the directory was removed.
// Errors: `LogFailure`; the position in the stream does not change.

final class WorkerLog: LogSource {
  let name: String
  private let directory: LogDirectory
  private let buffer = LineBuffer()
  /// The file that is being read, followed by its successors.
  private var segments: [LogSegment] = []
  /// Next byte to read in the first segment.
  private var offset: Int64 = 0
  /// Offset in the last segment at which reading ends; nil while the log is followed.
  private var limit: Int64?
  /// Fingerprints of the files that were read or skipped last. They identify older files after the open file was
  /// removed.
  private var finishedFiles: [LogSegment.Fingerprint] = []
  /// True after the directory was removed, so that the last file can have no successor in it.
  private var isDirectoryRemoved = false
  /// Latest time stamp so far.
  private var time = LogRecord.unknownTime
  /// Maximum number of fingerprints.
  private static let maxFinishedFiles = 64
  /// Number of bytes read from files that are closed now.
  private var bytesReadBefore: Int64 = 0

  var bytesRead: Int64 { segments.reduce(bytesReadBefore) { $0 + $1.bytesRead } }

  /// Opens the existing files. The stream ends at their present end until ``follow()``.
  init(_ name: String, in directory: LogDirectory) throws(LogFailure) {
    self.name = name
    self.directory = directory
    segments = try directory.segments(of: name) { _ in false }
    limit = segments.last?.sizeAtOpening ?? 0
  }

  /// The next line; nil if none is complete at the moment.
  func next() throws(LogFailure) -> LogRecord? {
    while true {
      if let line = buffer.nextLine() { return record(line) }
      guard let segment = segments.first else { return nil }
      if try fill(from: segment) > 0 { continue }
      if segments.count > 1 || isDirectoryRemoved {
        try finishSegment(segment)
        if let line = buffer.lastLine() { return record(line) }
      } else if limit == nil, try segment.size() < offset {
        // The file was truncated, so it is read again from its start.
        buffer.discard()
        offset = 0
      } else {
        return nil
      }
    }
  }

  /// Reads the next bytes of a file into the buffer; returns their number.
  private func fill(from segment: LogSegment) throws(LogFailure) -> Int {
    let room = segments.count == 1 ? limit.map { max(0, $0 - offset) } : nil
    guard room != 0 else { return 0 }
    let count = try buffer.fill { (target) throws(LogFailure) in
      let part = room.map { UnsafeMutableRawBufferPointer(rebasing: target.prefix(Int(clamping: $0))) }
      return try segment.read(into: part ?? target, at: offset)
    }
    offset += Int64(count)
    return count
  }

  /// Closes the first file, and remembers its fingerprint.
  private func finishSegment(_ segment: LogSegment) throws(LogFailure) {
    finishedFiles.append(try segment.fingerprint())
    if finishedFiles.count > Self.maxFinishedFiles { finishedFiles.removeFirst() }
    bytesReadBefore += segment.bytesRead
    segments.removeFirst()
    offset = 0
  }

  /// The record of a line. A line without a time stamp gets the time of the preceding one.
  private func record(_ line: [UInt8]) -> LogRecord {
    if let stamp = LogTime.stamp(of: line) { time = max(time, stamp) }
    return LogRecord(worker: name, time: time, line: line)
  }

  // MARK: Following

  /// Removes the end of the stream: ``next()`` may return further lines after it has returned nil.
  func follow() { limit = nil }

  /// Records the removal of the directory: ``next()`` reads the rest of the open files and then closes them. An open
  /// file would keep the kernel from reporting the removal of parent directories.
  func handleDirectoryRemoval() { isDirectoryRemoved = true }

  /// Opens files that a rotation or a replacement has created. They are read after the present file.
  func findSuccessors() throws(LogFailure) {
    let found = try directory.segments(of: name) { (met) throws(LogFailure) in
      if segments.contains(where: { $0.identity == met.identity }) { return true }
      return finishedFiles.contains(try met.fingerprint())
    }
    segments += found
    if !found.isEmpty { isDirectoryRemoved = false }
  }

  // MARK: Start position

  /// Skips all lines before the last `count`. Reads the files from their ends.
  ///
  /// - Returns: number of remaining lines, at most `count`.
  func skipAllBut(last count: Int) throws(LogFailure) -> Int {
    var lines = 0
    for index in segments.indices.reversed() {
      let segment = segments[index]
      let isLast = index == segments.count - 1
      let end = isLast ? limit ?? segment.sizeAtOpening : try segment.size()
      let position = try segment.position(ofLast: count - lines, before: end, isFinished: !isLast)
      lines += position.lines
      if lines == count {
        try begin(in: index, at: position.offset)
        return lines
      }
    }
    return lines
  }

  /// Skips lines before a time without reading all of them. Some earlier lines may remain.
  func skip(before time: Int64) throws(LogFailure) {
    for index in segments.indices.reversed() {
      let segment = segments[index]
      let end = index == segments.count - 1 ? limit ?? segment.sizeAtOpening : try segment.size()
      guard let first = try segment.firstStamp(from: 0, before: end) else { continue }
      if first.time < time { return try begin(in: index, at: segment.offset(near: time, before: end)) }
    }
  }

  /// Continues reading at this offset of the file with this index. Reads the last time stamp before it, for the case
  /// that the next line has none.
  private func begin(in index: Int, at position: Int64) throws(LogFailure) {
    var stamp = position > 0 ? try segments[index].stamp(before: position) : nil
    for earlier in segments[..<index].reversed() where stamp == nil && position <= LogSegment.stride {
      stamp = try earlier.stamp(before: earlier.size())
    }
    for segment in segments[..<index] { try finishSegment(segment) }
    offset = position
    time = stamp ?? LogRecord.unknownTime
  }
}
