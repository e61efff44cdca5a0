// Outcome of a command, as a value. Its meaning for the customer is the part of ``ExitTable``.
// Invariant: it is complete: it contains all that is known of the command.
import Glibc
import Posix
import Time

/// A command's exit status, duration and output.
public struct CommandOutcome: Sendable, Hashable {
  /// Reason why the runner ended a command.
  public enum Interruption: Sendable, Hashable {
    /// The timeout of the command expired.
    case timeout
    /// The caller cancelled the command.
    case cancel
  }

  /// Exit code or signal.
  public var ending: ExitStatus.Ending
  /// Time from the start of the command to its own exit, without the time of processes it left behind.
  public var duration: TimeSpan
  /// Nil if the command exited by itself.
  public var interruption: Interruption?
  /// Captured standard output.
  public var output: CapturedOutput
  /// Captured standard error.
  public var errors: CapturedOutput
  /// Descendants that could not be ended; usually empty.
  public var leftBehind: [pid_t]

  public init(
    ending: ExitStatus.Ending, duration: TimeSpan, interruption: Interruption? = nil,
    output: CapturedOutput = CapturedOutput(), errors: CapturedOutput = CapturedOutput(),
    leftBehind: [pid_t] = []
  ) {
    (self.ending, self.duration, self.interruption) = (ending, duration, interruption)
    (self.output, self.errors, self.leftBehind) = (output, errors, leftBehind)
  }

  /// True if the command was ended by its timeout.
  public var isTimedOut: Bool { interruption == .timeout }
}
