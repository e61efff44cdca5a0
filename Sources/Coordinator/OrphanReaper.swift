// Finds and kills the processes that commands and workers of a dead coordinator have left running, before their
// customers are assigned again. The processes are recognized by their control group, mark, environment or new parent. A
// marker file in the home records that there may be such processes. Waiting customers do not show this: a customer with
// a receipt does not wait any more, but its command may have left a process.
// Invariant: no customer is assigned before the search is complete.
// Errors: a process that cannot be killed is logged, and its service waits until the process exits.

import CommandRunner
import Configuration
import Glibc
import Posix
import QueueCore
import Time

/// Finds and kills the processes that commands and workers of an earlier coordinator have left running.
package final class OrphanReaper {
  private let context: BankContext
  /// Search by marks and environments; nil if no search is needed, and after the search.
  private var orphans: Orphans?
  /// Groups whose processes were killed and have not exited yet.
  private var groups: [ControlGroup] = []
  /// Time until which the search waits for the exit of processes in control groups.
  private let giveUpAt: MonotonicTime
  /// Processes that could not be killed. The list is complete when ``isDone`` is true.
  private(set) var remainingProcesses: [Orphans.LeftoverProcess] = []

  /// Time to wait for remaining processes after SIGKILL, and pause between two checks of a group.
  private static let (killTimeout, pause) = (TimeSpan.seconds(10), TimeSpan.milliseconds(1))
  private static let guardian = "bank-guardian"

  /// - Parameter dayCounters: Counters at the start of the coordinator.
  package init(of coordinator: Coordinator, _ dayCounters: DayCounters) {
    context = coordinator.context
    let now = context.loop.moment().monotonic
    giveUpAt = now + Self.killTimeout
    groups = WindowControlGroups.leftBehind(by: context)
    for group in groups { group.kill() }
    if Self.isWanted(context, dayCounters), !Mutant.leavesOrphansAtStart.isActive {
      let traces = OrphanTraces(
        keysFrom: context.bankID.prefix, mark: context.processIdentity?.mark,
        keeper: Self.guardianPID(context))
      orphans = Orphans(traces, on: context.loop, killTimeout: Self.killTimeout)
      orphans?.end(grace: .zero, at: now)
    }
    settle(at: now)
  }

  /// True after the search: every process that was found has exited or is in ``remainingProcesses``.
  package var isDone: Bool { orphans == nil && groups.isEmpty }

  /// Waits for the next event and handles it.
  package func runIteration() throws(SystemError) {
    let nextCheck = groups.isEmpty ? nil : context.loop.moment().monotonic + Self.pause
    _ = try context.loop.runOnce(until: .earlier(orphans?.deadline, nextCheck))
    let now = context.loop.moment().monotonic
    orphans?.runIteration(at: now)
    settle(at: now)
  }

  /// Ends the search if all found processes have exited or the time is over, and logs what is left.
  private func settle(at now: MonotonicTime) {
    groups.removeAll { !$0.isPopulated && $0.remove() }
    guard orphans?.areGone != false, groups.isEmpty || giveUpAt <= now else { return }
    guard orphans != nil || !groups.isEmpty else { return }
    remainingProcesses = orphans?.left ?? []
    for pid in groups.flatMap({ $0.below + [$0] }).flatMap(\.members)
    where !remainingProcesses.contains(where: { $0.pid == pid }) {
      guard let kinship = ProcessTable.parentInfo(of: pid), kinship.isAlive else { continue }
      remainingProcesses.append(Orphans.LeftoverProcess(pid: pid, startTime: kinship.startTime, service: 0))
    }
    (orphans, groups) = (nil, [])
    guard !remainingProcesses.isEmpty else {
      try? Directory.unlink(context.home.commandsMarkerFile)
      return
    }
    context.write(event: "orphans_not_killed", level: .error) {
      $0.field("pids", remainingProcesses.map { String($0.pid) }.joined(separator: ","))
      $0.field("msg", "these processes could not be ended; their services wait for their exit")
    }
  }

  /// Process id of the guardian that started this process; nil if the parent is another program. The guardian
  /// is a subreaper, so orphans of an earlier coordinator are reparented to it. Child processes of other
  /// parents are not searched: a user's `bankctl` may have unrelated ones, and process 1 has those of the whole
  /// machine.
  private static func guardianPID(_ context: BankContext) -> pid_t? {
    guard let guardian = context.options.guardian, guardian > 1, CurrentProcess.parentPid == guardian,
      ProcessTable.name(of: guardian) == Self.guardian
    else { return nil }
    return guardian
  }

  /// Writes the marker file, which records that a command may have been started. The file is not synced,
  /// because it is needed only after a crash of processes: a crash of the machine leaves no processes. If the
  /// file cannot be written, waiting customers still cause a search.
  static func note(in home: BankHome, _ groups: WindowControlGroups?) {
    guard
      let note = try? FileDescriptor.open(
        home.commandsMarkerFile, [.writeOnly, .create, .truncate], mode: 0o600)
    else { return }
    if let groups { try? note.writeAll(Array(groups.all.path.utf8)) }
  }

  /// True if processes of commands or workers may be left, so that a search is needed.
  private static func isWanted(_ context: BankContext, _ dayCounters: DayCounters) -> Bool {
    if (try? FileMetadata.inspect(context.home.commandsMarkerFile)) != nil { return true }
    let kinds = context.kinds
    // Workers run, and may have started processes, even if no customer waits.
    let hasWorkers = context.configuration.services.contains { context.configuration.worker(of: $0) != nil }
    return hasWorkers
      || dayCounters.waiting.lines.indices.contains {
        dayCounters.waiting[$0] > 0 && kinds[dayCounters.waiting.lines[$0].service].mayLeaveProcesses
      }
  }
}
