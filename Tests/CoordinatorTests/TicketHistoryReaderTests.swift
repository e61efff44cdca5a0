// The history of one ticket, read from a database with concurrent commits.
import BankModel
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("The history of a ticket")
struct TicketHistoryReaderTests {
  /// A store in memory in which a commit follows the first question for a receipt.
  private final class BusyQueueReader: QueueReader {
    let store: MemoryStore
    var afterReceipt: (() throws(StoreError) -> Void)?

    init(_ store: MemoryStore) { self.store = store }

    func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
      let receipt = try store.receipt(day: day, ticket: ticket)
      let action = afterReceipt
      afterReceipt = nil
      try action?()
      return receipt
    }

    var hasStagedChanges: Bool { store.hasStagedChanges }
    var services: ServiceDirectory { store.services }
    var firstUnissuedTicket: TicketNumber? { store.firstUnissuedTicket }
    func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? { try store.find(ticket) }
    func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] {
      try store.attempts(day: day, ticket: ticket)
    }
    func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { try store.payload(of: ticket) }

    // A history needs none of the other questions.
    func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] { [] }
    func delayed(after: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] { [] }
    func customers(
      in state: CustomerState, after cursor: TicketCursor?, limit: Int
    ) throws(StoreError) -> [StoredCustomer] { [] }
    func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 { 0 }
    func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 { 0 }
    func countDead(of service: Service) throws(StoreError) -> Int64 { 0 }
    func countCancelled(
      _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
    ) throws(StoreError) -> Int64 { 0 }
    func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 { 0 }
    func countWaiting(
      in line: Line, after first: TicketNumber, below last: TicketNumber
    ) throws(StoreError) -> Int64 { 0 }
    func request(forKey key: String) throws(StoreError) -> KeyedRequest? { nil }
    func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt] { [] }
    func receipts(
      of service: Service, after sequence: Int64, through last: Int64, limit: Int
    ) throws(StoreError) -> [Receipt] { [] }
    func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] { [] }
    func trialBalance() throws(StoreError) -> TrialBalance { try store.trialBalance() }
    func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
      try store.statement(of: account, limit: limit)
    }
    func audit() throws(StoreError) -> StoreAudit { try store.audit() }
  }

  @Test("A ticket that is finished between the questions for its receipt and its customer is found")
  func finishedMeanwhile() throws {
    let store = MemoryStore()
    _ = try store.load(now: WallTime(milliseconds: 0))
    let customer = Customer(
      ticket: 1, service: .deposit, priority: .regular, amount: 5, account: 7,
      issuedAt: WallTime(milliseconds: 1))
    try store.stage(.insert(customer))
    let reading = BusyQueueReader(store)
    reading.afterReceipt = { () throws(StoreError) in
      let receipt = Receipt(
        day: 1, ticket: 1, service: .deposit, priority: .regular, outcome: .served,
        window: Window(service: .deposit, place: 1), generation: 1, pid: 9, attempts: 1, amount: 5,
        account: 7, issuedAt: customer.issuedAt, startedAt: WallTime(milliseconds: 2),
        finishedAt: WallTime(milliseconds: 3))
      try store.stage(.finish(customer, from: .waiting, receipt))
    }
    let archive = TicketHistoryReader(
      store: reading, bankID: BankID(number: 1, day: 1, ticket: 1), presentDay: 1, issued: 1)
    #expect(try archive.history(of: 1, day: nil).state == .done)
    #expect(try archive.history(of: 1, day: nil).state == .done, "and once more")
    #expect(throws: Failure.self) { try archive.history(of: 2, day: nil) }
  }
}
