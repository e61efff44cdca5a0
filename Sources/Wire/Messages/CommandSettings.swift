// Settings of a runner for its commands: program, limits, timeout, and the meaning of exits.
// Invariant: the settings do not depend on the customer, whose data is in the assignment.

import BankModel

/// Description of the commands of one service.
public struct CommandSettings: Codable, Sendable, Equatable {
  /// Meaning of an exit.
  public struct Meaning: Codable, Sendable, Hashable {
    /// Exit code, or ``others``, ``signals`` or ``timeouts``.
    public var code: Int32
    /// Consequence for the customer; nil if the customer counts as served.
    public var consequence: WorkFailure.Consequence?

    /// Meaning of one code.
    public init(code: Int32, consequence: WorkFailure.Consequence?) {
      (self.code, self.consequence) = (code, consequence)
    }

    /// Value of ``code`` for every exit code that is not listed.
    public static let others: Int32 = -1
    /// Value of ``code`` for an end by any signal.
    public static let signals: Int32 = -2
    /// Value of ``code`` for a timeout.
    public static let timeouts: Int32 = -3

    /// Field number of each property of the meaning of an exit, in messages.
    enum CodingKeys: Int, CodingKey { case code = 1, consequence }
  }

  /// Resource limits of a command. For nil, the command has the limit with which the runner was started.
  public struct Limits: Codable, Sendable, Hashable {
    /// Address space in bytes.
    public var memory: Int64?
    /// Processor time in seconds.
    public var processorSeconds: Int64?
    /// Number of open files.
    public var openFiles: Int64?
    /// Maximum size in bytes of each file that the command writes.
    public var fileSize: Int64?

    public init() {}
    /// Field number of each property of a command's resource limits, in messages.
    enum CodingKeys: Int, CodingKey { case memory = 1, processorSeconds, openFiles, fileSize }
  }

  /// The program and its arguments. Empty if each customer's payload contains its command, as for the service
  /// `run`.
  public var words: [String]
  /// Working directory; nil for the bank's home.
  public var directory: String?
  /// Environment variables as `NAME=VALUE`, in addition to those that every command gets.
  public var environment: [String]
  /// Timeout in milliseconds; nil for none.
  public var timeoutMilliseconds: Int64?
  /// Time from SIGTERM to SIGKILL in milliseconds.
  public var graceMilliseconds: Int64
  /// Resource limits of the command.
  public var limits: Limits
  /// Bytes of the command's standard output that are stored with the receipt, at most `TruncatedOutput.longest`. The
  /// same limit applies to its standard error.
  public var resultBytes: Int64
  /// Bytes of the command's standard output that are written to a file. The same limit applies to its standard
  /// error.
  public var outputBytes: Int64
  /// Directory that has one subdirectory with output files for each day.
  public var outputDirectory: String
  /// Meanings of exits that differ from the default.
  public var meanings: [Meaning]
  /// umask of the command; nil for the umask of the bank, or for the one in the customer's command line.
  public var mask: UInt32?

  /// Creates settings from all values.
  public init(
    words: [String], directory: String?, environment: [String], timeoutMilliseconds: Int64?,
    graceMilliseconds: Int64, limits: Limits, resultBytes: Int64, outputBytes: Int64, outputDirectory: String,
    meanings: [Meaning], mask: UInt32? = nil
  ) {
    (self.words, self.directory, self.environment) = (words, directory, environment)
    (self.timeoutMilliseconds, self.graceMilliseconds) = (timeoutMilliseconds, graceMilliseconds)
    (self.limits, self.resultBytes, self.outputBytes) = (limits, resultBytes, outputBytes)
    (self.outputDirectory, self.meanings, self.mask) = (outputDirectory, meanings, mask)
  }

  /// Field number of each property of the settings of a service's commands, in messages.
  enum CodingKeys: Int, CodingKey {
    case words = 1, directory, environment, timeoutMilliseconds, graceMilliseconds, limits, resultBytes,
      outputBytes,
      outputDirectory, meanings, mask
  }
}

/// A value in an object, so that a copy of its owner copies one reference. It is encoded as the value itself.
final class Indirect<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  let value: Value

  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  static func == (left: Indirect, right: Indirect) -> Bool { left.value == right.value }
}
