// Owns the decision when the open transaction is committed while nobody waits for it. It knows no store and no clock.
// Invariant: what is staged is committed within `gather` or `longestPause` of the last commit, whichever is longer.

import Time

/// How far apart commits are while the bank is busy.
///
/// A commit keeps everybody waiting while the disk works, so at most one part in seventeen of the time is given to it:
/// after a commit the next waits sixteen times as long as it took. A quiet disk (0.2 ms) is asked every `gather`; one that
/// others keep busy (5 ms) is asked less often, and more customers share each answer.
struct CommitPacing {
  /// The pause after a commit, in durations of that commit.
  static let rest: Int64 = 16
  /// The longest pause that a slow disk can bring about; those who watch the receipts see them so much later.
  static let longestPause = TimeSpan.milliseconds(25)

  private var lastCommit = MonotonicTime(nanoseconds: 0)
  private var pause = TimeSpan.zero

  /// A commit took from one moment to another.
  mutating func committed(from begin: MonotonicTime, to end: MonotonicTime) {
    lastCommit = end
    pause = min(end.since(begin) * Self.rest, Self.longestPause)
  }

  /// When changes that nobody waits for are committed: at once after a quiet time.
  ///
  /// - Parameters:
  ///   - stagedSince: When the first of them was staged.
  ///   - gather: The shortest pause between two commits.
  func due(stagedSince: MonotonicTime, gather: TimeSpan) -> MonotonicTime {
    max(stagedSince, lastCommit + max(gather, pause))
  }
}
