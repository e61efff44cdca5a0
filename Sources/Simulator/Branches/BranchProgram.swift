// The coordinator's process of a branch in the simulated world: the production branch from joining the database to the
// end, opened in the same way as by `bankd`.
// Invariant: no code of the branch is copied here. `SharedBooks` and all code down to the interface of PostgreSQL's
// library is production code.

#if HAS_POSTGRES
  import BankModel
  import Configuration
  import Coordinator
  import Logbook
  import Posix
  import QueueCore
  import SharedBranch
  import Teller
  import Time
  import Transport
  import Wire

  final class BranchProgram: SimulatedProgram {
    unowned let process: SimulatedProcess
    private unowned let world: BranchSimulation
    private let office: BranchOffice
    private let loop: EventLoop
    private let joining: SharedJoining
    private let configuration: BankConfiguration
    private let watch: BranchWatch
    private var server: ControlServer?
    private var coordinator: Coordinator?
    private var farewell: Farewell?

    init(_ office: BranchOffice, of process: SimulatedProcess, in world: BranchSimulation) throws {
      (self.office, self.process, self.world) = (office, process, world)
      loop = try EventLoop()
      configuration = Self.configuration(of: world)
      watch = BranchWatch(of: process, office, in: world)
      var branch = JoiningBranch(
        address: "postgres://bank@store/bank", name: office.name, host: "machine-\(office.place)",
        services: [], proof: "home \(office.place)", wholeBytes: world.plan.wholeBytes)
      branch.known = office.mark
      joining = try SharedJoining(branch, on: loop)
    }

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
        configuration.restartFirst = .seconds(5)
      }
      configuration.language = .english
      configuration.lease = plan.policy.lease
      configuration.store.page = plan.page
      configuration.log.rotateBytes = 0
      return configuration
    }

    var hasOpened: Bool { coordinator?.hasOpened ?? false }

    func turn() throws(SystemError) -> Int32? {
      guard let coordinator else { return try join() }
      if let farewell { return try farewell.turn() ? coordinator.exitCode : nil }
      try coordinator.turn()
      guard let code = coordinator.exitCode, let server else { return nil }
      coordinator.leave()
      guard !coordinator.isCutOff else { return code }
      farewell = Farewell(server, loop)
      return nil
    }

    private func join() throws(SystemError) -> Int32? {
      try loop.runOnce(until: joining.nextDeadline)
      do {
        guard let joined = try joining.look() else { return nil }
        (office.number, office.joinedAt) = (joined.opening.identity.number, process.clock)
        try open(joined)
      } catch {
        world.trace.line(process.clock, "branch \(office.place) cannot be opened: \(error)")
        return 1
      }
      return nil
    }

    private func open(_ joined: (books: any BranchStore, opening: BranchOpening)) throws {
      let server = ControlServer(loop: loop, build: BuildIdentity.current)
      let log = try LogFile(path: "/dev/null", worker: "coordinator", generation: 1, limit: 0, keep: 0)
      var limits = CoordinatorLimits()
      limits.keepsUnreadPayloads = true
      let coordinator = try Coordinator(
        home: office.home, configurationFile: "\(office.home)/bank.json", configuration: configuration,
        policy: world.plan.policy, limits: limits, loop: loop, server: server, log: log,
        joined: joined, programs: try WorkerPrograms())
      coordinator.witness = watch
      (self.server, self.coordinator) = (server, coordinator)
      try coordinator.open()
    }

    func hear(signal: Int32) { coordinator?.hear(signal: signal) }
  }

  /// A teller or juice station of a branch: the production teller, with a provider that sometimes fails.
  final class BranchTeller: WindowProgram {
    let teller: TellerProcess
    /// Provider of the teller, which faults cause to fail.
    let provider: BranchProvider

    /// - Parameter isHard: returns true if a customer cannot be served now.
    init(_ role: PeerRole, isHard: @escaping (AccountNumber) -> Bool) throws(SystemError) {
      provider = BranchProvider(isHard: isHard)
      teller = try TellerProcess(
        descriptor: FileDescriptor(owning: 3), loop: EventLoop(), role: role, provider: provider,
        complain: { _ in })
    }
  }

  /// A provider that reports readiness after a short delay without providing anything, and fails on request.
  final class BranchProvider: Provider {
    var onProvided: ((Lease, Provision) -> Void)?
    var failsNext = false
    private let isHard: (AccountNumber) -> Bool
    private var ready: (lease: Lease, due: MonotonicTime)?

    init(isHard: @escaping (AccountNumber) -> Bool) { self.isHard = isHard }

    func begin(_ orders: TellerOrders) {}
    func provide(_ assignment: Assignment) {
      if isHard(assignment.account) { failsNext = true }
      ready = (assignment.lease, SystemClock.monotonic() + .microseconds(20))
    }
    var nextDeadline: MonotonicTime? { ready?.due }

    func endTurn() {
      guard let (lease, due) = ready, SystemClock.monotonic() >= due else { return }
      ready = nil
      let fails = failsNext
      failsNext = false
      onProvided?(lease, fails ? .unknown("the simulated work has failed") : .ready)
    }
  }
#endif
