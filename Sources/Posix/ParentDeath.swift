// Ties a child to its parent, so that the child does not outlive it. Invariant: if the result is true, the
// kernel sends the signal to this process as soon as the thread of the parent that started it exits.
import CLinux
import Glibc

/// Exit of a process together with its parent. `prctl(2)` PR_SET_PDEATHSIG
public enum ParentDeath {
  /// Makes the kernel send `signal` to this process when the parent exits. Returns false if the parent has exited
  /// already; the caller should exit, too.
  ///
  /// The kernel watches the parent's *thread*, so use this function only under parents with one thread.
  /// - Parameter expectedParent: pid of the parent, which the child knows from an argument or from the credentials
  ///   of a socket. `getppid` alone would return the process that adopted the orphan.
  public static func dieWithParent(expectedParent: pid_t, signal: CInt = SIGKILL) -> Bool {
    let result = linux_set_parent_death_signal(signal)
    precondition(result == 0, "\(Signals.name(signal)) is a signal")
    // The check follows the request, so an exit of the parent is detected by the kernel or by this check.
    return getppid() == expectedParent
  }
}
