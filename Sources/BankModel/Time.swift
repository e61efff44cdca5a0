// Owns the two kinds of time: one that only moves forward, for deciding, and one for people's calendars.
// It reads no clock: whoever stands outside hands the readings in.

/// A reading of a clock that never goes back, in nanoseconds since some moment of this boot.
public struct MonotonicTime: Sendable, Comparable, Hashable {
  /// Nanoseconds since an arbitrary origin.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The earlier, or the shorter, comes first.
  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The moment a span later, or the last moment there is.
  public static func + (time: MonotonicTime, span: TimeSpan) -> MonotonicTime {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(span.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .max : sum)
  }

  /// The span from another moment to this one; zero where the other one is later.
  public func since(_ earlier: MonotonicTime) -> TimeSpan {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? .max : max(0, difference))
  }
}

/// A length of time in nanoseconds, never negative. `Duration` has 128 bits and is slower where this is used.
public struct TimeSpan: Sendable, Comparable, Hashable {
  /// Nanoseconds, at least 0.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = max(0, nanoseconds) }

  /// A span of whole milliseconds.
  public static func milliseconds(_ count: Int64) -> TimeSpan {
    let (product, overflow) = count.multipliedReportingOverflow(by: 1_000_000)
    return TimeSpan(nanoseconds: overflow ? .max : product)
  }

  /// A span of whole seconds.
  public static func seconds(_ count: Int64) -> TimeSpan { .milliseconds(count * 1_000) }

  /// No time at all.
  public static let zero = TimeSpan(nanoseconds: 0)

  /// Whole milliseconds, rounded down.
  public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// The earlier, or the shorter, comes first.
  public static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Both spans together, or the longest span there is.
  public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return TimeSpan(nanoseconds: overflow ? .max : sum)
  }
}

/// A reading of the calendar's clock: milliseconds since 1970 in UTC. It may jump; nothing is decided by it.
public struct WallTime: Sendable, Comparable, Hashable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The earlier, or the shorter, comes first.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension WallTime: Codable {
  /// Reads the milliseconds.
  public init(from decoder: any Decoder) throws {
    self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  /// Writes the milliseconds alone.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(milliseconds)
  }
}

/// One reading of all clocks at once.
public struct Moment: Sendable, Equatable {
  /// For deciding.
  public var monotonic: MonotonicTime
  /// For people.
  public var wall: WallTime
  /// For judging others by their silence: it leaves out the time in which nobody listened to them.
  public var attended: MonotonicTime

  /// Puts the parts together.
  ///
  /// - Parameter attended: nil where everything was heard at once.
  public init(monotonic: MonotonicTime, wall: WallTime, attended: MonotonicTime? = nil) {
    self.monotonic = monotonic
    self.wall = wall
    self.attended = attended ?? monotonic
  }
}
