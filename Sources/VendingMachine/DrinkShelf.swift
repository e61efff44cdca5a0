// Owns the one view of the drinks in stock that the customers' side and the manager's side share: it follows the stock
// service, and answers by product, by what has expired, by what is hot. It must not change anything.
// Invariant: what it shows is what the stock has told last; nothing is counted here.
// A stock service that is away leaves the last picture; one that was never there leaves none.

import BankModel
import Posix
import StockClient
import Time
import Wire

final class DrinkShelf {
  let table: ProductTable
  /// How many times it has changed; every product remembers when it did last.
  private(set) var version: UInt64 = 0
  /// Why the stock does not keep these products, where it does not.
  private(set) var trouble: Remark?

  private let stock: StockClient
  private var picture: StockPicture?
  private var versions: [ItemID: UInt64] = [:]
  /// What is to be done once the view has come to a place in the stock's ledger.
  private var gates: [(sequence: Int64, body: () -> Void)] = []
  private var isIntroducing = false
  /// Whether the stock keeps these products.
  private var isIntroduced = false
  /// When a stock that would not hear of the products is told of them again.
  private var introduceAt: MonotonicTime?
  /// Those who wait until it does.
  private var waiting: [(deadline: MonotonicTime, body: (Bool) -> Void)] = []

  private static let introductionPause = TimeSpan.seconds(1)

  init(_ table: ProductTable, _ stock: StockClient) {
    self.table = table
    self.stock = stock
  }

  func open() { stock.follow { [unowned self] in hear($0) } }
  /// Whether the stock has told what there is, and keeps these products.
  var isKnown: Bool { picture != nil && isIntroduced }

  /// Does something when the stock keeps these products, or when that did not come to be in time.
  func whenKnown(until deadline: MonotonicTime, _ body: @escaping (Bool) -> Void) {
    if isKnown { body(true) } else { waiting.append((deadline, body)) }
  }

  /// When ``endTurn(_:)`` has something to do by itself; nil for never.
  var nextDeadline: MonotonicTime? {
    let earliest = waiting.map(\.deadline).min()
    guard let introduceAt else { return earliest }
    return min(earliest ?? introduceAt, introduceAt)
  }

  /// The lots of a product, in the order in which they are sold.
  func lots(of product: ItemID) -> [Lot] { picture?.items.first { $0.item == product }?.lots ?? [] }

  /// One product and what there is of it on a day.
  func report(_ product: Product, on today: DayNumber, withLots: Bool) -> ProductReport {
    let lots = lots(of: product.id)
    let expired = lots.reduce(0) { $0 + ($1.isExpired(on: today) ? $1.quantity : 0) }
    let all = lots.reduce(0) { $0 + $1.quantity }
    return ProductReport(
      product, stock: all - expired, expired: expired,
      lots: withLots ? lots.map { describe($0, of: product) } : nil)
  }

  /// Every product, or those that have changed behind a version.
  func reports(on today: DayNumber, withLots: Bool, since version: UInt64? = nil) -> [ProductReport] {
    table.products.compactMap { product in
      if let version, versions[product.id] ?? 0 <= version { return nil }
      return report(product, on: today, withLots: withLots)
    }
  }

  /// The products that have something which may not be sold on a day any more, and those lots alone.
  func expired(on today: DayNumber) -> [ProductReport] {
    table.products.compactMap { product in
      var report = report(product, on: today, withLots: false)
      guard report.expired > 0 else { return nil }
      report.lots = lots(of: product.id).filter { $0.isExpired(on: today) }.map { describe($0, of: product) }
      return report
    }
  }

  private func describe(_ lot: Lot, of product: Product) -> LotReport {
    let description = lot.dates.map { BeverageFactory.make(product, $0).description }
    return LotReport(dates: lot.dates, quantity: lot.quantity, description: description ?? "")
  }

  /// Does something when the view shows the stock as of a place in its ledger, so that whoever is answered then sees what
  /// was done for it.
  func reach(_ sequence: Int64, _ body: @escaping () -> Void) {
    guard let seen = picture?.sequence, seen < sequence, stock.isConnected else { return body() }
    gates.append((sequence, body))
  }

  /// A stock that is away tells nothing for now; nobody waits for it here.
  func endTurn(_ now: MonotonicTime) {
    if !gates.isEmpty, !stock.isConnected { openGates { _ in true } }
    if let due = introduceAt, due <= now {
      introduceAt = nil
      introduceWhatIsMissing()
    }
    guard isKnown || waiting.contains(where: { $0.deadline <= now }) else { return }
    let due = waiting.filter { isKnown || $0.deadline <= now }
    waiting.removeAll { isKnown || $0.deadline <= now }
    for one in due { one.body(isKnown) }
  }

  private func hear(_ news: StockNews) {
    version += 1
    switch news {
    case .picture(let picture):
      self.picture = picture
      for product in table.products { versions[product.id] = version }
      openGates { _ in true }
      introduceWhatIsMissing()
    case .changes(let changes):
      picture?.apply(changes)
      for change in changes { versions[change.item] = version }
      let seen = picture?.sequence ?? 0
      if !Kernel.makes("gatesStayShut") { openGates { $0 <= seen } }
    case .refused(let failure):
      trouble = failure.remark ?? Remark(quoting: "\(failure.code.name) \(failure.detail)")
    }
  }

  private func openGates(_ isOpen: (Int64) -> Bool) {
    let due = gates.filter { isOpen($0.sequence) }
    gates.removeAll { isOpen($0.sequence) }
    for gate in due { gate.body() }
  }

  /// The stock keeps whatever it has heard of; a new one has not heard of the drinks yet.
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
        trouble = failure.remark ?? Remark(quoting: "\(failure.code.name) \(failure.detail)")
      case .failure(let error): trouble = error.remark
      case .success: (trouble, isIntroduced) = (nil, true)
      }
      // Its disk may have been full. The next picture may be long in coming, and nothing can be sold until then.
      if !isIntroduced, !Kernel.makes("introducesOnce") {
        introduceAt = SystemClock.monotonic() + Self.introductionPause
      }
    }
  }
}
