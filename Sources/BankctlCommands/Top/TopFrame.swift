// Data from the snapshots (`BoardFrame`): the latest one, and the plots and the log, which need several
// snapshots.
// Invariant: a moment is a value, so a frozen copy never changes. Every list is bounded.
import Posix
import Time
import Wire

struct TopFrame: Sendable, Equatable {
  /// An event with the coordinator process that numbered it; each process counts from 1.
  struct LogEntry: Sendable, Equatable {
    let coordinator: Int64
    let event: BoardEvent
    var key: String { "\(coordinator).\(event.sequence)" }
  }

  private(set) var frame: BoardFrame
  private(set) var lastMessageAt: MonotonicTime
  /// Customers served over the last minute.
  private(set) var minute = ServedHistory(seconds: 60)
  /// Customers served at each window over the last five seconds.
  private(set) var windows: [String: ServedHistory] = [:]
  /// The oldest first.
  private(set) var log: [LogEntry] = []

  static let logAtMost = 500

  init(_ frame: BoardFrame, at now: MonotonicTime) {
    (self.frame, lastMessageAt) = (frame, now)
    note()
  }

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

  /// Time after which the display changes without a message; nil for never.
  func pace(at now: MonotonicTime) -> TimeSpan? {
    if frame.isBusinessTimeRunning { return .milliseconds(100) }
    let wall = wall(at: now)
    let isMoving = minute.isMoving(at: wall) || windows.values.contains { $0.isMoving(at: wall) }
    return isMoving ? .seconds(1) : nil
  }
}
