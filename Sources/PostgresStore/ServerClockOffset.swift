// Difference between the clock of a branch and the clock of the database server. All branches store times in the same
// database, and due customers are selected by the server's clock. So a branch writes times by the server's clock, and
// converts times that it reads to its own clock.
// Invariant: a difference of less than a second counts as none, and an adopted difference changes only when it is wrong
// by a second or more. So the order of times of one branch is preserved in the database, except when
// ``record(_:at:_:)`` returns true. Due times are computed with the monotonic clock, so they are correct even if the
// branch's clock was set since the last reading of the server's clock.
import Time

/// Difference of the server's clock from the branch's clock, by which times are converted in both directions.
struct ServerClockOffset {
  /// Smallest difference that counts, in milliseconds.
  private static let tolerance: Int64 = 1_000

  /// Added to a time of the branch, in milliseconds.
  private var difference: Int64 = 0
  /// Last reading of the server's clock, with the branch's monotonic time of the reading.
  private var lastReading: (database: Int64, at: MonotonicTime)?

  /// Records a reading of the server's clock and the branch's time of the reading. Returns true if later times of the
  /// branch may now be stored with lower values than earlier ones.
  @discardableResult
  mutating func record(_ database: Int64, at own: WallTime, _ now: MonotonicTime? = nil) -> Bool {
    let isFirst = lastReading == nil
    lastReading = now.map { (database, $0) }
    let found = database.subtractingReportingOverflow(own.milliseconds)
    guard !found.overflow else { return false }
    let change = found.partialValue.subtractingReportingOverflow(difference)
    guard change.overflow || change.partialValue.magnitude >= UInt64(Self.tolerance) else { return false }
    let former = difference
    difference = found.partialValue.magnitude < UInt64(Self.tolerance) ? 0 : found.partialValue
    return difference < former && !isFirst
  }

  /// Converts a time of the branch to the server's clock, in milliseconds since 1970.
  func serverTime(_ own: WallTime) -> Int64 {
    own.milliseconds.addingReportingOverflow(difference).partialValue
  }

  /// Converts a due time to the server's clock. Must be called at the moment at which the due time was computed.
  func due(_ own: WallTime, at now: Moment) -> Int64 {
    let known = serverTime(own)
    guard let lastReading else { return known }
    let wait = own.milliseconds.subtractingReportingOverflow(now.wall.milliseconds).partialValue
    let present = lastReading.database.addingReportingOverflow(
      now.monotonic.since(lastReading.at).milliseconds
    )
    .partialValue
    let found = present.addingReportingOverflow(wait).partialValue
    let change = found.subtractingReportingOverflow(known)
    return change.overflow || change.partialValue.magnitude >= UInt64(Self.tolerance) ? found : known
  }

  /// Converts a time of the server to the branch's clock.
  func localTime(_ serverTime: Int64) -> WallTime {
    WallTime(milliseconds: serverTime.subtractingReportingOverflow(difference).partialValue)
  }
}
