// Owns the decision whether a process from which nothing was heard stands still. It knows no process and no clock:
// reports of progress and moments go in, and what the kernel says of the process; a verdict comes out.
// Progress is what the process reports from the loop that does its work, or from within a long work as it goes on. Silence
// alone proves nothing: a work may be long and not report. So the kernel is asked, too. Who is stopped stands still. Who
// sleeps and has not run at all stands still when that has lasted six times as long. Who runs, and reports nothing, has
// thirty times as long. Who waits for a disk could not be ended anyway, and whom a debugger holds is somebody's decision.
// Invariant: moments are of the time that the judge attended, so what the judge missed is held against nobody.

import Time

/// Whether one process stands still.
public struct Standstill: Sendable {
  /// What a process that was silent for long is doing.
  public enum Sight: Sendable, Equatable {
    case stopped
    /// It sleeps, and has had so much of a processor in its life.
    case asleep(processorTicks: UInt64)
    /// It runs, or is ready to.
    case running(processorTicks: UInt64)
    /// It waits for a disk, is held by a debugger, or has ended: it cannot or shall not be ended.
    case excused
  }

  /// How long a process may be silent before it is looked at; see the head of this file for what follows.
  public private(set) var patience: TimeSpan
  /// When it is to be looked at next.
  public private(set) var lookAt: MonotonicTime

  private var heardAt: MonotonicTime
  private var ticks: UInt64?
  private var restingSince: MonotonicTime

  /// As many times its patience a process may sleep without a word, before it is ended.
  public static let timesAsleep: Int64 = 6
  /// As many times its patience a process may run without a word, before it is ended.
  public static let timesRunning: Int64 = 30
  /// Where nothing else was said.
  public static let patience = TimeSpan.seconds(10)

  /// A process that is heard from now on.
  public init(patience: TimeSpan = Standstill.patience, at now: MonotonicTime) {
    self.patience = patience
    heardAt = now
    restingSince = now
    lookAt = now + patience
  }

  /// The process has made progress.
  public mutating func heard(at now: MonotonicTime, patience: TimeSpan? = nil) {
    if let patience { self.patience = patience }
    heardAt = max(heardAt, now)
    lookAt = heardAt + self.patience
    (ticks, restingSince) = (nil, heardAt)
  }

  /// It was silent until ``lookAt``, and is seen doing this: whether it stands still.
  public mutating func seen(_ sight: Sight, at now: MonotonicTime) -> Bool {
    lookAt = now + patience
    switch sight {
    case .stopped: return true
    case .excused:
      // It could not have reported anything.
      (heardAt, restingSince) = (now, now)
      return false
    case .running(let ticks), .asleep(let ticks):
      if isLong(heardAt, Self.timesRunning, now) { return true }
      defer { self.ticks = ticks }
      guard case .asleep = sight, self.ticks == nil || self.ticks == ticks else {
        restingSince = now
        return false
      }
      return isLong(restingSince, Self.timesAsleep, now)
    }
  }

  private func isLong(_ since: MonotonicTime, _ times: Int64, _ now: MonotonicTime) -> Bool {
    let (bound, overflow) = patience.nanoseconds.multipliedReportingOverflow(by: times)
    return now.since(since).nanoseconds >= (overflow ? .max : bound)
  }
}
