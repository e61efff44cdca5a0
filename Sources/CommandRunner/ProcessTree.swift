// A command's process and all its descendants, also those in other process groups or sessions, and those whose
// parents have exited. This process is a subreaper, so a descendant that loses its parent becomes a child of this
// process. A child keeps its process id until this process reaps it. So the search signals children and their process
// groups, level by level.
// Invariant: of the children of this process, this class reaps only the root and those for which `adopts` returns
// true.
// Errors: a process that cannot be ended is reported.
import Glibc
import Posix
import Time

/// A process and its descendants, which are ended together.
///
/// Call `Subreaper.become()` before the process is started.
public final class ProcessTree {
  private let root: ChildProcess?
  private let adopts: (pid_t) -> Bool
  private let terminator: ProcessTerminator
  private let group: EndedGroup?

  /// Watches a tree until the caller ends it.
  ///
  /// - Parameters:
  ///   - root: leader of a session; nil for a tree that consists only of processes that a runner left behind when it
  ///     exited.
  ///   - group: control group in which the root was started, and in which no process has to survive. Before each
  ///     search with SIGKILL, all its members are killed if this process still has a child. Descendants outside the
  ///     group are still ended one by one.
  ///   - killTimeout: time to wait after SIGKILL for the remaining processes to exit.
  ///   - adopts: returns true for a child of this process, other than the root, that belongs to the tree.
  public init(
    root: ChildProcess?, in group: ControlGroup? = nil, on loop: EventLoop,
    killTimeout: TimeSpan = .seconds(10),
    adopts: @escaping (pid_t) -> Bool
  ) {
    self.root = root
    self.adopts = adopts
    let rootPid = root?.pid
    let ended = group.map { EndedGroup($0) }
    self.group = ended
    terminator = ProcessTerminator(on: loop, killTimeout: killTimeout) {
      signal, room, isHeld throws(SystemError) in
      // This call also kills a process that forks faster than the scan finds its children.
      if signal == SIGKILL, let ended, Subreaper.hasChildren { ended.kill() }
      return try Self.scan(for: signal, room: room, ofGroup: rootPid) {
        $0 != rootPid && !isHeld($0) && adopts($0)
      }
    }
    if let root { terminator.hold(known: Root(root)) { root.reap() != nil } }
  }

  /// Reaps adopted descendants that have exited, while the tree is not being ended. Call it on SIGCHLD: if it
  /// is not called, a command that keeps starting background processes fills the process table with zombies.
  public func reapDescendants() {
    guard !terminator.isBegun else { return }
    for pid in Subreaper.children() where pid != root?.pid && adopts(pid) {
      _ = try? ChildProcess.adopted(pid)?.reap()
    }
  }

  /// Signals those children of this process that belong to the tree, and reaps those that have exited. Returns at most
  /// `room` others. `group` is the process group of the root, to whose members SIGTERM is not sent again.
  private static func scan(
    for signal: CInt, room: Int, ofGroup group: pid_t?, _ belongs: (pid_t) -> Bool
  ) throws(SystemError) -> ProcessTerminator.ScanResult {
    var found = ProcessTerminator.ScanResult()
    for pid in Subreaper.children() where belongs(pid) {
      guard found.processes.count < room else { break }
      let child: ChildProcess?
      do throws(SystemError) { child = try ChildProcess.adopted(pid) } catch {
        // Keep the processes whose pidfds are open. The search finds the remaining ones after these have
        // exited.
        guard found.processes.isEmpty else { break }
        throw error
      }
      guard let child else { continue }
      let descendant = Descendant(child, ofGroup: group)
      descendant.end(by: signal)
      // If the process has exited since the list was read, its children may not be in the list.
      if child.reap() == nil { found.processes.append(descendant) } else { found.isChanging = true }
    }
    return found
  }

  /// True if the control group was killed. No process may be started in it any more; see
  /// `ControlGroup.kill()`.
  public var hasEndedGroup: Bool { group?.isEnded ?? false }
  /// True if no process is left, or only processes that could not be ended. False before ``end(grace:at:)``.
  public var isGone: Bool { terminator.isDone }
  /// Ids of the processes of the tree that are known to run: the root, and other children of this process.
  public var remaining: [pid_t] { terminator.remaining }
  /// Latest time for the next ``runIteration(at:)``; nil if no call is due before the next event.
  public var deadline: MonotonicTime? { terminator.deadline }

  /// Sends SIGTERM to the root's process group and to the other children of this process that belong to the
  /// tree, and SIGKILL to the whole tree after `grace`; SIGKILL at once if `grace` is zero. A second call can
  /// only shorten the time until SIGKILL.
  public func end(grace: TimeSpan, at now: MonotonicTime) { terminator.begin(grace: grace, at: now) }

  /// Does the work that is due.
  public func runIteration(at now: MonotonicTime) { terminator.runIteration(at: now) }

  /// The control group of a tree, and whether it was killed.
  private final class EndedGroup {
    private let group: ControlGroup
    private(set) var isEnded = false
    init(_ group: ControlGroup) { self.group = group }

    /// Kills all processes of the group, and records that no other may start in it.
    func kill() {
      isEnded = true
      group.kill()
    }
  }

  /// The first process of a tree, which is signalled with its whole process group.
  private final class Root: TerminableProcess {
    private let child: ChildProcess
    init(_ child: ChildProcess) { self.child = child }
    var pid: pid_t { child.pid }
    var fd: CInt { child.fd }
    /// Sends the signal to the process group of the root; to the root alone if that fails.
    func end(by signal: CInt) {
      // The leader of a session cannot leave its process group.
      if !child.killGroup(signal) { child.kill(signal) }
    }
    func release() { _ = child.reap() }
  }

  /// A child of this process that was not started by it, and belongs to the tree.
  private final class Descendant: TerminableProcess {
    private let child: ChildProcess
    /// Process group of the root; nil for a tree without a root.
    private let groupOfRoot: pid_t?
    init(_ child: ChildProcess, ofGroup group: pid_t?) { (self.child, groupOfRoot) = (child, group) }
    var pid: pid_t { child.pid }
    var fd: CInt { child.fd }
    /// Sends the signal to the descendant, and to its process group unless that is in the session of this process.
    /// SIGTERM is not repeated for the group of the root.
    func end(by signal: CInt) {
      // A member of the root's group receives SIGTERM with the group. Some programs exit immediately, without
      // cleaning up, when they receive a second one.
      if signal == SIGTERM && child.group == groupOfRoot { return }
      child.killGroup(signal)
      child.kill(signal)
    }
    func release() { _ = child.reap() }
  }
}
