// The machine's rules under observation: the production rules, or rules with a planted bug. The events, and the
// effects as the bug leaves them, are written to the trace.
import BankModel
import Storage
import Time
import VendingCore

/// The core of the vending machine, which counts the arrivals of requests for the checker.
struct InstrumentedVending: VendingServiceMachine {
  private let world: Simulation
  private let process: SimulatedProcess
  private var rules: VendingStateMachine
  private var mutant: MutantVending?

  init(
    _ rules: VendingStateMachine, _ mutant: MutantVending?, of process: SimulatedProcess, in world: Simulation
  ) { (self.rules, self.mutant, self.process, self.world) = (rules, mutant, process, world) }

  var machine: Int64 { rules.machine }
  var hasUncommittedChanges: Bool { rules.hasUncommittedChanges }
  var hasUnwritten: Bool { rules.hasUnwritten }
  var unfinishedCount: Int { rules.unfinishedCount }
  var durableAccount: MoneyAccount { rules.durableAccount }
  var durableSequence: Int64 { rules.durableSequence }
  var durableAvailableBalance: Won { rules.durableAvailableBalance }
  /// Order name at the stock of an unfinished purchase; nil for any other purchase.
  func stockOrder(of purchase: PurchaseNumber) -> OrderID? { rules.stockOrder(of: purchase) }

  /// Applies an event to the core, changed by the planted bug if there is one.
  mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect]) {
    // Decisions of a killed process have no effect.
    guard !process.isMarkedForTermination, world.violation == nil else { return }
    world.statistics.vendingEvents += 1
    world.trace.line(process.clock, "  vending: event \(event)")
    if case .requested(_, let name, _) = event { world.checker.vending.arrivals[name, default: 0] += 1 }
    let before = effects.count
    if mutant == nil {
      rules.apply(event, at: now, into: &effects)
    } else {
      mutant?.apply(event, to: &rules, at: now, into: &effects)
    }
    for effect in effects[before...] { world.trace.line(process.clock, "    vending: effect \(effect)") }
  }
}

/// A vending machine's core with a planted bug: the production core, with events or effects dropped or changed around
/// it.
/// Invariant: the bug is the only fault. Where possible, entries are changed so that the store does not detect the bug
/// before the checker.
struct MutantVending {
  private let bug: PlantedBug
  private let store: MemoryVendingStore
  /// New order IDs of purchases that the bug makes a second time.
  private var newNames: [PurchaseNumber: OrderID] = [:]

  init(_ bug: PlantedBug, _ store: MemoryVendingStore) { (self.bug, self.store) = (bug, store) }

  /// Returns what the machine reads from its disk, as the bug changes it.
  func corrupt(_ stored: StoredVending) -> StoredVending {
    var stored = stored
    if bug == .forgetsOpenPurchases { stored.unfinished = [] }
    return stored
  }

  /// Applies an event to the core, changed by the bug, and changes the effects.
  mutating func apply(
    _ event: VendingEvent, to rules: inout VendingStateMachine, at now: WallTime,
    into effects: inout [VendingEffect]
  ) {
    var wanted: [VendingEffect] = []
    rules.apply(corrupt(event), at: now, into: &wanted)
    for effect in wanted { effects += corrupt(effect, of: &rules, at: now) }
  }

  /// Returns the event as the bug changes it.
  private func corrupt(_ event: VendingEvent) -> VendingEvent {
    switch (bug, event) {
    case (.insertsMoneyTwice, .found(let id, .done(let change)?)) where change.kind == .inserted:
      .found(id, nil)
    case (.purchasesTwice, .found(let id, .done(let change)?)) where change.kind == .bought: .found(id, nil)
    case (.countsCoinsTwice, .requested(let request, let id, .insert(let amount)))
    where amount * 2 <= VendingLimits.insertion.upperBound:
      .requested(request, id, .insert(amount * 2))
    default: event
    }
  }

  /// Returns the effects that take the place of this one.
  private mutating func corrupt(
    _ effect: VendingEffect, of rules: inout VendingStateMachine, at now: WallTime
  ) -> [VendingEffect] {
    if bug == .keepsAbandonedDrink, case .release(let number) = effect {
      var wanted: [VendingEffect] = []
      rules.apply(.released(number), at: now, into: &wanted)
      return wanted
    }
    guard case .stage(var entry) = effect else { return [effect] }
    switch (bug, entry.change) {
    case (.insertsMoneyTwice, let change?) where isKept(change.request):
      entry.change?.request = OrderID("\(change.request)-\(change.sequence)")
    case (.purchasesTwice, _): rename(&entry)
    case (.refundsReservedMoney, let change?) where change.kind == .returned:
      let kept = store.committedPurchases.reduce(0) { $0 + ($1.state == .open ? $1.price : 0) }
      entry.change?.amount += kept
      entry.change?.balance -= kept
    case (.takesBeforeIntentCommit, _):
      guard let purchase = entry.purchase, purchase.state == .open else { break }
      return [effect, .take(purchase.number, purchase.product)]
    case (.doesNotCharge, let change?) where change.kind == .bought:
      entry.change?.amount = 0
      entry.change?.balance += change.amount
    default: break
    }
    return [.stage(entry)]
  }

  /// Gives a purchase that is made a second time another order ID on disk.
  private mutating func rename(_ entry: inout VendingEntry) {
    guard let purchase = entry.purchase else { return }
    if purchase.state == .open, isKept(purchase.request) {
      newNames[purchase.number] = OrderID("\(purchase.request)-\(purchase.number)")
    }
    guard let name = newNames[purchase.number] else { return }
    entry.purchase?.request = name
    entry.change?.request = name
  }

  /// True if a request with this order ID is on disk.
  private func isKept(_ id: OrderID) -> Bool { ((try? store.request(id)) ?? nil) != nil }
}
