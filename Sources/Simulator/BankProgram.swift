// The coordinator's process in the simulated world: the production coordinator on the simulated host, opened in the
// same way as by `bankd`. The store and the queue policy belong to this history.
// Invariant: no code of the coordinator is copied here. The process may be killed between any two calls of the kernel
// or the store, and does nothing after that. Its unsent bytes and staged changes are lost. Of its transactions in
// flight, a prefix is stored.
import BankModel
import Configuration
import Coordinator
import Logbook
import Posix
import QueueCore
import Time
import Transport

final class BankProgram: SimulatedProgram {
  unowned let process: SimulatedProcess
  let number: Int
  private let loop: EventLoop
  private let server: ControlServer
  private let coordinator: Coordinator
  private let watch: QueueWatch
  let store: SimulatedQueueStore
  /// Lock of the home, and contact with the guardian; nil in a history without a guardian.
  private let ties: HomeTies?
  /// Creates the first step, which ends the processes that the previous coordinator left running; nil in a history
  /// without commands.
  private var makeClearing: (() -> CommandClearing)?
  private var clearing: CommandClearing?
  private var hasBegun = false
  private var isOpen = false
  private var farewell: Farewell?

  init(
    _ stored: StoredQueue, number: Int, incarnation: Int64, of process: SimulatedProcess,
    _ ties: HomeTies? = nil,
    in world: Simulation
  ) throws {
    (self.process, self.number, self.ties) = (process, number, ties)
    let plan = world.plan
    let home = StockProgram.home
    var mutant: MutantQueue?
    if let bug = world.bug, bug.isOfTheCore { mutant = MutantQueue(bug) }
    watch = QueueWatch(of: process, mutant, seed: world.seed &* 31 &+ UInt64(number), in: world)
    loop = try EventLoop()
    server = ControlServer(loop: loop, build: BuildIdentity.current)
    let log = try LogFile(
      path: world.keepsLogs ? "\(home.logs)/coordinator.log" : "/dev/null", worker: "coordinator",
      generation: Int32(clamping: incarnation), limit: world.keepsLogs ? 4_096 : 0,
      keep: world.keepsLogs ? 2 : 0)
    var limits = CoordinatorLimits()
    (limits.slice, limits.listPart) = (plan.slice, Int(plan.slice))
    (limits.gap, limits.withdrawn) = (2 * plan.slice, Int(plan.slice))
    limits.release = plan.stock.releasePatience
    limits.keepsUnreadPayloads = true
    store = SimulatedQueueStore(of: process, number, in: world)
    world.hands?.isDead = { [unowned process] in process.isDoomed }
    coordinator = try Coordinator(
      home: home.path, configurationFile: ConfigurationScribe.path,
      configuration: try Self.configuration(number, of: world),
      policy: mutant?.spoil(plan.policy) ?? plan.policy, limits: limits, loop: loop, server: server, log: log,
      store: store, contents: mutant?.spoil(stored) ?? stored,
      incarnation: incarnation, booksName: Self.booksName(of: world), programs: try WorkerPrograms(),
      now: SystemClock.moment(), ties: ties, hands: world.hands)
    coordinator.witness = watch
    try Subreaper.become()
    // Simulated concurrent workers leave no processes running. Without commands there are therefore none to end.
    if world.hasCommands {
      makeClearing = { [coordinator] in CommandClearing(of: coordinator, stored.books) }
    }
  }

  private static func booksName(of world: Simulation) -> BooksName {
    world.hasCommands
      ? BooksName(number: world.plan.commandServices.booksNumber, day: 1, ticket: 1) : .none
  }

  private static func configuration(_ number: Int, of world: Simulation) throws -> BankConfiguration {
    let plan = world.plan
    var chance = SeededGenerator(seed: world.seed &* 37 &+ UInt64(number))
    var configuration = BankConfiguration()
    if plan.foreign.isThere || world.hasCommands {
      configuration = try BankConfiguration.decode(
        bytes: Array("{\"services\": \(world.serviceSettings)}".utf8), path: ConfigurationScribe.path)
    }
    for service in ServiceName.branch + [.run] {
      configuration.windows[service] = plan.windows[service] ?? 0
      configuration.work[service] = TimeSpan(nanoseconds: plan.workMicroseconds * 1_000)
    }
    configuration.language = .english
    configuration.lease = plan.policy.lease
    configuration.gather = plan.gather
    // Some coordinators of a history detect a hung service soon.
    configuration.standstill = .seconds(chance.draw(0...1) == 0 ? 1 : 10)
    configuration.log.customers = world.keepsLogs
    (configuration.log.rotateBytes, configuration.log.keep) = (4_096, 2)
    return configuration
  }

  var machine: QueueMachine { _read { yield coordinator.machine } }
  var hasDismissedServices: Bool { coordinator.hasDismissedServices }
  /// True after this coordinator has opened the bank.
  var hasOpened: Bool { coordinator.hasOpened }
  /// True after the coordinator has reported to its guardian that everything is durable and the bank is
  /// closed.
  var hasClosed: Bool { ties?.hasClosed ?? false }
  /// The process that opened the bank in the foreground was killed.
  func loseOpener() { process.call { coordinator.openerIsGone() } }

  func turn() throws(SystemError) -> Int32? {
    if !hasBegun {
      hasBegun = true
      ties?.begin()
      clearing = makeClearing?()
    }
    if let clearing, !clearing.isDone {
      try clearing.turn()
      return nil
    }
    if !isOpen {
      isOpen = true
      try coordinator.open()
    }
    if let farewell { return try farewell.turn() ? coordinator.exitCode : nil }
    watch.beginTurn()
    while let word = watch.nextLateWord(at: process.clock) {
      // Any event also returns the due customers to their lines. Apply a tick first, so that all following effects
      // belong to the late message.
      if let due = machine.nextRetry, due <= process.clock { coordinator.happen(.tick) }
      coordinator.happen(word)
    }
    defer { watch.wakeForLateWords() }
    try coordinator.turn()
    guard let code = coordinator.exitCode else { return nil }
    coordinator.leave()
    guard !coordinator.isCutOff else { return code }
    farewell = Farewell(server, loop)
    return nil
  }

  func hear(signal: Int32) { coordinator.hear(signal: signal) }
}
