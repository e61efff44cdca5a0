// Owns the step from the machine's clocks to the domain's words for time.
// It must not know what the time is for. Nothing here can fail.

import BankModel
import Posix

extension SystemClock {
  /// Both clocks, read now.
  public static func moment() -> Moment {
    Moment(
      monotonic: MonotonicTime(nanoseconds: monotonic().nanoseconds),
      wall: WallTime(milliseconds: wallMilliseconds()))
  }
}

extension EventLoop {
  /// All clocks, read now, with the time that this loop has attended.
  public func moment() -> Moment {
    let now = SystemClock.monotonic()
    attend(until: now)
    return moment(at: now)
  }

  /// All clocks as of the last time something was fetched.
  public func momentOfWaking() -> Moment { moment(at: wokeAt) }

  private func moment(at now: MonotonicInstant) -> Moment {
    Moment(
      monotonic: MonotonicTime(nanoseconds: now.nanoseconds),
      wall: WallTime(milliseconds: SystemClock.wallMilliseconds()),
      attended: MonotonicTime(nanoseconds: attended.now.nanoseconds))
  }

  /// When to wake by the steady clock for a deadline of the attended one.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime {
    MonotonicTime(nanoseconds: attended.wake(for: MonotonicInstant(deadline)).nanoseconds)
  }
}

extension MonotonicInstant {
  /// The same reading in the words of the event loop.
  public init(_ time: MonotonicTime) { self.init(nanoseconds: time.nanoseconds) }
}

extension TimeSpan {
  /// The same length of time, in the domain's words; at most 292 years.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carries) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    self.init(nanoseconds: overflow || carries ? .max : sum)
  }
}
