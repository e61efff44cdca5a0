// The part of the supervisor that looks after what attempts leave behind: the groups in which commands and workers start, the
// end of what a dead runner has left, and the windows that wait because something could not be ended.
// Invariant: no process starts at a window while anything lives that an attempt of its service has left.

import BankModel
import CommandRunner
import Glibc
import Posix
import Time

extension TellerSupervisor {
  /// Takes over what belongs to former coordinators, before a window opens.
  package func inherit(_ lineage: Lineage?, _ left: [Orphans.Left]) {
    self.lineage = lineage
    leftovers.add(left)
  }

  /// The groups for commands and workers, which are made for the first of them.
  func windowGroups() -> WindowGroups? {
    guard !hasLookedForGroups else { return groups }
    hasLookedForGroups = true
    groups = WindowGroups(lineage)
    if let groups { log.write(event: "groups", at: loop.moment()) { $0.field("path", groups.all.path) } }
    return groups
  }

  /// Whether it waits for the end of what a runner has left.
  var isClearing: Bool { !clearings.isEmpty }

  /// The bank has closed.
  func leaveGroups() { groups?.removeAll() }

  /// Whether nothing of a former attempt at this service is left that could not be ended.
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

  /// Says that a window waits for the end of processes that cannot be ended.
  private func holdUp(_ post: SupervisedTeller, _ pids: [pid_t], at now: Moment) {
    let reason = Remark(.leftBehind, pids.map(String.init).joined(separator: ", "))
    guard post.holdUp != reason else { return }
    post.holdUp = reason
    write("held_up", .error, about: post, at: now) { $0.field("msg", reason.description) }
  }

  /// Names a process that was killed long ago and has not ended: it waits for a dead disk, and its service waits for it.
  func nameUndying(_ post: SupervisedTeller, heard: MonotonicTime, at now: Moment) {
    guard let due = post.undyingAt, due <= heard else { return }
    post.killedAt = nil
    if post.pid > 0 { holdUp(post, [post.pid], at: now) }
  }

  /// Whether nothing is left of the commands of a runner that has ended. What there is falls to this process, as the nearest
  /// above that is a sub-reaper, and is ended before the runner's customers go back to their line.
  func isCleared(_ post: SupervisedTeller, at now: Moment) -> Bool {
    // All at once, also those who would go on forking while they are looked for; below they are collected.
    if post.kind.leavesProcesses, clearings[post.window] == nil {
      groups?.end(services.name(of: post.window))
    }
    guard post.kind.leavesProcesses, Subreaper.hasChildren, !Kernel.makes("succeedsBesideTheTree") else {
      // Whoever was watched is gone, too: a deadline of theirs would keep this process awake for nothing.
      clearings[post.window] = nil
      return true
    }
    if let tree = clearings[post.window] {
      tree.turn(at: now.monotonic)
      guard tree.isGone else { return false }
      guard tree.remaining.isEmpty else {
        // It keeps the customers of the window, and so nothing starts beside it.
        holdUp(post, tree.remaining, at: now)
        return false
      }
      post.holdUp = nil
      clearings[post.window] = nil
      // What the last ones have started meanwhile has fallen to this process.
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
