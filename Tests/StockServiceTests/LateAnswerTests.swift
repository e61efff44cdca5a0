// The station's way to the stock, with the built stock service: the customer of an answer that comes late.

import BankModel
import Glibc
import JuiceStation
import Posix
import Teller
import Testing
import Time
import Wire

@Suite("Late answers of the stock", .serialized)
struct LateAnswerTests {
  @Test("after a reset an answer for the day before is not taken for the same ticket of the new day")
  func otherDay() throws {
    let fixture = try StockFixture()
    try fixture.start()
    let provider = FruitProvider(loop: fixture.loop)
    var provided: [(lease: Lease, provision: ProvisionResult)] = []
    provider.onResult = { provided.append(($0, $1)) }
    provider.begin(
      TellerSettings(
        name: "juice-1", service: .juice, generation: 1, workMicroseconds: 0, beatMicroseconds: 10_000_000,
        language: .english, logPath: "", logLimit: 0, logKeep: 0, logsCustomers: false,
        stockSocket: fixture.socket))
    func serve(_ day: BusinessDay, _ ticket: TicketNumber, _ juice: String) -> Assignment {
      let customer = Customer(
        ticket: ticket, service: .juice, priority: .regular, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), itemName: juice)
      return Assignment(
        day: day, customer: customer, lease: Lease(ticket: ticket, attempt: 1, generation: 1))
    }
    func runIteration(_ isDone: () -> Bool) throws {
      let until = SystemClock.monotonic() + StockFixture.patience
      while !isDone(), SystemClock.monotonic() < until {
        provider.finishIteration()
        try fixture.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(20))
      }
      try #require(isDone())
    }
    // The recipes are read with the first customer, so that only the next answer is late.
    provider.provide(serve(1, 1, "banana"))
    try runIteration { provided.count == 1 }
    #expect(provided[0].provision == .ready)
    // A shortage for the customer of day 1, who is recalled before the answer has come.
    provider.provide(serve(1, 2, "strawberry"))
    provider.finishIteration()
    provider.provide(serve(2, 2, "kiwi"))
    try runIteration { provided.count == 2 }
    #expect(provided[1].lease.ticket == 2)
    #expect(provided[1].provision == .ready, "the shortage was the other customer's")
    #expect(try fixture.take([("kiwi", 3)], as: "2-2").rows?.map(\.present) == [7])
  }
}
