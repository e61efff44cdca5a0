// The part of the suite for every store about days and counters: how a day ends, how the next one starts, and
// the audit of counters that do not match the customers. It uses only what the protocol guarantees.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  @Test(
    "cancels all customers in the order of their numbers, and starts a new day", arguments: StoreKind.allCases
  )
  func cancelEveryone(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customers = try (0..<12).map { try branch.arrive(Line.graded[($0 * 5) % 6]) }
    try branch.finish(customers[0])
    try branch.postpone(try branch.fail(customers[3]), until: 1)
    try branch.deadLetter(customers[4])
    try branch.commit()
    try branch.arrive(.loan)
    try branch.finish(customers[1])
    try branch.cancelEveryone()
    branch.startNextDay()
    let first = try branch.arrive(.vipDeposit)
    try branch.commit()
    #expect(first.ticket == 1)

    let receipts = try branch.store.receipts(day: 1, after: 0, limit: 99)
    #expect(receipts.map(\.sequence) == (1...13).map(\.self))
    #expect(receipts.map(\.ticket) == [1, 2] + (3...13))
    let cancelled = receipts.dropFirst(2)
    #expect(
      cancelled.allSatisfy {
        $0.outcome == .cancelled && $0.window == nil && $0.startedAt == nil && $0.transfer == nil
      })
    #expect(receipts[3].attempts == 1)
    try branch.crash()
    #expect(branch.dayCounters.day == 2 && branch.dayCounters.issued == 1)
    #expect(try branch.store.find(1)?.customer == first)
    #expect(try branch.store.find(5) == nil)
    try branch.finish(first)
    try branch.commit()
    #expect(try branch.store.receipts(day: 2, after: 0, limit: 9).map(\.sequence) == [14])
    #expect(try branch.store.receipts(day: 1, after: 5, limit: 3).map(\.sequence) == [6, 7, 8])
    let audit = try branch.store.audit()
    #expect((audit.issued, audit.served, audit.cancelled) == (14, 3, 11))
    #expect(audit.problems == [])
  }

  @Test("closes days that start and end between two commits", arguments: StoreKind.allCases)
  func shortDays(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    branch.dayCounters.paused[0] = true
    for day in 1...4 {
      for _ in 0..<day { try branch.finish(try branch.arrive(.loan)) }
      try branch.arrive(.deposit)
      try branch.cancelEveryone()
      branch.startNextDay()
    }
    try branch.commit()
    #expect(branch.dayCounters.day == 5)
    try branch.crash()
    #expect(branch.dayCounters.day == 5 && branch.dayCounters.paused[0])
    for day in 1...4 {
      #expect(try branch.store.receipts(day: Int64(day), after: 0, limit: 99).count == day + 1)
    }
    let audit = try branch.store.audit()
    #expect((audit.issued, audit.served, audit.cancelled) == (14, 10, 4))
    #expect(audit.problems == [])
  }

  @Test(
    "commits nothing if nothing has changed, and counters alone if they have", arguments: StoreKind.allCases)
  func booksAlone(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.commit()
    branch.dayCounters.businessTime = .seconds(3)
    branch.dayCounters.paused = [true, false, false]
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.crash()
    #expect(branch.dayCounters == dayCounters)
  }

  @Test("finds counters that do not match the customers", arguments: StoreKind.allCases)
  func wrongBooks(_ kind: StoreKind) throws {
    let lost = try StoreFixture(kind)
    try lost.arrive(.deposit)
    lost.dayCounters.issued += 2
    lost.dayCounters.waiting[Line.deposit] += 1
    lost.dayCounters.served += 1
    try lost.commit()
    var audit = try lost.store.audit()
    #expect((audit.issued, audit.lost, audit.duplicated) == (3, 2, 0))
    #expect(audit.problems.contains("tickets 2 to 3 of day 1 were issued but are missing"))
    #expect(audit.problems.contains { $0.contains("deposit regular waiting") })
    #expect(audit.problems.contains { $0.contains("served on day 1") })

    let extra = try StoreFixture(kind)
    try extra.arrive(.deposit)
    try extra.arrive(.loan)
    extra.dayCounters.issued = 1
    extra.dayCounters.waiting[Line.loan] = 0
    try extra.commit()
    audit = try extra.store.audit()
    #expect((audit.lost, audit.duplicated) == (0, 1))

    let twice = try StoreFixture(kind)
    let customer = try twice.arrive(.deposit)
    try twice.finish(customer)
    try twice.commit()
    try twice.store.stage(.insert(customer))
    twice.dayCounters.waiting[Line.deposit] += 1
    try twice.commit()
    audit = try twice.store.audit()
    #expect((audit.lost, audit.duplicated) == (0, 1))
    #expect(audit.problems.contains("ticket 1 of day 1 is stored more than once"))

    let key = try StoreFixture(kind)
    try key.store.stage(.remember(key: "k", day: 1, first: 1, last: 9))
    try key.commit()
    #expect(try key.store.audit().problems.count == 1)

    let attempts = try StoreFixture(kind)
    var counted = try attempts.arrive(.deposit)
    counted.attempts = 2
    try attempts.store.stage(.update(counted))
    try attempts.commit()
    #expect(try attempts.store.audit().problems.count == 1)
  }

  @Test("reports the first hundred problems and counts the rest", arguments: StoreKind.allCases)
  func manyProblems(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for _ in 0..<150 { try branch.arrive(.deposit) }
    branch.dayCounters.issued = 0
    branch.dayCounters.waiting[Line.deposit] = 0
    try branch.commit()
    let audit = try branch.store.audit()
    #expect(audit.duplicated == 150)
    #expect(audit.problems.count == 101)
    #expect(audit.problems.last?.hasPrefix("and ") == true)
  }
}
