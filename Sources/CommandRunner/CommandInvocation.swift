// All inputs of one command, and its limits. If the invocation sets no directory or control group, the command gets
// those of the process that starts it. If it sets no umask, or no limit of open files, the command gets the one with
// which that process was itself started. The environment is not inherited.
import Posix
import Time

/// One command for one customer.
public struct CommandInvocation: Sendable, Hashable {
  /// The program with its arguments, its whole environment, its directory and its limits.
  public var program: ChildProcess.Program
  /// Bytes that the command reads from its standard input. The end of file follows them.
  public var payload: [UInt8] = []
  /// Time after which the runner ends the command; nil for no limit.
  public var timeout: TimeSpan?
  /// Time between SIGTERM and SIGKILL when the runner ends the command.
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

/// Resource limits of a command, as configured. Nil means that the command inherits the limit; for open files, the one
/// with which the process that starts the command was itself started.
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

  /// The limits that are set, in the form that the kernel expects.
  public var all: [ResourceLimit] {
    var limits: [ResourceLimit] = []
    if let memory { limits.append(ResourceLimit(.memory, memory)) }
    if let processorSeconds {
      // At the soft limit the kernel sends SIGXCPU, which shows the reason of the exit. At the hard limit, a
      // second later, the kernel sends SIGKILL, which does not show it.
      let (hard, overflow) = processorSeconds.addingReportingOverflow(1)
      limits.append(
        ResourceLimit(.processorSeconds, processorSeconds, hard: overflow ? processorSeconds : hard))
    }
    if let openFiles { limits.append(ResourceLimit(.openFiles, openFiles)) }
    if let fileSize { limits.append(ResourceLimit(.fileSize, fileSize)) }
    return limits
  }
}
