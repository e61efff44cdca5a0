// The stock's rules under observation: the production rules, or rules with a planted bug. Orders and their answers are
// reported to the checker.
import BankModel
import StockCore
import Storage
import Time
import Wire

/// The core of the stock, which reports its orders and answers to the checker.
struct InstrumentedStock: StockServiceMachine {
  private let world: Simulation
  private let process: SimulatedProcess
  private var machine: StockMachine
  private let mutant: MutantStock?
  private var asked: [StockCore.RequestNumber: (order: OrderID?, action: StockAction)] = [:]

  init(_ machine: StockMachine, _ mutant: MutantStock?, of process: SimulatedProcess, in world: Simulation) {
    (self.machine, self.mutant, self.process, self.world) = (machine, mutant, process, world)
  }

  var hasUncommittedChanges: Bool { machine.hasUncommittedChanges }
  var durableSequence: Int64 { machine.durableSequence }
  var ledger: Int64 { machine.ledger }
  var picture: StockSnapshot { machine.picture }

  /// Applies an event to the core, and reports the order in it and the answers to the checker.
  mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect]) {
    // Decisions of a killed process have no effect.
    guard !process.isMarkedForTermination, world.violation == nil else { return }
    world.statistics.stockEvents += 1
    world.trace.line(process.clock, "  stock: event \(event)")
    if case .order(let number, let order, let action) = event {
      asked[number] = (order, action)
      if let order { world.checker.stock.requestReceived(action, of: order) }
    }
    let before = effects.count
    if let mutant {
      mutant.apply(event, to: &machine, at: now, into: &effects)
    } else {
      machine.apply(event, at: now, into: &effects)
    }
    for effect in effects[before...] {
      world.trace.line(process.clock, "    stock: effect \(effect)")
      guard case .reply(let number, let answer) = effect,
        let (order, action) = asked.removeValue(forKey: number)
      else { continue }
      if let order { world.checker.stock.answered(order, action, StockResult(answer)) }
    }
  }
}

/// A stock's core with a planted bug: the production core, with events or effects dropped or changed around it.
/// Invariant: the bug is the only fault. Where possible, entries are changed so that the store does not detect the bug
/// before the checker.
struct MutantStock {
  private let bug: PlantedBug
  private let store: MemoryStockStore
  /// Orders that were answered before this process started.
  private let former: Set<OrderID>

  init(_ bug: PlantedBug, _ store: MemoryStockStore) {
    (self.bug, self.store) = (bug, store)
    former = Set(((try? store.orders(after: nil, limit: .max)) ?? []).map(\.id))
  }

  /// Applies an event to the core, changed by the bug, and changes the effects.
  func apply(
    _ event: StockEvent, to machine: inout StockMachine, at now: WallTime, into effects: inout [StockEffect]
  ) {
    var wanted: [StockEffect] = []
    machine.apply(corrupt(event, machine.picture), at: now, into: &wanted)
    effects += wanted.map { corrupt($0, machine.picture) }
  }

  /// Returns the event as the bug changes it.
  private func corrupt(_ event: StockEvent, _ picture: StockSnapshot) -> StockEvent {
    switch (bug, event) {
    case (.takesStockTwice, .found(let id, let known?)) where known.outcome == .done && known.returned == nil:
      .found(id, nil)
    case (.forgetsOrdersAfterCrash, .found(let id, _?)) where former.contains(id): .found(id, nil)
    case (.returnsStockTwice, .found(let id, var known?)):
      {
        known.returned = nil
        return .found(id, known)
      }()
    case (.refusesLastPiece, .order(let request, let id, .take(var amounts, let today))):
      {
        for place in amounts.indices
        where picture.quantity(of: amounts[place].item) == amounts[place].quantity {
          amounts[place].quantity += 1
        }
        return .order(request, id, .take(amounts, today: today))
      }()
    case (.takesPartialOrder, .order(let request, let id, .take(let amounts, let today))):
      .order(request, id, .take(Self.present(of: amounts, picture), today: today))
    default: event
    }
  }

  /// The items of an order of which enough is present; all items of the order if there is no such item.
  private static func present(of amounts: [ItemAmount], _ picture: StockSnapshot) -> [ItemAmount] {
    let there = amounts.filter { picture.quantity(of: $0.item) >= $0.quantity }
    return there.isEmpty ? amounts : there
  }

  /// Returns the effect as the bug changes it.
  private func corrupt(_ effect: StockEffect, _ picture: StockSnapshot) -> StockEffect {
    guard case .stage(var entry) = effect else { return effect }
    switch (bug, entry.name) {
    case (.takesStockTwice, .ordered(let id, _, _)?), (.forgetsOrdersAfterCrash, .ordered(let id, _, _)?):
      if kept(id) != nil { entry.name = nil }
    case (.returnsStockTwice, .wasReturned(let id)?): if kept(id)?.returned != nil { entry.name = nil }
    case (.forgetsVoidedOrders, .ordered(_, _, .void)?), (.forgetsShortages, .ordered(_, _, .short)?):
      entry.name = nil
    case (.sellsLatestExpiryFirst, .ordered(_, _, .done)?):
      entry.changes = entry.changes.map { Self.latest($0, picture) }
    case (.omitsLedgerRow, .ordered?) where entry.changes.count > 1: entry.changes.removeLast()
    default: break
    }
    return .stage(entry)
  }

  /// A row of an order, changed to take its piece from the lot that expires last.
  private static func latest(_ row: StockChange, _ picture: StockSnapshot) -> StockChange {
    let lots = picture.items.first { $0.item == row.item }?.lots ?? []
    guard row.kind == .taken, let dates = row.dates, let last = lots.last, let other = last.dates,
      dates < other
    else { return row }
    var row = row
    (row.dates, row.lot) = (other, last.quantity - 1)
    return row
  }

  /// The order as it is on disk; nil if it is not.
  private func kept(_ id: OrderID) -> StoredOrder? { (try? store.order(id)) ?? nil }
}

extension StockSnapshot {
  /// Amount of an item in the snapshot.
  fileprivate func quantity(of item: ItemID) -> Quantity { items.first { $0.item == item }?.quantity ?? 0 }
}
