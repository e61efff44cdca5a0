// Owns reading one worker's log as one stream of lines, over all of its files and over rotations that happen
// meanwhile. Invariant: every whole line is handed out once, in the order of the files; a line that is being
// written is kept back until its line feed is there, or until the file it stands in has a successor. Failure:
// LogFailure; the stream stays where it was.

final class WorkerLog: LogSource {
  let name: String
  private let directory: LogDirectory
  private let buffer = LineBuffer()
  /// The file that is being read, and those that came after it.
  private var segments: [LogSegment] = []
  /// The next byte to read of the first of them.
  private var offset: Int64 = 0
  /// Up to where the last of them is read; nil while following.
  private var limit: Int64?
  /// The files that were read or left out last. It is how the files before the one that is open are known
  /// again when that one has been removed.
  private var past: [LogSegment.Fingerprint] = []
  /// The directory is gone, so that the last file cannot have a successor there.
  private var isGone = false
  private var time = LogRecord.unknownTime
  /// More files than a log has at a time.
  private static let remembered = 64
  private var bytesReadBefore: Int64 = 0

  var bytesRead: Int64 { segments.reduce(bytesReadBefore) { $0 + $1.bytesRead } }

  /// Opens the files that there are now; the stream ends at their present end until ``follow()``.
  init(_ name: String, in directory: LogDirectory) throws(LogFailure) {
    self.name = name
    self.directory = directory
    segments = try directory.segments(of: name) { _ in false }
    limit = segments.last?.sizeAtOpening ?? 0
  }

  func next() throws(LogFailure) -> LogRecord? {
    while true {
      if let line = buffer.nextLine() { return record(line) }
      guard let segment = segments.first else { return nil }
      if try fill(from: segment) > 0 { continue }
      if segments.count > 1 || isGone {
        try leave(segment)
        if let line = buffer.lastLine() { return record(line) }
      } else if limit == nil, try segment.size() < offset {
        // The file was cut: what is in it now was written since.
        buffer.discard()
        offset = 0
      } else {
        return nil
      }
    }
  }

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

  private func leave(_ segment: LogSegment) throws(LogFailure) {
    past.append(try segment.fingerprint())
    if past.count > Self.remembered { past.removeFirst() }
    bytesReadBefore += segment.bytesRead
    segments.removeFirst()
    offset = 0
  }

  private func record(_ line: [UInt8]) -> LogRecord {
    if let stamp = LogTime.stamp(of: line) { time = max(time, stamp) }
    return LogRecord(worker: name, time: time, line: line)
  }

  // MARK: Following

  /// From now on the stream has no end: ``next()`` says nil and may have more later.
  func follow() { limit = nil }

  /// The directory is gone: what is left in the open files is read, and then they are let go, because an open
  /// file keeps the kernel from telling that the directories above were removed too.
  func letGo() { isGone = true }

  /// Looks whether files were rotated, or the present one replaced, and reads on in the new ones after it.
  func lookForSuccessors() throws(LogFailure) {
    let found = try directory.segments(of: name) { (met) throws(LogFailure) in
      if segments.contains(where: { $0.identity == met.identity }) { return true }
      return past.contains(try met.fingerprint())
    }
    segments += found
    if !found.isEmpty { isGone = false }
  }

  // MARK: Where to begin

  /// Leaves out everything but the last `count` lines, without reading what is left out.
  ///
  /// - Returns: how many lines are left, at most `count`.
  func keep(last count: Int) throws(LogFailure) -> Int {
    var lines = 0
    for index in segments.indices.reversed() {
      let segment = segments[index]
      let isLast = index == segments.count - 1
      let end = isLast ? limit ?? segment.sizeAtOpening : try segment.size()
      let place = try segment.place(ofLast: count - lines, before: end, isFinished: !isLast)
      lines += place.lines
      if lines == count {
        try begin(in: index, at: place.offset)
        return lines
      }
    }
    return lines
  }

  /// Leaves out lines before a time as far as that needs no reading; a few of them may be left.
  func skip(before time: Int64) throws(LogFailure) {
    for index in segments.indices.reversed() {
      let segment = segments[index]
      let end = index == segments.count - 1 ? limit ?? segment.sizeAtOpening : try segment.size()
      guard let first = try segment.firstStamp(from: 0, before: end) else { continue }
      if first.time < time { return try begin(in: index, at: segment.offset(near: time, before: end)) }
    }
  }

  /// Goes to a place, and finds out what time it is there in case that the first line does not say.
  private func begin(in index: Int, at place: Int64) throws(LogFailure) {
    var stamp = place > 0 ? try segments[index].stamp(before: place) : nil
    for earlier in segments[..<index].reversed() where stamp == nil && place <= LogSegment.stride {
      stamp = try earlier.stamp(before: earlier.size())
    }
    for segment in segments[..<index] { try leave(segment) }
    offset = place
    time = stamp ?? LogRecord.unknownTime
  }
}
