// Range of due times that a poll searches. While an old snapshot is open, PostgreSQL keeps the index entries of
// customers that were due earlier. A poll over all due times would visit each of these entries.
// Invariant: the ranges of consecutive polls overlap, and polls regularly search everything.
import Time

/// How far back a poll searches for customers that became due, from one poll to the next.
struct DueSearchRange {
  /// Search range that includes every due customer, in milliseconds.
  static let everything: Int64 = 1 << 50
  /// Shortest search range, in milliseconds.
  private static let minRange: Int64 = 5_000
  /// Maximum number of polls from one search of everything to the next.
  private static let fullSearchInterval = 30

  /// Search range of the last poll, in milliseconds.
  private(set) var last = DueSearchRange.everything
  private var pollCount = 0
  private var polledAt: MonotonicTime?

  /// Search range of a poll at this moment, in milliseconds.
  mutating func next(at now: MonotonicTime) -> Int64 {
    defer { polledAt = now }
    pollCount += 1
    guard let polledAt, pollCount < Self.fullSearchInterval else {
      pollCount = 0
      last = Self.everything
      return last
    }
    last = Self.minRange + 2 * now.since(polledAt).milliseconds
    return last
  }

  /// Makes the next poll search everything.
  mutating func reset() { polledAt = nil }
}
