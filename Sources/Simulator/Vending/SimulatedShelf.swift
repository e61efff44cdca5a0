// Owns the simulated machine's one view of the drinks in stock, line for line as the real `DrinkShelf` does: it follows
// the stock, introduces what the stock has not heard of, and lets whoever waits go on. It must not change an amount.
// Invariant: what it shows is what the stock has told last; a view is told of every change once, which the checker sees.

import BankModel
import StockClient
import Wire

/// What there is of the drinks, as the stock tells it.
final class SimulatedShelf {
  private unowned let world: Simulation
  private unowned let machine: SimulatedMachine
  private let asker: SimulatedAsker
  private var picture: StockPicture?
  private var gates: [(sequence: Int64, body: () -> Void)] = []
  private var isIntroducing = false
  private var isIntroduced = false
  private var introduceAt: MonotonicTime?
  /// The process has ended, and the machine may be gone before whoever speaks has finished.
  private var isClosed = false
  private var waiting: [(deadline: MonotonicTime, body: (Bool) -> Void)] = []

  private static let pause = TimeSpan.seconds(1)
  private static let introduction = TimeSpan.seconds(3_600)

  init(_ machine: SimulatedMachine, _ asker: SimulatedAsker, world: Simulation) {
    self.machine = machine
    self.asker = asker
    self.world = world
  }

  /// Begins to follow the stock.
  func open() { asker.follow { [weak self] in self?.hear($0) } }

  /// The process has ended: nobody waits any more.
  func close() {
    isClosed = true
    gates.removeAll()
    waiting.removeAll()
  }

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

  /// Does something when the view shows the stock as of a place in its ledger.
  func reach(_ sequence: Int64, _ body: @escaping () -> Void) {
    guard let seen = picture?.sequence, seen < sequence, asker.isConnected else { return body() }
    gates.append((sequence, body))
  }

  /// A stock that is away tells nothing for now; nobody waits for it here.
  func endTurn(_ now: MonotonicTime) {
    if !gates.isEmpty, !asker.isConnected { openGates { _ in true } }
    if let due = introduceAt, due <= now {
      introduceAt = nil
      introduceWhatIsMissing()
    }
    guard isKnown || waiting.contains(where: { $0.deadline <= now }) else { return }
    let due = waiting.filter { isKnown || $0.deadline <= now }
    waiting.removeAll { isKnown || $0.deadline <= now }
    for one in due where !isClosed { one.body(isKnown) }
  }

  private func hear(_ news: StockNews) {
    guard !isClosed else { return }
    machine.heardOfTheStock()
    switch news {
    case .picture(let picture):
      self.picture = picture
      world.checker.stock.shown(picture)
      openGates { _ in true }
      introduceWhatIsMissing()
    case .changes(let changes):
      for change in changes { world.checker.stock.told(change, seen: Int(change.sequence) - 1) }
      picture?.apply(changes)
      let seen = picture?.sequence ?? 0
      openGates { $0 <= seen }
    case .refused(let failure): world.violate(.conversation, "the machine may not look on: \(failure)")
    }
  }

  private func openGates(_ isOpen: (Int64) -> Bool) {
    let due = gates.filter { isOpen($0.sequence) }
    gates.removeAll { isOpen($0.sequence) }
    for gate in due where !isClosed { gate.body() }
  }

  /// The stock keeps whatever it has heard of; a new one has not heard of the drinks yet.
  private func introduceWhatIsMissing() {
    let known = Set(picture?.items.map(\.item) ?? [])
    let missing = world.plan.vending.table.products.map(\.id).filter { !known.contains($0) }
    isIntroduced = missing.isEmpty
    guard !missing.isEmpty, !isIntroducing else { return }
    isIntroducing = true
    asker.ask(.introduce(missing), until: world.clock.now + Self.introduction) { [weak self] result in
      guard let self, !isClosed else { return }
      isIntroducing = false
      machine.heardOfTheStock()
      if case .done? = result { return isIntroduced = true }
      if world.bug != .introducesOnce { introduceAt = world.clock.now + Self.pause }
    }
  }
}
