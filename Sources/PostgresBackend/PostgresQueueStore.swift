// Adapter from the shared database to the store of a branch's queue. It translates the events of the database into
// events of the queue and news of the branch, in order.
// Invariants: after `.claimsLost` no result of an earlier transaction is reported, and no earlier query is answered.

import BankModel
import Posix
import PostgresStore
import QueueCore
import Time

/// Store of a branch's queue in the shared database.
final class PostgresQueueStore: SharedQueueStore {
  private let store: SharedStore
  private(set) var services: ServiceDirectory
  /// Name, number and epoch of the branch.
  private var identity: BranchIdentity
  private var isDraining: Bool
  /// The day on which the queue was opened.
  private let day: BusinessDay
  private let language: Language
  /// The present day, as last reported.
  private var today: BusinessDay
  /// True if this branch was asked to drain the bank, even before the database has confirmed it.
  private var wasAskedToDrain = false
  /// Events for the queue that were not taken yet.
  private var events: [QueueEvent] = []
  /// News of the branch that were not taken yet.
  private var storeEvents: [SharedStoreEvent] = []
  /// Transactions in flight, the oldest first: true if the transaction contained changes and was sent.
  private var underway: [Bool] = []
  /// True while reported results still belong to transactions before the loss.
  private var isDiscardingResults = false
  /// True from the loss of the branch's customers until the queue has taken `.claimsLost`. Commits that the queue makes
  /// before that belong to the ended epoch and are dropped.
  private var isLossUndelivered = false
  /// Refusal of a commit that the queue has not received yet, and the number of events that precede it.
  private var refusal: (error: StoreError, behind: Int)?
  /// Tickets of unanswered operator commands.
  private var ticketsOfRequests: [RequestNumber: TicketNumber] = [:]
  /// Number of dead letters that each unfinished request has requeued so far.
  private var revived: [RequestNumber: Int64] = [:]
  /// Payloads of the customers that the branch owns.
  private var payloads: [TicketNumber: [UInt8]] = [:]
  /// Tickets whose reservations the stock has released, and that were not reported to the database yet.
  private var released: [TicketOfDay] = []
  /// The request that ends the day before the branch leaves; nil for none.
  private var closing: RequestNumber?
  private var isLeaving = false

  /// - Parameter early: events that arrived before the join was complete.
  init(
    _ store: SharedStore, _ opening: JoinResult, name: String, in language: Language = .english,
    after early: [PostgresStoreEvent] = []
  ) {
    (self.store, self.language) = (store, language)
    services = opening.services
    (isDraining, day, today) = (opening.isDraining, opening.day, opening.day)
    identity = BranchIdentity(opening.branch, name: name)
    if isDraining { storeEvents.append(.draining) }
    for event in early { handle(event) }
  }

  // MARK: - The queue's store

  /// True if changes are staged, or transactions are in flight.
  var hasStagedChanges: Bool { store.hasStaged || !underway.isEmpty }

  /// Payload of a customer that the branch owns; nil for none.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { payloads[ticket] }

  /// Adds a change to the next transaction; keeps a stock release apart, for a request of its own.
  func stage(_ change: StoreChange) throws(StoreError) {
    switch change {
    case .finish(let customer, _, _), .postpone(let customer, _), .bury(let customer):
      if !payloads.isEmpty { payloads[customer.ticket] = nil }
    case .released(let ticket): return released.append(ticket)
    default: break
    }
    store.stage(change)
  }

  /// Sends the staged changes as one transaction, or drops them after a loss or a refusal. Returns `onDisk` only if
  /// nothing is staged or in flight.
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    guard !isLossUndelivered, refusal == nil else {
      self.store.dropStaged()
      return .underway
    }
    let isThere = self.store.hasStaged
    if !isThere, underway.isEmpty { return .onDisk }
    underway.append(isThere)
    if isThere { self.store.commit() }
    return .underway
  }

  /// Claims the next page of a line. Returns nil, because the page follows as a later event.
  func ask(_ question: StoreQuery) throws(StoreError) -> QueueEvent? {
    guard case .page(let line, _, let limit) = question else {
      preconditionFailure("a branch requests pages and forwards all other questions")
    }
    store.claim(line, limit: limit)
    return nil
  }

  /// The next event for the queue; nil for none. A refused commit is thrown after the events that preceded it.
  func takeResult() throws(StoreError) -> QueueEvent? {
    handleEvents()
    // Events before the refusal are delivered first, so that a committed transaction is not treated as refused.
    if let refusal, refusal.behind == 0 {
      self.refusal = nil
      throw refusal.error
    }
    guard !events.isEmpty else { return nil }
    let event = events.removeFirst()
    refusal?.behind -= 1
    // The queue drops its staged changes at this event, and so does the store.
    if case .claimsLost = event {
      isLossUndelivered = false
      store.dropStaged()
    }
    return event
  }

  /// Deadline of the store; in the past if an event is available.
  var nextResult: MonotonicTime? {
    events.isEmpty && storeEvents.isEmpty ? store.nextDeadline : MonotonicTime(nanoseconds: 0)
  }

  /// Drops the staged changes, and forgets the transactions in flight.
  func rollBack() {
    underway.removeAll()
    store.dropStaged()
  }

  // MARK: - The branch

  /// The next event for the coordinator, such as a reply or the loss of the lease; nil for none.
  func nextEvent() -> SharedStoreEvent? {
    handleEvents()
    return storeEvents.isEmpty ? nil : storeEvents.removeFirst()
  }

  func enqueueCustomers(_ customers: EnqueueRequest, for request: RequestNumber) {
    store.enqueueCustomers(request, customers)
    if Mutant.reportsTicketsBeforeCommit.isActive {
      let count = TicketNumber(customers.orders.count)
      let tickets = IssuedTickets(day: 1, first: 1 << 20, last: 1 << 20 + count - 1)
      storeEvents.append(.answered(request, .issued(tickets, known: [])))
    }
  }

  /// Executes an operator command on customers of any branch.
  func perform(_ order: OperatorCommand, for request: RequestNumber) {
    switch order {
    case .cancel(let ticket):
      ticketsOfRequests[request] = ticket
      store.cancel(request, ticket)
    case .requeue(let ticket):
      ticketsOfRequests[request] = ticket
      store.requeue(request, ticket)
    case .requeueDead: store.requeueDead(request)
    }
  }

  /// Sets the number of open windows and the issue time of the longest-waiting customer, for other branches.
  func note(windows: Int64, oldest: WallTime?) { store.note(windows: Int(windows), oldest: oldest) }
  /// Stores the paused services of this branch.
  func savePaused(_ services: [Service], for request: RequestNumber) { store.savePaused(request, services) }
  /// Starts the drain of the whole bank.
  func drainBank(for request: RequestNumber) {
    // Set at once, because the branch may leave before the database confirms the drain.
    wasAskedToDrain = true
    store.drainDay(request)
  }

  /// Ends the day if the bank drains, and then leaves the bank.
  func leave() {
    guard !isLeaving else { return }
    isLeaving = true
    // A day that started after the request for the drain must not be ended.
    guard isDraining || wasAskedToDrain && today == day else { return leaveNow() }
    closing = .max
    store.endDay(.max, today)
  }

  private func leaveNow() {
    store.leave(drains: isDraining || wasAskedToDrain) { [weak self] in
      // The last poll may have just reported the state of the bank.
      self?.handleEvents()
      self?.storeEvents.append(.left)
    }
  }

  /// Runs the store. The resulting events are delivered in the next iteration; ``nextResult`` prevents the loop from
  /// sleeping.
  func finishIteration() {
    store.released(released)
    released.removeAll(keepingCapacity: true)
    store.finishIteration()
    handleEvents()
  }

  // MARK: - Events of the database

  /// Handles all available events of the shared store.
  private func handleEvents() { while let event = store.takeEvent() { handle(event) } }

  /// Translates one event of the shared store into events for the queue and the coordinator.
  private func handle(_ event: PostgresStoreEvent) {
    switch event {
    case .refused(let failure):
      storeEvents.append(
        .failed(
          .failed(path: "the shared database", detail: MessageDetail(quoting: failure.message(in: language))))
      )
    case .interrupted(let error):
      storeEvents.append(.interrupted(MessageDetail(quoting: error.message(in: language))))
    case .joined(let opening):
      isDiscardingResults = false
      services = opening.services
      identity = BranchIdentity(opening.branch, name: identity.name)
      storeEvents.append(.joined(identity))
      handle(draining: opening.isDraining, on: opening.day)
    case .leaseExtended(let end): events.append(.leaseExtended(until: end))
    case .lost(let loss): handleLoss(loss)
    case .committed(let rejectedCompletions): reportCommitted(rejectedCompletions)
    case .dropped: break
    case .commitRefused(let error): refuse(error)
    case .page(let line, let page):
      for one in page { payloads[one.customer.ticket] = one.payload }
      events.append(.pageLoaded(line, page.map(\.customer)))
    case .lineMayHaveCustomers(let line): events.append(.lineMayHaveCustomers(line))
    case .cancelledElsewhere(let ticket):
      payloads[ticket] = nil
      events.append(.cancelledElsewhere(ticket))
    case .answered(let request, let answer): handle(answer, to: request)
    case .releases(let owed): storeEvents.append(.releases(owed))
    case .numbers(let numbers): storeEvents.append(.numbers(numbers))
    case .countersConfirmed(let askedAt): storeEvents.append(.countersConfirmed(askedAt: askedAt))
    case .draining(let drains): handle(draining: drains, on: today)
    case .dayBegan(let day, _): handle(draining: isDraining, on: day)
    case .services(let directory): services = directory
    case .known(let mark): storeEvents.append(.known(mark))
    case .older(let rollback): storeEvents.append(.older(rollback))
    case .transactionsLost(let commits): storeEvents.append(.transactionsLost(commits: commits))
    }
  }

  /// Handles a drain, or the end of the day on which this branch was opened. Both may have happened during an outage.
  private func handle(draining drains: Bool, on day: BusinessDay) {
    defer { (isDraining, today) = (drains, day) }
    guard !Mutant.ignoresBankDrain.isActive else { return }
    if drains, !isDraining { storeEvents.append(.draining) }
    if day != self.day, today == self.day { storeEvents.append(.dayEnded) }
  }

  /// Drops the transactions, payloads and queue events of the ended epoch, and reports the loss to the queue and the
  /// branch.
  private func handleLoss(_ loss: LeaseLoss) {
    events.removeAll()
    refusal = nil
    events.append(.claimsLost)
    storeEvents.append(.lost(MessageDetail(quoting: loss.message)))
    underway.removeAll()
    payloads.removeAll()
    (isDiscardingResults, isLossUndelivered) = (true, true)
  }

  /// Reports the oldest transaction as committed, without an effect on `rejectedCompletions`, and all empty
  /// transactions that follow it.
  private func reportCommitted(_ rejectedCompletions: [TicketNumber]) {
    guard !isDiscardingResults else { return }
    if !rejectedCompletions.isEmpty { events.append(.withoutEffect(rejectedCompletions)) }
    underway.removeFirst()
    events.append(.committed)
    while underway.first == false {
      underway.removeFirst()
      events.append(.committed)
    }
  }

  /// Keeps a refusal of a commit until the queue takes it.
  private func refuse(_ error: StoreError) {
    guard !isDiscardingResults else { return }
    // The queue stages all its changes again.
    underway.removeAll()
    refusal = (error, events.count)
  }

  /// Translates a reply of the shared store for the coordinator.
  private func handle(_ answer: StoreReply, to request: RequestNumber) {
    guard request != closing else {
      closing = nil
      if case .refused(let error) = answer { storeEvents.append(.dayEndFailed(error)) }
      return leaveNow()
    }
    let ticket = ticketsOfRequests.removeValue(forKey: request) ?? 0
    let reply: SharedStoreReply
    switch answer {
    case .issued(let tickets):
      reply = .issued(
        tickets.new.first.map { first in
          IssuedTickets(day: first.day, first: first.first, last: tickets.new.last?.last ?? first.last)
        }, known: tickets.known)
    case .done: reply = .queue(.done)
    case .requeued(let count):
      let all = (revived.removeValue(forKey: request) ?? 0) + count
      if count >= 1_000 {
        revived[request] = all
        return store.requeueDead(request)
      }
      reply = .queue(.requeued(all))
    case .noSuchTicket: reply = .queue(.refused(.noSuchTicket(ticket)))
    case .wrongState(let state): reply = .queue(.refused(.wrongState(ticket, state)))
    case .keyConflict(let key): reply = .keyConflict(key)
    case .draining: reply = .queue(.refused(.draining))
    case .notFinished: reply = .queue(.refused(.draining))
    case .refused(let error): reply = .failed(error)
    }
    storeEvents.append(.answered(request, reply))
  }
}

extension BranchIdentity {
  init(_ branch: PostgresBranch, name: String) {
    self.init(number: branch.id, name: name, epoch: branch.epoch)
  }
}

extension LeaseLoss {
  /// Reason of the loss, as in the log.
  var message: String {
    switch self {
    case .fenced: "another branch, or a restart of this one, has ended its epoch"
    case .leaseExpired: "the lease could not be renewed in time"
    case .databaseReplaced: "the database is a copy without some of its transactions"
    }
  }
}
