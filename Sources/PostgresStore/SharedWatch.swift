// Use of the connection that is reserved for the lease: the branch joins, renews its lease, receives notifications,
// polls the whole bank each second, and rescues the customers of exited branches.
// Invariant: by the branch's own clock, the lease ends before it ends by the server's clock, unless the server's clock
// is set forward. The branch counts the lease from the moment at which the renewal was sent, and subtracts a margin.
// The next poll, or a query after the reconnection, finds what a lost notification would have reported.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedWatch {
  private static let lookEvery = TimeSpan.seconds(1)
  private static let soon = TimeSpan.milliseconds(20)
  private static let recheckAfter = TimeSpan.milliseconds(5)
  /// Time before the branch joins again while a branch of the same name is open in another home, and before it renews
  /// the lease again while the database accepts no writes.
  static let namesakePause = TimeSpan.milliseconds(250)

  /// Called when the branch has an epoch, for the first time or again.
  var joined: (SharedOpening) -> Void = { _ in }
  /// Called when the lease has expired.
  var ranOut: () -> Void = {}
  var refused: (SharedBooksFailure) -> Void = { _ in }
  /// Called when the database is a different or an older one, or lacks transactions that were reported as committed.
  var replaced: () -> Void = {}
  /// Called for a large request that has its tickets and is still being moved.
  var left: (ArrivingName) -> Void = { _ in }
  /// Called when a customer is due.
  var due: (_ window: Int64) -> Void = { _ in }
  /// Number of open windows, sent with the next renewal.
  var windows: Int64 = 0
  /// Issue time of the longest-waiting customer of this branch, by its own clock; sent with the next renewal.
  var oldest: WallTime?
  private(set) var leaseEnd: MonotonicTime?

  let context: SharedContext
  let link: SharedLink
  let commits: SharedCommits
  let settings: SharedBooks.Settings
  private var renewAt: MonotonicTime?
  private var lookAt: MonotonicTime?
  private var dueAt: MonotonicTime?
  private var recheckAt: [(MonotonicTime, Line)] = []
  private var isLooking = false
  private var isRenewing = false
  private var isRescuing = false
  var seen: BankNumbers?
  private var seenReleases: [OwedRelease] = []
  /// Number of transactions of this epoch that the last renewal has stored; nil before the first renewal.
  var counted: Int64?
  var isDraining = false
  /// Leases of the other branches.
  private var leases = LeaseWatch()
  /// Last reported identity of the database.
  var toldMark: BooksMark?
  /// First observation of a branch of the same name in another home, and the time at which this branch joins again.
  var namesake: (seen: SharedNamesake, again: MonotonicTime)?
  /// True from the request for due customers until the next poll.
  private var isCalling = false
  private var window = DueWindow()

  init(
    _ context: SharedContext, _ link: SharedLink, _ commits: SharedCommits, _ settings: SharedBooks.Settings
  ) {
    (self.context, self.link, self.commits, self.settings) = (context, link, commits, settings)
  }

  // MARK: - Joining

  /// Handles an open connection: joins, or continues the epoch.
  func linkOpened() {
    (isLooking, isRenewing, isRescuing) = (false, false, false)
    namesake?.again = SystemClock.monotonic() + settings.lease
    window.reset()
    guard let branch = context.branch else { return prepare() }
    renew()
    look()
    findForgotten(branch)
    findTakenOut(branch)
  }

  // MARK: - The lease

  func hold(_ sentAt: MonotonicTime) {
    let end = sentAt + settings.lease - settings.lease / 8
    leaseEnd = end
    renewAt = sentAt + settings.lease / 4
    context.tell(.leaseHolds(until: end))
  }

  private func renew() {
    guard let branch = context.branch, !isRenewing else { return }
    renewAt = nil
    let sentAt = SystemClock.monotonic()
    let committed = context.numbers.committed
    let request = branch.renewal(
      lease: settings.lease, windows: windows, commits: committed,
      oldest: oldest.map { context.clock.theirs($0) })
    isRenewing = link.send(request) { [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      self.isRenewing = false
      switch answer {
      case .done(.some(let before)):
        self.context.takesChanges()
        if let counted = self.counted, before < counted { return self.wentBack(commits: before) }
        self.counted = committed
        self.context.known?.note(epoch: branch.epoch, commits: committed)
        self.hold(sentAt)
      case .done(nil): self.context.fenced()
      case .refused(let error):
        self.context.takesNoChanges(error)
        self.renewAt = SystemClock.monotonic() + (error.takesNoChanges ? Self.namesakePause : Self.soon)
      case .unknown: break
      }
    }
  }

  /// Handles the loss of the epoch: the branch owns no customers any more.
  func lose() {
    (leaseEnd, renewAt, lookAt, dueAt) = (nil, nil, nil, nil)
    recheckAt = []
    isCalling = false
  }

  // MARK: - Polling

  func heard(_ payload: String) {
    guard context.branch != nil else { return }
    if payload.hasPrefix(PostgresStatements.takenOut) { return hearOfOneTakenOut(payload) }
    guard let lane = Int64(payload), context.line(lane) != nil else { return look() }
    if let line = context.ownLine(lane) { context.tell(.mayWait(line)) }
  }

  private func hearOfOneTakenOut(_ payload: String) {
    let words = payload.dropFirst(PostgresStatements.takenOut.count).split(separator: " ")
    guard words.count == 2, Int64(words[0]) == context.day, let ticket = Int64(words[1]) else { return }
    context.tell(.takenOut(ticket))
  }

  /// Finds customers that were cancelled while no connection could receive the notifications.
  private func findTakenOut(_ branch: PostgresBranch) {
    let call = PostgresStatements.takenOutOf.with(branch.fence)
    _ = link.send(PostgresRequest(segment: [call]) { $0.first }) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let rows) = answer else { return }
      for ticket in rows.integers(0, 0) ?? [] { self.context.tell(.takenOut(ticket)) }
    }
  }

  /// Checks a line again after a short page. The arrival of a customer during the claim may have sent no
  /// notification, because the line still had unclaimed customers at that time.
  func recheck(_ line: Line) {
    guard !recheckAt.contains(where: { $0.1 == line }), !Kernel.makes("neverLooks") else { return }
    recheckAt.append((SystemClock.monotonic() + Self.recheckAfter, line))
  }

  /// Makes the next poll find all due customers, however long ago they became due.
  func lookBack() { window.reset() }

  func lookSoon() {
    if Kernel.makes("neverLooks") { return }
    lookAt = .earlier(lookAt, SystemClock.monotonic() + Self.soon)
  }

  func look() {
    guard let branch = context.branch, !isLooking else { return }
    let askedAt = SystemClock.monotonic()
    lookAt = Kernel.makes("neverLooks") ? nil : askedAt + Self.lookEvery
    isLooking = link.send(SharedLook.request(of: branch, within: window.next(at: askedAt))) {
      [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      self.isLooking = false
      if case .done(let look) = answer { self.see(look, of: branch, askedAt) }
    }
  }

  private func see(_ look: SharedLook, of branch: PostgresBranch, _ askedAt: MonotonicTime) {
    guard recognize(look) else { return }
    if context.clock.hear(look.now, at: SystemClock.wall(), SystemClock.monotonic()) {
      let note = PostgresStatements.noteClock(.integer(look.day))
      _ = link.send(PostgresRequest(segment: [note]) { _ in () }) { _ in }
    }
    context.know(lanes: look.lanes, for: branch.id)
    if look.services != Int64(context.services.count) { readServices() }
    if look.day != context.day {
      context.day = look.day
      context.tell(.dayBegan(look.day, openedAt: context.clock.ours(look.openedAt.milliseconds)))
    }
    if look.isDraining != isDraining {
      isDraining = look.isDraining
      context.tell(.draining(isDraining))
    }
    for lane in look.waiting { if let line = context.ownLine(lane) { context.tell(.mayWait(line)) } }
    // Tickets that are still listed were not released, or the report of their release was lost.
    if look.releases != seenReleases || !look.releases.isEmpty {
      seenReleases = look.releases
      context.tell(.releases(look.releases))
    }
    for batch in look.batches { left(batch) }
    var numbers = look.numbers(context.services.count, context.line)
    numbers.oldest = look.oldest.map { context.clock.ours($0) }
    if numbers.withoutLeases != seen {
      seen = numbers.withoutLeases
      context.tell(.numbers(numbers))
    }
    context.tell(.looked(askedAt: askedAt))
    isCalling = false
    dueAt = look.due.map { askedAt + $0 }
    let expired = leases.see(
      look.leases.filter { $0.branch.id != branch.id }, past: look.expired, database: look.now,
      askedAt: askedAt, at: SystemClock.monotonic(), own: settings.lease)
    if leases.wasSet {
      window.reset()
      lookSoon()
    }
    if let first = expired.first, !Kernel.makes("neverRescues") { rescue(first) }
  }

  private func readServices() {
    _ = link.send(PostgresRequest(segment: [PostgresStatements.services()]) { $0.first }) {
      [weak self] answer in
      guard let self, case .done(let rows) = answer else { return }
      let former = self.context.services
      self.context.know(services: rows)
      if self.context.services != former { self.context.tell(.services(self.context.services)) }
    }
  }

  private func rescue(_ expired: LeaseWatch.Expired) {
    guard !isRescuing else { return }
    isRescuing = link.send(PostgresBranch.rescue(expired.branch, unmoved: expired.unmoved)) { [weak self] _ in
      guard let self else { return }
      self.isRescuing = false
      // The leases of other branches may have expired, and the returned customers must be claimed.
      self.lookSoon()
    }
  }

  private func recheckNow(_ line: Line) {
    guard let lane = context.lanes[line] else { return }
    let call = PostgresStatements.lookAtLane(.integer(lane))
    _ = link.send(PostgresRequest(segment: [call]) { $0.first?.boolean(0, 0) }) { [weak self] answer in
      guard let self, case .done(true) = answer, self.context.branch != nil else { return }
      self.context.tell(.mayWait(line))
    }
  }

  // MARK: - Event loop

  var nextDeadline: MonotonicTime? {
    guard context.branch != nil else { return link.isOpen ? namesake?.again : nil }
    let onLink =
      link.isOpen
      ? MonotonicTime.earliest(isRenewing ? nil : renewAt, isLooking ? nil : lookAt, recheckAt.first?.0) : nil
    return .earliest(leaseEnd, onLink, isCalling ? nil : dueAt)
  }

  func endTurn() {
    let now = SystemClock.monotonic()
    guard context.branch != nil else {
      guard let namesake, link.isOpen, now >= namesake.again else { return }
      self.namesake?.again = now + settings.lease
      return join()
    }
    if let leaseEnd, now >= leaseEnd { return ranOut() }
    if let dueAt, now >= dueAt, !isCalling {
      isCalling = true
      if !Kernel.makes("neverCallsTheDue") { due(window.last) }
    }
    guard link.isOpen else { return }
    if let renewAt, now >= renewAt { renew() }
    if let lookAt, now >= lookAt { look() }
    while let (moment, line) = recheckAt.first, now >= moment {
      recheckAt.removeFirst()
      recheckNow(line)
    }
  }
}
