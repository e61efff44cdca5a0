// Owns readings of the calendar's clock, for people and for what outlives a boot.
// It may jump, when somebody sets it: nothing is measured by it.

/// A reading of the calendar's clock: milliseconds since 1970 in UTC. It may jump; nothing is decided by it.
public struct WallTime: Sendable, Comparable, Hashable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The earlier comes first.
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
