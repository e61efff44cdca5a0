// Owns when a store that is short of room looks again whether there is room. It knows no store and reads no clock.
// Invariant: the next look is fixed when the shortage begins, and after that only by looking: whatever else happens to a
// store that is short, however often, puts nothing off. A store that is not short is never looked at.

import Time

/// The looks of one store that may be short of room.
public struct RoomWatch: Sendable, Equatable {
  /// How long a store that is short of room is left alone before it looks again.
  public static let pause = TimeSpan.seconds(1)

  /// When the store is to look again; nil while it is not short.
  public private(set) var dueAt: MonotonicTime?

  /// A watch over a store that is not short.
  public init() {}

  /// Hears whether the store is short, as often as anybody likes to say so.
  public mutating func note(isShort: Bool, at now: MonotonicTime) {
    guard isShort else { return dueAt = nil }
    if dueAt == nil { dueAt = now + Self.pause }
  }

  /// Whether it is time to look; the next look is a pause away then.
  public mutating func takeDue(at now: MonotonicTime) -> Bool {
    guard let due = dueAt, due <= now else { return false }
    dueAt = now + Self.pause
    return true
  }
}
