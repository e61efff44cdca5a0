// Cleanup after attempts: the control groups of commands and workers, the processes left by dead runners, and the
// windows that wait for processes that cannot be killed.
// Invariant: no process starts at a window with commands or a worker program while a process exists that an earlier
// coordinator's attempt of the same service, or the previous process at the window, has left.

import BankModel
import CommandRunner
import Glibc
import Posix
import Time

extension TellerSupervisor {
  /// Stores the marks of this home's processes, and the processes left by earlier coordinators, before a window
  /// opens.
  package func inherit(_ lineage: Lineage?, _ left: [Orphans.Left]) {
    self.lineage = lineage
    leftovers.add(left)
  }

  /// Control groups of commands and workers, created for the first command or worker.
  func windowGroups() -> WindowGroups? {
    guard !hasLookedForGroups else { return groups }
    hasLookedForGroups = true
    groups = WindowGroups(lineage)
    if let groups {
      log.write(event: "cgroups_enabled", at: loop.moment()) { $0.field("path", groups.all.path) }
    }
    return groups
  }

  /// True while processes left by a runner are being killed.
  var isClearing: Bool { !clearings.isEmpty }

  /// Removes the groups when the bank has closed.
  func leaveGroups() { groups?.removeAll() }

  /// True if no process that an earlier coordinator has left for this service remains. If one remains, sets the time of
  /// the next check.
  func mayStart(_ post: SupervisedTeller, at now: Moment) -> Bool {
    let pids =
      kinds[post.window.service].leavesProcesses ? leftovers.holding(post.window.service) : []
    guard !pids.isEmpty else {
      post.holdUp = nil
      return true
    }
    holdUp(post, pids, at: now)
    post.restartAt = now.monotonic + Leftovers.pause
    return false
  }

  /// Logs that a window waits for processes that cannot be killed.
  private func holdUp(_ post: SupervisedTeller, _ pids: [pid_t], at now: Moment) {
    let reason = Remark(.leftBehind, pids.map(String.init).joined(separator: ", "))
    guard post.holdUp != reason else { return }
    post.holdUp = reason
    write("window_blocked", .error, about: post, at: now) { $0.field("msg", reason.description) }
  }

  /// Logs a process that was killed long ago and has not exited, for example because it waits for a failed
  /// disk. The window waits for its exit.
  func nameUndying(_ post: SupervisedTeller, heard: MonotonicTime, at now: Moment) {
    guard let due = post.undyingAt, due <= heard else { return }
    post.killedAt = nil
    if post.pid > 0 { holdUp(post, [post.pid], at: now) }
  }

  /// True if no process of a dead runner's commands remains. Orphans are reparented to this process, the
  /// nearest subreaper. They are killed before the runner's customers return to their line.
  func isCleared(_ post: SupervisedTeller, at now: Moment) -> Bool {
    // Kills the whole group at once, including processes that fork during a search. The code below reaps the
    // processes.
    if post.kind.leavesProcesses, clearings[post.window] == nil {
      groups?.end(services.name(of: post.window))
    }
    guard post.kind.leavesProcesses, Subreaper.hasChildren, !Kernel.makes("succeedsBesideTheTree") else {
      // Discard the tree: its deadlines would wake this process without need.
      clearings[post.window] = nil
      return true
    }
    if let tree = clearings[post.window] {
      tree.turn(at: now.monotonic)
      guard tree.isGone else { return false }
      guard tree.remaining.isEmpty else {
        // The remaining processes may still work for the customers of the window, so no new process starts at
        // the window.
        holdUp(post, tree.remaining, at: now)
        return false
      }
      post.holdUp = nil
      clearings[post.window] = nil
      // Processes that the killed ones had just started have been reparented to this process meanwhile.
      guard Subreaper.children().contains(where: { !ChildProcess.isOwn($0) }) else { return true }
    }
    let tree = ProcessTree(root: nil, on: loop, adopts: { !ChildProcess.isOwn($0) })
    tree.end(grace: .zero, at: now.monotonic)
    guard !tree.isGone || !tree.remaining.isEmpty else { return true }
    clearings[post.window] = tree
    return false
  }

  func goOnClearing(at now: Moment) {
    for post in inOrder where clearings[post.window] != nil { settleEnd(of: post) }
  }
}
