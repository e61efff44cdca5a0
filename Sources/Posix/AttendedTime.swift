// Owns the time in which a process has listened to others: a clock that goes on while the process waits for them or works
// for a moment, and hardly at all while it is stopped, waits for a slow disk, or does anything else for long.
// It reads no clock. Invariant: between two looks at what others have said it goes on by one stride at most, so nobody is
// judged by silence that nobody would have heard, and whoever is silent all the same is found after a bounded number of
// looks.

import Time

/// A clock of what was heard, for deadlines of others.
///
/// Deadlines that are taken from it are met later than by the steady clock, by what was missed. Nothing that a person or a
/// calendar waits for belongs here.
public struct AttendedTime: Sendable {
  /// Now, in the time that was attended. It begins with the steady clock and falls behind.
  public private(set) var now: MonotonicTime
  /// The most that counts between two looks.
  public var stride: TimeSpan { didSet { nanosecondsOfStride = max(1, stride.nanoseconds) } }

  // Whole numbers, because this is done at every turn of a loop.
  private var nanosecondsOfStride: Int64
  private var read: Int64
  private var left: Int64

  /// A clock that begins now.
  public init(at moment: MonotonicTime, stride: TimeSpan = .seconds(1)) {
    now = moment
    read = moment.nanoseconds
    self.stride = stride
    nanosecondsOfStride = max(1, stride.nanoseconds)
    left = nanosecondsOfStride
  }

  /// Somebody has looked for what others have said; what was said until then is delivered next.
  public mutating func listened(at moment: MonotonicTime) {
    left = nanosecondsOfStride
    advance(to: moment)
  }

  /// Time has passed, and nobody was heard in it.
  public mutating func advance(to moment: MonotonicTime) {
    guard moment.nanoseconds > read else { return }
    let passed = min(moment.nanoseconds - read, left)
    read = moment.nanoseconds
    left -= passed
    now = MonotonicTime(nanoseconds: now.nanoseconds + passed)
  }

  /// When to look again by the steady clock, so that no stride is missed and a deadline of this clock is met.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime {
    guard deadline > now else { return MonotonicTime(nanoseconds: read) }
    let (ahead, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    return MonotonicTime(nanoseconds: read + min(overflow ? .max : ahead, nanosecondsOfStride))
  }
}
