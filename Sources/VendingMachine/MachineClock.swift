// Owns the moment that a turn of the machine's loop works with, and the day that people here have then. It decides nothing.
// Invariant: within a turn all parts of the machine have the same moment and the same day.

import BankModel
import Posix

/// The time of a machine.
final class MachineClock {
  /// The moment of this turn.
  private(set) var now = SystemClock.moment()

  /// Reads the clocks.
  func turn() { now = SystemClock.moment() }

  /// The day that people here have.
  var today: DayNumber {
    let day = LocalCalendar.day(atMilliseconds: now.wall.milliseconds)
    return min(max(day, StockLimits.days.lowerBound), StockLimits.days.upperBound)
  }
}
