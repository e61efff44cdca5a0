// Rate limit for the manager's code: after several consecutive wrong codes a visitor must wait.
// Invariant: the pause of one visitor does not affect another, and memory is bounded.
import Time

/// Result of checking a code.
public enum CodeVerdict: Sendable, Equatable {
  case right, wrong
  /// Not checked, because the visitor must wait.
  case pause
}

/// The wrong codes of the visitors.
struct CodeTrials: Sendable {
  private struct Trial {
    var visitor: String
    var wrong = 0
    /// End of the pause; codes before it are not checked.
    var from: MonotonicTime?
  }

  /// Sorted by the time of the last wrong code, the oldest first.
  private var trials: [Trial] = []

  /// Number of consecutive wrong codes before a pause, and its duration.
  static let (atMost, pause) = (5, TimeSpan.seconds(30))
  /// Maximum number of stored visitors.
  static let visitors = 256

  /// Checks a code.
  ///
  /// - Parameters:
  ///   - visitor: the secret of the visitor's session.
  ///   - isRight: compares the code; not called during the pause.
  mutating func judge(_ visitor: String, at now: MonotonicTime, isRight: () -> Bool) -> CodeVerdict {
    let place = trials.firstIndex { $0.visitor == visitor }
    var trial = place.map { trials[$0] } ?? Trial(visitor: visitor)
    if let from = trial.from, from > now { return .pause }
    if let place { trials.remove(at: place) }
    guard !isRight() else { return .right }
    trial.wrong = trial.from == nil ? trial.wrong + 1 : 1
    trial.from = trial.wrong >= Self.atMost ? now + Self.pause : nil
    if trials.count >= Self.visitors { trials.removeFirst() }
    trials.append(trial)
    return .wrong
  }
}
