// Owns a command's process and all that descends from it, wherever that has gone: into other process groups, other
// sessions, away from parents that have ended. This process is a sub-reaper, so whoever loses a parent becomes its child;
// and a child's number stays its own until this process reaps it, so only children are signalled, level by level.
// Invariant: a child that this process has started for something else is never signalled and never reaped here.
// Failure: who cannot be ended is named.
import Glibc
import Posix
import Time

/// A process with its descendants, to be ended together.
///
/// `Subreaper.become()` comes before the process is started.
public final class ProcessTree {
  private let root: ChildProcess?
  private let adopts: (pid_t) -> Bool
  private let ending: ProcessEnding
  private let group: EndedGroup?

  /// A tree, which is only watched until it is ended.
  ///
  /// - Parameters:
  ///   - root: leads a session; nil where only what was left by somebody else is meant.
  ///   - group: where the root has begun, and nobody who is to live on: whoever is in it is ended in one call of the kernel, before
  ///     anybody is looked for. All the others are collected here all the same.
  ///   - patience: from SIGKILL until whoever is left is given up.
  ///   - adopts: whether a child of this process, which is not the root, belongs to the tree: all but those that this
  ///     process has started itself. It is asked again and again.
  public init(
    root: ChildProcess?, in group: ControlGroup? = nil, on loop: EventLoop, patience: TimeSpan = .seconds(10),
    adopts: @escaping (pid_t) -> Bool
  ) {
    self.root = root
    self.adopts = adopts
    let rootPid = root?.pid
    let ended = group.map { EndedGroup($0) }
    self.group = ended
    ending = ProcessEnding(on: loop, patience: patience) { signal, room, isHeld throws(SystemError) in
      // One who forks faster than anybody can look is gone by then.
      if signal == SIGKILL, let ended, Subreaper.hasChildren { ended.kill() }
      return try Self.look(for: signal, room: room, ofGroup: rootPid) {
        $0 != rootPid && !isHeld($0) && adopts($0)
      }
    }
    if let root { ending.hold(known: Root(root)) { root.reap() != nil } }
  }

  /// Collects descendants that have lost their parents and ended, while the tree is not being ended: to be called when
  /// SIGCHLD comes, or a command that goes on starting others in the background fills the table of processes.
  public func collect() {
    guard !ending.isBegun else { return }
    for pid in Subreaper.children() where pid != root?.pid && adopts(pid) {
      _ = try? ChildProcess.adopted(pid)?.reap()
    }
  }

  /// Signals those children of this process that belong to the tree, and collects those that have ended.
  private static func look(
    for signal: CInt, room: Int, ofGroup group: pid_t?, _ belongs: (pid_t) -> Bool
  ) throws(SystemError) -> ProcessEnding.Found {
    var found = ProcessEnding.Found()
    for pid in Subreaper.children() where belongs(pid) {
      guard found.processes.count < room else { break }
      let child: ChildProcess?
      do throws(SystemError) { child = try ChildProcess.adopted(pid) } catch {
        // Those who could be held are, and the others are found when these have ended.
        guard found.processes.isEmpty else { break }
        throw error
      }
      guard let child else { continue }
      let descendant = Descendant(child, ofGroup: group)
      descendant.end(by: signal)
      // The children of one that has ended since the list was read are not in it.
      if child.reap() == nil { found.processes.append(descendant) } else { found.isChanging = true }
    }
    return found
  }

  /// Whether the group was ended, so that nobody is to begin in it any more. See ``ControlGroup/kill()``
  public var hasEndedGroup: Bool { group?.isEnded ?? false }
  /// Whether nobody is left, or nobody who could be ended. False until ``end(grace:at:)``.
  public var isGone: Bool { ending.isDone }
  /// Those of the tree that are known to be left: children of this process, and the root.
  public var remaining: [pid_t] { ending.remaining }
  /// When ``turn(at:)`` is to be called, if nothing happens before.
  public var deadline: MonotonicTime? { ending.deadline }

  /// Asks the group of the root to end, by SIGTERM, and after `grace` ends the whole tree, by SIGKILL. At once where
  /// `grace` is zero. Again, it can only shorten the grace.
  public func end(grace: TimeSpan, at now: MonotonicTime) { ending.begin(grace: grace, at: now) }

  /// Does what is due.
  public func turn(at now: MonotonicTime) { ending.turn(at: now) }

  private final class EndedGroup {
    private let group: ControlGroup
    private(set) var isEnded = false
    init(_ group: ControlGroup) { self.group = group }

    func kill() {
      isEnded = true
      group.kill()
    }
  }

  private final class Root: HeldProcess {
    private let child: ChildProcess
    init(_ child: ChildProcess) { self.child = child }
    var pid: pid_t { child.pid }
    var fd: CInt { child.fd }
    func end(by signal: CInt) {
      // The session's leader cannot leave its group.
      if !child.killGroup(signal) { child.kill(signal) }
    }
    func release() { _ = child.reap() }
  }

  private final class Descendant: HeldProcess {
    private let child: ChildProcess
    private let groupOfRoot: pid_t?
    init(_ child: ChildProcess, ofGroup group: pid_t?) { (self.child, groupOfRoot) = (child, group) }
    var pid: pid_t { child.pid }
    var fd: CInt { child.fd }
    func end(by signal: CInt) {
      // Who is in the root's group was asked with it; a second SIGTERM means "now" to some.
      if signal == SIGTERM && child.group == groupOfRoot { return }
      child.killGroup(signal)
      child.kill(signal)
    }
    func release() { _ = child.reap() }
  }
}
