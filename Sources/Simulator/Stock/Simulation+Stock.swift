// The stock in the simulated world: its service, its disk, its clients, and their faults.
// Invariant: there is at most one service at a time, a child of the current coordinator. It is killed with
// its parent, and the next coordinator starts it again.
import BankModel
import Glibc
import Posix
import Storage
import Time
import Transport
import Wire

/// The stock's process, disk and clients in the simulated world, and its planned faults.
struct StockState {
  let disk = MemoryStockStore()
  var service: SimulatedProcess?
  /// Number of services that were started.
  var services = 0
  /// Clients that change the stock, and clients that subscribe to it.
  var keepers: [StockOperator] = []
  var viewers: [StockSubscriber] = []
  /// Time until which the stock's disk is full.
  var fullUntil = MonotonicTime(nanoseconds: 0)
  /// Duration of the next commit; nil for a usual one.
  var slowCommit: TimeSpan?
  /// Duration of the next audit; nil for a usual one.
  var longAudit: TimeSpan?
  /// If the next commit is to fail: true if the staged changes are on disk nevertheless; nil for no failure.
  var failingCommit: Bool?
  /// Number of stations still to be killed when they receive the report that their fruit was taken.
  var stationsToKill = 0
  /// Number of stations still to be recalled after they request their fruit.
  var recalls = 0
  /// Number of coordinators still to fail when the stock answers them that fruit was returned.
  var releasesToInterrupt = 0
}

extension Simulation {
  var stockDisk: MemoryStockStore { stockState.disk }
  /// Number of the ledger that a new stock gets.
  var stockLedger: Int64 { Int64(seed >> 1) }
  var hasStock: Bool { plan.stock.isEnabled }

  /// Makes the subscribers and the operators of the stock, and schedules their first steps.
  func startStockOperators() {
    guard hasStock else { return }
    for number in 0..<plan.stock.viewers {
      stockState.viewers.append(StockSubscriber(number: number, world: self))
    }
    for number in 0..<plan.stock.keepers {
      stockState.keepers.append(
        StockOperator(
          number: number, seed: seed &* 11 &+ UInt64(number) &+ 5, changes: plan.stock.changes, world: self))
      eventQueue.add(
        .stockOperatorActs(number), at: clock.now + .milliseconds(plan.duration.milliseconds / 10 + 1))
    }
  }

  /// Returns a closure that creates the program of the stock service; nil in a history without a stock.
  func stockProgram() -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasStock else { return nil }
    return { [unowned self] process in
      stockState.services += 1
      statistics.stockStarts += 1
      stockState.service = process
      trace.line(clock.now, "stock \(stockState.services) starts")
      return try? SupervisedProgram(.stock) { [unowned self] loop, link in
        open("the stock", of: process) {
          let stored = try stockDisk.load(newLedger: stockLedger)
          checker.stock.checkShelves(stored.items)
          return try StockProgram.open(stored, of: process, loop, link, in: self)
        }
      }
    }
  }

  /// Opens a service. Returns nil if that has failed.
  func open(
    _ name: String, of process: SimulatedProcess, _ body: () throws -> any SimulatedProgram
  ) -> (any SimulatedProgram)? {
    do { return try body() } catch {
      // A process killed while it opens has no descriptors any more.
      if !process.isMarkedForTermination, (error as? SystemError)?.isShortage != true {
        violate(.storeContradiction, "\(name) cannot be opened: \(error)")
      }
      return nil
    }
  }

  /// Handles the exit of the stock service: staged changes are lost.
  func stockAskedToExit(_ ended: SimulatedProcess) {
    trace.line(clock.now, "stock \(ended.pid) has ended: \(ended.ending.map { "\($0.status)" } ?? "")")
    if ended.callsUntilKill != nil { statistics.note(.stockKilled) }
    if stockDisk.hasStagedChanges { statistics.note(.stockCommitLost) }
    stockDisk.crash()
    checker.stock.rolledBack()
    stockState.service = nil
  }

  /// Makes the commit of the stock fail, if that is planned or its disk is full.
  func applyStockDiskFault() {
    guard stockDisk.hasStagedChanges else { return }
    if let failing = stockState.failingCommit {
      stockState.failingCommit = nil
      statistics.note(.stockDiskFailed)
      stockDisk.failCommit(with: .failed(path: "stock", detail: "the fsync has failed"), isKept: failing)
    } else if stockState.fullUntil > clock.now {
      stockDisk.failCommit(with: .diskFull(detail: "no space left"))
    }
  }

  func stockCommitDuration() -> TimeSpan {
    defer { stockState.slowCommit = nil }
    return stockState.slowCommit ?? plan.stock.gather + TimeSpan(nanoseconds: chance.draw(10_000...200_000))
  }

  func stockAuditDuration() -> TimeSpan {
    guard let span = stockState.longAudit else { return TimeSpan(nanoseconds: chance.draw(20_000...400_000)) }
    stockState.longAudit = nil
    statistics.note(.stockAuditLong)
    return span
  }

  func newStockClient() -> ServiceClientHost<StockCommand> {
    ServiceClientHost(socket: StockProgram.home.socket, world: self)
  }

  /// Kills the station if a kill is planned: after its fruit was taken, and before the station has reported that.
  /// Returns true if it was killed.
  func killPlannedStation(_ station: SimulatedProcess) -> Bool {
    guard stockState.stationsToKill > 0 else { return false }
    stockState.stationsToKill -= 1
    statistics.note(.stationKilled)
    station.kill()
    return true
  }

  /// If planned, kills the coordinator when the stock confirms a return to it, or fills the coordinator's disk.
  func releaseAnswered() {
    guard stockState.releasesToInterrupt > 0, coordinator != nil else { return }
    stockState.releasesToInterrupt -= 1
    statistics.note(.releaseInterrupted)
    guard chance.draw(0...1) == 0 else { return eventQueue.add(.coordinatorKillDue, at: clock.now) }
    statistics.note(.diskFull)
    fullUntil = clock.now + .milliseconds(chance.draw(1...700))
  }

  /// If planned, stalls the stock when a station requests its fruit, and lets a client empty the queue and order juice
  /// before the stock answers.
  func stationRequestsFruit() {
    guard stockState.recalls > 0, let service = stockState.service else { return }
    stockState.recalls -= 1
    statistics.note(.stationRecalled)
    let lease = plan.policy.lease.nanoseconds
    service.stall(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 8...lease / 2)))
    for client in clients where client.state == .ready {
      return eventQueue.add(.clientSendsFaultRequests(client.number), at: clock.now)
    }
  }

  /// Injects a fault of this kind into the stock, its disk, a connection or a client.
  func injectStockFault(_ kind: FaultKind) {
    guard hasStock else { return }
    switch kind {
    case .stockKilled: stockState.service?.callsUntilKill = Int(chance.draw(0...60))
    case .stockSlow:
      let lease = plan.policy.lease.nanoseconds
      hit(stockState.service, kind) {
        $0.stall(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 8...lease * 2)))
      }
    case .stockStuck: hit(stockState.service, kind) { $0.hangForever() }
    case .stockAuditLong:
      stockState.longAudit = .seconds(chance.draw(31...45))
      if chance.draw(0...2) == 0 { stockState.keepers.first?.mustAudit = true }
    case .stockDiskFull:
      statistics.note(kind)
      stockState.fullUntil =
        clock.now + .milliseconds(chance.draw(1...(chance.draw(0...2) == 0 ? 4_000 : 700)))
    case .stockDiskFailed: stockState.failingCommit = chance.draw(0...1) == 0
    case .stockConnectionLost: hit(someStream(of: stockState.service), kind) { cut($0) }
    case .stockLate: hit(someStream(of: stockState.service), kind) { $0.slow(by: chance.draw(100...20_000)) }
    case .stockCommitSlow:
      statistics.note(kind)
      stockState.slowCommit = slowCommitDuration()
    case .stockOutOfDescriptors: hit(stockState.service, kind) { exhaustDescriptors($0) }
    case .stockSubscriberStoppedReading:
      hit(stockState.viewers.first, kind) {
        $0.stop()
        eventQueue.add(
          .descriptorsRestored(pid: $0.pid), at: clock.now + .milliseconds(chance.draw(1...3_000)))
      }
    case .stockAskedToExit: hit(stockState.service, kind) { $0.handle(signal: SIGTERM) }
    case .stationKilled: stockState.stationsToKill = 1
    case .stationRecalled: stockState.recalls = 1
    case .releaseInterrupted: stockState.releasesToInterrupt = 1
    default: break
    }
  }

  /// Leaves a process without a free descriptor for a while, even for a client that reconnects.
  func exhaustDescriptors(_ process: SimulatedProcess) {
    process.exhaustDescriptors(byAtMost: 4)
    if let stream = process.connections.first, chance.draw(0...1) == 0 { cut(stream) }
    eventQueue.add(
      .descriptorsRestored(pid: process.pid), at: clock.now + .milliseconds(chance.draw(1...400)))
  }

  /// Limits on what a service stores for a client that does not read; small if the sockets are small.
  var clientLimits: ServiceLimits {
    var limits = ServiceLimits()
    if host.streamCapacity < 200_000 { (limits.requestBacklogLimit, limits.openRequests) = (300, 4) }
    return limits
  }

  /// Draws a connection of a process; nil if it has none.
  func someStream(of process: SimulatedProcess?) -> StreamEnd? { some(of: process?.connections ?? []) }

  /// Draws one of the elements; nil if there are none.
  func some<Element>(of elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(chance.draw(0...Int64(elements.count) - 1))]
  }

  /// Breaks a connection, and counts the lost chunks.
  func cut(_ stream: StreamEnd) {
    statistics.note(.messageLost, stream.breakConnection(at: clock.now, on: host))
  }

  /// Injects a fault into a target and counts it, if the target exists.
  func hit<Victim>(_ victim: Victim?, _ kind: FaultKind, _ body: (Victim) -> Void) {
    guard let victim else { return }
    statistics.note(kind)
    body(victim)
  }

  /// Ends the faults of the stock except stalls, and cancels the planned ones.
  func endStockFaults() {
    stockState.fullUntil = clock.now
    (stockState.failingCommit, stockState.slowCommit, stockState.longAudit) = (nil, nil, nil)
    (stockState.stationsToKill, stockState.releasesToInterrupt, stockState.recalls) = (0, 0, 0)
    stockState.service?.callsUntilKill = nil
    for stream in stockState.service?.streams ?? [] { stream.slow(by: 1) }
  }

  /// True if the reservations of all cancelled customers are released, every operator has its answers, and every
  /// subscriber has the last change; also true without a stock.
  var isStockSatisfied: Bool {
    guard hasStock else { return true }
    let left = (try? disk.unreleased(after: nil, limit: 1)) ?? []
    let last = checker.stock.rows.count
    return left.isEmpty && !disk.hasStagedChanges && stockState.keepers.allSatisfy(\.isSatisfied)
      && stockState.viewers.allSatisfy { $0.seen == last }
  }
}
