// Pages that a branch has requested and whose results it has not reported yet.
// Invariant: pages are reported in the order of the requests. If an answer is lost, the page is queried by its number,
// so that the branch receives the customers that it owns.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Requested pages of a branch, in the order of the requests.
final class PendingClaims {
  /// Progress of a requested page.
  private enum State {
    case waiting
    case sent
    /// Claimed, but too large to be sent under the lane's lock; must be queried by its number.
    case claimed
    /// The connection was lost before the answer; must be queried by its number.
    case unknown
    case received([CustomerWithPayload])
  }

  /// One requested page.
  private struct Claim {
    let number: Int64
    let line: Line
    let limit: Int
    var state = State.waiting
  }

  /// Called if a page was shorter than requested: new customers may have arrived during the claim.
  var onShortPage: (Line) -> Void = { _ in }
  private let context: SharedStoreContext
  private let link: ReconnectingConnection
  private var claims: [Claim] = []
  /// Number of the last requested page.
  private var last: Int64 = 0
  /// Number of the last non-empty page that was reported in the present epoch; 0 for none.
  private var lastFilled: Int64 = 0
  /// True while a page with an unknown outcome is queried.
  private var isResolving = false

  init(_ context: SharedStoreContext, _ link: ReconnectingConnection) {
    (self.context, self.link) = (context, link)
  }

  /// Requests the next page of a line, with about `limit` customers.
  func claim(_ line: Line, limit: Int) {
    last += 1
    claims.append(Claim(number: last, line: line, limit: max(1, limit)))
    pump()
  }

  /// Sends the waiting requests for pages, and reports the received pages.
  func pump() {
    guard let branch = context.branch, !isResolving, link.isOpen, !context.isInDoubt else { return }
    for index in claims.indices {
      if case .claimed = claims[index].state {
        guard fetch(index, branch) else { break }
        continue
      }
      guard case .waiting = claims[index].state else { continue }
      let claim = claims[index]
      guard let lane = context.lanes[claim.line] else {
        // The branch does not know the lane yet. The next poll reports the line if it has customers.
        claims[index].state = .received([])
        continue
      }
      let request = branch.claimPage(lane: lane, atMost: claim.limit, number: claim.number)
      let isSent = link.send(request) { [weak self] answer in
        guard let self, self.context.branch == branch else { return }
        self.handle(answer, claim)
      }
      guard isSent else { break }
      claims[index].state = .sent
    }
    report()
  }

  /// Queries a claimed page that was too large to be sent with its claim; false if the connection accepts no request
  /// now.
  private func fetch(_ index: Int, _ branch: PostgresBranch) -> Bool {
    let claim = claims[index]
    let isSent = link.send(branch.claimed(claim.number)) { [weak self] answer in
      guard let self, self.context.branch == branch,
        let index = self.claims.firstIndex(where: { $0.number == claim.number })
      else { return }
      switch answer {
      case .done(let page): self.storePage(page ?? [], index)
      case .unknown: self.claims[index].state = .unknown
      case .refused: self.claims[index].state = .claimed
      }
      self.report()
    }
    if isSent { claims[index].state = .sent }
    return isSent
  }

  /// Stores a received page until it is reported.
  private func storePage(_ page: [ClaimedCustomer], _ index: Int) {
    if page.count < claims[index].limit { onShortPage(claims[index].line) }
    claims[index].state = .received(context.customers(page, in: claims[index].line))
  }

  private func handle(_ answer: PostgresAnswer<[ClaimedCustomer]?>, _ claim: Claim) {
    guard let index = claims.firstIndex(where: { $0.number == claim.number }) else { return }
    switch answer {
    case .done(let page?): storePage(page, index)
    case .done(nil):
      claims[index].state = .claimed
      return pump()
    case .unknown: claims[index].state = .unknown
    case .refused(let error) where error.isTransient: claims[index].state = .waiting
    // For example, the disk is full. The page is reported as empty, and the next poll reports the line again.
    case .refused: claims[index].state = .received([])
    }
    report()
  }

  /// Reports received pages in the order of the requests, up to the first missing one.
  private func report() {
    while case .received(let page) = claims.first?.state {
      let claim = claims.removeFirst()
      if !page.isEmpty { lastFilled = claim.number }
      context.report(.page(claim.line, page))
    }
  }

  /// Queries pages with unknown outcomes on a new connection. The server processes of earlier connections have exited.
  func linkOpened() {
    guard let branch = context.branch else { return }
    isResolving = false
    resolveUnknown(branch)
  }

  /// Queries pages with unknown outcomes one by one, and then sends the waiting requests.
  private func resolveUnknown(_ branch: PostgresBranch) {
    let unknown = claims.first { if case .unknown = $0.state { true } else { false } }
    guard let unknown else { return pump() }
    if Mutant.claimsAgainWithoutCheck.isActive {
      for index in claims.indices {
        if case .unknown = claims[index].state { claims[index].state = .waiting }
      }
      return pump()
    }
    isResolving = true
    _ = link.send(branch.claimed(unknown.number)) { [weak self] answer in
      guard let self, self.context.branch == branch, case .done(let page) = answer,
        let index = self.claims.firstIndex(where: { $0.number == unknown.number })
      else { return }
      self.isResolving = false
      self.claims[index].state =
        page.map { .received(self.context.customers($0, in: unknown.line)) } ?? .waiting
      self.report()
      self.resolveUnknown(branch)
    }
  }

  /// After a failover, asks whether the new server has the last reported page. `finish` receives nil if the query
  /// failed.
  ///
  /// Pages are claimed in order, so a server that has this page also has all earlier pages. The page may also be
  /// missing because its day has ended or its customers were returned. In this case the branch rejoins without need,
  /// and no customer is lost.
  ///
  /// - Returns: true if the query was sent or is not necessary.
  func checkLastClaim(_ finish: @escaping (Bool?) -> Void) -> Bool {
    guard let branch = context.branch, lastFilled > 0 else {
      finish(true)
      return true
    }
    return link.send(branch.hasClaimed(lastFilled)) { [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      if case .done(let exists) = answer { finish(exists) } else { finish(nil) }
    }
  }

  /// Drops all requests, because the branch owns no customers any more.
  func handleLoss() {
    claims = []
    lastFilled = 0
    isResolving = false
  }
}
