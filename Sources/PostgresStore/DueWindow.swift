// Range of due times that a poll searches. While an old snapshot is held, PostgreSQL keeps the index entries of
// customers that were due earlier. A poll over all due times would visit each of these entries.
// Invariant: no customer becomes due between two polls without being found, and every 30th poll searches everything.
import Time

struct DueWindow {
  /// Search range that includes every due customer, in milliseconds.
  static let everything: Int64 = 1 << 50
  private static let least: Int64 = 5_000
  private static let fullEvery = 30

  /// Search range of the last poll, in milliseconds.
  private(set) var last = DueWindow.everything
  private var looks = 0
  private var lookedAt: MonotonicTime?

  /// Search range of a poll at this moment, in milliseconds.
  mutating func next(at now: MonotonicTime) -> Int64 {
    defer { lookedAt = now }
    looks += 1
    guard let lookedAt, looks < Self.fullEvery else {
      looks = 0
      last = Self.everything
      return last
    }
    last = Self.least + 2 * now.since(lookedAt).milliseconds
    return last
  }

  /// Makes the next poll search everything.
  mutating func reset() { lookedAt = nil }
}
