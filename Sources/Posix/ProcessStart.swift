// Normalization of the state that a process inherits: standard descriptors, signals, signal mask, umask,
// limits. A service should then behave the same under any shell, nohup or container. A command, unlike a service,
// keeps ignoring the terminal's signals that its starter ignored, and keeps its limit of open files.
// Errors: none that a caller could handle; a limit that cannot be raised stays.
import CLinux
import Glibc

/// Preparation of a process at its start.
public enum ProcessStart {
  /// Kind of process, by the process that started it.
  public enum Kind: Sendable, Hashable {
    /// Started by a process of the bank or by a service manager. Inherited state is not intended.
    case service
    /// Started by a user or a script. A hang-up, an interrupt or a stop by the terminal that the starter
    /// ignores, as `nohup` and the `&` of a script do, stays ignored. `nohup(1)`
    case command
  }

  /// Signals that the user of a command may have ignored on purpose.
  static let preservedSignals: [CInt] = [SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU]

  /// Normalizes the state inherited from the starter. Call it at the start of a program.
  ///
  /// - Closed standard descriptors are opened to the null device.
  /// - No signal is blocked, and only two are ignored, apart from those that a command keeps: SIGPIPE, because
  ///   a write without a reader is an error (EPIPE), and SIGXFSZ, because a file at its size limit is handled
  ///   like a full disk (EFBIG). In particular SIGCHLD is not ignored: if it were, the kernel would reap the
  ///   children, and their exit status would be lost. `signal(7)`, `wait(2)`
  /// - A service that receives SIGABRT or SIGQUIT exits at once, as the sender expects.
  /// - New files are accessible only to their owner. `umask(2)`
  /// - The limit of open files of a service is raised; see ``ResourceLimits/raiseOpenFiles(ceiling:)``.
  /// - The original umask and limits are saved for the children: ``InheritedLimits/inherited``.
  public static func prepare(as kind: Kind) {
    StandardStreams.openClosedDescriptors()
    let preservedSignals = kind == .command ? Self.preservedSignals : []
    let result = linux_signals_heed(preservedSignals, CInt(preservedSignals.count))
    precondition(result == 0, "an empty mask is a valid mask")
    Signals.ignorePipe()
    Signals.ignoreFileSizeLimit()
    if kind == .service { Signals.restoreDefaultAbort() }
    // Saved before the umask and the limits are changed here.
    linux_keep_surroundings(0o077)
    // If the limit cannot be raised, the process runs with fewer descriptors and reports an error when it needs
    // more.
    if kind == .service { _ = try? ResourceLimits.raiseOpenFiles() }
  }

  /// Changes the working directory to the root, so that the file system of the original directory can be
  /// unmounted. `chdir(2)`
  ///
  /// Relative path arguments must be made absolute before.
  public static func leaveStartDirectory() {
    // After an error the directory is kept.
    _ = chdir("/")
  }
}
