// Start of a service's process in the simulated world, as in `ServiceProcess`: hello to the coordinator, its
// orders, and then the service.
// Invariant: nothing is opened before the orders were received.
// Errors: a service that cannot be opened exits with 1, and its supervisor starts it again.
import Logging
import Posix
import ServiceProcess
import StockClient
import StockCore
import StockService
import Transport
import VendingCore
import VendingMachine
import Wire

final class SupervisedProgram: SimulatedProgram {
  private let loop: EventLoop
  private let supervisor: SupervisorConnection
  private(set) var service: (any SimulatedProgram)?
  private var endedBySignal: Int32?
  private let open: (EventLoop, SupervisorConnection) -> (any SimulatedProgram)?

  init(
    _ role: PeerRole, _ open: @escaping (EventLoop, SupervisorConnection) -> (any SimulatedProgram)?
  ) throws(SystemError) {
    loop = try EventLoop()
    supervisor = try SupervisorConnection(FileDescriptor(owning: 3), loop: loop, role: role)
    self.open = open
  }

  func runIteration() throws(SystemError) -> Int32? {
    if let service { return try service.runIteration() }
    if let endedBySignal { return endedBySignal }
    try loop.runOnce(until: nil)
    switch supervisor.state {
    case .greeting: return nil
    case .disconnected, .closing: return 0
    case .protocolError: return 1
    case .running:
      service = open(loop, supervisor)
      return service == nil ? 1 : nil
    }
  }

  func handle(signal: Int32) {
    if let service { service.handle(signal: signal) } else { endedBySignal = 128 + signal }
  }
}

/// An opened service: the production server, and the disk to which a planted bug may owe a commit.
final class ServiceProgram<Handler: ServiceHandler, Disk: SimulatedDisk>: SimulatedProgram {
  private let server: ServiceServer<Handler>
  private let disk: Disk

  init(_ server: ServiceServer<Handler>, on disk: Disk, in home: ServiceHome) throws {
    (self.server, self.disk) = (server, disk)
    try server.open(in: home)
  }

  func runIteration() throws(SystemError) -> Int32? {
    if server.isRunning {
      try server.runIteration()
      disk.makeOwedCommit()
    }
    guard !server.isRunning else { return nil }
    disk.process.disableSleep()
    return try server.run()
  }

  func handle(signal: Int32) { server.requestStop() }
}

/// Opening of the stock service: the production service, opened in the same way as by `bank-stockd`, with this
/// history's store and rules.
/// Invariant: no code of the service is copied here.
enum StockProgram {
  static let home = ServiceHome(path: "/bank", name: "stock")

  static func open(
    _ stored: StoredStock, of process: SimulatedProcess, _ loop: EventLoop,
    _ supervisor: SupervisorConnection,
    in world: Simulation
  ) throws -> any SimulatedProgram {
    let store = SimulatedStockStore(of: process, in: world) { supervisor.reportProgress() }
    let mutant = world.bug.flatMap { $0.isOfTheStock ? MutantStock($0, world.stockDisk) : nil }
    let rules = InstrumentedStock(StockMachine(stored), mutant, of: process, in: world)
    let log = try LogFile(path: "/dev/null", worker: "stock", generation: 1, limit: 0, keep: 0)
    var limits = SubscriptionLimits()
    // Small values, so that histories are long enough for several pages and for a subscriber that has missed too much.
    (limits.page, limits.replayed) = (4, 12)
    let service = StockService(
      MachineDriver(StockPersistence(store), rules), assortment: world.plan.stock.assortment, limits: limits)
    let server = ServiceServer(
      service, on: loop, log: log, supervisor: supervisor, clients: world.clientLimits)
    return try ServiceProgram(server, on: store, in: home)
  }
}

/// Opening of the vending machine: the production service, opened in the same way as by `bank-vending`, with this
/// history's store and rules.
/// Invariant: no code of the service is copied here.
enum VendingProgram {
  static let home = ServiceHome(path: "/bank", name: "vending")

  static func open(
    _ stored: StoredVending, of process: SimulatedProcess, _ loop: EventLoop,
    _ supervisor: SupervisorConnection,
    in world: Simulation
  ) throws -> any SimulatedProgram {
    let plan = world.plan.vending
    let store = SimulatedVendingStore(of: process, in: world)
    let mutant = world.bug.flatMap { $0.isOfTheMachine ? MutantVending($0, world.vending.disk) : nil }
    let machine = VendingStateMachine(mutant?.corrupt(stored) ?? stored, plan.table)
    let rules = InstrumentedVending(machine, mutant, of: process, in: world)
    let log = try LogFile(path: "/dev/null", worker: "vending", generation: 1, limit: 0, keep: 0)
    var patience = StockTimeouts()
    patience.purchase = .nanoseconds(plan.patience.nanoseconds)
    patience.manager = .nanoseconds(plan.managerTimeout.nanoseconds)
    patience.release = .nanoseconds(plan.releaseTimeout.nanoseconds)
    let service = VendingService(
      MachineDriver(try VendingPersistence(store), rules), table: plan.table,
      stock: StockClient(socket: StockProgram.home.socket, loop: loop), patience: patience)
    let server = ServiceServer(
      service, on: loop, log: log, supervisor: supervisor, clients: world.clientLimits)
    return try ServiceProgram(server, on: store, in: home)
  }
}
