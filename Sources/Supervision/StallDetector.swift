// Decision whether a silent process hangs. The inputs are reports of progress with their times, and the process state
// from the kernel. Silence alone proves nothing, because a long computation may not report. So the kernel's state
// decides, too. A process that waits for a disk could not be killed anyway, and the user decides about a process under
// a debugger.
// Invariant: all times are listening time, so time in which the judging process itself was not running does not count
// against a process.

import Time

/// Hang detector for one process.
public struct StallDetector: Sendable {
  /// State of a process that was silent for long.
  public enum Observation: Sendable, Equatable {
    /// The process was stopped by a signal.
    case stopped
    /// The process sleeps; `processorTicks` is its total processor time.
    case asleep(processorTicks: UInt64)
    /// The process runs, or is ready to run; `processorTicks` is its total processor time.
    case running(processorTicks: UInt64)
    /// The process cannot or must not be killed. For example, it waits for a disk, is held by a debugger, or has
    /// exited.
    case excused
  }

  /// Time for which a process may be silent before it is examined.
  public private(set) var patience: TimeSpan
  /// Time of the next examination.
  public private(set) var nextCheckAt: MonotonicTime

  private var lastProgressAt: MonotonicTime
  private var ticks: UInt64?
  private var sleepingSince: MonotonicTime

  /// Multiple of the patience after which a process that sleeps in silence, without using processor time, hangs.
  public static let sleepingMultiple: Int64 = 6
  /// Multiple of the patience after which a silent process hangs, even if it runs.
  public static let runningMultiple: Int64 = 30
  /// Default of ``patience``.
  public static let patience = TimeSpan.seconds(10)

  /// A detector that starts now.
  public init(patience: TimeSpan = StallDetector.patience, at now: MonotonicTime) {
    self.patience = patience
    lastProgressAt = now
    sleepingSince = now
    nextCheckAt = now + patience
  }

  /// Records progress of the process. A `patience` that is not nil replaces the current one.
  public mutating func heard(at now: MonotonicTime, patience: TimeSpan? = nil) {
    if let patience { self.patience = patience }
    lastProgressAt = max(lastProgressAt, now)
    nextCheckAt = lastProgressAt + self.patience
    (ticks, sleepingSince) = (nil, lastProgressAt)
  }

  /// Judges a process that was silent until ``nextCheckAt``. Returns true if it hangs.
  public mutating func isHung(_ observation: Observation, at now: MonotonicTime) -> Bool {
    nextCheckAt = now + patience
    switch observation {
    case .stopped: return true
    case .excused:
      (lastProgressAt, sleepingSince) = (now, now)
      return false
    case .running(let ticks), .asleep(let ticks):
      if isLong(lastProgressAt, Self.runningMultiple, now) { return true }
      defer { self.ticks = ticks }
      guard case .asleep = observation, self.ticks == nil || self.ticks == ticks else {
        sleepingSince = now
        return false
      }
      return isLong(sleepingSince, Self.sleepingMultiple, now)
    }
  }

  /// True if at least `times` times the patience has passed since a time.
  private func isLong(_ since: MonotonicTime, _ times: Int64, _ now: MonotonicTime) -> Bool {
    let (bound, overflow) = patience.nanoseconds.multipliedReportingOverflow(by: times)
    return now.since(since).nanoseconds >= (overflow ? .max : bound)
  }
}
