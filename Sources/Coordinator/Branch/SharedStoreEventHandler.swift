// Handler of events from a shared database,
// such as answers, counts of the whole bank, and the loss of the lease.

import BankModel
import Logging
import QueueCore
import Time
import Wire

final class SharedStoreEventHandler: CoordinatorComponent {
  private let enqueueHandler: EnqueueHandler
  private let router: RequestRouter
  private let shutdownController: ShutdownController
  /// Number of windows and issue time that were last reported to the database.
  private var lastReported: (windows: Int64, oldest: WallTime?) = (-1, nil)

  init(
    _ dependencies: CoordinatorComponent, _ enqueueHandler: EnqueueHandler, _ router: RequestRouter,
    _ shutdownController: ShutdownController
  ) {
    self.enqueueHandler = enqueueHandler
    self.router = router
    self.shutdownController = shutdownController
    super.init(dependencies)
  }

  func handle() {
    guard let shared else { return }
    while !context.isHalted, let event = shared.store.nextEvent() {
      context.updateTime()
      handle(event, of: shared)
    }
  }

  private func handle(_ event: SharedStoreEvent, of shared: SharedStoreSession) {
    switch event {
    case .answered(let request, .queue(let answer)): queue.sendReply { router.finish(request, with: answer) }
    case .answered(let request, let answer): queue.sendReply { enqueueHandler.finish(request, answer) }
    case .numbers(let numbers):
      shared.handle(numbers, at: context.now.monotonic)
      subscriptions.changed = true
      queue.process(.openCountsChanged(shared.remaining))
      // If the branch joined during a drain, it stops with the other branches. This is possible now that its
      // remaining customers are known.
      if shared.isDraining { shutdownController.stopWholeBank() }
    case .countersConfirmed(let askedAt): shared.countersConfirmed(askedAt: askedAt)
    case .releases(let owed):
      shared.handle(owed)
      if !owed.isEmpty { releases.requestScan() }
    case .draining:
      shared.beginDraining()
      context.write(event: "bank_draining") { $0.field("day", shared.numbers.day) }
      shutdownController.stopWholeBank()
    case .dayEnded:
      context.write(event: "day_ended") { $0.field("day", queue.machine.dayCounters.day) }
      shutdownController.stopAfterMissedDayEnd()
    case .dayEndFailed(let error):
      context.write(event: "day_end_failed", level: .error) { $0.field("msg", error.description) }
      shutdownController.dayNotEnded(error)
    case .lost(let reason):
      context.write(event: "lease_lost", level: .error) { fields in
        note(shared.identity, in: &fields)
        fields.field("msg", "\(reason): its customers in flight are served again")
      }
    case .joined(let identity):
      shared.joined(identity)
      context.write(event: "branch_joined") { note(identity, in: &$0) }
    case .known(let mark):
      shared.handle(mark)
      shared.note?.write(at: context.home.sharedStoreMarkerFile)
    case .older(let rollback):
      context.write(event: "database_reverted", level: .error) { fields in
        note(shared.identity, in: &fields)
        fields.field("day", rollback.found.day)
        fields.field("ticket", rollback.found.ticket)
        fields.field("known_day", rollback.known.day)
        fields.field("known_ticket", rollback.known.ticket)
        fields.field("commits", rollback.found.commits)
        fields.field("known_commits", rollback.known.commits)
        fields.field(
          "msg",
          "the database was restored to an older state: later changes are missing, and customers served since then are served"
            + " again; if that was not intended, stop all branches and restore the newer state"
        )
      }
    case .transactionsLost(let commits):
      context.write(event: "commits_lost", level: .error) { fields in
        note(shared.identity, in: &fields)
        fields.field("commits", commits.prefix(100).map(String.init).joined(separator: ","))
        fields.field(
          "msg",
          "\(commits.count) commits were reported as durable but are missing now: the database was replaced by an"
            + " incomplete copy; use synchronous replication")
      }
    case .interrupted(let reason):
      context.write(event: "database_unavailable", level: .warn) { $0.field("msg", reason.description) }
    case .left:
      shared.left()
      shutdownController.advance()
    case .failed(let error): queue.fail(error)
    }
  }

  /// Adds the branch and its epoch to a log entry.
  private func note(_ identity: BranchIdentity, in fields: inout LogFields) {
    fields.field("branch", identity.number)
    fields.field("name", identity.name)
    fields.field("epoch", identity.epoch)
  }

  /// Reports the number of open windows and the issue time of the longest waiting customer to the database, if one
  /// of them has changed.
  func advance() {
    guard let shared else { return }
    let windows = context.services.directory.services.reduce(0) { $0 + queue.machine.numbers(of: $1).windows }
    let oldest = queue.machine.oldestWaiting
    guard windows != lastReported.windows || oldest != lastReported.oldest else { return }
    lastReported = (windows, oldest)
    shared.store.note(windows: windows, oldest: oldest)
  }
}
