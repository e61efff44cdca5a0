// Tie between a child and its parent: the child does not outlive it. Invariant: after the result true, the
// kernel kills this process as soon as the parent's thread that started it exits. If the parent is gone
// already the result is false, and the caller exits.
import CLinux
import Glibc

/// Ending together with the parent. `prctl(2)` PR_SET_PDEATHSIG
public enum ParentDeath {
  /// Makes the kernel kill this process when the parent exits, and checks that it had not exited before.
  ///
  /// The kernel means the parent's *thread*: use this only under parents with one thread.
  /// - Parameter expectedParent: pid that the parent passed to its child (an argument). `getppid` alone would
  ///   return the process that adopted the orphan.
  /// - Returns: false if the parent is gone already: exit.
  public static func followParent(expectedParent: pid_t, signal: CInt = SIGKILL) -> Bool {
    let result = linux_set_parent_death_signal(signal)
    precondition(result == 0, "\(Signals.name(signal)) is a signal")
    // The check comes after the request: an exit of the parent between the two calls is found by one of
    // them.
    return getppid() == expectedParent
  }
}
