// Owns a vending machine's core with a planted bug: the real core, with events or effects that are dropped or changed
// around it. It must not know the checker. Invariant: it is wrong in the one way that its name says, and never makes the
// store notice first what the checker shall find. There is nothing that can fail.

import BankModel
import Storage
import Time
import VendingCore

/// The real core of the vending machine with something wrong around it.
struct MutantVending: VendingDecisions {
  private let bug: PlantedBug
  private let store: MemoryVendingStore
  private var rules: VendingStateMachine
  /// What requests are called that are done once more.
  private var newNames: [PurchaseNumber: OrderID] = [:]

  init(_ bug: PlantedBug, _ stored: StoredVending, _ table: ProductTable, _ store: MemoryVendingStore) {
    self.bug = bug
    self.store = store
    var stored = stored
    if bug == .forgetsIntents { stored.unfinished = [] }
    rules = VendingStateMachine(stored, table)
  }

  var machine: Int64 { rules.machine }
  var unfinishedCount: Int { rules.unfinishedCount }
  var isUnsettled: Bool { rules.isUnsettled }
  var hasUnwritten: Bool { rules.hasUnwritten }
  var settledAccount: MoneyAccount { rules.settledAccount }
  var settledSequence: Int64 { rules.settledSequence }
  var settledFree: Won { rules.settledFree }
  func stockOrder(of purchase: PurchaseNumber) -> OrderID? { rules.stockOrder(of: purchase) }

  mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect]) {
    var wanted: [VendingEffect] = []
    rules.apply(spoil(event), at: now, into: &wanted)
    for effect in wanted { spoil(effect, at: now, into: &effects) }
  }

  // MARK: - What the core hears

  private func spoil(_ event: VendingEvent) -> VendingEvent {
    switch (bug, event) {
    case (.paysInAgain, .found(let id, .done(let change)?)) where change.kind == .inserted: .found(id, nil)
    case (.buysAgain, .found(let id, .done(let change)?)) where change.kind == .bought: .found(id, nil)
    case (.countsCoinsTwice, .asked(let request, let id, .insert(let amount)))
    where amount * 2 <= VendingLimits.insertion.upperBound:
      .asked(request, id, .insert(amount * 2))
    default: event
    }
  }

  // MARK: - What the core wants

  private mutating func spoil(
    _ effect: VendingEffect, at now: WallTime, into effects: inout [VendingEffect]
  ) {
    switch (bug, effect) {
    case (.paysInAgain, .stage(var entry)):
      if let change = entry.change, isKept(change.request) {
        entry.change?.request = OrderID("\(change.request)-\(change.sequence)")
      }
      effects.append(.stage(entry))
    case (.buysAgain, .stage(var entry)):
      rename(&entry)
      effects.append(.stage(entry))
    case (.givesChangeOfIntents, .stage(var entry)):
      if entry.change?.kind == .returned {
        let kept = store.committedPurchases.reduce(0) { $0 + ($1.state == .open ? $1.price : 0) }
        entry.change?.amount += kept
        entry.change?.balance -= kept
      }
      effects.append(.stage(entry))
    case (.takesBeforeTheIntent, .stage(let entry)):
      effects.append(effect)
      if let purchase = entry.purchase, purchase.state == .open {
        effects.append(.take(purchase.number, purchase.product))
      }
    case (.keepsWhatWasGivenUp, .release(let number)):
      rules.apply(.released(number), at: now, into: &effects)
    case (.chargesNothing, .stage(var entry)):
      if let change = entry.change, change.kind == .bought {
        entry.change?.amount = 0
        entry.change?.balance += change.amount
      }
      effects.append(.stage(entry))
    default: effects.append(effect)
    }
  }

  /// A purchase that is made once more has another name on disk.
  private mutating func rename(_ entry: inout VendingEntry) {
    guard let purchase = entry.purchase else { return }
    if purchase.state == .open, isKept(purchase.request) {
      newNames[purchase.number] = OrderID("\(purchase.request)-\(purchase.number)")
    }
    guard let name = newNames[purchase.number] else { return }
    entry.purchase?.request = name
    entry.change?.request = name
  }

  private func isKept(_ id: OrderID) -> Bool { ((try? store.request(id)) ?? nil) != nil }
}
