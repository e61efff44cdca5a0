// Owns the tie between a child and its parent: the child does not outlive it. Invariant: after a true answer
// the kernel kills this process as soon as the parent's thread that started it ends. Failure: a parent that
// is gone already is the answer false; the caller exits.
import CLinux
import Glibc

/// Ending together with the parent. `prctl(2)` PR_SET_PDEATHSIG
public enum ParentDeath {
  /// Has the kernel kill this process when the parent dies, and makes sure that it had not died before.
  ///
  /// The kernel means the parent's *thread*: parents of one thread only.
  /// - Parameter expectedParent: the pid that the parent told its child (an argument). Asking `getppid` alone
  ///   would find whoever adopted the orphan.
  /// - Returns: false where the parent is gone already: exit.
  public static func followParent(expectedParent: pid_t, signal: CInt = SIGKILL) -> Bool {
    let result = linux_set_parent_death_signal(signal)
    precondition(result == 0, "\(Signals.name(signal)) is a signal")
    // Only now: a death between the two calls is caught by one of them.
    return getppid() == expectedParent
  }
}
