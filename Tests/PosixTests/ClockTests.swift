// Owns the tests of the clocks of the machine.
// It must not know timers.
// Invariant: nothing is said about how fast the machine is.
// Failure: a failed expectation.
import Posix
import Testing
import Time

@Suite struct ClockTests {
  @Test("the monotonic clock never goes back and the wall clock is in this century")
  func clocks() {
    let earlier = SystemClock.monotonic()
    #expect(SystemClock.monotonic() >= earlier)
    #expect(SystemClock.wall() > WallTime(milliseconds: 1_700_000_000_000))
    #expect(SystemClock.wall() < WallTime(milliseconds: 4_102_444_800_000))
  }
}
