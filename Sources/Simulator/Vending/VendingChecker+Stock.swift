// Checks of the stock's work for the vending machine: for its purchases and for its manager.
// Invariant: a drink is taken for one purchase that is on disk. The piece that expires first is sold first, and no
// expired piece is sold. Every return, addition and removal is made once, as requested.
import BankModel
import QueueCore
import StockCore
import VendingCore
import Wire

extension VendingChecker {
  /// True if an order of the stock belongs to the vending machine or its manager.
  func owns(_ order: OrderID) -> Bool { order.text.hasPrefix("v") || order.text.hasPrefix("m-") }

  /// Checks that the machine asks for a drink only for a purchase that is unfinished on disk.
  func takeRequested(as order: OrderID) {
    askedOn[order, default: []].append(world.today)
    guard let place = purchaseByOrder[order], purchases[place].isUnfinished else {
      return violate(.purchase, "the stock is asked for \(order), but no such purchase is open on disk")
    }
  }

  /// Checks that the machine returns a drink only for a purchase that is abandoned on disk.
  func releaseRequested(_ order: OrderID) {
    guard let place = purchaseByOrder[order], purchases[place].state == .releasing else {
      return violate(.purchase, "order \(order) is to be returned, but is not abandoned on disk")
    }
  }

  /// Records the day on which the machine sends an order of the manager to the stock.
  func managerOrderSent(_ order: OrderID) { askedOn[order, default: []].append(world.today) }

  /// Records a request of the manager that was sent to the machine, with the present day.
  func managerRequestArrived(_ request: OrderID) {
    let order = OrderID("m-" + request.text)
    askedOn[order, default: []].append(world.today)
    requestByOrder[order] = request
  }

  /// Checks that the stock blocks an order only if its purchase is abandoned.
  func decided(_ order: OrderID, _ outcome: StoredOrder.Outcome) {
    guard outcome == .void else { return }
    guard let place = purchaseByOrder[order], purchases[place].state == .releasing else {
      return violate(.purchase, "order \(order) is to be blocked, but its purchase is not abandoned")
    }
  }

  /// Returns the drinks that the manager's request removes; nil for any other request.
  func removal(_ order: OrderID) -> ItemAmount? {
    guard let name = requestByOrder[order], case .remove(let amount)? = wanted[name] else { return nil }
    return amount
  }

  /// Checks that a change of the stock takes, removes or discards drinks of the right lot, given the lots before it.
  func left(_ row: StockChange, from lots: [Lot]) {
    guard row.dates != nil, let order = row.order, owns(order) else { return }
    let days = askedOn[order] ?? []
    let isRight: Bool =
      switch row.kind {
      case .taken: days.contains { day in lots.first { !$0.isExpired(on: day) }?.dates == row.dates }
      case .removed: lots.first?.dates == row.dates
      case .discarded: row.lot == 0 && days.contains { Lot(dates: row.dates, quantity: 1).isExpired(on: $0) }
      default: true
      }
    if !isRight {
      violate(.drinks, "order \(order) was \(row.kind.name) of \(row.dates.text), on \(days) from \(lots)")
    }
  }

  /// Checks what an order of the machine has taken and returned, after a commit of the stock.
  func verify(_ order: OrderID, _ effects: StockChecker.OrderEffects, _ fresh: [StockChange]) {
    guard let place = purchaseByOrder[order] else { return verifyManagerOrder(order, fresh) }
    let purchase = purchases[place]
    let one = [purchase.product: Quantity(1)]
    if effects.taken != one || !(effects.returned.isEmpty || effects.returned == one) {
      violate(.purchase, "order \(order) has taken \(effects.taken) and returned \(effects.returned)")
    }
    // Only an unfinished purchase takes a drink, and only a releasing one returns it.
    let isRight = effects.returned.isEmpty ? purchase.isUnfinished : purchase.state == .releasing
    if !isRight {
      violate(.purchase, "order \(order) changes the stock, but its purchase is \(purchase.state.text)")
    }
  }

  /// Checks that an order of the manager changes the stock once, and as requested.
  private func verifyManagerOrder(_ order: OrderID, _ fresh: [StockChange]) {
    guard let name = requestByOrder[order], let command = wanted[name],
      order == OrderID("m-" + name.text), doneManagerOrders.insert(order).inserted
    else { return violate(.drinks, "order \(order) changes the stock, but has no request") }
    let sum = fresh.reduce(0) { $0 + $1.difference }
    let isRight: Bool =
      switch command {
      case .add(let drinks):
        fresh.count == 1 && fresh[0].kind == .added && fresh[0].item == drinks.product
          && sum == drinks.quantity && isDated(fresh[0], order, drinks)
      case .remove(let amount):
        sum == -amount.quantity && fresh.allSatisfy { $0.kind == .removed && $0.item == amount.item }
      case .discardExpired: fresh.allSatisfy { $0.kind == .discarded }
      default: false
      }
    if !isRight { violate(.drinks, "\(name) requests \(command), but changed \(fresh.map(\.difference))") }
  }

  /// True if added drinks have the requested dates, or those that follow from the day of the request.
  private func isDated(_ row: StockChange, _ order: OrderID, _ drinks: AddedDrinks) -> Bool {
    guard let dates = row.dates, let product = world.plan.vending.table[drinks.product] else { return false }
    let days = drinks.made.map { [$0] } ?? askedOn[order] ?? []
    return days.contains(dates.made) && dates.expires == drinks.expires ?? (dates.made + product.shelfLife)
  }

  /// Checks that an order that is reported as returned holds no drink and is abandoned.
  func checkGivenBack(_ order: OrderID, isHolding: Bool) {
    guard let place = purchaseByOrder[order], !isHolding, !purchases[place].isOpen else {
      return violate(
        .purchase, "order \(order) is reported as returned, but holds a drink or is not abandoned")
    }
  }

  /// Checks that the changes in an answer to the manager are on the stock's disk.
  func checkStocked(_ request: VendingRequest, _ changes: [StockChange]) {
    let rows = checker.stock.rows
    for change in changes where change.sequence > rows.count || rows[Int(change.sequence) - 1] != change {
      return violate(
        .notDurable, "the manager received change \(change.sequence), which is not on the stock's disk")
    }
  }

  /// Checks that a request of the manager was refused for a valid reason.
  func checkRefusedManager(_ name: OrderID, _ command: VendingCommand, _ failure: VendingFailure) {
    let order = OrderID("m-" + name.text)
    let isDone = doneManagerOrders.contains(order)
    let isRight: Bool =
      switch (failure.code, command) {
      case (.stockUnavailable, _): true
      case (.soldOut, .remove): !isDone
      // A request that depends on the current day has another meaning on the next one.
      case (.orderConflict, _): dependsOnDay(command) && Set(askedOn[order] ?? []).count > 1
      case (.badRequest, .add(let drinks)): !isDone && (drinks.made ?? world.today) > (drinks.expires ?? .max)
      default: false
      }
    if !isRight { violate(.refusal, "\(name) for \(command) was refused for \(failure.code.name)") }
  }

  /// True if the meaning of a request depends on the day of its arrival.
  func dependsOnDay(_ command: VendingCommand) -> Bool {
    switch command {
    case .add(let drinks): drinks.made == nil
    case .discardExpired: true
    default: false
    }
  }
}

extension StoredPurchase {
  /// True if the purchase waits for an answer of the stock and was not abandoned.
  fileprivate var isOpen: Bool { state == .open }
}

extension LotDates? {
  fileprivate var text: String { map { "\($0.made)..\($0.expires)" } ?? "no dates" }
}

/// Final check of a history's vending machine: the sum of all users' answers must equal the disks.
/// Invariant: money inserted = balance + price of purchases + money returned, and drinks added = present + sold +
/// removed + discarded, both computed from the answers that users received.
extension VendingChecker {
  /// Checks after the bank has closed that every purchase has an outcome and that no user has received a wrong answer.
  func checkEnd() throws(StoreError) {
    guard world.hasVending else { return }
    world.vending.disk.crash()
    restarted(with: try world.vending.disk.load(newMachine: world.machineName))
    if let left = purchases.first(where: \.isUnfinished) {
      violate(.notDrained, "purchase \(left.number) is \(left.state.text) after the bank has ended")
    }
    var reportedAccount = MoneyAccount()
    var brought: [ItemID: Quantity] = [:]
    for visitor in world.vending.visitors {
      // Iterate in the order of the IDs, because a seed must repeat its history.
      for (name, history) in visitor.history.sorted(by: { $0.key.text < $1.key.text }) {
        add(name, history, to: &reportedAccount)
        try add(name, history, to: &brought)
      }
    }
    reportedAccount.balance = reportedAccount.inserted - reportedAccount.spent - reportedAccount.returned
    if reportedAccount != account {
      violate(.money, "the clients remember \(reportedAccount), but the machine has \(account)")
    }
    for product in world.plan.vending.table.products {
      let sold = rows.count { $0.kind == .bought && $0.product == product.id }
      let there = checker.stock.present.total(of: product.id)
      let left = brought[product.id, default: 0] - Quantity(sold)
      if there != left { violate(.drinks, "\(there) \(product.id) are present, expected \(left)") }
    }
  }

  /// Describes the unfinished purchases, and the users that wait.
  func leftovers() -> [String] {
    purchases.filter(\.isUnfinished).map { "purchase \($0.number) is \($0.state.text)" }
      + world.vending.visitors.filter { !$0.isSatisfied }.map { "visitor \($0.number) waits for the machine" }
  }

  /// Adds the money in a user's answer to the sum, and compares the answer with the machine's row.
  private func add(
    _ name: OrderID, _ history: VendingUser.RequestRecord, to reportedAccount: inout MoneyAccount
  ) {
    let row = rowByRequest[name].map { rows[$0] }
    switch history.result {
    case .done(let change)?:
      reportedAccount.apply(change)
      if change != row {
        violate(.money, "\(name) remembers change \(change.sequence), which does not exist")
      }
    case .failure(let failure)? where failure.code == .tooLittleMoney && arrivals[name] ?? 0 > 1:
      // A refusal for lack of money is not stored: a request that arrived twice may have found the money
      // the second time.
      if let row { reportedAccount.apply(row) }
    case nil, .failure?:
      if row != nil {
        violate(.money, "\(name) was done but not reported: \(String(describing: history))")
      }
    default: break
    }
  }

  /// Adds the drinks in an answer to the manager to the sums.
  private func add(
    _ name: OrderID, _ history: VendingUser.RequestRecord, to brought: inout [ItemID: Quantity]
  ) throws(StoreError) {
    let order = OrderID("m-" + name.text)
    switch history.result {
    case .stocked(let changes)?:
      for change in changes { brought[change.item, default: 0] += change.difference }
    case .failure(let failure)? where failure.code == .orderConflict:
      // The change was made on another day, under the same order ID.
      for change in try world.stockDisk.order(order)?.changes ?? [] {
        brought[change.item, default: 0] += change.difference
      }
    default:
      if doneManagerOrders.contains(order) { violate(.drinks, "\(name) was done but not reported") }
    }
  }
}
