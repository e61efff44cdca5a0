// Owns readings of the clock that only goes forward: everything is decided and measured by them.
// It reads no clock: whoever stands outside hands the readings in. A reading compares only with those of the same boot.
// Nothing here fails: arithmetic stops at the ends of the range, which are 292 years away.

/// A reading of a clock that never goes back, in nanoseconds since some moment of this boot.
public struct MonotonicTime: Sendable, Comparable, Hashable {
  /// Nanoseconds since an arbitrary origin.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The earlier comes first.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The moment a span later, or the last moment there is.
  public static func + (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .max : sum)
  }

  /// Moves the moment later by a span.
  public static func += (time: inout MonotonicTime, span: TimeSpan) { time = time + span }

  /// The moment a span earlier, or the first moment there is.
  public static func - (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(span.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .min : difference)
  }

  /// The span from another moment to this one; zero where the other one is later.
  public func since(_ earlier: MonotonicTime) -> TimeSpan {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    guard overflow else { return TimeSpan(nanoseconds: difference) }
    return TimeSpan(nanoseconds: nanoseconds < 0 ? 0 : .max)
  }

  /// The earlier of two moments that may never come: nil for never.
  public static func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// The earliest of several moments at which there may be something to do; nil where there is none.
  public static func earliest(_ moments: MonotonicTime?...) -> MonotonicTime? {
    moments.reduce(nil, earlier)
  }
}
