// One child from its start until it is reaped: its pid, and the pidfd that reports its exit.
// Invariant: this class signals the pid only until the child is reaped, because after that the number may belong
// to another process.
// Errors: SystemError if the start fails.
import CLinux
import Glibc
import Synchronization

/// A child process. Not Sendable: it belongs to the event loop that watches it.
public final class ChildProcess {
  /// Process id. Once the child is reaped, the number may belong to another process.
  public let pid: pid_t
  private let pidDescriptor: FileDescriptor
  /// Exit status; nil until the child was reaped.
  public private(set) var exitStatus: ExitStatus?

  /// - Parameter isAdopted: true for an orphan that became a child of this process.
  init(pid: pid_t, pidDescriptor: consuming FileDescriptor, isAdopted: Bool = false) {
    self.pid = pid
    self.pidDescriptor = pidDescriptor
    if !isAdopted, Kernel.simulated == nil { Self.own.withLock { _ = $0.insert(pid) } }
  }

  deinit {
    // Prevents a zombie if the child has exited. The destructor does not wait for a running child.
    _ = reap()
  }

  /// Children that this process has started itself and not reaped yet.
  private static let own = Mutex<Set<pid_t>>([])
  /// True if this process has started the child with this pid itself, and has not reaped it.
  public static func isOwn(_ pid: pid_t) -> Bool {
    Kernel.simulated?.hasStarted(pid) ?? own.withLock { $0.contains(pid) }
  }

  /// The pidfd, readable when the child has exited. It is borrowed for an ``EventLoop``: do not close it.
  /// `pidfd_open(2)`
  public var fd: CInt { pidDescriptor.rawValue }
  /// True after the child was reaped.
  public var isReaped: Bool { exitStatus != nil }

  /// Sends a signal. `kill(2)`
  ///
  /// A zombie accepts any signal without an effect.
  /// - Returns: false if the child was reaped already (no signal is sent, because the pid may belong to another
  ///   process), or if the kernel rejects the signal, for example because the child runs as another user.
  @discardableResult
  public func kill(_ signal: CInt) -> Bool {
    guard exitStatus == nil else { return false }
    return Kernel.kill(pid, signal) == 0
  }

  /// Reaps the child if it has exited; nil while the child runs. Later calls return the same status. `wait4(2)`
  /// WNOHANG
  public func reap() -> ExitStatus? { exitStatus ?? collect(waiting: false) }

  /// Waits for the exit of the child and reaps it. `wait4(2)`
  public func wait() -> ExitStatus {
    if let exitStatus { return exitStatus }
    guard let status = collect(waiting: true) else {
      preconditionFailure("wait4 returned without a child that ended")
    }
    return status
  }

  /// Kills the child and reaps it. `kill(2)` SIGKILL, `wait4(2)`
  public func end() {
    kill(SIGKILL)
    _ = wait()
  }

  /// Reaps the child if it has exited; with `waiting`, waits for its exit. Nil while it runs.
  private func collect(waiting: Bool) -> ExitStatus? {
    if let kernel = Kernel.simulated {
      exitStatus = kernel.reap(pid, waiting: waiting)
      return exitStatus
    }
    defer { if exitStatus != nil { Self.own.withLock { _ = $0.remove(pid) } } }
    var ending = linux_ending()
    let reaped = uninterrupted { linux_reap(pid, waiting, &ending) }
    guard reaped != 0 else { return nil }
    // ECHILD: other code of this process has reaped the child, or the kernel has, because SIGCHLD is ignored.
    // The pid must not be signalled any more, because it may belong to another process.
    let status = reaped == 1 ? ExitStatus(ending) : ExitStatus(ending: .unknown, maxResidentBytes: 0)
    exitStatus = status
    return status
  }
}

/// Exit status and peak memory of a child. `wait4(2)`
public struct ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// Kind of exit.
  public enum Termination: Sendable, Hashable {
    /// The child called exit (or returned from main) with this code, 0 to 255.
    case code(Int32)
    /// A signal has killed the child.
    case signal(Int32, coreDumped: Bool)
    /// The child has exited, but its exit status is not available to this process.
    case unknown
  }

  /// Kind of exit, with the code or signal.
  public let ending: Termination
  /// Peak resident memory in bytes, of the child or of the largest reaped descendant. The kernel includes the time
  /// before exec, when the child has the memory of its parent.
  public let maxResidentBytes: Int64

  public init(ending: Termination, maxResidentBytes: Int64) {
    (self.ending, self.maxResidentBytes) = (ending, maxResidentBytes)
  }

  init(_ ending: linux_ending) {
    self.ending = ending.exited ? .code(ending.code) : .signal(ending.signal, coreDumped: ending.core_dumped)
    maxResidentBytes = ending.max_resident_kilobytes * 1024
  }

  /// True if the child exited with code 0.
  public var isSuccess: Bool { ending == .code(0) }

  /// `code 7`, `SIGKILL`, `SIGSEGV (core dumped)`, or `exit status unknown`.
  public var description: String {
    switch ending {
    case .code(let code): "code \(code)"
    case .signal(let signal, let coreDumped): Signals.name(signal) + (coreDumped ? " (core dumped)" : "")
    case .unknown: "exit status unknown"
    }
  }
}
