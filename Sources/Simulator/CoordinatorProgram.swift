// The coordinator's process in the simulated world: the production coordinator on the simulated host, with a simulated
// store.
// Invariant: the process may be killed between two calls of the kernel or the store. Its unsent bytes and staged
// changes are then lost. Of its transactions in flight, a prefix is stored.
import BankModel
import Configuration
import Coordinator
import Logging
import Posix
import QueueCore
import Time
import Transport

final class CoordinatorProgram: SimulatedProgram {
  unowned let process: SimulatedProcess
  /// Number of this start in the history, from 1.
  let number: Int
  private let loop: EventLoop
  private let server: ControlServer
  private let coordinator: Coordinator
  /// Reports events of the queue to the checker.
  private let watch: SimulationQueueObserver
  let store: SimulatedQueueStore
  /// Lock of the home, and contact with the guardian; nil in a history without a guardian.
  private let ties: HomeOwnership?
  /// Creates the reaper, which ends the processes that the previous coordinator left running; nil in a history
  /// without commands.
  private var makeReaper: (() -> OrphanReaper)?
  private var reaper: OrphanReaper?
  private var hasStarted = false
  private var isOpen = false
  private var finalFlush: FinalFlush?

  init(
    _ stored: StoredQueue, number: Int, incarnation: Int64, of process: SimulatedProcess,
    _ ties: HomeOwnership? = nil,
    in world: Simulation
  ) throws {
    (self.process, self.number, self.ties) = (process, number, ties)
    let plan = world.plan
    let home = StockProgram.home
    var mutant: MutantQueue?
    if let bug = world.bug, bug.isOfTheCore { mutant = MutantQueue(bug) }
    watch = SimulationQueueObserver(of: process, mutant, seed: world.seed &* 31 &+ UInt64(number), in: world)
    loop = try EventLoop()
    server = ControlServer(loop: loop, build: BuildIdentity.current)
    let log = try LogFile(
      path: world.keepsLogs ? "\(home.logs)/coordinator.log" : "/dev/null", worker: "coordinator",
      generation: Int32(clamping: incarnation), limit: world.keepsLogs ? 4_096 : 0,
      keep: world.keepsLogs ? 2 : 0)
    var limits = CoordinatorLimits()
    (limits.slice, limits.listPart) = (plan.slice, Int(plan.slice))
    (limits.gap, limits.withdrawn) = (2 * plan.slice, Int(plan.slice))
    limits.release = plan.stock.releaseTimeout
    limits.storesUnreadPayloads = true
    store = SimulatedQueueStore(of: process, number, in: world)
    world.inFlightTable?.isDead = { [unowned process] in process.isMarkedForTermination }
    coordinator = try Coordinator(
      home: home.path, configurationFile: ConfigurationWriter.path,
      configuration: try Self.configuration(number, of: world),
      policy: mutant?.corrupt(plan.policy) ?? plan.policy, limits: limits, loop: loop, server: server,
      log: log,
      store: store, contents: mutant?.corrupt(stored) ?? stored,
      incarnation: incarnation, bankID: Self.readBankID(of: world), programs: try ProgramPaths(),
      now: SystemClock.moment(), ties: ties, inFlightTable: world.inFlightTable)
    coordinator.witness = watch
    try Subreaper.become()
    // Simulated external workers leave no processes running. Without commands there are therefore none to end.
    if world.hasCommands {
      makeReaper = { [coordinator] in OrphanReaper(of: coordinator, stored.dayCounters) }
    }
  }

  /// Identity of the bank's database; none in a history without commands.
  private static func readBankID(of world: Simulation) -> BankID {
    world.hasCommands
      ? BankID(number: world.plan.commandServices.databaseNumber, day: 1, ticket: 1) : .none
  }

  private static func configuration(_ number: Int, of world: Simulation) throws -> BankConfiguration {
    let plan = world.plan
    var chance = SeededGenerator(seed: world.seed &* 37 &+ UInt64(number))
    var configuration = BankConfiguration()
    if plan.externalWorkers.isEnabled || world.hasCommands {
      configuration = try BankConfiguration.decode(
        bytes: Array("{\"services\": \(world.serviceSettings)}".utf8), path: ConfigurationWriter.path)
    }
    for service in ServiceName.branch + [.run] {
      configuration.windows[service] = plan.windows[service] ?? 0
      configuration.work[service] = TimeSpan(nanoseconds: plan.workMicroseconds * 1_000)
    }
    configuration.language = .english
    configuration.lease = plan.policy.lease
    configuration.gather = plan.gather
    configuration.watchdogTimeout = .seconds(chance.draw(0...1) == 0 ? 1 : 10)
    configuration.log.customers = world.keepsLogs
    (configuration.log.rotateBytes, configuration.log.keep) = (4_096, 2)
    return configuration
  }

  var machine: QueueMachine { _read { yield coordinator.machine } }
  var hasDismissedServices: Bool { coordinator.hasDismissedServices }
  var hasOpened: Bool { coordinator.hasOpened }
  /// True after the coordinator has reported to its guardian that the bank is closed.
  var hasClosed: Bool { ties?.hasClosed ?? false }
  /// Lets the coordinator notice that the process which opened the bank in the foreground was killed.
  func foregroundProcessKilled() { process.call { coordinator.handleOpenerExit() } }

  /// Runs one iteration: of the reaper until it is done, of the open coordinator, or of the final flush.
  func runIteration() throws(SystemError) -> Int32? {
    if !hasStarted {
      hasStarted = true
      ties?.begin()
      reaper = makeReaper?()
    }
    if let reaper, !reaper.isDone {
      try reaper.runIteration()
      return nil
    }
    if !isOpen {
      isOpen = true
      try coordinator.open()
    }
    if let finalFlush { return try finalFlush.runIteration() ? coordinator.exitCode : nil }
    watch.beginIteration()
    while let word = watch.nextDelayedMessage(at: process.clock) {
      // A late message also returns the due customers to their lines. Apply a tick first, so that all following effects
      // belong to the late message.
      if let due = machine.nextRetry, due <= process.clock { coordinator.process(.tick) }
      coordinator.process(word)
    }
    defer { watch.wakeForDelayedMessages() }
    try coordinator.runIteration()
    store.makeOwedCommit()
    guard let code = coordinator.exitCode else { return nil }
    coordinator.leave()
    guard !coordinator.isHalted else { return code }
    finalFlush = FinalFlush(server, loop)
    return nil
  }

  func handle(signal: Int32) { coordinator.handle(signal: signal) }
}
