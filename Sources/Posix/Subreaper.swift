// Owns the children that this process has not started itself: descendants whose own parents have ended.
// Invariant: a child stays in the list until it is reaped, and only this process reaps it; so a number from the list is
// that child's for as long as nobody here collects it.
// Failure: SystemError; a child that is not there any more is nil.
import CLinux
import Glibc

/// Being the one to whom orphaned descendants fall, in place of process 1. `prctl(2)` PR_SET_CHILD_SUBREAPER
public enum Subreaper {
  /// From now on every descendant whose parent ends becomes a child of this process. It is not inherited.
  public static func become() throws(SystemError) {
    if let kernel = Kernel.simulated { return kernel.becomeSubreaper() }
    try systemCall("prctl", on: "PR_SET_CHILD_SUBREAPER") { linux_become_subreaper() }
  }

  /// Whether there is any child, one that has ended and was not reaped among them. One system call. `waitid(2)`
  public static var hasChildren: Bool {
    Kernel.simulated.map { !$0.children.isEmpty } ?? linux_has_children()
  }

  /// All children of this process, whoever started them, those that have ended and were not reaped among them.
  /// /proc/self/task/*/children, `proc_tid_children(5)`
  public static func children() -> [pid_t] {
    if let kernel = Kernel.simulated { return kernel.children }
    guard hasChildren else { return [] }
    var children: [pid_t] = []
    for task in (try? Directory.entries(of: "/proc/self/task")) ?? [] {
      // As many as there can be processes (pid_max is at most 4,194,304), at eight bytes each.
      guard let text = ProcessTable.text(of: "/proc/self/task/\(task)/children", limit: 32 << 20) else {
        // The thread has ended meanwhile, or the kernel was built without these files.
        return ProcessTable.children(of: CurrentProcess.pid)
      }
      children += text.split(separator: " ").compactMap { pid_t($0) }
    }
    return children
  }

  /// Collects the children that have ended and that this process has not started itself: descendants whose parents have
  /// ended, and for process 1 all orphans of the machine. To be called when SIGCHLD comes.
  public static func collectOthers() {
    for pid in children() where !ChildProcess.isOwn(pid) {
      var ending = linux_ending()
      _ = uninterrupted { linux_reap(pid, false, &ending) }
    }
  }
}

extension ChildProcess {
  /// A child that this process has not started itself.
  ///
  /// - Parameter pid: from ``Subreaper/children()``, and not collected since.
  /// - Returns: nil where there is no such process any more.
  public static func adopted(_ pid: pid_t) throws(SystemError) -> ChildProcess? {
    do throws(SystemError) {
      let watch = try FileDescriptor("pidfd_open", on: "process \(pid)") { Kernel.openProcess(pid) }
      return ChildProcess(pid: pid, pidDescriptor: watch, isAdopted: true)
    } catch {
      guard error.code == ESRCH else { throw error }
      return nil
    }
  }

  /// Its process group; nil where it was reaped. `getpgid(2)`
  ///
  /// For as long as it is not reaped it is a member, so the number is nobody else's.
  public var group: pid_t? {
    guard !isReaped else { return nil }
    if let kernel = Kernel.simulated { return kernel.group(of: pid) }
    let group = getpgid(pid)
    return group > 0 ? group : nil
  }

  /// Sends a signal to everybody in its process group, where that lies in another session than this process. `kill(2)`
  ///
  /// The kernel does it in one step, in which nobody in the group can start another process.
  /// - Returns: false where nobody was signalled.
  @discardableResult
  public func killGroup(_ signal: CInt) -> Bool {
    guard let group else { return false }
    guard group > 1, !isInOwnSession(group) else { return false }
    return Kernel.kill(-group, signal) == 0
  }

  private func isInOwnSession(_ group: pid_t) -> Bool {
    // On a simulated machine a session has one group.
    if let kernel = Kernel.simulated { return kernel.group(of: kernel.processID) == group }
    return getsid(pid) == getsid(0)
  }
}
