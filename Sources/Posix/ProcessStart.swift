// Normalization of the state that a process inherits, once, before anything else happens: standard
// descriptors, signals, signal mask, umask, limits.
// Invariant: afterwards the process behaves the same under any shell, nohup, container or careless parent.
// Errors: none that a caller could handle; a limit that cannot be raised stays.
import CLinux
import Glibc

/// Start of a process.
public enum ProcessStart {
  /// Kind of the starter.
  public enum Kind: Sendable, Hashable {
    /// A process of the bank: no inherited state has a meaning.
    case service
    /// A user or a script. A hang-up, an interrupt or a stop by the terminal that they ignore, as `nohup` and
    /// the `&` of a script do, stays ignored. `nohup(1)`
    case command
  }

  /// Signals that the user of a command may have ignored on purpose.
  static let kept: [CInt] = [SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]

  /// Every program calls this first.
  ///
  /// - Closed standard descriptors are opened to the null device.
  /// - No signal is blocked, and only two are ignored: SIGPIPE, because a write without a reader is an error
  ///   (EPIPE), and SIGXFSZ, because a file at its size limit is like a full disk (EFBIG). Above all SIGCHLD
  ///   is not ignored: otherwise the kernel would reap the children, and their exit status would be lost.
  ///   `signal(7)`, `wait(2)`
  /// - A service that is aborted ends at once, as the process that aborts it expects.
  /// - New files are accessible to their owner alone. `umask(2)`
  /// - A service may have as many files open as the hard limit allows. `getrlimit(2)` Other limits stay.
  /// - The original umask and limits are saved for the children: ``Surroundings/inherited``.
  public static func prepare(as kind: Kind) {
    StandardStreams.fillGaps()
    let kept = kind == .command ? Self.kept : []
    let result = linux_signals_heed(kept, CInt(kept.count))
    precondition(result == 0, "an empty mask is a valid mask")
    Signals.ignorePipe()
    Signals.ignoreFileSizeLimit()
    if kind == .service { Signals.endAtOnceWhenAborted() }
    // Saved before it is changed here.
    linux_keep_surroundings(0o077)
    // With fewer descriptors the process does what it can, and reports an error when one more is needed.
    if kind == .service { _ = try? ResourceLimits.raiseOpenFiles() }
  }

  /// Leaves the directory in which the process was started, so that its file system can be unmounted.
  /// `chdir(2)`
  ///
  /// Every process that outlives its starter calls it, after making its path arguments absolute.
  public static func leaveDirectory() {
    // A process cannot have been started in a root directory that it may not enter.
    _ = chdir("/")
  }
}
