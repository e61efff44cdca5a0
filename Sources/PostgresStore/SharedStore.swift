// Write access of one branch to the shared database, in its event loop: three connections, the epoch, and the events
// that it reports.
//
// One connection serves the customers of the branch (pages and transactions), one serves requests, and one the lease,
// so that no slow page, commit or request delays a renewal. A lost connection is replaced. Requests in flight are
// resolved after the server processes of the lost connection have exited, and are repeated if they had no effect. After
// its lease has expired or it was fenced, the branch owns no customers any more and rejoins.
//
// Invariant: the guarantees of PostgresStoreEvent. Errors: SharedStoreFailure if the database cannot be used; no other
// error is final.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Database of a bank with several branches, for the writes of one branch. Its calls do not wait for the server.
/// Results are taken with ``takeEvent()`` at the end of each iteration, after ``finishIteration()``.
public final class SharedStore {
  /// Configuration of a branch and its database.
  public struct Settings: Sendable {
    /// Address of the database; see ``PostgresURL/ofSharedStore(_:)``.
    public var place: PostgresURL
    /// Name of the branch, unique among the open branches.
    public var name: String
    /// Name of the machine, for display.
    public var host: String
    /// Services that must have numbers.
    public var services: [ServiceName]
    /// Remembered identity of the database; nil for none.
    public var known: SharedStoreProgress?
    /// True if ``known`` was recorded at another address, so that the present address may contain a different
    /// database.
    public var isElsewhere = false
    /// Identity of the home and the running machine. Another home and a copy of the machine have other identities.
    public var homeIdentity = ""
    /// Size limits of requests for tickets.
    public var bounds = EnqueueLimits()
    /// Length of the lease in the database. By the branch's own clock the lease is shorter.
    public var lease: TimeSpan = .seconds(4)

    public init(
      place: PostgresURL, name: String, host: String, services: [ServiceName] = [], homeIdentity: String = ""
    ) {
      (self.place, self.name, self.host, self.services) = (place, name, host, services)
      self.homeIdentity = homeIdentity
    }
  }

  /// Number of committed transactions after which their counts are folded.
  private static let foldThreshold: Int = 512

  let context: SharedStoreContext
  private let customerLink: ReconnectingConnection
  private let requestLink: ReconnectingConnection
  private let leaseLink: ReconnectingConnection
  private let commits: TransactionQueue
  let claims: PendingClaims
  let requests: StoreRequestQueue
  private let watch: BranchMembership
  /// Survey of all hosts before the first connection; nil if the address names one host only.
  private var survey: HostSurvey?
  private var links: [ReconnectingConnection] { [leaseLink, customerLink, requestLink] }
  /// Connections whose interruption was reported.
  private var interrupted: Set<ObjectIdentifier> = []
  /// The last reported reason for which a server is not used.
  private var reportedRefusal: PostgresError.Reason?
  private var hasJoined = false
  private var isOver = false
  private var isFolding = false
  private var leaveCompletion: (() -> Void)?
  private var isLeaving = false
  private var endsDrain = false
  private var leaveDeadline: MonotonicTime?
  private let lease: TimeSpan
  private let isElsewhere: Bool

  /// Starts connecting.
  public init(_ settings: Settings, loop: EventLoop) {
    lease = settings.lease
    context = SharedStoreContext(settings.place)
    var limits = PostgresConnection.Limits()
    leaseLink = ReconnectingConnection(
      to: settings.place, loop: loop, limits: limits, listeningTo: PostgresStatements.channel)
    requestLink = ReconnectingConnection(to: settings.place, loop: loop, limits: limits)
    // A page may contain the payloads of many customers.
    limits.resultBytes = 512 << 20
    customerLink = ReconnectingConnection(to: settings.place, loop: loop, limits: limits)
    commits = TransactionQueue(context, customerLink)
    claims = PendingClaims(context, customerLink)
    requests = StoreRequestQueue(context, requestLink, settings.bounds)
    watch = BranchMembership(context, leaseLink, commits, settings)
    context.known = settings.known
    isElsewhere = settings.isElsewhere
    connect()
    if settings.place.hostCount > 1 {
      begin(HostSurvey(of: settings.place, loop: loop, knowing: settings.known))
    }
  }

  /// Suspends all connections until the survey has chosen a host.
  private func begin(_ survey: HostSurvey) {
    self.survey = survey
    for link in links { link.suspend() }
    survey.failed = { [unowned self] error in
      if error.isRetriable { context.report(.interrupted(error)) } else { refuse(.server(error)) }
    }
    survey.chose = { [unowned self] host in for link in links { link.begin(at: host) } }
  }

  /// Sets the callbacks by which connections, transactions, claims, requests and membership notify each other.
  private func connect() {
    customerLink.opened = { [unowned self] in
      note(opened: customerLink)
      workOpened()
    }
    requestLink.opened = { [unowned self] in
      note(opened: requestLink)
      requests.pump()
    }
    leaseLink.opened = { [unowned self] in
      note(opened: leaseLink)
      watch.linkOpened()
    }
    for link in links {
      link.lost = { [unowned self, unowned link] error in note(lost: link, error) }
      link.decide = { [unowned self] link, identity in decide(identity, of: link) }
      link.hostOfOpenConnection = { [unowned self, unowned link] in
        links.first { (other: ReconnectingConnection) in other !== link && other.isOpen }?.host
      }
    }
    leaseLink.notified = { [unowned self] payload in watch.handleNotification(payload) }
    context.onWriteRefusal = { [unowned self] error in requests.refuseNewRequests(error) }
    context.fenced = { [unowned self] in handleLoss(.fenced) }
    context.lookSoon = { [unowned self] in watch.pollSoon() }
    claims.onShortPage = { [unowned self] line in watch.recheck(line) }
    watch.joined = { [unowned self] opening in joined(opening) }
    watch.replaced = { [unowned self] in handleLoss(.databaseReplaced) }
    watch.onLeaseExpired = { [unowned self] in handleLoss(.leaseExpired) }
    watch.refused = { [unowned self] failure in refuse(failure) }
    watch.due = { [unowned self] window in returnDue(within: window) }
    watch.left = { [unowned self] name in requests.moveSlices(name) }
  }

  // MARK: - The server

  /// Decides about a connection from the identity of its server. After a failover all connections move to the new
  /// server.
  private func decide(_ identity: ServerIdentity, of link: ReconnectingConnection) -> ConnectionDecision {
    // At another address a different database is allowed, so the remembered identity does not apply.
    if isElsewhere, !hasJoined, identity.bankID != context.known?.bankID { context.known = nil }
    if Mutant.usesAnyDatabase.isActive {
      return context.known == nil && link !== leaseLink ? .wait : .open
    }
    let otherLinks = links.filter { $0 !== link }
    let admission = SharedStoreProgress.decide(
      identity, knowing: context.known, isFirst: link === leaseLink,
      hasOtherConnections: otherLinks.contains(where: \.isOpen))
    if admission == .openAlone {
      context.known?.system = identity.system
      context.known?.timeline = identity.timeline
      if let known = context.known { context.report(.known(known)) }
      for otherLink in otherLinks { otherLink.leave(serversOtherThan: identity) }
    }
    return admission
  }

  /// Resumes transactions and claims on an open connection. After a failover the new server may lack claims of this
  /// branch, and other branches may have claimed the same customers, so the last claim is queried first.
  private func workOpened() {
    guard context.branch != nil, !customerLink.isAtServer(of: context.server) else {
      context.isInDoubt = false
      commits.linkOpened()
      return claims.linkOpened()
    }
    context.isInDoubt = true
    let isSent = claims.checkLastClaim { [unowned self] exists in
      guard let exists else { return customerLink.reconnect() }
      context.isInDoubt = false
      guard exists else { return handleLoss(.databaseReplaced) }
      context.server = customerLink.identity
      commits.linkOpened()
      claims.linkOpened()
    }
    if !isSent { customerLink.reconnect() }
  }

  // MARK: - The epoch

  /// Records that a connection is open, and ends the pauses of the others.
  private func note(opened link: ReconnectingConnection) {
    interrupted.remove(ObjectIdentifier(link))
    reportedRefusal = nil
    for otherLink in links where otherLink !== link { otherLink.retryNow() }
  }

  /// Reports a loss once for each connection, until it is open again. Before the first join, an error of the connection
  /// for the lease is final if no retry can solve it.
  private func note(lost link: ReconnectingConnection, _ error: PostgresError) {
    guard !isOver else { return }
    if !hasJoined, !error.isRetriable, link === leaseLink { return refuse(.server(error)) }
    if error.isOfOtherDatabase {
      // The error is reported once per reason, not once per connection.
      interrupted.insert(ObjectIdentifier(link))
      guard reportedRefusal != error.reason else { return }
      reportedRefusal = error.reason
      return context.report(.interrupted(error))
    }
    if interrupted.insert(ObjectIdentifier(link)).inserted { context.report(.interrupted(error)) }
  }

  /// Reports the join, and continues in the new epoch.
  private func joined(_ opening: JoinResult) {
    hasJoined = true
    (context.server, context.isInDoubt) = (leaseLink.identity, false)
    context.report(.joined(opening))
    for link in links where link !== leaseLink { link.recheckIdentity() }
    createPartitions(for: opening.day)
    requests.resumeLargeRequests(opening.branch)
    commits.pump()
    requests.pump()
  }

  /// Creates the partitions of this day and the next one.
  private func createPartitions(for day: BusinessDay) {
    for next in [day, day + 1] {
      requests.ask(
        nil, repeatsInLaterEpoch: false, finish: { _ in }, StoreOperations.createPartitions(for: next))
    }
  }

  /// Ends the epoch in all parts, reports the loss, and reconnects to join again.
  private func handleLoss(_ loss: LeaseLoss) {
    guard context.branch != nil else { return }
    context.branch = nil
    watch.handleLoss()
    commits.handleLoss()
    claims.handleLoss()
    requests.handleLoss()
    isFolding = false
    context.report(.lost(loss))
    if isLeaving { return left() }
    for link in links { link.reconnect() }
  }

  /// Closes the store, because the database cannot be used.
  private func refuse(_ failure: SharedStoreFailure) {
    guard !isOver else { return }
    close()
    context.report(.refused(failure))
  }

  /// Closes all connections permanently. Does not leave the bank.
  private func close() {
    isOver = true
    context.branch = nil
    survey?.close()
    for link in links { link.close() }
  }

  // MARK: - Events

  /// The oldest event that was not taken yet; nil if there is none.
  public func takeEvent() -> PostgresStoreEvent? { context.takeEvent() }

  // MARK: - Transactions

  /// Stages a change for the next transaction. The customers of the change must belong to this branch or to no
  /// branch. New customers and the end of a day are separate requests.
  public func stage(_ change: StoreChange) { commits.stage(change) }
  /// True if changes were staged since the last ``commit()``.
  public var hasStaged: Bool { commits.hasStaged }
  /// Sends the staged changes as one transaction; does nothing if there are none.
  public func commit() { commits.commit() }
  /// Drops the changes staged since the last ``commit()``.
  public func dropStaged() { commits.dropStaged() }
  /// Number of transactions made by ``commit()`` whose results were not reported yet.
  public var underwayCount: Int { commits.count }

  // MARK: - Due customers

  /// Returns due customers to their lines; `window` is the maximum age of the due time in milliseconds.
  private func returnDue(within window: Int64) {
    requests.ask(
      nil, repeatsInLaterEpoch: false,
      finish: { [unowned self] answer in
        // More customers may be due than one transaction returns.
        if case .requeued(let count) = answer, count >= Int64(PostgresStatements.returnedAtOnce) {
          watch.pollEverything()
        }
        watch.pollSoon()
      }, StoreOperations.reviveDue(within: window))
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
    guard leaveCompletion == nil, !isLeaving else { return }
    leaveCompletion = finished
    endsDrain = drains
    leaveDeadline = SystemClock.monotonic() + lease
    continueLeaving()
  }

  /// Leaves as soon as no transaction or request is in flight, or gives up at the deadline.
  private func continueLeaving() {
    guard leaveCompletion != nil else { return }
    // After this timeout another branch fences this one and returns its customers.
    if isOver || leaveDeadline.map({ SystemClock.monotonic() >= $0 }) == true { return left() }
    guard !isLeaving else { return }
    guard let branch = context.branch else {
      // Results of commits in flight are reported after the branch has rejoined.
      return commits.count > 0 ? () : left()
    }
    guard commits.count == 0, !commits.hasStaged, requests.isEmpty else { return }
    if Mutant.leavesWithoutReturningClaims.isActive { return left() }
    isLeaving = leaseLink.send(branch.leave(endsDrain: endsDrain)) { [weak self] _ in
      self?.pollEverything(of: branch)
    }
    // The server would reject a renewal after the end of the epoch, and the branch would mistake this for a loss.
    if isLeaving { watch.handleLoss() }
  }

  /// Polls once more after leaving, to report the state of the bank, and the counts of the day if it has ended.
  private func pollEverything(of branch: PostgresBranch) {
    watch.handleLoss()
    let isSent = leaseLink.send(BankPoll.request(of: branch, isLast: true)) { [weak self] answer in
      guard let self else { return }
      if case .done(let poll) = answer {
        self.context.adopt(lanes: poll.lanes, for: branch.id)
        self.context.report(.numbers(poll.numbers(self.context.services.count, self.context.line)))
      }
      self.left()
    }
    if !isSent { left() }
  }

  /// Closes the store and calls the completion of ``leave(drains:_:)``.
  private func left() {
    guard let finished = leaveCompletion else { return }
    leaveCompletion = nil
    close()
    finished()
  }

  /// The latest moment for the next call of ``finishIteration()``.
  public var nextDeadline: MonotonicTime? {
    guard !isOver else { return nil }
    let links = links.map(\.nextDeadline).reduce(survey?.nextDeadline, MonotonicTime.earlier)
    let own = MonotonicTime.earliest(commits.nextDeadline, requests.nextDeadline, leaveDeadline)
    return .earliest(links, watch.nextDeadline, own)
  }

  /// Does what is due. Must be called at the end of each loop iteration.
  public func finishIteration() {
    guard !isOver else { return }
    survey?.finishIteration()
    for link in links { link.finishIteration() }
    guard !isOver else { return }
    watch.finishIteration()
    commits.pump()
    claims.pump()
    requests.pump()
    fold()
    continueLeaving()
  }

  /// Folds the counts of earlier commits into sums, if there are enough of them.
  private func fold() {
    guard context.branch != nil, !isFolding, context.numbers.recent.count > Self.foldThreshold else { return }
    let number = context.numbers.foldable
    guard number > 1 else { return }
    isFolding = true
    context.numbers.fold(below: number)
    requests.ask(
      nil, repeatsInLaterEpoch: false, finish: { [unowned self] _ in isFolding = false },
      StoreOperations.fold(below: number))
  }
}

extension SharedStore {
  /// Server processes of the connections for work, requests and lease.
  var backends: [Int32] { [customerLink, requestLink, leaseLink].map(\.backend) }
}
