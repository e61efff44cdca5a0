// Owns the difference between the clock of a branch and the database's. Moments of all branches stand in the same books, and
// somebody who is due is called by the database's clock: what a branch writes is by that clock, and what it reads by its own.
// Invariant: a difference of less than a second counts as none, and one that is taken over stays until it is off by a second:
// what lies one behind the other at a branch does so in the books. Until when somebody waits is right also when the branch's
// clock was set since the database's was heard: that is counted by a clock that nobody sets.
import Time

struct SharedClock {
  private static let tolerance: Int64 = 1_000

  /// What is added to a moment of the branch, in milliseconds.
  private var difference: Int64 = 0
  /// What the database's clock showed when it was heard last.
  private var heard: (database: Int64, at: MonotonicTime)?

  /// The database's clock as it was told at a moment of the branch's.
  ///
  /// - Returns: true if moments that the branch writes down from now on are before others that it has written down.
  @discardableResult
  mutating func hear(_ database: Int64, at own: WallTime, _ now: MonotonicTime? = nil) -> Bool {
    let isFirst = heard == nil
    heard = now.map { (database, $0) }
    let found = database.subtractingReportingOverflow(own.milliseconds)
    guard !found.overflow else { return false }
    let change = found.partialValue.subtractingReportingOverflow(difference)
    guard change.overflow || change.partialValue.magnitude >= UInt64(Self.tolerance) else { return false }
    let former = difference
    difference = found.partialValue.magnitude < UInt64(Self.tolerance) ? 0 : found.partialValue
    return difference < former && !isFirst
  }

  /// A moment of the branch's by the database's clock.
  func theirs(_ own: WallTime) -> Int64 { own.milliseconds.addingReportingOverflow(difference).partialValue }

  /// By the database's clock, until when somebody is to wait: asked for at the moment at which it was determined.
  func due(_ own: WallTime, at now: Moment) -> Int64 {
    let known = theirs(own)
    guard let heard else { return known }
    let wait = own.milliseconds.subtractingReportingOverflow(now.wall.milliseconds).partialValue
    let present = heard.database.addingReportingOverflow(now.monotonic.since(heard.at).milliseconds)
      .partialValue
    let found = present.addingReportingOverflow(wait).partialValue
    let change = found.subtractingReportingOverflow(known)
    return change.overflow || change.partialValue.magnitude >= UInt64(Self.tolerance) ? found : known
  }

  /// A moment of the database's by the branch's clock.
  func ours(_ theirs: Int64) -> WallTime {
    WallTime(milliseconds: theirs.subtractingReportingOverflow(difference).partialValue)
  }
}
