// Two homes with one name for their branch, with a real server: the second is refused while the first is
// open, and never ends its epoch.

import BankModel
import Posix
import Postgres
import PostgresFixture
import Testing
import Time

@testable import PostgresStore

@Suite("Branches of one name", .enabled(if: PostgresCluster.isInstalled))
struct BranchNameTests {
  @Test("A second home with the name of an open branch is refused by name; the first keeps its epoch")
  func taken() throws {
    let stage = try SharedStoreFixture()
    let first = try stage.open("seoul", homeIdentity: "machine one")
    let failure = #expect(throws: SharedStoreFailure.self) {
      _ = try stage.open("seoul", homeIdentity: "machine two")
    }
    #expect(failure == .nameTaken("seoul", host: "seoul.example"))
    for language in Language.allCases {
      #expect(failure?.message(in: language).contains("store") == true)
    }
    #expect(first.losses.isEmpty && first.joins.count == 1)
    #expect(try stage.number("SELECT epoch FROM bank.branch") == 1)
  }

  @Test("A home gets the name of a dead branch after its lease, and of a closed one at once")
  func takenOver() throws {
    let stage = try SharedStoreFixture()
    let first = try stage.open("seoul", lease: .seconds(2), homeIdentity: "machine one")
    // It never runs again, as after a loss of power.
    stage.stopRunning(first)
    let second = try stage.open("seoul", homeIdentity: "machine two")
    #expect(second.opening?.branch.epoch == 2)
    var hasLeft = false
    second.store.leave { hasLeft = true }
    try stage.runLoop { hasLeft }
    stage.stopRunning(second)
    let closed = SystemClock.monotonic()
    _ = try stage.open("seoul", homeIdentity: "machine three")
    #expect(SystemClock.monotonic().since(closed) < .seconds(15), "less than the lease")
  }

  @Test("The same home on the same machine has its name back at once, whatever its lease")
  func sameHome() throws {
    let stage = try SharedStoreFixture()
    let first = try stage.open("seoul", lease: .seconds(60), homeIdentity: "machine one")
    stage.stopRunning(first)
    let again = try stage.open("seoul", homeIdentity: "machine one")
    #expect(again.opening?.branch.epoch == 2)
  }

  @Test("A branch that lost its name to another home is refused by name when it comes back")
  func late() throws {
    let stage = try SharedStoreFixture()
    let first = try stage.open("seoul", lease: .seconds(2), homeIdentity: "machine one")
    stage.stopRunning(first)
    let second = try stage.open("seoul", homeIdentity: "machine two")
    let until = SystemClock.monotonic() + .seconds(120)
    while first.failures.isEmpty, SystemClock.monotonic() < until {
      try stage.runLoop { true }
      _ = try stage.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(20))
      for branch in [first, second] { branch.finishIteration() }
    }
    #expect(first.failures == [.nameTaken("seoul", host: "seoul.example")] && first.losses == [.leaseExpired])
    #expect(second.losses.isEmpty && second.joins.count == 1)
  }
}
