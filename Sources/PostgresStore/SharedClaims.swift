// Owns the pages that a branch has asked for and was not told of.
// Invariant: they are told in the order in which they were asked for. A page of which the answer was lost is looked up by its
// number, so nobody is claimed by the branch without its knowing.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedClaims {
  private enum State {
    case waiting
    case sent
    /// It is claimed, and too long to be sent under the lane's lock: it is asked for by its number.
    case claimed
    case unknown
    case here([SharedCustomer])
  }

  private struct Claim {
    let number: Int64
    let line: Line
    let limit: Int
    var state = State.waiting
  }

  /// A page was shorter than it might have been: somebody may have come while it was claimed.
  var wasShort: (Line) -> Void = { _ in }
  private let context: SharedContext
  private let link: SharedLink
  private var claims: [Claim] = []
  private var last: Int64 = 0
  /// The number of the last page of the present epoch that somebody was in; 0 for none.
  private var lastFilled: Int64 = 0
  private var isResolving = false

  init(_ context: SharedContext, _ link: SharedLink) { (self.context, self.link) = (context, link) }

  func claim(_ line: Line, limit: Int) {
    last += 1
    claims.append(Claim(number: last, line: line, limit: max(1, limit)))
    pump()
  }

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
        // Nobody ever came for it, as far as is known.
        claims[index].state = .here([])
        continue
      }
      let request = branch.claimPage(lane: lane, atMost: claim.limit, number: claim.number)
      let isTaken = link.send(request) { [weak self] answer in
        guard let self, self.context.branch == branch else { return }
        self.hear(answer, claim)
      }
      guard isTaken else { break }
      claims[index].state = .sent
    }
    tell()
  }

  /// Asks for a page that is claimed; false if nothing is taken now.
  private func fetch(_ index: Int, _ branch: PostgresBranch) -> Bool {
    let claim = claims[index]
    let isTaken = link.send(branch.claimed(claim.number)) { [weak self] answer in
      guard let self, self.context.branch == branch,
        let index = self.claims.firstIndex(where: { $0.number == claim.number })
      else { return }
      switch answer {
      case .done(let page): self.come(page ?? [], index)
      case .unknown: self.claims[index].state = .unknown
      case .refused: self.claims[index].state = .claimed
      }
      self.tell()
    }
    if isTaken { claims[index].state = .sent }
    return isTaken
  }

  private func come(_ page: [ClaimedCustomer], _ index: Int) {
    if page.count < claims[index].limit { wasShort(claims[index].line) }
    claims[index].state = .here(context.customers(page, in: claims[index].line))
  }

  private func hear(_ answer: PostgresAnswer<[ClaimedCustomer]?>, _ claim: Claim) {
    guard let index = claims.firstIndex(where: { $0.number == claim.number }) else { return }
    switch answer {
    case .done(let page?): come(page, index)
    case .done(nil):
      claims[index].state = .claimed
      return pump()
    case .unknown: claims[index].state = .unknown
    case .refused(let error) where error.isPassing: claims[index].state = .waiting
    // There is no room for a claim. Whoever waits is found by the next look.
    case .refused: claims[index].state = .here([])
    }
    tell()
  }

  private func tell() {
    while case .here(let page) = claims.first?.state {
      let claim = claims.removeFirst()
      if !page.isEmpty { lastFilled = claim.number }
      context.tell(.page(claim.line, page))
    }
  }

  /// The connection is there again, and nothing of the former one can follow.
  func linkOpened() {
    guard let branch = context.branch else { return }
    isResolving = false
    findOut(branch)
  }

  private func findOut(_ branch: PostgresBranch) {
    let unknown = claims.first { if case .unknown = $0.state { true } else { false } }
    guard let unknown else { return pump() }
    if Kernel.makes("claimsAnewInsteadOfLooking") {
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
      self.claims[index].state = page.map { .here(self.context.customers($0, in: unknown.line)) } ?? .waiting
      self.tell()
      self.findOut(branch)
    }
  }

  /// Asks whether the last page that was told is the branch's in the books of a server that has taken over: pages are claimed in
  /// their order, so those before it are, too. One of which nothing is left there counts as lost, which costs work at most.
  ///
  /// - Returns: whether it was asked.
  func lookForTheLast(_ finish: @escaping (Bool?) -> Void) -> Bool {
    guard let branch = context.branch, lastFilled > 0 else {
      finish(true)
      return true
    }
    return link.send(branch.hasClaimed(lastFilled)) { [weak self] answer in
      guard let self, self.context.branch == branch else { return }
      if case .done(let isThere) = answer { finish(isThere) } else { finish(nil) }
    }
  }

  /// Nothing in hand is the branch's any more, and nothing that was asked for comes.
  func lose() {
    claims = []
    lastFilled = 0
    isResolving = false
  }
}
