// Random histories on both stores at once: after every step they give the same answers. The store in memory
// is the model; a difference is a bug in one of the two. A failure prints the seed that repeats it.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Both stores")
struct StoreEquivalenceTests {
  @Test("agree after every step of random histories with rollbacks and crashes")
  func agree() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("agreement: seed \(seed) (to repeat, call history(seed:) with it)")
    for offset in 0..<8 as Range<UInt64> { try history(seed: seed &+ offset) }
  }

  @Test("agree if a customer becomes dead on a day that is not committed, and that is rolled back")
  func burialOnANewDay() throws {
    for branch in [try StoreFixture(.memory), try StoreFixture(.sqlite)] {
      let first = try branch.arrive(Line.graded[0])
      try branch.deadLetter(try branch.fail(first))
      try branch.commit()
      let committed = branch.dayCounters
      try branch.cancelEveryone()
      branch.startNextDay()
      let next = try branch.arrive(Line.graded[0])
      try branch.deadLetter(try branch.fail(next))
      #expect(try branch.store.attempts(day: 2, ticket: next.ticket).map(\.isFatal) == [true])
      branch.rollBack(to: committed)
      #expect(try branch.store.attempts(day: 1, ticket: first.ticket).map(\.isFatal) == [true])
    }
  }

  private func history(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    let branches = [try StoreFixture(.memory), try StoreFixture(.sqlite)]
    for step in 0..<150 {
      let roll = chance.draw(0...99)
      let choice = chance.next()
      for branch in branches {
        var chance = SeededGenerator(seed: choice)
        switch roll {
        case 0..<70: try change(branch, &chance)
        case 70..<92: try branch.commit()
        case 92..<96: branch.rollBack(to: try committedBooks(of: branch))
        default: try branch.crash()
        }
      }
      let answers = try branches.map { try self.answers(of: $0) }
      #expect(answers[0] == answers[1], "seed \(seed), step \(step)")
      if answers[0] != answers[1] { return }
    }
    for branch in branches {
      try branch.commit()
      #expect(try branch.store.audit().problems == [], "seed \(seed)")
    }
    #expect(try branches[0].store.audit() == branches[1].store.audit(), "seed \(seed)")
  }

  /// One random change at a branch, the same for the same chance.
  private func change(_ branch: StoreFixture, _ chance: inout SeededGenerator) throws {
    let kind = chance.draw(0...9)
    let waiting = try branch.store.customers(in: .waiting, after: nil, limit: 99).map(\.customer)
    let others =
      try branch.store.customers(in: .delayed, after: nil, limit: 99)
      + branch.store.customers(in: .dead, after: nil, limit: 99)
    let someone = waiting.isEmpty ? nil : waiting[Int(chance.draw(0...Int64(waiting.count - 1)))]
    let other = others.isEmpty ? nil : others[Int(chance.draw(0...Int64(others.count - 1)))]
    switch (kind, someone, other) {
    case (3, let someone?, _): try branch.finish(someone, leaving: result(&chance))
    case (4, let someone?, _): try branch.finish(someone, .cancelled)
    case (5, let someone?, _):
      _ = try branch.fail(
        someone, .leaseExpired, words: ["", "망가짐\u{0}", "no such file"][Int(chance.draw(0...2))])
    case (6, let someone?, _):
      try branch.postpone(try branch.fail(someone, .failed), until: chance.draw(0...9))
    case (7, let someone?, _): try branch.deadLetter(try branch.fail(someone))
    case (8, _, let other?):
      if chance.draw(0...1) == 0 {
        try branch.makeWaiting(other.customer, from: other.state)
      } else {
        try branch.finish(other.customer, from: other.state, .cancelled)
      }
    case (9, _, _) where chance.draw(0...5) == 0:
      try branch.cancelEveryone()
      branch.startNextDay()
    default:
      let first = branch.dayCounters.issued + 1
      for _ in 0..<chance.draw(1...4) {
        let line = Line.graded[Int(chance.draw(0...5))]
        guard chance.draw(0...4) == 0 else {
          try branch.arrive(line)
          continue
        }
        let customer = Customer(
          ticket: branch.dayCounters.issued + 1, service: line.service, priority: line.priority, amount: 5,
          account: 7,
          issuedAt: branch.now)
        try branch.store.stage(.insertDelayed(customer, dueAt: WallTime(milliseconds: chance.draw(0...9))))
        branch.dayCounters.issued += 1
        branch.dayCounters.delay(of: line.service)
      }
      guard chance.draw(0...1) == 0 else { return }
      let payload = (0..<chance.draw(0...3) * 3_000).map { UInt8(truncatingIfNeeded: $0) }
      try branch.store.stage(
        .attach(payload: payload, to: first...chance.draw(first...branch.dayCounters.issued)))
    }
  }

  /// The result of an attempt: nothing, a little, or so much that a page ends.
  private func result(_ chance: inout SeededGenerator) -> WorkResult? {
    guard chance.draw(0...1) == 0 else { return nil }
    func excerpt(_ chance: inout SeededGenerator) -> TruncatedOutput {
      let longest: Int64 = chance.draw(0...9) == 0 ? 600_000 : 300
      let first = (0..<chance.draw(0...longest)).map { UInt8(truncatingIfNeeded: $0) }
      let last = [UInt8](repeating: 7, count: Int(chance.draw(0...2)) * 40)
      let length = Int64(first.count + last.count) + chance.draw(0...1) * 1_000
      return TruncatedOutput(first: first, last: last, length: length, filed: chance.draw(0...length))
        ?? .nothing
    }
    let ending: ProcessEnd? = [nil, .code(0), .code(-1), .signal(9)][Int(chance.draw(0...3))]
    return WorkResult(
      ending: ending, duration: TimeSpan(nanoseconds: chance.draw(0...9_000_000_000)),
      output: excerpt(&chance), errors: excerpt(&chance))
  }

  private func committedBooks(of branch: StoreFixture) throws -> DayCounters {
    branch.store.rollBack()
    return try branch.store.load(now: branch.now).dayCounters
  }

  private struct Answers: Equatable {
    var dayCounters: DayCounters
    var customers: [[StoredCustomer]]
    var delayed: [DelayedCustomer]
    var nextDelayed: [DelayedCustomer]
    var payloads: [[UInt8]?]
    var receipts: [Receipt]
    var receiptsOfDay: [Receipt]
    var receiptsOfService: [Receipt]
    var receiptsAlone: [Receipt?]
    var attempts: [[Attempt]]
    var unfinished: Int64
  }

  private func answers(of branch: StoreFixture) throws -> Answers {
    let store = branch.store
    return Answers(
      dayCounters: branch.dayCounters,
      customers: try CustomerPosition.storedStates.map {
        try store.customers(in: $0, after: nil, limit: 999)
      },
      delayed: try store.delayed(after: .first, limit: 999),
      nextDelayed: try store.delayed(
        after: DuePosition(dueAt: WallTime(milliseconds: 4), ticket: 20), limit: 3),
      payloads: try (0...branch.dayCounters.issued + 1).map { try store.payload(of: $0) },
      receipts: try store.allReceipts(),
      receiptsOfDay: try store.receipts(day: branch.dayCounters.day, after: 3, limit: 20),
      receiptsOfService: try store.receipts(of: .loan, after: 2, through: 90, limit: 30),
      receiptsAlone: try (0...branch.dayCounters.issued).map {
        try store.receipt(day: branch.dayCounters.day, ticket: $0)
      },
      attempts: try (0...branch.dayCounters.issued).map {
        try store.attempts(day: branch.dayCounters.day, ticket: $0)
      },
      unfinished: try store.countUnfinished(3...40))
  }
}
