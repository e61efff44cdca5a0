// Owns how the simulated machine asks the stock, line for line as the real `CustomerMode` and `AdminMode` do: the drink
// of a purchase under the purchase's own name, what was given up, and what the manager brings and takes. It must not know
// the money. Invariant: one purchase is one order at the stock, and so is one request of the manager's, however often.

import BankModel
import VendingCore
import VendingMachine
import Wire

extension SimulatedMachine {
  // MARK: - The drink of a purchase

  /// Asks the stock for one of a product.
  func take(_ product: ItemID, for purchase: PurchaseNumber) {
    let deadline = world.clock.now + world.plan.vending.patience
    shelf.whenKnown(until: deadline) { [weak self] isKnown in
      guard let self, isAlive else { return }
      guard isKnown else { return settle(purchase, .away) }
      guard var order = core.stockOrder(of: purchase) else { return }
      if bug == .renamesPurchases { order = OrderID("\(order)-\(number)") }
      let today = bug == .sellsTheExpired ? 0 : world.today
      world.checker.vending.asksToTake(purchase, as: order)
      world.purchaseIsAsked()
      asker.ask(.take([ItemAmount(product, 1)], today: today), as: order, until: deadline) { [weak self] in
        self?.hear($0, product, purchase)
      }
    }
  }

  private func hear(_ result: StockResult?, _ product: ItemID, _ purchase: PurchaseNumber) {
    guard isAlive else { return }
    heardOfTheStock()
    if result != nil { world.fillVendingDisk() }
    switch result {
    case .done(let changes)?:
      // What is taken is taken, and nobody has been told.
      if world.purchaseMeetsItsEnd() { return die() }
      shelf.reach(changes.last?.sequence ?? 0) { [weak self] in
        self?.settle(purchase, .taken(changes.first?.dates))
      }
    case .short?:
      let hasExpired = shelf.lots(of: product).contains { $0.isExpired(on: world.today) }
      settle(purchase, .none(onlyExpired: hasExpired))
    case nil where bug == .takesSilenceForSoldOut: settle(purchase, .none(onlyExpired: false))
    case nil where bug == .takesSilenceForTaken: settle(purchase, .taken(nil))
    default: settle(purchase, .away)
    }
  }

  private func settle(_ purchase: PurchaseNumber, _ outcome: StockOutcome) {
    guard isAlive else { return }
    heardOfTheStock()
    happen(.stockAnswered(purchase, outcome))
  }

  /// Has the stock put back whatever a purchase holds.
  func release(_ purchase: PurchaseNumber) {
    guard let order = core.stockOrder(of: purchase) else { return }
    world.checker.vending.asksToRelease(purchase)
    let deadline = world.clock.now + world.plan.vending.releasePatience
    asker.ask(.giveBack, as: order, until: deadline) { [weak self] result in
      guard let self, isAlive else { return }
      heardOfTheStock()
      guard case .done? = result else { return again.append(purchase) }
      happen(.released(purchase))
    }
  }

  // MARK: - The manager

  /// Does what the manager wants; the answer comes later.
  func manage(_ question: Question, as name: OrderID) {
    world.checker.vending.hearsTheManager(name)
    switch question.request.command.stockCommand(selling: world.plan.vending.table, on: world.today) {
    case .success(let command): change(command, question, as: name)
    case .failure(let refusal): tell(question, .failure(refusal))
    }
  }

  private func change(_ command: StockCommand, _ question: Question, as name: OrderID) {
    let deadline = world.clock.now + world.plan.vending.managersPatience
    shelf.whenKnown(until: deadline) { [weak self] isKnown in
      guard let self, isAlive else { return }
      guard isKnown else { return tell(question, .failure(VendingFailure(.stockUnavailable))) }
      var order = OrderID(ofManagersRequest: name)
      if bug == .stocksAgain { order = OrderID("\(order)-\(question.request.number)") }
      asker.ask(command, as: order, until: deadline) { [weak self] result in
        self?.hear(result, of: question)
      }
    }
  }

  private func hear(_ result: StockResult?, of question: Question) {
    guard isAlive else { return }
    heardOfTheStock()
    guard let result else { return tell(question, .failure(VendingFailure(.stockUnavailable))) }
    guard case .done(let changes) = result else {
      return tell(question, VendingResult(managersAnswer: result))
    }
    // Whoever is told sees what was done.
    shelf.reach(changes.last?.sequence ?? 0) { [weak self] in self?.tell(question, .stocked(changes)) }
  }
}
