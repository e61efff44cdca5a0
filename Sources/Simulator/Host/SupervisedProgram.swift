// Start of a service's process in the simulated world, as in `ServiceProcess`: the process sends a hello to the
// coordinator, receives its orders, and opens the service.
// Invariant: nothing is opened before the orders were received.
// Errors: a service that cannot be opened exits with 1.
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

/// The process of the stock or of the vending machine, from its start.
final class SupervisedProgram: SimulatedProgram {
  private let loop: EventLoop
  private let supervisor: SupervisorConnection
  private(set) var service: (any SimulatedProgram)?
  private var endedBySignal: Int32?
  /// Opens the service after the orders have arrived; nil if that has failed.
  private let open: (EventLoop, SupervisorConnection) -> (any SimulatedProgram)?

  init(
    _ role: PeerRole, _ open: @escaping (EventLoop, SupervisorConnection) -> (any SimulatedProgram)?
  ) throws(SystemError) {
    loop = try EventLoop()
    supervisor = try SupervisorConnection(FileDescriptor(owning: 3), loop: loop, role: role)
    self.open = open
  }

  /// Runs the loop once: waits for the orders, opens the service, or lets it work.
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

  /// Passes a signal to the service; before it is open, any signal ends the process.
  func handle(signal: Int32) {
    if let service { service.handle(signal: signal) } else { endedBySignal = 128 + signal }
  }
}

/// An opened service: the production server and its disk. With a planted bug, the server reports a commit that the disk
/// makes only afterwards.
final class ServiceProgram<Handler: ServiceHandler, Disk: SimulatedDisk>: SimulatedProgram {
  private let server: ServiceServer<Handler>
  private let disk: Disk

  init(_ server: ServiceServer<Handler>, on disk: Disk, in home: ServiceHome) throws {
    (self.server, self.disk) = (server, disk)
    try server.open(in: home)
  }

  /// Runs the server once, and makes a commit that a planted bug has put off.
  func runIteration() throws(SystemError) -> Int32? {
    if server.isRunning {
      try server.runIteration()
      disk.makeOwedCommit()
    }
    guard !server.isRunning else { return nil }
    disk.process.disableSleep()
    return try server.run()
  }

  /// Makes the server stop, whatever the signal is.
  func handle(signal: Int32) { server.requestStop() }
}

/// Opening of the stock service: the production service with this history's store and rules.
enum StockProgram {
  static let home = ServiceHome(path: "/bank", name: "stock")

  /// Opens the service, with the limits and the planted bug of this history.
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

/// Opening of the vending machine: the production service with this history's store and rules.
enum VendingProgram {
  static let home = ServiceHome(path: "/bank", name: "vending")

  /// Opens the machine, with the timeouts and the planted bug of this history.
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
