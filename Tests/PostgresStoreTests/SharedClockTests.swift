// The difference between a branch's clock and the database's: what is small counts as none, and none changes from look to look.
import Testing
import Time

@testable import PostgresStore

@Suite("The clock of a branch, and the database's")
struct SharedClockTests {
  @Test("A clock that is right, or nearly so, is taken as it is")
  func right() {
    var clock = SharedClock()
    for difference: Int64 in [0, 3, -900, 999] {
      clock.hear(1_000_000 + difference, at: WallTime(milliseconds: 1_000_000))
      #expect(clock.theirs(WallTime(milliseconds: 5)) == 5)
      #expect(clock.ours(5) == WallTime(milliseconds: 5))
    }
  }

  @Test("Hours are added and taken away, and stay the same until the clock is set")
  func wrong() {
    var clock = SharedClock()
    clock.hear(20_000_000, at: WallTime(milliseconds: 2_000_000))
    #expect(clock.theirs(WallTime(milliseconds: 2_000_001)) == 20_000_001)
    #expect(clock.ours(20_000_001) == WallTime(milliseconds: 2_000_001))
    // A look that took longer says nothing else.
    clock.hear(20_000_000, at: WallTime(milliseconds: 2_000_700))
    #expect(clock.theirs(WallTime(milliseconds: 2_000_001)) == 20_000_001)
    // It was set right.
    clock.hear(20_001_000, at: WallTime(milliseconds: 20_001_020))
    #expect(clock.theirs(WallTime(milliseconds: 7)) == 7)
  }

  @Test("What cannot be added is no trap")
  func extremes() {
    var clock = SharedClock()
    clock.hear(.max, at: WallTime(milliseconds: -5))
    clock.hear(.max, at: WallTime(milliseconds: 5))
    _ = (clock.theirs(WallTime(milliseconds: .max)), clock.ours(.min))
    clock.hear(.min, at: WallTime(milliseconds: 5))
    clock.hear(0, at: WallTime(milliseconds: .min))
  }
}
