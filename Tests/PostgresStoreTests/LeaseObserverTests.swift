// Leases of other branches, as a branch judges them by its own monotonic clock while the database's clock is
// set.

import Postgres
import PostgresFixture
import Testing
import Time

@testable import PostgresStore

@Suite("The leases of other branches")
struct LeaseObserverTests {
  private static let branch = PostgresBranch(id: 2, epoch: 5)
  private static let lease = TimeSpan.seconds(4)

  /// A branch that looks each second, at a database whose clock is set by a test.
  private struct PollingBranch {
    var watch = LeaseObserver()
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The offset of the database's clock from the monotonic one, in milliseconds.
    var ahead: Int64 = 1_000_000
    var end: Int64 = 0
    var database: Int64 { now.nanoseconds / 1_000_000 + ahead }

    mutating func renew() { end = (database + lease.milliseconds) * 1_000 }

    mutating func poll() -> [LeaseObserver.ExpiredLease] {
      now = now + .seconds(1)
      return watch.update(
        [ObservedLease(branch: branch, end: end)], past: end / 1_000 < database ? [branch] : [],
        database: database, askedAt: now - .milliseconds(2), at: now, own: lease)
    }
  }

  @Test("A lost branch is noticed when its lease has run out, and one that renews it never")
  func plain() {
    var poller = PollingBranch()
    for _ in 0..<20 {
      poller.renew()
      #expect(poller.poll() == [])
    }
    let found = (0..<4).map { _ in poller.poll() }
    #expect(found == [[], [], [], [LeaseObserver.ExpiredLease(branch: Self.branch)]])
  }

  @Test(
    "The database's clock is set back when a branch dies: it is noticed as soon as before",
    arguments: [0, 1, 2])
  func setBack(polls: Int) {
    var poller = PollingBranch()
    for _ in 0..<5 {
      poller.renew()
      _ = poller.poll()
    }
    for _ in 0..<polls { #expect(poller.poll() == []) }
    poller.ahead -= 3_600_000
    let found = (polls..<6).map { _ in poller.poll() }
    let expired = LeaseObserver.ExpiredLease(branch: Self.branch, unchangedEnd: poller.end)
    #expect(found.firstIndex(of: [expired]) == 3 - polls)
  }

  @Test("A lease renewed before the clock was set back, and seen after that, runs out all the same")
  func setBackBeforeTheLook() {
    var poller = PollingBranch()
    for _ in 0..<5 {
      poller.renew()
      _ = poller.poll()
    }
    poller.renew()
    poller.ahead -= 3_600_000
    let found = (0..<7).map { _ in poller.poll() }
    #expect(found.firstIndex { !$0.isEmpty } == 5)
  }

  @Test("The database's clock is set forward: no branch that renews its lease is taken for dead")
  func setForward() {
    var poller = PollingBranch()
    for _ in 0..<5 {
      poller.renew()
      _ = poller.poll()
    }
    poller.ahead += 3_600_000
    #expect(poller.poll() == [])
    for _ in 0..<5 {
      poller.renew()
      #expect(poller.poll() == [])
    }
  }

  @Test("At first sight the database's clock decides, and a lease of an hour is not believed")
  func firstSight() {
    var poller = PollingBranch()
    #expect(poller.poll() == [LeaseObserver.ExpiredLease(branch: Self.branch)])
    var other = PollingBranch()
    other.renew()
    other.end += 3_600_000_000
    let found = (0..<7).map { _ in other.poll() }
    #expect(found.firstIndex { !$0.isEmpty } == 5)
  }

  @Test("A longer lease than its own is waited for")
  func longer() {
    var poller = PollingBranch()
    poller.end = (poller.database + 30_000) * 1_000
    var polls = 0
    while poller.poll().isEmpty { polls += 1 }
    #expect(28...31 ~= polls)
  }

  @Test(
    "A dead branch with an hour of lease by the database's clock: others have its customers soon",
    .enabled(if: PostgresCluster.isInstalled))
  func atServer() throws {
    let stage = try SharedStoreFixture()
    let (dead, other) = (try stage.open("dead", lease: .seconds(4)), try stage.open("other"))
    try stage.enqueue(dead, 10)
    dead.claim(SharedStoreFixture.deposits)
    try stage.runLoop { dead.inFlight.count == 10 }
    stage.stopRunning(dead)
    // As if the clock had been set back after its last renewal.
    try stage.stage.client.run(
      "UPDATE bank.branch SET lease_expires_at = lease_expires_at + interval '1 hour' WHERE name = 'dead'")
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 10 }
    #expect(
      try stage.number("SELECT count(*) FROM bank.branch WHERE lease_expires_at > clock_timestamp()") == 1)
    try stage.check()
  }
}
