// The suite that every database must pass over the interface of the queue, that of one bank and that of
// several branches: each case is written once, and runs against a store in memory, SQLite, and a real
// PostgreSQL. A deviation planted in a store is found by its case.

import BankModel
import Posix
import PostgresFixture
import QueueCore
import Testing
import Time

@Suite("All databases, over the interface of the queue")
struct StoreConformanceTests {
  @Test("Every case holds for all of them", arguments: ConformanceCase.allCases, BackendKind.present)
  func holds(_ one: ConformanceCase, _ kind: BackendKind) throws { try one.run(try ConformanceBank(kind)) }

  /// The case that finds each.
  private static let seen: [(StoreDefect, ConformanceCase)] = [
    (.forgetsIdempotencyKeys, .keys), (.losesPayloads, .payloads), (.losesLastCommit, .staged),
    (.claimsLastFirst, .pages),
    (.keepsCancelledCustomers, .cancelled), (.skipsAnAttempt, .attempts), (.neverRequeuesDue, .delays),
    (.losesResults, .results),
  ]

  @Test("A deviation of a database is found", arguments: StoreDefect.allCases)
  func sees(_ difference: StoreDefect) throws {
    let one = try #require(Self.seen.first { $0.0 == difference }?.1, "no case looks for it")
    withKnownIssue("planted") { try one.run(try ConformanceBank(.memory, difference)) }
  }
}

/// A case: actions, and conditions that hold afterwards.
enum ConformanceCase: CaseIterable, Sendable {
  case keys, ownKeys, pages, priorities, emptyPage, payloads
  case receipts, results, attempts, delays, later, dead, deadAtOnce
  case staged, handedBack, cancelled, wrongStates, nextDay, dayContinues, deltas

  func run(_ bank: ConformanceBank) throws {
    switch self {
    case .keys: try keys(bank)
    case .ownKeys: try ownKeys(bank)
    case .pages: try pages(bank)
    case .priorities: try priorities(bank)
    case .emptyPage: try emptyPage(bank)
    case .payloads: try payloads(bank)
    case .receipts: try receipts(bank)
    case .results: try results(bank)
    case .attempts: try attempts(bank)
    case .delays: try delays(bank)
    case .later: try later(bank)
    case .dead: try dead(bank)
    case .deadAtOnce: try deadAtOnce(bank)
    case .staged: try staged(bank)
    case .handedBack: try handedBack(bank)
    case .cancelled: try cancelled(bank)
    case .wrongStates: try wrongStates(bank)
    case .nextDay: try nextDay(bank)
    case .dayContinues: try dayContinues(bank)
    case .deltas: try deltas(bank)
    }
    #expect(try bank.reading.audit().problems == [])
  }

  // MARK: - Tickets

  /// A key has its tickets once, also after a crash; another request under it is refused by name.
  private func keys(_ bank: ConformanceBank) throws {
    let tickets = IssuedTickets(day: 1, first: 1, last: 3)
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [1, 2, 3], key: "k", digest: 5)
        == .issued(tickets, known: []))
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [1, 2, 3], key: "k", digest: 5)
        == .issued(nil, known: [tickets]))
    #expect(try bank.enqueue(ConformanceBank.deposits, [9], key: "k", digest: 6) == .keyConflict("k"))
    // If the request is not given, there is no conflict.
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [1, 2, 3], key: "k") == .issued(nil, known: [tickets]))
    try bank.crash()
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [1, 2, 3], key: "k", digest: 5)
        == .issued(nil, known: [tickets]))
    // Two spellings of one letter are two keys.
    let other = IssuedTickets(day: 1, first: 4, last: 4)
    #expect(try bank.enqueue(ConformanceBank.loans, [4], key: "caf\u{E9}") == .issued(other, known: []))
    #expect(
      try bank.enqueue(ConformanceBank.loans, [5], key: "cafe\u{301}")
        == .issued(IssuedTickets(day: 1, first: 5, last: 5), known: []))
    #expect(try bank.reading.request(forKey: "k")?.tickets == tickets)
    #expect(try bank.reading.audit().issued == 5)
  }

  /// Of a list with keys the unknown customers come, in one run; with a conflict none.
  private func ownKeys(_ bank: ConformanceBank) throws {
    func list(_ entries: [(String?, Won)]) -> EnqueueRequest {
      var request = EnqueueRequest(issuedAt: SystemClock.wall())
      for (place, (key, amount)) in entries.enumerated() {
        request.orders.append(
          CustomerOrder(service: .deposit, priority: .regular, amount: amount, account: 1))
        if let key { request.keyed.append((place, key, amount)) }
      }
      return request
    }
    #expect(
      try bank.enqueueCustomers(list([("a", 10), (nil, 20), ("b", 30)]))
        == .issued(IssuedTickets(day: 1, first: 1, last: 3), known: []))
    #expect(
      try bank.enqueueCustomers(list([("b", 30), ("c", 40)]))
        == .issued(
          IssuedTickets(day: 1, first: 4, last: 4), known: [IssuedTickets(day: 1, first: 3, last: 3)]))
    #expect(try bank.enqueueCustomers(list([("d", 50), ("a", 11)])) == .keyConflict("a"))
    #expect(try bank.reading.request(forKey: "d") == nil)
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.amount) == [10, 20, 30, 40])
  }

  // MARK: - Pages

  private func pages(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2, 3, 4, 5])
    try bank.enqueue(ConformanceBank.loans, [6])
    try bank.enqueue(ConformanceBank.deposits, [7])
    #expect(try bank.claim(ConformanceBank.deposits, 2).map(\.ticket) == [1, 2])
    #expect(try bank.claim(ConformanceBank.deposits, 2).map(\.ticket) == [3, 4])
    let rest = try bank.claim(ConformanceBank.deposits, 99)
    #expect(rest.map(\.ticket) == [5, 7] && rest.map(\.amount) == [5, 7])
    #expect(rest.allSatisfy { $0.line == ConformanceBank.deposits && $0.account == 7 && $0.attempts == 0 })
    #expect(try bank.claim(ConformanceBank.loans, 1).map(\.ticket) == [6])
  }

  /// Lines are distinguished by service and priority, and each is in its own order.
  private func priorities(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1])
    try bank.enqueue(ConformanceBank.vip, [2, 3])
    try bank.enqueue(ConformanceBank.deposits, [4])
    #expect(try bank.claim(ConformanceBank.vip, 9).map(\.ticket) == [2, 3])
    #expect(try bank.claim(ConformanceBank.vip, 9) == [])
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [1, 4])
    #expect(try bank.reading.page(of: ConformanceBank.vip, after: 2, limit: 9).map(\.ticket) == [3])
  }

  /// A line that was never used, and one with all customers claimed, give an empty page and no trap.
  private func emptyPage(_ bank: ConformanceBank) throws {
    #expect(try bank.claim(ConformanceBank.deposits, 9) == [])
    try bank.enqueue(ConformanceBank.deposits, [1])
    #expect(try bank.claim(ConformanceBank.deposits, 9).count == 1)
    #expect(try bank.claim(ConformanceBank.deposits, 9) == [])
    // A later customer is found.
    try bank.enqueue(ConformanceBank.deposits, [2])
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [2])
  }

  /// A payload is there as long as the customer is claimed: nothing, no bytes, and all bytes are three
  /// things.
  private func payloads(_ bank: ConformanceBank) throws {
    let all = (0...255).map { UInt8($0) }
    try bank.enqueue(ConformanceBank.deposits, [1, 2], payload: all)
    try bank.enqueue(ConformanceBank.deposits, [3], payload: [])
    try bank.enqueue(ConformanceBank.deposits, [4])
    let expected: [[UInt8]?] = [all, all, [], nil]
    for _ in 0..<2 {
      let page = try bank.claim(ConformanceBank.deposits, 9)
      #expect(try page.map { try bank.payload(of: $0.ticket) } == expected)
      // Also for the next customer.
      try bank.crash()
    }
    #expect(try (1...4).map { try bank.reading.payload(of: $0) } == expected)
  }
}
