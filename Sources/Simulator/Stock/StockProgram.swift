// Owns the process of the stock service in the simulated world: the production service on the simulated host, opened as
// its own main program does, with the store and the rules that this history has for it.
// Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockCore
import StockService
import Storage
import Transport

/// A stock service that runs on a simulated host.
final class StockProgram: SimulatedProgram {
  /// Where everybody finds it.
  static let home = ServiceHome(path: "/bank", name: "stock")

  private unowned let process: SimulatedProcess
  private let server: Server<StockService<WatchedStock>>
  private let store: SimulatedStockStore

  /// Opens the service.
  init(
    _ stored: StoredStock, of process: SimulatedProcess, _ loop: EventLoop, _ link: ParentLink,
    in world: Simulation
  ) throws {
    self.process = process
    store = SimulatedStockStore(world.stockDisk, of: process, in: world) { link.progressed() }
    let rules: any StockDecisions =
      if let bug = world.bug, bug.isOfTheStock {
        MutantStock(bug, stored, world.stockDisk)
      } else {
        StockMachine(stored)
      }
    let driver = MachineDriver(StockPersistence(store), WatchedStock(rules, of: process, in: world))
    let log = try LogFile(path: "/dev/null", worker: "stock", generation: 1, limit: 0, keep: 0)
    var limits = ViewingLimits()
    // Small, so that histories are long enough for more than one page and for a viewer who has missed too much.
    (limits.page, limits.replayed) = (4, 12)
    let service = StockService(driver, assortment: world.plan.stock.assortment, limits: limits)
    server = Server(service, on: loop, log: log, link: link, clients: world.clientLimits)
    try server.open(in: Self.home)
  }

  func turn() throws(SystemError) -> Int32? {
    if server.isAtWork {
      try server.turn()
      store.payOff()
    }
    guard !server.isAtWork else { return nil }
    process.stayAwake()
    return try server.run()
  }

  func hear(signal: Int32) { server.askToEnd() }
}
