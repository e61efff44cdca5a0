// Transactions of a branch in flight to the shared database.
// Invariant: the transactions take effect in order. Each one contains the number of the preceding one and has no
// effect without it. Each result is reported once, in order. A transaction with an unknown outcome is queried before
// it is sent again.
// Errors: a transaction that was refused for a temporary reason is sent again. If the refusal is not temporary, the
// transaction and all later ones are dropped. If the epoch ends, all that are not in the database are lost.
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
  /// Time of the next retry; nil while a retry is impossible, because the event that enables it also wakes the loop.
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
  /// Due times of customers that refused transactions would have delayed. The caller stages the same changes again.
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
      precondition(index == 0, "a commit without its predecessor")
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
    // The unknown outcomes of other commits are queried first.
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

  // MARK: - Unknown outcomes

  /// The connection is open again, and the server processes of the earlier one have exited.
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
      // If the query fails, this connection is replaced, and the next one repeats the query.
      guard let kept else { return self.link.renew() }
      self.tellKept(kept)
      for index in self.flights.indices where self.flights[index].state == .unknown {
        self.flights[index].state = .waiting
      }
      if let error = self.refusal { self.refuse(error) } else { self.pump() }
    }
    if !isTaken { isResolving = false }
  }

  /// Queries which of the sent transactions are in the database, with the tickets of each; nil if the query failed.
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

  /// Reports transactions as committed in order, up to the first one that is not in the database.
  private func tellKept(_ kept: [Int64: [Int64]]) {
    while let first = flights.first, first.state != .waiting, let tickets = kept[first.number] {
      settle(first.commit.withoutEffect(done: tickets, changed: nil))
    }
  }

  // MARK: - The end of an epoch

  /// Handles the loss of the epoch: the branch owns no customers any more.
  func lose() {
    for index in flights.indices where flights[index].state == .sent { flights[index].state = .unknown }
    if !Kernel.makes("keepsItsCommitsOverTheLoss") { staged = SharedCommit() }
    (sent, isResolving, refusal, retryAt) = (0, false, nil, nil)
    refusedDues = [:]
  }

  /// Reports the results of all transactions of the former epoch. The branch has rejoined, so no statement of that
  /// epoch can follow.
  ///
  /// - Returns: true if the query was sent or is not necessary. If not, or if `finish` receives false, the caller
  ///   repeats the call.
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
  /// True if the commit delays any customer.
  var postpones: Bool { delayedCount > 0 }
}
