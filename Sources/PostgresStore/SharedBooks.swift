// Write access of one branch to the shared database, in its event loop: three connections, the epoch, and the events
// that it reports.
//
// One connection serves the customers of the branch (pages and transactions), one serves requests, and one the lease,
// so that no slow operation delays a renewal. A lost connection is replaced. While the lease is valid, the branch
// keeps its epoch and its customers. Requests in flight are resolved after the server processes of the lost
// connection have exited, and are repeated if they had no effect. After its lease has expired or it was fenced, the
// branch owns no customers any more and rejoins.
//
// Invariant: the guarantees of SharedHappening. Errors: SharedBooksFailure if the database cannot be used; no other
// error is final.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Database of a bank with several branches, for the writes of one branch. Runs in the event loop and never blocks.
/// Results are taken with ``takeHappening()`` at the end of each iteration, after ``endTurn()``.
public final class SharedBooks {
  /// Configuration of a branch and its database.
  public struct Settings: Sendable {
    /// Address of the database; see ``PostgresPlace/ofBooks(_:)``.
    public var place: PostgresPlace
    /// Name of the branch, unique among the open branches.
    public var name: String
    /// Name of the machine, for display.
    public var host: String
    /// Services that must have numbers.
    public var services: [ServiceName]
    /// Remembered identity of the database; nil for none.
    public var known: BooksMark?
    /// True if ``known`` was recorded at another address, so that the present address may contain a different
    /// database.
    public var isElsewhere = false
    /// Identity of the home and the running machine. Another home and a copy of the machine have other identities.
    public var proof = ""
    /// Size limits of requests for tickets.
    public var bounds = IntakeBounds()
    /// Time for which the branch keeps its customers without a renewal.
    public var lease: TimeSpan = .seconds(4)

    public init(
      place: PostgresPlace, name: String, host: String, services: [ServiceName] = [], proof: String = ""
    ) {
      (self.place, self.name, self.host, self.services) = (place, name, host, services)
      self.proof = proof
    }
  }

  private static let foldEvery: Int = 512

  let context: SharedContext
  private let work: SharedLink
  private let office: SharedLink
  private let watchLink: SharedLink
  private let commits: SharedCommits
  let claims: SharedClaims
  let requests: SharedRequests
  private let watch: SharedWatch
  /// Survey of all hosts before the first connection; nil if the address names one host only.
  private var survey: BooksSurvey?
  private var links: [SharedLink] { [watchLink, work, office] }
  /// Connections whose interruption was reported.
  private var interrupted: Set<ObjectIdentifier> = []
  /// The last reported reason for which a server is not used.
  private var toldRefusal: PostgresError.Reason?
  private var hasJoined = false
  private var isOver = false
  private var isFolding = false
  private var leaving: (() -> Void)?
  private var isLeaving = false
  private var endsDrain = false
  private var leaveUntil: MonotonicTime?
  private let lease: TimeSpan
  private let isElsewhere: Bool

  /// Starts connecting.
  public init(_ settings: Settings, loop: EventLoop) {
    lease = settings.lease
    context = SharedContext(settings.place)
    var limits = PostgresConnection.Limits()
    watchLink = SharedLink(
      to: settings.place, loop: loop, limits: limits, listeningTo: PostgresStatements.channel)
    office = SharedLink(to: settings.place, loop: loop, limits: limits)
    // A page may contain the payloads of many customers.
    limits.resultBytes = 512 << 20
    work = SharedLink(to: settings.place, loop: loop, limits: limits)
    commits = SharedCommits(context, work)
    claims = SharedClaims(context, work)
    requests = SharedRequests(context, office, settings.bounds)
    watch = SharedWatch(context, watchLink, commits, settings)
    context.known = settings.known
    isElsewhere = settings.isElsewhere
    connect()
    if settings.place.hostCount > 1 {
      begin(BooksSurvey(of: settings.place, loop: loop, knowing: settings.known))
    }
  }

  /// Holds all connections until the survey has chosen a host.
  private func begin(_ survey: BooksSurvey) {
    self.survey = survey
    for link in links { link.hold() }
    survey.failed = { [unowned self] error in
      if error.mayPass { context.tell(.interrupted(error)) } else { refuse(.server(error)) }
    }
    survey.chose = { [unowned self] host in for link in links { link.begin(at: host) } }
  }

  private func connect() {
    work.opened = { [unowned self] in
      note(opened: work)
      workOpened()
    }
    office.opened = { [unowned self] in
      note(opened: office)
      requests.pump()
    }
    watchLink.opened = { [unowned self] in
      note(opened: watchLink)
      watch.linkOpened()
    }
    for link in links {
      link.lost = { [unowned self, unowned link] error in note(lost: link, error) }
      link.judge = { [unowned self] link, sight in judge(sight, of: link) }
      link.openSister = { [unowned self, unowned link] in
        links.first { (other: SharedLink) in other !== link && other.isOpen }?.host
      }
    }
    watchLink.notified = { [unowned self] payload in watch.heard(payload) }
    context.onNoChanges = { [unowned self] error in requests.refuseNewcomers(error) }
    context.fenced = { [unowned self] in lose(.fenced) }
    context.lookSoon = { [unowned self] in watch.lookSoon() }
    claims.wasShort = { [unowned self] line in watch.recheck(line) }
    watch.joined = { [unowned self] opening in joined(opening) }
    watch.replaced = { [unowned self] in lose(.booksReplaced) }
    watch.ranOut = { [unowned self] in lose(.leaseRanOut) }
    watch.refused = { [unowned self] failure in refuse(failure) }
    watch.due = { [unowned self] window in callDue(within: window) }
    watch.left = { [unowned self] name in requests.unpack(name) }
  }

  // MARK: - The server

  /// Decides about a connection from the identity of its server. After a failover all connections move to the new
  /// server.
  private func judge(_ sight: BooksSight, of link: SharedLink) -> BooksAdmission {
    // At another address a different database is allowed, so the remembered identity does not apply.
    if isElsewhere, !hasJoined, sight.books != context.known?.books { context.known = nil }
    if Kernel.makes("usesAnyBooks") { return context.known == nil && link !== watchLink ? .wait : .open }
    let sisters = links.filter { $0 !== link }
    let admission = BooksMark.judge(
      sight, knowing: context.known, isFirst: link === watchLink,
      hasSisters: sisters.contains(where: \.isOpen))
    if admission == .openAlone {
      context.known?.system = sight.system
      context.known?.timeline = sight.timeline
      if let known = context.known { context.tell(.known(known)) }
      for sister in sisters { sister.leave(serversOtherThan: sight) }
    }
    return admission
  }

  /// After a failover the new server may lack pages of this branch, and other branches may have claimed their
  /// customers.
  private func workOpened() {
    guard context.branch != nil, !work.isAtServer(of: context.server) else {
      context.isInDoubt = false
      commits.linkOpened()
      return claims.linkOpened()
    }
    context.isInDoubt = true
    let isAsked = claims.lookForTheLast { [unowned self] isThere in
      guard let isThere else { return work.renew() }
      context.isInDoubt = false
      guard isThere else { return lose(.booksReplaced) }
      context.server = work.sight
      commits.linkOpened()
      claims.linkOpened()
    }
    if !isAsked { work.renew() }
  }

  // MARK: - The epoch

  private func note(opened link: SharedLink) {
    interrupted.remove(ObjectIdentifier(link))
    toldRefusal = nil
    for sister in links where sister !== link { sister.hurry() }
  }

  private func note(lost link: SharedLink, _ error: PostgresError) {
    guard !isOver else { return }
    if !hasJoined, !error.mayPass, link === watchLink { return refuse(.server(error)) }
    if error.isOfOtherBooks {
      // The error is reported once per reason, not once per connection.
      interrupted.insert(ObjectIdentifier(link))
      guard toldRefusal != error.reason else { return }
      toldRefusal = error.reason
      return context.tell(.interrupted(error))
    }
    if interrupted.insert(ObjectIdentifier(link)).inserted { context.tell(.interrupted(error)) }
  }

  private func joined(_ opening: SharedOpening) {
    hasJoined = true
    (context.server, context.isInDoubt) = (watchLink.sight, false)
    context.tell(.joined(opening))
    for link in links where link !== watchLink { link.lookAgain() }
    makeRoom(for: opening.day)
    requests.resumeLarge(opening.branch)
    commits.pump()
    requests.pump()
  }

  private func makeRoom(for day: BusinessDay) {
    for next in [day, day + 1] {
      requests.ask(nil, outlives: false, finish: { _ in }, SharedOperations.makeRoom(for: next))
    }
  }

  private func lose(_ loss: SharedLoss) {
    guard context.branch != nil else { return }
    context.branch = nil
    watch.lose()
    commits.lose()
    claims.lose()
    requests.lose()
    isFolding = false
    context.tell(.lost(loss))
    if isLeaving { return left() }
    for link in links { link.renew() }
  }

  private func refuse(_ failure: SharedBooksFailure) {
    guard !isOver else { return }
    close()
    context.tell(.refused(failure))
  }

  private func close() {
    isOver = true
    context.branch = nil
    survey?.close()
    for link in links { link.close() }
  }

  // MARK: - Events

  /// The oldest event that was not taken yet; nil if there is none.
  public func takeHappening() -> SharedHappening? { context.takeHappening() }

  // MARK: - Transactions

  /// Stages a change for the next transaction. The customers of the change must belong to this branch or to no
  /// branch. New customers and the end of a day are separate requests.
  public func stage(_ change: StoreChange) { commits.stage(change) }
  /// True if changes were staged since the last ``commit()``.
  public var hasStaged: Bool { commits.hasStaged }
  /// Sends the staged changes as one transaction; does nothing if there are none.
  public func commit() { commits.commit() }
  /// Drops the changes staged since the last ``commit()``. The caller uses this method after an event that reports a
  /// loss or a refusal.
  public func forgetStaged() { commits.forgetStaged() }
  /// Number of transactions made by ``commit()`` whose results were not reported yet.
  public var underwayCount: Int { commits.count }

  // MARK: - Due customers

  private func callDue(within window: Int64) {
    requests.ask(
      nil, outlives: false,
      finish: { [unowned self] answer in
        // More customers may be due than one transaction returns.
        if case .requeued(let count) = answer, count >= Int64(PostgresStatements.returnedAtOnce) {
          watch.lookBack()
        }
        watch.lookSoon()
      }, SharedOperations.reviveDue(within: window))
  }

  // MARK: - The lease, and the loop

  /// Sets the number of open windows and the issue time of the longest-waiting customer of this branch. Both are sent
  /// with the next renewal.
  public func note(windows: Int, oldest: WallTime?) {
    (watch.windows, watch.oldest) = (Int64(windows), oldest)
  }

  /// Leaves the bank: returns the branch's customers after the results of all earlier transactions are known.
  /// `finished` is called once, when the leave is complete or has failed.
  ///
  /// - Parameter drains: true if the bank drains; see ``PostgresBranch/leave(endsDrain:)``.
  public func leave(drains: Bool = false, _ finished: @escaping () -> Void) {
    guard leaving == nil, !isLeaving else { return }
    leaving = finished
    endsDrain = drains
    leaveUntil = SystemClock.monotonic() + lease
    goOnLeaving()
  }

  private func goOnLeaving() {
    guard leaving != nil else { return }
    // After this timeout another branch fences this one and returns its customers.
    if isOver || leaveUntil.map({ SystemClock.monotonic() >= $0 }) == true { return left() }
    guard !isLeaving else { return }
    guard let branch = context.branch else {
      // Results of commits in flight are reported after the branch has rejoined.
      return commits.count > 0 ? () : left()
    }
    guard commits.count == 0, !commits.hasStaged, requests.isEmpty else { return }
    if Kernel.makes("leavesWithoutAWord") { return left() }
    isLeaving = watchLink.send(branch.leave(endsDrain: endsDrain)) { [weak self] _ in
      self?.lookBack(of: branch)
    }
    // The server would reject a renewal after the end of the epoch, and the branch would mistake this for a loss.
    if isLeaving { watch.lose() }
  }

  /// Polls once more after leaving, to report the state of the bank, and the counts of the day if it has ended, to
  /// the client that requested the stop.
  private func lookBack(of branch: PostgresBranch) {
    watch.lose()
    let isAsked = watchLink.send(SharedLook.request(of: branch, isLast: true)) { [weak self] answer in
      guard let self else { return }
      if case .done(let look) = answer {
        self.context.know(lanes: look.lanes, for: branch.id)
        self.context.tell(.numbers(look.numbers(self.context.services.count, self.context.line)))
      }
      self.left()
    }
    if !isAsked { left() }
  }

  private func left() {
    guard let finished = leaving else { return }
    leaving = nil
    close()
    finished()
  }

  /// The latest moment for the next call of ``endTurn()``.
  public var nextDeadline: MonotonicTime? {
    guard !isOver else { return nil }
    let links = links.map(\.nextDeadline).reduce(survey?.nextDeadline, MonotonicTime.earlier)
    let own = MonotonicTime.earliest(commits.nextDeadline, requests.nextDeadline, leaveUntil)
    return .earliest(links, watch.nextDeadline, own)
  }

  /// Must be called at the end of each loop iteration.
  public func endTurn() {
    guard !isOver else { return }
    survey?.endTurn()
    for link in links { link.endTurn() }
    guard !isOver else { return }
    watch.endTurn()
    commits.pump()
    claims.pump()
    requests.pump()
    fold()
    goOnLeaving()
  }

  private func fold() {
    guard context.branch != nil, !isFolding, context.numbers.recent.count > Self.foldEvery else { return }
    let number = context.numbers.foldable
    guard number > 1 else { return }
    isFolding = true
    context.numbers.fold(below: number)
    requests.ask(
      nil, outlives: false, finish: { [unowned self] _ in isFolding = false },
      SharedOperations.fold(below: number))
  }
}

extension SharedBooks {
  /// Server processes of the connections for work, requests and lease; for tests.
  var backends: [Int32] { [work, office, watchLink].map(\.backend) }
}
