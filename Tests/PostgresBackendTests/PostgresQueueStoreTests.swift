// Events of the bank's day that the store of a queue sends to its branch: that the bank drains, that the day
// for which it was opened ended while it was cut off, and that a day is ended by the branch that was asked
// to.

import BankModel
import Coordinator
import Posix
import Postgres
import PostgresFixture
import PostgresQueries
import QueueCore
import PostgresBackend
import Testing
import Time

@Suite("The day of a branch", .enabled(if: PostgresCluster.isInstalled))
struct PostgresQueueStoreTests {
  /// Branches on one loop.
  private final class BranchesFixture {
    let stage: ReaderDatabase
    private(set) var stores: [(store: any SharedQueueStore, news: [SharedStoreEvent])] = []
    private var lastRequest: RequestNumber = 0

    init() throws { stage = try ReaderDatabase(prepared: false) }

    /// A branch that has joined; returns its place.
    func open(_ name: String, at address: String? = nil) throws -> Int {
      let branch = BranchJoinRequest(
        address: address ?? stage.address, name: name, host: "here", services: ServiceName.branch)
      let joining = try BranchJoin(branch, on: stage.client.loop)
      var joined: (store: any SharedQueueStore, opening: BranchJoinState)?
      try runLoop {
        joined = try joined ?? joining.refresh()
        return joined != nil
      }
      stores.append((try #require(joined).store, []))
      return stores.count - 1
    }

    func runLoop(until isDone: () throws -> Bool) throws {
      let end = SystemClock.monotonic() + .seconds(120)
      while try !isDone() {
        try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
        _ = try stage.client.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
        stage.client.connection.finishIteration()
        for place in stores.indices {
          stores[place].store.finishIteration()
          while let said = stores[place].store.nextEvent() { stores[place].news.append(said) }
          while try stores[place].store.takeResult() != nil {}
        }
      }
    }

    func has(_ place: Int, _ predicate: (SharedStoreEvent) -> Bool) -> Bool {
      stores[place].news.contains(where: predicate)
    }
    func drains(_ place: Int) -> Bool { has(place) { if case .draining = $0 { true } else { false } } }
    func dayEnded(_ place: Int) -> Bool { has(place) { if case .dayEnded = $0 { true } else { false } } }
    func wasLost(_ place: Int) -> Bool { has(place) { if case .lost = $0 { true } else { false } } }
    var day: Int64 { get throws { try stage.number("SELECT max(day) FROM bank.day") } }

    func leave(_ place: Int) throws {
      stores[place].store.leave()
      try runLoop { has(place) { if case .left = $0 { true } else { false } } }
    }

    func drainBank(_ place: Int) {
      lastRequest += 1
      stores[place].store.drainBank(for: lastRequest)
    }

    func enqueueCustomers(_ place: Int) throws {
      lastRequest += 1
      var request = EnqueueRequest(issuedAt: SystemClock.wall())
      request.orders = [CustomerOrder(service: .deposit, priority: .regular, amount: 1, account: 1)]
      stores[place].store.enqueueCustomers(request, for: lastRequest)
      let number = lastRequest
      try runLoop { has(place) { if case .answered(number, .issued) = $0 { true } else { false } } }
    }
  }

  @Test(
    "A branch cut off while the bank ended its day learns of it later, and ends no other day"
  )
  func cutOff() throws {
    let stage = try BranchesFixture()
    let cluster = try ReaderDatabase.shared.get()
    let relay = try PostgresRelay(to: cluster, loop: stage.stage.client.loop)
    let away = try stage.open(
      "away", at: stage.stage.address.replacing(cluster.directory, with: relay.directory))
    let here = try stage.open("here")
    relay.isSilent = true
    stage.drainBank(here)
    try stage.leave(here)
    #expect(try stage.day == 2 && !stage.drains(away) && !stage.dayEnded(away))
    try stage.runLoop { stage.wasLost(away) }
    relay.isSilent = false
    relay.cut()
    try stage.runLoop { stage.dayEnded(away) }
    #expect(!stage.drains(away))
    try stage.leave(away)
    #expect(try stage.day == 2)
    #expect(try stage.stage.number("SELECT count(*) FROM bank.day WHERE draining") == 0)
  }

  @Test("A branch asked to end the day of an empty bank ends it, however soon it leaves")
  func emptyBank() throws {
    let stage = try BranchesFixture()
    let one = try stage.open("one")
    stage.drainBank(one)
    try stage.leave(one)
    #expect(try stage.day == 2)
  }

  @Test("A branch that joins while others end the day learns of it at once, and helps")
  func comesLate() throws {
    let stage = try BranchesFixture()
    let one = try stage.open("one")
    try stage.enqueueCustomers(one)
    stage.drainBank(one)
    try stage.runLoop { stage.drains(one) }
    let other = try stage.open("other")
    try stage.runLoop { stage.drains(other) }
    #expect(try stage.day == 1)
    // A customer is left, so no branch ends it.
    try stage.leave(one)
    try stage.leave(other)
    #expect(try stage.day == 1)
    let again = try stage.open("one")
    #expect(!stage.drains(again))
    try stage.enqueueCustomers(again)
  }
}
