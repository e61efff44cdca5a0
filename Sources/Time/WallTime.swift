// Readings of the wall clock, for display and for times that are compared across boots. The clock jumps when it is set,
// so durations are measured with `MonotonicTime` instead.

/// A reading of the wall clock: milliseconds since 1970 in UTC. The clock may jump, so do not measure durations
/// with it.
public struct WallTime: Sendable, Comparable, Hashable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Ordered by time.
  public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}

extension WallTime: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  /// Encodes only the milliseconds.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(milliseconds)
  }
}
