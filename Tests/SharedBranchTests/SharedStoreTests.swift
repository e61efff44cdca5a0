// Events of the bank's day that the store of a queue sends to its branch: that the bank drains, that the day
// for which it was opened ended while it was cut off, and that a day is ended by the branch that was asked
// to.

import BankModel
import Coordinator
import Posix
import Postgres
import PostgresFixture
import PostgresReading
import QueueCore
import SharedBranch
import Testing
import Time

@Suite("The day of a branch", .enabled(if: PostgresCluster.isInstalled))
struct SharedStoreTests {
  /// Branches on one loop.
  private final class Stage {
    let stage: ReadingStage
    private(set) var stores: [(store: any BranchStore, news: [BranchNews])] = []
    private var lastRequest: RequestNumber = 0

    init() throws { stage = try ReadingStage(prepared: false) }

    /// A branch that has joined; returns its place.
    func open(_ name: String, at address: String? = nil) throws -> Int {
      let branch = JoiningBranch(
        address: address ?? stage.address, name: name, host: "here", services: ServiceName.branch)
      let joining = try SharedJoining(branch, on: stage.client.loop)
      var joined: (books: any BranchStore, opening: BranchOpening)?
      try turn {
        joined = try joined ?? joining.look()
        return joined != nil
      }
      stores.append((try #require(joined).books, []))
      return stores.count - 1
    }

    func turn(until isDone: () throws -> Bool) throws {
      let end = SystemClock.monotonic() + .seconds(120)
      while try !isDone() {
        try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
        _ = try stage.client.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
        stage.client.connection.endTurn()
        for place in stores.indices {
          stores[place].store.endTurn()
          while let said = stores[place].store.takeNews() { stores[place].news.append(said) }
          while try stores[place].store.takeResult() != nil {}
        }
      }
    }

    func has(_ place: Int, _ isIt: (BranchNews) -> Bool) -> Bool { stores[place].news.contains(where: isIt) }
    func drains(_ place: Int) -> Bool { has(place) { if case .draining = $0 { true } else { false } } }
    func dayEnded(_ place: Int) -> Bool { has(place) { if case .dayEnded = $0 { true } else { false } } }
    func wasLost(_ place: Int) -> Bool { has(place) { if case .lost = $0 { true } else { false } } }
    var day: Int64 { get throws { try stage.number("SELECT max(day) FROM bank.day") } }

    func leave(_ place: Int) throws {
      stores[place].store.leave()
      try turn { has(place) { if case .left = $0 { true } else { false } } }
    }

    func drainBank(_ place: Int) {
      lastRequest += 1
      stores[place].store.drainBank(for: lastRequest)
    }

    func takeIn(_ place: Int) throws {
      lastRequest += 1
      var request = IntakeRequest(issuedAt: SystemClock.wall())
      request.orders = [CustomerOrder(service: .deposit, priority: .regular, amount: 1, account: 1)]
      stores[place].store.takeIn(request, for: lastRequest)
      let number = lastRequest
      try turn { has(place) { if case .answered(number, .issued) = $0 { true } else { false } } }
    }
  }

  @Test(
    "A branch cut off while the bank ended its day learns of it later, and ends no other day"
  )
  func cutOff() throws {
    let stage = try Stage()
    let cluster = try ReadingStage.shared.get()
    let relay = try PostgresRelay(to: cluster, loop: stage.stage.client.loop)
    let away = try stage.open(
      "away", at: stage.stage.address.replacing(cluster.directory, with: relay.directory))
    let here = try stage.open("here")
    relay.isSilent = true
    stage.drainBank(here)
    try stage.leave(here)
    #expect(try stage.day == 2 && !stage.drains(away) && !stage.dayEnded(away))
    try stage.turn { stage.wasLost(away) }
    relay.isSilent = false
    relay.cut()
    try stage.turn { stage.dayEnded(away) }
    #expect(!stage.drains(away))
    try stage.leave(away)
    #expect(try stage.day == 2)
    #expect(try stage.stage.number("SELECT count(*) FROM bank.day WHERE draining") == 0)
  }

  @Test("A branch asked to end the day of an empty bank ends it, however soon it leaves")
  func emptyBank() throws {
    let stage = try Stage()
    let one = try stage.open("one")
    stage.drainBank(one)
    try stage.leave(one)
    #expect(try stage.day == 2)
  }

  @Test("A branch that joins while others end the day learns of it at once, and helps")
  func comesLate() throws {
    let stage = try Stage()
    let one = try stage.open("one")
    try stage.takeIn(one)
    stage.drainBank(one)
    try stage.turn { stage.drains(one) }
    let other = try stage.open("other")
    try stage.turn { stage.drains(other) }
    #expect(try stage.day == 1)
    // A customer is left, so no branch ends it.
    try stage.leave(one)
    try stage.leave(other)
    #expect(try stage.day == 1)
    let again = try stage.open("one")
    #expect(!stage.drains(again))
    try stage.takeIn(again)
  }
}
