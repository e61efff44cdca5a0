// Owns the rules of the machine as they are at work in a history: the real ones, or those with a planted bug, with a line
// in the trace for everything that goes in and comes out. It must not change any of it.

import BankModel
import VendingCore

struct WatchedVending: VendingDecisions {
  private let world: Simulation
  private let process: SimulatedProcess
  private var rules: VendingStateMachine
  private var mutant: MutantVending?

  init(
    _ rules: VendingStateMachine, _ mutant: MutantVending?, of process: SimulatedProcess, in world: Simulation
  ) {
    self.rules = rules
    self.mutant = mutant
    self.process = process
    self.world = world
  }

  var machine: Int64 { rules.machine }
  var isUnsettled: Bool { rules.isUnsettled }
  var hasUnwritten: Bool { rules.hasUnwritten }
  var unfinishedCount: Int { rules.unfinishedCount }
  var settledAccount: MoneyAccount { rules.settledAccount }
  var settledSequence: Int64 { rules.settledSequence }
  var settledFree: Won { rules.settledFree }
  func stockOrder(of purchase: PurchaseNumber) -> OrderID? { rules.stockOrder(of: purchase) }

  mutating func apply(_ event: VendingEvent, at now: WallTime, into effects: inout [VendingEffect]) {
    // What a process decides that was killed is decided by nobody.
    guard !process.isDoomed, world.violation == nil else { return }
    world.statistics.vendingEvents += 1
    world.trace.line(process.clock, "  vending: event \(event)")
    let before = effects.count
    if mutant == nil {
      rules.apply(event, at: now, into: &effects)
    } else {
      mutant?.apply(event, to: &rules, at: now, into: &effects)
    }
    for effect in effects[before...] { world.trace.line(process.clock, "    vending: effect \(effect)") }
  }
}
