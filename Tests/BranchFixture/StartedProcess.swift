// Child process of a test, started with default signals. It can be ended and waited for any number of times.
import Glibc

public struct StartedProcess {
  public let pid: pid_t
  private var ended: Int32?

  /// - Parameters:
  ///   - environment: `NAME=value` each.
  ///   - actions: Changes to its descriptors.
  ///   - flags: Further attributes for posix_spawn(3): its own session or its own process group.
  public init(
    _ words: [String], environment: [String], _ actions: inout posix_spawn_file_actions_t, flags: Int16
  ) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, flags | Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { (arguments + variables).forEach { free($0) } }
    var started: pid_t = 0
    let error = posix_spawn(&started, words[0], &actions, &attributes, &arguments, &variables)
    guard error == 0 else {
      throw TestFailure("cannot start \(words[0]): \(String(cString: strerror(error))); was it built?")
    }
    pid = started
  }

  /// Exit code, or 128 plus the signal if a signal ended the process; nil while it runs.
  public mutating func exitCode() -> Int32? {
    if let ended { return ended }
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    ended = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    return ended
  }

  /// Ends the process with SIGKILL.
  ///
  /// - Parameter group: True to end everything in its process group.
  /// - Returns: false if it has not exited after a while.
  public mutating func end(group: Bool) -> Bool {
    guard exitCode() == nil else { return true }
    if group { kill(-pid, SIGKILL) }
    kill(pid, SIGKILL)
    let deadline = ContinuousClock.now + TimeLimits.scaled(.seconds(5))
    while exitCode() == nil {
      guard ContinuousClock.now < deadline else { return false }
      Polling.pause(milliseconds: 1)
    }
    return true
  }
}
