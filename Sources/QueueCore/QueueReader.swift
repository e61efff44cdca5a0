// Read-only queries of a queue's store.
// Invariant: an answer includes changes that are staged or in flight. So the caller must not send it to a client while
// ``QueueReader/hasStagedChanges`` is true.

import BankModel
import Time

/// Queries of a stored queue. Calls are synchronous.
public protocol QueueReader: AnyObject {
  /// True if an answer may contain changes that are not on disk, because they are staged or in flight.
  var hasStagedChanges: Bool { get }

  /// All services that ever had a number in this store.
  var services: ServiceDirectory { get }

  /// The lowest number of a stored customer whose number was not issued, because its request has arrived in part or was
  /// never completed; nil if there is none.
  ///
  /// The customers become valid with the commit whose counters issue their numbers. Until then these numbers must not
  /// be issued to other customers. Customers in transactions in flight are included.
  var firstUnissuedTicket: TicketNumber? { get }

  /// The next waiting customers of a line with numbers above `after`, by number.
  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer]

  /// The next delayed customers after a position, by due time, without customers whose numbers were not issued.
  func delayed(after: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer]

  /// The waiting, delayed or dead customer with this number; nil if there is none.
  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer?

  /// Payload of a waiting, delayed or dead customer of the current day; nil if there is none, which differs from an
  /// empty payload.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]?

  /// Customers of one state, line after line, at most `limit`. If the cursor is nil, the list starts at its
  /// beginning.
  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer]

  /// Number of waiting or delayed customers of the current day in a range of tickets.
  func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64

  /// Number of dead letters of the current day in a range of tickets.
  func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64

  /// Number of dead letters of one service on the current day.
  func countDead(of service: Service) throws(StoreError) -> Int64

  /// Number of cancelled receipts of a day in a range of tickets.
  func countCancelled(_ tickets: ClosedRange<TicketNumber>, on day: BusinessDay) throws(StoreError) -> Int64

  /// Number of receipts of a day with the outcome out of stock.
  func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64

  /// Number of waiting customers of a line between two tickets, both exclusive.
  func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64

  /// The request that used an idempotency key; nil if there is none. Keys are compared as bytes, so two encodings of
  /// one character are two keys.
  func request(forKey key: String) throws(StoreError) -> KeyedRequest?

  /// Receipts in commit order after a sequence number, of one day or of all days.
  ///
  /// A page is also limited by bytes: it ends with the receipt whose result makes the page reach
  /// ``Swift/Array/maxResultBytes``. ``Swift/Array/mayHaveMore(limit:)`` of the page is true if there may be more
  /// receipts.
  func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt]

  /// Receipts of one service over all days, in commit order, after `sequence` and up to `last`. A page may end early
  /// because of the size of its results.
  func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt]

  /// Cancelled tickets for which the stock may still have reservations, by day and number, after `ticket`, at most
  /// `limit`. If `ticket` is nil, the list starts at its beginning.
  ///
  /// A cancelled receipt of a service that draws on the stock adds its ticket to the list, because a crashed worker may
  /// have made a reservation without reporting it. `.released` removes the ticket.
  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay]

  /// Issue time of a cancelled ticket whose stock order was not released, by which the stock identifies the order;
  /// nil if unknown.
  func issueTime(ofUnreleased ticket: TicketOfDay) throws(StoreError) -> WallTime?

  /// Receipt of a ticket with its result; nil if the ticket has no receipt.
  func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt?

  /// Attempts at one ticket that ended without a receipt from their worker, in order.
  func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt]

  /// Sums of the ledger over all days.
  func trialBalance() throws(StoreError) -> TrialBalance

  /// Account of one customer over all days, with its latest receipts, at most `limit`, without their results.
  func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement

  /// Verifies the invariants of the committed data.
  func audit() throws(StoreError) -> StoreAudit
}

extension QueueReader {
  /// Answers a query as an event of the queue.
  public func answer(to question: StoreQuery) throws(StoreError) -> QueueEvent {
    switch question {
    case .page(let line, let after, let limit):
      .pageLoaded(line, try page(of: line, after: after, limit: limit))
    case .delayed(let after, let limit): .delayedLoaded(try delayed(after: after, limit: limit))
    case .ticket(let request, let ticket): .found(request, ticket: ticket, try find(ticket))
    case .dead(let request, let limit):
      .deadLoaded(request, try customers(in: .dead, after: nil, limit: limit).map(\.customer))
    }
  }

  /// Default implementation: returns the issue time stored in the receipt.
  public func issueTime(ofUnreleased ticket: TicketOfDay) throws(StoreError) -> WallTime? {
    try receipt(day: ticket.day, ticket: ticket.ticket)?.issuedAt
  }

  /// True if the stock may still have a reservation for a cancelled ticket.
  public func isUnreleased(_ ticket: TicketOfDay) throws(StoreError) -> Bool {
    try unreleased(after: TicketOfDay(day: ticket.day, ticket: ticket.ticket - 1), limit: 1).first == ticket
  }

  /// All receipts after a sequence number, with their results. The caller needs memory for all of them.
  public func allReceipts(after sequence: Int64 = 0) throws(StoreError) -> [Receipt] {
    var all: [Receipt] = []
    while true {
      let page = try receipts(day: nil, after: all.last?.sequence ?? sequence, limit: .max)
      all += page
      if !page.mayHaveMore(limit: .max) { return all }
    }
  }

  /// True if customers are stored whose numbers were not issued.
  public var hasUnissuedCustomers: Bool { firstUnissuedTicket != nil }
}

extension [Receipt] {
  /// Number of result bytes at which a page of receipts ends.
  public static var maxResultBytes: Int { 1 << 20 }

  /// Total number of bytes of the results.
  public var resultBytes: Int { reduce(0) { $0 + ($1.result?.size ?? 0) } }

  /// True if more receipts may follow this page: it has `limit` receipts, or ended early because of the size of its
  /// results.
  public func mayHaveMore(limit: Int) -> Bool { count >= limit || resultBytes >= Self.maxResultBytes }
}
