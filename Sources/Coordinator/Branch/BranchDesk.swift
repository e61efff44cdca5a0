// Handler of events from a shared database: answers, counts of the whole bank, loss of the lease and the next join.
// Invariant: each iteration handles all events that have arrived, after the results of the queue's own transactions.

import BankModel
import Logbook
import QueueCore
import Time
import Wire

final class BranchDesk: BankPart {
  private let intake: Intake
  private let router: RequestRouter
  private let ending: Ending
  private var told: (windows: Int64, oldest: WallTime?) = (-1, nil)

  init(_ ground: BankPart, _ intake: Intake, _ router: RequestRouter, _ ending: Ending) {
    self.intake = intake
    self.router = router
    self.ending = ending
    super.init(ground)
  }

  /// Handles all pending events.
  func hear() {
    guard let shared else { return }
    while !context.isCutOff, let news = shared.books.takeNews() {
      context.takeTime()
      hear(news, of: shared)
    }
  }

  private func hear(_ news: BranchNews, of shared: SharedBank) {
    switch news {
    case .answered(let request, .queue(let answer)): router.finish(request, with: answer)
    case .answered(let request, let answer): intake.finish(request, answer)
    case .numbers(let numbers):
      shared.hear(numbers, at: context.now.monotonic)
      followers.changed = true
      queue.happen(.remains(shared.remaining))
      // If the branch joined during a drain, it stops with the other branches. This is possible now that its
      // remaining customers are known.
      if shared.isDraining { ending.stopWithTheBank() }
    case .looked(let askedAt): shared.looked(askedAt: askedAt)
    case .releases(let owed):
      shared.hear(owed)
      if !owed.isEmpty { releases.look() }
    case .draining:
      shared.beginToDrain()
      context.write(event: "bank_draining") { $0.field("day", shared.numbers.day) }
      ending.stopWithTheBank()
    case .dayEnded:
      context.write(event: "day_ended") { $0.field("day", queue.machine.books.day) }
      ending.stopBehindTheDay()
    case .dayNotEnded(let error):
      context.write(event: "day_end_failed", level: .error) { $0.field("msg", error.description) }
      ending.dayNotEnded(error)
    case .lost(let reason):
      shared.lost()
      context.write(event: "lease_lost", level: .error) { fields in
        note(shared.identity, in: &fields)
        fields.field("msg", "\(reason): its customers in flight are served again")
      }
    case .joined(let identity):
      shared.joined(identity)
      context.write(event: "branch_joined") { note(identity, in: &$0) }
    case .known(let mark):
      shared.hear(mark)
      shared.note?.keep(at: context.home.booksNote)
    case .older(let books):
      context.write(event: "database_reverted", level: .error) { fields in
        note(shared.identity, in: &fields)
        fields.field("day", books.found.day)
        fields.field("ticket", books.found.ticket)
        fields.field("known_day", books.known.day)
        fields.field("known_ticket", books.known.ticket)
        fields.field("commits", books.found.commits)
        fields.field("known_commits", books.known.commits)
        fields.field(
          "msg",
          "the database was restored to an older state: later changes are missing, and customers served since then are served"
            + " again; if that was not intended, stop all branches and restore the newer state"
        )
      }
    case .forgotten(let commits):
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
      ending.advance()
    case .failed(let error): queue.fail(error)
    }
  }

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
    guard windows != told.windows || oldest != told.oldest else { return }
    told = (windows, oldest)
    shared.books.note(windows: windows, oldest: oldest)
  }
}
