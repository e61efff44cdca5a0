// Outcome of a command, as a value.
// ``ExitTable`` defines its meaning for the customer.
import Glibc
import Posix
import Time

/// A command's exit status, duration and output.
public struct CommandOutcome: Sendable, Hashable {
  /// Reason for which the runner ended a command.
  public enum Interruption: Sendable, Hashable {
    /// The timeout of the command expired.
    case timeout
    /// The caller cancelled the command.
    case cancel
  }

  /// Exit code or signal of the command, or that its exit status is unknown.
  public var ending: ExitStatus.Termination
  /// Time from the start of the command to its own exit. The time in which the runner ends its descendants is
  /// not included.
  public var duration: TimeSpan
  /// Reason for which the runner ended the command; nil if the command exited by itself.
  public var interruption: Interruption?
  /// Captured standard output.
  public var output: CapturedOutput
  /// Captured standard error.
  public var errors: CapturedOutput
  /// Ids of processes of the command that could not be ended.
  public var leftBehind: [pid_t]

  public init(
    ending: ExitStatus.Termination, duration: TimeSpan, interruption: Interruption? = nil,
    output: CapturedOutput = CapturedOutput(), errors: CapturedOutput = CapturedOutput(),
    leftBehind: [pid_t] = []
  ) {
    (self.ending, self.duration, self.interruption) = (ending, duration, interruption)
    (self.output, self.errors, self.leftBehind) = (output, errors, leftBehind)
  }

  /// True if the runner ended the command because its timeout expired.
  public var isTimedOut: Bool { interruption == .timeout }
}
