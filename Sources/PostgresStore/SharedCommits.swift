// Owns the transactions of a branch on their way to the shared books.
// Invariant: they take effect in their order. Each says behind which it comes, so none takes effect where the one before it has
// not; and what became of each is told once, in their order. A transaction whose outcome is unknown is looked up before it is
// sent again.
// Failure: one that the database refuses takes all those behind it with it; with the epoch all are lost that are not in the
// books.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

final class SharedCommits {
  private enum State {
    case waiting
    case sent
    case unknown
  }

  private struct Flight {
    let number: Int64
    let commit: SharedCommit
    var state = State.waiting
  }

  private static let pause = TimeSpan.milliseconds(5)

  var hasStaged: Bool { !staged.isEmpty }
  var count: Int { flights.count }
  /// When something is to be sent again; nil while it could not be, and whatever lets it be sent wakes whoever sleeps.
  var nextDeadline: MonotonicTime? {
    context.branch != nil && link.isOpen && !isResolving && refusal == nil && sent == 0 ? retryAt : nil
  }
  private var retryAt: MonotonicTime?
  private let context: SharedContext
  private let link: SharedLink
  private var staged = SharedCommit()
  private var flights: [Flight] = []
  private var sent = 0
  private var isResolving = false
  private var refusal: PostgresError?
  /// Until when those were to wait who were delayed by transactions that the database has refused: they are staged again.
  private var refusedDues: [TicketNumber: SharedCommit.Due] = [:]

  init(_ context: SharedContext, _ link: SharedLink) { (self.context, self.link) = (context, link) }

  func stage(_ change: StoreChange) { staged.add(change, clock: context.clock, dues: refusedDues) }

  func forgetStaged() { staged = SharedCommit() }

  func commit() {
    guard hasStaged else { return }
    flights.append(Flight(number: context.numbers.next(), commit: staged))
    staged = SharedCommit()
    pump()
  }

  // MARK: - Sending

  func pump() {
    guard let branch = context.branch, !isResolving, refusal == nil, link.isOpen, !context.isInDoubt else {
      return
    }
    if let retryAt {
      guard sent == 0, SystemClock.monotonic() >= retryAt else { return }
      self.retryAt = nil
    }
    guard let first = flights.firstIndex(where: { $0.state == .waiting }) else { return }
    for index in first..<flights.count {
      let (number, commit) = (flights[index].number, flights[index].commit)
      let former = index == 0 ? 0 : flights[index - 1].number
      let request = commit.request(
        branch, number: number, after: former, lanes: context.lanes, clock: context.clock)
      let isTaken = link.send(request) { [weak self] answer in self?.hear(answer, number, branch) }
      guard isTaken else { return }
      flights[index].state = .sent
      sent += 1
    }
  }

  private func hear(_ answer: PostgresAnswer<SharedCommit.Effect>, _ number: Int64, _ branch: PostgresBranch)
  {
    guard let index = flights.firstIndex(where: { $0.number == number }), flights[index].state == .sent else {
      return
    }
    sent -= 1
    flights[index].state = .waiting
    switch answer {
    case .done(.committed(let withoutEffect)):
      precondition(index == 0, "a commit without the one before it")
      settle(withoutEffect)
    case .done(.behind): break
    case .done(.fenced):
      if context.branch == branch { context.fenced() }
    case .refused where index == 0 && Kernel.makes("takesARefusalForACommit"): settle([])
    case .refused(let error) where error.isPassing: retryAt = SystemClock.monotonic() + Self.pause
    case .refused(let error):
      context.takesNoChanges(error)
      refusal = refusal ?? error
    case .unknown: flights[index].state = .unknown
    }
    guard sent == 0, let error = refusal else { return }
    refuse(error)
  }

  private func settle(_ withoutEffect: [TicketNumber]) {
    let flight = flights.removeFirst()
    context.numbers.commit(flight.number)
    if flights.isEmpty, !hasStaged { refusedDues = [:] }
    if flight.commit.postpones { context.lookSoon() }
    context.tell(.committed(withoutEffect: withoutEffect))
  }

  private func refuse(_ error: PostgresError) {
    // What is unknown of the others is looked up first.
    guard !flights.contains(where: { $0.state == .unknown }) else { return }
    refusal = nil
    for commit in flights.map(\.commit) + [staged] { refusedDues.merge(commit.dues) { $1 } }
    forgetAll()
    context.tell(.commitRefused(context.storeError(error)))
  }

  private func forgetAll() {
    for flight in flights { context.numbers.release(flight.number) }
    flights = []
    staged = SharedCommit()
  }

  // MARK: - Finding out

  /// The connection is there again, and nothing of the former one can follow.
  func linkOpened() {
    guard let branch = context.branch else { return }
    if Kernel.makes("repeatsWithoutLooking") {
      for index in flights.indices where flights[index].state == .unknown { flights[index].state = .waiting }
    }
    guard flights.contains(where: { $0.state == .unknown }) else { return pump() }
    isResolving = true
    let isTaken = lookUp(branch, on: link) { [weak self] kept in
      guard let self, self.context.branch == branch else { return }
      self.isResolving = false
      // Where it could not be said, nothing more goes over this connection: with the next it is asked again.
      guard let kept else { return self.link.renew() }
      self.tellKept(kept)
      for index in self.flights.indices where self.flights[index].state == .unknown {
        self.flights[index].state = .waiting
      }
      if let error = self.refusal { self.refuse(error) } else { self.pump() }
    }
    if !isTaken { isResolving = false }
  }

  /// Which of those whose outcome is not known are in the books, with the tickets of each; nil where that cannot be said.
  private func lookUp(
    _ branch: PostgresBranch, on link: SharedLink, _ finish: @escaping ([Int64: [Int64]]?) -> Void
  ) -> Bool {
    let numbers = flights.filter { $0.state != .waiting }.map(\.number)
    let (kept, receipts) = (branch.kept(numbers), branch.receipts(of: numbers))
    let request = PostgresRequest(segment: kept.segment + receipts.segment) { results -> [Int64: [Int64]]? in
      guard results.count == 2, let kept = kept.read([results[0]]), let tickets = receipts.read([results[1]])
      else { return nil }
      return Dictionary(uniqueKeysWithValues: kept.map { ($0, tickets[$0] ?? []) })
    }
    return link.send(request) { answer in
      if case .done(let found) = answer { finish(found) } else { finish(nil) }
    }
  }

  /// Tells those at the head that are in the books.
  private func tellKept(_ kept: [Int64: [Int64]]) {
    while let first = flights.first, first.state != .waiting, let tickets = kept[first.number] {
      settle(first.commit.withoutEffect(done: tickets, changed: nil))
    }
  }

  // MARK: - The end of an epoch

  /// Nothing in hand is the branch's any more.
  func lose() {
    for index in flights.indices where flights[index].state == .sent { flights[index].state = .unknown }
    if !Kernel.makes("keepsItsCommitsOverTheLoss") { staged = SharedCommit() }
    (sent, isResolving, refusal, retryAt) = (0, false, nil, nil)
    refusedDues = [:]
  }

  /// The branch has joined anew, so nothing of its former epoch can follow: tells what became of everything.
  ///
  /// - Returns: whether it was asked; where it was not, or `finish` is called with false, it is to be asked again.
  func settleFormer(
    _ former: PostgresBranch, on link: SharedLink, _ finish: @escaping (Bool) -> Void
  ) -> Bool {
    guard flights.contains(where: { $0.state != .waiting }) else {
      dropAll()
      finish(true)
      return true
    }
    return lookUp(former, on: link) { [weak self] kept in
      guard let self, let kept else { return finish(false) }
      self.tellKept(kept)
      self.dropAll()
      finish(true)
    }
  }

  private func dropAll() {
    if Kernel.makes("keepsItsCommitsOverTheLoss") {
      for index in flights.indices { flights[index].state = .waiting }
      return
    }
    let count = flights.count
    forgetAll()
    for _ in 0..<count { context.tell(.dropped) }
  }
}

extension SharedCommit {
  /// Whether somebody is delayed by it.
  var postpones: Bool { delayedCount > 0 }
}
