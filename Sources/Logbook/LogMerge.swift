// Owns the order in which the lines of several logs are told: by time, at the same time by name, and within
// one log as they stand there. It must not know files or clocks. Invariant: one line of every source that has
// any is at hand, so memory does not grow with the length of the logs. Failure: an error of a source passes
// through; what was at hand stays at hand.

/// Something that lines are read from, one after the other.
public protocol LogSource: AnyObject {
  /// The next line; nil where there is none now. There may be one later, if the source is being written.
  func next() throws(LogFailure) -> LogRecord?
}

/// Merges sources by time.
public struct LogMerge<Source: LogSource> {
  private struct Head {
    let record: LogRecord
    let source: Source

    /// Two heads are never of one source, so names need to differ only between sources.
    static func < (left: Head, right: Head) -> Bool {
      if left.record.time != right.record.time { return left.record.time < right.record.time }
      return left.record.worker < right.record.worker
    }
  }

  /// A binary heap: the children of `i` are `2i + 1` and `2i + 2`, and none is before its parent.
  private var heap: [Head] = []
  private var dry: [Source]

  /// A merge of sources whose names all differ. Nothing is read until ``refill()`` or ``next()``.
  public init(_ sources: [Source]) { dry = sources }

  /// Adds a source, which takes part from the next ``refill()`` on.
  public mutating func add(_ source: Source) { dry.append(source) }
  /// The line that is next, if any is at hand.
  public var first: LogRecord? { heap.first?.record }

  /// Asks the sources that had nothing whether they have something now.
  public mutating func refill() throws(LogFailure) {
    var still: [Source] = []
    var waiting = dry[...]
    // What was not asked yet stays dry when one fails.
    defer { dry = still + waiting }
    while let source = waiting.first {
      if let record = try source.next() {
        insert(Head(record: record, source: source))
      } else {
        still.append(source)
      }
      waiting.removeFirst()
    }
  }

  /// Takes the next line; nil when every source is dry. A dry source is asked again only by ``refill()``.
  public mutating func next() throws(LogFailure) -> LogRecord? {
    guard let head = heap.first else { return nil }
    if let following = try head.source.next() {
      heap[0] = Head(record: following, source: head.source)
    } else {
      dry.append(head.source)
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
