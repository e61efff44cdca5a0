// Guarantees of every store about services: a number is given once, and never again to another.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  private static func names(_ texts: String...) throws -> [ServiceName] {
    try texts.map { try #require(ServiceName($0)) }
  }

  @Test("gives a number to each service once, over crashes", arguments: StoreKind.allCases)
  func numbers(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    #expect(branch.store.services == ServiceDirectory())
    let first = try Self.names("thumbs", "mail")
    try branch.store.assignNumbers(to: ServiceName.branch + first)
    #expect(branch.store.services.names == ServiceName.branch + first)
    try branch.crash()
    #expect(branch.store.services.names == ServiceName.branch + first)
    // A service that is not configured any more keeps its number, and comes back to it.
    let second = try Self.names("fax", "mail", "loan")
    try branch.store.assignNumbers(to: second)
    #expect(branch.store.services.names == ServiceName.branch + first + second.prefix(1))
    try branch.store.assignNumbers(to: first)
    try branch.crash()
    #expect(branch.store.services.names == ServiceName.branch + first + second.prefix(1))
    #expect(branch.dayCounters.servedByService == [0, 0, 0, 0, 0, 0] && branch.dayCounters.paused.count == 6)
  }

  @Test(
    "gives a thousand numbers, and keeps customers, receipts and pauses by them",
    arguments: StoreKind.allCases)
  func manyServices(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let names = try (1...1_000).map { try #require(ServiceName("service-\($0)")) }
    try branch.store.assignNumbers(to: names)
    branch.dayCounters.know(services: branch.store.services.count)
    let last = try #require(branch.store.services[names[999]])
    #expect(last.number == 1_003)
    let lines = [Priority.vvip, .regular, Priority(7)].map { Line(service: last, priority: $0) }
    let customers = try lines.map { try branch.arrive($0) }
    branch.dayCounters.paused[last.index] = true
    try branch.commit()
    try branch.finish(customers[1])
    try branch.deadLetter(customers[2])
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.crash()
    #expect(branch.dayCounters == dayCounters && branch.dayCounters.paused[last.index])
    #expect(branch.dayCounters.servedByService[last.index] == 1)
    #expect(try branch.store.page(of: lines[0], after: 0, limit: 9).map(\.ticket) == [1])
    #expect(try branch.store.receipts(of: last, after: 0, through: .max, limit: 9).map(\.ticket) == [2])
    #expect(try branch.store.find(3)?.customer.service == last)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "money of a service with a ledger moves between the accounts that it names", arguments: StoreKind.allCases
  )
  func ownLedger(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.store.assignNumbers(to: ServiceName.branch + Self.names("mail"))
    let mail = try #require(branch.store.services[try Self.names("mail")[0]])
    let fee = try #require(PostingRule(debit: .customer, credit: .cash))
    let inside = try #require(PostingRule(debit: .loans, credit: .cash))
    let rules: [PostingRule?] = [fee, inside, nil, fee]
    var written: [Receipt] = []
    for (place, rule) in rules.enumerated() {
      let isServed = place < 3
      let customer = Customer(
        ticket: TicketNumber(place + 1), service: mail, priority: .regular, amount: 500, account: 7,
        issuedAt: WallTime(milliseconds: 1))
      try branch.store.stage(.insert(customer))
      let bare = branch.receipt(for: customer, isServed ? .served : .cancelled)
      let receipt = Receipt(
        day: bare.day, ticket: bare.ticket, service: mail, priority: bare.priority, outcome: bare.outcome,
        window: nil, generation: 0, pid: 0, attempts: 1, amount: 500, account: 7, issuedAt: bare.issuedAt,
        startedAt: nil, finishedAt: bare.finishedAt, postingRule: rule)
      try branch.store.stage(.finish(customer, from: .waiting, receipt))
      written.append(receipt)
    }
    let balance = try branch.store.trialBalance()
    #expect(balance.cash == LedgerSums(debit: 0, credit: 1_000, transfers: 2))
    #expect(balance.loans == LedgerSums(debit: 500, credit: 0, transfers: 1))
    #expect(balance.customers == LedgerSums(debit: 500, credit: 0, transfers: 1) && balance.difference == 0)
    #expect(try branch.store.statement(of: 7, limit: 9).latest.map(\.ticket) == [1])
    let read = try branch.store.receipts(day: 1, after: 0, limit: 9)
    #expect(
      read.map(\.postingRule) == [fee, inside, nil, nil] && read.map(\.transfer) == written.map(\.transfer))
  }
}
