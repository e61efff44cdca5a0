// Owns the rules of the stock as the checker sees them at work: the real ones, or those with a planted bug, with an eye on
// everything that goes in and comes out. It must not change any of it.

import BankModel
import StockCore
import StockService
import Wire

struct WatchedStock: StockDecisions {
  private let world: Simulation
  private let process: SimulatedProcess
  private var machine: StockMachine
  private let mutant: MutantStock?
  private var asked: [StockCore.RequestNumber: (order: OrderID?, action: StockAction)] = [:]

  init(_ machine: StockMachine, _ mutant: MutantStock?, of process: SimulatedProcess, in world: Simulation) {
    self.machine = machine
    self.mutant = mutant
    self.process = process
    self.world = world
  }

  var isUnsettled: Bool { machine.isUnsettled }
  var settledSequence: Int64 { machine.settledSequence }
  var ledger: Int64 { machine.ledger }
  var picture: StockPicture { machine.picture }

  mutating func apply(_ event: StockEvent, at now: WallTime, into effects: inout [StockEffect]) {
    // What a process decides that was killed is decided by nobody.
    guard !process.isDoomed, world.violation == nil else { return }
    world.statistics.stockEvents += 1
    world.trace.line(process.clock, "  stock: event \(event)")
    if case .order(let number, let order, let action) = event {
      asked[number] = (order, action)
      if let order { world.checker.stock.heard(action, of: order) }
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
