// Reads logs while they are written: the existing lines, then new ones, across rotations, restarts and new logs.
// Invariant: the lines of one log are returned in order. Lines of different logs are usually sorted by time.
// Errors: `LogFailure` from `next()`.
import Posix
import Time

/// Reads several logs as one: the existing lines, and then new ones as they are written.
///
///     while true {
///       while let record = try follower.next() { show(record) }
///       try loop.runOnce(until: follower.deadline)
///     }
public final class LogFollower {
  private let reader: LogReader
  private let watch: LogDirectoryWatcher
  private let gathering: TimeSpan
  /// True after the existing lines were returned.
  private var isLive = false
  /// Lines up to this time belong to the present batch, in milliseconds since 1970; nil between batches.
  private var horizon: Int64?
  /// Time of the next batch even without a change; nil for none.
  private var nextBatch: MonotonicTime?
  /// The wall clock; tests replace it.
  var wallClock: () -> WallTime = SystemClock.wall

  /// A line whose time stamp is more than this number of milliseconds after `horizon` is not held until that time.
  /// The clock was probably set back after the line was written.
  private static let maxClockSkew: Int64 = 1000

  /// Opens the logs and starts to watch them. A missing directory is not an error; its logs are read when it is
  /// created.
  ///
  /// - Parameter gathering: time for which lines are collected after the first one, so that the lines of several logs
  ///   can be sorted by time.
  /// - Throws: ``LogFailure/unknownWorker(_:known:)`` if logs exist, but not one that the query names; otherwise the
  ///   system's error.
  public convenience init(
    _ query: LogQuery, on loop: EventLoop, gathering: TimeSpan = .milliseconds(20)
  ) throws(LogFailure) {
    // The watch starts before the first read, so that no change between them is lost.
    try self.init(query, watchedBy: LogDirectoryWatcher(query.directory, on: loop), gathering: gathering)
  }

  init(
    _ query: LogQuery, watchedBy watch: LogDirectoryWatcher, gathering: TimeSpan = .milliseconds(20)
  ) throws(LogFailure) {
    (self.watch, self.gathering) = (watch, gathering)
    do throws(LogFailure) { reader = try LogReader(query) } catch {
      switch error {
      case .noDirectory, .unknownWorker(_, known: []): reader = LogReader(empty: query)
      default: throw error
      }
    }
  }

  /// Returns the next line; nil if none is due now. After nil, run the loop until ``deadline``.
  public func next() throws(LogFailure) -> LogRecord? {
    if !isLive {
      if let record = try reader.next() { return record }
      goLive()
    }
    if horizon == nil {
      guard let due = deadline, due <= SystemClock.monotonic() else { return nil }
      try beginBatch()
    }
    while let first = reader.merge.first, isDue(first) {
      if let record = try reader.merge.next(), reader.wants(record) { return record }
    }
    endBatch()
    return nil
  }

  /// Time at which to call ``next()`` even if the loop has reported no event; nil if only an event requires a call.
  public var deadline: MonotonicTime? {
    guard let change = watch.firstChangeAt else { return nextBatch }
    return min(change + gathering, nextBatch ?? change + gathering)
  }

  /// Ends the reading of existing lines, and follows all logs.
  private func goLive() {
    isLive = true
    for log in reader.logs { log.follow() }
    nextBatch = SystemClock.monotonic()
  }

  /// Starts a batch, the lines that are sorted and returned together.
  private func beginBatch() throws(LogFailure) {
    nextBatch = nil
    if try watch.takeChange() == .names {
      for log in try reader.open(workers()) { log.follow() }
      for log in reader.logs {
        if watch.isMissing { log.handleDirectoryRemoval() } else { try findSuccessors(of: log) }
      }
    }
    // The clock is read before the files. A line with a later stamp may be appended to a file that was already read
    // to its end.
    horizon = wallClock().milliseconds - gathering.milliseconds
    try reader.merge.refill()
  }

  /// True if the line belongs to the present batch.
  private func isDue(_ record: LogRecord) -> Bool {
    guard let horizon else { return false }
    return record.time <= horizon || record.time > horizon + Self.maxClockSkew
  }

  /// Ends the batch. Another one follows if lines are left.
  private func endBatch() {
    horizon = nil
    if reader.merge.first != nil { nextBatch = SystemClock.monotonic() + gathering }
  }

  /// Names of the logs; empty if the directory is missing.
  private func workers() throws(LogFailure) -> [String] {
    do throws(LogFailure) { return try LogDirectory(path: reader.query.directory).workers() } catch {
      if case .noDirectory = error { return [] }
      throw error
    }
  }

  /// Opens new files of a log, unless the directory is missing.
  private func findSuccessors(of log: WorkerLog) throws(LogFailure) {
    do throws(LogFailure) { try log.findSuccessors() } catch {
      // The directory was removed. The watch reports a new one.
      guard case .noDirectory = error else { throw error }
    }
  }
}
