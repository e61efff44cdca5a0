// Clock of the time in which a process was listening to others. It advances while the process waits for input
// or works briefly, and hardly at all while the process is stopped, waits for a slow disk, or is busy for
// long. The caller passes the readings of the monotonic clock.
// Invariant: between two polls for input it advances by at most one stride. So no peer is judged by silence
// during which this process could not have received anything, and a silent peer is still found after a
// bounded number of polls.

import Time

/// A clock for deadlines of peers.
///
/// A deadline on this clock is reached later than on the monotonic clock, by the time that was missed. Do not
/// use it for anything that a person or a calendar waits for.
public struct AttendedTime: Sendable {
  /// Current time. It starts with the monotonic clock and falls behind.
  public private(set) var now: MonotonicTime
  /// The most that counts between two polls.
  public var stride: TimeSpan { didSet { nanosecondsOfStride = max(1, stride.nanoseconds) } }

  // Plain integers, because this runs in every iteration of a loop.
  private var nanosecondsOfStride: Int64
  private var read: Int64
  private var left: Int64

  /// A clock that starts at this time.
  public init(at moment: MonotonicTime, stride: TimeSpan = .seconds(1)) {
    now = moment
    read = moment.nanoseconds
    self.stride = stride
    nanosecondsOfStride = max(1, stride.nanoseconds)
    left = nanosecondsOfStride
  }

  /// Records a poll for input; the input that arrived until then is delivered next.
  public mutating func listened(at moment: MonotonicTime) {
    left = nanosecondsOfStride
    advance(to: moment)
  }

  /// Records time that has passed without a poll.
  public mutating func advance(to moment: MonotonicTime) {
    guard moment.nanoseconds > read else { return }
    let passed = min(moment.nanoseconds - read, left)
    read = moment.nanoseconds
    left -= passed
    now = MonotonicTime(nanoseconds: now.nanoseconds + passed)
  }

  /// Time of the next poll by the monotonic clock, so that no stride is missed and a deadline on this clock
  /// is met.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime {
    guard deadline > now else { return MonotonicTime(nanoseconds: read) }
    let (ahead, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    return MonotonicTime(nanoseconds: read + min(overflow ? .max : ahead, nanosecondsOfStride))
  }
}
