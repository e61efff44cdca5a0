// Clock of the time in which a process polled for input. It advances while the process waits for input or works
// briefly, and hardly at all while the process is stopped, waits for a slow disk, or works for a long time
// without a poll. The caller passes the readings of the monotonic clock.
// Invariant: the record of a poll and all readings until the next record advance the clock by at most one stride
// in total. So little of the time in which this process could not have received anything counts as silence of a
// peer.

import Time

/// A clock of listening time: it measures the silence of peers, and counts hardly any time without a poll for input.
///
/// A deadline is not reached earlier on this clock than on the monotonic clock.
public struct ListeningClock: Sendable {
  /// Current time, at most that of the monotonic clock.
  public private(set) var now: MonotonicTime
  /// Maximum time that counts for each recorded poll.
  public var stride: TimeSpan { didSet { nanosecondsOfStride = max(1, stride.nanoseconds) } }

  // Plain integers, because this runs in every iteration of a loop.
  private var nanosecondsOfStride: Int64
  /// Last reading of the monotonic clock, in nanoseconds.
  private var read: Int64
  /// Nanoseconds that may still count until the next poll.
  private var left: Int64

  /// A clock that starts at this time.
  public init(at moment: MonotonicTime, stride: TimeSpan = .seconds(1)) {
    now = moment
    read = moment.nanoseconds
    self.stride = stride
    nanosecondsOfStride = max(1, stride.nanoseconds)
    left = nanosecondsOfStride
  }

  /// Records a poll for input.
  public mutating func recordPoll(at moment: MonotonicTime) {
    left = nanosecondsOfStride
    advance(to: moment)
  }

  /// Records time that has passed since the last record, without a poll.
  public mutating func advance(to moment: MonotonicTime) {
    guard moment.nanoseconds > read else { return }
    let passed = min(moment.nanoseconds - read, left)
    read = moment.nanoseconds
    left -= passed
    now = MonotonicTime(nanoseconds: now.nanoseconds + passed)
  }

  /// Time of the next poll, by the monotonic clock, for a deadline on this clock. It is at most one stride
  /// ahead, because this clock would not count a longer wait.
  public func wakeTime(for deadline: MonotonicTime) -> MonotonicTime {
    guard deadline > now else { return MonotonicTime(nanoseconds: read) }
    let (ahead, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    return MonotonicTime(nanoseconds: read + min(overflow ? .max : ahead, nanosecondsOfStride))
  }
}
