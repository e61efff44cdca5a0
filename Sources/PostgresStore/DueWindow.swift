// Owns how far back a branch looks for customers who are due. Whoever holds a snapshot for long keeps the entries of all who were
// called before in the index, and each would be visited by each look.
// Invariant: between two looks nobody comes to be due unseen, and now and then a look finds everybody.
import Time

struct DueWindow {
  /// Everybody who is due, in milliseconds.
  static let everything: Int64 = 1 << 50
  private static let least: Int64 = 5_000
  private static let fullEvery = 30

  /// How far back the last look went, in milliseconds.
  private(set) var last = DueWindow.everything
  private var looks = 0
  private var lookedAt: MonotonicTime?

  /// How far back a look goes at a moment.
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

  /// The next look finds everybody.
  mutating func reset() { lookedAt = nil }
}
