// Cleanup after attempts: the control groups of commands and workers, the processes left by dead runners, and the
// windows that wait for processes that cannot be killed.
// Invariant: no process starts at a window with commands or a worker program while a process is known to exist that an
// earlier coordinator's attempt of the same service, or the previous process at the window, has left.

import BankModel
import CommandRunner
import Glibc
import Posix
import Time

extension TellerSupervisor {
  /// Before a window opens: stores the identity with which this home's processes are started, and the processes of
  /// earlier coordinators that could not be killed.
  package func inherit(_ processIdentity: HomeProcessIdentity?, _ left: [Orphans.LeftoverProcess]) {
    self.processIdentity = processIdentity
    leftovers.add(left)
  }

  /// Control groups of commands and workers, created for the first of them; nil if they cannot be created.
  func windowGroups() -> WindowControlGroups? {
    guard !hasSearchedControlGroups else { return groups }
    hasSearchedControlGroups = true
    groups = WindowControlGroups(processIdentity)
    if let groups {
      log.write(event: "cgroups_enabled", at: loop.moment()) { $0.field("path", groups.all.path) }
    }
    return groups
  }

  /// True while processes left by a runner or a worker program are being killed.
  var isReaping: Bool { !processTreesToKill.isEmpty }

  /// Removes the control groups of all windows.
  func removeControlGroups() { groups?.removeAll() }

  /// True if no process that an earlier coordinator has left for this service remains. If one remains, sets the time of
  /// the next check.
  func mayStart(_ slot: SupervisedTeller, at now: Moment) -> Bool {
    let pids =
      kinds[slot.window.service].mayLeaveProcesses ? leftovers.holding(slot.window.service) : []
    guard !pids.isEmpty else {
      slot.holdUp = nil
      return true
    }
    holdUp(slot, pids, at: now)
    slot.restartAt = now.monotonic + LeftoverProcesses.pause
    return false
  }

  /// Logs that a window waits for processes that cannot be killed.
  private func holdUp(_ slot: SupervisedTeller, _ pids: [pid_t], at now: Moment) {
    let reason = MessageDetail(.leftBehind, pids.map(String.init).joined(separator: ", "))
    guard slot.holdUp != reason else { return }
    slot.holdUp = reason
    write("window_blocked", .error, about: slot, at: now) { $0.field("msg", reason.description) }
  }

  /// Logs a process that was killed long ago and has not exited, for example because it waits for a failed
  /// disk. The window waits for its exit.
  func logUnkillable(_ slot: SupervisedTeller, heard: MonotonicTime, at now: Moment) {
    guard let due = slot.unkillableAt, due <= heard else { return }
    slot.killedAt = nil
    if slot.pid > 0 { holdUp(slot, [slot.pid], at: now) }
  }

  /// True if no process remains that a dead runner or worker program has started. Orphans are reparented to this
  /// process, the nearest subreaper. They are killed before the customers of the window return to their line.
  func hasNoOrphans(_ slot: SupervisedTeller, at now: Moment) -> Bool {
    // Kills the whole group at once, including processes that fork during a search. The code below reaps the
    // processes.
    if slot.kind.mayLeaveProcesses, processTreesToKill[slot.window] == nil {
      groups?.end(services.name(of: slot.window))
    }
    guard slot.kind.mayLeaveProcesses, Subreaper.hasChildren,
      !Mutant.leavesDescendantsOfRunner.isActive
    else {
      // Discard the tree: its deadlines would wake this process without need.
      processTreesToKill[slot.window] = nil
      return true
    }
    if let tree = processTreesToKill[slot.window] {
      tree.runIteration(at: now.monotonic)
      guard tree.isGone else { return false }
      guard tree.remaining.isEmpty else {
        // The remaining processes may still work for the customers of the window, so no new process starts at
        // the window.
        holdUp(slot, tree.remaining, at: now)
        return false
      }
      slot.holdUp = nil
      processTreesToKill[slot.window] = nil
      // Processes that the killed ones had just started have been reparented to this process meanwhile.
      guard Subreaper.children().contains(where: { !ChildProcess.isOwn($0) }) else { return true }
    }
    let tree = ProcessTree(root: nil, on: loop, adopts: { !ChildProcess.isOwn($0) })
    tree.end(grace: .zero, at: now.monotonic)
    guard !tree.isGone || !tree.remaining.isEmpty else { return true }
    processTreesToKill[slot.window] = tree
    return false
  }

  /// Continues the exits that wait until the processes left by a runner or worker program are killed.
  func continueReaping(at now: Moment) {
    for slot in inOrder where processTreesToKill[slot.window] != nil { settleExit(of: slot) }
  }
}
