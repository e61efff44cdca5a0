// How often a visitor may try the manager's code: a few wrong codes one after another, and then a pause.
// Invariant: the pause of one visitor keeps no other visitor from trying, and memory is bounded.
import Time

/// What became of a code that was typed in.
public enum CodeVerdict: Sendable, Equatable {
  case right, wrong
  /// The code was not looked at, because the visitor has to wait.
  case pause
}

/// The wrong codes of the visitors.
struct CodeTrials: Sendable {
  private struct Trial {
    var visitor: String
    var wrong = 0
    /// No code is looked at before.
    var from: MonotonicTime?
  }

  /// The visitor who tried longest ago stands first.
  private var trials: [Trial] = []

  /// Wrong codes that are looked at one after another, and the pause behind them.
  static let (atMost, pause) = (5, TimeSpan.seconds(30))
  /// Visitors who are remembered.
  static let visitors = 256

  /// Judges a code.
  ///
  /// - Parameters:
  ///   - visitor: the name of the visitor's session.
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
