// Purchases from several clients while the machine and the stock are killed again and again, at moments drawn
// from a seed. In the end every coin and every drink is where it must be, and no name has bought twice.
// `BANK_SEED=… swift test --filter VendingKillTests` repeats a run.

import BankModel
import Glibc
import Posix
import StockClient
import Testing
import Time
import VendingClient
import Wire

@Suite("Kills", .serialized)
struct VendingKillTests {
  private static var seed: UInt64 {
    getenv("BANK_SEED").flatMap { UInt64(String(cString: $0)) } ?? 20_261_121
  }

  private final class Shopper {
    let client: VendingClient
    let name: String
    var asked = 0
    var bought: [MoneyChange] = []
    var refused: [VendingFailure] = []
    var isWaiting = false

    init(_ client: VendingClient, _ name: String) {
      self.client = client
      self.name = name
    }

    /// Requests the next purchase when the last one was answered.
    func shop(_ product: ItemID) {
      guard !isWaiting else { return }
      isWaiting = true
      asked += 1
      let deadline = SystemClock.monotonic() + VendingFixture.patience
      client.ask(.buy(product), as: OrderID("\(name)-\(asked)"), until: deadline) { [weak self] result in
        guard let self else { return }
        isWaiting = false
        switch result {
        case .success(.done(let change)): bought.append(change)
        case .success(.failure(let failure)): refused.append(failure)
        case .success(let other): Issue.record("\(other)")
        case .failure(let error): Issue.record("\(error)")
        }
      }
    }
  }

  @Test(
    "kill machine and stock while four clients buy: money and drinks are conserved, each buys once"
  )
  func killed() throws {
    let seed = Self.seed
    print("BANK_SEED=\(seed) swift test --filter VendingKillTests")
    var chance = SeededGenerator(seed: seed)
    let fixture = try VendingFixture()
    try fixture.start()
    let (each, products) = (30, ["top", "hot6", "monster"])
    for product in products { #expect(try fixture.add(product, 60).stocked != nil) }
    for coin in 0..<2 { _ = try fixture.call(.insert(100_000), as: "coin-\(coin)") }
    let shoppers = (0..<4).map { Shopper(fixture.customer(), "shopper-\($0)") }
    var kills = 0
    try fixture.wait {
      for shopper in shoppers where shopper.asked < each {
        shopper.shop(ItemID(products[Int(chance.draw(0...2))]))
      }
      for shopper in shoppers { shopper.client.finishIteration() }
      if shoppers.reduce(0, { $0 + $1.asked }) > kills * 5, kills < 24 {
        kills += 1
        if chance.draw(0...1) == 0 {
          fixture.kill(fixture.machine)
          try fixture.startMachine()
        } else {
          fixture.kill(fixture.stock)
          try fixture.startStock()
        }
      }
      return shoppers.allSatisfy { $0.asked == each && !$0.isWaiting }
    }
    try fixture.wait { try fixture.audit()?.unfinished == 0 }
    let bought = shoppers.flatMap(\.bought)
    let history = try fixture.history()
    #expect(Set(history.map(\.request)) == Set(bought.map(\.request)), "seed \(seed), \(kills) kills")
    #expect(Set(history.map(\.request)).count == history.count)
    #expect(history.sorted { $0.sequence < $1.sequence } == bought.sorted { $0.sequence < $1.sequence })
    let refused = shoppers.flatMap(\.refused)
    #expect(bought.count + refused.count == 4 * each)
    #expect(
      refused.allSatisfy { [.soldOut, .stockUnavailable, .tooLittleMoney].contains($0.code) }, "\(refused)")
    let audit = try #require(try fixture.audit())
    #expect(audit.problems == [] && audit.difference == 0 && audit.account.inserted == 200_000)
    #expect(audit.account.spent == bought.reduce(0) { $0 + $1.amount })
    let left = try fixture.picture()
    for product in products {
      let count = Int64(bought.count { $0.product?.name == product })
      #expect(left.stock(product) == 60 - count, "seed \(seed): \(product)")
    }
    let stock = StockClient(socket: StockClient.socket(inHome: fixture.home), loop: fixture.loop)
    guard case .audit(let shelves) = try stock.call(.audit, within: VendingFixture.patience) else {
      Issue.record("no audit of the stock")
      return
    }
    #expect(shelves.problems == [] && shelves.difference == 0)
    #expect(kills >= 20)
  }

  @Test(
    "a machine that is killed between intent and booking ends the purchase when it comes back",
    arguments: 0..<6)
  func midway(_ round: Int) throws {
    let fixture = try VendingFixture()
    try fixture.start()
    _ = try fixture.add("top", 3)
    _ = try fixture.call(.insert(5_000))
    // The stock is suspended: the intent is written, and the drink is not taken yet.
    fixture.stock?.kill(SIGSTOP)
    let client = fixture.customer()
    var answer: VendingResult?
    client.ask(
      .buy(ItemID("top")), as: OrderID("b"), until: SystemClock.monotonic() + VendingFixture.patience
    ) {
      answer = try? $0.get()
    }
    try fixture.wait {
      client.finishIteration()
      guard case .snapshot(let picture) = try fixture.call(.balance) else { return false }
      return picture.availableBalance == 3_300
    }
    if round % 2 == 0 { fixture.stock?.kill(SIGCONT) }
    fixture.kill(fixture.machine)
    fixture.stock?.kill(SIGCONT)
    try fixture.startMachine()
    try fixture.wait {
      client.finishIteration()
      return answer != nil
    }
    #expect(answer?.change?.balance == 3_300)
    #expect(try fixture.picture().stock("top") == 2)
    #expect(try fixture.history().count == 1)
  }
}
