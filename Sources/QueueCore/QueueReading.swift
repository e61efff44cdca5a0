// Owns the questions that the books of the queue can be asked. It knows nothing of who keeps them, and changes nothing.
// Invariant: an answer shows what is staged as well, and what is on its way to the disk, so nobody is told of it while
// something is.

import BankModel
import Time

/// What is kept of the queue, to be read. Every call is synchronous.
public protocol QueueReading: AnyObject {
  /// Whether an answer may show what is not on disk: something was staged since the last commit, or is on its way.
  var hasStagedChanges: Bool { get }

  /// Every service that ever had a number here.
  var services: ServiceDirectory { get }

  /// The first number of customers who are kept and were never issued their numbers: of a request that is half taken in,
  /// or was never whole; nil where there are none.
  ///
  /// Nobody sees them. They come into force with the commit whose books have issued their numbers; until then these are
  /// not to be given to anybody else. What is on its way to the disk counts.
  var arrivingFrom: TicketNumber? { get }

  /// The next waiting customers of a line, by number, beginning behind `after`.
  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer]

  /// The next delayed customers by their places, beginning behind `after`; none who was never issued a number.
  func delayed(after: DuePlace, limit: Int) throws(StoreError) -> [DelayedCustomer]

  /// The customer with this number among those who wait, are delayed, or are dead letters.
  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer?

  /// What this customer of the present day carries, if it is one who waits, is delayed, or is a dead letter; nil for
  /// nothing, which is not the same as a payload of no bytes.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]?

  /// Customers of one state, line after line; nil begins. At most `limit`.
  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer]

  /// The customers of the present day in a range of numbers who wait or are delayed.
  func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64

  /// The dead letters of the present day in a range of numbers.
  func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64

  /// The dead letters of the present day who came for a service.
  func countDead(of service: Service) throws(StoreError) -> Int64

  /// Cancelled receipts of a day for tickets in a range of numbers. The cost is that of the day's receipts.
  func countCancelled(_ tickets: ClosedRange<TicketNumber>, on day: BusinessDay) throws(StoreError) -> Int64

  /// The receipts of a day that say out of stock.
  func countSentAway(on day: BusinessDay) throws(StoreError) -> Int64

  /// The waiting customers of a line whose numbers lie between two others, both exclusive.
  func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64

  /// What a key stands for. Keys are compared byte by byte: two spellings of one character are two keys.
  func request(forKey key: String) throws(StoreError) -> KeyedRequest?

  /// Receipts in the order of their commits, of one day or of all, behind a sequence number.
  ///
  /// A page is bounded by bytes as well: it ends with the receipt whose result makes it as long as
  /// ``Swift/Array/longestResults``. Whether there may be more, ``Swift/Array/mayGoOn(limit:)`` says of the page.
  func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt]

  /// Receipts of one service over all days, in the order of their commits, behind a sequence number and up to another. All
  /// between the two are looked at, whatever their service. A page ends early as one of all receipts does.
  func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt]

  /// Tickets for which something may still be put by in the stock, though they were cancelled: in the order of their days
  /// and numbers, beginning behind one; nil begins. At most `limit`.
  ///
  /// Every cancelled receipt of a service that draws on the stock adds its ticket, in its own transaction, because a
  /// worker that died may have put something by without telling anybody. `.released` takes it out again.
  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay]

  /// When such a ticket was issued, by which the stock knows its order; nil where nobody knows.
  func momentOfIssue(ofUnreleased ticket: TicketOfDay) throws(StoreError) -> WallTime?

  /// The receipt of one ticket.
  func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt?

  /// The attempts at one ticket that ended without a receipt, in order.
  func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt]

  /// The sums of the ledger over all days.
  func trialBalance() throws(StoreError) -> TrialBalance

  /// One customer's account over all days, with its last receipts, at most `limit`; without their results.
  func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement

  /// Checks everything that can be checked from what is kept and committed.
  func audit() throws(StoreError) -> StoreAudit
}

extension QueueReading {
  /// What the queue wants to know, as an event.
  public func answer(to question: StoreQuestion) throws(StoreError) -> QueueEvent {
    switch question {
    case .page(let line, let after, let limit):
      .pageLoaded(line, try page(of: line, after: after, limit: limit))
    case .delayed(let after, let limit): .delayedLoaded(try delayed(after: after, limit: limit))
    case .ticket(let request, let ticket): .found(request, ticket: ticket, try find(ticket))
    case .dead(let request, let limit):
      .deadLoaded(request, try customers(in: .dead, after: nil, limit: limit).map(\.customer))
    }
  }

  /// It was written down with the receipt.
  public func momentOfIssue(ofUnreleased ticket: TicketOfDay) throws(StoreError) -> WallTime? {
    try receipt(day: ticket.day, ticket: ticket.ticket)?.issuedAt
  }

  /// Whether something may still be put by in the stock for a ticket that was cancelled.
  public func isUnreleased(_ ticket: TicketOfDay) throws(StoreError) -> Bool {
    try unreleased(after: TicketOfDay(day: ticket.day, ticket: ticket.ticket - 1), limit: 1).first == ticket
  }

  /// All receipts behind a sequence number, page after page, with their results: for whoever has the memory for them.
  public func allReceipts(after sequence: Int64 = 0) throws(StoreError) -> [Receipt] {
    var all: [Receipt] = []
    while true {
      let page = try receipts(day: nil, after: all.last?.sequence ?? sequence, limit: .max)
      all += page
      if !page.mayGoOn(limit: .max) { return all }
    }
  }

  /// Whether customers are kept who were never issued their numbers.
  public var hasArrivals: Bool { arrivingFrom != nil }
}

extension [Receipt] {
  /// Bytes of results with which a page of receipts ends.
  public static var longestResults: Int { 1 << 20 }

  /// Bytes of the results of these receipts.
  public var resultBytes: Int { reduce(0) { $0 + ($1.result?.size ?? 0) } }

  /// Whether there may be more behind a page of receipts of which so many were asked for: it has as many, or ended early
  /// because of their results.
  public func mayGoOn(limit: Int) -> Bool { count >= limit || resultBytes >= Self.longestResults }
}
