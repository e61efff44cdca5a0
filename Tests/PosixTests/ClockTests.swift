// The clocks of the machine, without assumptions about its speed.
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
