// Random histories of money, purchases, repeats, crashes, full disks and a stock that comes and goes. After
// each step the money put in is where it must be; in the end, when all requests are answered, every drink
// that left the shelves was paid for once. A failure names its seed; `BANK_SEED=… swift test --filter
// VendingHistoryTests` repeats it alone.

import BankModel
import Glibc
import Testing

@testable import VendingCore

@Suite("Random histories of the vending machine")
struct VendingHistoryTests {
  private static let seeds: [UInt64] = {
    if let text = getenv("BANK_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
    return Array(1...200)
  }()

  @Test("conserve money and drinks, and answer every request once", arguments: seeds)
  func history(_ seed: UInt64) {
    if let problem = History.run(seed, nil) {
      Issue.record("BANK_SEED=\(seed) swift test --filter VendingHistoryTests: \(problem)")
    }
  }

  @Test("find every planted bug", arguments: PlantedBug.allCases)
  func planted(_ bug: PlantedBug) {
    let found = (1...200 as ClosedRange<UInt64>).lazy.compactMap { History.run($0, bug) }.first
    #expect(found != nil, "\(bug.rawValue) goes unnoticed")
  }
}

private struct History {
  private static let stocked: Quantity = 60

  private let world: VendingWorld
  private var chance: SeededGenerator
  private var requested: [(name: String, action: VendingAction)] = []
  private var said: [String: VendingAnswer] = [:]
  private var open: [(request: RequestNumber, place: Int)] = []
  private(set) var problem: String?

  static func run(_ seed: UInt64, _ bug: PlantedBug?) -> String? {
    var history = History(seed, bug)
    for _ in 0..<300 where history.problem == nil { history.step() }
    if history.problem == nil { history.finish() }
    return history.problem
  }

  private init(_ seed: UInt64, _ bug: PlantedBug?) {
    chance = SeededGenerator(seed: seed)
    world = VendingWorld(bug)
    for product in VendingWorld.prices.keys { world.shelves[product] = Self.stocked }
    world.shelves[ItemID("coke")] = 2
  }

  private var initial: Quantity { 2 * Self.stocked + 2 }

  private mutating func step() {
    switch chance.draw(0...21) {
    case 0: crash()
    case 1: world.refuseCommit()
    case 2...6: world.commit()
    case 7...10: world.stockAnswers()
    case 11: world.stockAnswers(isLost: true)
    case 12: world.stockIsAway()
    case 13...15 where !requested.isEmpty: ask(Int(chance.draw(0...Int64(requested.count - 1))))
    default:
      requested.append(("r\(requested.count)", action()))
      ask(requested.count - 1)
    }
    handle()
    check()
  }

  private mutating func action() -> VendingAction {
    switch chance.draw(0...9) {
    case 0: return .giveChange
    case 1...4: return .insert(chance.draw(0...1) == 0 ? 1_000 : chance.draw(1...9_000))
    default:
      let products = VendingWorld.prices.keys.sorted()
      return .buy(products[Int(chance.draw(0...2))])
    }
  }

  private mutating func ask(_ place: Int) {
    open.append((world.ask(requested[place].action, as: requested[place].name), place))
  }

  private mutating func crash() {
    world.crash()
    // Open requests get no answer; some are repeated.
    let lost = open.filter { world.answers[$0.request] == nil }.map(\.place)
    open.removeAll { world.answers[$0.request] == nil }
    for place in lost where chance.draw(0...1) == 0 { ask(place) }
  }

  private mutating func handle() {
    for (request, place) in open {
      guard let answer = world.answers[request] else { continue }
      let name = requested[place].name
      if let before = said[name], before != answer { problem = "\(name) got \(before), then \(answer)" }
      switch answer {
      // A request without effect that is not stored may become possible later.
      case .refused(.tooLittleMoney), .refused(.diskFull), .refused(.crowded), .refused(.balanceLimit): break
      default: said[name] = answer
      }
    }
    open.removeAll { world.answers[$0.request] != nil }
  }

  private mutating func check() {
    let (disk, account) = (world.committed, world.committed.account)
    if account.difference != 0 || account.balance < 0 { problem = "the money is \(account)" }
    for (place, row) in disk.changes.enumerated() where row.sequence != Int64(place + 1) {
      problem = "change \(place + 1) has the number \(row.sequence)"
    }
    let requests = disk.changes.map(\.request)
    if Set(requests).count != requests.count { problem = "a request was done twice" }
    if disk.changes.last.map({ $0.balance != account.balance }) == true { problem = "the balance is another" }
    // The stock holds nothing without an intent on disk.
    for case (let name, .taken) in world.names
    where !disk.purchases.values.contains(where: {
      name.text.hasPrefix(VendingStateMachine.stockOrder(machine: 7, purchase: $0).text)
    }) {
      problem = "\(name) took a drink without a purchase"
    }
    let reserved = disk.purchases.values.reduce(0) { $0 + ($1.state == .open ? $1.price : 0) }
    if reserved > account.balance { problem = "purchases in progress cost \(reserved) of \(account.balance)" }
  }

  /// All requests come to their end: the stock answers, the disk has room.
  private mutating func finish() {
    for _ in 0..<2 {
      for _ in 0..<2_000
      where !world.requested.isEmpty || world.machine.hasUncommittedChanges || world.machine.hasUnwritten {
        world.commit()
        world.stockAnswers()
      }
      world.commit()
      handle()
      check()
      world.crash()
    }
    let disk = world.committed
    if let left = disk.purchases.values.first(where: { $0.state == .open || $0.state == .releasing }) {
      problem = "purchase \(left.number) never ends"
    }
    if let (request, place) = open.first(where: { world.answers[$0.request] == nil }) {
      problem = "request \(request) (\(requested[place])) was never answered"
    }
    let bought = disk.changes.filter { $0.kind == .bought }
    let left = world.shelves.values.reduce(0, +)
    if left + Int64(bought.count) != initial {
      problem = "of \(initial) drinks \(left) are left, and \(bought.count) were bought"
    }
    let price = bought.reduce(0) { $0 + (VendingWorld.prices[$1.product ?? ItemID("")] ?? 0) }
    if price != disk.account.spent {
      problem = "the purchases cost \(price), and \(disk.account.spent) was paid"
    }
    for (name, answer) in said {
      guard case .done(let change) = answer else { continue }
      if !disk.changes.contains(change) { problem = "\(name) got a change that does not exist" }
    }
  }
}
