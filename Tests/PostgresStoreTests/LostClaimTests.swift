// A server is lost whose standby had all but the last page that a branch has claimed. No transaction of the
// branch is missing there, and another branch may claim the same customers. The branch finds that out before
// it does anything to them.
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

@Suite("A page that was lost with its server", .enabled(if: PostgresCluster.isInstalled))
struct LostClaimTests {
  @Test(
    "Its branch finds out, starts again without late effects, and all customers are served once")
  func lostPage() throws {
    let primary = try PostgresCluster(["max_connections=30"])
    let standby = try PostgresCluster(standbyOf: primary)
    let stage = try SharedStoreFixture(on: primary)
    let name = try #require(stage.stage.client.rows(.once("SELECT current_database()::text"))[0].text(0, 0))
    let both =
      "postgres://\(PostgresCluster.user)@/\(name)?host=\(primary.directory),\(standby.directory)"
      + "&port=\(primary.port),\(standby.port)"
    let one = try stage.open("one", at: both, lease: .seconds(60))
    one.pageSize = 3
    try stage.enqueue(one, 10)
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 3 }
    one.serve()
    try stage.runLoop { one.done.count == 3 }
    try stage.runLoop {
      try stage.number("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()")
        == 1
    }
    // From here on it receives nothing: not even what was sent and not read.
    let sender = try #require(
      try stage.number("SELECT pid FROM pg_stat_replication").flatMap { pid_t(exactly: $0) })
    #expect(kill(sender, SIGSTOP) == 0)
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 3 }
    #expect(one.inFlight.map(\.customer.ticket) == [4, 5, 6])
    kill(sender, SIGKILL)
    try primary.killServer()
    // As pg_ctl promote does it.
    let word = Paths.join(standby.directory, "data/promote")
    let file = creat(word, 0o644)
    #expect(file >= 0)
    close(file)
    #expect(kill(try standby.postmaster, SIGUSR1) == 0)
    // What it does to them before it receives the news has no effect.
    one.serve()
    try stage.runLoop(within: .seconds(120)) { one.joins.count == 2 }
    #expect(
      one.losses == [.databaseReplaced] && one.transactionsLost.isEmpty,
      "\(one.losses) \(one.transactionsLost)")
    #expect(one.dropped == [4, 5, 6] && one.done == [1, 2, 3])
    one.servesImmediately = true
    try stage.runLoop { one.done.count == 10 }
    let database = try StoreDatabase(at: standby.address(name))
    try database.check()
    #expect(try database.number("SELECT count(*) FROM bank.receipt") == 10)
    #expect(one.rejectedCompletions.isEmpty && Set(one.done).count == 10)
  }
}
