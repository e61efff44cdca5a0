// Interface between the queue and its store: changes and queries. Changes are staged in order and become durable
// together. A read includes the changes that were staged before.

import BankModel
import Time

/// One change to the stored queue.
public enum StoreChange: Sendable, Equatable {
  /// A new customer, waiting.
  case insert(Customer)
  /// A new customer that was ordered for later: delayed until `dueAt`.
  case insertDelayed(Customer, dueAt: WallTime)
  /// The customer leaves the queue and its receipt is written, with the result of the work. `from` is its former state:
  /// waiting, delayed or dead. While the store is short of space, the bytes of the result are dropped
  /// (``withoutBytes``), so that no receipt waits for space. The case is indirect, because it is large.
  indirect case finish(Customer, from: CustomerState, Receipt)
  /// A waiting customer's counters changed.
  case update(Customer)
  /// A waiting customer is delayed until a moment.
  case postpone(Customer, dueAt: WallTime)
  /// A waiting customer becomes a dead letter.
  case bury(Customer)
  /// A delayed customer or a dead letter waits again.
  case revive(Customer, from: CustomerState)
  /// An attempt that ended without a receipt from its worker: it failed, crashed, was lost or was recalled.
  case record(Attempt)
  /// A client's idempotency key belongs to these tickets. `request` is the digest of the request; nil if the client
  /// sent none.
  case remember(key: String, day: BusinessDay, first: TicketNumber, last: TicketNumber, request: Int64? = nil)
  /// All stored customers get cancelled receipts.
  case cancelAllCustomers(day: BusinessDay, at: WallTime)
  /// The stock has released its reservation for a cancelled ticket, or had none.
  case released(TicketOfDay)
  /// These customers, which are staged in the same transaction, have this payload. The payload is deleted when the
  /// customer gets its receipt.
  case attach(payload: [UInt8], to: ClosedRange<TicketNumber>)
}

extension StoreChange {
  /// True if the stock may still have a reservation for a customer that this change removes; see
  /// ``QueueReader/unreleased(after:limit:)``.
  public var mayLeaveReservation: Bool {
    switch self {
    case .finish(_, _, let receipt): receipt.outcome == .cancelled && receipt.service.usesStock
    case .cancelAllCustomers: true
    default: false
    }
  }
}

extension StoreChange {
  /// The same change without the bytes of the result; their number is kept.
  public var withoutBytes: StoreChange {
    guard case .finish(let customer, let state, var receipt) = self, let result = receipt.result else {
      return self
    }
    receipt.result = result.withoutBytes
    return .finish(customer, from: state, receipt)
  }
}

/// A ticket, unique over all days.
public struct TicketOfDay: Hashable, Sendable {
  /// Business day, from 1.
  public var day: BusinessDay
  /// Number of the ticket.
  public var ticket: TicketNumber
  public init(day: BusinessDay, ticket: TicketNumber) { (self.day, self.ticket) = (day, ticket) }
}

/// What the queue reads when a store is opened: the day counters and the first delayed customers.
public struct StoredQueue: Sendable, Equatable {
  /// Counters of the current day.
  public var dayCounters: DayCounters
  /// The first delayed customers, by due time: at most ``firstPage``.
  public var delayed: [DelayedCustomer]
  /// Maximum number of delayed customers that are read with the counters.
  public static let firstPage = 4_096
  public init(dayCounters: DayCounters, delayed: [DelayedCustomer]) {
    (self.dayCounters, self.delayed) = (dayCounters, delayed)
  }
}

/// A customer that is delayed until its next attempt, or until the time for which it was ordered.
public struct DelayedCustomer: Sendable, Equatable {
  /// The delayed customer.
  public var customer: Customer
  /// Time until which the customer is delayed.
  public var dueAt: WallTime
  public init(customer: Customer, dueAt: WallTime) { (self.customer, self.dueAt) = (customer, dueAt) }
  /// Position of the customer among all delayed customers.
  public var place: DuePosition { DuePosition(dueAt: dueAt, ticket: customer.ticket) }
}

/// Position of a delayed customer: by due time, then by number.
public struct DuePosition: Sendable, Comparable {
  /// Time until which the customer is delayed.
  public var dueAt: WallTime
  /// Number of the ticket.
  public var ticket: TicketNumber
  public init(dueAt: WallTime, ticket: TicketNumber) { (self.dueAt, self.ticket) = (dueAt, ticket) }

  /// A position before all customers.
  public static let first = DuePosition(dueAt: WallTime(milliseconds: .min), ticket: 0)
  /// A position after all customers.
  public static let last = DuePosition(dueAt: WallTime(milliseconds: .max), ticket: .max)

  /// Compares the due times, then the numbers.
  public static func < (left: DuePosition, right: DuePosition) -> Bool {
    left.dueAt == right.dueAt ? left.ticket < right.ticket : left.dueAt < right.dueAt
  }
}

/// A customer as it is stored.
public struct StoredCustomer: Sendable, Equatable {
  /// The stored customer.
  public var customer: Customer
  /// Waiting, delayed or dead.
  public var state: CustomerState
  /// Due time of a delayed customer; nil in other states.
  public var dueAt: WallTime?

  public init(customer: Customer, state: CustomerState, dueAt: WallTime?) {
    (self.customer, self.state, self.dueAt) = (customer, state, dueAt)
  }
}

/// A range of ticket numbers that one request got.
public struct IssuedTickets: Sendable, Equatable {
  /// Business day of the tickets.
  public var day: BusinessDay
  /// First and last ticket number.
  public var first, last: TicketNumber

  public init(day: BusinessDay, first: TicketNumber, last: TicketNumber) {
    (self.day, self.first, self.last) = (day, first, last)
  }
}

/// The first request that used an idempotency key.
public struct KeyedRequest: Sendable, Equatable {
  /// The tickets of the request.
  public var tickets: IssuedTickets
  /// Digest of the request; nil if it was not stored.
  public var request: Int64?
  public init(tickets: IssuedTickets, request: Int64?) { (self.tickets, self.request) = (tickets, request) }
  /// True if a request with this digest repeats the first request. An unknown digest matches every request.
  public func isRepeated(by other: Int64?) -> Bool { request == nil || other == nil || request == other }
}

/// Error of a store.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The disk, or the quota, is full. Nothing of the open transaction was stored; retry when there is space.
  case diskFull(detail: MessageDetail)
  /// Another process has the database open.
  case inUse(path: String)
  /// The database was written by a newer program.
  case newerSchema(path: String, found: Int64, known: Int64)
  /// The file is not a database, or is damaged. Nothing was overwritten.
  case damaged(path: String, detail: MessageDetail)
  /// An operation failed, for example because of permissions, a missing directory, or a failed write or fsync.
  /// Do not retry: after a failed fsync it is unknown which data is on disk.
  case failed(path: String, detail: MessageDetail)

  /// The error in English.
  public var description: String {
    switch self {
    case .diskFull(let detail): "the disk is full (\(detail)): nothing was changed; make room and try again"
    case .inUse(let path): "\(path) is in use by another process: stop the bank that has it open"
    case .newerSchema(let path, let found, let known):
      "\(path) has schema \(found) and this program knows up to \(known): use the newer program"
    case .damaged(let path, let detail):
      "\(path) is damaged (\(detail)): nothing was overwritten; restore a backup or move the file away"
    case .failed(let path, let detail): "\(path) could not be used: \(detail)"
    }
  }
}

/// Position in a list of customers, from which the next page continues.
public struct TicketCursor: Sendable, Equatable {
  /// The state that is listed.
  public var state: CustomerState
  /// The line that is listed.
  public var line: Line
  /// The last number of the previous page.
  public var after: TicketNumber

  public init(state: CustomerState, line: Line, after: TicketNumber) {
    (self.state, self.line, self.after) = (state, line, after)
  }
}

/// Result of an audit of a store. Numbers are counted from the rows, unless stated otherwise.
public struct StoreAudit: Sendable, Equatable {
  /// Number of tickets issued over all days, from the day counters.
  public var issued: Int64 = 0
  /// Number of receipts over all days: of customers that a worker has finished, and of cancelled ones.
  public var served: Int64 = 0, cancelled: Int64 = 0
  /// Number of customers of the current day, by state.
  public var waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0
  /// Number of issued tickets that are neither stored as a customer nor as a receipt.
  public var lost: Int64 = 0
  /// Number of tickets that are stored more than once, or were never issued.
  public var duplicated: Int64 = 0
  /// Sum of all debits less the sum of all credits, in won, plus the number of receipts whose transfer does not match
  /// their service, outcome and account.
  public var ledgerDifference: Int64 = 0
  /// Violated invariants. Of very many, only the first ones and the number of the others.
  public var messageDetails: [MessageDetail] = []
  /// ``messageDetails`` in English, one sentence each.
  public var problems: [String] { messageDetails.map(\.description) }
  public init() {}
}

/// Progress of a reset, in customers whose cancelled receipts are written.
public struct ResetProgress: Sendable, Equatable {
  /// Number of written receipts, and approximate number of all.
  public var done, total: Int64
  public init(done: Int64, total: Int64) { (self.done, self.total) = (done, total) }
}

extension QueueStore {
  /// Nil: this store empties the queue in one step.
  public var resetProgress: ResetProgress? { nil }
  /// Does nothing: this store empties the queue in one step.
  public func continueReset() throws(StoreError) {}
}

/// State of a transaction when the commit returns.
public enum CommitProgress: Sendable, Equatable {
  /// Everything is on disk.
  case onDisk
  /// The transaction is in flight; ``QueueStore/takeResult()`` reports when it is on disk.
  case underway
}

/// A query of the queue to its store.
public enum StoreQuery: Sendable, Equatable {
  /// The next waiting customers of a line with numbers above `after`, at most `limit`. A shared store claims the
  /// customers for the branch and ignores `after`.
  case page(Line, after: TicketNumber, limit: Int)
  /// The next delayed customers, by due time.
  case delayed(after: DuePosition, limit: Int)
  /// The stored customer of a ticket, for a request.
  case ticket(RequestNumber, TicketNumber)
  /// Dead letters for a request, at most `limit`.
  case dead(RequestNumber, limit: Int)
}

extension QueueStore {
  /// Nil: this store commits and answers synchronously.
  public func takeResult() throws(StoreError) -> QueueEvent? { nil }
  /// Does nothing: no transaction is ever in flight.
  public func awaitResults() {}
  /// True: this store answers after a disk access.
  public var canBlockForResults: Bool { true }
  /// Nil: results need no polling.
  public var nextResult: MonotonicTime? { nil }
}

extension QueueStore where Self: QueueReader {
  /// Answers the query synchronously.
  public func ask(_ question: StoreQuery) throws(StoreError) -> QueueEvent? { try answer(to: question) }
}

/// Store of the queue, for one process at a time. The results of commits and queries may be returned later, as events.
///
/// Changes are staged into one open transaction and become durable with ``commit(_:)``. Several transactions may be in
/// flight. They reach the disk in commit order, so that after a crash the stored ones are a prefix of this order. After
/// ``StoreError/diskFull(detail:)``, only transactions that were reported as on disk are stored, and the caller rolls
/// back before it stages further changes.
public protocol QueueStore: AnyObject {
  /// True if an answer may contain changes that are not on disk, because they are staged or in flight.
  var hasStagedChanges: Bool { get }

  /// All services that ever had a number in this store.
  var services: ServiceDirectory { get }

  /// Payload of a customer that the queue holds; nil if it has none, which differs from an empty payload.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]?

  /// Assigns a number to each of these services that has none. The numbers are permanent and durable on return. The
  /// caller must not have staged any changes.
  func assignNumbers(to names: [ServiceName]) throws(StoreError)

  /// Adds a change to the open transaction. A later call may report its error.
  func stage(_ change: StoreChange) throws(StoreError)

  /// Commits all staged changes with the day counters and a request that has arrived in part, synchronously or as a
  /// transaction in flight. A store commits synchronously only while nothing is in flight.
  ///
  /// - Parameter arriving: The request that has arrived in part. The numbers of its staged customers are not issued
  ///   yet: a later commit issues the numbers, or the customers are removed.
  /// - Returns: the state of the transaction: on disk, or in flight.
  @discardableResult
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress

  /// Sends a query. The answer includes every change staged before. Returns the answer, or nil if ``takeResult()``
  /// returns the answer later. Answers have the order of the queries.
  func ask(_ question: StoreQuery) throws(StoreError) -> QueueEvent?

  /// Returns the next result as an event, or nil if there is none yet: `.committed` if the oldest transaction in flight
  /// is on disk, the answer to a query, or an event of a shared store. A commit is reported at most once, in order; a
  /// branch that has lost its lease does not report it.
  func takeResult() throws(StoreError) -> QueueEvent?

  /// Blocks until the result of everything in flight is available. Allowed only if ``canBlockForResults``.
  func awaitResults()

  /// True if the caller may block until a result arrives. A disk answers soon; a network may not answer.
  var canBlockForResults: Bool { get }

  /// The moment at which the caller must check for results if no other event wakes it; nil for never.
  var nextResult: MonotonicTime? { get }

  /// Removes customers and keys of a request that will never be complete, at most `limit`. The removal is staged like
  /// a change. The caller repeats call and commit until ``QueueReader/hasUnissuedCustomers`` is false.
  func removeUnissuedCustomers(limit: Int) throws(StoreError)

  /// Does deferred work of the last commit that no client waits for. Call it after the replies were sent. If it is
  /// not called, the next change does the work first.
  func runDeferredWork() throws(StoreError)

  /// Progress of a staged reset (`.cancelAllCustomers`) that is not fully written; nil if there is none. A read, a
  /// commit or another change of customers completes the reset first.
  var resetProgress: ResetProgress? { get }

  /// Continues a reset by a part of the customers. Does nothing if there is no reset.
  func continueReset() throws(StoreError)

  /// Drops all changes that were not reported as on disk, whether staged or in flight.
  func rollBack()

  /// True if space is so short that new customers must be refused, so that the stored customers can be finished.
  var isLowOnSpace: Bool { get }

  /// Checks again for free space and updates ``isLowOnSpace``.
  func refreshDiskSpace()

  /// Sets the disk space that is reserved for each customer that draws on the stock: enough for the largest list of
  /// shortages that a recipe of this assortment can cause.
  func holdBack(forJuicesOf assortment: Assortment)

  /// True if there is space to change this number of customers in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool
}

extension QueueStore {
  /// Does nothing: this store reserves no space.
  public func holdBack(forJuicesOf assortment: Assortment) {}
}

extension QueueStore {
  /// Commits the day counters with all staged changes, if no request has arrived in part.
  @discardableResult
  public func commit(_ dayCounters: DayCounters) throws(StoreError) -> CommitProgress {
    try commit(dayCounters, arriving: nil)
  }
}

/// The bank's own local store, which answers queries synchronously.
public protocol LocalQueueStore: QueueStore, QueueReader {
  /// Reads the stored queue. A new store starts with day 1 at `now`.
  func load(now: WallTime) throws(StoreError) -> StoredQueue

  /// Increments the number of coordinator starts on this store, and returns it. The first start is 1. The number is
  /// durable on return. `now` is stored too: an attempt that started before `now` was started by an earlier
  /// coordinator.
  func recordStart(at now: WallTime) throws(StoreError) -> Int64
}
