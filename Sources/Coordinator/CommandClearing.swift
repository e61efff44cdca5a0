// Owns the end of what is left of the commands and workers of a coordinator that died together with its runners, before their
// customers are handed out again: it is known by the key in its environment. A note in the home says that there may be some:
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

  /// - Parameter books: as the coordinator begins.
  package init(of coordinator: Coordinator, _ books: Books) {
    context = coordinator.context
    guard Self.isWanted(context, books), !Kernel.makes("leavesOrphansAtTheStart") else { return }
    orphans = Orphans(keysFrom: context.booksName.prefix, on: context.loop)
    orphans?.end(grace: .zero, at: context.loop.moment().monotonic)
    settle()
  }

  /// Whether nothing is left, or nothing that could be ended.
  package var isDone: Bool { orphans == nil }

  /// Waits for the next thing to happen, and does what there is to do.
  package func turn() throws(SystemError) {
    _ = try context.loop.runOnce(until: orphans?.deadline)
    orphans?.turn(at: context.loop.moment().monotonic)
    settle()
  }

  private func settle() {
    guard let present = orphans, present.areGone else { return }
    orphans = nil
    let left = present.remaining
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
  static func note(in home: BankHome) {
    if Kernel.makes("notesNoCommands") { return }
    _ = try? FileDescriptor.open(home.commandsNote, [.writeOnly, .create], mode: 0o600)
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
