// One simulated world: its clock, network, disk and processes, and the loop that runs them. The checker detects broken
// promises.
// Invariant: the seed alone decides what happens; no real clock, system randomness or dictionary order has any
// influence. A broken promise ends the history.
import BankModel
import Coordinator
import Glibc
import QueueCore
import Storage
import Time

/// A history of the bank that is decided by a seed.
public final class Simulation {
  /// Result of one history: its seed, the broken promise if there is one, counts, and a digest of what happened.
  public struct Outcome: Sendable, Equatable {
    /// Seed of the history.
    public var seed: UInt64
    /// The promise that was broken; nil if none was.
    public var violation: Violation?
    /// Counts of what was simulated.
    public var statistics: Statistics
    /// Digest of the history, equal for two runs of one seed.
    public var digest: UInt64
  }

  static let build = "simulated"
  /// After the faults have ended, the bank must be drained and closed within this time.
  private static let maxShutdownTime = TimeSpan.seconds(200)
  private static let maxEvents: Int64 = 400_000
  let seed: UInt64
  let plan: FaultPlan
  let bug: PlantedBug?
  var clock = VirtualClock()
  var eventQueue = EventQueue<ScheduledEvent>()
  let host: SimulatedHost
  var trace: Trace
  var statistics = Statistics()
  let checker: InvariantChecker
  var chance: SeededGenerator
  var boardChance: SeededGenerator
  let disk: QueueDisk
  /// True if commits complete asynchronously, after a delay.
  var hasSlowDisk: Bool { plan.slowDisk.isEnabled && disk.volume == nil }
  private(set) var days: Set<DayNumber> = []
  private var lastDay: DayNumber = .min
  var stockState = StockState()
  private let wireTap = WireTap()
  var vending = VendingState()
  var externalWorkers: ExternalWorkerState
  var commands: CommandState
  var guardState: GuardState
  var coordinator: CoordinatorProgram?
  private(set) var coordinators = 0
  var workers: [SimulatedWorker] = []
  /// Record of held customers, which outlives each coordinator; nil with neither commands nor external workers.
  let inFlightTable: InFlightTable?
  private var hasLostPower = false
  let keepsLogs: Bool
  private(set) var clients: [SimulatedClient] = []
  private(set) var isFaultFree = false
  private(set) var faultFreeSince = MonotonicTime(nanoseconds: 0)
  private var closingCommands = ClosingCommands()
  private var isOver = false
  private(set) var violation: Violation?
  /// Time until which the coordinator's disk is full.
  var fullUntil = MonotonicTime(nanoseconds: 0)
  /// Failure of the next commit, before or after its data is stored; nil for none.
  var failingCommit: MemoryStore.Call?
  var slowCommit: TimeSpan?
  /// Number of workers still to be killed before they are ready.
  var tellersToKillEarly = 0
  /// Number of workers still to start late, or to hang before they are ready.
  var workersToDelay = 0
  /// Service processes that a coordinator may kill, because it has sent them `close` or SIGABRT before.
  var killableServices: Set<pid_t> = []
  /// Number of late messages still to be injected: messages of a dead worker that arrive after its loss is known.
  var delayedMessages = 0

  private init(seed: UInt64, scenario: Scenario?, bug: PlantedBug?, trace: ((String) -> Void)?) {
    (self.seed, self.bug) = (seed, bug)
    plan = FaultPlan(seed: seed, scenario: scenario)
    guardState = GuardState(seed: seed)
    externalWorkers = ExternalWorkerState(seed: seed)
    commands = CommandState(seed: seed)
    host = SimulatedHost(seed: seed &* 13 &+ 7, now: clock.now)
    // In some histories a socket takes few bytes at a time, so that writers have to wait for readers.
    if host.chance.draw(0...2) == 0 { host.streamCapacity = Int(host.chance.draw(300...4_000)) }
    host.files.makeDirectories(StockProgram.home.run)
    host.files.makeDirectories(StockProgram.home.logs)
    chance = SeededGenerator(seed: seed &* 5 &+ 2)
    boardChance = SeededGenerator(seed: seed &* 17 &+ 11)
    disk = QueueDisk(seed: seed, plantedBug: bug)
    self.trace = Trace(output: trace)
    keepsLogs = host.chance.draw(0...7) == 0
    inFlightTable =
      plan.commandServices.isEnabled || plan.externalWorkers.isEnabled ? InFlightMemory.table() : nil
    checker = InvariantChecker(policy: plan.policy)
    checker.world = self
    wireTap.world = self
    disk.isFaultFree = plan.faultIntensity == .calm
    disk.onDisagreement = { [unowned self] in violate(.storeContradiction, $0) }
    disk.onPowerLoss = { [unowned self] in
      statistics.note(.powerLost)
      hasLostPower = true
      self.trace.line(clock.now, "power loss")
    }
    host.plant(bug?.name)
    host.program = { [unowned self] path, arguments in program(at: path, arguments) }
    host.onWrite = { [unowned self] process, end, bytes in
      statistics.messages += 1
      self.trace.mix(Int64(end.number))
      self.trace.mix(bytes)
      if !end.isPipe { wireTap.handle(bytes, by: process, on: end) }
    }
    if guardState.isEnabled { host.survivors = ["bankd", "bank-guardian"] }
    host.onSignal = { [unowned self] sender, target, signal in
      verifyGuardSignal(sender, target, signal)
      guard target === stockState.service || target === vending.machine else { return }
      if signal == SIGABRT { killableServices.insert(target.pid) }
      switch signal {
      case SIGKILL where !killableServices.contains(target.pid):
        violate(.protocolViolation, "process \(target.pid) is ended without a request to exit")
      case SIGABRT where !target.isStalled(at: sender.clock):
        violate(.protocolViolation, "process \(target.pid) works or waits for its disk, but is ended")
      case SIGKILL where target.isIdle(at: sender.clock):
        violate(
          .protocolViolation, "process \(target.pid) is idle, but has not exited when asked to")
      default: break
      }
    }
    host.onEnd = { [unowned self] process in
      workerEnded(process)
      externalWorkerEnded(process)
      commandEnded(process)
      defer { guardedProcessEnded(process) }
      if let coordinator, process === coordinator.process { coordinatorEnded(coordinator, process) }
      if process === stockState.service { stockAskedToExit(process) }
      if process === vending.machine { vendingAskedToExit(process) }
    }
  }

  /// Runs one history to its end.
  ///
  /// - Parameters:
  ///   - seed: decides everything that happens.
  ///   - scenario: the faults that happen more often; nil for none.
  ///   - bug: the planted defect; nil for none.
  ///   - trace: receives a line of text for each event and effect; nil if there is no reader.
  ///   - inspect: called with the world after each step.
  public static func run(
    seed: UInt64, scenario: Scenario? = nil, bug: PlantedBug? = nil, trace: ((String) -> Void)? = nil,
    inspect: ((Simulation) -> Void)? = nil
  ) -> Outcome {
    let world = Simulation(seed: seed, scenario: scenario, bug: bug, trace: trace)
    world.run(inspect)
    return Outcome(
      seed: seed, violation: world.violation, statistics: world.statistics, digest: world.trace.digest)
  }

  private func run(_ inspect: ((Simulation) -> Void)?) {
    trace.line(clock.now, "seed \(seed), \(plan.faultIntensity), lease \(plan.policy.lease.milliseconds) ms")
    for number in 0..<plan.clients {
      clients.append(
        SimulatedClient(
          number: number, seed: seed &* 7 &+ UInt64(number) &+ 3, commands: plan.commands, world: self))
      eventQueue.add(.clientActs(number), at: clock.now + .milliseconds(chance.draw(1...30)))
    }
    writeConfiguration(isChanged: false)
    startStockOperators()
    startVendingUsers()
    scheduleExternalWorkers()
    installCommands()
    eventQueue.add(.coordinatorStart, at: clock.now)
    if plan.faultIntensity != .calm { eventQueue.add(.fault, at: clock.now + plan.interval) }
    eventQueue.add(.calm, at: clock.now + plan.duration)
    planGuardFault()
    while !isOver, violation == nil {
      guard processNext() else {
        violate(.notDrained, "there are no more events, but the bank has not ended")
        break
      }
      if isFaultFree { checkTimeLimits() }
      checkGuarding()
      trace.flush()
      inspect?(self)
    }
    coordinator = nil
    host.shutDown()
    if violation == nil { checker.checkEnd(of: disk) }
    if disk.volume != nil { statistics.databaseCommits += Int64(disk.commits) }
    if violation == nil { statistics.histories += 1 }
    trace.flush()
  }

  /// Runs the next step of a process or the next scheduled event. Returns false if nothing is left.
  private func processNext() -> Bool {
    guard let moment = MonotonicTime.earlier(eventQueue.nextMoment, host.nextMoment) else { return false }
    clock.advance(to: moment)
    host.advance(to: clock.now)
    statistics.occurrences += 1
    trace.mix(moment.nanoseconds)
    if lastDay != today {
      lastDay = today
      days.insert(today)
    }
    if eventQueue.nextMoment == moment, let (_, scheduled) = eventQueue.next() {
      process(scheduled)
    } else {
      host.runNext()
      if isFaultFree { sendClosingCommands() }
    }
    return true
  }

  private func checkTimeLimits() {
    guard clock.now.since(faultFreeSince) > Self.maxShutdownTime || statistics.occurrences > Self.maxEvents
    else {
      return
    }
    violate(.notDrained, "the faults ended long ago, but \(checker.leftovers())")
  }

  private func process(_ scheduled: ScheduledEvent) {
    switch scheduled {
    case .coordinatorStart: startCoordinator()
    case .stockOperatorActs(let number): stockState.keepers[number].act()
    case .vendingUserActs(let number): vending.visitors[number].act()
    case .clientActs(let number): clients[number].act()
    case .descriptorsRestored(let pid): host.processes[pid]?.restoreDescriptors()
    case .fault: injectFault()
    case .guardFault: injectGuardFault()
    case .calm: endFaults()
    case .clientSendsFaultRequests(let number): clients[number].resetAndEnqueue()
    case .coordinatorKillDue: coordinator?.process.kill()
    case .externalWorkerConnects(let number): foreignerComes(number)
    case .externalWorkerFault: injectExternalWorkerFault()
    case .commandFault: injectCommandFault()
    case .end:
      isOver = true
      checker.checkCommandsAreGone()
      checkGuardianIsGone()
    }
    if isFaultFree { sendClosingCommands() }
  }

  // MARK: - Processes

  /// Starts the next coordinator, or schedules another attempt if the store cannot be read.
  private func startCoordinator() {
    if guardState.isEnabled { return openOrKillGuardedBank() }
    guard coordinator == nil else { return }
    let isOpen = openStore { [unowned self] stored, incarnation in
      let process = host.start { [unowned self] process in
        let program = try? CoordinatorProgram(
          stored, number: coordinators, incarnation: incarnation, of: process, in: self)
        coordinator = program
        return program
      }
      return process.begin() as? CoordinatorProgram
    }
    if !isOpen { eventQueue.add(.coordinatorStart, at: clock.now + .milliseconds(chance.draw(2...150))) }
  }

  /// Reads the store and calls `begin` with its contents, to start the next coordinator. Returns false if the store
  /// cannot be read now.
  func openStore(_ begin: (StoredQueue, Int64) -> CoordinatorProgram?) -> Bool {
    coordinators += 1
    statistics.starts += 1
    trace.line(clock.now, "coordinator \(coordinators) starts")
    disk.isFull = fullUntil > clock.now
    do throws(StoreError) {
      var stored = try disk.load(now: clock.moment.wall)
      let incarnation = try disk.recordStart(at: clock.moment.wall)
      if hasForeignWorkers { try disk.assignNumbers(to: ExternalWorkerPlan.services) }
      if hasCommands { try disk.assignNumbers(to: CommandServicesPlan.numbered) }
      stored.dayCounters.know(services: disk.services.count)
      if let bug { stored = checker.corrupt(stored, as: bug) }
      checker.restarted(with: stored, from: disk)
      guard let started = begin(stored, incarnation) else {
        violate(.protocolViolation, "a coordinator cannot start")
        return true
      }
      checker.coordinatorStarted(started.machine)
      // This coordinator may have read data that a failed sync did not make durable. Kill it soon; the power
      // may fail with it.
      if disk.isSuspect, !isFaultFree { started.process.callsUntilKill = Int(chance.draw(50...1_500)) }
    } catch {
      guard disk.isToBlame(for: error) else {
        violate(.storeContradiction, "the store cannot be opened: \(error)")
        return true
      }
      trace.line(clock.now, "the store cannot be opened now: \(error)")
      disk.processEnded(isDone: false)
      clearInFlightTableOnPowerLoss()
      return false
    }
    return true
  }

  /// The record of held customers was never synced, so a power loss erases it.
  private func clearInFlightTableOnPowerLoss() {
    guard hasLostPower else { return }
    hasLostPower = false
    inFlightTable?.isDead = { false }
    inFlightTable?.begin(day: 0)
    checker.discardCrashes()
  }

  /// Reports the exit of a coordinator to the disk and the checker, and plans the next coordinator.
  private func coordinatorEnded(_ ended: CoordinatorProgram, _ process: SimulatedProcess) {
    let isDone = process.ending?.status.ending == .code(0)
    if case .signal? = process.ending?.status.ending { statistics.note(.coordinatorKilled) }
    trace.line(clock.now, "coordinator \(ended.number) \(isDone ? "has ended" : "is dead")")
    if disk.hasStagedChanges { statistics.note(.commitLost) }
    ended.store.processEnded()
    disk.processEnded(isDone: isDone)
    checker.crashed(isDone: inFlightTable?.isClosed ?? false)
    clearInFlightTableOnPowerLoss()
    coordinator = nil
    if isDone, isFaultFree, closingCommands.hasRequestedStop {
      // The last messages are still in flight, so the history ends later.
      guardState.isOver = true
      eventQueue.add(.end, at: clock.now + .seconds(1))
    } else if !guardState.isEnabled {
      eventQueue.add(.coordinatorStart, at: clock.now + .milliseconds(chance.draw(2...150)))
    }
  }

  // MARK: - The end

  private func endFaults() {
    isFaultFree = true
    faultFreeSince = clock.now
    trace.line(clock.now, "the faults end")
    fullUntil = clock.now
    host.diskFullUntil = clock.now
    failingCommit = nil
    slowCommit = nil
    disk.isFaultFree = true
    restoreCalendar()
    coordinator?.process.callsUntilKill = nil
    endWorkerFaults()
    endExternalWorkerFaults()
    endCommandFaults()
    for guardian in guardians { guardian.callsUntilKill = nil }
    endStockFaults()
    endVendingFaults()
  }

  /// Moves the calendar to the last due time if it is far behind. A customer ordered for later is not served before
  /// that time, so the bank could not drain in time.
  private func restoreCalendar() {
    let moments = checker.asked.values.map(\.milliseconds) + checker.view.due.values.map(\.milliseconds)
    guard let last = moments.max(), plan.delaysCustomers else { return }
    let behind = last - clock.moment.wall.milliseconds
    guard behind > 5_000 else { return }
    clock.jump(byMilliseconds: behind)
    host.calendarOrigin += behind * 1_000_000
  }

  /// Lets client 0 send the next closing command once no client has a request left.
  private func sendClosingCommands() {
    guard coordinator != nil, clients.allSatisfy({ $0.isSatisfied }), isStockSatisfied,
      isVendingSatisfied
    else { return }
    guard clients[0].state == .ready,
      let plannedRequest = closingCommands.next(
        windows: plan.windows, mayEnd: areForeignersServed && areCommandsHeard, isPaused: isServicePaused)
    else { return }
    clients[0].ask(plannedRequest)
    // Request an audit while the services are being stopped.
    if closingCommands.hasRequestedStop, hasStock, chance.draw(0...2) == 0 {
      clients[0].ask(SimulatedClient.PlannedRequest(command: .audit))
    }
    if closingCommands.hasRequestedStop, plan.faultIntensity != .calm, chance.draw(0...1) == 0 {
      // The last fault: the disk is full while the bank closes.
      statistics.note(.diskFull)
      fullUntil = clock.now + .milliseconds(chance.draw(1...(chance.draw(0...2) == 0 ? 2_000 : 200)))
    } else if closingCommands.hasRequestedStop, plan.faultIntensity != .calm {
      // The last fault: a commit is slow, and clients send requests to a closing bank.
      statistics.note(.commitSlow)
      slowCommit = .milliseconds(chance.draw(20...400))
      for client in clients { client.sendLateLists() }
    }
  }

  /// True if the history has no faults, or they ended some time ago and the disk is not full.
  var isStable: Bool {
    plan.faultIntensity == .calm
      || isFaultFree && clock.now.since(faultFreeSince) > .seconds(2) && fullUntil < clock.now
  }

  /// Records a broken promise. Only the first one counts.
  func violate(_ kind: Violation.Kind, _ message: @autoclosure () -> String) {
    guard violation == nil else { return }
    let found = Violation(kind: kind, at: clock.now.nanoseconds, message: message())
    trace.line(clock.now, "VIOLATION \(found)")
    violation = found
  }
}
