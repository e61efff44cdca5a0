// Owns one simulated world: its clock, its network, its disk, its processes, and the loop that lets them happen.
// It must not judge: the checker does. Invariant: a seed, and nothing else, decides what happens; no clock, no chance and
// no order of a dictionary gets in. A broken promise ends the history at once and is its outcome.

import BankModel
import QueueCore
import Storage
import Wire

/// A history of the bank that is decided by a seed.
public final class Simulation {
  /// How a history ended.
  public struct Outcome: Sendable, Equatable {
    /// What decided it.
    public var seed: UInt64
    /// The promise that was broken; nil where none was.
    public var violation: Violation?
    /// What was simulated.
    public var statistics: Statistics
    /// A digest of everything that happened.
    public var digest: UInt64
  }

  static let build = "simulated"
  /// After the faults have ended everything comes to its end within this time.
  private static let longestEnd = TimeSpan.seconds(600)
  private static let longestHistory: Int64 = 400_000

  let seed: UInt64
  let plan: FaultPlan
  let bug: PlantedBug?
  var clock = VirtualClock()
  var agenda = Agenda<Occurrence>()
  var network: Network
  /// The machine on which production processes run.
  let host: SimulatedHost
  var trace: Trace
  var statistics = Statistics()
  let checker: PromiseChecker
  var chance: SeededGenerator
  let disk: QueueDisk
  /// Every day that people have had in this history.
  private(set) var days: Set<DayNumber> = []
  private var lastDay: DayNumber = .min
  var scene = StockScene()
  private let ear = WireEar()
  var vending = VendingScene()

  private(set) var coordinator: SimulatedCoordinator?
  private var coordinators = 0
  var tellers: [SimulatedTeller] = []
  /// Tellers whose processes live, by number.
  var living: [Int] = []
  private(set) var clients: [SimulatedClient] = []
  /// Connections between clients and the present coordinator.
  private var openLinks: [Int] = []

  /// Nothing goes wrong any more.
  private(set) var isCalm = false
  private var calmSince = MonotonicTime(nanoseconds: 0)
  private var finale = Finale()
  private var isOver = false
  private(set) var violation: Violation?
  /// The disk is full until then.
  var fullUntil = MonotonicTime(nanoseconds: 0)
  /// The next commit fails: before anything is kept, or after it.
  var failingCommit: MemoryStore.Call?
  /// So many tellers die before they are ready.
  var stillborn = 0

  private init(seed: UInt64, bug: PlantedBug?, trace: ((String) -> Void)?) {
    self.seed = seed
    self.bug = bug
    plan = FaultPlan(seed: seed)
    network = Network(seed: seed &* 3 &+ 1)
    host = SimulatedHost(seed: seed &* 13 &+ 7, now: clock.now)
    // In some histories a socket takes little at a time, so that writing goes on later and readers are waited for.
    if host.chance.draw(0...2) == 0 { host.streamCapacity = Int(host.chance.draw(300...4_000)) }
    chance = SeededGenerator(seed: seed &* 5 &+ 2)
    disk = QueueDisk(seed: seed, mistake: bug?.rawValue)
    self.trace = Trace(output: trace)
    checker = PromiseChecker(policy: plan.policy)
    checker.world = self
    ear.world = self
    disk.isCalm = plan.temper == .calm
    disk.onDisagreement = { [unowned self] in violate(.storeContradiction, $0) }
    disk.onPowerLoss = { [unowned self] in
      statistics.note(.powerLost)
      self.trace.line(clock.now, "the power is gone")
    }
    host.mistake = bug?.rawValue
    host.onWrite = { [unowned self] process, end, bytes in ear.hear(bytes, by: process, on: end) }
    host.onEnd = { [unowned self] process in
      if process === scene.service { stockEnded(process) }
      if process === vending.machine { vendingEnded(process) }
    }
  }

  /// Lives through one history.
  ///
  /// - Parameters:
  ///   - seed: decides everything.
  ///   - bug: what is wrong with the core or the shell; nil for the real ones.
  ///   - trace: told every event and every effect in words; nil where nobody reads them.
  public static func run(
    seed: UInt64, bug: PlantedBug? = nil, trace: ((String) -> Void)? = nil
  ) -> Outcome {
    run(seed: seed, bug: bug, trace: trace, look: nil)
  }

  /// The same, while somebody looks into the world each time that something has happened.
  static func run(
    seed: UInt64, bug: PlantedBug? = nil, trace: ((String) -> Void)? = nil, look: ((Simulation) -> Void)?
  ) -> Outcome {
    let world = Simulation(seed: seed, bug: bug, trace: trace)
    world.run(look)
    return Outcome(
      seed: seed, violation: world.violation, statistics: world.statistics, digest: world.trace.digest)
  }

  private func run(_ look: ((Simulation) -> Void)?) {
    trace.line(clock.now, "seed \(seed), \(plan.temper), lease \(plan.policy.lease.milliseconds) ms")
    for number in 0..<plan.clients {
      clients.append(
        SimulatedClient(
          number: number, seed: seed &* 7 &+ UInt64(number) &+ 3, commands: plan.commands, world: self))
      agenda.add(.clientActs(number), at: clock.now + .milliseconds(chance.draw(1...30)))
    }
    hireKeepers()
    inviteVisitors()
    agenda.add(.coordinatorStart, at: clock.now)
    if plan.temper != .calm { agenda.add(.fault, at: clock.now + plan.interval) }
    agenda.add(.calm, at: clock.now + plan.duration)
    while !isOver, violation == nil {
      guard happenNext() else {
        violate(.notDrained, "nothing happens any more, and the bank has not ended")
        break
      }
      if isCalm { checkPatience() }
      look?(self)
    }
    host.shutDown()
    if violation == nil { checker.checkEnd(of: disk) }
    if disk.volume != nil { statistics.databaseCommits += Int64(disk.commits) }
    if violation == nil { statistics.histories += 1 }
  }

  /// Lets the next thing happen, on the host or beside it; false where nothing is to happen any more.
  private func happenNext() -> Bool {
    guard let moment = [agenda.nextMoment, host.nextMoment].compactMap(\.self).min() else { return false }
    clock.advance(to: moment)
    host.advance(to: clock.now)
    statistics.occurrences += 1
    trace.mix(moment.nanoseconds)
    if lastDay != today {
      lastDay = today
      days.insert(today)
    }
    if agenda.nextMoment == moment, let (_, occurrence) = agenda.next() {
      happen(occurrence)
    } else {
      host.runNext()
      if isCalm { playFinale() }
    }
    return true
  }

  private func checkPatience() {
    guard clock.now.since(calmSince) > Self.longestEnd || statistics.occurrences > Self.longestHistory else {
      return
    }
    violate(.notDrained, "the faults have ended long ago, and \(checker.leftovers())")
  }

  private func happen(_ occurrence: Occurrence) {
    switch occurrence {
    case .delivery(let link, let end): deliver(link, end)
    case .tellerBegan(let number): begin(tellers[number])
    case .tellerWoke(let number): tellers[number].wake()
    case .tellerWentOn(let number): tellers[number].goOn()
    case .tellerSignalled(let number, let signal): tellers[number].receive(signal: signal)
    case .tellerReaped(let number):
      if let coordinator, tellers[number].incarnation == coordinator.number {
        coordinator.reap(tellers[number])
      }
    case .coordinatorTurn(let incarnation):
      if let coordinator, coordinator.number == incarnation { coordinator.turn() }
    case .coordinatorStart: startCoordinator()
    case .stockStart: startStock()
    case .stockOrphaned(let pid): if scene.service?.pid == pid { scene.service?.kill() }
    case .keeperActs(let number): scene.keepers[number].act()
    case .vendingStart: startVending()
    case .vendingOrphaned(let pid): if vending.machine?.pid == pid { vending.machine?.kill() }
    case .visitorActs(let number): vending.visitors[number].act()
    case .clientActs(let number): clients[number].act()
    case .relief(let pid): host.processes[pid]?.relieve()
    case .fault: goWrong()
    case .calm: calmDown()
    }
    if isCalm { playFinale() }
  }

  private func begin(_ teller: SimulatedTeller) {
    if stillborn > 0 {
      stillborn -= 1
      statistics.note(.tellerStillborn)
      return teller.die(.signal(SimulatedTeller.Signal.segmentation))
    }
    teller.begin()
  }

  private func deliver(_ link: Int, _ end: LinkEnd) {
    guard let arrival = network.take(from: link, at: end) else { return }
    if end == .server { return deliver(arrival, toServerOf: link) }
    switch network.peer(of: link) {
    case .teller(let number): tellers[number].hear(arrival)
    case .client(let number): clients[number].hear(arrival, on: link)
    }
  }

  /// What arrives for a process that has ended is lost with it.
  private func deliver(_ arrival: Arrival, toServerOf link: Int) {
    let incarnation = network.incarnation(of: link)
    switch network.peer(of: link) {
    case .teller, .client:
      if let coordinator, coordinator.number == incarnation { coordinator.receive(arrival, on: link) }
    }
  }

  // MARK: - Processes

  private func startCoordinator() {
    guard coordinator == nil else { return }
    coordinators += 1
    statistics.starts += 1
    trace.line(clock.now, "coordinator \(coordinators) starts")
    disk.isFull = fullUntil > clock.now
    do throws(StoreError) {
      var stored = try disk.load(now: clock.moment.wall)
      _ = try disk.beginIncarnation(at: clock.moment.wall)
      if let bug { stored = checker.spoil(stored, as: bug) }
      checker.restarted(with: stored, from: disk)
      let started = SimulatedCoordinator(number: coordinators, stored: stored, world: self)
      coordinator = started
      checker.began(started.core)
      started.open()
      agenda.add(.stockStart, at: clock.now + TimeSpan(nanoseconds: chance.draw(400_000...6_000_000)))
      guard hasVending else { return }
      let late = TimeSpan(nanoseconds: chance.draw(400_000...6_000_000))
      agenda.add(
        .vendingStart, at: clock.now + late + (vending.machines == 0 ? plan.vending.arrival : .zero))
    } catch {
      guard disk.isToBlame(for: error) else {
        return violate(.storeContradiction, "the store cannot be opened: \(error)")
      }
      trace.line(clock.now, "the store cannot be opened now: \(error)")
      disk.processEnded(isDone: false)
      agenda.add(.coordinatorStart, at: clock.now + .milliseconds(chance.draw(2...150)))
    }
  }

  /// A coordinator's process has ended: its connections end, and what it had not committed is gone.
  func coordinatorEnded(_ ended: SimulatedCoordinator, isDone: Bool) {
    trace.line(clock.now, "coordinator \(ended.number) \(isDone ? "has ended" : "is dead")")
    if disk.hasStagedChanges { statistics.note(.commitLost) }
    disk.processEnded(isDone: isDone)
    checker.crashed()
    coordinator = nil
    ended.releases.asker.close()
    orphanStock()
    orphanVending()
    for link in openLinks { endTowardsPeer(link, isCut: !isDone) }
    openLinks.removeAll()
    for number in living where tellers[number].incarnation == ended.number {
      endTowardsPeer(tellers[number].link, isCut: !isDone)
      // The system ends the children of a dead process, those that stand still too.
      agenda.add(
        .tellerSignalled(number, signal: SimulatedTeller.Signal.kill),
        at: clock.now + TimeSpan(nanoseconds: chance.draw(1_000_000...80_000_000)))
    }
    if isDone, isCalm, finale.hasAskedForTheEnd {
      isOver = true
    } else {
      agenda.add(.coordinatorStart, at: clock.now + .milliseconds(chance.draw(2...150)))
    }
  }

  func endTowardsPeer(_ link: Int, isCut: Bool) {
    if isCut, chance.draw(0...1) == 0 {
      statistics.note(.messageLost, network.loseTail(of: link, towards: .peer))
    }
    network.endSending(on: link, to: .peer, at: clock.now, &agenda)
  }

  /// Starts a teller's process.
  func spawn(window: Window, generation: Generation, by parent: SimulatedCoordinator) -> SimulatedTeller {
    let link = network.connect(.teller(tellers.count), incarnation: parent.number)
    let teller = SimulatedTeller(
      number: tellers.count, window: window, generation: generation, link: link, incarnation: parent.number,
      world: self)
    tellers.append(teller)
    living.append(teller.number)
    agenda.add(
      .tellerBegan(teller.number), at: clock.now + TimeSpan(nanoseconds: chance.draw(400_000...3_000_000)))
    return teller
  }

  /// A teller's process has ended.
  func tellerEnded(_ teller: SimulatedTeller) {
    living.removeAll { $0 == teller.number }
    if !isCalm, case .signal = teller.end, chance.draw(0...3) == 0 {
      statistics.note(.messageLost, network.loseTail(of: teller.link, towards: .server))
    }
    network.endSending(on: teller.link, to: .server, at: clock.now, &agenda)
    agenda.add(
      .tellerReaped(teller.number), at: clock.now + TimeSpan(nanoseconds: chance.draw(10_000...400_000)))
  }

  /// A connection from a client; nil where nobody listens.
  func connect(client number: Int) -> Int? {
    guard let coordinator else { return nil }
    let link = network.connect(.client(number), incarnation: coordinator.number)
    openLinks.append(link)
    return link
  }

  /// A client's connection breaks, with what was on its way.
  func cut(_ client: SimulatedClient) {
    guard let link = client.link else { return }
    trace.line(clock.now, "client \(client.number) loses its connection")
    let lost = network.loseTail(of: link, towards: .server) + network.loseTail(of: link, towards: .peer)
    statistics.note(.messageLost, lost)
    network.endSending(on: link, to: .server, at: clock.now, &agenda)
    openLinks.removeAll { $0 == link }
    client.leave()
  }

  // MARK: - The end

  private func calmDown() {
    isCalm = true
    calmSince = clock.now
    trace.line(clock.now, "the faults end")
    fullUntil = clock.now
    failingCommit = nil
    stillborn = 0
    coordinator?.fuse = nil
    disk.isCalm = true
    calmStock()
    calmVending()
    for number in living {
      tellers[number].fuse = nil
      tellers[number].failsNext = false
    }
  }

  /// When every client is content, somebody opens what is closed, and ends the bank.
  private func playFinale() {
    guard coordinator != nil, clients.allSatisfy({ $0.isContent }), isStockContent,
      isVendingContent
    else { return }
    guard clients[0].state == .ready, let wish = finale.next(windows: plan.windows) else { return }
    clients[0].ask(wish)
    if finale.hasAskedForTheEnd, plan.temper != .calm, chance.draw(0...1) == 0 {
      // The last thing that goes wrong: the disk is full while the bank closes.
      statistics.note(.diskFull)
      fullUntil = clock.now + .milliseconds(chance.draw(1...(chance.draw(0...2) == 0 ? 2_000 : 200)))
    }
  }

  /// A promise was not kept. The first one counts.
  func violate(_ kind: Violation.Kind, _ words: @autoclosure () -> String) {
    guard violation == nil else { return }
    let found = Violation(kind: kind, at: clock.now.nanoseconds, words: words())
    trace.line(clock.now, "VIOLATION \(found)")
    violation = found
  }
}
