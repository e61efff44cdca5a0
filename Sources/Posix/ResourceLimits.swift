// Owns how much of the machine this process may use.
// It must not know how many connections the system above expects.
// Invariant: a limit is only raised here, never lowered, and never beyond what the administrator allows.
// Failure: SystemError.
import CLinux

/// The limits of this process. `getrlimit(2)`
public enum ResourceLimits {
  /// How many descriptors may be open now. RLIMIT_NOFILE
  public static func openFiles() throws(SystemError) -> UInt64 {
    var soft: UInt64 = 0
    var hard: UInt64 = 0
    if let kernel = Kernel.simulated { return kernel.openFileLimit }
    try systemCall("getrlimit", on: "RLIMIT_NOFILE") { linux_open_file_limit(&soft, &hard) }
    return soft
  }

  /// Allows as many open descriptors as the hard limit does, at most `ceiling`. Children inherit it.
  /// RLIMIT_NOFILE
  ///
  /// - Returns: how many may be open now.
  @discardableResult
  public static func raiseOpenFiles(ceiling: UInt64 = 65_536) throws(SystemError) -> UInt64 {
    var soft: UInt64 = 0
    var hard: UInt64 = 0
    try systemCall("getrlimit", on: "RLIMIT_NOFILE") { linux_open_file_limit(&soft, &hard) }
    let wanted = min(hard, ceiling)
    guard wanted > soft else { return soft }
    try systemCall("setrlimit", on: "RLIMIT_NOFILE") { linux_set_open_file_limit(wanted, hard) }
    return wanted
  }
}
