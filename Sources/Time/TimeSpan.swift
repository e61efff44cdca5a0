// Durations. Invariant: no duration is negative. Arithmetic saturates at zero and at the longest span. A division by
// zero or by a negative number traps.

/// A length of time in nanoseconds, never negative. It is used in place of Swift's `Duration`, whose 128-bit arithmetic
/// is slower.
public struct TimeSpan: Sendable, Comparable, Hashable {
  /// Nanoseconds, at least 0.
  public let nanoseconds: Int64

  /// A span of this many nanoseconds; a negative number becomes zero.
  public init(nanoseconds: Int64) { self.nanoseconds = max(0, nanoseconds) }

  /// A span in nanoseconds.
  public static func nanoseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: count) }

  /// A span in microseconds.
  public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000) * count }

  /// A span in milliseconds.
  public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000_000) * count }

  /// A span in seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000_000_000) * count }

  /// A span in minutes.
  public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 60_000_000_000) * count }

  /// A span of no length.
  public static let zero = TimeSpan(nanoseconds: 0)

  /// Whole milliseconds, rounded down.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// Seconds as a floating-point number, for rates and for display.
  public var inSeconds: Double { Double(nanoseconds) / 1e9 }

  /// Ordered by length.
  public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The sum; saturates.
  public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? .max : sum)
  }

  /// Adds a span; saturates.
  public static func += (left: inout TimeSpan, right: TimeSpan) { left = left + right }

  /// The difference; zero if negative.
  public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }

  /// The product; saturates, and is zero for a negative factor.
  public static func * (span: TimeSpan, factor: Int64) -> TimeSpan {
    let (product, overflow) = span.nanoseconds.multipliedReportingOverflow(by: factor)
    guard overflow else { return TimeSpan(nanoseconds: product) }
    return TimeSpan(nanoseconds: factor < 0 ? 0 : .max)
  }

  /// The quotient, rounded down. The divisor must be positive.
  public static func / (span: TimeSpan, divisor: Int64) -> TimeSpan {
    precondition(divisor > 0, "a span is divided by \(divisor)")
    return TimeSpan(nanoseconds: span.nanoseconds / divisor)
  }
}
