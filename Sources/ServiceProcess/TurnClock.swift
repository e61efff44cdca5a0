// Owns the moment that a turn of a service works with. It decides nothing.
// Invariant: within a turn all parts of a service have the same moment.

import Posix
import Time

/// The time of a service.
public final class TurnClock {
  /// The moment of this turn.
  public private(set) var now = SystemClock.moment()
  /// The same by the steady clock.
  public var instant: MonotonicTime { now.monotonic }

  /// A clock that shows the present.
  public init() {}

  /// Reads the clocks.
  func turn() { now = SystemClock.moment() }
}
