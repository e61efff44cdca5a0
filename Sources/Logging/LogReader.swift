// Reads the existing logs: selection of logs and lines, merged by time.
// Invariant: reading ends at the size that a log had when it was opened. Memory is bounded by the number of logs, not
// by their length.
// Errors: `LogFailure`. An unknown log is reported before the first line.

/// Selection of log lines: names of the logs, number of last lines, earliest time.
public struct LogQuery: Sendable, Hashable {
  /// The directory of the logs.
  public var directory: String
  /// Names of the logs, such as `deposit-1` or `coordinator`; empty for all.
  public var workers: [String]
  /// Number of last lines; nil for all. At least 0.
  public var last: Int?
  /// Earliest time, in milliseconds since 1970 UTC; nil for all.
  public var since: Int64?

  /// Creates a selection of lines. Traps if `last` is negative.
  public init(directory: String, workers: [String] = [], last: Int? = nil, since: Int64? = nil) {
    precondition(last ?? 0 >= 0, "a number of lines is never negative")
    self.directory = directory
    self.workers = workers
    self.last = last
    self.since = since
  }
}

/// Reads the existing lines of several logs as one log, sorted by time.
public final class LogReader {
  let query: LogQuery
  /// The open logs.
  private(set) var logs: [WorkerLog] = []
  /// The lines of the open logs, merged by time.
  var merge: LogMerge<WorkerLog>
  /// Number of merged lines before the first selected one.
  private var surplus = 0
  /// True after the first call of ``next()``.
  private var hasBegun = false

  /// Opens the logs.
  ///
  /// - Throws: ``LogFailure/noDirectory(_:)``, ``LogFailure/unknownWorker(_:known:)``, or the system's
  ///   error.
  public convenience init(_ query: LogQuery) throws(LogFailure) {
    self.init(empty: query)
    let known = try LogDirectory(path: query.directory).workers()
    if let unknown = query.workers.first(where: { !known.contains($0) }) {
      throw .unknownWorker(unknown, known: known)
    }
    try open(known)
  }

  /// An empty reader, for a directory that does not exist yet.
  init(empty query: LogQuery) {
    self.query = query
    merge = LogMerge([])
  }

  /// Number of bytes read from all files so far.
  var bytesRead: Int64 { logs.reduce(0) { $0 + $1.bytesRead } }

  /// Returns the next line, or nil at the end of all logs.
  public func next() throws(LogFailure) -> LogRecord? {
    if !hasBegun {
      hasBegun = true
      try merge.refill()
    }
    while let record = try merge.next() {
      if surplus > 0 {
        surplus -= 1
      } else if wants(record) {
        return record
      }
    }
    return nil
  }

  /// True if the query selects a line with this time.
  func wants(_ record: LogRecord) -> Bool { query.since.map { record.time >= $0 } ?? true }

  /// Opens the selected logs that are not open yet, and returns them.
  @discardableResult
  func open(_ workers: [String]) throws(LogFailure) -> [WorkerLog] {
    let directory = LogDirectory(path: query.directory)
    var opened: [WorkerLog] = []
    for name in workers where query.workers.isEmpty || query.workers.contains(name) {
      if logs.contains(where: { $0.name == name }) { continue }
      let log = try WorkerLog(name, in: directory)
      if !hasBegun { try skipUnselected(from: log) }
      opened.append(log)
      logs.append(log)
      merge.add(log)
    }
    if let last = query.last, !hasBegun { surplus = max(0, surplus - last) }
    return opened
  }

  /// Skips lines that are not selected. The last `n` lines of all logs together are among the last `n` lines of each
  /// log, so that reading can start there.
  private func skipUnselected(from log: WorkerLog) throws(LogFailure) {
    if let last = query.last {
      surplus += try log.skipAllBut(last: last)
    } else if let since = query.since {
      try log.skip(before: since)
    }
  }
}
