// Transactions of a branch in flight to the shared database.
// Invariant: the transactions take effect in order. One that follows another in flight contains the number of that one,
// and has no effect without it. Results are reported in order, and none twice. A transaction with an unknown outcome is
// queried before it is sent again.
// Errors: a transaction that was refused for a temporary reason is sent again. If the refusal is not temporary, the
// transactions in flight or staged are dropped. If the epoch ends, all that are not in the database are dropped.
import BankModel
import Posix
import Postgres
import QueueCore
import Time

/// Staged changes of a branch, and its transactions in flight.
final class TransactionQueue {
  /// Progress of a transaction.
  private enum State {
    case waiting
    case sent
    case unknown
  }

  /// A transaction whose result was not reported yet.
  private struct QueuedTransaction {
    let number: Int64
    let commit: BranchTransaction
    var state = State.waiting
  }

  /// Pause before a retry after a temporary refusal.
  private static let pause = TimeSpan.milliseconds(5)

  var hasStaged: Bool { !staged.isEmpty }
  /// Number of transactions made by ``commit()`` whose results were not reported yet.
  var count: Int { inFlight.count }
  /// Time of the next retry; nil while a retry is impossible, because the event that enables it also wakes the loop.
  var nextDeadline: MonotonicTime? {
    context.branch != nil && link.isOpen && !isResolving && refusal == nil && sent == 0 ? retryAt : nil
  }
  private var retryAt: MonotonicTime?
  private let context: SharedStoreContext
  private let link: ReconnectingConnection
  private var staged = BranchTransaction()
  private var inFlight: [QueuedTransaction] = []
  /// Number of transactions whose answers are awaited.
  private var sent = 0
  /// True while unknown outcomes are queried.
  private var isResolving = false
  /// A refusal that is reported when no answer is awaited any more.
  private var refusal: PostgresError?
  /// Due times of customers that refused transactions would have delayed. The caller stages the same changes again.
  private var refusedDues: [TicketNumber: BranchTransaction.Due] = [:]

  init(_ context: SharedStoreContext, _ link: ReconnectingConnection) {
    (self.context, self.link) = (context, link)
  }

  /// Adds a change to the next transaction.
  func stage(_ change: StoreChange) { staged.add(change, clock: context.clock, dues: refusedDues) }

  /// Drops the changes staged since the last ``commit()``.
  func dropStaged() { staged = BranchTransaction() }

  /// Makes a transaction of the staged changes, and sends it.
  func commit() {
    guard hasStaged else { return }
    inFlight.append(QueuedTransaction(number: context.numbers.next(), commit: staged))
    staged = BranchTransaction()
    pump()
  }

  // MARK: - Sending

  /// Sends the transactions that wait, in order.
  func pump() {
    guard let branch = context.branch, !isResolving, refusal == nil, link.isOpen, !context.isInDoubt else {
      return
    }
    if let retryAt {
      guard sent == 0, SystemClock.monotonic() >= retryAt else { return }
      self.retryAt = nil
    }
    guard let first = inFlight.firstIndex(where: { $0.state == .waiting }) else { return }
    for index in first..<inFlight.count {
      let (number, commit) = (inFlight[index].number, inFlight[index].commit)
      let former = index == 0 ? 0 : inFlight[index - 1].number
      let request = commit.request(
        branch, number: number, after: former, lanes: context.lanes, clock: context.clock)
      let isSent = link.send(request) { [weak self] answer in self?.handle(answer, number, branch) }
      guard isSent else { return }
      inFlight[index].state = .sent
      sent += 1
    }
  }

  /// Handles the outcome of one sent transaction.
  private func handle(
    _ answer: PostgresAnswer<BranchTransaction.Effect>, _ number: Int64, _ branch: PostgresBranch
  ) {
    guard let index = inFlight.firstIndex(where: { $0.number == number }), inFlight[index].state == .sent
    else {
      return
    }
    sent -= 1
    inFlight[index].state = .waiting
    switch answer {
    case .done(.committed(let rejectedCompletions)):
      precondition(index == 0, "a commit without its predecessor")
      reportCommitted(rejectedCompletions)
    case .done(.predecessorMissing): break
    case .done(.fenced):
      if context.branch == branch { context.fenced() }
    case .refused where index == 0 && Mutant.treatsRefusalAsCommit.isActive: reportCommitted([])
    case .refused(let error) where error.isTransient: retryAt = SystemClock.monotonic() + Self.pause
    case .refused(let error):
      context.refusesWrites(error)
      refusal = refusal ?? error
    case .unknown: inFlight[index].state = .unknown
    }
    guard sent == 0, let error = refusal else { return }
    refuse(error)
  }

  /// Reports the oldest transaction as committed, without an effect on `rejectedCompletions`.
  private func reportCommitted(_ rejectedCompletions: [TicketNumber]) {
    let flight = inFlight.removeFirst()
    context.numbers.commit(flight.number)
    if inFlight.isEmpty, !hasStaged { refusedDues = [:] }
    if flight.commit.postpones { context.lookSoon() }
    context.report(.committed(rejectedCompletions: rejectedCompletions))
  }

  /// Drops all transactions and reports the refusal. Does nothing yet while the outcome of any of them is unknown.
  private func refuse(_ error: PostgresError) {
    // The unknown outcomes of other commits are queried first.
    guard !inFlight.contains(where: { $0.state == .unknown }) else { return }
    refusal = nil
    for commit in inFlight.map(\.commit) + [staged] { refusedDues.merge(commit.dues) { $1 } }
    clearAll()
    context.report(.commitRefused(context.storeError(error)))
  }

  /// Forgets all transactions and staged changes, without a report.
  private func clearAll() {
    for flight in inFlight { context.numbers.release(flight.number) }
    inFlight = []
    staged = BranchTransaction()
  }

  // MARK: - Unknown outcomes

  /// Queries unknown outcomes on a new connection, and continues. The server processes of earlier connections have
  /// exited.
  func linkOpened() {
    guard let branch = context.branch else { return }
    if Mutant.repeatsWithoutCheck.isActive {
      for index in inFlight.indices where inFlight[index].state == .unknown {
        inFlight[index].state = .waiting
      }
    }
    guard inFlight.contains(where: { $0.state == .unknown }) else { return pump() }
    isResolving = true
    let isSent = lookUp(branch, on: link) { [weak self] stored in
      guard let self, self.context.branch == branch else { return }
      self.isResolving = false
      // If the query fails, this connection is replaced, and the next one repeats the query.
      guard let stored else { return self.link.reconnect() }
      self.reportStored(stored)
      for index in self.inFlight.indices where self.inFlight[index].state == .unknown {
        self.inFlight[index].state = .waiting
      }
      if let error = self.refusal { self.refuse(error) } else { self.pump() }
    }
    if !isSent { isResolving = false }
  }

  /// Queries which of the sent transactions are in the database. `finish` receives these, each with the tickets that it
  /// has finished, or nil if the query failed. Returns false if the query cannot be sent.
  private func lookUp(
    _ branch: PostgresBranch, on link: ReconnectingConnection, _ finish: @escaping ([Int64: [Int64]]?) -> Void
  ) -> Bool {
    let numbers = inFlight.filter { $0.state != .waiting }.map(\.number)
    let (stored, receipts) = (branch.stored(numbers), branch.receipts(of: numbers))
    let request = PostgresRequest(segment: stored.segment + receipts.segment) {
      results -> [Int64: [Int64]]? in
      guard results.count == 2, let stored = stored.read([results[0]]),
        let tickets = receipts.read([results[1]])
      else { return nil }
      return Dictionary(uniqueKeysWithValues: stored.map { ($0, tickets[$0] ?? []) })
    }
    return link.send(request) { answer in
      if case .done(let found) = answer { finish(found) } else { finish(nil) }
    }
  }

  /// Reports transactions as committed in order, up to the first one that is not in the database.
  private func reportStored(_ stored: [Int64: [Int64]]) {
    while let first = inFlight.first, first.state != .waiting, let tickets = stored[first.number] {
      reportCommitted(first.commit.withoutEffect(done: tickets, changed: nil))
    }
  }

  // MARK: - The end of an epoch

  /// Drops the staged changes and marks sent transactions as unknown, because the epoch has ended.
  func handleLoss() {
    for index in inFlight.indices where inFlight[index].state == .sent { inFlight[index].state = .unknown }
    if !Mutant.keepsCommitsAfterLeaseLoss.isActive { staged = BranchTransaction() }
    (sent, isResolving, refusal, retryAt) = (0, false, nil, nil)
    refusedDues = [:]
  }

  /// Reports the results of all transactions of the former epoch, after the branch has rejoined. Returns false if the
  /// query cannot be sent. Then, or if `finish` receives false, the caller repeats the call.
  func resolveFormerEpoch(
    _ former: PostgresBranch, on link: ReconnectingConnection, _ finish: @escaping (Bool) -> Void
  ) -> Bool {
    guard inFlight.contains(where: { $0.state != .waiting }) else {
      dropAll()
      finish(true)
      return true
    }
    return lookUp(former, on: link) { [weak self] stored in
      guard let self, let stored else { return finish(false) }
      self.reportStored(stored)
      self.dropAll()
      finish(true)
    }
  }

  /// Drops all transactions, and reports each as dropped.
  private func dropAll() {
    if Mutant.keepsCommitsAfterLeaseLoss.isActive {
      for index in inFlight.indices { inFlight[index].state = .waiting }
      return
    }
    let count = inFlight.count
    clearAll()
    for _ in 0..<count { context.report(.dropped) }
  }
}

extension BranchTransaction {
  /// True if the commit delays any customer.
  var postpones: Bool { delayedCount > 0 }
}
