// Owns how long a commit waits for more to put into it. It knows no disk and reads no clock.
// Whoever was answered by the last commit is likely to ask again at once, and while the answers are still being written
// the first of them do. To commit for these few alone would keep all the others waiting for two commits.
// Invariant: a client that asks one thing after the other never waits; nobody waits longer than a quarter of a commit.

import Time

/// When the open transaction is to be committed.
struct CommitGathering {
  /// The longest that a commit is waited with, whatever the disk takes.
  static let longest = TimeSpan.milliseconds(2)

  private var answered = 0
  private var ended = MonotonicTime(nanoseconds: 0)
  private var took = TimeSpan.zero

  /// A commit has answered so many requests.
  mutating func committed(_ requests: Int, from begin: MonotonicTime, to end: MonotonicTime) {
    answered = requests
    ended = end
    // One commit that was slow is not the disk's pace.
    took = (took * 3 + end.since(begin)) / 4
  }

  /// The moment for a transaction of so many requests of which the first came at a moment; the past for at once.
  func due(_ requests: Int, since first: MonotonicTime) -> MonotonicTime {
    let pause = min(took / 4, Self.longest)
    let isExpectingMore = requests < answered && first.since(ended) <= took
    return isExpectingMore ? first + pause : first
  }
}
