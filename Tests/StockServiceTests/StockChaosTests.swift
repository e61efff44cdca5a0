// Eight clients take, give back, set and change while the service is killed at random instants and started
// again. A viewer follows from the first change. In the end the ledger that the viewer has seen accounts for
// every answer, and for everything on the shelves. A failure names its seed; BANK_SEED repeats the same draws
// (the instants of the kills differ).

import BankModel
import Glibc
import Posix
import StockClient
import Testing
import Time
import Wire

@Suite("The stock service is killed", .serialized)
struct StockChaosTests {
  @Test("at random instants: nothing is lost, nothing is taken twice, and every answer holds")
  func killed() throws {
    let seed = Environment.value("BANK_SEED").flatMap(UInt64.init) ?? RandomSeed.fromSystem()
    let chaos = try Chaos(seed)
    try chaos.run(kills: 40)
    try chaos.settle()
    for problem in try chaos.problems() { Issue.record("BANK_SEED=\(seed): \(problem)") }
  }
}

private final class Chaos {
  private struct Order {
    var command: StockCommand
    var answer: StockResult?
    var returned: StockResult?
  }

  private let fixture: StockFixture
  private var chance: SeededGenerator
  private var clients: [StockClient] = []
  private var busy: Set<Int> = []
  private var orders: [String: Order] = [:]
  private var answered = 0
  private var ledger: [StockChange] = []
  private var picture: StockSnapshot?
  private let viewer: StockClient
  private var found: [String] = []
  private var isEnding = false

  init(_ seed: UInt64) throws {
    fixture = try StockFixture()
    chance = SeededGenerator(seed: seed)
    try fixture.start()
    viewer = fixture.client()
    guard case .snapshot(let first) = try fixture.call(.querySnapshot) else {
      preconditionFailure("no snapshot came")
    }
    viewer.follow(from: StockPosition(ledger: first.ledger, sequence: 0)) { [unowned self] news in
      switch news {
      case .changes(let changes): ledger += changes
      case .snapshot: found.append("the viewer was sent a snapshot in the middle")
      case .refused(let failure): found.append("the viewer was refused: \(failure)")
      }
    }
    clients = (0..<8).map { _ in fixture.client() }
  }

  func run(kills: Int) throws {
    for _ in 0..<kills {
      let goal = answered + Int(chance.draw(20...300))
      try runIteration { self.answered >= goal }
      // In the middle of its work: requests are in flight from all clients.
      let turns = chance.draw(0...5)
      for _ in 0..<turns { try fixture.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1)) }
      fixture.kill()
      if chance.draw(0...1) == 0 { loseAClient() }
      try fixture.start()
    }
  }

  /// Lets all clients finish, and repeats every request without an answer.
  func settle() throws {
    isEnding = true
    try runIteration { self.busy.isEmpty }
    for (name, order) in orders.sorted(by: { $0.key < $1.key }) where order.answer == nil {
      handle(try fixture.call(order.command, as: name), name, isReturn: false)
    }
    guard case .snapshot(let present) = try fixture.call(.querySnapshot) else {
      return found.append("no snapshot came")
    }
    picture = present
    try runIteration { self.ledger.last?.sequence == present.sequence }
  }

  private func runIteration(until condition: () -> Bool) throws {
    try fixture.wait {
      for place in clients.indices {
        if !isEnding, !busy.contains(place) { ask(place) }
        clients[place].finishIteration()
      }
      viewer.finishIteration()
      return condition()
    }
  }

  /// The asker is gone too; another client repeats the request later.
  private func loseAClient() {
    let place = Int(chance.draw(0...7))
    clients[place].close()
    clients[place] = fixture.client()
    busy.remove(place)
  }

  private func ask(_ place: Int) {
    busy.insert(place)
    var (name, isReturn) = ("order-\(orders.count)", false)
    if chance.draw(0...3) == 0, !orders.isEmpty {
      name = "order-\(chance.draw(0...Int64(orders.count - 1)))"
      if case .take? = orders[name]?.command { isReturn = chance.draw(0...1) == 0 }
    } else {
      orders[name] = Order(command: command())
    }
    guard let order = orders[name] else { return }
    let client = clients[place]
    client.ask(
      isReturn ? .returnItems : order.command, as: OrderID(name),
      until: SystemClock.monotonic() + StockFixture.patience
    ) { [unowned self] result in
      // A lost client receives nothing; its place is taken.
      if clients[place] === client { busy.remove(place) }
      answered += 1
      switch result {
      case .success(let answer): handle(answer, name, isReturn: isReturn)
      case .failure(let error): found.append("\(name): \(error)")
      }
    }
  }

  private func command() -> StockCommand {
    let items = Assortment.standard.fruits.map(\.id)
    let item = items[Int(chance.draw(0...4))]
    switch chance.draw(0...9) {
    case 0: return .set(ItemAmount(item, chance.draw(0...300)))
    case 1: return .change(ItemAmount(item, chance.draw(1...200)), nil)
    case 2: return .change(ItemAmount(item, -chance.draw(1...20)), nil)
    default:
      let amounts = items.filter { $0 == item || chance.draw(0...2) == 0 }.map {
        ItemAmount($0, chance.draw(1...5))
      }
      return .take(amounts, today: nil)
    }
  }

  private func handle(_ answer: StockResult, _ name: String, isReturn: Bool) {
    if let failure = answer.failure {
      // An order that was given back is not done again; its former answer still holds.
      guard failure.code == .wasReturned, !isReturn else { return found.append("\(name): \(failure)") }
      let known = orders[name]?.answer
      orders[name]?.answer = known ?? answer
      return
    }
    let before = isReturn ? orders[name]?.returned : orders[name]?.answer
    if let before, before != answer, before.failure == nil {
      found.append("\(name) got \(before), then \(answer)")
    }
    if isReturn { orders[name]?.returned = answer } else { orders[name]?.answer = answer }
  }

  /// All violations.
  func problems() throws -> [String] {
    if ledger.map(\.sequence) != Array(1...Int64(ledger.count)) {
      found.append("the viewer has missed a change")
    }
    var present: [ItemID: Quantity] = [:]
    for row in ledger {
      present[row.item, default: 0] += row.difference
      if present[row.item] != row.present || row.present < 0 {
        found.append("change \(row.sequence) does not add up")
      }
    }
    for stock in picture?.items ?? [] where present[stock.item, default: 0] != stock.quantity {
      found.append(
        "of \(stock.item) there are \(stock.quantity), and by the ledger \(present[stock.item] ?? 0)")
    }
    let rows = Dictionary(grouping: ledger.filter { $0.order != nil }) { $0.order?.text ?? "" }
    for (name, order) in orders { check(name, order, rows[name] ?? []) }
    for name in rows.keys where orders[name] == nil { found.append("\(name) was not requested") }
    if let audit = try fixture.audit(), audit.problems != [] || audit.changes != Int64(ledger.count) {
      found.append("the audit: \(audit)")
    }
    return found
  }

  private func check(_ name: String, _ order: Order, _ rows: [StockChange]) {
    let done = rows.filter { $0.kind != .returned }
    let returned = rows.filter { $0.kind == .returned }
    if let answer = order.answer?.rows, answer != done {
      found.append("\(name) got \(answer) and did \(done)")
    }
    if case .short? = order.answer, !rows.isEmpty { found.append("\(name) was short and did \(done)") }
    if let answer = order.returned?.rows, answer != returned { found.append("\(name) returned \(returned)") }
    guard case .take(let amounts, _) = order.command, !done.isEmpty else { return }
    for amount in amounts
    where done.filter({ $0.item == amount.item }).map(\.difference) != [-amount.quantity] {
      found.append("\(name) asked for \(amount) and took \(done)")
    }
  }
}
