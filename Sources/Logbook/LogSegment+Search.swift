// Owns finding a place in a log file without reading all of it: so many lines before the end, or the first
// line of a time. Invariant: a place found is the beginning of a line, or the end of what was looked at.
// Failure: LogFailure.system. Where a clock was set back, a search by time finds one of the places that fit.

extension LogSegment {
  struct Place: Equatable {
    /// Where the first of the lines begins, in bytes from the beginning of the file.
    let offset: Int64
    /// How many whole lines begin there or behind it.
    let lines: Int
  }

  /// How much is looked at at a time, in bytes.
  static let stride: Int64 = 64 << 10

  /// Where the last `count` lines before `end` begin; fewer lines where there are fewer.
  ///
  /// - Parameter isFinished: nobody writes to the file any more, so a last line without a line feed is whole.
  func place(ofLast count: Int, before end: Int64, isFinished: Bool) throws(LogFailure) -> Place {
    var feeds = 0
    var upper = end
    while upper > 0 {
      let lower = max(0, upper - Self.stride)
      let bytes = try read(lower..<upper)
      if upper == end, isFinished, let last = bytes.last, last != 0x0a {
        if count == 0 { return Place(offset: end, lines: 0) }
        feeds = 1
      }
      for index in bytes.indices.reversed() where bytes[index] == 0x0a {
        // This line feed ends the line before the ones that are wanted.
        if feeds == count { return Place(offset: lower + Int64(index) + 1, lines: count) }
        feeds += 1
      }
      upper = lower
    }
    return Place(offset: 0, lines: feeds)
  }

  /// The last time stamp before a place, within the 64 KiB before it; nil where there is none.
  func stamp(before offset: Int64) throws(LogFailure) -> Int64? {
    let bytes = try read(max(0, offset - Self.stride)..<offset)
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: true)
    // The first piece may be the middle of a line, and then it begins with no stamp.
    for line in lines.reversed() {
      if let stamp = LogTime.stamp(of: Array(line)) { return stamp }
    }
    return nil
  }

  /// The first time stamp of a line that begins behind `offset` (or there, at 0), and where that line begins.
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

  /// The beginning of a line that no line from `time` on stands before, near the first of them: reading on
  /// from there brings at most a few strides of earlier lines.
  func offset(near time: Int64, before end: Int64) throws(LogFailure) -> Int64 {
    // Every line before `lower` is earlier; `lower` is the beginning of a line.
    var lower: Int64 = 0
    var upper = end
    while upper - lower > 2 * Self.stride {
      let middle = lower + (upper - lower) / 2
      if let found = try firstStamp(from: middle, before: upper), found.time < time {
        lower = found.offset
      } else {
        // Also where no stamp was found: reading too much is right, reading too little is not.
        upper = middle
      }
    }
    return lower
  }
}
