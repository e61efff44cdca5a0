// Guarantees of every store about delayed customers: they are read by due time, page after page, both retries
// and those ordered for later, and customers without tickets are not visible.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  @discardableResult
  private func arriveLater(_ due: Int64, _ line: Line = .deposit, at branch: StoreFixture) throws -> Customer
  {
    let customer = Customer(
      ticket: branch.dayCounters.issued + 1, service: line.service, priority: line.priority, amount: 7,
      account: 7,
      issuedAt: branch.now)
    try branch.store.stage(.insertDelayed(customer, dueAt: WallTime(milliseconds: due)))
    branch.dayCounters.issued += 1
    branch.dayCounters.delay(of: line.service)
    return customer
  }

  @Test("reads delayed customers by due time, page after page", arguments: StoreKind.allCases)
  func delayedPages(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for index in 0..<40 as Range<Int64> {
      try arriveLater(index * 7 % 5, Line.graded[Int(index) % 6], at: branch)
    }
    let failed = try branch.fail(try branch.arrive(.loan), .failed)
    try branch.postpone(failed, until: 3)
    let all = try branch.store.delayed(after: .first, limit: 99)
    #expect(all.map { [$0.dueAt.milliseconds, $0.customer.ticket] }.isSorted && all.count == 41)
    #expect(all.last { $0.dueAt.milliseconds == 3 }?.customer == failed)
    try branch.commit()
    var read: [DelayedCustomer] = []
    while true {
      let page = try branch.store.delayed(after: read.last?.place ?? .first, limit: 7)
      if page.isEmpty { break }
      read += page
    }
    #expect(read == all)
    try branch.crash()
    #expect(branch.delayedAtStart == all)
    #expect(try branch.store.audit().problems == [])
    #expect(try branch.store.customers(in: .delayed, after: nil, limit: 99).count == 41)
    #expect(try branch.store.countUnfinished(1...99) == 41)
    // A customer that comes back, or leaves, is on no page any more.
    try branch.makeWaiting(all[0].customer, from: .delayed)
    try branch.finish(all[1].customer, from: .delayed, .cancelled)
    #expect(try branch.store.delayed(after: .first, limit: 99) == Array(all[2...]))
    #expect(try branch.store.delayed(after: .last, limit: 99).isEmpty)
    try branch.commit()
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.commit()
    #expect(try branch.store.delayed(after: .first, limit: 99).isEmpty)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "no customer ordered for later who was overtaken until then counts as out of order",
    arguments: StoreKind.allCases)
  func orderedAudit(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    _ = try branch.store.recordStart(at: branch.now)
    let due = branch.clock + 4
    let later = try arriveLater(due, at: branch)
    let other = try branch.arrive(.deposit)
    try branch.finish(other)
    try branch.makeWaiting(later, from: .delayed)
    branch.clock = max(branch.clock, due)
    try branch.finish(later)
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }

  @Test("with the counters only the first of them are read", arguments: StoreKind.allCases)
  func firstDelayed(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let count = StoredQueue.firstPage + 3
    for index in 0..<count { try arriveLater(Int64(count - index), at: branch) }
    try branch.commit()
    try branch.crash()
    #expect(branch.delayedAtStart.count == StoredQueue.firstPage)
    #expect(branch.delayedAtStart.first?.customer.ticket == TicketNumber(count))
  }

  @Test(
    "delayed customers by service are known at a start, and the audit compares them with the rows",
    arguments: StoreKind.allCases)
  func delayedByService(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for index in 0..<7 as Range<Int64> { try arriveLater(index, index < 5 ? .loan : .vipDeposit, at: branch) }
    try branch.commit()
    // The first start and later ones need not count them.
    for start in 1...3 as ClosedRange<Int64> {
      try branch.crash()
      #expect(branch.dayCounters.delayedByService[Service.loan.index] == 5)
      #expect(branch.dayCounters.delayedByService[Service.deposit.index] == 2 + start - 1)
      #expect(branch.dayCounters.delayed == 6 + start)
      #expect(try branch.store.recordStart(at: branch.now) == start)
      #expect(try branch.store.audit().problems == [])
      try arriveLater(9, at: branch)
      try branch.commit()
      #expect(try branch.store.audit().problems == [])
    }
    try branch.crash()
    for customer in branch.delayedAtStart { try branch.makeWaiting(customer.customer, from: .delayed) }
    try branch.commit()
    try branch.crash()
    #expect(branch.dayCounters.delayed == 0 && branch.dayCounters.delayedByService.allSatisfy { $0 == 0 })
    #expect(try branch.store.audit().problems == [])
  }

  @Test("counts by service are read and not counted, except after a start of an older program")
  func keptCounts() throws {
    let branch = try StoreFixture(.sqlite)
    _ = try branch.store.recordStart(at: branch.now)
    for _ in 1...3 { try arriveLater(9, .loan, at: branch) }
    try arriveLater(9, .deposit, at: branch)
    try branch.commit()
    func damage(_ script: String) throws {
      try #require(branch.store as? SQLiteStore).database.execute(script, while: "testing")
    }
    func byService() throws -> [Int64] {
      try branch.crash()
      return Array(branch.dayCounters.delayedByService.prefix(3))
    }
    #expect(try byService() == [1, 3, 0])
    // The same total, distributed differently: a start does not look at the rows, and the audit does.
    try damage("UPDATE meta SET value = 2 WHERE name IN ('delayed 1', 'delayed 2')")
    #expect(try byService() == [2, 2, 0])
    #expect(
      try branch.store.audit().problems == [
        "deposit delayed: counter 2, actual 1", "loan delayed: counter 2, actual 3",
      ])
    // Counts with a wrong total, or without meaning, are counted again.
    try damage("UPDATE meta SET value = 3 WHERE name = 'delayed 1'")
    #expect(try byService() == [1, 3, 0])
    for spoiled in ["delayed 99", "delayed 0", "delayed 1x"] {
      try damage("UPDATE meta SET name = '\(spoiled)' WHERE name = 'delayed 1'")
      #expect(try byService() == [1, 3, 0], "\(spoiled)")
      try damage("UPDATE meta SET name = 'delayed 1' WHERE name = '\(spoiled)'")
    }
    // An older program has counted its start, and has delayed other customers.
    try damage("UPDATE meta SET value = 2 WHERE name IN ('delayed 1', 'delayed 2')")
    try damage("UPDATE meta SET value = value + 1 WHERE name = 'incarnation'")
    #expect(try byService() == [1, 3, 0])
    #expect(try branch.store.audit().problems == [], "counts that are not kept are not audited")
    _ = try branch.store.recordStart(at: branch.now)
    #expect(try branch.store.audit().problems == [])
    #expect(try byService() == [1, 3, 0])
  }

  @Test(
    "customers delayed by an incomplete request are not visible, and go with it",
    arguments: StoreKind.allCases)
  func delayedArrivals(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try arriveLater(9, at: branch)
    try branch.commit()
    for ticket in 22...51 as ClosedRange<TicketNumber> {
      let customer = Customer(
        ticket: ticket, service: .deposit, priority: .regular, amount: 5, account: 7, issuedAt: branch.now)
      try branch.store.stage(.insertDelayed(customer, dueAt: WallTime(milliseconds: ticket)))
    }
    try branch.store.commit(branch.dayCounters, arriving: request(3, at: branch))
    for _ in 0..<2 {
      #expect(try branch.store.delayed(after: .first, limit: 99).map(\.customer.ticket) == [1])
      #expect(try branch.store.customers(in: .delayed, after: nil, limit: 99).map(\.customer.ticket) == [1])
      #expect(try branch.store.find(30) == nil)
      #expect(try branch.store.audit().problems == [])
      try branch.crash()
    }
    #expect(branch.delayedAtStart.map(\.customer.ticket) == [1])
    for _ in 0..<10 where branch.store.hasUnissuedCustomers {
      try branch.store.removeUnissuedCustomers(limit: 10)
      try branch.commit()
    }
    #expect(!branch.store.hasUnissuedCustomers)
    #expect(try branch.store.delayed(after: .first, limit: 99).count == 1)
    #expect(try branch.store.audit().problems == [])
  }
}
