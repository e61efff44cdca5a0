// The time at which a store that is short of room checks again.

import QueueCore
import Testing
import Time

@Suite struct DiskSpaceMonitorTests {
  private static func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test("repeated reports of missing room do not postpone the next check")
  func isNotPutOff() {
    var watch = DiskSpaceMonitor()
    watch.note(isLowOnSpace: false, at: Self.at(0))
    #expect(watch.dueAt == nil, "with room there is no check")
    for moment in stride(from: 10, to: 1_000, by: 10) as StrideTo<Int64> {
      watch.note(isLowOnSpace: true, at: Self.at(moment))
      #expect(watch.dueAt == Self.at(1_010))
      let isDue = watch.takeDue(at: Self.at(moment))
      #expect(!isDue)
    }
    let isDue = watch.takeDue(at: Self.at(1_015))
    #expect(isDue)
    for moment in stride(from: 1_015, to: 2_000, by: 10) as StrideTo<Int64> {
      watch.note(isLowOnSpace: true, at: Self.at(moment))
      #expect(watch.dueAt == Self.at(2_015), "only a check moves the next one")
    }
    watch.note(isLowOnSpace: false, at: Self.at(2_010))
    let isLookedAtAgain = watch.takeDue(at: Self.at(5_000))
    #expect(watch.dueAt == nil && !isLookedAtAgain)
  }
}
