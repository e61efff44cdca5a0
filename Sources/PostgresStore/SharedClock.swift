// Owns the difference between the clock of a branch and the database's. Moments of all branches stand in the same books, and
// somebody who is due is called by the database's clock: what a branch writes is by that clock, and what it reads by its own.
// Invariant: a difference of less than a second counts as none, and one that is taken over stays until it is off by a second:
// what lies one behind the other at a branch does so in the books.
import Time

struct SharedClock {
  private static let tolerance: Int64 = 1_000

  /// What is added to a moment of the branch, in milliseconds.
  private var difference: Int64 = 0

  /// The database's clock as it was told at a moment of the branch's.
  mutating func hear(_ database: Int64, at own: WallTime) {
    let found = database.subtractingReportingOverflow(own.milliseconds)
    guard !found.overflow else { return }
    let change = found.partialValue.subtractingReportingOverflow(difference)
    guard change.overflow || change.partialValue.magnitude >= UInt64(Self.tolerance) else { return }
    difference = found.partialValue.magnitude < UInt64(Self.tolerance) ? 0 : found.partialValue
  }

  /// A moment of the branch's by the database's clock.
  func theirs(_ own: WallTime) -> Int64 { own.milliseconds.addingReportingOverflow(difference).partialValue }

  /// A moment of the database's by the branch's clock.
  func ours(_ theirs: Int64) -> WallTime {
    WallTime(milliseconds: theirs.subtractingReportingOverflow(difference).partialValue)
  }
}
