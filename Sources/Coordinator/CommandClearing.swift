// The end of what is left of the commands and workers of a coordinator that died together with its runners, before their
// customers are assigned again. It is in the groups of the home's windows where there are such groups, and is recognized by its
// mark, its environment or its new parent everywhere. A note in the home says that there may be some, and in which group: a
// customer with a receipt does not wait any more, and may have left a process behind all the same.
// Invariant: no customer is assigned before it is done. Where there is no note, no customer waits for a command, and there are no
// workers, there is nothing to look for. Failure: what cannot be ended is named in the log, and its services wait for its end.

import CommandRunner
import Configuration
import Glibc
import Posix
import QueueCore
import Time

/// What comes first in a coordinator that may have had a predecessor.
package final class CommandClearing {
  private let context: BankContext
  /// Nil where there is nothing to look for, and when nothing is left.
  private var orphans: Orphans?
  /// Groups with processes that were ended and are not gone.
  private var groups: [ControlGroup] = []
  /// When those that are left are given up.
  private let giveUpAt: MonotonicTime
  /// Those that could not be ended. Complete when ``isDone`` is true.
  private(set) var left: [Orphans.Left] = []

  /// From SIGKILL until whatever is left is given up, and from one look at a group to the next.
  private static let (patience, pause) = (TimeSpan.seconds(10), TimeSpan.milliseconds(1))
  /// The program of a guardian, whose children are coordinators and what they have left.
  private static let guardian = "bank-guardian"

  /// - Parameter books: as the coordinator begins.
  package init(of coordinator: Coordinator, _ books: Books) {
    context = coordinator.context
    let now = context.loop.moment().monotonic
    giveUpAt = now + Self.patience
    groups = WindowGroups.leftBehind(by: context)
    for group in groups { group.kill() }
    if Self.isWanted(context, books), !Kernel.makes("leavesOrphansAtTheStart") {
      let traces = OrphanTraces(
        keysFrom: context.booksName.prefix, mark: context.lineage?.mark, keeper: Self.keeper(context))
      orphans = Orphans(traces, on: context.loop, patience: Self.patience)
      orphans?.end(grace: .zero, at: now)
    }
    settle(at: now)
  }

  /// Whether nothing is left, or nothing that could be ended.
  package var isDone: Bool { orphans == nil && groups.isEmpty }

  /// Waits for the next thing to happen, and does what there is to do.
  package func turn() throws(SystemError) {
    let nextLook = groups.isEmpty ? nil : context.loop.moment().monotonic + Self.pause
    _ = try context.loop.runOnce(until: .earlier(orphans?.deadline, nextLook))
    let now = context.loop.moment().monotonic
    orphans?.turn(at: now)
    settle(at: now)
  }

  private func settle(at now: MonotonicTime) {
    groups.removeAll { !$0.isPopulated && $0.remove() }
    guard orphans?.areGone != false, groups.isEmpty || giveUpAt <= now else { return }
    guard orphans != nil || !groups.isEmpty else { return }
    left = orphans?.left ?? []
    for pid in groups.flatMap({ $0.below + [$0] }).flatMap(\.members)
    where !left.contains(where: { $0.pid == pid }) {
      guard let kinship = ProcessTable.kinship(of: pid), kinship.isAlive else { continue }
      left.append(Orphans.Left(pid: pid, startTime: kinship.startTime, service: 0))
    }
    (orphans, groups) = (nil, [])
    guard !left.isEmpty else {
      try? Directory.unlink(context.home.commandsNote)
      return
    }
    context.write(event: "orphans_left", level: .error) {
      $0.field("pids", left.map { String($0.pid) }.joined(separator: ","))
      $0.field("msg", "they could not be ended, and their services wait for their end")
    }
  }

  /// The guardian that has started this process, if it is a program of its own: it is a subreaper, and whatever a former
  /// coordinator has left falls to it. A person's `bankctl` may have other children, and process 1 has those of the machine.
  private static func keeper(_ context: BankContext) -> pid_t? {
    guard let guardian = context.options.guardian, guardian > 1, CurrentProcess.parentPid == guardian,
      ProcessTable.name(of: guardian) == Self.guardian
    else { return nil }
    return guardian
  }

  /// Says to the next one that a command may have been started. It is for the death of processes and not of the machine,
  /// which leaves none, so no disk is waited for. Where it cannot be kept those who wait still say so.
  static func note(in home: BankHome, _ groups: WindowGroups?) {
    guard
      let note = try? FileDescriptor.open(home.commandsNote, [.writeOnly, .create, .truncate], mode: 0o600)
    else { return }
    if let groups { try? note.writeAll(Array(groups.all.path.utf8)) }
  }

  private static func isWanted(_ context: BankContext, _ books: Books) -> Bool {
    if (try? FileFacts.inspect(context.home.commandsNote)) != nil { return true }
    let kinds = context.kinds
    // A worker is there, and may have started others, whether anybody waits or not.
    let hasWorkers = context.configuration.services.contains { context.configuration.worker(of: $0) != nil }
    return hasWorkers
      || books.waiting.lines.indices.contains {
        books.waiting[$0] > 0 && kinds[books.waiting.lines[$0].service].leavesProcesses
      }
  }
}
