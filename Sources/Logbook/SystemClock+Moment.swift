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
