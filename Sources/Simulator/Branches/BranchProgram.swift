// The coordinator's process of a branch in the simulated world. `SharedStore` and the code below it, down to the
// interface of PostgreSQL's library, are production code.

#if HAS_POSTGRES
  import BankModel
  import Configuration
  import Coordinator
  import Logging
  import Posix
  import QueueCore
  import PostgresBackend
  import Teller
  import Time
  import Transport
  import Wire

  /// The coordinator of a simulated branch.
  final class BranchProgram: SimulatedProgram {
    unowned let process: SimulatedProcess
    private unowned let world: BranchSimulation
    private let node: BranchNode
    private let loop: EventLoop
    /// Joins the shared database; the coordinator is made after that.
    private let joining: BranchJoin
    private let configuration: BankConfiguration
    private let watch: BranchQueueObserver
    private var server: ControlServer?
    private var coordinator: Coordinator?
    /// Sends the last messages to clients, after the coordinator has finished.
    private var finalFlush: FinalFlush?

    init(_ node: BranchNode, of process: SimulatedProcess, in world: BranchSimulation) throws {
      (self.node, self.process, self.world) = (node, process, world)
      loop = try EventLoop()
      configuration = Self.configuration(of: world)
      watch = BranchQueueObserver(of: process, node, in: world)
      var branch = BranchJoinRequest(
        address: "postgres://bank@store/bank", name: node.name, host: "machine-\(node.index)",
        services: [], homeIdentity: "home \(node.index)", wholeBytes: world.plan.wholeBytes)
      branch.known = node.mark
      joining = try BranchJoin(branch, on: loop)
    }

    /// Configuration of a branch: windows for deposits and loans, and one station if juice is ordered.
    private static func configuration(of world: BranchSimulation) -> BankConfiguration {
      let plan = world.plan
      var configuration = BankConfiguration()
      for service in ServiceName.branch + [.run] {
        configuration.windows[service] = 0
        configuration.work[service] = TimeSpan(nanoseconds: plan.workMicroseconds * 1_000)
      }
      for service in [ServiceName.deposit, .loan] { configuration.windows[service] = Int32(plan.windows) }
      if plan.hasJuice {
        configuration.windows[.juice] = 1
        // There is no stock, and a station does not wait for one. The long restart delay prevents the coordinator from
        // giving up the station before the end of the history.
        configuration.restartInitialDelay = .seconds(5)
      }
      configuration.language = .english
      configuration.lease = plan.policy.lease
      configuration.store.page = plan.page
      configuration.log.rotateBytes = 0
      return configuration
    }

    var hasOpened: Bool { coordinator?.hasOpened ?? false }

    /// Runs the event loop once: joins, works, or sends the last messages. Returns the exit code at the end.
    func runIteration() throws(SystemError) -> Int32? {
      guard let coordinator else { return try join() }
      if let finalFlush { return try finalFlush.runIteration() ? coordinator.exitCode : nil }
      try coordinator.runIteration()
      guard let code = coordinator.exitCode, let server else { return nil }
      coordinator.leave()
      guard !coordinator.isHalted else { return code }
      finalFlush = FinalFlush(server, loop)
      return nil
    }

    /// Continues to join the database, and opens the branch when that has succeeded. Returns the exit code 1 if it has
    /// failed, otherwise nil.
    private func join() throws(SystemError) -> Int32? {
      try loop.runOnce(until: joining.nextDeadline)
      do {
        guard let joined = try joining.refresh() else { return nil }
        (node.number, node.joinedAt) = (joined.opening.identity.number, process.clock)
        try open(joined)
      } catch {
        world.trace.line(process.clock, "branch \(node.index) cannot be opened: \(error)")
        return 1
      }
      return nil
    }

    /// Makes the coordinator of the joined branch, and opens it.
    private func open(_ joined: (store: any SharedQueueStore, opening: BranchJoinState)) throws {
      let server = ControlServer(loop: loop, build: BuildIdentity.current)
      let log = try LogFile(path: "/dev/null", worker: "coordinator", generation: 1, limit: 0, keep: 0)
      var limits = CoordinatorLimits()
      limits.storesUnreadPayloads = true
      let coordinator = try Coordinator(
        home: node.home, configurationFile: "\(node.home)/bank.json", configuration: configuration,
        policy: world.plan.policy, limits: limits, loop: loop, server: server, log: log,
        joined: joined, programs: try ProgramPaths())
      coordinator.witness = watch
      (self.server, self.coordinator) = (server, coordinator)
      try coordinator.open()
    }

    /// Passes a signal to the coordinator; does nothing before the branch has joined.
    func handle(signal: Int32) { coordinator?.handle(signal: signal) }
  }

  /// A teller or juice station of a branch: the production teller, with a provider that sometimes fails.
  final class BranchTeller: WindowProgram {
    let teller: TellerProcess
    /// The teller's provider. A fault can make its next result a failure.
    let provider: BranchProvider

    /// - Parameter isUnservable: returns true if a customer cannot be served now.
    init(_ role: PeerRole, isUnservable: @escaping (AccountNumber) -> Bool) throws(SystemError) {
      provider = BranchProvider(isUnservable: isUnservable)
      teller = try TellerProcess(
        descriptor: FileDescriptor(owning: 3), loop: EventLoop(), role: role, provider: provider,
        reportError: { _ in })
    }
  }

  /// A provider that reports readiness after a short delay without providing anything, and fails on request.
  final class BranchProvider: ResourceProvider {
    var onResult: ((Lease, ProvisionResult) -> Void)?
    /// True if the next result is a failure.
    var failsNext = false
    private let isUnservable: (AccountNumber) -> Bool
    /// The customer for which a result is due, and the time of the result.
    private var ready: (lease: Lease, due: MonotonicTime)?

    init(isUnservable: @escaping (AccountNumber) -> Bool) { self.isUnservable = isUnservable }

    /// Does nothing: the provider needs no settings.
    func begin(_ orders: TellerSettings) {}
    /// Schedules the result for a customer.
    func provide(_ assignment: Assignment) {
      if isUnservable(assignment.account) { failsNext = true }
      ready = (assignment.lease, SystemClock.monotonic() + .microseconds(20))
    }
    var nextDeadline: MonotonicTime? { ready?.due }

    /// Reports the result that is due, or a failure if the work is to fail.
    func finishIteration() {
      guard let (lease, due) = ready, SystemClock.monotonic() >= due else { return }
      ready = nil
      let fails = failsNext
      failsNext = false
      onResult?(lease, fails ? .unknown("the simulated work has failed") : .ready)
    }
  }
#endif
