// Owns a coordinator that this client has started itself: the process and the conversation on its descriptor
// 3.
// It must not know what is said in the conversation.
// Invariant: the process is this client's child, so how it ended can always be found out.
// Failure: ControlError; a conversation that breaks off is explained by the way in which the process ended.
import Posix
import Time

/// A coordinator that was started here.
public final class LaunchedBank {
  /// The conversation on its descriptor 3.
  public let connection: ControlConnection
  /// The process: the coordinator's, or its guardian's.
  public let process: ChildProcess

  /// How long a process that has closed its descriptor may take to end.
  private static let farewell = TimeSpan.seconds(10)

  init(_ connection: ControlConnection, _ process: ChildProcess) {
    self.connection = connection
    self.process = process
  }

  /// The better explanation of an error: where the connection is lost because the process ended, how it
  /// ended.
  public func explain(_ error: ControlError) -> ControlError { Self.explain(error, of: process) }

  /// Waits until the process has ended.
  ///
  /// - Returns: How it ended; nil where it had not by the deadline.
  public func awaitExit(until deadline: MonotonicTime?) -> ExitStatus? {
    Self.awaitExit(of: process, until: deadline)
  }

  static func explain(_ error: ControlError, of process: ChildProcess) -> ControlError {
    guard error == .lost else { return error }
    guard let status = awaitExit(of: process, until: SystemClock.monotonic() + farewell) else { return error }
    return .coordinatorEnded(status.asCoordinator)
  }

  private static func awaitExit(of process: ChildProcess, until deadline: MonotonicTime?) -> ExitStatus? {
    if let status = process.reap() { return status }
    // A wait that the kernel refuses is as good as one that was in vain.
    guard (try? Waiting.becomesReady(.read, of: process.fd, until: deadline)) == true else { return nil }
    return process.reap()
  }
}

extension ExitStatus {
  /// How the coordinator ended, where its guardian has passed that on: 128 and the number of a signal, as a shell does.
  fileprivate var asCoordinator: ExitStatus {
    guard case .code(let code) = ending, code > 128, code < 128 + 65 else { return self }
    return ExitStatus(
      ending: .signal(code - 128, coreDumped: false), maxResidentBytes: maxResidentBytes)
  }
}
