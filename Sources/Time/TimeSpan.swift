// Owns lengths of time: patience, pauses, what something took. Invariant: none is negative.
// Nothing here fails: arithmetic stops at zero and at the longest span, which is 292 years.

/// A length of time in nanoseconds, never negative. Swift's `Duration` has 128 bits and is slower where this is used.
public struct TimeSpan: Sendable, Comparable, Hashable {
  /// Nanoseconds, at least 0.
  public let nanoseconds: Int64

  /// A span of so many nanoseconds; less than none is none.
  public init(nanoseconds: Int64) { self.nanoseconds = max(0, nanoseconds) }

  /// A span of whole nanoseconds.
  public static func nanoseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: count) }

  /// A span of whole microseconds.
  public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000) * count }

  /// A span of whole milliseconds.
  public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000_000) * count }

  /// A span of whole seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 1_000_000_000) * count }

  /// A span of whole minutes.
  public static func minutes(_ count: Int64) -> TimeSpan { TimeSpan(nanoseconds: 60_000_000_000) * count }

  /// No time at all.
  public static let zero = TimeSpan(nanoseconds: 0)

  /// Whole milliseconds, rounded down.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// As a number of seconds, for rates and for people.
  public var inSeconds: Double { Double(nanoseconds) / 1e9 }

  /// The shorter comes first.
  public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Both spans together, or the longest span there is.
  public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? .max : sum)
  }

  /// Makes the span longer by another.
  public static func += (left: inout TimeSpan, right: TimeSpan) { left = left + right }

  /// What one span is longer than another; zero where it is shorter.
  public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }

  /// The span so many times, or the longest span there is; none for a factor below zero.
  public static func * (span: TimeSpan, factor: Int64) -> TimeSpan {
    let (product, overflow) = span.nanoseconds.multipliedReportingOverflow(by: factor)
    guard overflow else { return TimeSpan(nanoseconds: product) }
    return TimeSpan(nanoseconds: factor < 0 ? 0 : .max)
  }

  /// A part of the span, rounded down; the divisor is above zero.
  public static func / (span: TimeSpan, divisor: Int64) -> TimeSpan {
    precondition(divisor > 0, "a span is divided by \(divisor)")
    return TimeSpan(nanoseconds: span.nanoseconds / divisor)
  }
}
