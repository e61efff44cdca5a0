// Owns how much the coordinator takes upon itself at once, and how long it waits for what it has asked for itself. It knows
// nothing of what is counted. Invariant: nobody notices these numbers but by the time that something takes.

import Time
import Wire

/// How much is done at once.
package struct CoordinatorLimits: Sendable {
  /// Customers in one slice of a large request.
  package var slice: Int64 = 2_048
  /// Customers in a part of a list that is kept.
  package var listPart = EnqueueList.partLimit
  /// Numbers that are left free for others before a request in slices, at most.
  package var gap: Int64 = 1 << 20
  /// Customers of a request that was never whole who are taken out in one turn.
  package var withdrawn = 4_096
  /// How long the stock may take to give back what a cancelled ticket holds.
  package var release = TimeSpan.seconds(10)

  /// Those of a bank that is open.
  package init() {}
}
