// Control groups of this machine (cgroup2): the group of this process, whether this process may create others
// below it, and how to kill all processes of a group. A process that starts in a group stays there with its
// descendants, also in other sessions and after its parents' exit, unless a process with the permission to do so
// moves it.
// Invariant: no controller and no limit of a group is changed.
// Errors: SystemError if a group cannot be created or opened. A simulated machine has no control groups.
import ByteText
import CLinux
import Glibc

/// A control group of this machine, by the path of its directory. `cgroups(7)`
public struct ControlGroup: Sendable, Hashable {
  /// The `call` of a SystemError that reports that a process could not start in its group.
  public static let call = "clone3"

  /// Absolute path of the group's directory.
  public let path: String

  /// The group with this directory, which need not exist.
  public init(path: String) { self.path = path }

  // MARK: Membership

  /// Environment variable that forbids a bank to create groups if its value is `no`.
  public static let variable = "BANK_CONTROL_GROUPS"

  /// The group of this process; nil if this process may not create other groups below it and start processes in
  /// them, if ``variable`` forbids it, or on a simulated machine.
  ///
  /// A process may do this in a group that a service manager has delegated (`Delegate=` of systemd), and in any
  /// group if it runs as root. https://systemd.io/CGROUP_DELEGATION
  public static func delegated() -> ControlGroup? {
    guard Kernel.simulated == nil, Environment.value(variable) != "no", let group = own() else { return nil }
    let members = Paths.join(group.path, "cgroup.procs")
    func mayWrite(_ path: String) -> Bool { path.withByteString { linux_may_write($0) } == 0 }
    return mayWrite(group.path) && mayWrite(members) ? group : nil
  }

  /// The group of this process; nil if no mount of cgroup2 contains it.
  public static func own() -> ControlGroup? {
    guard let groups = ProcessTable.text(of: "/proc/self/cgroup", limit: 1 << 20),
      let mounts = ProcessTable.text(of: "/proc/self/mountinfo", limit: 16 << 20),
      let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
    else { return nil }
    let name = String(line.dropFirst("0::".count))
    for mount in mounts.split(separator: "\n").compactMap(Mount.init) {
      guard let path = mount.path(of: name) else { continue }
      let group = ControlGroup(path: path)
      // In another cgroup namespace the path may exist without containing this process, so check its members.
      if group.members.contains(CurrentProcess.pid) { return group }
    }
    return nil
  }

  /// A line of /proc/self/mountinfo for cgroup2. `proc_pid_mountinfo(5)`
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

    /// Path of the group with this name; nil if the group is outside the mounted part of the hierarchy.
    func path(of name: String) -> String? {
      guard !name.split(separator: "/").contains("..") else { return nil }
      if root == "/" { return name == "/" ? point : point + name }
      guard name == root || name.hasPrefix(root + "/") else { return nil }
      return point + name.dropFirst(root.count)
    }

    /// Decodes a field, in which space, tab, newline and backslash are written as a backslash and three octal digits.
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

  // MARK: Operations

  /// Returns the group with this name below this one, and creates it if it is missing. `mkdir(2)`
  ///
  /// - Parameter name: one path component.
  public func subgroup(_ name: String) throws(SystemError) -> ControlGroup {
    let group = ControlGroup(path: Paths.join(path, name))
    try Directory.create(path: group.path, mode: 0o755, recursive: false)
    return group
  }

  /// The groups directly below this one.
  public var below: [ControlGroup] {
    let names = (try? Directory.entries(of: path)) ?? []
    return names.map { ControlGroup(path: Paths.join(path, $0)) }.filter {
      (try? FileMetadata.inspect($0.path, followLinks: false))?.isDirectory == true
    }
  }

  /// True if the group exists and can be killed in one call. The root group cannot.
  public var exists: Bool { (try? FileMetadata.inspect(Paths.join(path, "cgroup.kill"))) != nil }

  /// True if this process may start others in the group, and the kernel allows it: a system call filter may
  /// forbid `clone3(2)`. The check tries to start a path that is not a program.
  public var acceptsProcesses: Bool {
    guard let none = try? FileDescriptor.open("/dev/null", .readWrite),
      let output = try? none.duplicate(atLeast: 3),
      let errors = try? none.duplicate(atLeast: 3)
    else { return false }
    let program = ChildProcess.Program(path: "/", words: [[UInt8(ascii: "/")]], environment: [:], group: self)
    do throws(SystemError) {
      // A directory cannot be executed. If the start reports no error of execve, the child was killed before
      // exec; see ``kill()``.
      try ChildProcess.start(program, input: none, output: output, errors: errors).end()
      return false
    } catch { return error.call == "execve" }
  }

  /// True if the group, or one below it, contains a process; false also if the group does not exist.
  /// `cgroup.events`
  public var isPopulated: Bool {
    ProcessTable.text(of: Paths.join(path, "cgroup.events"), limit: 4096)?.contains("populated 1") ?? false
  }

  /// Process ids of the group's members, without those of the groups below it.
  public var members: [pid_t] {
    let text = ProcessTable.text(of: Paths.join(path, "cgroup.procs"), limit: 32 << 20) ?? ""
    return text.split(separator: "\n").compactMap { pid_t($0) }
  }

  /// Kills all processes in the group and below it, by SIGKILL. `cgroup.kill`
  ///
  /// Start no process in the group afterwards, nor in a group that was below it: Linux 6.18 was observed to
  /// kill processes that are started from outside in a group that was once killed, as if they belonged to the
  /// killed processes. Remove the group and create another one.
  ///
  /// - Returns: false if the group does not exist, is the root group, or may not be killed by this process.
  @discardableResult
  public func kill() -> Bool {
    guard let file = try? FileDescriptor.open(Paths.join(path, "cgroup.kill"), .writeOnly) else {
      return false
    }
    return (try? file.writeAll([UInt8(ascii: "1")])) != nil
  }

  /// Removes the group, with the groups below it. A group with members is kept. Returns true if the group does not
  /// exist any more. `rmdir(2)`
  @discardableResult
  public func remove() -> Bool {
    if Directory.removeEmpty(path) { return true }
    for group in below { group.remove() }
    return Directory.removeEmpty(path)
  }

  /// Opens the directory of the group, for a process that starts in it.
  func openDirectory() throws(SystemError) -> FileDescriptor {
    do throws(SystemError) { return try FileDescriptor.open(path, [.readOnly, .directory]) } catch {
      guard !error.isShortage else { throw error }
      throw SystemError(call: Self.call, subject: path, code: error.code)
    }
  }
}
