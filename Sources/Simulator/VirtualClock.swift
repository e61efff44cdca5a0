// Owns the time of the simulated world: one clock that only moves forward, and a calendar that may jump.
// It must not know what happens at any moment. Nothing here reads a clock of the machine, so a history takes as long
// as it takes to compute. Invariant: the forward clock never goes back. There is nothing that can fail.

import BankModel

struct VirtualClock {
  private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// The calendar's reading when the forward clock stood at zero, in milliseconds since 1970.
  private var calendarOrigin: Int64 = 1_700_000_000_000

  var moment: Moment {
    Moment(monotonic: now, wall: WallTime(milliseconds: calendarOrigin + now.nanoseconds / 1_000_000))
  }

  mutating func advance(to moment: MonotonicTime) { now = max(now, moment) }
  /// Somebody sets the calendar: it jumps by so many milliseconds, forward or back.
  mutating func jump(byMilliseconds span: Int64) { calendarOrigin += span }
}
