// Properties of this process: its environment variables, its name for `ps` and its limits. Random seeds.
// Invariant: the environment is only read. Random bits are not derived from a clock or a pid.
import ByteText
import CLinux
import Glibc

/// The environment variables of this process, of any bytes. `environ(7)`
public enum Environment {
  /// The value of a variable; nil if it is not set, and an empty string if it is empty. `getenv(3)`
  public static func value(_ name: String) -> String? {
    if let kernel = Kernel.simulated { return kernel.environment[name] }
    guard !name.isEmpty, let value = name.withByteString({ getenv($0) }) else { return nil }
    return ByteText.text(of: value)
  }

  /// All variables that have a name and an equals sign. If a name occurs twice, the first value is used, as with
  /// `getenv(3)`.
  public static func all() -> EnvironmentVariables {
    if let kernel = Kernel.simulated { return kernel.environment }
    guard var entry = linux_environment() else { return [:] }
    var variables = EnvironmentVariables()
    while let text = entry.pointee {
      if let (name, value) = EnvironmentVariables.parts(of: ByteText.text(of: text)), variables[name] == nil {
        variables[name] = value
      }
      entry += 1
    }
    return variables
  }
}

/// Ids, arguments and name of this process.
public enum CurrentProcess {
  /// The process id. `getpid(2)`
  public static var pid: pid_t { Kernel.simulated?.processID ?? getpid() }
  /// The parent's process id. `getppid(2)`
  public static var parentPid: pid_t { Kernel.simulated?.parentID ?? getppid() }
  /// The effective user. `geteuid(2)`
  public static var uid: uid_t { Kernel.simulated?.effectiveUser ?? geteuid() }

  /// The arguments passed to `execve(2)`, starting with the program's name. They may contain any bytes.
  public static let arguments: [String] = {
    let count = linux_argument_count()
    // glibc passes the arguments to constructors. With another C library the count may be -1.
    guard count >= 0 else { return ProcessTable.arguments(of: getpid()) }
    return (0..<count).compactMap { place in linux_argument(place).map { ByteText.text(of: $0) } }
  }()

  /// Sets the short name that `ps -o comm` shows, truncated to 15 bytes. `prctl(2)` PR_SET_NAME
  public static func setName(_ name: String) {
    // The call fails only for an invalid address.
    _ = linux_set_name(name)
  }
}

/// Resource limits of this process. `getrlimit(2)`
public enum ResourceLimits {
  /// Current limit of open descriptors. RLIMIT_NOFILE
  public static func openFiles() throws(SystemError) -> UInt64 {
    if let kernel = Kernel.simulated { return kernel.openFileLimit }
    return try limits().soft
  }

  private static func limits() throws(SystemError) -> (soft: UInt64, hard: UInt64) {
    var (soft, hard): (UInt64, UInt64) = (0, 0)
    try systemCall("getrlimit", on: "RLIMIT_NOFILE") { linux_open_file_limit(&soft, &hard) }
    return (soft, hard)
  }

  /// Raises the limit of open descriptors to the hard limit, at most `ceiling`. Returns the limit that
  /// applies now. ``ChildProcess`` starts children with the original limit, if ``ProcessStart`` has saved it.
  /// RLIMIT_NOFILE
  ///
  /// The limit is unchanged if it was at least `ceiling` or the hard limit.
  @discardableResult
  public static func raiseOpenFiles(ceiling: UInt64 = 65_536) throws(SystemError) -> UInt64 {
    let (soft, hard) = try limits()
    let wanted = min(hard, ceiling)
    guard wanted > soft else { return soft }
    try systemCall("setrlimit", on: "RLIMIT_NOFILE") { linux_set_open_file_limit(wanted, hard) }
    return wanted
  }
}

/// A seed for a random generator.
public enum RandomSeed {
  /// 64 random bits. `getrandom(2)`
  public static func fromSystem() -> UInt64 {
    if let kernel = Kernel.simulated { return kernel.random() }
    var seed: UInt64 = 0
    let count = uninterrupted { linux_random(&seed, MemoryLayout<UInt64>.size) }
    precondition(count == MemoryLayout<UInt64>.size, "the kernel gives eight random bytes at once")
    return seed
  }
}
