// Owns how the books of a shared bank in PostgreSQL are the store of a branch's queue: what they say becomes events of the queue
// and news of the branch, in the order in which it was said. It decides nothing.
// Invariants: behind `.branchLost` nothing is told of what was handed over before; a question that was asked before it is never
// answered; and a customer's payload is here for as long as the customer is in hand.

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
  /// The day that the queue was opened on. Another one begins only when the bank has ended this one.
  private let day: BusinessDay
  private let language: Language
  /// The present day as it was heard last.
  private var today: BusinessDay
  /// Whether this branch was asked to end the bank's day; the books may not have said so yet.
  private var asksToDrain = false
  private var events: [QueueEvent] = []
  private var news: [BranchNews] = []
  /// Transactions that were handed over, the oldest first: whether there was anything in it that the books were told.
  private var underway: [Bool] = []
  /// Whether what is told of transactions is of those before the loss.
  private var isForgetting = false
  /// The lease was lost, and the queue was not told yet: what it hands over until then was done in an epoch that has ended.
  private var isLossUnheard = false
  /// The database has refused what was handed over, and the queue was not told yet: it is behind so many events.
  private var refusal: (error: StoreError, behind: Int)?
  /// Of which ticket a request is that is not answered yet.
  private var asked: [RequestNumber: TicketNumber] = [:]
  /// How many dead letters a request has brought back so far.
  private var revived: [RequestNumber: Int64] = [:]
  /// What customers in hand carry.
  private var payloads: [TicketNumber: [UInt8]] = [:]
  /// For which tickets the stock has given back what it held, and the books were not told yet.
  private var released: [TicketOfDay] = []
  /// The request with which the day is closed, before the branch leaves; nil where it is not.
  private var closing: RequestNumber?
  private var isLeaving = false

  /// - Parameter early: what the books have said before they were joined.
  init(
    _ books: SharedBooks, _ opening: SharedOpening, name: String, in language: Language = .english,
    after early: [SharedHappening] = []
  ) {
    (self.books, self.language) = (books, language)
    services = opening.services
    (isDraining, day, today) = (opening.isDraining, opening.day, opening.day)
    identity = BranchIdentity(opening.branch, name: name)
    // Others are ending the day: this branch helps, and closes with them.
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
      preconditionFailure("a branch asks for pages, and forwards the rest")
    }
    books.claim(line, limit: limit)
    return nil
  }

  func takeResult() throws(StoreError) -> QueueEvent? {
    hearAll()
    // What was said before it is heard before it: a transaction that is in the books is not taken for a refused one.
    if let refusal, refusal.behind == 0 {
      self.refusal = nil
      throw refusal.error
    }
    guard !events.isEmpty else { return nil }
    let event = events.removeFirst()
    refusal?.behind -= 1
    // The queue forgets what it has staged until now, and so do the books.
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
    // Whoever has asked for it may leave before it is heard of.
    asksToDrain = true
    books.drainDay(request)
  }

  func leave() {
    guard !isLeaving else { return }
    isLeaving = true
    // A day that has begun since this branch was asked is nobody's to end.
    guard isDraining || asksToDrain && today == day else { return leaveNow() }
    closing = .max
    books.endDay(.max, today)
  }

  private func leaveNow() {
    books.leave(drains: isDraining || asksToDrain) { [weak self] in
      // How the bank is then was told just before.
      self?.hearAll()
      self?.news.append(.left)
    }
  }

  /// What has come of it is heard in the next turn, for which nobody sleeps.
  func endTurn() {
    books.released(released)
    released.removeAll(keepingCapacity: true)
    books.endTurn()
    hearAll()
  }

  // MARK: - What the books say

  private func hearAll() { while let happening = books.takeHappening() { hear(happening) } }

  private func hear(_ happening: SharedHappening) {
    switch happening {
    case .refused(let failure):
      news.append(
        .failed(.failed(path: "the shared books", detail: Remark(quoting: failure.message(in: language)))))
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

  /// The bank drains, or has ended the day for which this branch was opened, perhaps when nothing was heard of it.
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

  /// The oldest transaction is in the books, and so is whatever was handed over behind it with nothing in it.
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
    // The queue stages everything anew.
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
  /// Why, for the log.
  var words: String {
    switch self {
    case .fenced: "another branch, or this one begun anew, has ended its epoch"
    case .leaseRanOut: "the lease could not be renewed in time"
    case .booksReplaced: "the books are a copy that has never had some of its transactions"
    }
  }
}
