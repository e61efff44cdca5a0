// Owns how the vending machine is opened in the simulated world: the production service, as its own main program does it,
// with the store and the rules that this history has for it. Invariant: nothing of the service is copied here.

import BankModel
import Logbook
import Posix
import ServiceProcess
import StockClient
import Storage
import Transport
import VendingCore
import VendingMachine

enum VendingProgram {
  static let home = ServiceHome(path: "/bank", name: "vending")

  static func open(
    _ stored: StoredVending, of process: SimulatedProcess, _ loop: EventLoop, _ link: ParentLink,
    in world: Simulation
  ) throws -> any SimulatedProgram {
    let plan = world.plan.vending
    let store = SimulatedVendingStore(of: process, in: world)
    let mutant = world.bug.flatMap { $0.isOfTheMachine ? MutantVending($0, world.vending.disk) : nil }
    let machine = VendingStateMachine(mutant?.spoil(stored) ?? stored, plan.table)
    let rules = WatchedVending(machine, mutant, of: process, in: world)
    let log = try LogFile(path: "/dev/null", worker: "vending", generation: 1, limit: 0, keep: 0)
    var patience = StockPatience()
    patience.purchase = .nanoseconds(plan.patience.nanoseconds)
    patience.manager = .nanoseconds(plan.managersPatience.nanoseconds)
    patience.release = .nanoseconds(plan.releasePatience.nanoseconds)
    let service = VendingService(
      MachineDriver(try VendingPersistence(store), rules), table: plan.table,
      stock: StockClient(socket: StockProgram.home.socket, loop: loop), patience: patience)
    let server = Server(service, on: loop, log: log, link: link, clients: world.clientLimits)
    return try ServiceProgram(server, on: store, in: home)
  }
}
