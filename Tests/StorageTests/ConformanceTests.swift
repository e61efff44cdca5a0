// The suite that every store must pass: the same questions after the same changes, with rollbacks, crashes
// and days. It uses only what the protocol guarantees. A store that fails here is wrong, or the guarantee is;
// a new store joins by a new case of StoreKind.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Every store")
struct ConformanceTests {
  @Test("starts with day 1 at the moment of the first load", arguments: StoreKind.allCases)
  func firstDay(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    #expect(branch.dayCounters == DayCounters(day: 1, openedAt: WallTime(milliseconds: 1_700_000_000_000)))
    #expect(branch.delayedAtStart.isEmpty)
    try branch.crash()
    #expect(branch.dayCounters.openedAt == WallTime(milliseconds: 1_700_000_000_000))
    #expect(try branch.store.audit() == StoreAudit())
  }

  @Test("counts the starts of the coordinator", arguments: StoreKind.allCases)
  func incarnations(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    #expect(try branch.store.recordStart(at: branch.now) == 1)
    #expect(try branch.store.recordStart(at: branch.now) == 2)
    try branch.crash()
    #expect(try branch.store.recordStart(at: branch.now) == 3)
  }

  @Test("gives the pages of a line in the order of the numbers", arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for index in 0..<60 { try branch.arrive(Line.graded[index % 6]) }
    try branch.commit()
    for (place, line) in Line.graded.prefix(6).enumerated() {
      let expected = (0..<10).map { Int64(place + 1 + $0 * 6) }
      let first = try branch.store.page(of: line, after: 0, limit: 4)
      #expect(first.map(\.ticket) == Array(expected[..<4]))
      #expect(first.allSatisfy { $0.line == line })
      let rest = try branch.store.page(of: line, after: first[3].ticket, limit: 100)
      #expect(rest.map(\.ticket) == Array(expected[4...]))
      #expect(try branch.store.page(of: line, after: 60, limit: 4).isEmpty)
      #expect(try branch.store.page(of: line, after: 0, limit: 0).isEmpty)
      #expect(try branch.store.page(of: line, after: -5, limit: 1).count == 1)
      #expect(try branch.store.page(of: line, after: .max, limit: 1).isEmpty)
    }
  }

  @Test("returns a customer as it was stored", arguments: StoreKind.allCases)
  func fields(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customer = Customer(
      ticket: 1, service: .loan, priority: .vvip, amount: Limits.amount, account: Limits.account,
      issuedAt: WallTime(milliseconds: -5), attempts: 3, crashes: 2, failures: 1)
    try branch.store.stage(.insert(customer))
    #expect(try branch.store.page(of: customer.line, after: 0, limit: 9) == [customer])
    #expect(
      try branch.store.find(1) == StoredCustomer(customer: customer, state: .waiting, dueAt: nil))
    #expect(try branch.store.find(2) == nil)
    #expect(try branch.store.find(-1) == nil)
    #expect(try branch.store.find(.max) == nil)
  }

  @Test("shows what is staged, and forgets it on rollback", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let kept = try branch.arrive(.deposit)
    let failed = try branch.arrive(.loan)
    try branch.commit()
    let dayCounters = branch.dayCounters
    #expect(!branch.store.hasStagedChanges)

    try branch.finish(kept)
    let again = try branch.fail(failed)
    try branch.postpone(again, until: 5)
    try branch.arrive(.vipDeposit)
    try branch.store.stage(.remember(key: "k", day: 1, first: 3, last: 3))
    #expect(branch.store.hasStagedChanges)
    #expect(try branch.store.find(1) == nil)
    #expect(try branch.store.find(2)?.state == .delayed)
    #expect(try branch.store.find(3)?.state == .waiting)
    #expect(try branch.store.receipt(day: 1, ticket: 1)?.sequence == 1)
    #expect(try branch.store.attempts(day: 1, ticket: 2).count == 1)
    #expect(try branch.store.tickets(forKey: "k") != nil)

    branch.rollBack(to: dayCounters)
    #expect(!branch.store.hasStagedChanges)
    #expect(try branch.store.find(1)?.customer == kept)
    #expect(try branch.store.find(2) == StoredCustomer(customer: failed, state: .waiting, dueAt: nil))
    #expect(try branch.store.find(3) == nil)
    #expect(try branch.store.receipt(day: 1, ticket: 1) == nil)
    #expect(try branch.store.attempts(day: 1, ticket: 2).isEmpty)
    #expect(try branch.store.tickets(forKey: "k") == nil)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("keeps what was committed through a crash, and nothing else", arguments: StoreKind.allCases)
  func crash(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let first = try branch.arrive(.deposit)
    try branch.arrive(.loan)
    branch.dayCounters.businessTime = .milliseconds(4_410)
    branch.dayCounters.paused[1] = true
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.finish(first)
    try branch.arrive(.deposit)
    try branch.crash()
    #expect(branch.dayCounters == dayCounters)
    #expect(try branch.store.find(1)?.customer == first)
    #expect(try branch.store.find(3) == nil)
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 9).isEmpty)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("hands out sequence numbers without gaps", arguments: StoreKind.allCases)
  func sequences(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customers = try (0..<6).map { _ in try branch.arrive(.deposit) }
    try branch.finish(customers[3])
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.finish(customers[0])
    try branch.finish(customers[1])
    branch.rollBack(to: dayCounters)
    try branch.finish(customers[5])
    try branch.commit()
    try branch.finish(customers[2])
    try branch.crash()
    try branch.finish(customers[4], .cancelled)
    try branch.commit()
    let receipts = try branch.store.receipts(day: 1, after: 0, limit: 9)
    #expect(receipts.map(\.sequence) == [1, 2, 3])
    #expect(receipts.map(\.ticket) == [4, 6, 5])
    #expect(receipts.map(\.outcome) == [.served, .served, .cancelled])
  }

  @Test("returns a receipt as it was stored", arguments: StoreKind.allCases)
  func receipts(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let loan = try branch.arrive(.loan, amount: 250_000, account: 7)
    let deposit = try branch.arrive(.vipDeposit)
    var served = try branch.finish(loan)
    var cancelled = try branch.finish(deposit, .cancelled)
    try branch.commit()
    (served.sequence, cancelled.sequence) = (1, 2)
    #expect(try branch.store.receipt(day: 1, ticket: 1) == served)
    #expect(try branch.store.receipt(day: 1, ticket: 2) == cancelled)
    #expect(try branch.store.receipt(day: 2, ticket: 1) == nil)
    #expect(try branch.store.receipts(day: nil, after: 0, limit: 1) == [served])
    #expect(try branch.store.receipts(day: nil, after: 1, limit: 9) == [cancelled])
    #expect(try branch.store.receipts(day: 1, after: 2, limit: 9).isEmpty)
    #expect(try branch.store.receipts(day: 9, after: 0, limit: 9).isEmpty)
    let audit = try branch.store.audit()
    #expect((audit.issued, audit.served, audit.cancelled) == (2, 1, 1))
    #expect(audit.ledgerDifference == 0)
    #expect(audit.problems == [])
  }

  @Test(
    "refuses a second receipt of a ticket, and the whole transaction with it", arguments: StoreKind.allCases)
  func secondReceipt(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let first = try branch.arrive(.deposit)
    try branch.finish(first)
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.arrive(.loan)
    let error = storeError {
      try branch.store.stage(.insert(first))
      try branch.store.stage(.finish(first, from: .waiting, branch.receipt(for: first)))
      try branch.commit()
    }
    #expect(error?.kind == "damaged")
    #expect(error?.description.contains("ticket 1 of day 1 already has a receipt") == true)
    #expect(!branch.store.hasStagedChanges)
    branch.rollBack(to: dayCounters)
    #expect(try branch.store.find(2) == nil)
    try branch.arrive(.loan)
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }

  @Test("refuses to change a customer that does not exist", arguments: StoreKind.allCases)
  func missing(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customer = try branch.arrive(.deposit)
    try branch.commit()
    let stranger = Customer(
      ticket: 9, service: .deposit, priority: .regular, amount: 1, account: 1, issuedAt: branch.now)
    let changes: [StoreChange] = [
      .finish(stranger, from: .waiting, branch.receipt(for: stranger)),
      .finish(customer, from: .dead, branch.receipt(for: customer)), .update(stranger),
      .postpone(stranger, dueAt: branch.now), .bury(stranger), .revive(customer, from: .dead),
      .insert(customer),
    ]
    for change in changes {
      let error = storeError {
        try branch.store.stage(change)
        try branch.commit()
      }
      #expect(error?.kind == "damaged", "\(change)")
      #expect(!branch.store.hasStagedChanges)
    }
    #expect(try branch.store.find(1)?.customer == customer)
  }

  @Test(
    "shows many changes before they are committed, and forgets them together", arguments: StoreKind.allCases)
  func many(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let dayCounters = branch.dayCounters
    for isKept in [false, true] {
      let customers = try (0..<70).map { index in try branch.arrive(index < 50 ? .deposit : .vipDeposit) }
      #expect(try branch.store.page(of: .deposit, after: 0, limit: 99) == Array(customers[..<50]))
      #expect(try branch.store.countWaiting(in: .vipDeposit, after: 50, below: 99) == 20)
      var receipts: [Receipt] = []
      for (index, customer) in customers[5..<45].enumerated() {
        receipts.append(try branch.finish(customer, index == 20 ? .cancelled : .served))
        receipts[index].sequence = Int64(index + 1)
        if index == 18 { #expect(try branch.store.receipt(day: 1, ticket: 20) == receipts[14]) }
      }
      #expect(try branch.store.find(44) == nil)
      #expect(try branch.store.find(46)?.customer == customers[45])
      #expect(try branch.store.receipts(day: nil, after: 0, limit: 99) == receipts)
      if isKept { try branch.commit() } else { branch.rollBack(to: dayCounters) }
      #expect(try branch.store.receipts(day: nil, after: 0, limit: 99) == (isKept ? receipts : []))
    }
    try branch.crash()
    #expect(
      try branch.store.page(of: .deposit, after: 0, limit: 99).map(\.ticket) == [
        1, 2, 3, 4, 5, 46, 47, 48, 49, 50,
      ])
    #expect(try branch.store.audit().problems == [])
  }

  @Test("moves customers between waiting, delayed and dead", arguments: StoreKind.allCases)
  func states(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let customers = try (0..<5).map { _ in try branch.arrive(.loan) }
    try branch.postpone(try branch.fail(customers[0], .failed), until: 900)
    try branch.postpone(try branch.fail(customers[1]), until: 300)
    try branch.deadLetter(try branch.fail(customers[2]))
    try branch.commit()
    #expect(try branch.store.page(of: .loan, after: 0, limit: 9).map(\.ticket) == [4, 5])
    #expect(try branch.store.countUnfinished(1...5) == 4)
    #expect(try branch.store.countUnfinished(2...4) == 2)
    #expect(try branch.store.countUnfinished(-9...Int64.max) == 4)
    #expect(try branch.store.countUnfinished(6...9) == 0)
    #expect(try [1...5, 3...3, 4...9, -9...Int64.max].map(branch.store.countDead) == [1, 1, 0, 1])
    try branch.crash()
    #expect(branch.delayedAtStart.map(\.customer.ticket) == [2, 1])
    #expect(branch.delayedAtStart.map(\.dueAt.milliseconds) == [300, 900])
    #expect(branch.delayedAtStart[1].customer.failures == 1)
    let dead = try #require(try branch.store.find(3))
    #expect(dead.state == .dead && dead.dueAt == nil && dead.customer.crashes == 1)

    var revived = dead.customer
    revived.crashes = 0
    try branch.makeWaiting(revived, from: .dead)
    try branch.makeWaiting(branch.delayedAtStart[0].customer, from: .delayed)
    try branch.commit()
    #expect(try branch.store.page(of: .loan, after: 0, limit: 9).map(\.ticket) == [2, 3, 4, 5])
    #expect(try branch.store.find(3)?.customer == revived)
    #expect(try branch.store.find(2)?.dueAt == nil)
    try branch.finish(branch.delayedAtStart[1].customer, from: .delayed, .cancelled)
    try branch.finish(revived, from: .waiting, .cancelled)
    try branch.finish(customers[3], from: .waiting)
    try branch.commit()
    let day = branch.dayCounters.day
    #expect(
      try [1...5, 1...1, 2...4, 4...9].map { try branch.store.countCancelled($0, on: day) } == [2, 1, 1, 0])
    #expect(try branch.store.countCancelled(1...9, on: day + 1) == 0)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("lists the customers of a state, line after line", arguments: StoreKind.allCases)
  func lists(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for index in 0..<36 {
      let customer = try branch.arrive(Line.graded[(index * 5) % 6])
      if index % 3 == 1 { try branch.postpone(customer, until: 1) }
      if index % 3 == 2 { try branch.deadLetter(customer) }
    }
    try branch.commit()
    for state in [CustomerState.waiting, .delayed, .dead] {
      let all = try branch.store.customers(in: state, after: nil, limit: 99)
      #expect(all.count == 12)
      #expect(all.allSatisfy { $0.state == state && ($0.dueAt != nil) == (state == .delayed) })
      #expect(
        all.map { [Int64(Line.graded.firstIndex(of: $0.customer.line) ?? -1), $0.customer.ticket] }.isSorted)
      var cursor: TicketCursor?
      var listed: [StoredCustomer] = []
      while true {
        let page = try branch.store.customers(in: state, after: cursor, limit: 5)
        listed += page
        guard let last = page.last?.customer else { break }
        cursor = TicketCursor(state: state, line: last.line, after: last.ticket)
      }
      #expect(listed == all)
    }
    #expect(try branch.store.customers(in: .serving, after: nil, limit: 9).isEmpty)
    #expect(try branch.store.customers(in: .done, after: nil, limit: 9).isEmpty)
  }

  @Test(
    "knows the attempt that made a dead letter, also when the customer is requeued or cancelled",
    arguments: StoreKind.allCases)
  func deadLetterNames(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    func fatal() throws -> [Bool] { try branch.store.attempts(day: 1, ticket: 1).map(\.isFatal) }
    var customer = try branch.fail(try branch.fail(try branch.arrive(.deposit)))
    try branch.commit()
    let dayCounters = branch.dayCounters
    try branch.deadLetter(customer)
    #expect(try fatal() == [false, true])
    branch.rollBack(to: dayCounters)
    #expect(try fatal() == [false, false])
    try branch.deadLetter(customer)
    try branch.commit()
    try branch.makeWaiting(customer, from: .dead)
    customer = try branch.fail(customer)
    #expect(try fatal() == [false, true, false])
    customer = try branch.fail(customer)
    try branch.deadLetter(customer)
    try branch.commit()
    #expect(try fatal() == [false, true, false, true])
    try branch.finish(customer, from: .dead, .cancelled)
    try branch.commit()
    #expect(try fatal() == [false, true, false, true])
    #expect(try branch.store.audit().problems == [])
  }

  @Test("keeps attempts in order, with the way the process ended", arguments: StoreKind.allCases)
  func attempts(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    var customer = try branch.arrive(.deposit)
    var expected: [Attempt] = []
    for end in [AttemptEnd.killed, .leaseExpired, .recalled, .failed] {
      var attempt = branch.attempt(at: customer, end)
      attempt.processEnd = end == .failed ? .code(-3) : end == .killed ? .signal(9) : nil
      expected.append(attempt)
      try branch.store.stage(.record(attempt))
      customer.attempts += 1
      try branch.store.stage(.update(customer))
    }
    try branch.commit()
    #expect(try branch.store.attempts(day: 1, ticket: 1) == expected)
    #expect(try branch.store.attempts(day: 2, ticket: 1).isEmpty)
    #expect(storeError { try branch.store.stage(.record(expected[0])) }?.kind == "damaged")
    try branch.finish(customer)
    try branch.commit()
    #expect(try branch.store.receipt(day: 1, ticket: 1)?.attempts == 5)
    #expect(try branch.store.audit().problems == [])
  }

  @Test("keeps idempotency keys by their bytes", arguments: StoreKind.allCases)
  func keys(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    for _ in 0..<4 { try branch.arrive(.deposit) }
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    let names = ["", "a", "a\0b", composed, decomposed, String(repeating: "열", count: 66)]
    for (index, name) in names.enumerated() {
      try branch.store.stage(.remember(key: name, day: 1, first: 1, last: 1 + Int64(index % 4)))
    }
    try branch.commit()
    try branch.crash()
    for (index, name) in names.enumerated() {
      let expected = IssuedTickets(day: 1, first: 1, last: 1 + Int64(index % 4))
      #expect(try branch.store.tickets(forKey: name) == expected)
    }
    #expect(try branch.store.tickets(forKey: "b") == nil)
    #expect(try branch.store.request(forKey: "a")?.request == nil, "what was not given is not invented")
    try branch.store.stage(.remember(key: "b", day: 1, first: 2, last: 3, request: .min))
    let known = KeyedRequest(tickets: IssuedTickets(day: 1, first: 2, last: 3), request: .min)
    #expect(try branch.store.request(forKey: "b") == known)
    try branch.commit()
    try branch.crash()
    #expect(try branch.store.request(forKey: "b") == known)
    #expect(known.isRepeated(by: .min) && known.isRepeated(by: nil) && !known.isRepeated(by: .max))
    let again = storeError { try branch.store.stage(.remember(key: "a", day: 1, first: 2, last: 2)) }
    #expect(again?.kind == "damaged")
    #expect(try branch.store.audit().problems == [])
  }
}

extension [[Int64]] {
  var isSorted: Bool { zip(self, dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) } }
}
