// Branches whose database is replaced under their address: by an empty one, by another bank's, by an older
// state, or by a server that another one has succeeded. None is used silently, and none is created in place
// of a known one.

import BankModel
import Glibc
import Posix
import PosixFixture
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Identity of the database", .enabled(if: PostgresCluster.isInstalled))
struct ServerIdentityTests {
  private static let known = SharedStoreProgress(bankID: 7, system: 1, timeline: 3)

  @Test("A connection is used only at the known database, and at the highest timeline")
  func judgement() {
    func decide(
      _ system: Int64, _ timeline: Int64, _ bankID: Int64?, first: Bool = false, hasOthers: Bool = false,
      known: SharedStoreProgress? = Self.known
    ) -> ConnectionDecision {
      SharedStoreProgress.decide(
        ServerIdentity(system: system, timeline: timeline, bankID: bankID), knowing: known, isFirst: first,
        hasOtherConnections: hasOthers)
    }
    #expect(decide(1, 3, 7) == .open && decide(1, 4, 7, hasOthers: true) == .openAlone)
    #expect(decide(1, 2, 7) == .refuse(.formerServer(timeline: 2, known: 3)))
    #expect(decide(1, 3, nil, first: true) == .refuse(.noBankSchema))
    #expect(decide(1, 3, 8, first: true) == .refuse(.otherDatabase))
    #expect(decide(2, 1, 7) == .openAlone && decide(2, 1, 7, hasOthers: true) == .refuse(.otherServer))
    #expect(decide(1, 3, nil, known: nil) == .wait && decide(1, 3, nil, first: true, known: nil) == .open)
  }

  /// The name of a stage's database, and a client that has no connection to it.
  private func database(
    of stage: SharedStoreFixture, on cluster: PostgresCluster
  ) throws -> (name: String, admin: PostgresClient) {
    let name = try #require(
      try stage.stage.client.rows(.once("SELECT current_database()::text"))[0].text(0, 0))
    return (name, try PostgresClient.connected(cluster.address()))
  }

  private static func empty(_ name: String, _ admin: PostgresClient) throws {
    try admin.run(
      "ALTER DATABASE \(name) ALLOW_CONNECTIONS false",
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(name)'",
      "ALTER DATABASE \(name) RENAME TO \(name)_former", "CREATE DATABASE \(name)")
  }

  @Test(
    "In an empty database an open branch creates nothing, names it, and continues when its own is back")
  func emptied() throws {
    // Creating and dropping a database waits for all pending writes of a server: other tests do not share
    // this one.
    let cluster = try PostgresCluster(["fsync=off"])
    let stage = try SharedStoreFixture(on: cluster)
    let one = try stage.open("one", lease: .milliseconds(1_600))
    try stage.enqueue(one, 10)
    let (name, admin) = try database(of: stage, on: cluster)
    try Self.empty(name, admin)
    try stage.runLoop { !one.losses.isEmpty && one.interruptions.contains { $0.reason == .noBankSchema } }
    let renewals = one.interruptions.count
    #expect(one.failures.isEmpty && one.joins.count == 1)
    // Another branch that has never been here may use it; one that knows the former database is refused at
    // once.
    let other = try stage.begin("other", knowing: one.known)
    try stage.runLoop { !other.failures.isEmpty }
    guard case .server(let error) = try #require(other.failures.first) else {
      Issue.record("\(other.failures)")
      return
    }
    #expect(error.reason == .noBankSchema)
    for language in Language.allCases { #expect(error.message(in: language).contains("run/database")) }
    let schema = try StoreDatabase(at: stage.stage.address).number(
      "SELECT count(*) FROM pg_namespace WHERE nspname = 'bank'")
    #expect(schema == 0, "no branch has created tables there")
    #expect(one.interruptions.count <= renewals + 1, "it is reported once")
    try admin.run(
      "DROP DATABASE \(name) WITH (FORCE)", "ALTER DATABASE \(name)_former RENAME TO \(name)",
      "ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
    try stage.runLoop { one.joins.count == 2 }
    one.servesImmediately = true
    try stage.runLoop { one.done.count == 10 }
    #expect(one.older.isEmpty)
  }

  @Test("A connection whose first answer has an unexpected shape is closed, and another one is tried")
  func unexpectedShape() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one", lease: .seconds(30))
    try stage.enqueue(one, 5)
    try stage.stage.client.run("UPDATE bank.meta SET name = '-' || name WHERE name IN ('bank id', 'books')")
    let former = one.store.backends
    for backend in former { #expect(kill(backend, SIGTERM) == 0) }
    // Each connection is closed, so each link tries more than one.
    var met: Set<pid_t> = []
    try stage.runLoop {
      met.formUnion(one.store.backends.filter { $0 > 1 && !former.contains($0) })
      return met.count > former.count
    }
    try stage.stage.client.run("UPDATE bank.meta SET name = substr(name, 2) WHERE name LIKE '-%'")
    one.servesImmediately = true
    try stage.runLoop { one.done.count == 5 }
    #expect(one.failures.isEmpty && one.losses.isEmpty)
  }

  @Test("A starting branch refuses another database at its address, and accepts it at another address")
  func others() throws {
    let (here, there) = (try SharedStoreFixture(), try SharedStoreFixture())
    let known = try #require(try here.open("one").known)
    _ = try there.open("any")
    let one = try there.begin("one", knowing: known)
    try there.runLoop { !one.failures.isEmpty }
    guard case .server(let error) = try #require(one.failures.first) else {
      Issue.record("\(one.failures)")
      return
    }
    #expect(error.reason == .otherDatabase)
    let moved = try there.open("one", knowing: known, isElsewhere: true)
    #expect(moved.known?.bankID != known.bankID && moved.older.isEmpty)
  }

  @Test(
    "A database restored to an older state is noticed by every open branch, and by starting ones")
  func broughtBack() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 5)
    try stage.runLoop { one.known?.ticket == 5 && other.known?.ticket == 5 }
    let before = try #require(other.known)
    try stage.stage.client.run(
      "UPDATE bank.ticket_batch SET last = 3", "DELETE FROM bank.customer WHERE position & 1099511627775 > 3")
    try stage.runLoop {
      !one.older.isEmpty && !other.older.isEmpty && one.joins.count == 2 && other.joins.count == 2
    }
    for branch in [one, other] {
      #expect(branch.losses == [.databaseReplaced] && branch.older.count == 1)
      #expect(branch.older.first?.known.ticket == 5 && branch.older.first?.found.ticket == 3)
    }
    stage.stopRunning(other)
    let again = try stage.open("other", knowing: before)
    #expect(again.older.first?.known == before && again.older.first?.found.ticket == 3)
  }

  @Test("Transactions missing in the database are noticed, although no ticket is missing")
  func uncounted() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.enqueue(one, 5)
    one.servesImmediately = true
    try stage.runLoop { one.done.count == 5 && (one.known?.commits ?? 0) > 1 }
    try stage.stage.client.run("UPDATE bank.branch SET commits = 1")
    try stage.runLoop { one.joins.count == 2 }
    #expect(one.older.first?.found.commits == 1 && one.losses == [.databaseReplaced])
  }

  @Test("Loss with a server is also named by a branch whose lease has run out meanwhile")
  func forgottenBehindTheLease() throws {
    let stage = try SharedStoreFixture()
    let cluster = try StoreDatabase.shared.get()
    let relay = try PostgresRelay(to: cluster, loop: stage.loop)
    let one = try stage.open(
      "one", at: stage.stage.address.replacing(cluster.directory, with: relay.directory),
      lease: .milliseconds(1_600))
    try stage.enqueue(one, 20)
    (one.servesImmediately, one.pageSize) = (true, 10)
    try stage.runLoop { one.done.count == 20 }
    relay.isSilent = true
    try stage.runLoop { one.losses == [.leaseExpired] }
    let last = try #require(
      try stage.number("SELECT max(commit_no) FROM bank.counter_delta WHERE served > 0"))
    try stage.stage.client.run(
      "DELETE FROM bank.receipt WHERE commit_no = \(last)",
      "DELETE FROM bank.counter_delta WHERE commit_no = \(last)",
      "DELETE FROM bank.commit WHERE commit_no = \(last)")
    relay.isSilent = false
    relay.cut()
    try stage.runLoop { one.joins.count == 2 }
    #expect(one.transactionsLost == [last])
  }

  // MARK: - Two servers

  private static func promote(_ standby: PostgresCluster) throws {
    // As pg_ctl promote does it.
    let file = creat(Paths.join(standby.directory, "data/promote"), 0o644)
    try #require(file >= 0)
    close(file)
    try #require(kill(try standby.postmaster, SIGUSR1) == 0)
    try #require(
      try eventually { (try? PostgresClient.connected(standby.address())) != nil })
  }

  private static func sessions(at cluster: PostgresCluster) throws -> Int64 {
    try #require(
      try PostgresClient.connected(cluster.address()).rows(
        .once("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bank' AND datname LIKE 't%'"))[
          0
        ]
        .integer(0, 0))
  }

  @Test("Of two servers that accept changes the later one gets all connections of a branch")
  func formerPrimary() throws {
    let primary = try PostgresCluster(["max_connections=30"])
    let standby = try PostgresCluster(standbyOf: primary)
    let stage = try SharedStoreFixture(on: primary)
    let name = try #require(stage.stage.client.rows(.once("SELECT current_database()::text"))[0].text(0, 0))
    func address(_ clusters: PostgresCluster...) -> String {
      "postgres://\(PostgresCluster.user)@/\(name)?host=\(clusters.map(\.directory).joined(separator: ","))"
        + "&port=\(clusters.map { "\($0.port)" }.joined(separator: ","))"
    }
    let open = try stage.open("open", at: address(primary, standby))
    try stage.enqueue(open, 3)
    try stage.runLoop {
      try stage.number("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()")
        == 1
    }
    try primary.killServer()
    try Self.promote(standby)
    try stage.runLoop(within: .seconds(40)) { open.known?.timeline == 2 && open.opening != nil }
    let mark = try #require(open.known)
    try primary.start()
    // A branch without knowledge looks at both.
    let fresh = try stage.open("fresh", at: address(primary, standby))
    #expect(fresh.known?.timeline == 2)
    try stage.enqueue(fresh, 3)
    // An open branch comes back to the same server, in whatever order they are named.
    for backend in open.store.backends where backend > 0 { kill(backend, SIGTERM) }
    try stage.enqueue(open, 3)
    (open.servesImmediately, fresh.servesImmediately) = (true, true)
    try stage.runLoop(within: .seconds(40)) { open.done.count + fresh.done.count == 9 }
    try stage.runLoop { try Self.sessions(at: standby) >= 6 }
    #expect(
      try PostgresClient.connected(primary.address(name)).rows(
        .once("SELECT coalesce(max(last), 0) FROM bank.ticket_batch"))[0].integer(0, 0) == 3,
      "no branch has written in the former server")
    // A branch that knows of the succession refuses the former server by name.
    let late = try stage.begin("late", at: address(primary), knowing: mark)
    try stage.runLoop { !late.interruptions.isEmpty }
    #expect(late.interruptions.first?.reason == .formerServer(timeline: 1, known: 2) && late.joins.isEmpty)
    for language in Language.allCases {
      #expect(late.interruptions.first?.message(in: language).contains("pg_rewind") == true)
    }
  }
}
