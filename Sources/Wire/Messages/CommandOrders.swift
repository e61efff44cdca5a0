// Owns what a runner is told of the commands that it starts: the words, what they may use, for how long, and what their
// endings mean. It knows no process.
// Invariant: it is the same for every customer of a service; what is a customer's own comes with the assignment.

import BankModel

/// How the commands of one service are run.
public struct CommandOrders: Codable, Sendable, Equatable {
  /// What an ending means.
  public struct Meaning: Codable, Sendable, Hashable {
    /// The exit code; or one of the names below.
    public var code: Int32
    /// What becomes of the customer; nil for served.
    public var consequence: WorkFailure.Consequence?

    /// What one ending means.
    public init(code: Int32, consequence: WorkFailure.Consequence?) {
      (self.code, self.consequence) = (code, consequence)
    }

    /// Stands for every code that is not named.
    public static let others: Int32 = -1
    /// Stands for every signal.
    public static let signals: Int32 = -2
    /// Stands for a command that took too long.
    public static let timeouts: Int32 = -3

    enum CodingKeys: Int, CodingKey { case code = 1, consequence }
  }

  /// What a command may use; what is left out is what the runner may use.
  public struct Limits: Codable, Sendable, Hashable {
    /// Bytes of address space.
    public var memory: Int64?
    /// Seconds of processor time.
    public var processorSeconds: Int64?
    /// Open files.
    public var openFiles: Int64?
    /// Bytes of each file that it writes.
    public var fileSize: Int64?

    /// No limits.
    public init() {}
    enum CodingKeys: Int, CodingKey { case memory = 1, processorSeconds, openFiles, fileSize }
  }

  /// The program and its words; none where the customer's payload says them, as of the service `run`.
  public var words: [String]
  /// Where it starts; nil for the bank's own directory.
  public var directory: String?
  /// Its environment, `NAME=VALUE` each, beside the variables that every command has.
  public var environment: [String]
  /// After how many milliseconds it is ended; nil for never.
  public var timeoutMilliseconds: Int64?
  /// Milliseconds from SIGTERM to SIGKILL.
  public var graceMilliseconds: Int64
  /// What it may use.
  public var limits: Limits
  /// Bytes of its output that are kept with the receipt, at most ``Excerpt/longest``; and as many of its standard error.
  public var resultBytes: Int64
  /// Bytes of its output that are written to a file, and as many of its standard error.
  public var outputBytes: Int64
  /// The directory in which there is one for every day, with these files in it.
  public var outputDirectory: String
  /// What its endings mean, where that is not what they mean everywhere.
  public var meanings: [Meaning]
  /// The mask of its new files; nil for the one with which the bank was opened, or which the customer brings.
  public var mask: UInt32?

  /// Orders with every part.
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

  enum CodingKeys: Int, CodingKey {
    case words = 1, directory, environment, timeoutMilliseconds, graceMilliseconds, limits, resultBytes,
      outputBytes,
      outputDirectory, meanings, mask
  }
}

/// A value that is handed on by a reference; its bytes are the value's own.
final class Held<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  let value: Value

  init(_ value: Value) { self.value = value }
  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  static func == (left: Held, right: Held) -> Bool { left.value == right.value }
}
