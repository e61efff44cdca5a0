// Guarantees of every store about a service that draws on the stock: articles, shortages, and releases still
// owed. Each test runs against every kind of store.

import BankModel
import QueueCore
import Testing
import Time

extension ConformanceTests {
  private func juice(_ ticket: TicketNumber, _ name: String = "mango-kiwi") -> Customer {
    Customer(
      ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0,
      issuedAt: WallTime(milliseconds: 1_700_000_000_000), itemName: name)
  }

  private func receipt(_ customer: Customer, _ outcome: Outcome, _ shortages: [Shortage] = []) -> Receipt {
    Receipt(
      day: 1, ticket: customer.ticket, service: .juice, priority: .regular, outcome: outcome, window: nil,
      generation: 0, pid: 0, attempts: outcome.isFinishedByWorker ? 1 : 0, amount: 0, account: 0,
      issuedAt: customer.issuedAt, startedAt: nil, finishedAt: WallTime(milliseconds: 1_700_000_000_500),
      itemName: customer.itemName, shortages: shortages)
  }

  private func dayCounters(
    issued: Int64, waiting: Int64, served: Int64 = 0, cancelled: Int64 = 0, _ branch: StoreFixture
  )
    -> DayCounters
  {
    var dayCounters = branch.dayCounters
    dayCounters.issued = issued
    dayCounters.served = served
    dayCounters.cancelled = cancelled
    dayCounters.waiting[Line(service: .juice, priority: .regular)] = waiting
    dayCounters.servedByService[Service.juice.index] = served
    return dayCounters
  }

  @Test(
    "an article stays with its customer and is on the receipt, with any content",
    arguments: StoreKind.allCases)
  func article(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customer = juice(1, "망고\u{0}\u{1F95D} '\"; DROP TABLE customer")
    try branch.store.stage(.insert(customer))
    try branch.store.commit(dayCounters(issued: 1, waiting: 1, branch))
    #expect(try branch.store.find(1)?.customer == customer)
    #expect(try branch.store.page(of: customer.line, after: 0, limit: 5) == [customer])
    try branch.store.stage(.finish(customer, from: .waiting, receipt(customer, .served)))
    try branch.store.commit(dayCounters(issued: 1, waiting: 0, served: 1, branch))
    #expect(try branch.store.receipt(day: 1, ticket: 1)?.itemName == customer.itemName)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a shortage is on the receipt; it counts as served and moves no money",
    arguments: StoreKind.allCases)
  func shortages(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customer = juice(1)
    let missing = [
      Shortage(item: ItemID("kiwi"), needed: 1, available: 0),
      Shortage(item: ItemID("mango"), needed: 2, available: 1),
    ]
    try branch.store.stage(.insert(customer))
    try branch.store.stage(.finish(customer, from: .waiting, receipt(customer, .outOfStock, missing)))
    try branch.store.commit(dayCounters(issued: 1, waiting: 0, served: 1, branch))
    #expect(try branch.store.receipt(day: 1, ticket: 1)?.shortages == missing)
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 5).map(\.shortages) == [missing])
    #expect(try branch.store.receipts(of: .juice, after: 0, through: 1, limit: 5).map(\.ticket) == [1])
    #expect(try branch.store.receipts(of: .juice, after: 1, through: .max, limit: 5) == [])
    #expect(try branch.store.receipts(of: .juice, after: 0, through: 0, limit: 5) == [])
    #expect(try branch.store.receipts(of: .loan, after: 0, through: .max, limit: 5) == [])
    #expect(try branch.store.trialBalance().customers.transfers == 0)
    // Once, although two fruits were missing; and on this day alone.
    #expect(try branch.store.countOutOfStock(on: 1) == 1 && branch.store.countOutOfStock(on: 2) == 0)
    let audit = try branch.store.audit()
    #expect(audit.problems == [])
    #expect(audit.served == 1)
    #expect(try branch.store.unreleased(after: nil, limit: 5) == [])
  }

  @Test("a cancelled order leaves a note until the stock has taken it back", arguments: StoreKind.allCases)
  func releases(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for ticket in 1...4 as ClosedRange<TicketNumber> { try branch.store.stage(.insert(juice(ticket))) }
    try branch.store.commit(dayCounters(issued: 4, waiting: 4, branch))
    try branch.store.stage(.finish(juice(2), from: .waiting, receipt(juice(2), .cancelled)))
    #expect(try branch.store.unreleased(after: nil, limit: 5) == [TicketOfDay(day: 1, ticket: 2)])
    branch.store.rollBack()
    #expect(try branch.store.unreleased(after: nil, limit: 5) == [])
    try branch.store.stage(.finish(juice(2), from: .waiting, receipt(juice(2), .cancelled)))
    try branch.store.commit(dayCounters(issued: 4, waiting: 3, cancelled: 1, branch))
    try branch.store.stage(.cancelAllCustomers(day: 1, at: WallTime(milliseconds: 1_700_000_000_900)))
    #expect(
      try branch.store.unreleased(after: nil, limit: 3)
        == [1, 2, 3].map { TicketOfDay(day: 1, ticket: $0) })
    try branch.store.stage(.released(TicketOfDay(day: 1, ticket: 1)))
    #expect(
      try branch.store.unreleased(after: nil, limit: 9)
        == [2, 3, 4].map { TicketOfDay(day: 1, ticket: $0) })
    #expect(throws: StoreError.self) {
      try branch.store.stage(.released(TicketOfDay(day: 1, ticket: 1)))
    }
    #expect(try branch.store.unreleased(after: nil, limit: 9) == [TicketOfDay(day: 1, ticket: 2)])
  }

  @Test(
    "notes are read from a place on, so that none of them blocks the others",
    arguments: StoreKind.allCases)
  func releasesByPlace(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for ticket in 1...5 as ClosedRange<TicketNumber> { try branch.store.stage(.insert(juice(ticket))) }
    try branch.store.stage(.cancelAllCustomers(day: 1, at: WallTime(milliseconds: 1_700_000_000_900)))
    func tickets(after ticket: TicketNumber, limit: Int) throws -> [TicketNumber] {
      try branch.store.unreleased(after: TicketOfDay(day: 1, ticket: ticket), limit: limit).map(\.ticket)
    }
    #expect(try tickets(after: 0, limit: 2) == [1, 2])
    #expect(try tickets(after: 2, limit: 2) == [3, 4])
    #expect(try tickets(after: 5, limit: 2) == [])
    #expect(try branch.store.unreleased(after: TicketOfDay(day: 2, ticket: 0), limit: 2) == [])
    try branch.store.stage(.released(TicketOfDay(day: 1, ticket: 3)))
    #expect(try branch.store.isUnreleased(TicketOfDay(day: 1, ticket: 2)))
    #expect(try !branch.store.isUnreleased(TicketOfDay(day: 1, ticket: 3)))
    #expect(try !branch.store.isUnreleased(TicketOfDay(day: 1, ticket: 6)))
  }

  @Test("sums of the ledger are right beyond 64 bits", arguments: StoreKind.allCases)
  func wideSums(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for ticket in 1...30 as ClosedRange<TicketNumber> {
      let customer = Customer(
        ticket: ticket, service: .deposit, priority: .regular, amount: .max, account: 7,
        issuedAt: WallTime(milliseconds: 1))
      try branch.store.stage(.insert(customer))
      var receipt = receipt(customer, .served)
      (receipt.service, receipt.amount, receipt.account) = (.deposit, customer.amount, customer.account)
      receipt.postingRule = Service.deposit.postingRule
      try branch.store.stage(.finish(customer, from: .waiting, receipt))
    }
    let sum = WonSum(Won.max) * 30
    let balance = try branch.store.trialBalance()
    #expect(balance.cash.debit == sum && balance.customers.credit == sum && balance.difference == 0)
    let statement = try branch.store.statement(of: 7, limit: 3)
    #expect(statement.sums == LedgerSums(debit: 0, credit: sum, transfers: 30))
  }
}
