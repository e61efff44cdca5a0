// Rate limit for the manager's code: after several consecutive wrong codes a visitor must wait.
// Invariant: the pause of one session does not affect another, and memory is bounded.
import Time

/// Result of checking a code with which a visitor wants to become the vending machine's manager.
public enum CodeVerdict: Sendable, Equatable {
  case right, wrong
  /// Not checked, because the visitor must wait.
  case pause
}

/// Counts the consecutive wrong codes of each visitor, and makes a visitor wait after too many.
struct CodeRateLimiter: Sendable {
  /// Number of consecutive wrong codes of one visitor, and the end of the pause after too many.
  private struct FailedAttempts {
    /// Value of the visitor's session cookie; empty without a cookie.
    var visitor: String
    var wrong = 0
    /// End of the pause; codes before it are not checked.
    var blockedUntil: MonotonicTime?
  }

  /// Visitors with wrong codes, sorted by the time of the last one, the oldest first.
  private var visitorAttempts: [FailedAttempts] = []

  /// Number of consecutive wrong codes before a pause, and the duration of the pause.
  static let (atMost, pause) = (5, TimeSpan.seconds(30))
  /// Maximum number of stored visitors.
  static let visitors = 256

  /// Checks a code with `isRight` unless the visitor must wait, and counts it if it is wrong.
  ///
  /// - Parameters:
  ///   - visitor: the value of the visitor's session cookie; empty without a cookie.
  ///   - isRight: compares the code; not called during the pause.
  mutating func checkCode(_ visitor: String, at now: MonotonicTime, isRight: () -> Bool) -> CodeVerdict {
    let index = visitorAttempts.firstIndex { $0.visitor == visitor }
    var attempts = index.map { visitorAttempts[$0] } ?? FailedAttempts(visitor: visitor)
    if let blockedUntil = attempts.blockedUntil, blockedUntil > now { return .pause }
    if let index { visitorAttempts.remove(at: index) }
    guard !isRight() else { return .right }
    attempts.wrong = attempts.blockedUntil == nil ? attempts.wrong + 1 : 1
    attempts.blockedUntil = attempts.wrong >= Self.atMost ? now + Self.pause : nil
    if visitorAttempts.count >= Self.visitors { visitorAttempts.removeFirst() }
    visitorAttempts.append(attempts)
    return .wrong
  }
}
