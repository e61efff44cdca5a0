// Owns what became of a command, as a value, and nothing of what is made of it: that is ``ExitTable``.
// Invariant: it is complete: whatever is known of the command is known here.
import Glibc
import Posix
import Time

/// How a command ended and what it said.
public struct CommandOutcome: Sendable, Hashable {
  /// Why a command was ended by those who ran it.
  public enum Interruption: Sendable, Hashable {
    /// Its time was over.
    case timeout
    /// Somebody wanted it to end.
    case cancel
  }

  /// With a code, or by a signal.
  public var ending: ExitStatus.Ending
  /// From its start to its own end, without what it left behind.
  public var duration: TimeSpan
  /// Nil where it ended by itself.
  public var interruption: Interruption?
  /// What came from its standard output.
  public var output: CapturedOutput
  /// What came from its standard error.
  public var errors: CapturedOutput
  /// Descendants that could not be ended; mostly none.
  public var leftBehind: [pid_t]

  public init(
    ending: ExitStatus.Ending, duration: TimeSpan, interruption: Interruption? = nil,
    output: CapturedOutput = CapturedOutput(), errors: CapturedOutput = CapturedOutput(),
    leftBehind: [pid_t] = []
  ) {
    (self.ending, self.duration, self.interruption) = (ending, duration, interruption)
    (self.output, self.errors, self.leftBehind) = (output, errors, leftBehind)
  }

  /// Whether its time was over before it was done.
  public var isTimedOut: Bool { interruption == .timeout }
}
