// The window in which a branch looks for due customers. Customers called before cost nothing while a snapshot
// is held, and none is overlooked for that.

import BankModel
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Due customers")
struct DueSearchRangeTests {
  @Test("A look starts after the one before it, and now and then at the beginning")
  func window() {
    var window = DueSearchRange()
    var now = MonotonicTime(nanoseconds: 1)
    #expect(window.next(at: now) == DueSearchRange.everything)
    now = now + .seconds(1)
    #expect(window.next(at: now) == 7_000)
    now = now + .seconds(20)
    #expect(window.next(at: now) == 45_000 && window.last == 45_000)
    window.reset()
    #expect(window.next(at: now) == DueSearchRange.everything)
    let polls = (0..<60).map { _ in window.next(at: now) }
    #expect(polls.filter { $0 == DueSearchRange.everything }.count == 2)
  }

  /// The pages that a statement has visited.
  private func pages(_ stage: StoreDatabase, _ statement: String) throws -> Int {
    let rows = try stage.client.rows(.once("EXPLAIN (ANALYZE, BUFFERS) \(statement)"))[0]
    let hits = (0..<rows.count).compactMap { rows.text($0, 0) }.compactMap { line in
      line.firstRange(of: "shared hit=").flatMap { found in
        Int(line[found.upperBound...].prefix { $0.isNumber })
      }
    }
    return hits.first ?? 0
  }

  @Test(
    "While a snapshot is held, customers who were called before cost a look nothing",
    .enabled(if: PostgresCluster.isInstalled))
  func pinned() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("b")
    try stage.enqueue(branch, 400)
    let holder = try stage.another()
    try holder.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    try holder.rows(.once("SELECT count(*) FROM bank.day"))
    for round in 1...20 {
      try stage.client.run(
        "UPDATE bank.customer SET due_ms = \(PostgresSchema.nowMilliseconds) - 3600000 + \(round * 1_000)",
        "UPDATE bank.customer SET due_ms = NULL")
    }
    let poll = PostgresStatements.pollDay.text
    let lock = PostgresStatements.lockDue.text
    for text in [poll, lock] {
      let near = try pages(stage, text.replacing("$1", with: "7000"))
      // Without an upper bound all customers called before are visited.
      let all = try pages(stage, text.replacing("$1", with: "\(DueSearchRange.everything)"))
      #expect(near < 60 && all > near + 100, "\(near) and \(all) pages are visited")
    }
    try holder.run("ROLLBACK")
  }

  @Test(
    "A customer long overdue is found by the next look from the beginning",
    .enabled(if: PostgresCluster.isInstalled))
  func overdue() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    one.servesImmediately = true
    let soon = WallTime(milliseconds: SystemClock.wall().milliseconds + 3_600_000)
    guard
      case .issued = try stage.ask(
        one, { $0.enqueueCustomers($1, SharedStoreFixture.customers(3, dueAt: soon)) })
    else {
      Issue.record("no tickets")
      return
    }
    // As if the database's clock had been set forward, or no branch had looked for long.
    try stage.stage.client.run("UPDATE bank.customer SET due_ms = due_ms - 7200000")
    try stage.runLoop(within: .seconds(45)) { one.done.count == 3 }
    try stage.check()
  }
}
