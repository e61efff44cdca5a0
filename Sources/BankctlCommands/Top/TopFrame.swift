// Data from the snapshots (`BoardFrame`): the latest one, and the plots and the log, which need several
// snapshots.
// Invariant: a `TopFrame` is a value, so a frozen copy does not change.
import Posix
import Time
import Wire

/// The latest snapshot with the plots and the log of earlier ones.
struct TopFrame: Sendable, Equatable {
  /// An event, and the generation of the coordinator that numbered it; each coordinator process counts from 1.
  struct LogEntry: Sendable, Equatable {
    let coordinator: Int64
    let event: BoardEvent
    var key: String { "\(coordinator).\(event.sequence)" }
  }

  private(set) var frame: BoardFrame
  private(set) var lastMessageAt: MonotonicTime
  /// Numbers of customers served in each second of the last minute.
  private(set) var minute = ServedHistory(seconds: 60)
  /// Numbers of customers served at each window in each of the last seconds.
  private(set) var windows: [String: ServedHistory] = [:]
  /// Recent events, the oldest first.
  private(set) var log: [LogEntry] = []

  /// Maximum number of stored events.
  static let logAtMost = 500

  init(_ frame: BoardFrame, at now: MonotonicTime) {
    (self.frame, lastMessageAt) = (frame, now)
    note()
  }

  /// Replaces the latest snapshot, and adds the new one to plots and log.
  mutating func handle(_ frame: BoardFrame, at now: MonotonicTime) {
    (self.frame, lastMessageAt) = (frame, now)
    note()
  }

  /// Applies the paused services and numbers of windows in an answer, before the next snapshot contains them.
  mutating func handle(_ services: [ServiceReport]) {
    for report in services {
      guard let place = frame.services.firstIndex(where: { $0.service == report.service }) else { continue }
      frame.services[place].paused = report.paused
      frame.services[place].pauseReason = report.pauseReason
      frame.services[place].windows = Int(clamping: report.windows)
    }
  }

  /// Adds the latest snapshot to the plots, and its new events to the log.
  private mutating func note() {
    minute.handle(total: frame.counts.served, at: frame.time)
    var present: [String: ServedHistory] = [:]
    for window in frame.windows {
      var history = windows[window.window] ?? ServedHistory(seconds: 5)
      history.handle(total: window.served, at: frame.time)
      present[window.window] = history
    }
    windows = present
    let last = log.last
    let isSame = last?.coordinator == frame.coordinator.generation
    let news = frame.events.filter { !isSame || $0.sequence > last?.event.sequence ?? 0 }
    log += news.map { LogEntry(coordinator: frame.coordinator.generation, event: $0) }
    if log.count > Self.logAtMost { log.removeFirst(log.count - Self.logAtMost) }
  }

  /// Milliseconds since 1970 by the coordinator's clock, extrapolated from its last frame.
  func wall(at now: MonotonicTime) -> Int64 {
    let (time, isOver) = frame.time.addingReportingOverflow(now.since(lastMessageAt).milliseconds)
    return isOver ? .max : time
  }

  /// Business time of the current business day, in milliseconds.
  func businessMilliseconds(at now: MonotonicTime) -> Int64 {
    let passed = frame.isBusinessTimeRunning ? now.since(lastMessageAt).milliseconds : 0
    let (time, isOver) = frame.businessTime.milliseconds.addingReportingOverflow(passed)
    return isOver ? .max : time
  }

  /// Time span after which the display changes even if no message arrives; nil for never.
  func pace(at now: MonotonicTime) -> TimeSpan? {
    if frame.isBusinessTimeRunning { return .milliseconds(100) }
    let wall = wall(at: now)
    let isMoving = minute.isMoving(at: wall) || windows.values.contains { $0.isMoving(at: wall) }
    return isMoving ? .seconds(1) : nil
  }
}
