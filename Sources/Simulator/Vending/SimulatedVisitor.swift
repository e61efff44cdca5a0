// One user of the simulated vending machine: a shopper with coins, or the manager with drinks. A user stores its
// requests and the answers, and repeats requests after a lost connection.
// Invariant: every change has its own order ID, under which it is repeated until it is answered, and sometimes
// afterwards. A user assumes only what was in an answer.
import BankModel
import Time
import VendingClient
import Wire

final class SimulatedVisitor {
  struct Wish {
    /// The order ID of a change; nil for a query.
    var name: OrderID?
    var command: VendingCommand
  }

  struct Memory {
    var command: VendingCommand
    var asked = 0
    /// The first answer that a repeated request must get again, or else the latest one; nil before any.
    var result: VendingResult?
  }

  let number: Int
  let isManager: Bool
  unowned let world: Simulation
  var chance: SeededGenerator
  private let asker: SimulatedAsker<VendingCommand>
  private var outstanding = 0
  private var again: [Wish] = []
  private var wishesLeft: Int64
  var changes = 0
  private(set) var memory: [OrderID: Memory] = [:]

  init(number: Int, seed: UInt64, isManager: Bool, world: Simulation) {
    (self.number, self.isManager, self.world) = (number, isManager, world)
    chance = SeededGenerator(seed: seed)
    let home = VendingProgram.home.path
    let socket =
      isManager ? VendingClient.managersSocket(inHome: home) : VendingClient.customersSocket(inHome: home)
    asker = SimulatedAsker(socket: socket, world: world)
    wishesLeft = isManager ? world.plan.vending.orders : world.plan.vending.wishes
  }

  var isContent: Bool { wishesLeft <= 0 && outstanding == 0 && again.isEmpty }

  func act() {
    guard !isContent else { return }
    if outstanding < 3 {
      if !again.isEmpty {
        ask(again.removeFirst())
      } else if wishesLeft > 0 {
        wishesLeft -= 1
        let wish = think()
        ask(wish)
        // A double click: the same request twice, which must count once.
        if wish.name != nil, chance.draw(0...9) == 0 { ask(wish) }
        // A second purchase for another person: two are in flight.
        if case .buy = wish.command, chance.draw(0...2) == 0 { ask(oneMore()) }
      }
    }
    let thought = chance.draw(1_000...120_000) * (world.isCalm ? 1 : world.plan.thought)
    let pause = chance.draw(0...2) == 0 ? chance.draw(0...300) : thought
    world.agenda.add(.visitorActs(number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
  }

  private func ask(_ wish: Wish) {
    outstanding += 1
    if let name = wish.name { memory[name, default: Memory(command: wish.command)].asked += 1 }
    let patience = chance.draw(0...4) == 0 ? chance.draw(20...400) : chance.draw(1_000...20_000)
    asker.ask(wish.command, as: wish.name, until: world.clock.now + .milliseconds(patience)) {
      [unowned self] result in
      outstanding -= 1
      hear(result, of: wish)
    }
  }

  /// Handles an answer, or nil if none arrived in time. A request with an order ID is then repeated.
  private func hear(_ result: VendingResult?, of wish: Wish) {
    // Answers to queries are checked on the wire.
    guard let name = wish.name else { return }
    guard let result, !mayAskAgain(after: result) else { return again.append(wish) }
    remember(result, of: name)
    if chance.draw(0...7) == 0 { again.append(wish) }
  }

  private func remember(_ result: VendingResult, of name: OrderID) {
    guard let first = memory[name]?.result, first.isRemembered, first != result else {
      memory[name]?.result = result
      return
    }
    // A request that depends on the date has another meaning on the next day, but its order ID belongs to the first
    // day's request.
    if case .failure(let failure) = result, failure.code == .otherOrder { return }
    world.violate(.repeatedOrder, "\(name) was answered \(first) and now \(result)")
  }

  /// True for a full disk, and for a stock that does not answer the manager: the request is repeated.
  private func mayAskAgain(after result: VendingResult) -> Bool {
    guard case .failure(let failure) = result else { return false }
    return failure.code == .diskFull || (isManager && failure.code == .stockUnavailable)
  }
}

extension VendingResult {
  /// True if a repeated request with the same order ID gets the same answer.
  var isRemembered: Bool {
    guard case .failure(let failure) = self else { return true }
    return switch failure.code {
    case .soldOut, .onlyExpired, .stockUnavailable: true
    default: false
    }
  }
}

/// Choice of a user's next request.
/// Invariant: the checker receives every change before the machine does.
extension SimulatedVisitor {
  func think() -> Wish {
    if isManager { return change(managersThought()) }
    // A shopper inserts money first, so that something can be bought.
    switch changes == 0 ? 0 : chance.draw(0...19) {
    case 0..<6: return change(.insert([100, 500, 1_000, 5_000, 10_000, 20_000][Int(chance.draw(0...5))]))
    case 6..<15: return change(.buy(someProduct()))
    case 15: return change(.giveChange)
    case 16:
      return Wish(command: .history(PurchasePage(after: chance.draw(0...6), limit: chance.draw(1...4))))
    case 17: return change(chance.draw(0...1) == 0 ? .insert(1_000_001) : .insert(0))
    case 18: return change(chance.draw(0...1) == 0 ? .buy(ItemID("tea")) : .discardExpired)
    default: return Wish(command: .balance)
    }
  }

  func oneMore() -> Wish { change(.buy(someProduct())) }

  private func someProduct() -> ItemID {
    let products = world.plan.vending.table.products
    return products[Int(chance.draw(0...Int64(products.count) - 1))].id
  }

  private func managersThought() -> VendingCommand {
    // An empty machine is filled first.
    switch changes == 0 ? 0 : chance.draw(0...15) {
    case 0..<10: return .add(drinks())
    case 10..<13: return .remove(ItemAmount(someProduct(), chance.draw(1...3)))
    case 13: return .insert(1_000)
    default: return .discardExpired
    }
  }

  private func drinks() -> AddedDrinks {
    var drinks = AddedDrinks(product: someProduct(), quantity: chance.draw(1...5))
    guard chance.draw(0...2) > 0 else { return drinks }
    drinks.made = world.today - chance.draw(0...2)
    // Some drinks have expired already, some expire soon, and sometimes the dates are invalid.
    drinks.expires = world.today + chance.draw(chance.draw(0...9) == 0 ? -4...(-3) : -1...2)
    return drinks
  }

  private func change(_ command: VendingCommand) -> Wish {
    changes += 1
    let name = OrderID((isManager ? "manager-" : "shopper-\(number)-") + "\(changes)")
    world.checker.vending.expect(command, as: name)
    return Wish(name: name, command: command)
  }
}
