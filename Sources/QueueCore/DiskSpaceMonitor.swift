// Timer for checks of free space while a store is short of space.
// Invariant: no check is scheduled while the store has space.

import Time

/// Schedule of the space checks of one store.
public struct DiskSpaceMonitor: Sendable, Equatable {
  /// Time between the start of a shortage and the first check, and between checks.
  public static let pause = TimeSpan.seconds(1)

  /// Time of the next check; nil while the store is not short.
  public private(set) var dueAt: MonotonicTime?

  /// Creates a schedule for a store that is not short.
  public init() {}

  /// Starts the checks if the store is short of space, and ends them otherwise. Repeated calls do not delay a check.
  public mutating func note(isLowOnSpace: Bool, at now: MonotonicTime) {
    guard isLowOnSpace else { return dueAt = nil }
    if dueAt == nil { dueAt = now + Self.pause }
  }

  /// Returns true if a check is due, and then schedules the next check after ``pause``.
  public mutating func takeDue(at now: MonotonicTime) -> Bool {
    guard let due = dueAt, due <= now else { return false }
    dueAt = now + Self.pause
    return true
  }
}
