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
  private static let versions = 1..<PostgresSchema.version

  /// The statement by which a program of each version joined.
  private static let joins: [Int64: String] = [
    1: """
    INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing, host, opened_ms)
    VALUES ('old', 4, now(), pg_current_xact_id(), '', 1) ON CONFLICT (name) DO UPDATE SET epoch = b.epoch + 1
    """,
    2: """
    INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing, host, opened_ms, version)
    VALUES ('old', 4, now(), pg_current_xact_id(), '', 1, 2) ON CONFLICT (name) DO UPDATE SET epoch = b.epoch + 1
    """,
    3: """
    INSERT INTO bank.branch AS b (name, epoch, expires_at, fencing, host, opened_ms, version, proof)
    VALUES ('old', 4, now(), pg_current_xact_id(), '', 1, 3, '') ON CONFLICT (name) DO UPDATE SET epoch = b.epoch + 1
    """,
  ]

  /// A database of this version on its third day. Branch 1 has served tickets 1 to 7 by two commits, and 9 on
  /// the second day, and has cancelled 8. It is open.
  private func store(_ version: Int64) throws -> StoreDatabase {
    let stage = try StoreDatabase(prepared: false)
    let receipts = [(1...4, 1, 5, 3), (5...7, 1, 6, 3), (8...8, 2, 5, 3), (9...9, 1, 2, 2)].map {
      (tickets, outcome, commit, day) in
      """
      INSERT INTO bank.receipt (day, ticket, lane, outcome, generation, pid, attempts, amount, account, issued_ms, finished_ms,
        branch, epoch, commit_no)
      SELECT \(day), n, \(StoreDatabase.deposits), \(outcome), 1, 1, 1, 100, 5, 1, 2, 1, 3, \(commit)
      FROM generate_series(\(tickets.lowerBound), \(tickets.upperBound)) n
      """
    }
    var texts =
      PostgresSchema.migration(to: 1) + [
        "INSERT INTO bank.branch (name, epoch, expires_at, closed, opened_ms) VALUES ('old', 3, '-infinity', true, 0)",
        "INSERT INTO bank.day (day, opened_ms) VALUES (2, 5), (3, 9)",
        "CREATE TABLE bank.receipt_2 PARTITION OF bank.receipt FOR VALUES FROM (2) TO (3)",
        "CREATE TABLE bank.receipt_3 PARTITION OF bank.receipt FOR VALUES FROM (3) TO (4)",
        "CREATE TABLE bank.attempt_3 PARTITION OF bank.attempt FOR VALUES FROM (3) TO (4)",
        "INSERT INTO bank.claim VALUES (\(StoreDatabase.deposits), 1, 9, 1, 3, now(), 1)",
      ] + receipts
    for next in 1..<version { texts += PostgresSchema.migration(to: next + 1) }
    texts.append("UPDATE bank.branch SET closed = false, expires_at = now() + interval '1 hour'")
    for text in texts { try stage.client.run(text) }
    return stage
  }

  /// Lets the branch of the older version close, and migrates its database.
  private func migrated(_ version: Int64, _ texts: String...) throws -> StoreDatabase {
    let stage = try store(version)
    for text in texts { try stage.client.run(text) }
    try stage.client.run("UPDATE bank.branch SET closed = true, expires_at = '-infinity'")
    #expect(try stage.prepare(stage.client) == .success(version))
    return stage
  }

  @Test(
    "It is not migrated while a branch of that version is open, or has left claims", arguments: versions
  )
  func inUse(_ version: Int64) throws {
    let stage = try store(version)
    let refusal = Result<Int64, SchemaMigration.Failure>.failure(.inUse(version: version))
    #expect(try stage.prepare(stage.client) == refusal)
    try stage.client.run("UPDATE bank.branch SET expires_at = '-infinity'")
    #expect(try stage.prepare(stage.client) == refusal)
    #expect(try stage.number("SELECT number FROM bank.version") == version)
    for language in Language.allCases {
      #expect(SchemaMigration.Failure.inUse(version: 1).message(in: language).contains("bankctl stop"))
    }
    // A branch of the older version has rescued it, or it has started again and was closed.
    for end in ["UPDATE bank.branch SET epoch = 4", "UPDATE bank.branch SET closed = true"] {
      let stage = try store(version)
      try stage.client.run("UPDATE bank.branch SET expires_at = '-infinity'", end)
      #expect(try stage.prepare(stage.client) == .success(version))
    }
  }

  @Test(
    "Each commit has its tickets afterwards, and branches of the older version never join again",
    arguments: versions)
  func commits(_ version: Int64) throws {
    let stage = try store(version)
    let join = try #require(Self.joins[version])
    try stage.client.run("BEGIN", join, "ROLLBACK")
    try stage.client.run("UPDATE bank.branch SET closed = true, expires_at = '-infinity'")
    let other = try stage.another()
    var received: [Result<Int64, SchemaMigration.Failure>] = []
    for client in [stage.client, other] {
      SchemaMigration.begin(on: client.connection) { received.append($0) }
    }
    try stage.client.runLoop { received.count == 2 }
    // The second one may look after the first one has migrated the database, or between two of its steps.
    #expect(received.contains(.success(version)), "\(received)")
    let possible = (version...PostgresSchema.version).map {
      Result<Int64, SchemaMigration.Failure>.success($0)
    }
    #expect(received.allSatisfy(possible.contains), "\(received)")
    let former = PostgresBranch(id: 1, epoch: 3)
    #expect(
      try stage.ask(stage.client, former.receipts(of: [2, 5, 6])) == [
        2: [9], 5: [1, 2, 3, 4, 8], 6: [5, 6, 7],
      ])
    #expect(try stage.number("SELECT count(*) FROM bank.commit_2") == 1)
    for join in Self.joins.values { #expect(throws: PostgresError.self) { try stage.client.run(join) } }
    let branch = try stage.join("old")
    #expect(branch == PostgresBranch(id: 1, epoch: 4))
    for day in [Int64(3), 4] { try stage.ask(stage.client, SchemaMigration.partition(for: day)) }
    try stage.client.run("INSERT INTO bank.ticket_batch (day, first, last, branch) VALUES (3, 1, 9, 1)")
    try stage.enqueue(branch, 5)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    let done = StoreDatabase.completion(of: page.map(\.position))
    #expect(try stage.ask(stage.client, branch.complete(done, number: 7)) == Array(10...14))
    #expect(try stage.ask(stage.client, branch.receipts(of: [7])) == [7: Array(10...14)])
  }

  @Test(
    "Programs of any version recognize the database, and its version is the reason to refuse an older one",
    arguments: versions)
  func recognized(_ version: Int64) throws {
    let former = "SELECT value FROM bank.meta WHERE name = 'books'"
    let stage = try store(version)
    let number = try #require(try stage.number(former))
    #expect(try stage.ask(stage.client, ServerProbe.number) == number)
    try stage.client.run("UPDATE bank.branch SET closed = true, expires_at = '-infinity'")
    #expect(try stage.prepare(stage.client) == .success(version))
    #expect(try stage.ask(stage.client, ServerProbe.number) == number)
    #expect(try stage.number(former) == number)
    #expect(try stage.number("SELECT number FROM bank.version") == PostgresSchema.version)
    #expect(
      try stage.number(
        """
        SELECT count(*) FROM pg_class WHERE relnamespace = 'bank'::regnamespace
          AND relname ~ '^(tally|intake|arriving|batch|returned_pkey|returned$|former|release_|release$)'
        """) == 0)
  }

  @Test("A large request of version 3 that has its tickets is moved to its lines afterwards")
  func large() throws {
    let lane = StoreDatabase.deposits
    let waiting = PostgresPosition.of(lane: lane, ticket: 0)
    let delayed = PostgresPosition.of(state: 2, lane: lane, ticket: 0)
    let stage = try migrated(
      3, "INSERT INTO bank.intake VALUES (3, 10, 12, 1, 'k', 7, 3, 5)",
      "INSERT INTO bank.batch VALUES (1, 3, 5, 3, 10, 10, 12, 1, '{\(lane)}')",
      """
      INSERT INTO bank.arriving VALUES (1, 3, 5, 0, 0, 3, '{\(lane)}', '{2}', '{1}',
        '{\(waiting), \(waiting), \(delayed)}', '{1, 2, 3}', '{4, 5, 6}', '{0, 0, 9000}', '{NULL, kiwi, NULL}',
        '{NULL, NULL, x}', '{NULL, NULL, NULL}', '{0, 0, 0}')
      """)
    let name = LargeRequestID(branch: 1, epoch: 3, number: 5)
    #expect(try !stage.ask(stage.client, PostgresBranch.moveSlices(name)))
    #expect(
      try stage.number("SELECT count(*) FROM bank.customer WHERE item_name = 'kiwi' AND amount = 2") == 1)
    #expect(try stage.number("SELECT due_ms FROM bank.customer WHERE position = \(delayed + 12)") == 9_000)
    #expect(try stage.number("SELECT count(*) FROM bank.staged_batch") == 0)
    #expect(try stage.number("SELECT count(*) FROM bank.staged_slice") == 0)
    #expect(
      try stage.number("SELECT issued * 100 + waiting * 10 + delayed FROM bank.counter_delta") == 321)
  }
}
