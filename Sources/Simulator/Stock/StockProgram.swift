// Owns how the stock service is opened in the simulated world: the production service, as its own main program does it,
// with the store and the rules that this history has for it. Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockCore
import StockService
import Storage
import Transport

enum StockProgram {
  static let home = ServiceHome(path: "/bank", name: "stock")

  static func open(
    _ stored: StoredStock, of process: SimulatedProcess, _ loop: EventLoop, _ link: ParentLink,
    in world: Simulation
  ) throws -> any SimulatedProgram {
    let store = SimulatedStockStore(of: process, in: world) { link.progressed() }
    let mutant = world.bug.flatMap { $0.isOfTheStock ? MutantStock($0, world.stockDisk) : nil }
    let rules = WatchedStock(StockMachine(stored), mutant, of: process, in: world)
    let log = try LogFile(path: "/dev/null", worker: "stock", generation: 1, limit: 0, keep: 0)
    var limits = ViewingLimits()
    // Small, so that histories are long enough for more than one page and for a viewer who has missed too much.
    (limits.page, limits.replayed) = (4, 12)
    let service = StockService(
      MachineDriver(StockPersistence(store), rules), assortment: world.plan.stock.assortment, limits: limits)
    let server = Server(service, on: loop, log: log, link: link, clients: world.clientLimits)
    return try ServiceProgram(server, on: store, in: home)
  }
}
