// Owns everything that one command begins with, and how long and how much it may.
// Invariant: none of it is taken from the process that starts the command. Failure: none; these are values.
import Posix
import Time

/// One command for one customer.
public struct CommandOrder: Sendable, Hashable {
  /// The program and its words, its environment as a whole, its directory and its limits.
  public var program: ChildProcess.Program
  /// What it reads from its standard input, before the end.
  public var payload: [UInt8] = []
  /// After how long it is ended; nil for never.
  public var timeout: TimeSpan?
  /// From SIGTERM to SIGKILL, where it is ended.
  public var grace: TimeSpan = .seconds(10)
  /// For how long, after the command itself has ended, its descendants may go on writing to its output.
  public var linger: TimeSpan = .milliseconds(100)
  /// What is kept of its standard output.
  public var output = OutputCapture.Bounds()
  /// What is kept of its standard error.
  public var errors = OutputCapture.Bounds()

  public init(_ program: ChildProcess.Program, payload: [UInt8] = [], timeout: TimeSpan? = nil) {
    self.program = program
    self.payload = payload
    self.timeout = timeout
  }
}

/// What a command may use, as the configuration says it; nil is what the process that starts it may use.
public struct CommandLimits: Sendable, Hashable {
  /// Bytes of address space.
  public var memory: UInt64?
  /// Seconds of processor time.
  public var processorSeconds: UInt64?
  /// Open files.
  public var openFiles: UInt64?
  /// Bytes of each file that it writes.
  public var fileSize: UInt64?

  public init(
    memory: UInt64? = nil, processorSeconds: UInt64? = nil, openFiles: UInt64? = nil,
    fileSize: UInt64? = nil
  ) {
    (self.memory, self.processorSeconds) = (memory, processorSeconds)
    (self.openFiles, self.fileSize) = (openFiles, fileSize)
  }

  /// As the kernel takes them.
  public var all: [ResourceLimit] {
    var limits: [ResourceLimit] = []
    if let memory { limits.append(ResourceLimit(.memory, memory)) }
    if let processorSeconds {
      // At the soft limit it is told by SIGXCPU, which says why it ends; SIGKILL a second later would not.
      let (hard, overflow) = processorSeconds.addingReportingOverflow(1)
      limits.append(
        ResourceLimit(.processorSeconds, processorSeconds, hard: overflow ? processorSeconds : hard))
    }
    if let openFiles { limits.append(ResourceLimit(.openFiles, openFiles)) }
    if let fileSize { limits.append(ResourceLimit(.fileSize, fileSize)) }
    return limits
  }
}
