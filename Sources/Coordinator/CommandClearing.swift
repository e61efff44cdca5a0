// Owns the end of what is left of the commands and workers of a coordinator that died together with its runners, before their
// customers are handed out again: it is in the groups of the bank's windows where there are such groups, and is known by the key
// in its environment everywhere. A note in the home says that there may be some, and in which group:
// whose customer has a receipt, or was taken out, does not wait any more, and may have left somebody behind all the same.
// Invariant: nobody is handed out before it is done. Where there is no note, nobody waits for a command, and there are no
// workers, there is nothing to look for. Failure: what cannot be ended is named in the log, and the bank opens.

import CommandRunner
import Configuration
import Posix
import QueueCore
import Time

/// What comes first in a coordinator that may have had a predecessor.
package final class CommandClearing {
  private let context: BankContext
  /// Nil where there is nothing to look for, and when nothing is left.
  private var orphans: Orphans?
  /// Groups in which somebody is left who was ended.
  private var groups: [ControlGroup] = []
  /// When those who are left are given up.
  private let giveUpAt: MonotonicTime

  /// From SIGKILL until whoever is left is given up, and from one look at a group to the next.
  private static let (patience, pause) = (TimeSpan.seconds(10), TimeSpan.milliseconds(1))

  /// - Parameter books: as the coordinator begins.
  package init(of coordinator: Coordinator, _ books: Books) {
    context = coordinator.context
    let now = context.loop.moment().monotonic
    giveUpAt = now + Self.patience
    groups = WindowGroups.leftBehind(by: context)
    for group in groups { group.kill() }
    if Self.isWanted(context, books), !Kernel.makes("leavesOrphansAtTheStart") {
      orphans = Orphans(keysFrom: context.booksName.prefix, on: context.loop, patience: Self.patience)
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
    let left = Set(orphans?.remaining ?? []).union(groups.flatMap { $0.below + [$0] }.flatMap(\.members))
      .sorted()
    (orphans, groups) = (nil, [])
    guard !left.isEmpty else {
      try? Directory.unlink(context.home.commandsNote)
      return
    }
    context.write(event: "orphans_left", level: .error) {
      $0.field("pids", left.map(String.init).joined(separator: ","))
    }
  }

  /// Says to the next one that a command may have been started. It is for the death of processes and not of the machine,
  /// which leaves none, so no disk is waited for. Where it cannot be kept those who wait still say so.
  static func note(in home: BankHome, _ groups: WindowGroups?) {
    if Kernel.makes("notesNoCommands") { return }
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
