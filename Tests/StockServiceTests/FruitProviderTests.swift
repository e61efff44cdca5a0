// A juice station's way to its fruit, with a real stock service that is killed, is suspended, or sells
// something else.

import BankModel
import Glibc
import JuiceStation
import Posix
import StockClient
import Teller
import Testing
import Time
import Wire

@Suite("A juice station's fruit", .serialized)
struct FruitProviderTests {
  /// A station on the fixture's loop.
  private final class Station {
    let fixture: StockFixture
    let provider: FruitProvider
    private(set) var provided: [(lease: Lease, provision: ProvisionResult)] = []

    init(_ fixture: StockFixture, beatMilliseconds: Int64 = 15_000) {
      self.fixture = fixture
      provider = FruitProvider(loop: fixture.loop)
      provider.onResult = { [unowned self] in provided.append(($0, $1)) }
      provider.begin(
        TellerSettings(
          name: "juice-1", service: .juice, generation: 1, workMicroseconds: 0,
          beatMicroseconds: beatMilliseconds * 1_000,
          language: .english, logPath: "", logLimit: 0, logKeep: 0, logsCustomers: false,
          stockSocket: fixture.socket))
    }

    /// The answer to an order of a juice.
    func provide(_ juice: String, ticket: TicketNumber, attempt: Int32 = 1) throws -> ProvisionResult {
      let known = provided.count
      provider.provide(Self.assignment(juice, ticket, attempt))
      #expect(provided.count == known, "never from within the call")
      try fixture.wait {
        provider.finishIteration()
        return provided.count > known
      }
      let last = try #require(provided.last)
      #expect(last.lease == Self.assignment(juice, ticket, attempt).lease && provided.count == known + 1)
      return last.provision
    }

    static func assignment(_ juice: String, _ ticket: TicketNumber, _ attempt: Int32 = 1) -> Assignment {
      let customer = Customer(
        ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0),
        itemName: juice)
      return Assignment(
        day: 1, customer: customer, lease: Lease(ticket: ticket, attempt: attempt, generation: 1))
    }
  }

  @Test("takes what the recipe needs, or reports what is missing and takes nothing")
  func takes() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let station = Station(fixture)
    #expect(try station.provide("mango-kiwi", ticket: 1) == .ready)
    #expect(try fixture.quantities() == [10, 10, 10, 9, 8])
    #expect(
      try station.provide("strawberry", ticket: 2)
        == .missing([Shortage(item: ItemID("strawberry"), needed: 16, available: 10)]))
    #expect(try fixture.quantities() == [10, 10, 10, 9, 8])
    #expect(try fixture.audit()?.problems == [])
  }

  @Test("without a stock in its settings a station reports a failure, in the second iteration")
  func noStock() throws {
    let provider = FruitProvider(loop: try EventLoop())
    var provided: [ProvisionResult] = []
    provider.onResult = { provided.append($1) }
    #expect(provider.nextDeadline == nil)
    for round in 1...2 {
      provider.provide(Station.assignment("mango-kiwi", TicketNumber(round)))
      provider.finishIteration()
      #expect(
        provided.count == round - 1 && provider.nextDeadline != nil, "not in the iteration of the request")
      provider.finishIteration()
      provider.finishIteration()
      #expect(provided == Array(repeating: .unknown("the settings name no stock service"), count: round))
    }
  }

  @Test("a ticket that is served again finds its own fruit, and its own shortage, also at another station")
  func again() throws {
    let fixture = try StockFixture()
    try fixture.start()
    #expect(try Station(fixture).provide("kiwi", ticket: 1) == .ready)
    let missing = try Station(fixture).provide("strawberry", ticket: 2)
    _ = try fixture.call(.set(ItemAmount(ItemID("strawberry"), 100)))
    for attempt in 2...4 as ClosedRange<Int32> {
      fixture.kill()
      try fixture.start()
      let station = Station(fixture)
      #expect(try station.provide("kiwi", ticket: 1, attempt: attempt) == .ready)
      #expect(try station.provide("strawberry", ticket: 2, attempt: attempt) == missing, "an answer stays")
    }
    #expect(try fixture.quantities() == [100, 10, 10, 7, 10])
  }

  @Test(
    "a stock service that comes late is waited for; without one the order is deferred, untaken"
  )
  func away() throws {
    let fixture = try StockFixture()
    let station = Station(fixture)
    station.provider.provide(Station.assignment("kiwi", 1))
    station.provider.finishIteration()
    try fixture.start()
    try fixture.wait {
      station.provider.finishIteration()
      return !station.provided.isEmpty
    }
    #expect(station.provided.map(\.provision) == [.ready])
    fixture.kill()
    let hasty = Station(fixture, beatMilliseconds: 50)
    guard case .later(let words) = try hasty.provide("banana", ticket: 2) else {
      Issue.record("\(hasty.provided)")
      return
    }
    #expect(words.contains("try later"))
    try fixture.start()
    #expect(try fixture.quantities() == [10, 10, 10, 7, 10])
  }

  @Test("an unknown juice is refused; one that is new since the recipes were read is made")
  func newJuice() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let station = Station(fixture)
    for name in ["tea", ""] {
      guard case .unknown(let words) = try station.provide(name, ticket: 1) else {
        Issue.record("\(station.provided)")
        return
      }
      #expect(words.contains("juice"))
    }
    #expect(try station.provide("kiwi", ticket: 2) == .ready)
    let file = fixture.home + "/other.json"
    let text = """
      {"fruits": [{"id": "kiwi", "ko": "키위", "en": "kiwi", "emoji": "🥝", "initial": 4}],
       "juices": [{"id": "kiwi", "ko": "키위쥬스", "en": "kiwi juice", "recipe": {"kiwi": 1}},
                  {"id": "tea", "ko": "차", "en": "tea", "recipe": {"kiwi": 2}}]}
      """
    try fixture.write(Array(text.utf8), to: file)
    fixture.kill()
    try fixture.start(["--config", file])
    // The end of the old service is noticed in the iterations that this takes.
    #expect(try fixture.quantities()[3] == 7)
    #expect(try station.provide("kiwi", ticket: 3) == .ready)
    #expect(try fixture.quantities()[3] == 6, "by the present recipe")
    #expect(try station.provide("tea", ticket: 4) == .ready)
    #expect(try fixture.quantities()[3] == 4)
  }

  @Test("a ticket whose juice has changed takes nothing more")
  func otherContent() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let station = Station(fixture)
    #expect(try station.provide("kiwi", ticket: 1) == .ready)
    guard case .unknown(let words) = try station.provide("mango", ticket: 1, attempt: 2) else {
      Issue.record("\(station.provided)")
      return
    }
    #expect(words.contains("key_conflict"))
    #expect(try fixture.quantities() == [10, 10, 10, 7, 10])
  }
}
