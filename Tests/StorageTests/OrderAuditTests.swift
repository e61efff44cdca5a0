// The audit's judgement about order, by itself and against a database in which somebody was overtaken.

import BankModel
import QueueCore
import Testing

@testable import Storage

@Suite("The audit of the order")
struct OrderAuditTests {
  private static let line = Line(service: .loan, grade: .vip)

  /// Walks over customers of day 1: ticket, attempts, beginning.
  private func problems(
    _ customers: [(ticket: TicketNumber, attempts: Int64, startedAt: Int64)], openings: [Int64] = [0],
    disordered: Set<BusinessDay> = [], lines: [Line] = [line]
  ) -> [String] {
    var report = AuditReport()
    var walk = OrderWalk(openings: openings, disordered: disordered)
    for (index, customer) in customers.enumerated() {
      walk.visit(
        1, customer.ticket, lines[index % lines.count], attempts: customer.attempts,
        startedAt: customer.startedAt, &report)
    }
    return report.finished().problems
  }

  @Test("whoever begins in the order of numbers, or together, is in order")
  func ordered() {
    #expect(problems([(1, 1, 10), (2, 1, 10), (5, 1, 11)]) == [])
  }

  @Test("whoever was overtaken is named once, with the first who overtook")
  func overtaken() {
    #expect(
      problems([(1, 1, 10), (2, 1, 30), (3, 1, 20), (4, 1, 25), (5, 1, 40)]) == [
        "loan vip of day 1: ticket 3 was begun before ticket 2, which stood before it"
      ])
  }

  @Test("whoever came back to the line is explained by the attempts, whoever overtook is not")
  func attempts() {
    #expect(problems([(1, 1, 10), (2, 3, 30), (3, 1, 20)]) == [])
    #expect(problems([(1, 1, 30), (2, 2, 20)]).count == 1)
  }

  @Test("those of other lines are of no concern")
  func lines() {
    #expect(
      problems([(1, 1, 30), (2, 1, 20)], lines: [Self.line, Line(service: .loan, grade: .vvip)]) == [])
  }

  @Test("whoever was at a window when the coordinator was killed began again under the next one")
  func openings() {
    #expect(problems([(1, 1, 100), (2, 1, 20)], openings: [0, 50]) == [])
    #expect(problems([(1, 1, 100), (2, 1, 60)], openings: [0, 50]).count == 1)
    #expect(problems([(1, 1, 40), (2, 1, 20)], openings: [0, 50]).count == 1)
    #expect(problems([(1, 1, 40), (2, 1, 20)], openings: [50]) == [], "nothing is known of those days")
    #expect(problems([(1, 1, 40), (2, 1, 20)], openings: []) == [])
  }

  @Test(
    "nothing is said of moments that may be of two coordinators, because the clock went back between them")
  func doubtfulOpenings() {
    let customers: [(TicketNumber, Int64, Int64)] = [(1, 1, 170), (2, 1, 110)]
    #expect(problems(customers, openings: [100, 50]) == [])
    #expect(problems(customers, openings: [100, 50, 160]) == [])
    #expect(problems(customers, openings: [100, 50, 105]).count == 1)
  }

  @Test("nothing is said of a day on which the clock went back")
  func clock() {
    #expect(problems([(1, 1, 40), (2, 1, 20)], disordered: [1]) == [])
    var witness = ClockWitness()
    witness.visit(1, startedAt: 10, finishedAt: 20)
    witness.visit(1, startedAt: nil, finishedAt: 20)
    #expect(witness.disordered == [])
    witness.visit(2, startedAt: 15, finishedAt: 19)
    #expect(witness.disordered == [1, 2])
    witness.visit(3, startedAt: 30, finishedAt: 29)
    #expect(witness.disordered == [1, 2, 3])
  }

  @Test("a store finds a customer who was overtaken", arguments: StoreKind.allCases)
  func store(kind: StoreKind) throws {
    let branch = try Branch(kind)
    _ = try branch.store.beginIncarnation(at: branch.now)
    let first = try branch.arrive(Self.line)
    let second = try branch.arrive(Self.line)
    try branch.commit()
    try branch.finish(second)
    try branch.finish(first)
    try branch.commit()
    #expect(
      try branch.store.audit().problems == [
        "loan vip of day 1: ticket 2 was begun before ticket 1, which stood before it"
      ])
  }

  @Test("a database keeps the moment of every start, and what was begun before the last one is explained")
  func restart() throws {
    let branch = try Branch(.sqlite)
    _ = try branch.store.beginIncarnation(at: branch.now)
    let first = try branch.arrive(Self.line)
    let second = try branch.arrive(Self.line)
    try branch.finish(second)
    try branch.commit()
    try branch.crash()
    _ = try branch.store.beginIncarnation(at: branch.now)
    try branch.finish(first)
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }
}
