// A database created by an older version of the program: it is migrated whole, and never while such a program
// may still write to it.

import BankModel
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("A PostgreSQL database of an older version", .enabled(if: PostgresCluster.isInstalled))
struct MigrationTests {
  /// A database of version 1 on its third day. Branch 1 has served tickets 1 to 7 by two commits, and 9 on
  /// the second day, and has cancelled 8.
  private func books() throws -> StoreStage {
    let stage = try StoreStage(prepared: false)
    let receipts = [(1...4, 1, 5, 3), (5...7, 1, 6, 3), (8...8, 2, 5, 3), (9...9, 1, 2, 2)].map {
      (tickets, outcome, commit, day) in
      """
      INSERT INTO bank.receipt (day, ticket, lane, outcome, generation, pid, attempts, amount, account, issued_ms, finished_ms,
        branch, epoch, commit_no)
      SELECT \(day), n, \(StoreStage.deposits), \(outcome), 1, 1, 1, 100, 5, 1, 2, 1, 3, \(commit)
      FROM generate_series(\(tickets.lowerBound), \(tickets.upperBound)) n
      """
    }
    let texts =
      PostgresSchema.migration(to: 1) + [
        "INSERT INTO bank.branch (name, epoch, expires_at, opened_ms) VALUES ('old', 3, now() + interval '1 hour', 0)",
        "INSERT INTO bank.day (day, opened_ms) VALUES (2, 5), (3, 9)",
        "CREATE TABLE bank.receipt_2 PARTITION OF bank.receipt FOR VALUES FROM (2) TO (3)",
        "CREATE TABLE bank.receipt_3 PARTITION OF bank.receipt FOR VALUES FROM (3) TO (4)",
        "CREATE TABLE bank.attempt_3 PARTITION OF bank.attempt FOR VALUES FROM (3) TO (4)",
        "INSERT INTO bank.claim VALUES (\(StoreStage.deposits), 1, 9, 1, 3, now(), 1)",
      ] + receipts
    for text in texts { try stage.client.run(text) }
    return stage
  }

  @Test(
    "It is not migrated while a branch of that version is open, or has left claims"
  )
  func inUse() throws {
    let stage = try books()
    let refusal = Result<Int64, PostgresPreparation.Failure>.failure(.inUse(version: 1))
    #expect(try stage.prepare(stage.client) == refusal)
    try stage.client.run("UPDATE bank.branch SET expires_at = '-infinity'")
    #expect(try stage.prepare(stage.client) == refusal)
    #expect(try stage.number("SELECT number FROM bank.version") == 1)
    for language in Language.allCases {
      #expect(PostgresPreparation.Failure.inUse(version: 1).message(in: language).contains("bankctl stop"))
    }
    // A branch of the older version has rescued it, or it has started again and was closed.
    for end in ["UPDATE bank.branch SET epoch = 4", "UPDATE bank.branch SET closed = true"] {
      let stage = try books()
      try stage.client.run("UPDATE bank.branch SET expires_at = '-infinity'", end)
      #expect(try stage.prepare(stage.client) == .success(1))
    }
  }

  @Test("Each commit has its tickets afterwards, and branches of the older version never join again")
  func commits() throws {
    let stage = try books()
    try stage.client.run("UPDATE bank.branch SET closed = true, expires_at = '-infinity'")
    let other = try stage.another()
    var told: [Result<Int64, PostgresPreparation.Failure>] = []
    for client in [stage.client, other] {
      PostgresPreparation.begin(on: client.connection) { told.append($0) }
    }
    try stage.client.turn { told.count == 2 }
    #expect(told.allSatisfy { $0 == .success(1) }, "\(told)")
    let former = PostgresBranch(id: 1, epoch: 3)
    #expect(
      try stage.ask(stage.client, former.receipts(of: [2, 5, 6])) == [
        2: [9], 5: [1, 2, 3, 4], 6: [5, 6, 7],
      ])
    #expect(try stage.number("SELECT count(*) FROM bank.commit_2") == 1)
    #expect(throws: PostgresError.self) {
      try stage.client.run(
        """
        INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing, host, opened_ms)
        VALUES ('old', 4, now(), pg_current_xact_id(), '', 1) ON CONFLICT (name) DO UPDATE SET epoch = b.epoch + 1
        """)
    }
    let branch = try stage.join("old")
    #expect(branch == PostgresBranch(id: 1, epoch: 4))
    for day in [Int64(3), 4] { try stage.ask(stage.client, PostgresPreparation.partition(for: day)) }
    try stage.client.run("INSERT INTO bank.intake (day, first, last, branch) VALUES (3, 1, 9, 1)")
    try stage.enqueue(branch, 5)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreStage.deposits, atMost: 10))
    let done = StoreStage.completion(of: page.map(\.position))
    #expect(try stage.ask(stage.client, branch.complete(done, number: 7)) == Array(10...14))
    #expect(try stage.ask(stage.client, branch.receipts(of: [7])) == [7: Array(10...14)])
  }
}
