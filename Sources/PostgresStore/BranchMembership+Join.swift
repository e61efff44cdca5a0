// Join of a branch, for the first time or again: the branch migrates the schema, obtains an epoch, and determines the
// results of the transactions of its former epoch.
// Invariant: transactions in flight are reported before the branch has an epoch again.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

extension BranchMembership {
  /// Migrates the schema, and then joins.
  func prepare() {
    link.prepare { [weak self] result in
      switch result {
      case .success: self?.join()
      // The connection was lost, or the refusal is temporary.
      case .failure(.failed(let error)) where error.isRetriable: self?.link.reconnect()
      case .failure(let failure): self?.refused(.schema(failure))
      }
    }
  }

  /// Sends the transaction that joins the bank, or rejoins it in a new epoch.
  func join() {
    let former = context.lastBranch
    let sentAt = SystemClock.monotonic()
    var segment = [
      PostgresStatements.former(.text(settings.name)),
      PostgresStatements.continueDay(.text(settings.name)),
    ]
    segment +=
      PostgresBranch.joining(
        settings.name, lease: settings.lease, host: settings.host,
        after: max(former?.epoch ?? 0, context.known?.epoch ?? 0), homeIdentity: settings.homeIdentity)
      + [
        PostgresStatements.nameHolder(.text(settings.name)),
        PostgresStatements.lockNumbers(),
        PostgresStatements.addServices(.texts(settings.services.map(\.text))),
        PostgresStatements.services(), PostgresStatements.lanes(),
        PostgresStatements.pollDay(.integer(DueSearchRange.everything)),
        PostgresStatements.bankID(), PostgresStatements.paused(.text(settings.name)),
      ]
    let count = segment.count
    _ = link.send(
      PostgresRequest(segment: segment) { rows in
        rows.count == count ? rows : nil
      }
    ) {
      [weak self] answer in
      guard let self else { return }
      switch answer {
      case .done(let rows): self.joined(Array(rows.dropFirst(2)), self.context.lastBranch, sentAt, rows[0])
      case .refused(let error) where !error.isRetriable: self.refused(.server(error))
      case .refused(let error):
        self.context.refusesWrites(error)
        self.link.retry(after: error)
      case .unknown: break
      }
    }
  }

  /// Closes the store if the branch of this name in another home has renewed its lease, else joins again after a pause.
  /// If that lease expires, the name is free.
  private func handleNameConflict(_ found: NameHolder) {
    if let seen = nameHolder?.seen, seen.epoch != found.epoch || seen.leaseEnd != found.leaseEnd {
      return refused(.nameTaken(settings.name, host: found.host))
    }
    nameHolder = (nameHolder?.seen ?? found, SystemClock.monotonic() + Self.nameCheckPause)
  }

  /// Handles the result of the join: reports a name conflict, or resolves the former epoch and begins the new one.
  ///
  /// - Parameter row: the branch's row before the join.
  private func joined(
    _ all: [PostgresRows], _ former: PostgresBranch?, _ sentAt: MonotonicTime, _ row: PostgresRows
  ) {
    var rows = all
    let other = rows.remove(at: 3)
    if rows[0].count == 0 {
      // The other branch may just have closed.
      guard let found = NameHolder(other) else { return link.retry(after: nil) }
      return handleNameConflict(found)
    }
    nameHolder = nil
    let days = rows[7]
    if let now = days.integer(0, 3) {
      context.clock.record(now, at: SystemClock.wall(), SystemClock.monotonic())
    }
    guard let branch = PostgresBranch.joined(rows)?.branch, let day = days.integer(0, 0),
      let opened = days.integer(0, 1), let drains = days.boolean(0, 2), let number = rows[8].integer(0, 0),
      let firstDay = rows[8].integer(0, 1), let firstTicket = rows[8].integer(0, 2),
      let issued = days.integer(0, 7), let identity = link.identity
    else {
      return refused(.schema(.foreign))
    }
    compare(
      with: SharedStoreProgress(
        bankID: number, system: identity.system, timeline: identity.timeline, day: day, ticket: issued,
        epoch: row.integer(0, 0) ?? 0, commits: row.integer(0, 1) ?? 0))
    context.known?.note(epoch: branch.epoch)
    context.adopt(services: rows[5])
    context.clearLanes()
    context.adopt(lanes: rows[6], for: branch.id)
    let opening = JoinResult(
      branch: branch, day: day, openedAt: context.clock.localTime(opened), isDraining: drains,
      services: context.services, name: BankID(number: number, day: firstDay, ticket: firstTicket),
      paused: context.pausedServices(rows[9]))
    guard let former else { return begin(opening, sentAt) }
    let isSent = commits.resolveFormerEpoch(former, on: link) { [weak self] isSettled in
      guard let self else { return }
      if isSettled {
        self.findLostTransactions(former, before: opening, sentAt)
      } else {
        self.link.reconnect()
      }
    }
    if !isSent { link.reconnect() }
  }

  /// Reports an older database if the join has found less than the branch remembers, and remembers what was found.
  private func compare(with found: SharedStoreProgress) {
    if let known = context.known, known.bankID == found.bankID,
      known.isAhead(day: found.day, ticket: found.ticket)
        || known.isAhead(epoch: found.epoch, commits: found.commits)
    {
      context.report(.older(StoreRollback(known: known, found: found)))
    }
    context.known = found
  }

  /// Reports transactions of the former epoch that were committed and were lost with their server, and then begins the
  /// new epoch.
  private func findLostTransactions(
    _ former: PostgresBranch, before opening: JoinResult, _ sentAt: MonotonicTime
  ) {
    let numbers = context.numbers.recent
    guard !numbers.isEmpty else { return begin(opening, sentAt) }
    let isSent = link.send(former.stored(numbers)) { [weak self] answer in
      guard let self else { return }
      guard case .done(let stored) = answer else { return self.link.reconnect() }
      let gone = self.context.numbers.missing(of: numbers, found: stored)
      if !gone.isEmpty { self.context.report(.transactionsLost(commits: gone)) }
      self.begin(opening, sentAt)
    }
    if !isSent { link.reconnect() }
  }

  /// Starts the new epoch: reports the join, and starts the lease and the polls.
  private func begin(_ opening: JoinResult, _ sentAt: MonotonicTime) {
    context.acceptsWrites()
    context.branch = opening.branch
    context.lastBranch = opening.branch
    context.numbers = CommitNumbers()
    context.day = opening.day
    isDraining = opening.isDraining
    seen = nil
    counted = nil
    joined(opening)
    if let known = context.known { context.report(.known(known)) }
    extendLease(sentAt)
    poll()
  }
}
