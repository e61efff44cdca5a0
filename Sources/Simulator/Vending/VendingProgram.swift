// Owns the process of the vending machine in the simulated world: the production service on the simulated host, opened as
// its own main program does, with the store and the rules that this history has for it.
// Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockClient
import Storage
import Time
import Transport
import VendingCore
import VendingMachine

/// A vending machine that runs on a simulated host.
final class VendingProgram: SimulatedProgram {
  /// Where everybody finds it.
  static let home = ServiceHome(path: "/bank", name: "vending")

  private unowned let process: SimulatedProcess
  private let server: Server<VendingService<WatchedVending>>
  private let store: SimulatedVendingStore

  /// Opens the service.
  init(
    _ stored: StoredVending, of process: SimulatedProcess, _ loop: EventLoop, _ link: ParentLink,
    in world: Simulation
  ) throws {
    let plan = world.plan.vending
    self.process = process
    store = SimulatedVendingStore(world.vending.disk, of: process, in: world)
    let rules: any VendingDecisions =
      if let bug = world.bug, bug.isOfTheMachine {
        MutantVending(bug, stored, plan.table, world.vending.disk)
      } else {
        VendingStateMachine(stored, plan.table)
      }
    let driver = MachineDriver(
      try VendingPersistence(store), WatchedVending(rules, of: process, in: world))
    let log = try LogFile(path: "/dev/null", worker: "vending", generation: 1, limit: 0, keep: 0)
    var patience = StockPatience()
    patience.purchase = plan.patience
    patience.manager = plan.managersPatience
    patience.release = plan.releasePatience
    let service = VendingService(
      driver, table: plan.table, stock: StockClient(socket: StockProgram.home.socket, loop: loop),
      patience: patience)
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
