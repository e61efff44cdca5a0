// Random histories of orders, repeats, crashes and full disks. After each step the amount on a shelf is the
// sum of its ledger, nothing is negative or too much, and a repeated request gets its former answer. A
// failure names its seed; `BANK_SEED=… swift test --filter StockHistoryTests` repeats it alone.

import BankModel
import Glibc
import Testing

@testable import StockCore

@Suite("Random histories of the stock")
struct StockHistoryTests {
  private static let seeds: [UInt64] = {
    if let text = getenv("BANK_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
    return Array(1...150)
  }()

  @Test("conserve every item and answer every order once", arguments: seeds)
  func history(_ seed: UInt64) {
    var history = History(seed)
    for _ in 0..<300 {
      history.step()
      if let problem = history.problem {
        Issue.record("BANK_SEED=\(seed) swift test --filter StockHistoryTests: \(problem)")
        return
      }
    }
  }
}

private struct History {
  private let world = StockWorld(StockWorld.fruits + [ItemAmount(ItemID("top"), 0)])
  private var chance: SeededGenerator
  private var today: DayNumber = 100
  /// Every request under a name, and its last answer.
  private var asked: [(name: String, action: StockAction)] = []
  private var said: [String: StockAnswer] = [:]
  private var open: [(request: RequestNumber, place: Int)] = []
  private var steps = 0
  private(set) var problem: String?

  init(_ seed: UInt64) { chance = SeededGenerator(seed: seed) }

  mutating func step() {
    steps += 1
    switch chance.draw(0...19) {
    case 0: crash()
    case 1:
      world.refuseCommit()
      handle()
    case 2...7:
      world.commit()
      handle()
    case 8: today += 1
    case 9...11 where !asked.isEmpty: ask(Int(chance.draw(0...Int64(asked.count - 1))))
    case 12 where !asked.isEmpty:
      // Give back an order, known or not, under its name.
      let name = asked[Int(chance.draw(0...Int64(asked.count - 1)))].name
      _ = world.ask(.returnItems, as: name)
    default:
      asked.append(("order-\(asked.count)", action()))
      ask(asked.count - 1)
    }
    check()
  }

  private mutating func action() -> StockAction {
    let items = StockWorld.fruits.map(\.item) + [ItemID("top")]
    let item = items[Int(chance.draw(0...5))]
    switch chance.draw(0...9) {
    case 0: return .set(item, chance.draw(0...20))
    case 1: return .change(item, by: chance.draw(-12...12), dates: nil)
    case 2...3:
      let made = today - chance.draw(0...3)
      let dates = LotDates(made: made, expires: made + chance.draw(0...5))
      return .change(ItemID("top"), by: chance.draw(-2...9), dates: dates)
    case 4: return .discardExpired(today: today)
    default:
      let amounts = items.filter { _ in chance.draw(0...2) == 0 }.map { ItemAmount($0, chance.draw(1...4)) }
      return .take(amounts, today: today)
    }
  }

  private mutating func ask(_ place: Int) {
    let (name, action) = asked[place]
    open.append((world.ask(action, as: name), place))
  }

  private mutating func crash() {
    world.crash()
    // Open requests get no answer; some are repeated.
    let lost = open.filter { world.answers[$0.request] == nil }.map(\.place)
    open.removeAll { world.answers[$0.request] == nil }
    handle()
    for place in lost where chance.draw(0...1) == 0 { ask(place) }
  }

  private mutating func handle() {
    for (request, place) in open {
      guard let answer = world.answers[request] else {
        problem = "request \(request) was not answered"
        return
      }
      let name = asked[place].name
      switch answer {
      case .done, .short:
        if let before = said[name], before != answer { problem = "\(name) got \(before), then \(answer)" }
        said[name] = answer
      case .refused, .snapshot: break
      }
    }
    open.removeAll()
  }

  /// The ledger alone gives the amounts.
  private mutating func check() {
    let disk = world.committed
    for (place, row) in disk.changes.enumerated() where row.sequence != Int64(place + 1) {
      problem = "change \(place + 1) has the number \(row.sequence)"
    }
    for row in disk.changes where row.lot < 0 || row.present < row.lot || row.present > StockLimits.quantity {
      problem = "change \(row.sequence) left \(row.lot) of \(row.present)"
    }
    if steps % 20 == 0 { checkOrders(disk) }
    guard !world.machine.hasUncommittedChanges else { return }
    if world.machine.picture.items != disk.stored.items {
      problem = "the shelves do not match the ledger"
    }
  }

  private mutating func checkOrders(_ disk: StockWorld.Disk) {
    for (id, order) in disk.orders {
      let rows = disk.changes.filter { $0.order == id }
      if rows != order.changes + (order.returned ?? []) { problem = "\(id) has other rows than its answer" }
      guard order.outcome == .done, let amounts = StockAction.amounts(inContent: order.content) else {
        continue
      }
      for amount in amounts {
        let taken = order.changes.filter { $0.item == amount.item }.reduce(0) { $0 + $1.difference }
        if taken != -amount.quantity { problem = "\(id) took \(-taken) of \(amount)" }
      }
      let back = order.returned.map { $0.reduce(0) { $0 + $1.difference } }
      if let back, back != amounts.reduce(0, { $0 + $1.quantity }) { problem = "\(id) gave back \(back)" }
    }
  }
}
