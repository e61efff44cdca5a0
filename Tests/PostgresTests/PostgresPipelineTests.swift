// Segments on a real server: prepared once, several in flight, in order, each a transaction of its own.

import Glibc
import Posix
import PosixFixture
import PostgresFixture
import Testing
import Time

@testable import Postgres

@Suite("A pipeline of transactions", .enabled(if: PostgresCluster.isInstalled))
struct PostgresPipelineTests {
  private static let cluster = Result { try PostgresCluster(["max_connections=40"]) }
  private let address: String
  private let client: PostgresClient

  /// Each test has a database of its own.
  init() throws {
    let cluster = try Self.cluster.get()
    let name = "t\(UInt64.random(in: 0...UInt64.max))"
    try PostgresClient.connected(cluster.address()).run("CREATE DATABASE \(name)")
    address = cluster.address(name)
    client = try PostgresClient.connected(address)
  }

  /// The most memory that this process has had, in KiB. proc(5)
  private static func peak() throws -> Int {
    let line = try contents(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line?.split { !$0.isNumber }.first.flatMap { Int($0) })
  }

  @Test("Values of every type are stored and come back unchanged")
  func values() throws {
    let echo = PostgresStatement(
      "echo", [.integer, .text, .bytes, .boolean, .integers, .texts, .manyBytes, .text, .integers],
      "SELECT $1, $2, $3, $4, $5, cardinality($6), $7[2], $8, $9, $6[1], $1::int4, $1::int2")
    let rows = try client.rows(
      echo(
        .integer(-7), .text("은행 \u{1F353}"), .bytes([0, 255, 0]), .boolean(true), .integers([.min, 0, .max]),
        .texts(["", nil]), .manyBytes([nil, [0, 1]]), .null, .integers([])))[0]
    #expect(rows.count == 1 && rows.columns == 12 && rows.affected == 1)
    #expect(rows.integer(0, 0) == -7 && rows.integer(0, 10) == -7 && rows.integer(0, 11) == -7)
    #expect(rows.text(0, 1) == "은행 \u{1F353}")
    #expect(rows.bytes(0, 2) == [0, 255, 0])
    #expect(rows.boolean(0, 3) == true)
    #expect(rows.integers(0, 4) == [.min, 0, .max])
    #expect(rows.integer(0, 5) == 2)
    #expect(rows.bytes(0, 6) == [0, 1])
    #expect(!rows.has(0, 7) && rows.text(0, 7) == nil)
    #expect(rows.integers(0, 8) == [])
    #expect(rows.text(0, 9) == "")
    // A value of another shape, or a missing one, is nil.
    #expect(rows.integer(0, 1) == nil && rows.integers(0, 1) == nil && rows.integer(9, 0) == nil)
    #expect(rows.integer(0, -1) == nil && rows.boolean(0, 0) == nil)
  }

  @Test("Four segments are in flight at once, and their outcomes come in order")
  func fourDeep() throws {
    try client.run("CREATE TABLE t (n int8 PRIMARY KEY)")
    let add = PostgresStatement("add", [.integers], "INSERT INTO t SELECT unnest($1) RETURNING n")
    let slow = PostgresStatement("slow", [], "SELECT pg_sleep(0.05)::text")
    var order: [Int] = []
    for number in 0..<4 {
      try client.connection.send([slow(), add(.integers([Int64(number), Int64(number) + 10]))]) { outcome in
        guard case .done(let results) = outcome else { return }
        #expect(results.count == 2 && results[1].integer(1, 0) == Int64(number) + 10)
        order.append(number)
      }
    }
    #expect(client.connection.inFlightCount == 4)
    try client.runLoop { client.connection.inFlightCount == 0 }
    #expect(order == [0, 1, 2, 3])
    // Prepared once, for all callers.
    let count = try client.rows(
      .once("SELECT count(*) FROM pg_prepared_statements WHERE name IN ('add', 'slow')"))
    #expect(count[0].integer(0, 0) == 2)
  }

  @Test("An error in the middle one rolls back all of that segment and nothing of the others")
  func middle() throws {
    try client.run("CREATE TABLE t (n int8 PRIMARY KEY)")
    let add = PostgresStatement("add", [.integer], "INSERT INTO t VALUES ($1)")
    var told: [String] = []
    for numbers in [[1, 2], [3, 1, 4], [5]] {
      try client.connection.send(numbers.map { add(.integer(Int64($0))) }) { outcome in
        switch outcome {
        case .done(let rows): told.append("done \(rows.map(\.affected))")
        case .refused(let error): told.append("refused \(error.sqlState ?? "")")
        case .unknown: told.append("unknown")
        }
      }
    }
    try client.runLoop { told.count == 3 }
    #expect(told == ["done [1, 1]", "refused 23505", "done [1]"])
    let left = try client.rows(.once("SELECT array_agg(n ORDER BY n) FROM t"))
    #expect(left[0].integers(0, 0) == [1, 2, 5])
  }

  @Test("An error found by the server at the commit itself refuses the segment")
  func deferred() throws {
    try client.run(
      "CREATE TABLE a (n int8 PRIMARY KEY)",
      "CREATE TABLE b (n int8 REFERENCES a DEFERRABLE INITIALLY DEFERRED)")
    var told: [String] = []
    for text in ["INSERT INTO b VALUES (1) RETURNING n", "SELECT 1"] {
      try client.connection.send([.once(text)]) { outcome in
        if case .refused(let error) = outcome {
          told.append(error.sqlState ?? "")
        } else {
          told.append("done")
        }
      }
    }
    try client.runLoop { told.count == 2 }
    #expect(told == ["23503", "done"])
    #expect(try client.rows(.once("SELECT count(*) FROM b"))[0].integer(0, 0) == 0)
  }

  @Test("A statement that cannot be prepared is refused by its own reason, each time, and blocks no other")
  func unprepared() throws {
    let wrong = PostgresStatement("wrong", [.integer], "SELECT nothing FROM nowhere WHERE n = $1")
    let right = PostgresStatement("right", [.integer], "SELECT $1")
    for _ in 0..<2 {
      guard case .refused(let error) = try client.ask([wrong(.integer(1)), right(.integer(1))]) else {
        Issue.record("it was not refused")
        continue
      }
      #expect(error.sqlState == "42P01", "\(error)")
    }
    #expect(try client.rows(right(.integer(3)))[0].integer(0, 0) == 3)
    try client.run("CREATE TABLE nowhere (n int8, nothing text)")
    #expect(try client.rows(wrong(.integer(1)))[0].count == 0)
  }

  @Test("A result of many rows comes whole, and one beyond the limit ends the connection")
  func large() async throws {
    let many = try client.rows(
      .once("SELECT g::int8 FROM generate_series(1, 100000) g"), .once("SELECT 7::int8"))
    #expect(many[0].count == 100_000 && many[0].integer(99_999, 0) == 100_000)
    #expect(many[1].integer(0, 0) == 7)
    var limits = PostgresConnection.Limits()
    limits.resultBytes = 100_000
    let small = try PostgresClient.connected(address, limits: limits)
    // Nothing is carried over from one segment to the next.
    for _ in 0..<3 { try small.rows(.once("SELECT repeat('x', 60000)")) }
    // In a process of its own, because the tests that run beside this one need memory, too.
    await #expect(processExitsWith: .success) { [address = address as String] in
      var limits = PostgresConnection.Limits()
      limits.resultBytes = 100_000
      let small = try PostgresClient.connected(address, limits: limits)
      let before = try Self.peak()
      let outcome = try small.ask([
        .once("SELECT 1"), .once("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)"),
      ])
      // The client gives the result up on the way, and not when a gigabyte has arrived.
      #expect(try Self.peak() - before < 64 << 10)
      guard case .unknown(let error) = outcome else {
        Issue.record("it has another outcome: \(outcome)")
        return
      }
      #expect(error.reason == .tooLarge(limit: 100_000))
      #expect(small.losses == [error] && !small.connection.isReady)
    }
  }

  @Test("No more is sent than the limits allow, and then it continues")
  func bounded() throws {
    var limits = PostgresConnection.Limits()
    limits.segments = 3
    limits.bytes = 100_000
    let client = try PostgresClient.connected(address, limits: limits)
    let size = PostgresStatement("size", [.bytes], "SELECT length($1)::int8")
    var told: [Int64?] = []
    func send(_ count: Int) throws {
      try client.connection.send([size(.bytes([UInt8](repeating: 1, count: count)))]) { outcome in
        if case .done(let rows) = outcome { told.append(rows[0].integer(0, 0)) }
      }
    }
    // More than the limit, and than the kernel's buffers, goes through without help.
    try send(3_000_000)
    #expect(throws: PostgresError.self) { try send(10) }
    try client.runLoop { told.count == 1 }
    for _ in 0..<3 { try send(10) }
    #expect {
      try send(10)
    } throws: { ($0 as? PostgresError)?.reason == .full }
    try client.runLoop { told.count == 4 }
    try send(10)
    try client.runLoop { told.count == 5 }
    #expect(told == [3_000_000, 10, 10, 10, 10])
  }

  @Test("A handler of an outcome may send, and may close")
  func withinOutcome() throws {
    var told = 0
    let connection = client.connection
    try connection.send([.once("SELECT 1")]) { _ in
      told += 1
      _ = try? connection.send([.once("SELECT 2")]) { _ in told += 1 }
    }
    try client.runLoop { told == 2 }
    var outcomes: [String] = []
    for _ in 0..<3 {
      try connection.send([.once("SELECT 1")]) { outcome in
        if case .done = outcome { outcomes.append("done") }
        if case .unknown(let error) = outcome, error.reason == .closed { outcomes.append("closed") }
        connection.close()
      }
    }
    try client.runLoop { outcomes.count == 3 }
    #expect(outcomes == ["done", "closed", "closed"])
    #expect(client.losses.isEmpty)
    #expect {
      try connection.send([.once("SELECT 1")]) { _ in }
    } throws: { ($0 as? PostgresError)?.reason == .closed }
  }

  @Test("Notifications are received, with or without requests, on a channel of any name")
  func notifications() throws {
    try client.connection.listen(to: "a \"channel\"")
    try client.runLoop { client.connection.inFlightCount == 0 }
    let other = try PostgresClient.connected(address)
    try other.rows(.once("SELECT pg_notify('a \"channel\"', 'one'), pg_notify('another', 'none')"))
    try client.runLoop { !client.notifications.isEmpty }
    try other.rows(.once("SELECT pg_notify('a \"channel\"', 'two')"))
    try client.rows(.once("SELECT pg_notify('a \"channel\"', 'three')"))
    try client.runLoop { client.notifications.count >= 3 }
    #expect(client.notifications == ["one", "two", "three"].map { "a \"channel\" \($0)" })
  }
}
