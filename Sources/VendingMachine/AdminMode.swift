// Owns what the manager can do at the machine: put drinks in, take them out, throw away what has expired, check the
// books. It must not know how drinks are sold: there is no way from here to the customers' money.
// Invariant: every change is asked of the stock under a name made of the request's, so a request that is repeated puts
// nothing in twice.

import BankModel
import Posix
import StockClient
import Wire

/// The machine as its manager has it.
final class AdminMode {
  /// How long the stock may take.
  static let patience = Duration.seconds(8)

  private let shelf: DrinkShelf
  private let stock: StockClient
  private let clock: MachineClock

  init(_ shelf: DrinkShelf, _ stock: StockClient, _ clock: MachineClock) {
    self.shelf = shelf
    self.stock = stock
    self.clock = clock
  }

  /// Lets the manager change something; the answer comes later.
  func ask(_ command: VendingCommand, as name: OrderID, _ answer: @escaping (VendingResult) -> Void) {
    switch command {
    case .add(let drinks): add(drinks, as: name, answer)
    case .remove(let amount):
      guard let product = shelf.table[amount.item] else { return answer(.failure(Self.unknown(amount.item))) }
      if let refusal = Self.objection(to: amount.quantity, of: product.id) {
        return answer(.failure(refusal))
      }
      change(.change(ItemAmount(product.id, -amount.quantity), nil), as: name, answer)
    case .discardExpired: change(.discardExpired(today: clock.today), as: name, answer)
    default: answer(.failure(VendingFailure(.badRequest, detail: "this changes nothing")))
    }
  }

  private func add(_ drinks: AddedDrinks, as name: OrderID, _ answer: @escaping (VendingResult) -> Void) {
    guard let product = shelf.table[drinks.product] else {
      return answer(.failure(Self.unknown(drinks.product)))
    }
    if let refusal = Self.objection(to: drinks.quantity, of: product.id) { return answer(.failure(refusal)) }
    guard let dates = product.dates(made: drinks.made ?? clock.today, expires: drinks.expires) else {
      let words = "the dates are no days, or it expires before it is made"
      return answer(.failure(VendingFailure(.badRequest, subject: product.id.name, detail: words)))
    }
    add(BeverageFactory.make(product, dates), drinks.quantity, as: name, answer)
  }

  /// Puts so many of a drink in.
  func add(
    _ drink: Beverage, _ quantity: Quantity, as name: OrderID, _ answer: @escaping (VendingResult) -> Void
  ) {
    change(.change(ItemAmount(drink.product, quantity), drink.dates), as: name, answer)
  }

  private func change(
    _ command: StockCommand, as name: OrderID, _ answer: @escaping (VendingResult) -> Void
  ) {
    let deadline = SystemClock.monotonic() + Self.patience
    shelf.whenKnown(until: deadline) { [weak self] isKnown in
      guard let self else { return }
      guard isKnown else {
        let words = shelf.trouble ?? "the stock service does not answer"
        return answer(.failure(VendingFailure(.stockUnavailable, detail: words)))
      }
      ask(command, as: OrderID("m-" + name.text), until: deadline, answer)
    }
  }

  private func ask(
    _ command: StockCommand, as order: OrderID, until deadline: MonotonicInstant,
    _ answer: @escaping (VendingResult) -> Void
  ) {
    stock.ask(command, as: order, until: deadline) { [weak self] result in
      switch result {
      case .success(.done(let changes)):
        // Whoever is told sees what was done.
        guard let self else { return }
        shelf.reach(changes.last?.sequence ?? 0) { answer(.stocked(changes)) }
      case .success(.short(let shortages)):
        let shortage = shortages.first
        answer(
          .failure(
            VendingFailure(.soldOut, subject: shortage?.item.name ?? "", available: shortage?.available)))
      case .success(.failure(let failure)): answer(.failure(VendingFailure(failure)))
      case .success: answer(.failure(VendingFailure(.stockUnavailable, detail: "another answer")))
      case .failure(let error): answer(.failure(VendingFailure(.stockUnavailable, detail: "\(error)")))
      }
    }
  }

  private static func unknown(_ product: ItemID) -> VendingFailure {
    VendingFailure(.unknownProduct, subject: VendingFailure.cut(product.name))
  }

  private static func objection(to quantity: Quantity, of product: ItemID) -> VendingFailure? {
    if (1...StockLimits.quantity).contains(quantity) { return nil }
    let words = "\(quantity) is not among the amounts there can be, 1 to \(StockLimits.quantity)"
    return VendingFailure(.badRequest, subject: product.name, detail: words)
  }
}
