// One child from its start until it is reaped: its pid, and the pidfd that reports its exit.
// Invariant: a pid is signalled only here, and only while it certainly belongs to this child, which is until
// it is reaped.
// Errors: SystemError if starting fails; errors of signalling and reaping need no action of the caller.
import CLinux
import Glibc
import Synchronization

/// A child process. Not Sendable: it belongs to the event loop that watches it.
public final class ChildProcess {
  /// Process id. After ``reap()`` or ``wait()`` the number may belong to another process.
  public let pid: pid_t
  private let pidDescriptor: FileDescriptor
  /// Exit status, once it was reaped.
  public private(set) var exitStatus: ExitStatus?

  /// - Parameter isAdopted: true for an orphan that became a child of this process.
  init(pid: pid_t, pidDescriptor: consuming FileDescriptor, isAdopted: Bool = false) {
    self.pid = pid
    self.pidDescriptor = pidDescriptor
    if !isAdopted, Kernel.simulated == nil { Self.own.withLock { _ = $0.insert(pid) } }
  }

  deinit {
    // Prevents a zombie if the child has exited; a running child is not waited for.
    _ = reap()
  }

  /// Children that this process has started and not reaped.
  private static let own = Mutex<Set<pid_t>>([])
  /// True if this process has started the child with this pid itself, and has not reaped it.
  public static func isOwn(_ pid: pid_t) -> Bool {
    Kernel.simulated?.hasStarted(pid) ?? own.withLock { $0.contains(pid) }
  }

  /// The pidfd: becomes readable when the child has exited. For an ``EventLoop``; borrowed, do not close it.
  /// `pidfd_open(2)`
  public var fd: CInt { pidDescriptor.rawValue }
  /// True after the child was reaped.
  public var isReaped: Bool { exitStatus != nil }

  /// Sends a signal. `kill(2)`
  ///
  /// A zombie accepts any signal, without effect.
  /// - Returns: false if the child was reaped already (nothing is sent, because the pid may belong to another
  ///   process), or if the kernel refuses because the child runs as another user.
  @discardableResult
  public func kill(_ signal: CInt) -> Bool {
    guard exitStatus == nil else { return false }
    return Kernel.kill(pid, signal) == 0
  }

  /// Reaps the child if it has exited; nil while it runs. Later calls return the same status. `wait4(2)`
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

  /// Kills a child and reaps it: a child that cannot be watched must neither run nor stay as a zombie.
  /// `kill(2)` SIGKILL, `wait4(2)`
  public func end() {
    kill(SIGKILL)
    _ = wait()
  }

  private func collect(waiting: Bool) -> ExitStatus? {
    if let kernel = Kernel.simulated {
      exitStatus = kernel.reap(pid, waiting: waiting)
      return exitStatus
    }
    defer { if exitStatus != nil { Self.own.withLock { _ = $0.remove(pid) } } }
    var ending = linux_ending()
    let reaped = uninterrupted { linux_reap(pid, waiting, &ending) }
    guard reaped != 0 else { return nil }
    // ECHILD: it has exited and was reaped elsewhere in this process, or by the kernel if SIGCHLD is ignored.
    // The pid must not be signalled any more, because it may belong to another process.
    let status = reaped == 1 ? ExitStatus(ending) : ExitStatus(ending: .unseen, maxResidentBytes: 0)
    exitStatus = status
    return status
  }
}

/// Exit status and peak memory of a child. `wait4(2)`
public struct ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// Kind of exit.
  public enum Ending: Sendable, Hashable {
    /// The child called exit (or returned from main) with this code, 0 to 255.
    case code(Int32)
    case signal(Int32, coreDumped: Bool)
    /// The child has exited, but its status is not available to this process.
    case unseen
  }

  /// Kind of exit, with the code or signal.
  public let ending: Ending
  /// Peak resident memory in bytes. It starts from the size of the process that spawned it (the kernel counts
  /// the time before exec), so it means little for a small child of a large parent.
  public let maxResidentBytes: Int64

  public init(ending: Ending, maxResidentBytes: Int64) {
    (self.ending, self.maxResidentBytes) = (ending, maxResidentBytes)
  }

  init(_ ending: linux_ending) {
    self.ending = ending.exited ? .code(ending.code) : .signal(ending.signal, coreDumped: ending.core_dumped)
    maxResidentBytes = ending.max_resident_kilobytes * 1024
  }

  /// True if it exited with code 0.
  public var isSuccess: Bool { ending == .code(0) }

  /// `code 7`, `SIGKILL`, `SIGSEGV (core dumped)`, or `exit status unknown`.
  public var description: String {
    switch ending {
    case .code(let code): "code \(code)"
    case .signal(let signal, let coreDumped): Signals.name(signal) + (coreDumped ? " (core dumped)" : "")
    case .unseen: "exit status unknown"
    }
  }
}
