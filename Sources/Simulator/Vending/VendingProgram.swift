// Owns the process of the vending machine in the simulated world: the production service on the simulated host, opened as
// its own main program does, with the store and the rules that this history has for it.
// Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import StockClient
import Storage
import Transport
import VendingCore
import VendingMachine

/// A vending machine that runs on a simulated host.
final class VendingProgram: SimulatedProgram {
  /// Where everybody finds it.
  static let home = ServiceHome(path: "/bank", name: "vending")

  private unowned let process: SimulatedProcess
  private let service: VendingService<WatchedVending>
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
    let desk = try VendingDesk(store, WatchedVending(rules, of: process, in: world))
    let log = try LogFile(path: "/dev/null", worker: "vending", generation: 1, limit: 0, keep: 0)
    var patience = StockPatience()
    patience.purchase = .nanoseconds(plan.patience.nanoseconds)
    patience.manager = .nanoseconds(plan.managersPatience.nanoseconds)
    patience.release = .nanoseconds(plan.releasePatience.nanoseconds)
    service = VendingService(
      desk: desk, table: plan.table, stock: StockClient(socket: StockProgram.home.socket, loop: loop),
      loop: loop, log: log, link: link, patience: patience, clients: world.clientLimits)
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
