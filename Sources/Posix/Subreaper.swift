// Children that this process has not started itself: orphaned descendants.
// Invariant: an exited child stays in the list until this process reaps it. So a number from the list belongs to the
// same child until then.
// Errors: SystemError; nil for a child that does not exist any more.
import CLinux
import Glibc

/// Adoption of orphaned descendants in place of process 1. `prctl(2)` PR_SET_CHILD_SUBREAPER
public enum Subreaper {
  /// Makes orphaned descendants children of this process. The setting is not inherited.
  public static func become() throws(SystemError) {
    if let kernel = Kernel.simulated { return kernel.becomeSubreaper() }
    try systemCall("prctl", on: "PR_SET_CHILD_SUBREAPER") { linux_become_subreaper() }
  }

  /// True if this process has a child, including zombies. `waitid(2)`
  public static var hasChildren: Bool {
    Kernel.simulated.map { !$0.children.isEmpty } ?? linux_has_children()
  }

  /// Children of this process, whether it started them or not, including zombies. /proc/self/task/*/children,
  /// `proc_tid_children(5)`
  public static func children() -> [pid_t] {
    if let kernel = Kernel.simulated { return kernel.children }
    guard hasChildren else { return [] }
    var children: [pid_t] = []
    for task in (try? Directory.entries(of: "/proc/self/task")) ?? [] {
      // The limit permits the maximum number of processes (pid_max).
      guard let text = ProcessTable.text(of: "/proc/self/task/\(task)/children", limit: 32 << 20) else {
        // The thread has exited meanwhile, or the kernel was built without these files.
        return ProcessTable.children(of: CurrentProcess.pid)
      }
      children += text.split(separator: " ").compactMap { pid_t($0) }
    }
    return children
  }

  /// Reaps exited children that this process has not started itself: orphaned descendants, and for process 1
  /// all orphans of its pid namespace. Call it on SIGCHLD.
  public static func reapOrphans() {
    for pid in children() where !ChildProcess.isOwn(pid) {
      var ending = linux_ending()
      _ = uninterrupted { linux_reap(pid, false, &ending) }
    }
  }
}

extension ChildProcess {
  /// Opens a child that this process has not started itself, such as an adopted orphan; nil if it does not exist any
  /// more.
  ///
  /// - Parameter pid: a number from ``Subreaper/children()`` that was not reaped since.
  public static func adopted(_ pid: pid_t) throws(SystemError) -> ChildProcess? {
    do throws(SystemError) {
      let watch = try FileDescriptor("pidfd_open", on: "process \(pid)") { Kernel.openProcess(pid) }
      return ChildProcess(pid: pid, pidDescriptor: watch, isAdopted: true)
    } catch {
      guard error.code == ESRCH else { throw error }
      return nil
    }
  }

  /// Process group of the child; nil if the child was reaped. `getpgid(2)`
  ///
  /// A child is a member of its group until it is reaped, so the number of the group cannot be reused before.
  public var group: pid_t? {
    guard !isReaped else { return nil }
    if let kernel = Kernel.simulated { return kernel.group(of: pid) }
    let group = getpgid(pid)
    return group > 0 ? group : nil
  }

  /// Sends a signal to the child's whole process group, if that group is not in the session of this process.
  /// Returns false if no process was signalled. `kill(2)`
  @discardableResult
  public func killGroup(_ signal: CInt) -> Bool {
    guard let group else { return false }
    guard group > 1, !isInOwnSession(group) else { return false }
    return Kernel.kill(-group, signal) == 0
  }

  /// True if the child, whose process group is `group`, is in the session of this process.
  private func isInOwnSession(_ group: pid_t) -> Bool {
    // On a simulated machine a session has one group.
    if let kernel = Kernel.simulated { return kernel.group(of: kernel.processID) == group }
    return getsid(pid) == getsid(0)
  }
}
