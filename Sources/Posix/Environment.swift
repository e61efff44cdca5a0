// Owns reading the environment variables of this process, and the name it shows to `ps`.
// It must not know which variables have a meaning.
// Invariant: the environment is only read, never changed.
// Failure: nil for a variable that is not set.
import CLinux
import Glibc

/// The environment variables of this process. `environ(7)`
public enum Environment {
  /// The value of a variable; nil where it is not set. A variable that is set to nothing is the empty string.
  /// `getenv(3)`
  public static func value(_ name: String) -> String? {
    if let kernel = Kernel.simulated { return kernel.environment[name] }
    guard !name.isEmpty, let value = getenv(name) else { return nil }
    return String(cString: value)
  }

  /// All variables; of one that is set twice, the first, which is what `getenv` finds.
  public static func all() -> [String: String] {
    if let kernel = Kernel.simulated { return kernel.environment }
    guard var entry = linux_environment() else { return [:] }
    var variables: [String: String] = [:]
    while let text = entry.pointee {
      let setting = String(cString: text)
      if let equals = setting.firstIndex(of: "="), equals != setting.startIndex {
        let name = String(setting[..<equals])
        if variables[name] == nil { variables[name] = String(setting[setting.index(after: equals)...]) }
      }
      entry += 1
    }
    return variables
  }
}

/// This process.
public enum CurrentProcess {
  /// The process id. `getpid(2)`
  public static var pid: pid_t { Kernel.simulated?.processID ?? getpid() }
  /// The parent's process id. `getppid(2)`
  public static var parentPid: pid_t { Kernel.simulated?.parentID ?? getppid() }
  /// The effective user. `geteuid(2)`
  public static var uid: uid_t { Kernel.simulated?.effectiveUser ?? geteuid() }

  /// Sets the short name that `ps -o comm` shows, cut to 15 bytes. `prctl(2)` PR_SET_NAME
  public static func setName(_ name: String) {
    // The only failure the call knows is an address outside of the process.
    _ = linux_set_name(name)
  }

  /// Closes every descriptor from `first` on, whoever made them. For the start of a program that trusts
  /// nobody. `close_range(2)`
  public static func closeDescriptors(from first: CInt) throws(SystemError) {
    precondition(first >= 0, "a descriptor is never negative")
    try systemCall("close_range", on: "descriptor \(first)") { linux_close_from(UInt32(first)) }
  }
}
