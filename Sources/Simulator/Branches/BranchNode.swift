// One branch of the simulated bank: its machine with its own calendar, its coordinator, its tellers and its clients.
// Invariant: there is at most one coordinator.

#if HAS_POSTGRES
  import BankModel
  import Glibc
  import Posix
  import QueueCore
  import ServiceProcess
  import Time
  import Wire

  /// A branch of the simulated bank with its machine, processes and clients.
  final class BranchNode {
    /// A teller or juice station of the branch, while its process exists.
    struct Teller {
      let process: SimulatedProcess
      weak var provider: BranchProvider?
    }

    unowned let world: BranchSimulation
    let index: Int
    let name: String
    let home = StockProgram.home.path
    let host: SimulatedHost
    /// The coordinator's program, owned by its process like the tellers' programs, and released with it.
    private(set) weak var program: BranchProgram?
    var process: SimulatedProcess? { coordinator.flatMap { host.processes[$0] } }
    private var coordinator: pid_t?
    private(set) var tellers: [Teller] = []
    private(set) var clients: [BranchClient] = []
    /// Number of the branch in the database; nil before the branch has joined.
    var number: Int64?
    /// Time at which the branch last joined. If a day ends after this time, the branch has to close.
    var joinedAt = MonotonicTime(nanoseconds: 0)
    /// True if the branch stays closed.
    var isClosed = false
    /// Time before which the branch is not started again.
    var notStartedBefore = MonotonicTime(nanoseconds: 0)
    /// True if the branch never returns.
    var isLost = false
    /// True if the coordinator of the branch has exited normally.
    private(set) var hasEnded = false
    /// The highest server timeline that the coordinator of the branch has seen; 0 for none.
    var latestTimeline: Int64 = 0
    /// Identification of the database that the home of the branch stores; nil before the branch has joined.
    var mark: SharedStoreProgress? {
      number.map { _ in
        SharedStoreProgress(
          bankID: DatabaseServer.number, system: DatabaseServer.system, timeline: latestTimeline)
      }
    }
    private(set) var startedAt = MonotonicTime(nanoseconds: 0)

    init(_ index: Int, seed: UInt64, in world: BranchSimulation) {
      (self.index, self.world) = (index, world)
      name = "branch-\(index)"
      host = SimulatedHost(seed: seed &* 13 &+ UInt64(index) &* 101 &+ 7, now: world.clock.now)
      host.calendarOrigin += world.plan.calendars[index] * 1_000_000
      host.files.makeDirectories(StockProgram.home.run)
      host.files.makeDirectories(StockProgram.home.logs)
      host.files.write(Array("{}".utf8), to: "\(home)/bank.json")
      host.plant(world.bug?.name)
      host.connectRemote = { [unowned self] process in self.world.network.connect(process, self.index) }
      host.program = { [unowned self] path, arguments in program(at: path, arguments) }
      host.onWrite = { [unowned self] _, end, bytes in
        self.world.trace.mix(Int64(self.index * 100_000 + end.number))
        self.world.trace.mix(bytes)
        self.world.statistics.messages += 1
      }
      host.onEnd = { [unowned self] process in ended(process) }
      for number in 0..<world.plan.clients {
        clients.append(BranchClient(self, number, seed: seed &* 7 &+ UInt64(index * 10 + number), in: world))
      }
    }

    /// Offset of the branch's calendar from the world's, in milliseconds; positive if it is ahead.
    var calendarError: Int64 {
      host.wall.milliseconds - world.clock.moment.wall.milliseconds
    }

    // MARK: - Processes

    /// Returns a closure that makes the program of a teller or a juice station; nil if neither is at this path.
    private func program(
      at path: String, _ arguments: [String]
    ) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
      let roles: [String: PeerRole] = ["bank-teller": .teller, "bank-juice": .juice]
      guard let role = roles[Paths.lastPart(of: path)] else { return nil }
      return { [unowned self] process in
        guard
          let program = try? BranchTeller(
            role,
            isUnservable: { [unowned world] account in
              world.plan.hasUnservableCustomers && account % 6 == 2 && !world.isFaultFree
            })
        else { return nil }
        tellers.append(Teller(process: process, provider: program.provider))
        return program
      }
    }

    /// Starts the coordinator unless it is running, or the branch is closed, lost or still has to wait.
    func start() {
      guard coordinator == nil, !isClosed, !isLost else { return }
      guard notStartedBefore <= world.clock.now else {
        return world.eventQueue.add(.start(index), at: notStartedBefore)
      }
      world.statistics.starts += 1
      hasEnded = false
      startedAt = world.clock.now
      let process = host.start { [unowned self] process in
        do {
          let program = try BranchProgram(self, of: process, in: self.world)
          self.program = program
          return program
        } catch {
          self.world.violate(.protocolViolation, "a branch cannot start: \(error)")
          return nil
        }
      }
      coordinator = process.pid
      process.begin()
    }

    /// Handles the exit of a process. The coordinator is started again, unless the branch is closed or lost.
    private func ended(_ process: SimulatedProcess) {
      tellers.removeAll { $0.process === process }
      guard process.pid == coordinator else { return }
      defer { coordinator = nil }
      let status = process.ending?.status.ending
      world.trace.line(
        world.clock.now, "the coordinator of branch \(index) has ended: \(status.map { "\($0)" } ?? "")")
      hasEnded = status == .code(0)
      if hasEnded { world.closed(self, process) }
      guard !isClosed, !isLost else { return }
      world.eventQueue.add(.start(index), at: world.clock.now + .milliseconds(world.chance.draw(2...300)))
    }

    /// Kills all processes of the branch but the clients.
    func kill() {
      for process in host.processes.values.sorted(by: { $0.pid < $1.pid }) where !isClient(process) {
        process.kill()
      }
    }

    private func isClient(_ process: SimulatedProcess) -> Bool {
      clients.contains { $0.line.process === process }
    }

    /// Stalls all processes of the branch but the clients until a time.
    func stall(until moment: MonotonicTime) {
      for process in host.processes.values.sorted(by: { $0.pid < $1.pid }) where !isClient(process) {
        process.stall(until: moment)
      }
    }

    /// Ends the faults of the branch: it may start, stopped tellers are killed, and clients read again.
    func endFaults() {
      notStartedBefore = world.clock.now
      process?.callsUntilKill = nil
      for teller in tellers {
        teller.provider?.failsNext = false
        if teller.process.isStopped { teller.process.kill() }
      }
      for client in clients { client.line.process.restoreDescriptors() }
    }
  }
#endif
