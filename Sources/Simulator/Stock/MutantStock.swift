// Owns a stock's core with a planted bug: the real core, with events or effects that are dropped or changed around it.
// It must not know the checker. Invariant: it is wrong in the one way that its name says, and never makes the store
// notice first what the checker shall find. There is nothing that can fail.

import BankModel
import StockCore
import Storage
import Time

/// The real core of the stock with something wrong around it.
struct MutantStock: StockDecisions {
  private let bug: PlantedBug
  private let store: MemoryStockStore
  private var machine: StockMachine
  /// Orders that were answered before this process.
  private let former: Set<OrderID>

  init(_ bug: PlantedBug, _ stored: StoredStock, _ store: MemoryStockStore) {
    self.bug = bug
    self.store = store
    machine = StockMachine(stored)
    former = Set(((try? store.orders(after: nil, limit: .max)) ?? []).map(\.id))
  }

  var isUnsettled: Bool { machine.isUnsettled }
  var settledSequence: Int64 { machine.settledSequence }
  var ledger: Int64 { machine.ledger }
  var picture: StockPicture { machine.picture }

  mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect]) {
    var wanted: [StockEffect] = []
    machine.apply(spoil(event), at: now, into: &wanted)
    effects.append(contentsOf: wanted.map { spoil($0) })
  }

  // MARK: - What the core hears

  private func spoil(_ event: StockEvent) -> StockEvent {
    switch (bug, event) {
    case (.takesAgain, .found(let id, let known?)) where known.outcome == .done && known.returned == nil:
      .found(id, nil)
    case (.forgetsOrdersInACrash, .found(let id, _?)) where former.contains(id): .found(id, nil)
    case (.givesBackAgain, .found(let id, var known?)):
      {
        known.returned = nil
        return .found(id, known)
      }()
    case (.refusesTheLastFruit, .order(let request, let id, .take(var amounts, let today))):
      {
        for place in amounts.indices where quantity(of: amounts[place].item) == amounts[place].quantity {
          amounts[place].quantity += 1
        }
        return .order(request, id, .take(amounts, today: today))
      }()
    case (.takesInPart, .order(let request, let id, .take(let amounts, let today))):
      .order(request, id, .take(present(of: amounts), today: today))
    default: event
    }
  }

  /// What there is enough of; everything where there is nothing.
  private func present(of amounts: [ItemAmount]) -> [ItemAmount] {
    let there = amounts.filter { quantity(of: $0.item) >= $0.quantity }
    return there.isEmpty ? amounts : there
  }

  private func quantity(of item: ItemID) -> Quantity {
    machine.picture.items.first { $0.item == item }?.quantity ?? 0
  }

  // MARK: - What the core wants

  private func spoil(_ effect: StockEffect) -> StockEffect {
    guard case .stage(var entry) = effect else { return effect }
    switch (bug, entry.name) {
    case (.takesAgain, .ordered(let id, _, _)?), (.forgetsOrdersInACrash, .ordered(let id, _, _)?):
      if kept(id) != nil { entry.name = nil }
    case (.givesBackAgain, .givenBack(let id)?): if kept(id)?.returned != nil { entry.name = nil }
    case (.forgetsVoids, .ordered(_, _, .void)?), (.forgetsShortages, .ordered(_, _, .short)?):
      entry.name = nil
    case (.sellsTheLatestFirst, .ordered(_, _, .done)?): entry.changes = entry.changes.map { latest($0) }
    case (.losesARow, .ordered?) where entry.changes.count > 1: entry.changes.removeLast()
    default: break
    }
    return .stage(entry)
  }

  /// The same piece out of the lot that expires last.
  private func latest(_ row: StockChange) -> StockChange {
    let lots = machine.picture.items.first { $0.item == row.item }?.lots ?? []
    guard row.kind == .taken, let dates = row.dates, let last = lots.last, let other = last.dates,
      dates < other
    else { return row }
    var row = row
    (row.dates, row.lot) = (other, last.quantity - 1)
    return row
  }

  private func kept(_ id: OrderID) -> StoredOrder? { (try? store.order(id)) ?? nil }
}
