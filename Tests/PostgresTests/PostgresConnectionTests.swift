// Connecting, and the end of connections: refusals and their sentences, the effect of a killed or silent
// server on requests in flight, and that no other program than the server is accepted.

import BankModel
import Glibc
import Posix
import PosixFixture
import PostgresFixture
import Testing
import Time

@testable import Postgres

@Suite("A connection", .enabled(if: PostgresCluster.isInstalled))
struct PostgresConnectionTests {
  private static let shared = Result { try PostgresCluster(["max_connections=40"]) }
  private let cluster: PostgresCluster

  init() throws { cluster = try Self.shared.get() }

  private func loss(_ address: String) throws -> PostgresError {
    let client = try PostgresClient(address)
    try client.runLoop { client.server != nil || !client.losses.isEmpty }
    try #require(client.server == nil, "it was let in")
    let error = try #require(client.losses.first)
    // Reported once, however often the loop runs afterwards.
    client.connection.finishIteration()
    #expect(client.losses.count == 1 && client.connection.nextDeadline == nil && client.loop.count == 0)
    for language in Language.allCases {
      #expect(!error.message(in: language).contains(PostgresCluster.password))
      #expect(!error.message(in: language).contains("\n"))
    }
    return error
  }

  @Test("A server is greeted, and shows us under our name")
  func greeted() throws {
    let client = try PostgresClient.connected(cluster.address())
    let server = try #require(client.server)
    #expect(server.version >= PostgresServer.minVersion && !server.isSynchronous)
    let rows = try client.rows(
      .once(
        """
        SELECT application_name, current_setting('jit'), current_setting('plan_cache_mode'), pg_backend_pid()
        FROM pg_stat_activity WHERE pid = pg_backend_pid()
        """))[0]
    #expect(rows.text(0, 0) == "bank" && rows.text(0, 1) == "off")
    #expect(rows.text(0, 2) == "force_generic_plan")
    #expect(rows.integer(0, 3) == Int64(client.connection.backend))
  }

  @Test("Over TCP the password comes from a file, and both ends notice a peer that is gone")
  func internet() throws {
    let client = try PostgresClient.connected(
      cluster.internetAddress("postgres", "&passfile=\(cluster.passwordFile)"))
    let rows = try client.rows(
      .once("SELECT current_setting('tcp_user_timeout'), current_setting('tcp_keepalives_idle')"))[0]
    #expect(rows.text(0, 0) == "4000" || rows.text(0, 0) == "4s")
    #expect(rows.text(0, 1) == "1")
  }

  @Test("Without a password the sentence names the place for it")
  func noPassword() throws {
    let error = try loss(cluster.internetAddress("postgres", "&passfile=/nonexistent"))
    #expect(error.reason == .passwordMissing && error.description.contains(".pgpass"))
    #expect(!error.isRetriable)
  }

  @Test("A wrong password, an unknown user and a missing database are distinguished")
  func refused() throws {
    let wrong = Paths.join(cluster.directory, "wrong-\(UInt32.random(in: 0...UInt32.max))")
    let file = try FileDescriptor.open(wrong, [.writeOnly, .create], mode: 0o600)
    _ = try file.write(Array("*:*:*:*:wrong\n".utf8))
    let denied = try loss(cluster.internetAddress("postgres", "&passfile=\(wrong)"))
    guard case .accessDenied = denied.reason else {
      Issue.record("\(denied)")
      return
    }
    let stranger = try loss(
      "postgres://unknown@/postgres?host=\(cluster.directory)&port=\(cluster.port)")
    guard case .accessDenied = stranger.reason else {
      Issue.record("\(stranger)")
      return
    }
    let missing = try loss(cluster.address("nowhere"))
    guard case .noDatabase = missing.reason else {
      Issue.record("\(missing)")
      return
    }
    #expect(missing.description.contains("nowhere") && !missing.isRetriable)
  }

  @Test("A missing listener is reported, and may be temporary")
  func noServer() throws {
    let empty = try TemporaryDirectory("postgres-missing")
    for address in ["postgres:///bank?host=\(empty.path)", "postgres://127.0.0.1:1/bank"] {
      let error = try loss(address)
      guard case .unreachable = error.reason else {
        Issue.record("\(error)")
        continue
      }
      #expect(error.isRetriable)
    }
  }

  @Test("A server that is suspended is given up at the deadline, while connecting and during requests")
  func noReply() throws {
    let cluster = try PostgresCluster(["fsync=off"])
    var limits = PostgresConnection.Limits()
    limits.timeout = .milliseconds(300)
    let client = try PostgresClient.connected(cluster.address(), limits: limits)
    // Nothing in flight, nothing to wait for.
    #expect(client.connection.nextDeadline == nil)
    let backend = client.connection.backend
    try cluster.signal(backend: backend, SIGSTOP)
    var outcomes: [PostgresError?] = []
    for _ in 0..<2 {
      try client.connection.send([.once("SELECT 1")]) { outcome in
        if case .unknown(let error) = outcome { outcomes.append(error) } else { outcomes.append(nil) }
      }
    }
    let began = SystemClock.monotonic()
    try client.runLoop { !client.losses.isEmpty }
    #expect(SystemClock.monotonic().since(began) >= .milliseconds(300))
    #expect(client.losses.map(\.reason) == [.noReply(milliseconds: 300)])
    #expect(outcomes == [client.losses[0], client.losses[0]])
    try cluster.signal(backend: backend, SIGCONT)
    // The postmaster itself: the kernel accepts the connection, and no process answers.
    let first = try cluster.postmaster
    try #require(kill(first, SIGSTOP) == 0)
    defer { kill(first, SIGCONT) }
    let late = try PostgresClient(cluster.address("postgres", "&connect_timeout=2"))
    try late.runLoop { !late.losses.isEmpty }
    #expect(late.losses.map(\.reason) == [.noReply(milliseconds: 2000)])
    #expect(late.losses[0].isRetriable)
  }

  @Test(
    "A killed server leaves requests in flight with unknown outcome; earlier results stay"
  )
  func killed() throws {
    let cluster = try PostgresCluster()
    let client = try PostgresClient.connected(cluster.address())
    try client.run("CREATE TABLE t (n int8 PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    // The first is answered, the second fails, and the third does not come to its end.
    var told: [String] = []
    let segments: [[String]] = [
      ["INSERT INTO t VALUES (2)"], ["INSERT INTO t VALUES (1)"],
      ["INSERT INTO t VALUES (3)", "SELECT pg_sleep(600)"], ["INSERT INTO t VALUES (4)"],
    ]
    for segment in segments {
      try client.connection.send(segment.map { .once($0) }) { outcome in
        switch outcome {
        case .done: told.append("done")
        case .refused(let error): told.append(error.sqlState ?? "")
        case .unknown: told.append("unknown")
        }
      }
    }
    try client.runLoop { told.count == 2 }
    try cluster.killServer()
    try client.runLoop { !client.losses.isEmpty && told.count == 4 }
    #expect(told == ["done", "23505", "unknown", "unknown"])
    guard client.losses.count == 1, case .lost = client.losses[0].reason else {
      Issue.record("\(client.losses)")
      return
    }
    #expect(client.losses[0].isRetriable)
    try cluster.start()
    let again = try PostgresClient.connected(cluster.address())
    #expect(try again.rows(.once("SELECT array_agg(n ORDER BY n) FROM t"))[0].integers(0, 0) == [1, 2])
  }

  @Test(
    "A session ended by an administrator has unknown outcome, because that may follow a commit")
  func terminated() throws {
    let client = try PostgresClient.connected(cluster.address())
    let other = try PostgresClient.connected(cluster.address())
    var told: PostgresError?
    try client.connection.send([.once("SELECT pg_sleep(60)")]) { outcome in
      if case .unknown(let error) = outcome { told = error }
    }
    try other.rows(.once("SELECT pg_terminate_backend(\(client.connection.backend))"))
    try client.runLoop { told != nil && !client.losses.isEmpty }
    #expect(told?.description.contains("57P01") == true, "\(String(describing: told))")
    #expect(client.losses == [told].compactMap { $0 })
  }

  @Test("An idle connection ends with the server regularly, too")
  func stopped() throws {
    let cluster = try PostgresCluster(["fsync=off"])
    let client = try PostgresClient.connected(cluster.address())
    try cluster.stop()
    try client.runLoop { !client.losses.isEmpty }
    #expect(client.losses.count == 1 && client.loop.count == 0)
    try cluster.start()
    _ = try PostgresClient.connected(cluster.address())
  }

  @Test("A proxy between us and the server is refused by name")
  func pooler() throws {
    let client = try PostgresClient.connected(cluster.address())
    let relay = try PostgresRelay(to: cluster, loop: client.loop)
    let address = "postgres://bank@/postgres?host=\(relay.directory)&port=\(cluster.port)"
    // One that forwards everything unchanged cannot be distinguished from a wire, and does no harm.
    _ = try PostgresClient.connected(address, loop: client.loop)
    relay.hidesBackendPID = true
    let hidden = try PostgresClient(address, loop: client.loop)
    try hidden.runLoop { !hidden.losses.isEmpty }
    #expect(hidden.losses.map(\.reason) == [.pooler] && hidden.server == nil)
    #expect(hidden.losses[0].description.contains("PgBouncer"))
    // And PgBouncer's own message about the options that every connection requests.
    let reason = PostgresError.whileConnecting(
      message: "FATAL:  unsupported startup parameter: options", needsPassword: false)
    #expect(reason == .pooler)
  }

  @Test("A connection on which nothing comes any more is given up, whatever the kernel reports")
  func cutOff() throws {
    let loop = try EventLoop()
    let relay = try PostgresRelay(to: cluster, loop: loop)
    var limits = PostgresConnection.Limits()
    limits.timeout = .seconds(1)
    let client = try PostgresClient.connected(
      "postgres://bank@/postgres?host=\(relay.directory)&port=\(cluster.port)", limits: limits, loop: loop)
    try client.rows(.once("SELECT 1"))
    relay.isSilent = true
    #expect(throws: PostgresError.self) { try client.rows(.once("SELECT 1")) }
    #expect(client.losses.map(\.reason) == [.noReply(milliseconds: 1000)])
  }

  @Test("A slow answer is read to its end while it is coming, even beyond the timeout")
  func slowLine() throws {
    let loop = try EventLoop()
    let relay = try PostgresRelay(to: cluster, loop: loop)
    var limits = PostgresConnection.Limits()
    limits.timeout = .seconds(1)
    let client = try PostgresClient.connected(
      "postgres://bank@/postgres?host=\(relay.directory)&port=\(cluster.port)", limits: limits, loop: loop)
    (relay.bytesPerPass, relay.pause) = (10_000, .milliseconds(100))
    let began = SystemClock.monotonic()
    let rows = try client.rows(.once("SELECT repeat('x', 250000)"))[0]
    #expect(rows.text(0, 0)?.utf8.count == 250_000)
    #expect(SystemClock.monotonic().since(began) >= .seconds(2), "twice the patience, by the line's pauses")
    // If it stops in the middle, that is noticed.
    try client.connection.send([.once("SELECT repeat('x', 250000)")]) { _ in }
    let middle = SystemClock.monotonic() + .milliseconds(500)
    try client.runLoop { SystemClock.monotonic() >= middle }
    relay.isSilent = true
    try client.runLoop { !client.losses.isEmpty }
    #expect(client.losses.map(\.reason) == [.noReply(milliseconds: 1000)])
  }

  @Test("A standby is refused, and among several hosts the primary is found")
  func hosts() throws {
    let empty = try TemporaryDirectory("postgres-missing")
    let client = try PostgresClient.connected(
      "postgres://bank@/postgres?host=\(empty.path),\(cluster.directory)&port=\(cluster.port)")
    try client.rows(.once("SELECT 1"))
    #expect(
      PostgresError.whileConnecting(message: "server is in hot standby mode", needsPassword: false)
        == .standby)
  }

  @Test("A dropped connection leaves nothing")
  func forgotten() throws {
    let loop = try EventLoop()
    var client: PostgresClient? = try PostgresClient.connected(cluster.address(), loop: loop)
    let backend = try #require(client?.connection.backend)
    try client?.connection.send([.once("SELECT 1")]) { _ in Issue.record("there is no receiver any more") }
    client = nil
    #expect(loop.count == 0)
    let other = try PostgresClient.connected(cluster.address())
    try other.runLoop {
      try other.rows(.once("SELECT count(*) FROM pg_stat_activity WHERE pid = \(backend)"))[0].integer(0, 0)
        == 0
    }
  }
}
