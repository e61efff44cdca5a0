// Loss of a PostgreSQL server whose standby takes over, with the built programs: with a synchronous standby
// acknowledged data is there; otherwise the branches report the lost transactions and continue.
import Foundation
import Glibc
import Postgres
import PostgresFixture
import Testing

@Suite("Branches, and a standby that takes over", .serialized)
struct FailoverTests {
  private func address(of first: PostgresCluster, _ second: PostgresCluster) -> String {
    "postgres://\(PostgresCluster.user)@/postgres?host=\(first.directory),\(second.directory)"
      + "&port=\(first.port),\(second.port)"
  }

  @Test("if one of two hosts is silent, a branch does not wait for its timeout")
  func silentHost() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let relay = try RelayThread(to: bank.cluster)
      defer { relay.end() }
      relay.isSilent = true
      let port = bank.cluster.port
      let address =
        "postgres://\(PostgresCluster.user)@/postgres?host=\(relay.directory),\(bank.cluster.directory)&port=\(port),\(port)"
      let began = ContinuousClock.now
      try bank.open(branches[0], address: address)
      // The timeout is five seconds.
      #expect(ContinuousClock.now - began < .milliseconds(4_500))
      try branches[0].runSuccessfully("enqueue", "10")
      try bank.expectAllServed(10, by: branches)
    }
  }

  @Test("synchronous standby: nothing is lost, and the first receipt comes soon after the promotion")
  func synchronous() throws {
    let primary = try PostgresCluster(["synchronous_standby_names=*"])
    let standby = try PostgresCluster(standbyOf: primary)
    let bank = SharedBank(primary, address: address(of: primary, standby))
    let after = SharedBank(standby, address: bank.address)
    try withBranches(2) { branches in
      for branch in branches { try bank.open(branch, speed: "20") }
      for round in 1...4 { try branches[round % 2].runSuccessfully("enqueue", "100", "--key", "k\(round)") }
      try branches[0].waitUntil("some customers are served") { bank.receipts >= 50 }
      try primary.killServer()
      // A request sent meanwhile waits for its answer.
      let enqueue = try branches[1].launch(["enqueue", "50", "--key", "late", "--json"])
      let before = Int(try after.text("SELECT count(*) FROM bank.receipt", by: branches[0])) ?? 0
      #expect(try after.text("SELECT pg_promote(true, 60)", by: branches[0]) == "t")
      let promoted = wallMilliseconds()
      try branches[0].waitUntil("a receipt is written") { after.receipts > before }
      let took = wallMilliseconds() - promoted
      print("promoted; the first receipt comes after \(took) ms or sooner")
      #expect(took < 3_000)
      let late = try enqueue.finish(within: .seconds(40))
      #expect(late.code == 0, late.story)
      try after.expectAllServed(450, by: branches)
      for branch in branches { #expect(branch.events("commits_lost", in: "coordinator").isEmpty) }
    }
  }

  @Test("standby that lags: the branches report the lost transactions, and continue")
  func asynchronous() throws {
    let primary = try PostgresCluster()
    let standby = try PostgresCluster(standbyOf: primary)
    let bank = SharedBank(primary, address: address(of: primary, standby))
    let after = SharedBank(standby, address: bank.address)
    try withBranches(2) { branches in
      for branch in branches { try bank.open(branch, speed: "20") }
      // So many that some remain when the standby is cut off, however busy the machine is.
      try branches[0].runSuccessfully("enqueue", "2000")
      try branches[0].waitUntil("some customers are served") { bank.receipts >= 50 }
      try branches[0].waitUntil("the standby has some of the receipts") {
        Int(try after.text("SELECT count(*) FROM bank.receipt", by: branches[0])) ?? 0 >= 50
      }
      // From here on the standby receives nothing.
      for order in ["ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"] {
        _ = try after.text(order, by: branches[0])
      }
      try branches[0].waitUntil("the replication has ended") {
        bank.number("SELECT count(*) FROM pg_stat_replication") == 0
      }
      let known = try #require(Int(try after.text("SELECT count(*) FROM bank.receipt", by: branches[0])))
      try branches[0].waitUntil("more customers are served") { bank.receipts >= known + 60 }
      try primary.killServer()
      #expect(try after.text("SELECT pg_promote(true, 60)", by: branches[0]) == "t")
      try branches[0].waitUntil("a branch reports the lost transactions") {
        branches.contains { !$0.events("commits_lost", in: "coordinator").isEmpty }
      }
      let lost = branches.flatMap { $0.events("commits_lost", in: "coordinator") }.flatMap {
        ($0["commits"] ?? "").split(separator: ",")
      }
      print("\(lost.count) transactions were lost with the primary, and are named")
      #expect(!lost.isEmpty && lost.allSatisfy { Int($0) != nil })
      try branches[0].runSuccessfully("enqueue", "20")
      try after.expectAllServed(2_020, by: branches)
    }
  }
}
