// Use of the connection that is reserved for the lease: the branch joins, renews its lease, receives notifications,
// polls the whole bank, and rescues the customers of branches whose leases have expired.
// Invariant: by the branch's own clock, the lease ends before it ends by the server's clock, unless the server's clock
// is set forward. The branch counts the lease from the moment at which the renewal was sent, and subtracts a margin.
// The next poll, or a query after the reconnection, finds what a lost notification would have reported.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Membership of the branch in the bank: its join, its lease, and its polls.
final class BranchMembership {
  private static let pollInterval = TimeSpan.seconds(1)
  /// Time before the poll that ``pollSoon()`` requests, and before a refused renewal is repeated.
  private static let pollDelay = TimeSpan.milliseconds(20)
  /// Time before a line with a short page is checked again.
  private static let recheckAfter = TimeSpan.milliseconds(5)
  /// Time before the branch joins again while a branch of the same name is open in another home, and before it renews
  /// the lease again while the database accepts no writes.
  static let nameCheckPause = TimeSpan.milliseconds(250)

  /// Called when the branch has an epoch, for the first time or again.
  var joined: (JoinResult) -> Void = { _ in }
  /// Called when the lease has expired.
  var onLeaseExpired: () -> Void = {}
  /// Called when the database cannot be used.
  var refused: (SharedStoreFailure) -> Void = { _ in }
  /// Called when the database is a different or an older one, or lacks transactions that were reported as committed.
  var replaced: () -> Void = {}
  /// Called for each large request that has its tickets and is still being moved.
  var left: (LargeRequestID) -> Void = { _ in }
  /// Called when a customer is due. `window` is the maximum age of the due times to search, in milliseconds.
  var due: (_ window: Int64) -> Void = { _ in }
  /// Number of open windows, sent with the next renewal.
  var windows: Int64 = 0
  /// Issue time of the longest-waiting customer of this branch, by its own clock; sent with the next renewal.
  var oldest: WallTime?
  /// End of the branch's own lease, by its monotonic clock; nil for none.
  private(set) var leaseEnd: MonotonicTime?

  let context: SharedStoreContext
  let link: ReconnectingConnection
  let commits: TransactionQueue
  let settings: SharedStore.Settings
  /// Time of the next renewal; nil if none is planned.
  private var renewAt: MonotonicTime?
  /// Time of the next poll; nil if none is planned.
  private var pollAt: MonotonicTime?
  /// Time at which the next customer is due; nil for none.
  private var dueAt: MonotonicTime?
  /// Lines to check again after a short page, with the time of the check.
  private var recheckAt: [(MonotonicTime, Line)] = []
  private var isPolling = false
  private var isRenewing = false
  private var isRescuing = false
  /// Counters of the bank as last reported, without the remaining times of leases.
  var seen: BankCounters?
  /// Stock releases as last reported.
  private var reportedReleases: [OwedRelease] = []
  /// Number of transactions of this epoch that the last renewal has stored; nil before the first renewal.
  var counted: Int64?
  var isDraining = false
  /// Leases of the other branches.
  private var leases = LeaseObserver()
  /// Last reported identity of the database.
  var reportedIdentity: SharedStoreProgress?
  /// First observation of a branch of the same name in another home, and the time at which this branch joins again.
  var nameHolder: (seen: NameHolder, again: MonotonicTime)?
  /// True from the request for due customers until the next poll.
  private var isRequeuingDue = false
  /// Search range for due customers.
  private var window = DueSearchRange()

  init(
    _ context: SharedStoreContext, _ link: ReconnectingConnection, _ commits: TransactionQueue,
    _ settings: SharedStore.Settings
  ) {
    (self.context, self.link, self.commits, self.settings) = (context, link, commits, settings)
  }

  // MARK: - Joining

  /// Handles an open connection: joins, or continues the epoch.
  func linkOpened() {
    (isPolling, isRenewing, isRescuing) = (false, false, false)
    nameHolder?.again = SystemClock.monotonic() + settings.lease
    window.reset()
    guard let branch = context.branch else { return prepare() }
    renew()
    poll()
    findLostTransactions(branch)
    findCancelled(branch)
  }

  // MARK: - The lease

  /// Sets the end of the branch's own lease, after a renewal sent at this time.
  func extendLease(_ sentAt: MonotonicTime) {
    let end = sentAt + settings.lease - settings.lease / 8
    leaseEnd = end
    renewAt = sentAt + settings.lease / 4
    context.report(.leaseExtended(until: end))
  }

  /// Sends a renewal of the lease, unless one is in flight.
  private func renew() {
    guard let branch = context.branch, !isRenewing else { return }
    renewAt = nil
    let sentAt = SystemClock.monotonic()
    let committed = context.numbers.committed
    let request = branch.renewal(
      lease: settings.lease, windows: windows, commits: committed,
      oldest: oldest.map { context.clock.serverTime($0) })
    isRenewing = link.send(request) { [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      self.isRenewing = false
      switch answer {
      case .done(.some(let before)):
        self.context.acceptsWrites()
        if let counted = self.counted, before < counted { return self.handleOlderDatabase(commits: before) }
        self.counted = committed
        self.context.known?.note(epoch: branch.epoch, commits: committed)
        self.extendLease(sentAt)
      case .done(nil): self.context.fenced()
      case .refused(let error):
        self.context.refusesWrites(error)
        self.renewAt = SystemClock.monotonic() + (error.takesNoChanges ? Self.nameCheckPause : Self.pollDelay)
      case .unknown: break
      }
    }
  }

  /// Cancels the planned renewals, polls and checks.
  func handleLoss() {
    (leaseEnd, renewAt, pollAt, dueAt) = (nil, nil, nil, nil)
    recheckAt = []
    isRequeuingDue = false
  }

  // MARK: - Polling

  /// Handles a notification: reports a line or a cancellation, or polls.
  func handleNotification(_ payload: String) {
    guard context.branch != nil else { return }
    if payload.hasPrefix(PostgresStatements.cancelledElsewhere) { return handleCancellation(payload) }
    guard let lane = Int64(payload), context.line(lane) != nil else { return poll() }
    if let line = context.ownLine(lane) { context.report(.lineMayHaveCustomers(line)) }
  }

  /// Reports a cancelled ticket of the present day.
  private func handleCancellation(_ payload: String) {
    let words = payload.dropFirst(PostgresStatements.cancelledElsewhere.count).split(separator: " ")
    guard words.count == 2, Int64(words[0]) == context.day, let ticket = Int64(words[1]) else { return }
    context.report(.cancelledElsewhere(ticket))
  }

  /// Reports the cancelled customers in the branch's claims, because notifications of cancellations may have been lost.
  private func findCancelled(_ branch: PostgresBranch) {
    let call = PostgresStatements.cancelledElsewhereOf.with(branch.fence)
    _ = link.send(PostgresRequest(segment: [call]) { $0.first }) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let rows) = answer else { return }
      for ticket in rows.integers(0, 0) ?? [] { self.context.report(.cancelledElsewhere(ticket)) }
    }
  }

  /// Plans another check of a line whose last page was shorter than requested. The arrival of a customer during the
  /// claim may have sent no notification, because the line still had unclaimed customers at that time.
  func recheck(_ line: Line) {
    guard !recheckAt.contains(where: { $0.1 == line }), !Mutant.neverPolls.isActive else { return }
    recheckAt.append((SystemClock.monotonic() + Self.recheckAfter, line))
  }

  /// Makes the next poll find all due customers, however long ago they became due.
  func pollEverything() { window.reset() }

  /// Requests a poll after a short delay.
  func pollSoon() {
    if Mutant.neverPolls.isActive { return }
    pollAt = .earlier(pollAt, SystemClock.monotonic() + Self.pollDelay)
  }

  /// Polls the whole bank now, unless a poll is in flight.
  func poll() {
    guard let branch = context.branch, !isPolling else { return }
    let askedAt = SystemClock.monotonic()
    pollAt = Mutant.neverPolls.isActive ? nil : askedAt + Self.pollInterval
    isPolling = link.send(BankPoll.request(of: branch, within: window.next(at: askedAt))) {
      [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      self.isPolling = false
      if case .done(let poll) = answer { self.update(poll, of: branch, askedAt) }
    }
  }

  /// Reports what a poll has found, and rescues the first branch whose lease has expired.
  private func update(_ poll: BankPoll, of branch: PostgresBranch, _ askedAt: MonotonicTime) {
    guard recognize(poll) else { return }
    if context.clock.record(poll.now, at: SystemClock.wall(), SystemClock.monotonic()) {
      let note = PostgresStatements.noteClock(.integer(poll.day))
      _ = link.send(PostgresRequest(segment: [note]) { _ in () }) { _ in }
    }
    context.adopt(lanes: poll.lanes, for: branch.id)
    if poll.services != Int64(context.services.count) { readServices() }
    if poll.day != context.day {
      context.day = poll.day
      context.report(.dayBegan(poll.day, openedAt: context.clock.localTime(poll.openedAt.milliseconds)))
    }
    if poll.isDraining != isDraining {
      isDraining = poll.isDraining
      context.report(.draining(isDraining))
    }
    for lane in poll.waiting {
      if let line = context.ownLine(lane) { context.report(.lineMayHaveCustomers(line)) }
    }
    // Tickets that are still listed were not released, or the database has not stored the report of their release.
    if poll.releases != reportedReleases || !poll.releases.isEmpty {
      reportedReleases = poll.releases
      context.report(.releases(poll.releases))
    }
    for largeRequest in poll.largeRequests { left(largeRequest) }
    var numbers = poll.numbers(context.services.count, context.line)
    numbers.oldest = poll.oldest.map { context.clock.localTime($0) }
    if numbers.withoutLeases != seen {
      seen = numbers.withoutLeases
      context.report(.numbers(numbers))
    }
    context.report(.countersConfirmed(askedAt: askedAt))
    isRequeuingDue = false
    dueAt = poll.due.map { askedAt + $0 }
    let expired = leases.update(
      poll.leases.filter { $0.branch.id != branch.id }, past: poll.expired, database: poll.now,
      askedAt: askedAt, at: SystemClock.monotonic(), own: settings.lease)
    if leases.wasSet {
      window.reset()
      pollSoon()
    }
    if let first = expired.first, !Mutant.neverRescues.isActive { rescue(first) }
  }

  /// Reads the names of all services, and reports a change.
  private func readServices() {
    _ = link.send(PostgresRequest(segment: [PostgresStatements.services()]) { $0.first }) {
      [weak self] answer in
      guard let self, case .done(let rows) = answer else { return }
      let former = self.context.services
      self.context.adopt(services: rows)
      if self.context.services != former { self.context.report(.services(self.context.services)) }
    }
  }

  /// Fences a branch whose lease has expired, and returns its claims.
  private func rescue(_ expired: LeaseObserver.ExpiredLease) {
    guard !isRescuing else { return }
    isRescuing = link.send(PostgresBranch.rescue(expired.branch, unchangedEnd: expired.unchangedEnd)) {
      [weak self] _ in
      guard let self else { return }
      self.isRescuing = false
      // The leases of other branches may have expired, and the returned customers must be claimed.
      self.pollSoon()
    }
  }

  /// Reports a line if it may have unclaimed customers.
  private func recheckNow(_ line: Line) {
    guard let lane = context.lanes[line] else { return }
    let call = PostgresStatements.pollLane(.integer(lane))
    _ = link.send(PostgresRequest(segment: [call]) { $0.first?.boolean(0, 0) }) { [weak self] answer in
      guard let self, case .done(true) = answer, self.context.branch != nil else { return }
      self.context.report(.lineMayHaveCustomers(line))
    }
  }

  // MARK: - Event loop

  var nextDeadline: MonotonicTime? {
    guard context.branch != nil else { return link.isOpen ? nameHolder?.again : nil }
    let onLink =
      link.isOpen
      ? MonotonicTime.earliest(isRenewing ? nil : renewAt, isPolling ? nil : pollAt, recheckAt.first?.0) : nil
    return .earliest(leaseEnd, onLink, isRequeuingDue ? nil : dueAt)
  }

  /// Does what is due: joins again, renews, polls, and reports due customers or the end of the lease.
  func finishIteration() {
    let now = SystemClock.monotonic()
    guard context.branch != nil else {
      guard let nameHolder, link.isOpen, now >= nameHolder.again else { return }
      self.nameHolder?.again = now + settings.lease
      return join()
    }
    if let leaseEnd, now >= leaseEnd { return onLeaseExpired() }
    if let dueAt, now >= dueAt, !isRequeuingDue {
      isRequeuingDue = true
      if !Mutant.neverReturnsDue.isActive { due(window.last) }
    }
    guard link.isOpen else { return }
    if let renewAt, now >= renewAt { renew() }
    if let pollAt, now >= pollAt { poll() }
    while let (moment, line) = recheckAt.first, now >= moment {
      recheckAt.removeFirst()
      recheckNow(line)
    }
  }
}
