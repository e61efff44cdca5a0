// The bank of one test in a PostgreSQL database of its own, and a client that writes to it by SQL, so that
// the reader is compared with data that no branch has written. Failure: the calling test fails.

import BankModel
import Postgres
import PostgresFixture
import PostgresQueries
import PostgresStore
import QueueCore
import Testing
import Time

final class ReaderDatabase {
  static let shared = Result { try PostgresCluster(["max_connections=60"]) }

  let address: String
  let client: PostgresClient

  init(prepared: Bool = true, on own: PostgresCluster? = nil) throws {
    let cluster = try own ?? Self.shared.get()
    let name = "t\(UInt64.random(in: 0...UInt64.max))"
    try PostgresClient.connected(cluster.address()).run("CREATE DATABASE \(name)")
    address = cluster.address(name)
    client = try PostgresClient.connected(address)
    guard prepared else { return }
    var told: Result<Int64, SchemaMigration.Failure>?
    SchemaMigration.begin(on: client.connection) { told = $0 }
    try client.runLoop { told != nil }
    #expect(told == .success(0))
    try run(
      "INSERT INTO bank.service VALUES (4, 'thumbs')",
      "INSERT INTO bank.lane VALUES (1, 1, 1), (2, 1, 3), (3, 2, 3), (4, 4, 3), (5, 4, 2004)",
      "INSERT INTO bank.lane VALUES (6, 3, 3, 1), (7, 3, 3, 2)",
      """
      INSERT INTO bank.branch (name, epoch, lease_expires_at, opened_ms, schema_version)
      SELECT 'b' || n, 1, clock_timestamp() + interval '1 hour', 0, 2 FROM generate_series(1, 3) n
      """)
  }

  /// Another connection for reading.
  func reading() throws -> PostgresReader { try PostgresReader(address) }

  func run(_ texts: String...) throws { for text in texts { try client.run(text) } }

  /// Receipts by an INSERT, and the commits to which they belong.
  static func receipts(_ insert: String) -> String { "WITH \(written(insert))" }

  /// The same after other tables of a WITH.
  static func written(_ insert: String) -> String {
    """
    written AS (\(insert) RETURNING day, ticket, outcome, branch, epoch, commit_no)
    INSERT INTO bank.commit AS c SELECT branch, epoch, commit_no, day, array_agg(ticket) FROM written
    WHERE outcome <> 2 GROUP BY branch, epoch, commit_no, day
    ON CONFLICT (branch, epoch, commit_no, day) DO UPDATE SET tickets = c.tickets || excluded.tickets
    """
  }

  /// Many in one transaction.
  func run(all texts: [String]) throws {
    var rest = texts[...]
    while !rest.isEmpty {
      switch try client.ask(rest.prefix(500).map { .once($0) }) {
      case .done: rest = rest.dropFirst(500)
      case .refused(let error), .unknown(let error): throw error
      }
    }
  }

  func number(_ text: String) throws -> Int64 {
    try #require(try client.rows(.once(text))[0].integer(0, 0))
  }
}

/// The lanes of ``ReaderDatabase``.
enum Lanes {
  static let lines: [Int64: Line] = [
    1: Line(service: .deposit, priority: .vvip), 2: Line(service: .deposit, priority: .regular),
    3: Line(service: .loan, priority: .regular), 4: Line(service: thumbs, priority: .regular),
    5: Line(service: thumbs, priority: Priority(2_000)),
  ]
  static let thumbs = Service(number: 4)
}
