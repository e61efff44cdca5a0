// The audit's judgement about order, by itself and against a database in which a customer was overtaken.

import BankModel
import QueueCore
import Testing

@testable import Storage

@Suite("The audit of the order")
struct OrderAuditTests {
  private static let line = Line(service: .loan, priority: .vip)

  /// Checks customers of day 1: ticket, attempts, start.
  private func problems(
    _ customers: [(ticket: TicketNumber, attempts: Int64, startedAt: Int64)], starts: [Int64] = [0],
    receipts: [Int64]? = nil, disordered: Set<BusinessDay> = [],
    lines: [Line] = [line]
  ) -> [String] {
    var report = AuditRecord(services: ServiceDirectory())
    var walk = OrderScan(starts: starts, disordered: disordered)
    for (index, customer) in customers.enumerated() {
      walk.visit(
        1, customer.ticket, lines[index % lines.count], receipt: receipts?[index] ?? 1,
        attempts: customer.attempts, startedAt: customer.startedAt, &report)
    }
    return report.finished().problems
  }

  @Test("customers who start in the order of numbers, or together, are in order")
  func ordered() {
    #expect(problems([(1, 1, 10), (2, 1, 10), (5, 1, 11)]) == [])
  }

  @Test("a customer who was overtaken is named once, with the first who overtook it")
  func overtaken() {
    #expect(
      problems([(1, 1, 10), (2, 1, 30), (3, 1, 20), (4, 1, 25), (5, 1, 40)]) == [
        "loan vip of day 1: ticket 3 was started before ticket 2, which was ahead of it"
      ])
  }

  @Test("a customer who came back to the line is explained by its attempts, an overtaker is not")
  func attempts() {
    #expect(problems([(1, 1, 10), (2, 3, 30), (3, 1, 20)]) == [])
    #expect(problems([(1, 1, 30), (2, 2, 20)]).count == 1)
  }

  @Test("customers of other lines do not count")
  func lines() {
    #expect(
      problems([(1, 1, 30), (2, 1, 20)], lines: [Self.line, Line(service: .loan, priority: .vvip)]) == [])
  }

  @Test("a customer at a window when the coordinator was killed started again under the next one")
  func starts() {
    let customers: [(TicketNumber, Int64, Int64)] = [(1, 1, 100), (2, 1, 20)]
    #expect(problems(customers, starts: [0, 1], receipts: [2, 1]) == [])
    #expect(problems(customers, starts: [0, 1], receipts: [3, 2]).count == 1)
    #expect(problems(customers, starts: [0, 2], receipts: [2, 1]).count == 1)
    #expect(problems(customers, starts: [2], receipts: [2, 1]) == [], "nothing is known of those days")
    #expect(problems(customers, starts: [], receipts: [2, 1]) == [])
  }

  @Test("nothing is reported of a day on which the clock went back")
  func clock() {
    #expect(problems([(1, 1, 40), (2, 1, 20)], disordered: [1]) == [])
    #expect(DisorderedDays.among([]) == [])
    #expect(DisorderedDays.among([(1, 0), (2, 0), (3, 2), (4, 2), (5, 3)]) == [3, 5])
  }

  @Test("a store reports nothing of a day on which the clock went back", arguments: StoreKind.allCases)
  func clockOfStore(kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    _ = try branch.store.recordStart(at: branch.now)
    for day: Int64 in 1...2 {
      let (first, second) = (try branch.arrive(Self.line), try branch.arrive(Self.line))
      try branch.finish(second)
      try branch.finish(first)
      if day == 1 { branch.dayCounters.clockSteps += 1 }
      try branch.commit()
      if day == 1 {
        #expect(try branch.store.audit().problems == [])
        branch.dayCounters = branch.dayCounters.next(openedAt: branch.now)
        try branch.commit()
        #expect(try branch.store.audit().problems == [], "the closed day keeps its count")
      }
    }
    #expect(
      try branch.store.audit().problems == [
        "loan vip of day 2: ticket 2 was started before ticket 1, which was ahead of it"
      ])
  }

  @Test("a store finds a customer who was overtaken", arguments: StoreKind.allCases)
  func store(kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    _ = try branch.store.recordStart(at: branch.now)
    let first = try branch.arrive(Self.line)
    let second = try branch.arrive(Self.line)
    try branch.commit()
    try branch.finish(second)
    try branch.finish(first)
    try branch.commit()
    #expect(
      try branch.store.audit().problems == [
        "loan vip of day 1: ticket 2 was started before ticket 1, which was ahead of it"
      ])
  }

  @Test(
    "a store notes every start, and earlier starts of customers are explained by it"
  )
  func restart() throws {
    let branch = try StoreFixture(.sqlite)
    _ = try branch.store.recordStart(at: branch.now)
    let first = try branch.arrive(Self.line)
    let second = try branch.arrive(Self.line)
    try branch.finish(second)
    try branch.commit()
    try branch.crash()
    _ = try branch.store.recordStart(at: branch.now)
    try branch.finish(first)
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }
}
