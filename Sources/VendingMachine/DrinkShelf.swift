// View of the drinks in stock, shared by the customers' side and the manager's side. It subscribes to the stock
// service, adds the products that the stock does not have yet, and answers queries by product and expiry.
// Invariant: the quantities are those of the latest data from the stock, also while the stock is unavailable.

import BankModel
import Posix
import StockClient
import Time
import Wire

/// The drinks of the vending machine, as the stock service last reported them.
final class DrinkShelf {
  let table: ProductTable
  /// Number of messages from the stock so far. The version of a product is the number of the last message that changed
  /// it.
  private(set) var version: UInt64 = 0
  /// Reason why the stock has refused the products or the subscription, or why it did not answer; nil after it has
  /// added the products.
  private(set) var refusalReason: MessageDetail?

  private let stock: StockClient
  /// The latest data from the stock; nil before the first snapshot.
  private var picture: StockSnapshot?
  private var versions: [ItemID: UInt64] = [:]
  /// Closures to run once the view has reached a position in the stock's ledger.
  private var positionWaiters: [(sequence: Int64, body: () -> Void)] = []
  /// True while a request to add missing products waits for its answer.
  private var isIntroducing = false
  /// True if the stock has these products.
  private var isIntroduced = false
  /// Time at which a stock that has not added the products is asked again.
  private var introduceAt: MonotonicTime?
  /// Closures that wait until the stock has the products, or until their deadline.
  private var waiting: [(deadline: MonotonicTime, body: (Bool) -> Void)] = []

  /// Pause before missing products are requested again.
  private static let introductionPause = TimeSpan.seconds(1)

  /// A view without data, for the products that the machine sells.
  init(_ table: ProductTable, _ stock: StockClient) {
    self.table = table
    self.stock = stock
  }

  /// Subscribes to the stock, from which the amounts of drinks are then received.
  func open() { stock.follow { [unowned self] in handle($0) } }
  /// True if there is a snapshot and the stock has these products.
  var isKnown: Bool { picture != nil && isIntroduced }

  /// Calls `body` with true when the amounts are known and the stock has all products, or with false at the deadline.
  func whenKnown(until deadline: MonotonicTime, _ body: @escaping (Bool) -> Void) {
    if isKnown { body(true) } else { waiting.append((deadline, body)) }
  }

  /// Time of the next useful ``finishIteration(_:)``; nil for never.
  var nextDeadline: MonotonicTime? {
    let earliest = waiting.map(\.deadline).min()
    guard let introduceAt else { return earliest }
    return min(earliest ?? introduceAt, introduceAt)
  }

  /// The lots of a product, in the order in which they are sold.
  func lots(of product: ItemID) -> [Lot] { picture?.items.first { $0.item == product }?.lots ?? [] }

  /// One product with its sellable and its expired pieces on a day, and with its single lots if `withLots` is true.
  func report(_ product: Product, on today: DayNumber, withLots: Bool) -> ProductReport {
    let lots = lots(of: product.id)
    let expired = lots.reduce(0) { $0 + ($1.isExpired(on: today) ? $1.quantity : 0) }
    let all = lots.reduce(0) { $0 + $1.quantity }
    return ProductReport(
      product, stock: all - expired, expired: expired,
      lots: withLots ? lots.map { describe($0, of: product) } : nil)
  }

  /// Reports of all products, or only of those that have changed after the value `version` of this view.
  func reports(on today: DayNumber, withLots: Bool, since version: UInt64? = nil) -> [ProductReport] {
    table.products.compactMap { product in
      if let version, versions[product.id] ?? 0 <= version { return nil }
      return report(product, on: today, withLots: withLots)
    }
  }

  /// The products with expired lots, and only those lots.
  func expired(on today: DayNumber) -> [ProductReport] {
    table.products.compactMap { product in
      var report = report(product, on: today, withLots: false)
      guard report.expired > 0 else { return nil }
      report.lots = lots(of: product.id).filter { $0.isExpired(on: today) }.map { describe($0, of: product) }
      return report
    }
  }

  /// A lot with the text that describes its drink.
  private func describe(_ lot: Lot, of product: Product) -> LotReport {
    let description = lot.dates.map { BeverageFactory.make(product, $0).description }
    return LotReport(dates: lot.dates, quantity: lot.quantity, description: description ?? "")
  }

  /// Calls `body` when the view has reached a position in the stock's ledger, so that a client that is answered then
  /// sees the effect of its request. Without a snapshot or a connection, `body` is called at once.
  func whenReached(_ sequence: Int64, _ body: @escaping () -> Void) {
    guard let seen = picture?.sequence, seen < sequence, stock.isConnected else { return body() }
    positionWaiters.append((sequence, body))
  }

  /// Asks again for missing products, and calls the closures that are due. If the stock is disconnected, the closures
  /// of ``whenReached(_:_:)`` do not wait, because the stock sends no changes.
  func finishIteration(_ now: MonotonicTime) {
    if !positionWaiters.isEmpty, !stock.isConnected { runWaiters { _ in true } }
    if let due = introduceAt, due <= now {
      introduceAt = nil
      introduceWhatIsMissing()
    }
    guard isKnown || waiting.contains(where: { $0.deadline <= now }) else { return }
    let due = waiting.filter { isKnown || $0.deadline <= now }
    waiting.removeAll { isKnown || $0.deadline <= now }
    for one in due { one.body(isKnown) }
  }

  private func handle(_ news: StockUpdate) {
    version += 1
    switch news {
    case .snapshot(let picture):
      self.picture = picture
      for product in table.products { versions[product.id] = version }
      runWaiters { _ in true }
      introduceWhatIsMissing()
    case .changes(let changes):
      picture?.apply(changes)
      for change in changes { versions[change.item] = version }
      let seen = picture?.sequence ?? 0
      if !Mutant.gatesStayClosed.isActive { runWaiters { $0 <= seen } }
    case .refused(let failure):
      refusalReason =
        failure.messageDetail ?? MessageDetail(quoting: "\(failure.code.name) \(failure.detail)")
    }
  }

  /// Calls and removes the waiting closures of ``whenReached(_:_:)`` whose position in the ledger `isOpen` accepts.
  private func runWaiters(_ isOpen: (Int64) -> Bool) {
    let due = positionWaiters.filter { isOpen($0.sequence) }
    positionWaiters.removeAll { isOpen($0.sequence) }
    for gate in due { gate.body() }
  }

  /// Adds the products that the stock does not have yet.
  private func introduceWhatIsMissing() {
    let known = Set(picture?.items.map(\.item) ?? [])
    let missing = table.products.map(\.id).filter { !known.contains($0) }
    isIntroduced = missing.isEmpty
    guard !missing.isEmpty, !isIntroducing else { return }
    isIntroducing = true
    stock.ask(.introduce(missing), until: SystemClock.monotonic() + .seconds(3_600)) { [weak self] result in
      guard let self else { return }
      isIntroducing = false
      switch result {
      case .success(.failure(let failure)):
        refusalReason =
          failure.messageDetail ?? MessageDetail(quoting: "\(failure.code.name) \(failure.detail)")
      case .failure(let error): refusalReason = error.messageDetail
      case .success: (refusalReason, isIntroduced) = (nil, true)
      }
      // The disk of the stock may have been full. The next snapshot may arrive much later, and nothing can be sold
      // until then.
      if !isIntroduced, !Mutant.announcesProductsOnce.isActive {
        introduceAt = SystemClock.monotonic() + Self.introductionPause
      }
    }
  }
}
