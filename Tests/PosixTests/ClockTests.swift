// Owns the tests of the clocks' arithmetic.
// It must not know timers.
// Invariant: nothing is said about how fast the machine is.
// Failure: a failed expectation.
import Posix
import Testing

@Suite struct ClockTests {
  @Test("the monotonic clock never goes back and the wall clock is in this century")
  func clocks() {
    let earlier = SystemClock.monotonic()
    #expect(SystemClock.monotonic() >= earlier)
    #expect(SystemClock.wallMilliseconds() > 1_700_000_000_000)
    #expect(SystemClock.wallMilliseconds() < 4_102_444_800_000)
  }

  @Test("instants and durations add up, and stop at the ends of time instead of trapping")
  func arithmetic() {
    let instant = MonotonicInstant(nanoseconds: 5_000_000_000)
    #expect((instant + .milliseconds(1)).nanoseconds == 5_001_000_000)
    #expect((instant - .seconds(6)).nanoseconds == -1_000_000_000)
    #expect(instant + .seconds(2) - instant == .seconds(2))
    #expect(instant - (instant + .seconds(2)) == .seconds(-2))
    #expect((instant + .seconds(Int64.max)).nanoseconds == .max)
    #expect((MonotonicInstant(nanoseconds: -5) - .seconds(Int64.max)).nanoseconds == .min)
    #expect((MonotonicInstant(nanoseconds: .max) + .nanoseconds(1)).nanoseconds == .max)
    #expect((instant + Duration(secondsComponent: .min, attosecondsComponent: 0)).nanoseconds < 0)
    #expect((instant - Duration(secondsComponent: .min, attosecondsComponent: 0)).nanoseconds == .max)
  }

  @Test("durations come as whole nanoseconds and milliseconds, cut towards zero")
  func units() {
    #expect(Duration.milliseconds(1100).wholeNanoseconds == 1_100_000_000)
    #expect(Duration.microseconds(-1500).wholeMilliseconds == -1)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
  }
}
