// Guarantees of every store about lines of any priority: any number of them, with the properties of those of
// the grades.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  private static let priorities = [0, 1, 500, 1_022, 1_023, 1_024, 1_025, 5_000, UInt32.max].map(
    Priority.init)

  @Test("keeps lines of any priority apart, over crashes", arguments: StoreKind.allCases)
  func anyPriority(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let lines = Self.priorities.flatMap { priority in
      [Service.deposit, .loan].map { Line(service: $0, priority: priority) }
    }
    var tickets: [Line: [TicketNumber]] = [:]
    for index in 0..<90 {
      let line = lines[(index * 7) % lines.count]
      tickets[line, default: []].append(try branch.arrive(line).ticket)
    }
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.crash()
    #expect(branch.dayCounters == dayCounters)
    for line in lines {
      let page = try branch.store.page(of: line, after: 0, limit: 99)
      #expect(page.map(\.ticket) == tickets[line] && page.allSatisfy { $0.line == line })
      for ticket in tickets[line] ?? [] { #expect(try branch.store.find(ticket)?.customer.line == line) }
      let last = try #require(tickets[line]?.last)
      #expect(try branch.store.countWaiting(in: line, after: 0, below: last) == Int64(page.count) - 1)
    }
    #expect(try branch.store.find(91) == nil)
    #expect(try branch.store.countUnfinished(1...90) == 90)
    #expect(
      try branch.store.page(of: Line(service: .loan, priority: Priority(7)), after: 0, limit: 9).isEmpty)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "moves customers of any priority between the lists, and lists all of them once",
    arguments: StoreKind.allCases)
  func listsOfAnyPriority(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    var customers: [Customer] = []
    for index in 0..<27 {
      customers.append(
        try branch.arrive(Line(service: .deposit, priority: Self.priorities[index % Self.priorities.count])))
    }
    for customer in customers where customer.ticket % 3 == 0 { try branch.deadLetter(customer) }
    for customer in customers where customer.ticket % 3 == 1 {
      try branch.postpone(customer, until: branch.clock + 5)
    }
    try branch.commit()
    try branch.crash()
    for (state, remainder) in [(CustomerState.dead, Int64(0)), (.delayed, 1), (.waiting, 2)] {
      var listed: [TicketNumber] = []
      var cursor: TicketCursor?
      while true {
        let page = try branch.store.customers(in: state, after: cursor, limit: 2)
        guard let last = page.last?.customer else { break }
        listed += page.map(\.customer.ticket)
        cursor = TicketCursor(state: state, line: last.line, after: last.ticket)
      }
      #expect(listed.sorted() == (1...27).filter { $0 % 3 == remainder })
    }
    for customer in customers where customer.ticket % 3 == 0 { try branch.makeWaiting(customer, from: .dead) }
    for customer in customers where customer.ticket % 3 == 2 { try branch.finish(customer) }
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }

  @Test("forgets a line with the transaction that has created it", arguments: StoreKind.allCases)
  func lineRolledBack(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.arrive(.deposit)
    try branch.commit()
    let dayCounters = branch.dayCounters
    let (first, second) = (
      Line(service: .loan, priority: Priority(9)), Line(service: .loan, priority: Priority(8))
    )
    for _ in 0..<20 { try branch.arrive(first) }
    #expect(try branch.store.page(of: first, after: 0, limit: 99).count == 20)
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.page(of: first, after: 0, limit: 99).isEmpty)
    try branch.arrive(second)
    try branch.arrive(first)
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.page(of: second, after: 0, limit: 9).map(\.ticket) == [2])
    #expect(try branch.store.page(of: first, after: 0, limit: 9).map(\.ticket) == [3])
    #expect(try branch.store.audit().problems == [])
  }

  @Test("empties lines of any priority, and other ones come on the next day", arguments: StoreKind.allCases)
  func linesOfAnotherDay(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for day in 1...3 as ClosedRange<UInt32> {
      for index in 0..<70 as Range<UInt32> {
        try branch.arrive(Line(service: .deposit, priority: Priority(day * 1_000 + index)))
      }
      try branch.commit()
      try branch.cancelEveryone()
      branch.startNextDay()
      try branch.commit()
      try branch.crash()
      #expect(branch.dayCounters.waitingInAll == 0 && branch.dayCounters.day == Int64(day) + 1)
    }
    #expect(
      try branch.store.receipts(day: nil, after: 0, limit: 999).map(\.priority.number)
        == (1...3).flatMap {
          day in (0..<70).map { UInt32(day) * 1_000 + $0 }
        })
    #expect(try branch.store.audit().problems == [])
  }

  @Test("reuses the numbers of empty lines when there are no more", arguments: StoreKind.allCases)
  func numbersRunOut(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    func line(_ number: UInt32) -> Line { Line(service: .loan, priority: Priority(number)) }
    let (stays, dead) = (try branch.arrive(line(1)), try branch.arrive(line(2)))
    try branch.deadLetter(dead)
    let gone = try branch.arrive(line(3))
    try branch.commit()
    try branch.finish(gone)
    try branch.commit()
    // As if all others were given to empty lines.
    let lost = Line(service: .deposit, priority: Priority(77))
    switch branch.store {
    case let store as SQLiteStore: store.lines.know(lost, as: LineNumbers.highest)
    case let store as MemoryStore: store.contents.lines.know(lost, as: LineNumbers.highest)
    default: Issue.record("no such store")
    }
    for number in 4...5 as ClosedRange<UInt32> { try branch.arrive(line(number)) }
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.page(of: line(1), after: 0, limit: 9) == [stays])
    #expect(try branch.store.find(2)?.customer.line == line(2))
    #expect(try branch.store.page(of: line(3), after: 0, limit: 9).isEmpty)
    #expect(try branch.store.page(of: line(4), after: 0, limit: 9).map(\.ticket) == [4])
    #expect(try branch.store.page(of: line(5), after: 0, limit: 9).map(\.ticket) == [5])
    #expect(try branch.store.audit().problems == [])
  }
}
