// A shared database that branches of each older version of the schema have left, with rows in every table but that of
// large requests in progress. After its migration the reader finds the same contents, and the audit finds no problem.

import BankModel
import Postgres
import PostgresFixture
import PostgresQueries
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("A filled shared database of an older version", .enabled(if: PostgresCluster.isInstalled))
struct OlderDatabaseTests {
  private static let versions = 1..<PostgresSchema.version

  /// A day of 42 tickets, left by three branches that have closed: 1 to 20 are served deposits, 21 to 30 were returned
  /// by branches 2 and 3, 31 to 35 were never claimed, 36 is delayed, 37 is dead after two attempts, 38 and 39 are
  /// loans, 40 waits for a juice of branch 2, 41 has a result, and 42 is a cancelled juice.
  private func stage(_ version: Int64) throws -> ReaderDatabase {
    let stage = try ReaderDatabase(prepared: false)
    for next in 1...version { try stage.run(all: PostgresSchema.migration(to: next)) }
    try stage.run(all: Self.unfinished + Self.finished + Self.shared(version))
    return stage
  }

  private static func place(_ state: Int64, _ lane: Int64) -> String {
    "((\(state)::bigint << 60) | (\(lane)::bigint << 40))"
  }

  private static let unfinished = [
    "INSERT INTO bank.service VALUES (4, 'thumbs')",
    "INSERT INTO bank.lane VALUES (2, 1, 3, 0), (3, 2, 3, 0), (4, 4, 3, 0), (7, 3, 3, 2)",
    "INSERT INTO bank.intake VALUES (1, 1, 20, 1, 'monday', 7, 1, 5), (1, 21, 42, 2, NULL, NULL, NULL, NULL)",
    "INSERT INTO bank.customer SELECT \(place(1, 2)) | n, 100, n, 1 FROM generate_series(21, 35) n",
    "INSERT INTO bank.customer VALUES (\(place(2, 2)) | 36, 100, 1, 1, 0, 0, 0, 0, false, 5000, NULL, 'two')",
    "INSERT INTO bank.customer VALUES (\(place(3, 2)) | 37, 100, 1, 1, 2, 0, 1, 2, true)",
    "INSERT INTO bank.customer SELECT \(place(1, 3)) | n, 100, n, 1 FROM generate_series(38, 39) n",
    "INSERT INTO bank.customer VALUES (\(place(1, 7)) | 40, 0, 5, 1, 0, 0, 0, 0, false, NULL, 'kiwi')",
    """
    INSERT INTO bank.attempt SELECT 1, 37, n, 1, 2, 1, 1, 1, 2, 5, NULL, NULL, 'no paper', n = 2, 1, 1
    FROM generate_series(1, 2) n
    """,
  ]

  private static let finished = [
    """
    INSERT INTO bank.receipt SELECT 1, n, 2, 1, 3, 1, 1, 1, 100, n, -1, n, 1, 1000 + n, 2000, NULL, 1, 1, n
    FROM generate_series(1, 20) n
    """,
    """
    INSERT INTO bank.receipt VALUES (1, 41, 4, 1, 3, 2, 9, 1, 0, 5, NULL, NULL, 1, 1500, 2500, NULL, 1, 1, 21,
      NULL, 77, 0, NULL, 'he', 'o', 5, 4, 'e', 'r', 2, 0)
    """,
    """
    INSERT INTO bank.receipt VALUES (1, 42, 7, 2, NULL, 0, 0, 0, 0, 5, NULL, NULL, 1, NULL, 2600, 'kiwi', 2, 1, 3)
    """,
    "INSERT INTO bank.release VALUES (2, 1, 42, 1)",
    """
    INSERT INTO bank.claim VALUES (2, 1, 10, 1, 1, '2026-01-01 10:00', 0), (2, 11, 20, 1, 1, '2026-01-01 10:01', 0),
      (4, 41, 41, 1, 1, '2026-01-01 10:02', 0)
    """,
    """
    INSERT INTO bank.former_claim (lane, first, last, branch, epoch, at)
    VALUES (2, 21, 25, 2, 1, '2026-01-01 10:03'), (2, 26, 30, 3, 1, '2026-01-01 10:04')
    """,
    "INSERT INTO bank.returned VALUES (2, 21, 25), (2, 26, 30)",
    """
    INSERT INTO bank.tally (branch, epoch, commit_no, day, lane, issued, waiting, delayed, dead, served, cancelled)
    VALUES (1, 1, 1, 1, 2, 20, 0, 0, 0, 20, 0), (2, 1, 1, 1, 2, 17, 15, 1, 1, 0, 0), (2, 1, 1, 1, 3, 2, 2, 0, 0, 0, 0),
      (1, 1, 21, 1, 4, 1, 0, 0, 0, 1, 0), (2, 1, 1, 1, 7, 2, 2, 0, 0, 0, 0), (2, 1, 3, 1, 7, 0, -1, 0, 0, 0, 1)
    """,
  ]

  /// Rows that this version has beyond version 1, and the branches.
  private static func shared(_ version: Int64) -> [String] {
    let (column, value) = version > 1 ? (", version", ", \(version)") : ("", "")
    let branches = """
      INSERT INTO bank.branch (name, epoch, expires_at, closed, paused, opened_ms\(column))
      SELECT 'b' || n, 2, '-infinity', true, '{2}', 0\(value) FROM generate_series(1, 3) n
      """
    let commits = [
      "INSERT INTO bank.commit SELECT 1, 1, n, 1, ARRAY[n] FROM generate_series(1, 20) n",
      "INSERT INTO bank.commit VALUES (1, 1, 21, 1, '{41}')",
    ]
    // A slice of a request that has no tickets yet.
    let slice = """
      INSERT INTO bank.arriving
      VALUES (1, 1, 9, 0, 0, 1, '{2}', '{1}', '{0}', '{1}', '{1}', '{1}', '{0}', '{NULL}', '{NULL}', '{NULL}', '{0}')
      """
    return [branches] + (version > 1 ? commits : []) + (version > 2 ? [slice] : [])
  }

  @Test("Its contents are the same after the migration, and the audit finds no problem", arguments: versions)
  func migrated(_ version: Int64) throws {
    let stage = try stage(version)
    let older = #expect(throws: StoreError.self) { _ = try stage.reading() }
    #expect(older?.description.contains("version \(version)") == true, "\(String(describing: older))")
    var told: Result<Int64, SchemaMigration.Failure>?
    SchemaMigration.begin(on: stage.client.connection) { told = $0 }
    try stage.client.runLoop { told != nil }
    #expect(told == .success(version))
    let reading = try stage.reading()
    let audit = try reading.audit()
    #expect(audit.problems == [])
    #expect(audit.issued == 42 && audit.served == 21 && audit.cancelled == 1)
    #expect(audit.waiting == 18 && audit.delayed == 1 && audit.dead == 1)

    #expect(
      try reading.request(forKey: "monday")
        == KeyedRequest(tickets: IssuedTickets(day: 1, first: 1, last: 20), request: 7))
    let delayed = try #require(try reading.find(36))
    #expect(delayed.state == .delayed && delayed.dueAt == WallTime(milliseconds: 5_000))
    #expect(try reading.payload(of: 36) == Array("two".utf8))
    let dead = try #require(try reading.find(37))
    #expect(dead.customer.attempts == 2 && dead.customer.failures == 1)
    #expect(dead.customer.startedAttempts == 2 && dead.customer.isAttemptRunning)
    #expect(try reading.find(40)?.customer.itemName == "kiwi")
    let attempts = try reading.attempts(day: 1, ticket: 37)
    #expect(attempts.map(\.words) == ["no paper", "no paper"] && attempts.map(\.isFatal) == [false, true])
    #expect(attempts.allSatisfy { $0.window.place == 2 })
    let served = try #require(try reading.receipt(day: 1, ticket: 41))
    #expect(served.window?.place == 3 && served.result?.duration == TimeSpan(nanoseconds: 77))
    #expect(
      served.result?.output
        == TruncatedOutput(first: Array("he".utf8), last: Array("o".utf8), length: 5, filed: 4))
    #expect(
      served.result?.errors
        == TruncatedOutput(first: Array("e".utf8), last: Array("r".utf8), length: 2, filed: 0))
    #expect(try reading.receipt(day: 1, ticket: 42)?.itemName == "kiwi")
    #expect(try reading.unreleased(after: nil, limit: 9) == [TicketOfDay(day: 1, ticket: 42)])
    #expect(
      try stage.number("SELECT count(*) FROM bank.branch WHERE paused_services = '{2}' AND epoch = 2") == 3)
    #expect(try stage.number("SELECT count(*) FROM bank.staged_slice") == (version > 2 ? 1 : 0))
  }
}
