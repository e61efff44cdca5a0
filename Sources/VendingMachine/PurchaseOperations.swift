// Requests to the stock for customers: take a drink for a purchase, and return it if the purchase was
// abandoned. This class has no access to the manager's operations.
// Invariant: a purchase's drink is requested under the purchase's own name, and the request is repeated if necessary,
// so the drink is taken once.

import BankModel
import Posix
import ServiceProcess
import StockClient
import Time
import VendingCore
import Wire

/// Takes drinks from the stock for purchases, and requests the return of those that abandoned purchases may hold.
final class PurchaseOperations<Machine: VendingServiceMachine> {
  private let driver: MachineDriver<Machine, VendingPersistence>
  private let shelf: DrinkShelf
  private let stock: StockClient
  private let clock: IterationClock
  private let timeouts: StockTimeouts

  init(
    _ driver: MachineDriver<Machine, VendingPersistence>, _ shelf: DrinkShelf, _ stock: StockClient,
    _ clock: IterationClock, _ timeouts: StockTimeouts
  ) {
    self.timeouts = timeouts
    self.driver = driver
    self.shelf = shelf
    self.stock = stock
    self.clock = clock
    driver.onEffect = { [unowned self] effect in
      switch effect {
      case .take(let purchase, let product): take(product, for: purchase)
      case .release(let purchase): release(purchase)
      case .lookUp, .stage, .reply: break
      }
    }
  }

  /// Requests one piece of a product from the stock for a purchase, once the stock is known to have the product.
  private func take(_ product: ItemID, for purchase: PurchaseNumber) {
    let deadline = SystemClock.monotonic() + timeouts.purchase
    shelf.whenKnown(until: deadline) { [weak self] isKnown in
      guard let self else { return }
      guard isKnown else { return settle(purchase, .unavailable) }
      guard var order = driver.machine.stockOrder(of: purchase) else { return }
      if Mutant.changesPurchaseIDs.isActive { order = OrderID("\(order)-\(CurrentProcess.pid)") }
      let today = Mutant.omitsDayInOrder.isActive ? 0 : clock.today
      let command = StockCommand.take([ItemAmount(product, 1)], today: today)
      stock.ask(command, as: order, until: deadline) { [weak self] in self?.handle($0, product, purchase) }
    }
  }

  /// Converts the stock's answer into the outcome of a purchase.
  private func handle(
    _ result: Result<StockResult, StockClientError>, _ product: ItemID, _ purchase: PurchaseNumber
  ) {
    switch result {
    case .success(.done(let changes)):
      // Answer after the view contains the change, so that the client sees one drink fewer.
      shelf.whenReached(changes.last?.sequence ?? 0) { [weak self] in
        self?.settle(purchase, .taken(changes.first?.dates))
      }
    case .success(.short):
      let hasExpired = shelf.lots(of: product).contains { $0.isExpired(on: clock.today) }
      settle(purchase, .none(onlyExpired: hasExpired))
    case .failure where Mutant.treatsTimeoutAsSoldOut.isActive,
      .success(.failure) where Mutant.treatsStockDiskFullAsSoldOut.isActive:
      settle(purchase, .none(onlyExpired: false))
    case .failure where Mutant.treatsTimeoutAsTaken.isActive: settle(purchase, .taken(nil))
    case .success, .failure: settle(purchase, .unavailable)
    }
  }

  /// Passes the outcome of a purchase to the state machine.
  private func settle(_ purchase: PurchaseNumber, _ outcome: StockOutcome) {
    driver.process(.stockAnswered(purchase, outcome), at: clock.now)
  }

  /// Requests the return of everything that the stock holds for an abandoned purchase.
  private func release(_ purchase: PurchaseNumber) {
    guard let order = driver.machine.stockOrder(of: purchase) else { return }
    stock.ask(.returnItems, as: order, until: SystemClock.monotonic() + timeouts.release) {
      [weak self] result in
      guard let self else { return }
      // Ask again if the stock refuses or does not answer.
      switch result {
      case .success(.done): break
      case .failure where Mutant.treatsTimeoutAsPutBack.isActive: break
      default: return releasesToRetry.append(purchase)
      }
      driver.process(.released(purchase), at: clock.now)
    }
  }

  /// Purchases whose return was refused or not answered.
  private var releasesToRetry: [PurchaseNumber] = []
  /// Time at which the stock is asked again for refused returns; nil if none is scheduled.
  private(set) var nextDeadline: MonotonicTime?

  /// After a pause, asks the stock again for the returns that it has refused or not answered.
  func finishIteration() {
    guard !releasesToRetry.isEmpty else { return }
    guard let due = nextDeadline else { return nextDeadline = clock.now.monotonic + timeouts.pause }
    guard due <= clock.now.monotonic else { return }
    nextDeadline = nil
    let purchases = releasesToRetry
    releasesToRetry.removeAll()
    if Mutant.releaseIsNotRetried.isActive { return }
    for purchase in purchases { release(purchase) }
  }
}
