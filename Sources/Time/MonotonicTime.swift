// Readings of the monotonic clock, for decisions and measurements within one boot. Compare a reading only with
// readings of the same boot. No operation fails: arithmetic saturates at the ends of the range.

/// A reading of a monotonic clock, in nanoseconds since an arbitrary origin that is fixed for the current boot.
public struct MonotonicTime: Sendable, Comparable, Hashable {
  /// Nanoseconds since an arbitrary origin.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Ordered by time.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The time that is `span` later; saturates.
  public static func + (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .max : sum)
  }

  /// Adds a span; saturates.
  public static func += (time: inout MonotonicTime, span: TimeSpan) { time = time + span }

  /// The time that is `span` earlier; saturates.
  public static func - (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(span.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .min : difference)
  }

  /// Span from `earlier` to this time; zero if `earlier` is the later one.
  public func since(_ earlier: MonotonicTime) -> TimeSpan {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    guard overflow else { return TimeSpan(nanoseconds: difference) }
    return TimeSpan(nanoseconds: nanoseconds < 0 ? 0 : .max)
  }

  /// The earlier of two optional times; nil means never.
  public static func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// The earliest of several optional times; nil if all are nil.
  public static func earliest(_ moments: MonotonicTime?...) -> MonotonicTime? {
    moments.reduce(nil, earlier)
  }
}
