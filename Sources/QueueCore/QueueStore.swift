// Owns the seam between the queue and whatever keeps it: what may change, and what may be asked.
// It knows no database. Changes are staged in order and become durable together; a page that is read
// sees everything that was staged before. All customers that are kept belong to the present business day.

import BankModel
import Time

/// One change to what is kept.
public enum StoreChange: Sendable, Equatable {
  /// A new customer, waiting.
  case insert(Customer)
  /// A new customer who has ordered for later: delayed until a moment.
  case insertDelayed(Customer, dueAt: WallTime)
  /// The customer leaves the queue and the receipt is written; `from` says among which customers it stood
  /// (waiting, delayed or dead). What the work left behind is written with it; of its bytes nothing is kept while the store
  /// is short of room (``withoutBytes``), so that nobody's receipt waits for them. It is five times as large as any other
  /// change, and goes through several hands: these pass a reference on.
  indirect case finish(Customer, from: CustomerState, Receipt)
  /// A waiting customer's counters changed.
  case update(Customer)
  /// A waiting customer is put off until a moment.
  case postpone(Customer, dueAt: WallTime)
  /// A waiting customer becomes a dead letter.
  case bury(Customer)
  /// A delayed customer or a dead letter waits again.
  case revive(Customer, from: CustomerState)
  /// An attempt that ended without a receipt.
  case record(Attempt)
  /// A client's idempotency key stands for these tickets, and for the request with this number; nil where the client did
  /// not say what it asks for.
  case remember(key: String, day: BusinessDay, first: TicketNumber, last: TicketNumber, request: Int64? = nil)
  /// Everyone who is still kept, of any state, leaves with a cancelled receipt.
  case cancelEveryone(day: BusinessDay, at: WallTime)
  /// The stock has given back what was put by for a cancelled ticket, or knows that nothing was.
  case released(TicketOfDay)
  /// Each of these customers, who are staged in the same transaction, carries this payload. It goes with the customer:
  /// whoever gets a receipt, or is taken out, leaves none. The queue itself never asks for it and never sees it.
  case attach(payload: [UInt8], to: ClosedRange<TicketNumber>)
}

extension StoreChange {
  /// Whether something may be put by in the stock for somebody whom this change sends away; see
  /// ``QueueStore/unreleased(after:limit:)``.
  public var leavesSomethingPutBy: Bool {
    switch self {
    case .finish(_, _, let receipt): receipt.outcome == .cancelled && receipt.service.drawsOnStock
    case .cancelEveryone: true
    default: false
    }
  }
}

extension StoreChange {
  /// The same without the bytes that the work left behind: how many there were is kept.
  public var withoutBytes: StoreChange {
    guard case .finish(let customer, let state, var receipt) = self, let result = receipt.result else {
      return self
    }
    receipt.result = result.withoutBytes
    return .finish(customer, from: state, receipt)
  }
}

/// One ticket over all days.
public struct TicketOfDay: Hashable, Sendable {
  /// The business day.
  public var day: BusinessDay
  /// The ticket's number.
  public var ticket: TicketNumber
  public init(day: BusinessDay, ticket: TicketNumber) { (self.day, self.ticket) = (day, ticket) }
}

/// What a store holds when it is opened.
public struct StoredQueue: Sendable, Equatable {
  /// The numbers of the present day.
  public var books: Books
  /// The first of those who are delayed, in the order of their places: all of them, or ``firstPage``.
  public var delayed: [DelayedCustomer]
  /// As many of them are read with the books.
  public static let firstPage = 4_096
  public init(books: Books, delayed: [DelayedCustomer]) { (self.books, self.delayed) = (books, delayed) }
}

/// A customer who waits for a moment: that of the next attempt, or the one for which it was ordered.
public struct DelayedCustomer: Sendable, Equatable {
  /// Who.
  public var customer: Customer
  /// Until when.
  public var dueAt: WallTime
  public init(customer: Customer, dueAt: WallTime) { (self.customer, self.dueAt) = (customer, dueAt) }
  /// Where it stands among the others.
  public var place: DuePlace { DuePlace(dueAt: dueAt, ticket: customer.ticket) }
}

/// Where a delayed customer stands among the others: who is due earlier comes first, then who has the lower number.
public struct DuePlace: Sendable, Comparable {
  /// Until when.
  public var dueAt: WallTime
  /// The number.
  public var ticket: TicketNumber
  public init(dueAt: WallTime, ticket: TicketNumber) { (self.dueAt, self.ticket) = (dueAt, ticket) }

  /// Before everybody.
  public static let first = DuePlace(dueAt: WallTime(milliseconds: .min), ticket: 0)
  /// Behind everybody.
  public static let last = DuePlace(dueAt: WallTime(milliseconds: .max), ticket: .max)

  /// Who is due earlier comes first.
  public static func < (left: DuePlace, right: DuePlace) -> Bool {
    left.dueAt == right.dueAt ? left.ticket < right.ticket : left.dueAt < right.dueAt
  }
}

/// A customer as it was found in the store.
public struct StoredCustomer: Sendable, Equatable {
  /// Who.
  public var customer: Customer
  /// Waiting, delayed or dead.
  public var state: CustomerState
  /// Until when, where the customer is delayed.
  public var dueAt: WallTime?

  public init(customer: Customer, state: CustomerState, dueAt: WallTime?) {
    (self.customer, self.state, self.dueAt) = (customer, state, dueAt)
  }
}

/// The tickets that an idempotency key stands for.
public struct IssuedTickets: Sendable, Equatable {
  /// The business day of these tickets.
  public var day: BusinessDay
  /// The first number, and the last.
  public var first, last: TicketNumber

  public init(day: BusinessDay, first: TicketNumber, last: TicketNumber) {
    (self.day, self.first, self.last) = (day, first, last)
  }
}

/// What an idempotency key stands for.
public struct KeyedRequest: Sendable, Equatable {
  /// The tickets of the first time.
  public var tickets: IssuedTickets
  /// The number of the request; nil where it was not written down.
  public var request: Int64?
  public init(tickets: IssuedTickets, request: Int64?) { (self.tickets, self.request) = (tickets, request) }
  /// Whether a request with this number is a repetition of it. What is not known is not held against anybody.
  public func isRepeated(by other: Int64?) -> Bool { request == nil || other == nil || request == other }
}

/// What a store could not do.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The disk, or the quota, is full. Nothing of the open transaction was kept; try again when there is room.
  case diskFull(detail: Remark)
  /// Another process has the database open.
  case inUse(path: String)
  /// The database was written by a newer program.
  case newerSchema(path: String, found: Int64, known: Int64)
  /// The database is not one, or is damaged. Nothing was overwritten.
  case damaged(path: String, detail: Remark)
  /// The system refused: permissions, a missing directory, a failed write or fsync. Not to be retried:
  /// after a failed fsync nobody knows what is on disk.
  case failed(path: String, detail: Remark)

  /// What failed, on what, why and what to do, in English.
  public var description: String {
    switch self {
    case .diskFull(let detail): "the disk is full (\(detail)): nothing was changed; make room and try again"
    case .inUse(let path): "\(path) is in use by another process: stop the bank that has it open"
    case .newerSchema(let path, let found, let known):
      "\(path) has schema \(found) and this program knows up to \(known): use the newer program"
    case .damaged(let path, let detail):
      "\(path) is damaged (\(detail)): nothing was overwritten; restore a copy, or move the file aside"
    case .failed(let path, let detail): "\(path) could not be used: \(detail)"
    }
  }
}

/// Where a list of kept customers goes on.
public struct TicketCursor: Sendable, Equatable {
  /// The state that is listed.
  public var state: CustomerState
  /// The line that is listed.
  public var line: Line
  /// The last number that was seen.
  public var after: TicketNumber

  public init(state: CustomerState, line: Line, after: TicketNumber) {
    (self.state, self.line, self.after) = (state, line, after)
  }
}

/// What an audit of a store found; every number is counted from the rows, not read from the books.
public struct StoreAudit: Sendable, Equatable {
  /// Tickets issued over all days, as the books of the days say.
  public var issued: Int64 = 0
  /// Receipts with this outcome over all days.
  public var served: Int64 = 0, cancelled: Int64 = 0
  /// Rows of customers of the present day, by state.
  public var waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0
  /// Tickets that were issued and stand nowhere.
  public var lost: Int64 = 0
  /// Tickets that stand in more than one place, or were never issued.
  public var duplicated: Int64 = 0
  /// The sum of all debits less the sum of all credits, in won; and receipts whose transfer is not their own.
  public var ledgerDifference: Int64 = 0
  /// Everything that is not as promised.
  public var remarks: [Remark] = []
  /// Everything that is not as promised, a sentence each, in English.
  public var problems: [String] { remarks.map(\.description) }
  public init() {}
}

/// How many of those who are cancelled by a reset have their receipts.
public struct EmptyingProgress: Sendable, Equatable {
  /// So many, of about so many.
  public var done, total: Int64
  public init(done: Int64, total: Int64) { (self.done, self.total) = (done, total) }
}

extension QueueStore {
  /// Nothing: such a store empties the queue in one stroke.
  public var emptying: EmptyingProgress? { nil }
  /// Nothing.
  public func emptyFurther() throws(StoreError) {}
}

/// How far a transaction has come when the store returns from its commit.
public enum CommitProgress: Sendable, Equatable {
  /// Everything is on disk.
  case onDisk
  /// It was handed over and is on its way; ``QueueStore/takeResult()`` tells when it has come to the disk.
  case underway
}

/// What the queue wants to know of its store.
public enum StoreQuestion: Sendable, Equatable {
  /// The next waiting customers of a line, by number, beginning behind one, at most so many. Of books that are shared the
  /// asker has them from then on, and they need not begin there.
  case page(Line, after: TicketNumber, limit: Int)
  /// The next delayed customers by their places.
  case delayed(after: DuePlace, limit: Int)
  /// What is known of a ticket for which a request asks.
  case ticket(RequestNumber, TicketNumber)
  /// Dead letters for a request, at most so many.
  case dead(RequestNumber, limit: Int)
}

extension QueueStore {
  /// Nothing is ever on its way to a store that answers at once.
  public func takeResult() throws(StoreError) -> QueueEvent? { nil }
  /// There is nothing to wait for.
  public func awaitResults() {}
  /// A disk answers soon.
  public var canBeAwaited: Bool { true }
  /// There is nothing to look for.
  public var nextResult: MonotonicTime? { nil }
}

extension QueueStore where Self: QueueReading {
  /// What can be read is answered at once.
  public func ask(_ question: StoreQuestion) throws(StoreError) -> QueueEvent? { try answer(to: question) }
}

/// Keeps the queue. One user at a time. A commit and a question are requests whose results may come later, as events.
///
/// Changes are staged into one open transaction and become durable with ``commit(_:)``. Several transactions may be on their
/// way: they come to the disk in the order in which they were handed over, and after a crash any beginning of that order is
/// kept. After an error nothing is kept that was not said to be on disk, neither what was staged nor what was on its way, and
/// nothing is staged any more.
public protocol QueueStore: AnyObject {
  /// Whether an answer may show what is not on disk: something was staged since the last commit, or is on its way.
  var hasStagedChanges: Bool { get }

  /// Every service that ever had a number here.
  var services: ServiceDirectory { get }

  /// What a customer carries whom the queue has in hand; nil for nothing, which is not the same as a payload of no bytes.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]?

  /// Gives a number to each of these services that has none: durable when it returns. A number is given once, and none is
  /// ever taken back. Nothing may be staged.
  func giveNumbers(to names: [ServiceName]) throws(StoreError)

  /// Adds a change to the open transaction. What is wrong with it may only be found out by a later call.
  func stage(_ change: StoreChange) throws(StoreError)

  /// Saves the books with everything that was staged: at once, or by handing it over. A store answers at once only while
  /// nothing is on its way.
  ///
  /// - Parameter arriving: The request that is half taken in: whoever was staged under its numbers is nobody's yet, and
  ///   comes into force with later books or never. Without one such a row is damage, and the audit says so.
  /// - Returns: whether it is on disk, or on its way there.
  @discardableResult
  func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress

  /// Asks something. The answer shows everything that was staged before: at once, or, where it is nil, it comes later by
  /// ``takeResult()``. Questions are answered in the order in which they were asked.
  func ask(_ question: StoreQuestion) throws(StoreError) -> QueueEvent?

  /// The next of what has come to pass: that the oldest transaction on its way is on disk (`.committed`), which is said once of
  /// each and in the order in which they were handed over, or what was asked for; nil where there is nothing to say yet.
  func takeResult() throws(StoreError) -> QueueEvent?

  /// Returns when the result of everything that is on its way can be taken. Only where ``canBeAwaited``.
  func awaitResults()

  /// Whether it may be waited for while nobody else is heard: a disk may, a network may not.
  var canBeAwaited: Bool { get }

  /// When the next result is to be looked for, as far as nothing else wakes whoever waits for it; nil for never.
  var nextResult: MonotonicTime? { get }

  /// Takes out customers and keys of a request that will never be whole; at most so many. Staged as a change is. It is
  /// to be called until there are none.
  func withdrawArrivals(limit: Int) throws(StoreError)

  /// Does what the last commit has put off, for which nobody who waits for it need wait: once the replies have left.
  /// Whoever never calls this has it done before the next change.
  func tidyUp() throws(StoreError)

  /// How far the emptying of the queue has come that was staged (`.cancelEveryone`) and is not written yet; nil where
  /// there is none. It is a part of the open transaction: whoever reads, commits or stages another change of customers
  /// meanwhile has the rest of it done at once.
  var emptying: EmptyingProgress? { get }

  /// Goes on with the emptying, for a thousand customers or so. Nothing where there is none.
  func emptyFurther() throws(StoreError)

  /// Forgets everything that was not said to be on disk: what was staged, and what is on its way. Nothing of it is kept.
  func rollBack()

  /// Whether there is so little room that new customers are to be refused, so that those who are here can be finished.
  var isShort: Bool { get }

  /// Looks whether there is room again; ``isShort`` says what was found.
  func lookForRoom()

  /// What is held back for everyone who wants a juice follows what can be missing for the largest recipe of these.
  func holdBack(forJuicesOf assortment: Assortment)

  /// Whether there is room for changing so many customers in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool
}

extension QueueStore {
  /// A store that holds nothing back has nothing to do.
  public func holdBack(forJuicesOf assortment: Assortment) {}
}

extension QueueStore {
  /// Saves the books with everything that was staged, where no request is open.
  @discardableResult
  public func commit(_ books: Books) throws(StoreError) -> CommitProgress { try commit(books, arriving: nil) }
}

/// A store that can be read whenever somebody asks, because it is here: the bank's own.
public protocol LocalQueueStore: QueueStore, QueueReading {
  /// Reads what is kept. A new store begins with day 1 at `now`.
  func load(now: WallTime) throws(StoreError) -> StoredQueue

  /// Counts the starts of the coordinator on this store: durable when it returns, from 1.
  /// The moment is kept: what was begun before it was begun by another coordinator.
  func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64
}
