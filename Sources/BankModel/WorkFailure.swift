// A worker's report of work that it could not do: reason, exit of the process, and consequence for the customer.
// Invariant: the length of the text is bounded, because it is stored in the database.

import Time

/// Reason and consequence of work that was not done. It is a class, because failures are rare and a struct would
/// enlarge the values that may contain a failure.
public final class WorkFailure: Hashable, Sendable {
  /// What happens to the customer after the failure.
  public enum Consequence: UInt8, Sendable, CaseIterable {
    /// Retry after a pause, as often as the service allows failures.
    case again = 1
    /// Retry after a pause. Counted as a failure only if the customer has had many attempts (`maxDeferrals`).
    case later = 2
    /// Dead letter at once.
    case never = 3
    /// Retry, as often as the service allows crashes.
    case crash = 4
    /// The service cannot serve any customer now: the customer returns to the head of the line, and the
    /// service pauses.
    case pause = 5
  }

  /// Reason for the failure, at most ``Attempt/maxFailureTextBytes`` bytes.
  public let words: String
  /// Consequence for the customer.
  public let consequence: Consequence
  /// Exit of the command; nil if there was none.
  public let processEnd: ProcessEnd?
  /// Pause before the retry that the worker requests; nil for the default of the service.
  public let after: TimeSpan?
  /// True if the work did not start, so that the attempt does not count towards `max_attempts`. Either the worker
  /// started nothing, or the system or a shell reported that it cannot execute the program.
  public let isNotStarted: Bool

  /// - Parameters:
  ///   - words: reason for the failure; truncated at the front if it is too long.
  ///   - isNotStarted: true if the worker is certain that nothing was started.
  public init(
    _ words: String, _ consequence: Consequence = .again, processEnd: ProcessEnd? = nil,
    after: TimeSpan? = nil, isNotStarted: Bool = false
  ) {
    self.isNotStarted = isNotStarted || consequence == .pause && Self.isProgramMissing(processEnd)
    self.words = words.utf8.count <= Attempt.maxFailureTextBytes ? words : Self.cut(words)
    (self.consequence, self.processEnd, self.after) = (consequence, processEnd, after)
  }

  /// Compares all properties.
  public static func == (left: WorkFailure, right: WorkFailure) -> Bool {
    left.words == right.words && left.consequence == right.consequence && left.processEnd == right.processEnd
      && left.after == right.after && left.isNotStarted == right.isNotStarted
  }

  /// Hashes all properties.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words)
    hasher.combine(consequence)
    hasher.combine(processEnd)
    hasher.combine(after)
    hasher.combine(isNotStarted)
  }

  /// True if the program of the work could not be executed: no process was started (`end` is nil), or a shell has
  /// reported this with the exit code 126 or 127.
  private static func isProgramMissing(_ end: ProcessEnd?) -> Bool {
    switch end {
    case nil, .code(126), .code(127): true
    case .code, .signal: false
    }
  }

  /// Removes the front of a text that is too long, because its end usually contains the reason.
  private static func cut(_ words: String) -> String {
    var rest = Substring(words)
    while rest.utf8.count > Attempt.maxFailureTextBytes - 3 {
      rest = rest.dropFirst(max(1, (rest.utf8.count - Attempt.maxFailureTextBytes + 3) / 4))
    }
    return "…" + rest
  }
}
