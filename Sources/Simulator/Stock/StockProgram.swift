// Owns the process of the stock service in the simulated world: the production service on the simulated host, opened as
// its own main program does, with the store and the rules that this history has for it.
// Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import StockCore
import StockService
import Storage
import Transport

/// A stock service that runs on a simulated host.
final class StockProgram: SimulatedProgram {
  /// Where everybody finds it.
  static let home = ServiceHome(path: "/bank", name: "stock")

  private unowned let process: SimulatedProcess
  private let service: StockService<WatchedStock>
  private let store: SimulatedStockStore

  /// Opens the service.
  init(
    _ stored: StoredStock, of process: SimulatedProcess, _ loop: EventLoop, _ link: ParentLink,
    in world: Simulation
  ) throws(SystemError) {
    self.process = process
    store = SimulatedStockStore(world.stockDisk, of: process, in: world) { link.progressed() }
    let rules: any StockDecisions =
      if let bug = world.bug, bug.isOfTheStock {
        MutantStock(bug, stored, world.stockDisk)
      } else {
        StockMachine(stored)
      }
    let desk = StockDesk(store, WatchedStock(rules, of: process, in: world))
    let log = try LogFile(path: "/dev/null", worker: "stock", generation: 1, limit: 0, keep: 0)
    var limits = ViewingLimits()
    // Small, so that histories are long enough for more than one page and for a viewer who has missed too much.
    (limits.page, limits.replayed) = (4, 12)
    service = StockService(
      desk: desk, assortment: world.plan.stock.assortment, loop: loop, log: log, link: link, limits: limits,
      clients: world.clientLimits)
    try service.open(in: Self.home)
  }

  func turn() throws(SystemError) -> Int32? {
    if service.isAtWork {
      try service.turn()
      store.payOff()
    }
    guard !service.isAtWork else { return nil }
    process.stayAwake()
    return try service.run()
  }

  func hear(signal: Int32) { service.askToEnd() }
}
