// Guarantees of every store about counted attempts: their number, and the mark of one in progress, stay with
// the customer in every state, and the audit takes neither for an attempt that has ended.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  @Test(
    "keeps the number of started attempts, and the mark of one in progress", arguments: StoreKind.allCases)
  func begunAttempts(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    var customer = try branch.arrive(.deposit)
    try branch.commit()
    (customer.startedAttempts, customer.isAttemptRunning) = (1, true)
    try branch.store.stage(.update(customer))
    branch.store.rollBack()
    #expect(try branch.store.find(customer.ticket)?.customer.isAttemptRunning == false)
    try branch.store.stage(.update(customer))
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.page(of: .deposit, after: 0, limit: 9) == [customer])
    #expect(try branch.store.find(customer.ticket)?.customer == customer)
    #expect(try branch.store.audit().problems == [])
    // The largest possible numbers.
    (customer.startedAttempts, customer.isAttemptRunning) = (1_000, true)
    try branch.store.stage(.update(customer))
    #expect(try branch.store.page(of: .deposit, after: 0, limit: 9) == [customer])
    // Each cancelled customer has a receipt with the attempts that have ended.
    try branch.commit()
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.commit()
    #expect(try branch.store.receipt(day: 1, ticket: customer.ticket)?.attempts == 0)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("returns a lost attempt as it was stored", arguments: StoreKind.allCases)
  func lostAttempt(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    var customer = try branch.arrive(.deposit)
    let attempt = Attempt(
      day: 1, ticket: customer.ticket, number: 1, window: .unknown(.deposit), generation: 0, pid: 0,
      startedAt: branch.now, endedAt: branch.now, end: .lost, processEnd: nil)
    (customer.attempts, customer.startedAttempts) = (1, 1)
    try branch.store.stage(.record(attempt))
    try branch.store.stage(.bury(customer))
    branch.dayCounters.waiting[customer.line] -= 1
    branch.dayCounters.dead += 1
    try branch.commit()
    try branch.crash()
    let found = try branch.store.attempts(day: 1, ticket: customer.ticket)
    #expect(found.map(\.end) == [.lost] && found.map(\.window) == [.unknown(.deposit)])
    #expect(found.map(\.isFatal) == [true])
    #expect(try branch.store.find(customer.ticket)?.customer == customer)
    #expect(try branch.store.audit().problems == [])
  }
}

@Suite("The attempts of a customer in one column")
struct CustomerAttemptsTests {
  @Test("without a count the column is as before, and values without meaning are refused")
  func packing() {
    var customer = Customer(
      ticket: 1, service: .deposit, priority: .regular, amount: 1, account: 1,
      issuedAt: WallTime(milliseconds: 0), attempts: .max)
    #expect(CustomerAttempts(customer).packed == Int64(Int32.max))
    (customer.startedAttempts, customer.isAttemptRunning) = (.max, true)
    let packed = CustomerAttempts(customer)
    #expect(CustomerAttempts(packed: packed.packed) == packed)
    #expect(packed.packed > Int64(Int32.max), "an older program takes it for damage")
    for wrong in [-1, 1 << 49, 1 << 31, 1 << 47] as [Int64] {
      #expect(CustomerAttempts(packed: wrong) == nil)
    }
  }
}
