// Everything that one command starts with, and its limits.
// Invariant: none of it is inherited from the process that starts the command. Errors: none; these are
// values.
import Posix
import Time

/// One command for one customer.
public struct CommandOrder: Sendable, Hashable {
  /// The program with its arguments, its whole environment, its directory and its limits.
  public var program: ChildProcess.Program
  /// Bytes that the command reads from its standard input, before the end of file.
  public var payload: [UInt8] = []
  /// Time after which the command is ended; nil for never.
  public var timeout: TimeSpan?
  /// Time from SIGTERM to SIGKILL, if the command is ended.
  public var grace: TimeSpan = .seconds(10)
  /// Time for which descendants may still write to the output after the command itself has exited.
  public var linger: TimeSpan = .milliseconds(100)
  /// Limits of the captured standard output.
  public var output = OutputCapture.Bounds()
  /// Limits of the captured standard error.
  public var errors = OutputCapture.Bounds()

  public init(_ program: ChildProcess.Program, payload: [UInt8] = [], timeout: TimeSpan? = nil) {
    self.program = program
    self.payload = payload
    self.timeout = timeout
  }
}

/// Resource limits of a command, as configured; nil inherits the limit of the process that starts it.
public struct CommandLimits: Sendable, Hashable {
  /// Address space in bytes.
  public var memory: UInt64?
  /// Processor time in seconds.
  public var processorSeconds: UInt64?
  /// Number of open files.
  public var openFiles: UInt64?
  /// Size in bytes of each file that the command writes.
  public var fileSize: UInt64?

  public init(
    memory: UInt64? = nil, processorSeconds: UInt64? = nil, openFiles: UInt64? = nil,
    fileSize: UInt64? = nil
  ) {
    (self.memory, self.processorSeconds) = (memory, processorSeconds)
    (self.openFiles, self.fileSize) = (openFiles, fileSize)
  }

  /// The limits in the kernel's form.
  public var all: [ResourceLimit] {
    var limits: [ResourceLimit] = []
    if let memory { limits.append(ResourceLimit(.memory, memory)) }
    if let processorSeconds {
      // At the soft limit the command receives SIGXCPU, which shows why it ended; SIGKILL a second later
      // would not.
      let (hard, overflow) = processorSeconds.addingReportingOverflow(1)
      limits.append(
        ResourceLimit(.processorSeconds, processorSeconds, hard: overflow ? processorSeconds : hard))
    }
    if let openFiles { limits.append(ResourceLimit(.openFiles, openFiles)) }
    if let fileSize { limits.append(ResourceLimit(.fileSize, fileSize)) }
    return limits
  }
}
