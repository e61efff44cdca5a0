// Owns the view of one process that is not a child of this one: whether it has ended, and the way to signal
// it. It must not know what the process does. Invariant: the process is held by its pidfd, so a signal never
// reaches a stranger who got its number later. Failure: SystemError; that it has ended is an answer.
import CLinux
import Glibc

/// A process that somebody else has started. `pidfd_open(2)`
public final class OtherProcess {
  /// Its process id.
  public let pid: pid_t
  private let descriptor: FileDescriptor

  /// Looks at a process.
  ///
  /// The number must be known to be its own: of a parent, `getppid` tells afterwards whether it was.
  /// - Returns: nil where there is no such process any more.
  public init?(pid: pid_t) throws(SystemError) {
    guard pid > 0 else { return nil }
    do throws(SystemError) {
      descriptor = try FileDescriptor("pidfd_open", on: "process \(pid)") { Kernel.openProcess(pid) }
    } catch {
      guard error.code == ESRCH else { throw error }
      return nil
    }
    self.pid = pid
  }

  /// Becomes readable when the process has ended. For an ``EventLoop``; borrowed, do not close it.
  public var fd: CInt { descriptor.rawValue }

  /// Sends a signal. `pidfd_send_signal(2)`
  ///
  /// - Returns: false where the process has ended, or has become another user's.
  @discardableResult
  public func kill(_ signal: CInt) -> Bool {
    uninterrupted { Kernel.signal(through: descriptor.rawValue, signal) } == 0
  }
}
