// The offset between a branch's clock and the database's: a small one counts as none, and it does not change
// from look to look.
import Testing
import Time

@testable import PostgresStore

@Suite("The clock of a branch, and the database's")
struct ServerClockOffsetTests {
  @Test("A clock that is right, or nearly so, is used unchanged")
  func right() {
    var clock = ServerClockOffset()
    for difference: Int64 in [0, 3, -900, 999] {
      clock.record(1_000_000 + difference, at: WallTime(milliseconds: 1_000_000))
      #expect(clock.serverTime(WallTime(milliseconds: 5)) == 5)
      #expect(clock.localTime(5) == WallTime(milliseconds: 5))
    }
  }

  @Test("Offsets of hours are corrected, and stay the same until the clock is set")
  func wrong() {
    var clock = ServerClockOffset()
    clock.record(20_000_000, at: WallTime(milliseconds: 2_000_000))
    #expect(clock.serverTime(WallTime(milliseconds: 2_000_001)) == 20_000_001)
    #expect(clock.localTime(20_000_001) == WallTime(milliseconds: 2_000_001))
    // A slower look does not change it.
    clock.record(20_000_000, at: WallTime(milliseconds: 2_000_700))
    #expect(clock.serverTime(WallTime(milliseconds: 2_000_001)) == 20_000_001)
    // It was set right.
    clock.record(20_001_000, at: WallTime(milliseconds: 20_001_020))
    #expect(clock.serverTime(WallTime(milliseconds: 7)) == 7)
  }

  @Test("A due time is right, also if the clock was set since the database's was last read")
  func due() {
    func at(_ milliseconds: Int64, showing wall: Int64) -> Moment {
      Moment(
        monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000), wall: WallTime(milliseconds: wall))
    }
    var clock = ServerClockOffset()
    clock.record(
      50_000_000, at: WallTime(milliseconds: 50_000_300), MonotonicTime(nanoseconds: 1_000_000_000))
    // Nearly the same: unchanged.
    let due = WallTime(milliseconds: 50_005_000)
    #expect(clock.due(due, at: at(1_200, showing: 50_000_500)) == 50_005_000)
    // Three hours ahead for half a second; the database's clock was not read since.
    #expect(
      clock.due(WallTime(milliseconds: 60_805_000), at: at(1_500, showing: 60_800_800)) == 50_004_700)
    // Set back, and read.
    clock.record(50_001_000, at: WallTime(milliseconds: 1_000), MonotonicTime(nanoseconds: 2_000_000_000))
    #expect(clock.due(WallTime(milliseconds: 3_000), at: at(2_000, showing: 1_000)) == 50_003_000)
  }

  @Test("An overflow does not trap")
  func extremes() {
    var clock = ServerClockOffset()
    clock.record(.max, at: WallTime(milliseconds: -5))
    clock.record(.max, at: WallTime(milliseconds: 5))
    _ = (clock.serverTime(WallTime(milliseconds: .max)), clock.localTime(.min))
    clock.record(.min, at: WallTime(milliseconds: 5))
    clock.record(0, at: WallTime(milliseconds: .min))
    clock.record(.max, at: WallTime(milliseconds: 5), MonotonicTime(nanoseconds: .min))
    let last = Moment(monotonic: MonotonicTime(nanoseconds: .max), wall: WallTime(milliseconds: .min))
    _ = clock.due(WallTime(milliseconds: .max), at: last)
  }
}
