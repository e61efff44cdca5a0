// Owns the control groups of this machine (cgroup2): which one this process is in and whether it may make others below it,
// and the end of everybody in one. Whoever begins in a group stays there with all that it starts, wherever that goes: into
// other sessions, away from its parents, with another environment.
// Invariant: nothing is changed in a group that this process has not made; one call of the kernel ends all processes of a
// group, and no process in the group can start another meanwhile.
// Failure: where there is no such group there is nil, and nobody has to know why. A simulated machine has none.
import ByteText
import CLinux
import Glibc

/// A group of processes below that of a service manager. `cgroups(7)`
public struct ControlGroup: Sendable, Hashable {
  /// The call of the error of a process that could not begin in its group.
  public static let call = "clone3"

  /// Its directory.
  public let path: String

  /// The group with this directory, whether it is there or not.
  public init(path: String) { self.path = path }

  // MARK: Whose it is

  /// The environment variable that keeps a bank from making groups, with the value `no`.
  public static let variable = "BANK_CONTROL_GROUPS"

  /// The group of this process, where this process may make others below it and start processes in them.
  ///
  /// That is so for a group which a service manager has handed over (`Delegate=` of systemd), and for every group of a bank of
  /// root. Nothing is changed in the group itself: no controller, no limit, no member. So what its manager says of the group
  /// holds for all below it, and its end is the end of all below it. https://systemd.io/CGROUP_DELEGATION
  public static func divisible() -> ControlGroup? {
    guard Kernel.simulated == nil, Environment.value(variable) != "no", let group = own() else { return nil }
    let members = Paths.join(group.path, "cgroup.procs")
    func mayWrite(_ path: String) -> Bool { path.withByteString { linux_may_write($0) } == 0 }
    return mayWrite(group.path) && mayWrite(members) ? group : nil
  }

  /// The group that this process is in, wherever cgroup2 is mounted; nil where it is not, or not with this group.
  public static func own() -> ControlGroup? {
    guard let groups = ProcessTable.text(of: "/proc/self/cgroup", limit: 1 << 20),
      let mounts = ProcessTable.text(of: "/proc/self/mountinfo", limit: 16 << 20),
      let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
    else { return nil }
    let name = String(line.dropFirst("0::".count))
    for mount in mounts.split(separator: "\n").compactMap(Mount.init) {
      guard let path = mount.path(of: name) else { continue }
      let group = ControlGroup(path: path)
      // A path that only looks right, in the view of another namespace, does not have this process.
      if group.members.contains(CurrentProcess.pid) { return group }
    }
    return nil
  }

  /// One line of /proc/self/mountinfo about a cgroup2. `proc_pid_mountinfo(5)`
  struct Mount {
    private let root: String
    private let point: String

    init?(_ line: Substring) {
      let halves = line.split(separator: " ")
      guard let dash = halves.firstIndex(of: "-"), dash > 5, halves.count > dash + 1,
        halves[dash + 1] == "cgroup2"
      else { return nil }
      (root, point) = (Self.unescaped(halves[3]), Self.unescaped(halves[4]))
    }

    /// Where the group with this name is; nil where it lies outside of what is mounted.
    func path(of name: String) -> String? {
      guard !name.split(separator: "/").contains("..") else { return nil }
      if root == "/" { return name == "/" ? point : point + name }
      guard name == root || name.hasPrefix(root + "/") else { return nil }
      return point + name.dropFirst(root.count)
    }

    /// Space, tab, newline and backslash stand as three octal digits behind a backslash.
    private static func unescaped(_ field: Substring) -> String {
      let parts = field.split(separator: "\\", omittingEmptySubsequences: false)
      return parts.dropFirst().reduce(String(parts[0])) { text, part in
        guard let code = UInt8(part.prefix(3), radix: 8), part.utf8.count >= 3 else {
          return text + "\\" + part
        }
        return text + String(UnicodeScalar(code)) + part.dropFirst(3)
      }
    }
  }

  // MARK: What is done with it

  /// The group of this name below; it is made where it is missing. `mkdir(2)`
  ///
  /// - Parameter name: one part of a path.
  public func made(_ name: String) throws(SystemError) -> ControlGroup {
    let group = ControlGroup(path: Paths.join(path, name))
    try Directory.create(path: group.path, mode: 0o755, recursive: false)
    return group
  }

  /// The groups directly below.
  public var below: [ControlGroup] {
    let names = (try? Directory.entries(of: path)) ?? []
    return names.map { ControlGroup(path: Paths.join(path, $0)) }.filter {
      (try? FileFacts.inspect($0.path, followLinks: false))?.isDirectory == true
    }
  }

  /// Whether there is such a group, which can be ended in one call: the first of all cannot.
  public var isThere: Bool { (try? FileFacts.inspect(Paths.join(path, "cgroup.kill"))) != nil }

  /// Whether this process may start others in it, and the kernel does so: where a filter of system calls forbids `clone3(2)` it does
  /// not. It is tried with a program that is none.
  public var takesProcesses: Bool {
    guard let none = try? FileDescriptor.open("/dev/null", .readWrite),
      let output = try? none.duplicate(atLeast: 3),
      let errors = try? none.duplicate(atLeast: 3)
    else { return false }
    let program = ChildProcess.Program(path: "/", words: [[UInt8(ascii: "/")]], environment: [:], group: self)
    do throws(SystemError) {
      // There is no such program, so what was started was killed before it could find that out; see ``kill()``.
      try ChildProcess.start(program, input: none, output: output, errors: errors).end()
      return false
    } catch { return error.call == "execve" }
  }

  /// Whether a process is in it, or below it, that has not ended. `cgroup.events`
  public var isPopulated: Bool {
    ProcessTable.text(of: Paths.join(path, "cgroup.events"), limit: 4096)?.contains("populated 1") ?? false
  }

  /// Who is in it, without those below.
  public var members: [pid_t] {
    let text = ProcessTable.text(of: Paths.join(path, "cgroup.procs"), limit: 32 << 20) ?? ""
    return text.split(separator: "\n").compactMap { pid_t($0) }
  }

  /// Ends everybody in it and below it, by SIGKILL. `cgroup.kill`
  ///
  /// Nobody is to be started in it afterwards, nor in one that was below it: Linux 6.18 was seen to kill whoever is started from
  /// outside in a group that was ever ended, because it takes that for a start that the kill has missed. It is removed, and another
  /// one is made.
  ///
  /// - Returns: false where there is no such group.
  @discardableResult
  public func kill() -> Bool {
    guard let file = try? FileDescriptor.open(Paths.join(path, "cgroup.kill"), .writeOnly) else {
      return false
    }
    return (try? file.writeAll([UInt8(ascii: "1")])) != nil
  }

  /// Removes it, with those below it; one in which somebody is stays. `rmdir(2)`
  ///
  /// - Returns: whether it is gone.
  @discardableResult
  public func remove() -> Bool {
    if Directory.removeEmpty(path) { return true }
    for group in below { group.remove() }
    return Directory.removeEmpty(path)
  }

  /// For whoever begins in it.
  func opened() throws(SystemError) -> FileDescriptor {
    do throws(SystemError) { return try FileDescriptor.open(path, [.readOnly, .directory]) } catch {
      guard !error.isShortage else { throw error }
      throw SystemError(call: Self.call, subject: path, code: error.code)
    }
  }
}
