// Owns reading logs while they are written: what is there, and then what comes, over rotations, restarts and
// new workers. It must not know how a line is shown. The caller runs the loop and asks for lines until there
// are none. Invariant: each whole line is handed out once, the lines of one worker in their order. Nothing
// happens while nothing is written: the kernel says when to look. Lines of different workers come out by time
// as far as they were written within the gathering time of each other. Failure: LogFailure from `next()`.
import Posix
import Time

/// Follows the logs of several workers as one.
///
///     while true {
///       while let record = try follower.next() { show(record) }
///       try loop.runOnce(until: follower.deadline)
///     }
public final class LogFollower {
  private let reader: LogReader
  private let watch: LogWatch
  private let gathering: TimeSpan
  private var isLive = false
  /// While a batch is told: lines up to this time of day (in milliseconds) may be told, none before can come.
  private var horizon: Int64?
  private var nextBatch: MonotonicTime?
  /// The time of day; tests have a day of their own.
  var wallClock: () -> WallTime = SystemClock.wall

  /// A stamp this far ahead of the clock, in milliseconds, comes from a clock that was set back since:
  /// waiting for its time to come would take too long.
  private static let furthestAhead: Int64 = 1000

  /// Opens the logs and begins to watch. A directory that is not there yet is waited for.
  ///
  /// - Parameter gathering: how long lines are collected after the first, so that those of several workers
  ///   come in order. A line is told one to two such times after it was written.
  /// - Throws: ``LogFailure/unknownWorker(_:known:)`` where there are logs and none of that name.
  public convenience init(
    _ query: LogQuery, on loop: EventLoop, gathering: TimeSpan = .milliseconds(20)
  ) throws(LogFailure) {
    // Watched first: what changes between the first look and the watch would be lost otherwise.
    try self.init(query, watchedBy: LogWatch(query.directory, on: loop), gathering: gathering)
  }

  init(
    _ query: LogQuery, watchedBy watch: LogWatch, gathering: TimeSpan = .milliseconds(20)
  ) throws(LogFailure) {
    (self.watch, self.gathering) = (watch, gathering)
    do throws(LogFailure) { reader = try LogReader(query) } catch {
      switch error {
      case .noDirectory, .unknownWorker(_, known: []): reader = LogReader(empty: query)
      default: throw error
      }
    }
  }

  /// The next line that can be told now. After nil, run the loop until ``deadline``.
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

  /// When to ask again even if nothing happens on the loop; nil for never.
  public var deadline: MonotonicTime? {
    guard let news = watch.firstNews else { return nextBatch }
    return min(news + gathering, nextBatch ?? news + gathering)
  }

  private func goLive() {
    isLive = true
    for log in reader.logs { log.follow() }
    nextBatch = SystemClock.monotonic()
  }

  private func beginBatch() throws(LogFailure) {
    nextBatch = nil
    if try watch.takeNews() == .names {
      for log in try reader.open(workers()) { log.follow() }
      for log in reader.logs {
        if watch.isMissing { log.letGo() } else { try lookForSuccessors(of: log) }
      }
    }
    // The clock is read before the files: what is stamped later may stand in one that was just read to its end.
    horizon = wallClock().milliseconds - gathering.milliseconds
    try reader.merge.refill()
  }

  private func isDue(_ record: LogRecord) -> Bool {
    guard let horizon else { return false }
    return record.time <= horizon || record.time > horizon + Self.furthestAhead
  }

  private func endBatch() {
    horizon = nil
    if reader.merge.first != nil { nextBatch = SystemClock.monotonic() + gathering }
  }

  private func workers() throws(LogFailure) -> [String] {
    do throws(LogFailure) { return try LogDirectory(path: reader.query.directory).workers() } catch {
      if case .noDirectory = error { return [] }
      throw error
    }
  }

  private func lookForSuccessors(of log: WorkerLog) throws(LogFailure) {
    do throws(LogFailure) { try log.lookForSuccessors() } catch {
      // The directory went away; what was open is read on, and the watch says when there is a new one.
      guard case .noDirectory = error else { throw error }
    }
  }
}
