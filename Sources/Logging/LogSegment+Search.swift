// Search in a log file without reading all of it: the last lines, or the first line of a time.
// Invariant: a result is the start of a line, or the end of the searched range.
// Errors: `LogFailure.system`. If a clock was set back, a search by time finds one of the matching
// positions.

extension LogSegment {
  /// Offset of the first of the last lines of a file, and the number of these lines.
  struct Position: Equatable {
    /// Start of the first line, in bytes from the start of the file.
    let offset: Int64
    /// Number of complete lines from there on.
    let lines: Int
  }

  /// Number of bytes per read.
  static let stride: Int64 = 64 << 10

  /// Returns the start of the last `count` lines before `end`, or of all lines if the file has fewer.
  ///
  /// - Parameter isFinished: true if no process writes to the file any more. A last line without a line feed is
  ///   complete in this case.
  func position(ofLast count: Int, before end: Int64, isFinished: Bool) throws(LogFailure) -> Position {
    var feeds = 0
    var upper = end
    while upper > 0 {
      let lower = max(0, upper - Self.stride)
      let bytes = try read(lower..<upper)
      if upper == end, isFinished, let last = bytes.last, last != 0x0a {
        if count == 0 { return Position(offset: end, lines: 0) }
        feeds = 1
      }
      for index in bytes.indices.reversed() where bytes[index] == 0x0a {
        // This line feed ends the line before the selected ones.
        if feeds == count { return Position(offset: lower + Int64(index) + 1, lines: count) }
        feeds += 1
      }
      upper = lower
    }
    return Position(offset: 0, lines: feeds)
  }

  /// The last time stamp in the ``stride`` bytes before an offset; nil if there is none.
  func stamp(before offset: Int64) throws(LogFailure) -> Int64? {
    let bytes = try read(max(0, offset - Self.stride)..<offset)
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: true)
    // The first piece may start in the middle of a line. A piece of a line normally contains no stamp.
    for line in lines.reversed() {
      if let stamp = LogTime.stamp(of: Array(line)) { return stamp }
    }
    return nil
  }

  /// The first time stamp of a complete line that starts after `offset`, and the start of this line; nil if the
  /// ``stride`` bytes from `offset` contain none. If `offset` is 0, the line may also start at `offset`.
  func firstStamp(from offset: Int64, before end: Int64) throws(LogFailure) -> (time: Int64, offset: Int64)? {
    let bytes = try read(offset..<min(end, offset + Self.stride))
    var start = 0
    if offset > 0 {
      guard let feed = bytes.firstIndex(of: 0x0a) else { return nil }
      start = feed + 1
    }
    while let feed = bytes[start...].firstIndex(of: 0x0a) {
      if let time = LogTime.stamp(of: Array(bytes[start..<feed])) { return (time, offset + Int64(start)) }
      start = feed + 1
    }
    return nil
  }

  /// Start of a line shortly before the first line of `time` or later, or of that line itself, by binary search. Lines
  /// have different lengths, so a step finds the first line after the middle.
  func offset(near time: Int64, before end: Int64) throws(LogFailure) -> Int64 {
    // `lower` is the start of a line. Unless a clock was set back, the lines before it are earlier than `time`.
    var lower: Int64 = 0
    var upper = end
    while upper - lower > 2 * Self.stride {
      let middle = lower + (upper - lower) / 2
      if let found = try firstStamp(from: middle, before: upper), found.time < time {
        lower = found.offset
      } else {
        // This branch also handles a range without a stamp. To start too early is correct; to start too late would
        // lose lines.
        upper = middle
      }
    }
    return lower
  }
}
