// Owns one child from its start until it is reaped: its pid, and the pidfd that tells when it has ended.
// Invariant: a pid is signalled only while it is certainly this child's, which is until it is reaped, and
// only here.
// Failure: SystemError where starting fails; signalling and reaping cannot fail in ways a caller could mend.
import CLinux
import Glibc
import Synchronization

/// A child process. Not Sendable: it lives with the event loop that watches it.
public final class ChildProcess {
  /// The process id. After ``reap()`` or ``wait()`` the number may belong to a stranger.
  public let pid: pid_t
  private let pidDescriptor: FileDescriptor
  /// How it ended, once it was reaped.
  public private(set) var exitStatus: ExitStatus?

  /// - Parameter isAdopted: it was not started here, and has fallen to this process.
  init(pid: pid_t, pidDescriptor: consuming FileDescriptor, isAdopted: Bool = false) {
    self.pid = pid
    self.pidDescriptor = pidDescriptor
    if !isAdopted, Kernel.simulated == nil { Self.own.withLock { _ = $0.insert(pid) } }
  }

  deinit {
    // Whoever forgets a child that has ended does not leave a zombie behind; one that runs is not waited for.
    _ = reap()
  }

  /// Children that this process has started and not reaped.
  private static let own = Mutex<Set<pid_t>>([])
  /// Whether this process has started the child with this number itself, and has not reaped it.
  public static func isOwn(_ pid: pid_t) -> Bool {
    Kernel.simulated?.hasStarted(pid) ?? own.withLock { $0.contains(pid) }
  }

  /// The pidfd: becomes readable when the child has ended. For an ``EventLoop``; borrowed, do not close it.
  /// `pidfd_open(2)`
  public var fd: CInt { pidDescriptor.rawValue }
  /// Whether it was reaped.
  public var isReaped: Bool { exitStatus != nil }

  /// Sends a signal. `kill(2)`
  ///
  /// A child that has ended but was not reaped takes any signal and nothing happens.
  /// - Returns: false where it was reaped already (nothing is sent, the pid may be a stranger's), or where
  ///   the kernel refuses because the child has become another user.
  @discardableResult
  public func kill(_ signal: CInt) -> Bool {
    guard exitStatus == nil else { return false }
    return Kernel.kill(pid, signal) == 0
  }

  /// Collects the exit status if the child has ended; nil while it runs. Asking again gives the same answer.
  /// `wait4(2)` WNOHANG
  public func reap() -> ExitStatus? { exitStatus ?? collect(waiting: false) }

  /// Waits until the child has ended and collects the exit status. `wait4(2)`
  public func wait() -> ExitStatus {
    if let exitStatus { return exitStatus }
    guard let status = collect(waiting: true) else {
      preconditionFailure("wait4 returned without a child that ended")
    }
    return status
  }

  /// Ends a child at once and collects it: one that nobody can watch must neither go on nor stay as a zombie.
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
    // ECHILD: it has ended and was reaped by somebody else, or by the kernel where SIGCHLD is ignored. What matters is
    // that it is signalled no more: the number may be a stranger's.
    let status = reaped == 1 ? ExitStatus(ending) : ExitStatus(ending: .unseen, maxResidentBytes: 0)
    exitStatus = status
    return status
  }
}

/// How a child ended and how large it had become. `wait4(2)`
public struct ExitStatus: Sendable, Hashable, CustomStringConvertible {
  /// By itself or not.
  public enum Ending: Sendable, Hashable {
    /// It called exit (or returned from main) with this code, 0 to 255.
    case code(Int32)
    case signal(Int32, coreDumped: Bool)
    /// It has ended, and the kernel has told somebody else how, or nobody.
    case unseen
  }

  /// By itself or not.
  public let ending: Ending
  /// The most memory it ever had in RAM, in bytes. It starts from the size of the process that spawned it
  /// (the kernel counts the time before exec), so for a small child of a large parent it says little.
  public let maxResidentBytes: Int64

  public init(ending: Ending, maxResidentBytes: Int64) {
    (self.ending, self.maxResidentBytes) = (ending, maxResidentBytes)
  }

  init(_ ending: linux_ending) {
    self.ending = ending.exited ? .code(ending.code) : .signal(ending.signal, coreDumped: ending.core_dumped)
    maxResidentBytes = ending.max_resident_kilobytes * 1024
  }

  /// Whether it ended by itself with code 0.
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
