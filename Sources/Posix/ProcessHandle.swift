// A process that is not a child of this one: detection of its exit, and signals. Invariant: the process is
// referenced by its pidfd, so that a signal reaches no other process that gets the same number later. Errors:
// SystemError; an exited process is a result.
import CLinux
import Glibc

/// Reports the exit of a process that this one has not started, and sends signals to it. `pidfd_open(2)`
public final class ProcessHandle {
  /// Process id.
  public let pid: pid_t
  private let descriptor: FileDescriptor

  /// Opens a pidfd.
  ///
  /// The caller has to ensure that the number belongs to the right process. For the parent of this process, call
  /// `getppid` afterwards and compare.
  /// - Returns: nil if there is no process with this number.
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

  /// The pidfd, readable when the process has exited. It is borrowed for an ``EventLoop``: do not close it.
  public var fd: CInt { descriptor.rawValue }

  /// Sends a signal. Returns false if it was not sent, for example because the process was reaped.
  /// `pidfd_send_signal(2)`
  @discardableResult
  public func kill(_ signal: CInt) -> Bool {
    uninterrupted { Kernel.signal(through: descriptor.rawValue, signal) } == 0
  }
}
