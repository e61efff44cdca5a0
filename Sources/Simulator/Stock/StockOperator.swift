// A client that maintains the simulated stock: sets amounts, adds and removes pieces, queries, and asks again
// if no answer arrives.
// Invariant: a change has its own order ID, under which it is repeated until it is answered, and sometimes afterwards.
import BankModel
import StockClient
import Time
import Wire

/// A client that changes and queries the stock.
final class StockOperator {
  private unowned let world: Simulation
  private let number: Int
  private var chance: SeededGenerator
  private let asker: ServiceClientHost<StockCommand>
  private var changesLeft: Int64
  private var changes = 0
  /// The change that is sent again until it is answered; nil if there is none.
  private var requestToRepeat: (order: OrderID, command: StockCommand)?
  /// True while a request has no answer.
  private var isWaiting = false

  init(number: Int, seed: UInt64, changes: Int64, world: Simulation) {
    (self.number, self.world) = (number, world)
    chance = SeededGenerator(seed: seed)
    changesLeft = changes
    asker = world.newStockClient()
  }

  /// True if the operator waits for nothing and has nothing more to send.
  var isSatisfied: Bool { changesLeft <= 0 && !isWaiting && requestToRepeat == nil }
  /// True if the next request is an audit.
  var mustAudit = false

  /// Sends the next request unless one is unanswered, and schedules the next step.
  func act() {
    guard !isSatisfied else { return }
    if !isWaiting {
      if let (order, command) = requestToRepeat { ask(command, as: order) } else { chooseRequest() }
    }
    let pause = chance.draw(2_000...120_000) * (world.isFaultFree ? 1 : world.plan.thinkTimeFactor)
    world.eventQueue.add(
      .stockOperatorActs(number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
  }

  /// Draws and sends the next request: a change or a query.
  private func chooseRequest() {
    changesLeft -= 1
    if mustAudit {
      (mustAudit, isWaiting) = (false, true)
      return audit()
    }
    let fruits = world.plan.stock.assortment.fruits
    let fruit = fruits[Int(chance.draw(0...Int64(fruits.count) - 1))].id
    let command: StockCommand
    switch chance.draw(0...9) {
    case 0..<5: command = .change(ItemAmount(fruit, chance.draw(1...5)), nil)
    case 5..<7: command = .change(ItemAmount(fruit, -chance.draw(1...3)), nil)
    case 7: command = .set(ItemAmount(fruit, chance.draw(0...9)))
    default: return querySnapshot()
    }
    changes += 1
    let order = OrderID("keeper-\(number)-\(changes)")
    world.checker.stock.expect(command, as: order)
    ask(command, as: order)
  }

  /// Requests a snapshot or an audit.
  private func querySnapshot() {
    isWaiting = true
    if chance.draw(0...3) == 0 { return audit() }
    asker.ask(.querySnapshot, until: deadline) { [unowned self] result in
      isWaiting = false
      if case .snapshot(let picture)? = result { world.checker.stock.shown(picture) }
    }
  }

  /// Requests an audit, which must find nothing.
  private func audit() {
    asker.ask(.audit, until: world.clock.now + .seconds(chance.draw(1...60))) { [unowned self] result in
      isWaiting = false
      if case .audit(let report)? = result, let problem = report.problems.first {
        world.violate(.stock, "an audit finds: \(problem)")
      }
    }
  }

  private var deadline: MonotonicTime { world.clock.now + .milliseconds(chance.draw(1...400)) }

  /// Sends a change. It is sent again if it is not answered, and sometimes although it is.
  private func ask(_ command: StockCommand, as order: OrderID) {
    isWaiting = true
    requestToRepeat = (order, command)
    asker.ask(command, as: order, until: deadline) { [unowned self] result in
      isWaiting = false
      switch result {
      case .done?, .short?: if chance.draw(0...5) > 0 { requestToRepeat = nil }
      case .failure(let failure)? where failure.code != .diskFull:
        world.violate(.refusal, "a change of \(order) was refused: \(failure.code.name)")
      default: break
      }
    }
  }
}

/// A subscriber in the simulated world, like `bankctl stock watch`: a snapshot of the stock to which every
/// change is applied.
/// Invariant: the snapshot after each change equals the stock's amounts at that change, in spite of faults of the
/// connection and the service.
final class StockSubscriber {
  private unowned let world: Simulation
  private let asker: ServiceClientHost<StockCommand>
  private var quantities: [ItemID: Quantity] = [:]
  /// Number of the last change that the subscriber has received.
  private(set) var seen = 0

  init(number: Int, world: Simulation) {
    self.world = world
    asker = world.newStockClient()
    asker.follow(StockCursor()) { [unowned self] in handle($0) }
  }

  var pid: Int32 { asker.pid }
  /// Stops the subscriber's process, so that it receives no further updates.
  func stop() { asker.stall(true) }

  /// Applies an update to the amounts, and checks it.
  private func handle(_ news: StockUpdate) {
    switch news {
    case .snapshot(let picture):
      seen = Int(picture.sequence)
      quantities = [:]
      for shelf in picture.items { quantities[shelf.item] = shelf.quantity }
      world.checker.stock.shown(picture)
    case .changes(let changes):
      world.statistics.news += Int64(changes.count)
      for change in changes {
        world.checker.stock.sent(change, seen: seen)
        seen = Int(change.sequence)
        let there = quantities[change.item, default: 0] + change.difference
        quantities[change.item] = there
        if there != change.present {
          world.violate(.news, "after change \(change.sequence) a subscriber sees \(there) \(change.item)")
        }
      }
    case .refused(let failure): world.violate(.protocolViolation, "a subscriber is refused: \(failure)")
    }
  }
}
