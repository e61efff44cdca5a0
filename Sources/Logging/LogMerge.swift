// Merge of several logs: by time, then by name; lines of one log keep their order.
// Invariant: the merge stores at most one line of each source, so its memory does not grow with the length of the
// logs.
// Errors: the error of a source is rethrown. The stored lines are kept.

/// A log that returns its lines one by one.
public protocol LogSource: AnyObject {
  /// Returns the next line, or nil if the source has none at the moment. More lines may follow if a process still
  /// writes to the source.
  func next() throws(LogFailure) -> LogRecord?
}

/// Merge of the lines of several sources by time.
public struct LogMerge<Source: LogSource> {
  /// The next line of one source.
  private struct Head {
    let record: LogRecord
    let source: Source

    /// Order of the heap. Lines with the same time are ordered by the names of their logs.
    static func < (left: Head, right: Head) -> Bool {
      if left.record.time != right.record.time { return left.record.time < right.record.time }
      return left.record.worker < right.record.worker
    }
  }

  /// A binary heap: the children of `i` are `2i + 1` and `2i + 2`, and none is before its parent.
  private var heap: [Head] = []
  /// Sources of which no line is stored.
  private var exhausted: [Source]

  /// Creates a merge of sources with different names. Their lines are not read before the first ``refill()``.
  public init(_ sources: [Source]) { exhausted = sources }

  /// Adds a source. Its first line is read by the next ``refill()``.
  public mutating func add(_ source: Source) { exhausted.append(source) }
  /// The next line; nil if none is stored.
  public var first: LogRecord? { heap.first?.record }

  /// Reads a line from each source of which no line is stored.
  public mutating func refill() throws(LogFailure) {
    var still: [Source] = []
    var waiting = exhausted[...]
    // If a source fails, the sources not read yet stay in `exhausted`.
    defer { exhausted = still + waiting }
    while let source = waiting.first {
      if let record = try source.next() {
        insert(Head(record: record, source: source))
      } else {
        still.append(source)
      }
      waiting.removeFirst()
    }
  }

  /// Removes and returns the next line, or returns nil if no line is stored. A source without a further line is read
  /// again by ``refill()``.
  public mutating func next() throws(LogFailure) -> LogRecord? {
    guard let head = heap.first else { return nil }
    if let following = try head.source.next() {
      heap[0] = Head(record: following, source: head.source)
    } else {
      exhausted.append(head.source)
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
    }
    sink()
    return head.record
  }

  private mutating func insert(_ head: Head) {
    heap.append(head)
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index] < heap[parent] else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  /// Moves the first line of the heap down to its place.
  private mutating func sink() {
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      if least == index { return }
      heap.swapAt(index, least)
      index = least
    }
  }
}
