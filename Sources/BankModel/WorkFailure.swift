// Owns what a worker says of work that it could not do: why, how its process ended, and what is to become of the customer.
// Invariant: whatever it says, the words are bounded, because they go into the books.

import Time

/// Why a customer's work was not done, and what follows from it. It is handed on by a reference, because it is rare, and what
/// could hold one would be copied with every customer.
public final class WorkFailure: Hashable, Sendable {
  /// What becomes of the customer.
  public enum Consequence: UInt8, Sendable, CaseIterable {
    /// Again after a pause, as often as the service allows failures.
    case again = 1
    /// Again after a pause, and nobody's failure.
    case later = 2
    /// A dead letter at once: it would fail as often as it was tried.
    case never = 3
    /// Again, as often as the service allows crashes.
    case crash = 4
    /// Nobody can be served like this: the customer waits at the head of the line, and the service pauses.
    case pause = 5
  }

  /// In words, at most ``Attempt/longestWords`` bytes; with the last lines that a command has written.
  public let words: String
  /// What becomes of the customer.
  public let consequence: Consequence
  /// How the command ended; nil where there was none.
  public let processEnd: ProcessEnd?
  /// The pause that the worker asks for; nil where it leaves that to the service.
  public let after: TimeSpan?
  /// Whether the work has not begun, so that the attempt is none of those that `max_attempts` counts: whoever says so has
  /// begun nothing, or the system, or a shell, has said that there is nothing that could be begun.
  public let isUnbegun: Bool

  /// - Parameters:
  ///   - words: cut where they are too long.
  ///   - isUnbegun: whether whoever says it knows that nothing was begun.
  public init(
    _ words: String, _ consequence: Consequence = .again, processEnd: ProcessEnd? = nil,
    after: TimeSpan? = nil, isUnbegun: Bool = false
  ) {
    self.isUnbegun = isUnbegun || consequence == .pause && Self.meansNoProgram(processEnd)
    self.words = words.utf8.count <= Attempt.longestWords ? words : Self.cut(words)
    (self.consequence, self.processEnd, self.after) = (consequence, processEnd, after)
  }

  /// Whether both say the same.
  public static func == (left: WorkFailure, right: WorkFailure) -> Bool {
    left.words == right.words && left.consequence == right.consequence && left.processEnd == right.processEnd
      && left.after == right.after && left.isUnbegun == right.isUnbegun
  }

  /// Feeds everything that is said.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words)
    hasher.combine(consequence)
    hasher.combine(processEnd)
    hasher.combine(after)
    hasher.combine(isUnbegun)
  }

  /// No such program, no such directory: there was no process; or a shell says the same, with 126 and 127.
  private static func meansNoProgram(_ end: ProcessEnd?) -> Bool {
    switch end {
    case nil, .code(126), .code(127): true
    case .code, .signal: false
    }
  }

  /// The last words are those that say why.
  private static func cut(_ words: String) -> String {
    var rest = Substring(words)
    while rest.utf8.count > Attempt.longestWords - 3 {
      rest = rest.dropFirst(max(1, (rest.utf8.count - Attempt.longestWords + 3) / 4))
    }
    return "…" + rest
  }
}
