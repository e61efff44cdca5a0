// Owns what a process inherits without having asked for it, and puts it as this system needs it, once, before anything
// else happens: standard descriptors, signals, the mask of signals, the mask of new files, limits.
// Invariant: afterwards no shell, no nohup, no container and no careless parent can be told from another.
// Failure: none that a caller could mend; a limit that cannot be raised stays as it is.
import CLinux
import Glibc

/// The beginning of a process.
public enum ProcessStart {
  /// Who starts it.
  public enum Kind: Sendable, Hashable {
    /// A process of the system: nothing that it inherits has a meaning.
    case service
    /// A person or a script. A hang-up, an interrupt or a stop by the terminal that they have had ignored, as `nohup`
    /// and the `&` of a script do, stays ignored. `nohup(1)`
    case command
  }

  /// What whoever types a command may have had ignored on purpose.
  static let kept: [CInt] = [SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]

  /// To be called first of all by every program.
  ///
  /// - Standard descriptors that are closed lead to the null device.
  /// - No signal is blocked, and none is ignored but for these: SIGPIPE, because a write that nobody reads is an error
  ///   (EPIPE), and SIGXFSZ, because a file that may not grow is a full disk (EFBIG). Above all SIGCHLD is not ignored:
  ///   the kernel would reap the children, and nobody would learn how they ended. `signal(7)`, `wait(2)`
  /// - A service that is aborted ends at once, as the process that aborts it expects.
  /// - What is made is for its owner alone. `umask(2)`
  /// - A service may have as many files open as the hard limit allows. `getrlimit(2)` Other limits are met, and not lifted.
  /// - What the parent handed over of these two is kept for the children: ``Surroundings/inherited``.
  public static func prepare(as kind: Kind) {
    StandardStreams.fillGaps()
    let kept = kind == .command ? Self.kept : []
    let result = linux_signals_heed(kept, CInt(kept.count))
    precondition(result == 0, "an empty mask is a valid mask")
    Signals.ignorePipe()
    Signals.ignoreFileSizeLimit()
    if kind == .service { Signals.endAtOnceWhenAborted() }
    // What a child shall have is kept before it is changed here.
    linux_keep_surroundings(0o077)
    // With fewer the process does what it can: it says so when one more is wanted.
    if kind == .service { _ = try? ResourceLimits.raiseOpenFiles() }
  }

  /// Leaves the directory in which the process was started, so that its file system can be unmounted. `chdir(2)`
  ///
  /// To be called by every process that outlives its starter, after the paths that it was given are absolute.
  public static func leaveDirectory() {
    // A root that may not be entered is none that this process could have been started in.
    _ = chdir("/")
  }
}
