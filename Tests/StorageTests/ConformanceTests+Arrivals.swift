// What every store promises about a request that is larger than a transaction: it comes into force as a whole, with the
// books that have issued its numbers, and until then it is as if it were not there.

import BankModel
import QueueCore
import Testing

@testable import Storage

extension ConformanceTests {
  /// Customers who are kept under numbers that the books do not know.
  private func arrive(_ numbers: ClosedRange<TicketNumber>, at branch: Branch) throws {
    for ticket in numbers {
      let customer = Customer(
        ticket: ticket, service: ticket % 2 == 0 ? .loan : .deposit, grade: .regular, amount: 5, account: 7,
        issuedAt: branch.now)
      try branch.store.stage(.insert(customer))
      try branch.store.stage(.remember(key: "of \(ticket)", day: 1, first: ticket, last: ticket))
    }
  }

  @Test("a request that is committed in parts comes into force with its books", arguments: StoreKind.allCases)
  func arrivalsComplete(_ kind: StoreKind) throws {
    let branch = try Branch(kind)
    let first = try branch.arrive(.deposit)
    try branch.commit()
    try arrive(2...40, at: branch)
    // Others go on in the same transactions.
    try branch.finish(first)
    try branch.store.commit(branch.books, isArriving: true)
    #expect(branch.store.hasArrivals)
    #expect(try branch.store.audit().problems == [])
    #expect(try branch.store.audit().served == 1)
    try arrive(41...50, at: branch)
    branch.books.issued = 50
    for line in Line.allCases where line.grade == .regular && line.service != .juice {
      branch.books.waiting[line.index] += line.service == .loan ? 25 : 24
    }
    try branch.commit()
    #expect(!branch.store.hasArrivals)
    try branch.crash()
    #expect(!branch.store.hasArrivals)
    let report = try branch.store.audit()
    #expect((report.problems, report.issued, report.waiting) == ([], 50, 49))
  }

  @Test(
    "a request that never becomes whole is found after a crash and leaves nothing",
    arguments: StoreKind.allCases)
  func arrivalsWithdrawn(_ kind: StoreKind) throws {
    let branch = try Branch(kind)
    let kept = try branch.arrive(.loan)
    try branch.commit()
    try arrive(2...40, at: branch)
    try branch.store.commit(branch.books, isArriving: true)
    try branch.crash()
    #expect(branch.store.hasArrivals)
    #expect(try branch.store.audit().problems == [])
    try branch.store.withdrawArrivals(limit: 10)
    branch.store.rollBack()
    for _ in 0..<10 where branch.store.hasArrivals {
      try branch.store.withdrawArrivals(limit: 10)
      try branch.commit()
    }
    #expect(!branch.store.hasArrivals)
    #expect(try (branch.store.find(2), branch.store.find(40)) == (nil, nil))
    #expect(try branch.store.tickets(forKey: "of 2") == nil)
    #expect(try branch.store.find(kept.ticket) != nil)
    let next = try branch.arrive(.deposit)
    #expect(next.ticket == 2)
    try branch.commit()
    try branch.crash()
    #expect(!branch.store.hasArrivals)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("a day ends without those whose request never became whole", arguments: StoreKind.allCases)
  func arrivalsAtTheEnd(_ kind: StoreKind) throws {
    let branch = try Branch(kind)
    try branch.arrive(.loan)
    try branch.commit()
    try arrive(2...40, at: branch)
    try branch.store.commit(branch.books, isArriving: true)
    try branch.cancelEveryone()
    branch.turnDay()
    try branch.commit()
    #expect(!branch.store.hasArrivals)
    let report = try branch.store.audit()
    #expect((report.problems, report.cancelled, report.issued) == ([], 1, 1))
  }
}
