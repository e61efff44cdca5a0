// Queries that a branch answers without blocking, from the last events of the shared database. `SharedStoreCache`
// refuses all other queries: they are sent to a reader process, which may block; see `SharedStoreReader`.
// Invariant: no query blocks.

import BankModel
import QueueCore
import Time

/// Store of a branch, for the queries that the coordinator answers without a reader process.
final class SharedStoreCache: QueueReader {
  private let bank: SharedStoreSession

  init(_ bank: SharedStoreSession) { self.bank = bank }

  // Staged changes stay in the memory of the branch and appear in no answer.
  var hasStagedChanges: Bool { false }
  var services: ServiceDirectory { bank.store.services }
  var firstUnissuedTicket: TicketNumber? { nil }

  /// Always empty: the branch receives waiting customers by claims, not by reading pages of the store.
  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] { [] }
  /// Always empty: the branch receives delayed customers by claims.
  func delayed(after: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] { [] }
  /// Always 0, because no waiting customers are read from the store.
  func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 { 0 }

  /// Always nil: keys are looked up in the transaction that issues the tickets.
  func request(forKey key: String) throws(StoreError) -> KeyedRequest? { nil }

  /// Tickets whose reservations this branch's stock has to release, as of the last report of the database.
  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    let place = ticket.map { ($0.day, $0.ticket) } ?? (.min, .min)
    return Array(bank.releases.lazy.map(\.ticket).filter { ($0.day, $0.ticket) > place }.prefix(limit))
  }
  /// Issue time of such a ticket; nil if it is unknown.
  func issueTime(ofUnreleased ticket: TicketOfDay) throws(StoreError) -> WallTime? {
    bank.releases.first { $0.ticket == ticket }?.issuedAt
  }

  /// Dead letters of a service in all branches, as of the last report of the database.
  func countDead(of service: Service) throws(StoreError) -> Int64 { bank.counts(of: service).dead }
  /// Customers of all branches that were sent away (out of stock), as of the last report of the database.
  func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 { bank.numbers.all.sentAway }

  /// Payload of a customer that this branch has claimed.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { try bank.store.payload(of: ticket) }

  // MARK: - Queries for the reader

  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? { throw .elsewhere }
  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] { throw .elsewhere }
  func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 { throw .elsewhere }
  func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 { throw .elsewhere }
  func countCancelled(
    _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
  ) throws(StoreError) -> Int64 { throw .elsewhere }
  func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt] {
    throw .elsewhere
  }
  func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] { throw .elsewhere }
  func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? { throw .elsewhere }
  func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] { throw .elsewhere }
  func trialBalance() throws(StoreError) -> TrialBalance { throw .elsewhere }
  func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    throw .elsewhere
  }
  func audit() throws(StoreError) -> StoreAudit { throw .elsewhere }
}

extension StoreError {
  /// Error of a query that only a reader process answers.
  fileprivate static var elsewhere: StoreError {
    .failed(path: "the shared database", detail: MessageDetail(quoting: "only its reader answers this"))
  }
}
