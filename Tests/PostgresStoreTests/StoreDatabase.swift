// The bank of one test in a PostgreSQL database of its own, and branches that use it over one loop. SQL of
// its own checks what must always hold there. Failure: the calling test fails.

import BankModel
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

final class StoreDatabase {
  static let shared = Result { try PostgresCluster(["max_connections=60"]) }
  static let deposits: Int64 = 4864
  static let loans: Int64 = 8960

  let address: String
  let client: PostgresClient
  private var lastNumber: Int64 = 0

  /// An existing database.
  init(at address: String) throws {
    self.address = address
    client = try PostgresClient.connected(to: .ofSharedStore(address))
  }

  init(prepared: Bool = true, on own: PostgresCluster? = nil) throws {
    let cluster = try own ?? Self.shared.get()
    let name = "t\(UInt64.random(in: 0...UInt64.max))"
    try PostgresClient.connected(cluster.address()).run("CREATE DATABASE \(name)")
    address = cluster.address(name)
    client = try PostgresClient.connected(to: .ofSharedStore(address))
    guard prepared else { return }
    #expect(try prepare(client) == .success(0))
    try ask(client, SchemaMigration.partition(for: 1))
  }

  /// Another connection, on the loop of the first.
  func another() throws -> PostgresClient {
    try PostgresClient.connected(to: .ofSharedStore(address), loop: client.loop)
  }

  func prepare(_ client: PostgresClient) throws -> Result<Int64, SchemaMigration.Failure> {
    var received: Result<Int64, SchemaMigration.Failure>?
    SchemaMigration.begin(on: client.connection) { received = $0 }
    try client.runLoop { received != nil }
    return try #require(received)
  }

  /// Sends a request and waits for the answer.
  @discardableResult
  func ask<Answer>(_ client: PostgresClient, _ request: PostgresRequest<Answer>) throws -> Answer {
    let answer = try begin(client, request)
    try client.runLoop { answer.received != nil }
    return try answer.value()
  }

  /// Sends a request; the answer comes while the caller runs the loop.
  func begin<Answer>(_ client: PostgresClient, _ request: PostgresRequest<Answer>) throws -> Pending<Answer> {
    let pending = Pending<Answer>()
    try client.connection.send(request) { pending.received = $0 }
    return pending
  }

  final class Pending<Answer> {
    var received: PostgresAnswer<Answer>?

    func value() throws -> Answer {
      switch try #require(received) {
      case .done(let answer): return answer
      case .refused(let error), .unknown(let error): throw error
      }
    }
  }

  func join(_ name: String, lease: TimeSpan = .seconds(60)) throws -> PostgresBranch {
    try ask(client, PostgresBranch.join(name, lease: lease)).branch
  }

  /// Issues this number of tickets of a lane.
  func enqueue(_ branch: PostgresBranch, _ count: Int, lane: Int64 = StoreDatabase.deposits) throws {
    var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: 1_000))
    for number in 0..<count {
      customers.add(
        CustomerOrder(
          service: lane == Self.loans ? .loan : .deposit, priority: .regular, amount: 100 + Int64(number),
          account: Int64(number)))
    }
    let answers = try ask(client, branch.issueTickets([intake(branch, customers)]))
    guard case .given = answers[0] else {
      Issue.record("\(answers)")
      return
    }
  }

  /// A request of the branch for tickets, under a number that was not used before.
  func intake(_ branch: PostgresBranch, _ customers: EnqueueRequest) -> PostgresEnqueue {
    lastNumber += 1
    let lanes = [
      Line(service: .deposit, priority: .regular): Self.deposits,
      Line(service: .loan, priority: .regular): Self.loans,
    ]
    return PostgresEnqueue(
      customers: EnqueueColumns(customers), lanes: lanes, commit: 1_000_000 + lastNumber,
      name: (branch.epoch, 1_000_000 + lastNumber))
  }

  func intake(
    _ branch: PostgresBranch, count: Int, _ change: (inout CustomerOrder) -> Void = { _ in }
  ) -> PostgresEnqueue {
    var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: 5))
    var order = CustomerOrder(service: .deposit, priority: .regular, amount: 1, account: 2)
    change(&order)
    for _ in 0..<count { customers.add(order) }
    return intake(branch, customers)
  }

  static func completion(of positions: [Int64]) -> PostgresCompletion {
    var completion = PostgresCompletion()
    for position in positions {
      completion.add(
        position: position, outcome: 1, place: 3, generation: 2, pid: 4242, attempts: 1, transfer: (-1, 7),
        started: 2_000, finished: 3_000)
    }
    return completion
  }

  /// Lets a lease run out.
  func expire(_ branch: PostgresBranch) throws {
    try client.run("UPDATE bank.branch SET lease_expires_at = '-infinity' WHERE id = \(branch.id)")
  }

  func number(_ text: String) throws -> Int64? { try client.rows(.once(text))[0].integer(0, 0) }

  /// Checks all invariants in one snapshot, whatever branches are doing.
  func check() throws {
    try client.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    try checkSnapshot()
    try client.run("COMMIT")
  }

  private func checkSnapshot() throws {
    let overlaps = try number(
      """
      SELECT count(*) FROM (
        SELECT first, max(last) OVER (
          PARTITION BY lane ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
        FROM (SELECT lane, first, last FROM bank.claim
          UNION ALL SELECT lane, first, last FROM bank.returned_range) AS piece
      ) AS pieces WHERE first <= before
      """)
    #expect(overlaps == 0, "two claims overlap")
    let issued = try number("SELECT coalesce(sum(last - first + 1), 0)::bigint FROM bank.ticket_batch")
    let kept = try number(
      "SELECT (SELECT count(*) FROM bank.customer) + (SELECT count(*) FROM bank.receipt)")
    #expect(issued == kept, "tickets were lost or doubled")
    let gaps = try number(
      """
      SELECT count(*) FROM (SELECT first, lag(last, 1, 0::bigint) OVER (PARTITION BY day ORDER BY last) AS before
      FROM bank.ticket_batch) AS i WHERE first <> before + 1
      """)
    #expect(gaps == 0, "the tickets have gaps")
    let strangers = try number(
      """
      SELECT count(*) FROM bank.receipt r WHERE r.outcome <> 2 AND NOT EXISTS (
        SELECT FROM (SELECT lane, first, last, branch, epoch FROM bank.claim
          UNION ALL SELECT lane, first, last, branch, epoch FROM bank.released_claim) AS k
        WHERE k.lane = r.lane AND r.ticket BETWEEN k.first AND k.last AND k.branch = r.branch AND k.epoch = r.epoch)
      """)
    #expect(strangers == 0, "a receipt is in no claim of its epoch")
    let commits = """
      SELECT branch, epoch, commit_no, day, unnest(tickets) FROM bank.commit
      """
    let receipts = "SELECT branch, epoch, commit_no, day, ticket FROM bank.receipt WHERE outcome <> 2"
    for (some, others) in [(commits, receipts), (receipts, commits)] {
      let left = try number("SELECT count(*) FROM (\(some) EXCEPT ALL \(others)) AS d")
      #expect(left == 0, "a commit and its receipts have different tickets")
    }
    let uncounted = try number(
      """
      SELECT count(*) FROM (
        SELECT lane, sum(waiting)::bigint, sum(delayed)::bigint, sum(dead)::bigint, sum(served)::bigint,
          sum(out_of_stock)::bigint, sum(cancelled)::bigint
        FROM bank.counter_delta WHERE lane > 0 AND day = (SELECT max(day) FROM bank.day) GROUP BY lane
        EXCEPT
        SELECT lane, count(*) FILTER (WHERE state = 1), count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE state = 3),
          count(*) FILTER (WHERE state = -1), count(*) FILTER (WHERE state = -3), count(*) FILTER (WHERE state = -2)
        FROM (SELECT (position >> 40) & 1048575 AS lane, position >> 60 AS state FROM bank.customer
          UNION ALL SELECT lane, -outcome FROM bank.receipt WHERE day = (SELECT max(day) FROM bank.day)) AS row GROUP BY lane) AS t
      """)
    #expect(uncounted == 0, "the tallies do not add up")
  }
}
