// Arithmetic with time: its results, and that it stops at its ends instead of trapping. No clock is read
// here.

import Testing
import Time

@Suite struct TimeTests {
  private let time = MonotonicTime(nanoseconds: 5_000_000_000)

  @Test("times and spans add up")
  func sums() {
    #expect((time + .milliseconds(1)).nanoseconds == 5_001_000_000)
    #expect((time - .seconds(6)).nanoseconds == -1_000_000_000)
    #expect((time + .seconds(2)).since(time) == .seconds(2))
    #expect(TimeSpan.seconds(2) + .milliseconds(1) - .microseconds(1) == .microseconds(2_000_999))
    #expect(TimeSpan.minutes(1) * 2 == .seconds(120) && TimeSpan.nanoseconds(7) / 2 == .nanoseconds(3))
    #expect(TimeSpan.microseconds(1_999).milliseconds == 1 && TimeSpan.milliseconds(1_500).inSeconds == 1.5)
    var (later, longer) = (time, TimeSpan.zero)
    later += .seconds(1)
    longer += .seconds(1)
    #expect(later.since(time) == longer)
  }

  @Test("a span is never negative")
  func noSpanIsNegative() {
    #expect(time.since(time + .seconds(2)) == .zero)
    #expect(TimeSpan(nanoseconds: -1) == .zero && TimeSpan.seconds(.min) == .zero)
    #expect(TimeSpan.seconds(1) - .seconds(2) == .zero)
    #expect(TimeSpan.seconds(1) * -2 == .zero && TimeSpan.seconds(1) * .min == .zero)
  }

  @Test("arithmetic stops at the ends of time")
  func ends() {
    let (first, last) = (MonotonicTime(nanoseconds: .min), MonotonicTime(nanoseconds: .max))
    let longest = TimeSpan(nanoseconds: .max)
    #expect(last + .nanoseconds(1) == last && first - .nanoseconds(1) == first)
    #expect(time + longest == last && MonotonicTime(nanoseconds: -5) - longest == first)
    #expect(last.since(first) == longest && first.since(last) == .zero)
    #expect(longest + .nanoseconds(1) == longest && longest * 2 == longest && .zero - longest == .zero)
    for count in [Int64.max, Int64.max / 999] {
      #expect(TimeSpan.microseconds(count) == longest && TimeSpan.milliseconds(count) == longest)
      #expect(TimeSpan.seconds(count) == longest && TimeSpan.minutes(count) == longest)
    }
  }

  @Test("the earliest of several moments is found, and none of none")
  func earliest() {
    #expect(MonotonicTime.earliest(nil, time + .seconds(1), nil, time) == time)
    #expect(MonotonicTime.earliest(nil, nil) == nil)
  }

  @Test("a process that polls all the time has attended all of it")
  func attended() {
    let wall = WallTime(milliseconds: 1)
    #expect(Moment(monotonic: time, wall: wall).listeningTime == time)
    #expect(Moment(monotonic: time + .seconds(1), wall: wall, listeningTime: time).listeningTime == time)
  }
}
