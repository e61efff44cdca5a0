// Adapter from the shared database to the store of a branch's queue. It translates the events of the database into
// events of the queue and news of the branch, in order.
// Invariants: after `.branchLost` no result of an earlier transaction is reported, and no earlier query is answered.
// This adapter stores the payload of a customer while the branch owns the customer.

import BankModel
import Posix
import PostgresStore
import QueueCore
import Time

final class SharedStore: BranchStore {
  private let books: SharedBooks
  private(set) var services: ServiceDirectory
  private var identity: BranchIdentity
  private var isDraining: Bool
  /// The day on which the queue was opened. Another day starts only after the bank has ended this day.
  private let day: BusinessDay
  private let language: Language
  /// The present day, as last reported.
  private var today: BusinessDay
  /// True if this branch was asked to drain the bank, even before the database has confirmed it.
  private var asksToDrain = false
  private var events: [QueueEvent] = []
  private var news: [BranchNews] = []
  /// Transactions in flight, the oldest first: true if the transaction contained changes and was sent.
  private var underway: [Bool] = []
  /// True while reported results still belong to transactions before the loss.
  private var isForgetting = false
  /// True from the loss of the branch's customers until the queue has received the event. Commits that the queue
  /// makes before the event belong to the ended epoch and are dropped.
  private var isLossUnheard = false
  /// Refusal of a commit that the queue has not received yet, and the number of events that precede it.
  private var refusal: (error: StoreError, behind: Int)?
  /// Tickets of unanswered requests.
  private var asked: [RequestNumber: TicketNumber] = [:]
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
    _ books: SharedBooks, _ opening: SharedOpening, name: String, in language: Language = .english,
    after early: [SharedHappening] = []
  ) {
    (self.books, self.language) = (books, language)
    services = opening.services
    (isDraining, day, today) = (opening.isDraining, opening.day, opening.day)
    identity = BranchIdentity(opening.branch, name: name)
    // Other branches are draining the bank. This branch drains as well, and closes with them.
    if isDraining { news.append(.draining) }
    for happening in early { hear(happening) }
  }

  // MARK: - The queue's store

  var hasStagedChanges: Bool { books.hasStaged || !underway.isEmpty }

  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { payloads[ticket] }

  func stage(_ change: StoreChange) throws(StoreError) {
    switch change {
    case .finish(let customer, _, _), .postpone(let customer, _), .bury(let customer):
      if !payloads.isEmpty { payloads[customer.ticket] = nil }
    case .released(let ticket): return released.append(ticket)
    default: break
    }
    books.stage(change)
  }

  func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    guard !isLossUnheard, refusal == nil else {
      self.books.forgetStaged()
      return .underway
    }
    let isThere = self.books.hasStaged
    if !isThere, underway.isEmpty { return .onDisk }
    underway.append(isThere)
    if isThere { self.books.commit() }
    return .underway
  }

  func ask(_ question: StoreQuestion) throws(StoreError) -> QueueEvent? {
    guard case .page(let line, _, let limit) = question else {
      preconditionFailure("a branch requests pages and forwards all other questions")
    }
    books.claim(line, limit: limit)
    return nil
  }

  func takeResult() throws(StoreError) -> QueueEvent? {
    hearAll()
    // Events before the refusal are delivered first, so that a committed transaction is not treated as refused.
    if let refusal, refusal.behind == 0 {
      self.refusal = nil
      throw refusal.error
    }
    guard !events.isEmpty else { return nil }
    let event = events.removeFirst()
    refusal?.behind -= 1
    // The queue drops its staged changes at this event, and so does the store.
    if case .branchLost = event {
      isLossUnheard = false
      books.forgetStaged()
    }
    return event
  }

  var nextResult: MonotonicTime? {
    events.isEmpty && news.isEmpty ? books.nextDeadline : MonotonicTime(nanoseconds: 0)
  }

  func rollBack() {
    underway.removeAll()
    books.forgetStaged()
  }

  // MARK: - The branch

  func takeNews() -> BranchNews? {
    hearAll()
    return news.isEmpty ? nil : news.removeFirst()
  }

  func takeIn(_ customers: IntakeRequest, for request: RequestNumber) {
    books.takeIn(request, customers)
    if Kernel.makes("tellsTicketsTooEarly") {
      let count = TicketNumber(customers.orders.count)
      let tickets = IssuedTickets(day: 1, first: 1 << 20, last: 1 << 20 + count - 1)
      news.append(.answered(request, .issued(tickets, known: [])))
    }
  }

  func perform(_ order: OperatorOrder, for request: RequestNumber) {
    switch order {
    case .cancel(let ticket):
      asked[request] = ticket
      books.cancel(request, ticket)
    case .requeue(let ticket):
      asked[request] = ticket
      books.requeue(request, ticket)
    case .requeueDead: books.requeueDead(request)
    }
  }

  func note(windows: Int64, oldest: WallTime?) { books.note(windows: Int(windows), oldest: oldest) }
  func keepPaused(_ services: [Service], for request: RequestNumber) { books.keepPaused(request, services) }
  func drainBank(for request: RequestNumber) {
    // Set at once, because the branch may leave before the database confirms the drain.
    asksToDrain = true
    books.drainDay(request)
  }

  func leave() {
    guard !isLeaving else { return }
    isLeaving = true
    // A day that started after the request must not be ended.
    guard isDraining || asksToDrain && today == day else { return leaveNow() }
    closing = .max
    books.endDay(.max, today)
  }

  private func leaveNow() {
    books.leave(drains: isDraining || asksToDrain) { [weak self] in
      // The last poll has just reported the state of the bank.
      self?.hearAll()
      self?.news.append(.left)
    }
  }

  /// The resulting events are delivered in the next iteration; ``nextResult`` prevents the loop from sleeping.
  func endTurn() {
    books.released(released)
    released.removeAll(keepingCapacity: true)
    books.endTurn()
    hearAll()
  }

  // MARK: - Events of the database

  private func hearAll() { while let happening = books.takeHappening() { hear(happening) } }

  private func hear(_ happening: SharedHappening) {
    switch happening {
    case .refused(let failure):
      news.append(
        .failed(.failed(path: "the shared database", detail: Remark(quoting: failure.message(in: language)))))
    case .interrupted(let error):
      news.append(.interrupted(Remark(quoting: error.message(in: language))))
    case .joined(let opening):
      isForgetting = false
      services = opening.services
      identity = BranchIdentity(opening.branch, name: identity.name)
      news.append(.joined(identity))
      hear(draining: opening.isDraining, on: opening.day)
    case .leaseHolds(let end): events.append(.leaseHolds(until: end))
    case .lost(let loss): lose(loss)
    case .committed(let withoutEffect): settle(withoutEffect)
    case .dropped: break
    case .commitRefused(let error): refuse(error)
    case .page(let line, let page):
      for one in page { payloads[one.customer.ticket] = one.payload }
      events.append(.pageLoaded(line, page.map(\.customer)))
    case .mayWait(let line): events.append(.somebodyMayWait(line))
    case .takenOut(let ticket):
      payloads[ticket] = nil
      events.append(.takenOut(ticket))
    case .answered(let request, let answer): hear(answer, to: request)
    case .releases(let owed): news.append(.releases(owed))
    case .numbers(let numbers): news.append(.numbers(numbers))
    case .looked(let askedAt): news.append(.looked(askedAt: askedAt))
    case .draining(let drains): hear(draining: drains, on: today)
    case .dayBegan(let day, _): hear(draining: isDraining, on: day)
    case .services(let directory): services = directory
    case .known(let mark): news.append(.known(mark))
    case .older(let books): news.append(.older(books))
    case .forgotten(let commits): news.append(.forgotten(commits: commits))
    }
  }

  /// Handles a drain, or the end of the day on which this branch was opened. Both may have happened during an outage.
  private func hear(draining drains: Bool, on day: BusinessDay) {
    defer { (isDraining, today) = (drains, day) }
    guard !Kernel.makes("isDeafToTheDrain") else { return }
    if drains, !isDraining { news.append(.draining) }
    if day != self.day, today == self.day { news.append(.dayEnded) }
  }

  private func lose(_ loss: SharedLoss) {
    events.removeAll()
    refusal = nil
    events.append(.branchLost)
    news.append(.lost(Remark(quoting: loss.words)))
    underway.removeAll()
    payloads.removeAll()
    (isForgetting, isLossUnheard) = (true, true)
  }

  /// Reports the oldest transaction as committed, and all empty transactions that follow it.
  private func settle(_ withoutEffect: [TicketNumber]) {
    guard !isForgetting else { return }
    if !withoutEffect.isEmpty { events.append(.withoutEffect(withoutEffect)) }
    underway.removeFirst()
    events.append(.committed)
    while underway.first == false {
      underway.removeFirst()
      events.append(.committed)
    }
  }

  private func refuse(_ error: StoreError) {
    guard !isForgetting else { return }
    // The queue stages all its changes again.
    underway.removeAll()
    refusal = (error, events.count)
  }

  private func hear(_ answer: SharedAnswer, to request: RequestNumber) {
    guard request != closing else {
      closing = nil
      if case .refused(let error) = answer { news.append(.dayNotEnded(error)) }
      return leaveNow()
    }
    let ticket = asked.removeValue(forKey: request) ?? 0
    let said: BranchAnswer
    switch answer {
    case .issued(let tickets):
      said = .issued(
        tickets.new.first.map { first in
          IssuedTickets(day: first.day, first: first.first, last: tickets.new.last?.last ?? first.last)
        }, known: tickets.known)
    case .done: said = .queue(.done)
    case .requeued(let count):
      let all = (revived.removeValue(forKey: request) ?? 0) + count
      if count >= 1_000 {
        revived[request] = all
        return books.requeueDead(request)
      }
      said = .queue(.requeued(all))
    case .noSuchTicket: said = .queue(.refused(.noSuchTicket(ticket)))
    case .wrongState(let state): said = .queue(.refused(.wrongState(ticket, state)))
    case .keyConflict(let key): said = .keyConflict(key)
    case .draining: said = .queue(.refused(.draining))
    case .notFinished: said = .queue(.refused(.draining))
    case .refused(let error): said = .failed(error)
    }
    news.append(.answered(request, said))
  }
}

extension BranchIdentity {
  init(_ branch: PostgresBranch, name: String) {
    self.init(number: branch.id, name: name, epoch: branch.epoch)
  }
}

extension SharedLoss {
  /// Reason of the loss, as in the log.
  var words: String {
    switch self {
    case .fenced: "another branch, or a restart of this one, has ended its epoch"
    case .leaseRanOut: "the lease could not be renewed in time"
    case .booksReplaced: "the database is a copy without some of its transactions"
    }
  }
}
