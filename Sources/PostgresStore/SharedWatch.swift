// Owns what a branch does on the connection that is never busy with anything else: it joins, renews its lease, hears that
// somebody has come, looks at the whole bank each second, and rescues whom a dead branch has left.
// Invariant: by the branch's own clock the lease ends before it can by the database's: it is counted from the moment at which
// the renewal was sent, less a margin. Whatever is not heard as a notification is found by the next look.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedWatch {
  private static let lookEvery = TimeSpan.seconds(1)
  private static let soon = TimeSpan.milliseconds(20)
  private static let recheckAfter = TimeSpan.milliseconds(5)
  /// From one look at a branch of the same name to the next.
  private static let namesakePause = TimeSpan.milliseconds(250)

  /// The branch has an epoch, or has one again.
  var joined: (SharedOpening) -> Void = { _ in }
  /// The lease has run out.
  var ranOut: () -> Void = {}
  var refused: (SharedBooksFailure) -> Void = { _ in }
  /// Transactions that were told as committed are gone.
  var replaced: () -> Void = {}
  /// A large request has its tickets and is still coming in.
  var left: (ArrivingName) -> Void = { _ in }
  /// Somebody is due.
  var due: () -> Void = {}
  /// Windows, as they are told with the next renewal.
  var windows: Int64 = 0
  /// When the customer was issued who has waited longest in this branch's hands, by its own clock; told as ``windows``.
  var oldest: WallTime?
  private(set) var leaseEnd: MonotonicTime?

  private let context: SharedContext
  private let link: SharedLink
  private let commits: SharedCommits
  private let settings: SharedBooks.Settings
  private var renewAt: MonotonicTime?
  private var lookAt: MonotonicTime?
  private var dueAt: MonotonicTime?
  private var recheckAt: [(MonotonicTime, Line)] = []
  private var isLooking = false
  private var isRenewing = false
  private var isRescuing = false
  private var seen: BankNumbers?
  private var seenReleases: [OwedRelease] = []
  /// How many transactions of this epoch the books have counted with the last renewal; nil before the first.
  private var counted: Int64?
  private var isDraining = false
  /// The leases of the others.
  private var leases = LeaseWatch()
  private var toldMark: BooksMark?
  /// The branch of the same name in another home, as it was seen first, and when to look again.
  private var namesake: (seen: SharedNamesake, again: MonotonicTime)?
  /// Everybody who is due was called, and the books were not looked at since.
  private var isCalling = false

  init(
    _ context: SharedContext, _ link: SharedLink, _ commits: SharedCommits, _ settings: SharedBooks.Settings
  ) {
    (self.context, self.link, self.commits, self.settings) = (context, link, commits, settings)
  }

  // MARK: - Joining

  /// The connection is there.
  func linkOpened() {
    (isLooking, isRenewing, isRescuing) = (false, false, false)
    namesake?.again = SystemClock.monotonic() + settings.lease
    guard let branch = context.branch else { return prepare() }
    renew()
    look()
    findForgotten(branch)
    findTakenOut(branch)
  }

  private func prepare() {
    link.prepare { [weak self] result in
      switch result {
      case .success: self?.join()
      // The connection was lost, or the server has refused what it may take later.
      case .failure(.failed(let error)) where error.mayPass: self?.link.renew()
      case .failure(let failure): self?.refused(.books(failure))
      }
    }
  }

  private func join() {
    let former = context.lastBranch
    let sentAt = SystemClock.monotonic()
    var segment = [
      PostgresStatements.former(.text(settings.name)),
      PostgresStatements.goOnWithTheDay(.text(settings.name)),
    ]
    segment +=
      PostgresBranch.joining(
        settings.name, lease: settings.lease, host: settings.host,
        after: max(former?.epoch ?? 0, context.known?.epoch ?? 0), proof: settings.proof)
      + [
        PostgresStatements.namesake(.text(settings.name)),
        PostgresStatements.lockNumbers(),
        PostgresStatements.addServices(.texts(settings.services.map(\.text))),
        PostgresStatements.services(), PostgresStatements.lanes(), PostgresStatements.lookAtDay(),
        PostgresStatements.booksName(), PostgresStatements.paused(.text(settings.name)),
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
      case .refused(let error) where !error.mayPass: self.refused(.server(error))
      case .refused(let error):
        self.context.takesNoChanges(error)
        self.link.retry(after: error)
      case .unknown: break
      }
    }
  }

  /// Another home has the name, and its lease runs. One that does not renew it is gone, and the name is free when it ends.
  private func meet(_ found: SharedNamesake) {
    if let seen = namesake?.seen, seen.epoch != found.epoch || seen.leaseEnd != found.leaseEnd {
      return refused(.nameTaken(settings.name, host: found.host))
    }
    namesake = (namesake?.seen ?? found, SystemClock.monotonic() + Self.namesakePause)
  }

  /// - Parameter row: the branch as it was in the books before.
  private func joined(
    _ all: [PostgresRows], _ former: PostgresBranch?, _ sentAt: MonotonicTime, _ row: PostgresRows
  ) {
    var rows = all
    let other = rows.remove(at: 3)
    if rows[0].count == 0 {
      // It may have closed in this very moment.
      guard let found = SharedNamesake(other) else { return link.retry(after: nil) }
      return meet(found)
    }
    namesake = nil
    let days = rows[7]
    if let now = days.integer(0, 3) {
      context.clock.hear(now, at: SystemClock.wall(), SystemClock.monotonic())
    }
    guard let branch = PostgresBranch.joined(rows)?.branch, let day = days.integer(0, 0),
      let opened = days.integer(0, 1), let drains = days.boolean(0, 2), let number = rows[8].integer(0, 0),
      let firstDay = rows[8].integer(0, 1), let firstTicket = rows[8].integer(0, 2),
      let issued = days.integer(0, 7), let sight = link.sight
    else {
      return refused(.books(.foreign))
    }
    compare(
      with: BooksMark(
        books: number, system: sight.system, timeline: sight.timeline, day: day, ticket: issued,
        epoch: row.integer(0, 0) ?? 0, commits: row.integer(0, 1) ?? 0))
    context.known?.note(epoch: branch.epoch)
    context.know(services: rows[5])
    context.forgetLanes()
    context.know(lanes: rows[6], for: branch.id)
    let opening = SharedOpening(
      branch: branch, day: day, openedAt: context.clock.ours(opened), isDraining: drains,
      services: context.services, name: BooksName(number: number, day: firstDay, ticket: firstTicket),
      paused: context.pausedServices(rows[9]))
    guard let former else { return begin(opening, sentAt) }
    let isAsked = commits.settleFormer(former, on: link) { [weak self] isSettled in
      guard let self else { return }
      if isSettled { self.findForgotten(former, before: opening, sentAt) } else { self.link.renew() }
    }
    if !isAsked { link.renew() }
  }

  /// What the books are found to be when the branch joins, against what was known of them.
  private func compare(with found: BooksMark) {
    if let known = context.known, known.books == found.books,
      known.isAhead(day: found.day, ticket: found.ticket)
        || known.isAhead(epoch: found.epoch, commits: found.commits)
    {
      context.tell(.older(OlderBooks(known: known, found: found)))
    }
    context.known = found
  }

  /// Transactions of the former epoch that were told as committed may be gone with their server, too.
  private func findForgotten(_ former: PostgresBranch, before opening: SharedOpening, _ sentAt: MonotonicTime)
  {
    let numbers = context.numbers.recent
    guard !numbers.isEmpty else { return begin(opening, sentAt) }
    let isAsked = link.send(former.kept(numbers)) { [weak self] answer in
      guard let self else { return }
      guard case .done(let kept) = answer else { return self.link.renew() }
      let gone = self.context.numbers.missing(of: numbers, found: kept)
      if !gone.isEmpty { self.context.tell(.forgotten(commits: gone)) }
      self.begin(opening, sentAt)
    }
    if !isAsked { link.renew() }
  }

  private func begin(_ opening: SharedOpening, _ sentAt: MonotonicTime) {
    context.takesChanges()
    context.branch = opening.branch
    context.lastBranch = opening.branch
    context.numbers = CommitNumbers()
    context.day = opening.day
    isDraining = opening.isDraining
    seen = nil
    counted = nil
    joined(opening)
    if let known = context.known { context.tell(.known(known)) }
    hold(sentAt)
    look()
  }

  // MARK: - The lease

  private func hold(_ sentAt: MonotonicTime) {
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

  /// Nothing in hand is the branch's any more.
  func lose() {
    (leaseEnd, renewAt, lookAt, dueAt) = (nil, nil, nil, nil)
    recheckAt = []
    isCalling = false
  }

  // MARK: - Books that went back

  /// The books are those of before, and were brought back to an older state while the branch was at work.
  private func wentBack(day: BusinessDay? = nil, ticket: TicketNumber? = nil, commits: Int64? = nil) {
    guard let known = context.known else { return }
    var found = known
    (found.day, found.ticket) = (day ?? known.day, ticket ?? known.ticket)
    found.commits = commits ?? known.commits
    context.known = found
    context.tell(.older(OlderBooks(known: known, found: found)))
    replaced()
  }

  /// - Returns: false if these are not the books that the branch knows.
  private func recognize(_ look: SharedLook) -> Bool {
    guard let known = context.known, !Kernel.makes("usesAnyBooks") else { return true }
    guard look.books == known.books else {
      // The next connection finds out what is there.
      replaced()
      return false
    }
    guard !known.isAhead(day: look.day, ticket: look.issued) else {
      wentBack(day: look.day, ticket: look.issued)
      return false
    }
    guard known.day != look.day || known.ticket != look.issued || toldMark != known else { return true }
    var mark = known
    (mark.day, mark.ticket) = (look.day, look.issued)
    (context.known, toldMark) = (mark, mark)
    context.tell(.known(mark))
    return true
  }

  // MARK: - What is lost with a server

  private func findForgotten(_ branch: PostgresBranch) {
    let numbers = context.numbers.recent
    guard !numbers.isEmpty else { return }
    _ = link.send(branch.kept(numbers)) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let kept) = answer else { return }
      let gone = self.context.numbers.missing(of: numbers, found: kept)
      guard !gone.isEmpty else { return }
      self.context.numbers.forget(gone)
      self.context.tell(.forgotten(commits: gone))
      self.replaced()
    }
  }

  // MARK: - Looking

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

  /// Those who were taken out while no connection could tell it.
  private func findTakenOut(_ branch: PostgresBranch) {
    let call = PostgresStatements.takenOutOf.with(branch.fence)
    _ = link.send(PostgresRequest(segment: [call]) { $0.first }) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let rows) = answer else { return }
      for ticket in rows.integers(0, 0) ?? [] { self.context.tell(.takenOut(ticket)) }
    }
  }

  /// A page of the line was short. Whoever has come while it was claimed may not have been told of, because somebody else
  /// still waited then.
  func recheck(_ line: Line) {
    guard !recheckAt.contains(where: { $0.1 == line }), !Kernel.makes("neverLooks") else { return }
    recheckAt.append((SystemClock.monotonic() + Self.recheckAfter, line))
  }

  func lookSoon() {
    if Kernel.makes("neverLooks") { return }
    lookAt = .earlier(lookAt, SystemClock.monotonic() + Self.soon)
  }

  private func look() {
    guard let branch = context.branch, !isLooking else { return }
    let askedAt = SystemClock.monotonic()
    lookAt = Kernel.makes("neverLooks") ? nil : askedAt + Self.lookEvery
    isLooking = link.send(SharedLook.request(of: branch)) { [weak self] answer in
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
    // Those that are still there were not given back, or nobody has heard of it.
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
      // There may be another, and those who were given back.
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

  // MARK: - The turn of the loop

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
      if !Kernel.makes("neverCallsTheDue") { due() }
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
