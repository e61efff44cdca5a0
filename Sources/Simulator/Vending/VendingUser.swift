// One user of the simulated vending machine: a shopper with coins, or the manager with drinks. A user stores its
// requests and the answers, and repeats requests after a lost connection.
// Invariant: a change has its own order ID, under which it is repeated until it is answered, and sometimes afterwards.
import BankModel
import Time
import VendingClient
import Wire

/// A shopper or the manager of the vending machine.
final class VendingUser {
  /// A request that the user sends or repeats.
  struct PlannedRequest {
    /// The order ID of a change; nil for a query.
    var name: OrderID?
    var command: VendingCommand
  }

  /// What a user knows of one of its requests: how often it was sent, and its answer.
  struct RequestRecord {
    var command: VendingCommand
    var asked = 0
    /// The first answer that every repetition must get too. Without such an answer, the latest one; nil before any.
    var result: VendingResult?
  }

  let number: Int
  let isManager: Bool
  unowned let world: Simulation
  var chance: SeededGenerator
  private let asker: ServiceClientHost<VendingCommand>
  /// Number of requests without an answer.
  private var outstanding = 0
  private var requestsToRepeat: [PlannedRequest] = []
  private var requestsLeft: Int64
  /// Number of changes that were requested; the next order ID is made from it.
  var changes = 0
  private(set) var history: [OrderID: RequestRecord] = [:]

  init(number: Int, seed: UInt64, isManager: Bool, world: Simulation) {
    (self.number, self.isManager, self.world) = (number, isManager, world)
    chance = SeededGenerator(seed: seed)
    let home = VendingProgram.home.path
    let socket =
      isManager ? VendingClient.managersSocket(inHome: home) : VendingClient.customersSocket(inHome: home)
    asker = ServiceClientHost(socket: socket, world: world)
    requestsLeft = isManager ? world.plan.vending.orders : world.plan.vending.requestCount
  }

  /// True if the user waits for no answer and has nothing more to send.
  var isSatisfied: Bool { requestsLeft <= 0 && outstanding == 0 && requestsToRepeat.isEmpty }

  /// Sends the next requests if few are unanswered, and schedules the next step.
  func act() {
    guard !isSatisfied else { return }
    if outstanding < 3 {
      if !requestsToRepeat.isEmpty {
        ask(requestsToRepeat.removeFirst())
      } else if requestsLeft > 0 {
        requestsLeft -= 1
        let plannedRequest = chooseRequest()
        ask(plannedRequest)
        // A double click: the same request twice, which must count once.
        if plannedRequest.name != nil, chance.draw(0...9) == 0 { ask(plannedRequest) }
        // A second purchase for another person, so that several are in flight.
        if case .buy = plannedRequest.command, chance.draw(0...2) == 0 { ask(extraPurchase()) }
      }
    }
    let thinkTimeFactor = chance.draw(1_000...120_000) * (world.isFaultFree ? 1 : world.plan.thinkTimeFactor)
    let pause = chance.draw(0...2) == 0 ? chance.draw(0...300) : thinkTimeFactor
    world.eventQueue.add(.vendingUserActs(number), at: world.clock.now + TimeSpan(nanoseconds: pause * 1_000))
  }

  /// Sends a request, with a drawn deadline for its answer.
  private func ask(_ plannedRequest: PlannedRequest) {
    outstanding += 1
    if let name = plannedRequest.name {
      history[name, default: RequestRecord(command: plannedRequest.command)].asked += 1
    }
    let patience = chance.draw(0...4) == 0 ? chance.draw(20...400) : chance.draw(1_000...20_000)
    asker.ask(
      plannedRequest.command, as: plannedRequest.name, until: world.clock.now + .milliseconds(patience)
    ) {
      [unowned self] result in
      outstanding -= 1
      handle(result, of: plannedRequest)
    }
  }

  /// Handles an answer, or nil if none arrived in time. A request with an order ID is then repeated.
  private func handle(_ result: VendingResult?, of plannedRequest: PlannedRequest) {
    // Answers to queries are checked on the wire.
    guard let name = plannedRequest.name else { return }
    guard let result, !mayRetry(after: result) else { return requestsToRepeat.append(plannedRequest) }
    remember(result, of: name)
    if chance.draw(0...7) == 0 { requestsToRepeat.append(plannedRequest) }
  }

  /// Stores an answer, which must equal the first one if that is binding.
  private func remember(_ result: VendingResult, of name: OrderID) {
    guard let first = history[name]?.result, first.isRemembered, first != result else {
      history[name]?.result = result
      return
    }
    // A request that depends on the date has another meaning on the next day, but its order ID belongs to the first
    // day's request.
    if case .failure(let failure) = result, failure.code == .orderConflict { return }
    world.violate(.repeatedOrder, "\(name) was answered \(first) and now \(result)")
  }

  /// True for a full disk, and for a stock that does not answer the manager: the request is repeated.
  private func mayRetry(after result: VendingResult) -> Bool {
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
extension VendingUser {
  func chooseRequest() -> PlannedRequest {
    if isManager { return change(managerCommand()) }
    // A shopper inserts money first, so that something can be bought.
    switch changes == 0 ? 0 : chance.draw(0...19) {
    case 0..<6: return change(.insert([100, 500, 1_000, 5_000, 10_000, 20_000][Int(chance.draw(0...5))]))
    case 6..<15: return change(.buy(someProduct()))
    case 15: return change(.giveChange)
    case 16:
      return PlannedRequest(
        command: .history(PurchasePage(after: chance.draw(0...6), limit: chance.draw(1...4))))
    case 17: return change(chance.draw(0...1) == 0 ? .insert(1_000_001) : .insert(0))
    case 18: return change(chance.draw(0...1) == 0 ? .buy(ItemID("tea")) : .discardExpired)
    default: return PlannedRequest(command: .balance)
    }
  }

  /// Draws a request for a purchase, which is sent beside one that is unanswered.
  func extraPurchase() -> PlannedRequest { change(.buy(someProduct())) }

  private func someProduct() -> ItemID {
    let products = world.plan.vending.table.products
    return products[Int(chance.draw(0...Int64(products.count) - 1))].id
  }

  /// Draws a request of the manager; the first one adds drinks.
  private func managerCommand() -> VendingCommand {
    // An empty machine is filled first.
    switch changes == 0 ? 0 : chance.draw(0...15) {
    case 0..<10: return .add(drinks())
    case 10..<13: return .remove(ItemAmount(someProduct(), chance.draw(1...3)))
    case 13: return .insert(1_000)
    default: return .discardExpired
    }
  }

  /// Draws drinks to be added, with or without dates.
  private func drinks() -> AddedDrinks {
    var drinks = AddedDrinks(product: someProduct(), quantity: chance.draw(1...5))
    guard chance.draw(0...2) > 0 else { return drinks }
    drinks.made = world.today - chance.draw(0...2)
    // Some drinks have expired already, some expire soon, and sometimes the dates are invalid.
    drinks.expires = world.today + chance.draw(chance.draw(0...9) == 0 ? -4...(-3) : -1...2)
    return drinks
  }

  /// Gives a request an order ID of its own, and announces it to the checker.
  private func change(_ command: VendingCommand) -> PlannedRequest {
    changes += 1
    let name = OrderID((isManager ? "manager-" : "shopper-\(number)-") + "\(changes)")
    world.checker.vending.expect(command, as: name)
    return PlannedRequest(name: name, command: command)
  }
}
