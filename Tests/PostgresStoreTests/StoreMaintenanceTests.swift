// Operation and maintenance of a shared database, with a real server: a time without changes, a publication
// of all tables, customers whom another branch takes out, and the longest waiting customer.

import BankModel
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Operation of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct StoreMaintenanceTests {
  private func refuseChanges(_ isOn: Bool, _ stage: SharedStoreFixture) throws {
    let rows = try stage.stage.client.rows(.once("SELECT current_database()"))[0]
    let name = try #require(rows.text(0, 0))
    try stage.stage.client.run(
      isOn
        ? "ALTER DATABASE \(name) SET default_transaction_read_only = on"
        : "ALTER DATABASE \(name) RESET default_transaction_read_only",
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'bank'
      """)
  }

  @Test("While the database accepts no changes newcomers are refused, and then the branch continues")
  func readOnly() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a", lease: .seconds(2))
    branch.servesImmediately = true
    try stage.enqueue(branch, 5)
    try stage.runLoop { branch.done.count == 5 }
    try refuseChanges(true, stage)
    // The first one is answered when the database has refused a change, all others at once.
    let first = try stage.ask(branch) { $0.enqueueCustomers($1, SharedStoreFixture.customers(3)) }
    let second = try stage.ask(branch) { $0.enqueueCustomers($1, SharedStoreFixture.customers(3)) }
    for answer in [first, second] {
      guard case .refused(.diskFull(let why)) = answer else {
        Issue.record("\(answer)")
        continue
      }
      #expect(why.description.contains("read-only"))
    }
    try stage.runLoop { branch.losses == [.leaseExpired] }
    #expect(branch.failures.isEmpty)
    let words = branch.received.compactMap { if case .interrupted(let error) = $0 { error } else { nil } }
    #expect(words.contains { $0.takesNoChanges }, "it is reported")
    try refuseChanges(false, stage)
    try stage.runLoop { branch.joins.count == 2 }
    try stage.enqueue(branch, 4)
    try stage.runLoop { branch.done.count == 9 }
    #expect(branch.failures.isEmpty)
    try stage.check()
  }

  @Test("With a publication for all tables pages are returned and the day ends")
  func publication() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a")
    let keyless = """
      SELECT count(*) FROM pg_class c WHERE relnamespace = 'bank'::regnamespace AND relkind IN ('r', 'p')
        AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
      """
    #expect(try stage.number(keyless) == 0, "each table has a key")
    try stage.stage.client.run("CREATE PUBLICATION everything FOR ALL TABLES")
    try stage.enqueue(branch, 5)
    try stage.claimAll(branch)
    stage.stopRunning(branch)
    // It has joined again: its claims are returned.
    let again = try stage.open("a")
    #expect(try stage.number("SELECT count(*) FROM bank.released_claim") ?? 0 > 0)
    try stage.claimAll(again)
    again.serve()
    try stage.runLoop { again.done.count == 5 }
    #expect(try stage.ask(again) { $0.endDay($1) } == .done)
    #expect(try stage.number("SELECT max(day) FROM bank.day") == 2)
    #expect(try stage.number("SELECT count(*) FROM bank.released_claim") == 0)
  }

  @Test("A branch that finds the database's clock set back notes the day in the database")
  func clockSetBack() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a")
    let noted = "SELECT coalesce(max(value), 0) FROM bank.meta WHERE name = 'clock set back'"
    #expect(try stage.number(noted) == 0)
    // As if it had been an hour ahead when it was read last.
    let wall = SystemClock.wall()
    branch.store.context.clock.record(wall.milliseconds + 3_600_000, at: wall, SystemClock.monotonic())
    try stage.runLoop { try stage.number(noted) == 1 }
    // Once is enough: not every look repeats it.
    try stage.stage.client.run("DELETE FROM bank.meta WHERE name = 'clock set back'")
    func polls() -> Int { branch.received.count { if case .countersConfirmed = $0 { true } else { false } } }
    let before = polls()
    try stage.runLoop { polls() > before + 1 }
    #expect(try stage.number(noted) == 0)
  }

  @Test("A customer taken out elsewhere is reported to its branch, also after a lost connection")
  func cancelledElsewhere() throws {
    let stage = try SharedStoreFixture()
    let (one, two) = (try stage.open("a"), try stage.open("b"))
    try stage.enqueue(one, 6)
    try stage.claimAll(one)
    #expect(one.inFlight.count == 6)
    #expect(try stage.ask(two) { $0.cancel($1, 2) } == .done)
    try stage.runLoop { one.cancelledElsewhere == [2] }
    // A connection that is being opened again receives nothing.
    try stage.stage.client.run("SELECT pg_terminate_backend(\(one.store.backends[2]))")
    #expect(try stage.ask(two) { $0.cancel($1, 4) } == .done)
    try stage.runLoop { one.cancelledElsewhere.contains(4) }
    one.inFlight.removeAll { one.cancelledElsewhere.contains($0.customer.ticket) }
    one.serve()
    try stage.runLoop { one.isSettled }
    #expect(one.done == [1, 3, 5, 6] && one.rejectedCompletions.isEmpty)
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE outcome = 2") == 2)
    try stage.check()
  }

  @Test("The longest waiting customer counts in the whole bank, whichever branch has claimed it")
  func oldest() throws {
    let stage = try SharedStoreFixture()
    let (one, two) = (try stage.open("a"), try stage.open("b"))
    try stage.enqueue(one, 3)
    let issued = WallTime(milliseconds: 1_000)
    try stage.runLoop { [one, two].allSatisfy { $0.numbers?.oldest == issued } }
    try stage.claimAll(one)
    try stage.runLoop { [one, two].allSatisfy { $0.numbers?.oldest == nil } }
    one.store.note(windows: 0, oldest: issued)
    try stage.runLoop { two.numbers?.oldest == issued }
  }
}
