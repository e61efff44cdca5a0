// Owns the writing side of the books that several branches share, as one branch has it in its event loop: three connections,
// the epoch, and who is told what.
//
// One connection is for the customers in hand (pages and transactions), one for requests, and one for the lease, so that nothing
// of what takes long holds it up. A connection that is lost is made anew; while the lease goes on, everything goes on under the
// same epoch: what was under way is looked up when the server's processes of the lost connection are gone, and repeated where
// it has had no effect. Where the lease has run out, or the branch was fenced, nothing in hand is its any more and it joins
// anew.
//
// Invariant: what SharedHappening says. Failure: SharedBooksFailure where the books cannot be used; nothing else ends it.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// The books of a bank of several branches, as one branch writes in them. It works in the event loop and never blocks; what
/// comes of anything is taken with ``takeHappening()`` at the end of each turn, behind ``endTurn()``.
public final class SharedBooks {
  /// What a branch is, and where its books are.
  public struct Settings: Sendable {
    /// Where the books are; see ``PostgresPlace/ofBooks(_:)``.
    public var place: PostgresPlace
    /// The branch's name. No other branch that is open may have it.
    public var name: String
    /// The machine, as people are told.
    public var host: String
    /// Services that have to have a number.
    public var services: [ServiceName]
    /// What is known of the books at this place, from the last time; nil for nothing.
    public var known: BooksMark?
    /// True if ``known`` is of books at another place, so that there may be others here.
    public var isElsewhere = false
    /// Which home on which running machine this branch is: another home has another proof, and so has a copied machine.
    public var proof = ""
    /// How much of a request for tickets goes at once.
    public var bounds = IntakeBounds()
    /// How long what is in hand stays the branch's when nothing is heard of it.
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
  /// Where several hosts are named: the look at all of them before the first connection.
  private var survey: BooksSurvey?
  private var links: [SharedLink] { [watchLink, work, office] }
  /// Links of which it was told that they are interrupted.
  private var interrupted: Set<ObjectIdentifier> = []
  /// Why a server is not used, as it was told last.
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

  /// Begins to connect.
  public init(_ settings: Settings, loop: EventLoop) {
    lease = settings.lease
    context = SharedContext(settings.place)
    var limits = PostgresConnection.Limits()
    watchLink = SharedLink(
      to: settings.place, loop: loop, limits: limits, listeningTo: PostgresStatements.channel)
    office = SharedLink(to: settings.place, loop: loop, limits: limits)
    // A page may bring with it what many customers carry.
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

  /// No link connects before all hosts were looked at.
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

  /// Whether a link may be used, by what is at its other end. Where another server has taken over all links go there.
  private func judge(_ sight: BooksSight, of link: SharedLink) -> BooksAdmission {
    // Books at another place are other books, unless they are the same.
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

  /// Where another server has taken over, pages that it has never heard of are others' there.
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
      // The reason counts, and not by which link it was found.
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

  // MARK: - What has happened

  /// What has happened, the oldest first; nil where there is nothing more.
  public func takeHappening() -> SharedHappening? { context.takeHappening() }

  // MARK: - Transactions

  /// Adds a change to the transaction that is next handed over. Customers of whom it speaks are in the branch's hands, or in
  /// nobody's. New customers and the end of a day are asked for otherwise.
  public func stage(_ change: StoreChange) { commits.stage(change) }
  /// Whether something was staged since the last ``commit()``.
  public var hasStaged: Bool { commits.hasStaged }
  /// Hands over what was staged as one transaction; nothing where nothing was.
  public func commit() { commits.commit() }
  /// Forgets what was staged since the last ``commit()``: whoever has staged it has just heard that it was lost or refused.
  public func forgetStaged() { commits.forgetStaged() }
  /// Transactions that were handed over and of which nothing was told yet.
  public var underwayCount: Int { commits.count }

  // MARK: - Who is due

  private func callDue(within window: Int64) {
    requests.ask(
      nil, outlives: false,
      finish: { [unowned self] answer in
        // More of them may be left than go at once.
        if case .requeued(let count) = answer, count >= Int64(PostgresStatements.returnedAtOnce) {
          watch.lookBack()
        }
        watch.lookSoon()
      }, SharedOperations.reviveDue(within: window))
  }

  // MARK: - The lease, and the loop

  /// So many windows are open, and since then has somebody waited in this branch's hands: told with the next renewal.
  public func note(windows: Int, oldest: WallTime?) {
    (watch.windows, watch.oldest) = (Int64(windows), oldest)
  }

  /// Ends the branch in good order: what is in hand is given back behind everything that was handed over before. Called once
  /// when that has come to an end, or cannot.
  ///
  /// - Parameter drains: whether the bank drains; see ``PostgresBranch/leave(endsDrain:)``.
  public func leave(drains: Bool = false, _ finished: @escaping () -> Void) {
    guard leaving == nil, !isLeaving else { return }
    leaving = finished
    endsDrain = drains
    leaveUntil = SystemClock.monotonic() + lease
    goOnLeaving()
  }

  private func goOnLeaving() {
    guard leaving != nil else { return }
    // Another branch does what could not be done by then.
    if isOver || leaveUntil.map({ SystemClock.monotonic() >= $0 }) == true { return left() }
    guard !isLeaving else { return }
    guard let branch = context.branch else {
      // What became of them is told when it has joined anew.
      return commits.count > 0 ? () : left()
    }
    guard commits.count == 0, !commits.hasStaged, requests.isEmpty else { return }
    if Kernel.makes("leavesWithoutAWord") { return left() }
    isLeaving = watchLink.send(branch.leave(endsDrain: endsDrain)) { [weak self] _ in
      self?.lookBack(of: branch)
    }
    // A renewal behind the end of its own epoch would be taken for a loss.
    if isLeaving { watch.lose() }
  }

  /// How the bank is that it leaves, for whoever asked for that.
  private func lookBack(of branch: PostgresBranch) {
    watch.lose()
    let isAsked = watchLink.send(SharedLook.request(of: branch)) { [weak self] answer in
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

  /// When to call ``endTurn()`` at the latest.
  public var nextDeadline: MonotonicTime? {
    guard !isOver else { return nil }
    let links = links.map(\.nextDeadline).reduce(survey?.nextDeadline, MonotonicTime.earlier)
    let own = MonotonicTime.earliest(commits.nextDeadline, requests.nextDeadline, leaveUntil)
    return .earliest(links, watch.nextDeadline, own)
  }

  /// To be called at the end of each turn of the loop.
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
  /// The server's processes of the connections for pages and transactions, for requests, and for the lease; for tests.
  var backends: [Int32] { [work, office, watchLink].map(\.backend) }
}
