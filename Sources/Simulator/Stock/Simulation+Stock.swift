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

struct StockScene {
  let disk = MemoryStockStore()
  var service: SimulatedProcess?
  var services = 0
  var keepers: [SimulatedKeeper] = []
  var viewers: [SimulatedViewer] = []
  var fullUntil = MonotonicTime(nanoseconds: 0)
  var slowCommit: TimeSpan?
  var longAudit: TimeSpan?
  /// The next commit fails: true if the staged changes are on disk nevertheless.
  var failingCommit: Bool?
  /// Number of stations still to be killed right after they receive the report that their fruit was taken.
  var doomedStations = 0
  /// Number of stations still to be recalled right after they request their fruit.
  var recalls = 0
  /// Number of coordinators still to fail when the stock answers them that fruit was returned.
  var doomedReleases = 0
}

extension Simulation {
  var stockDisk: MemoryStockStore { scene.disk }
  var stockLedger: Int64 { Int64(seed >> 1) }
  var hasStock: Bool { plan.stock.isThere }

  func hireKeepers() {
    guard hasStock else { return }
    for number in 0..<plan.stock.viewers {
      scene.viewers.append(SimulatedViewer(number: number, world: self))
    }
    for number in 0..<plan.stock.keepers {
      scene.keepers.append(
        SimulatedKeeper(
          number: number, seed: seed &* 11 &+ UInt64(number) &+ 5, changes: plan.stock.changes, world: self))
      agenda.add(.keeperActs(number), at: clock.now + .milliseconds(plan.duration.milliseconds / 10 + 1))
    }
  }

  func stockProgram() -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasStock else { return nil }
    return { [unowned self] process in
      scene.services += 1
      statistics.stockStarts += 1
      scene.service = process
      trace.line(clock.now, "stock \(scene.services) starts")
      return try? SupervisedProgram(.stock) { [unowned self] loop, link in
        open("the stock", of: process) {
          let stored = try stockDisk.load(newLedger: stockLedger)
          checker.stock.checkShelves(stored.items)
          return try StockProgram.open(stored, of: process, loop, link, in: self)
        }
      }
    }
  }

  /// Opens a service. Returns nil if that has failed; the service then exits and is started again.
  func open(
    _ name: String, of process: SimulatedProcess, _ body: () throws -> any SimulatedProgram
  ) -> (any SimulatedProgram)? {
    do { return try body() } catch {
      // A process killed while it opens has no descriptors any more.
      if !process.isDoomed, (error as? SystemError)?.isShortage != true {
        violate(.storeContradiction, "\(name) cannot be opened: \(error)")
      }
      return nil
    }
  }

  func stockEnded(_ ended: SimulatedProcess) {
    trace.line(clock.now, "stock \(ended.pid) has ended: \(ended.ending.map { "\($0.status)" } ?? "")")
    if ended.fuse != nil { statistics.note(.stockKilled) }
    if stockDisk.hasStagedChanges { statistics.note(.stockCommitLost) }
    stockDisk.crash()
    checker.stock.forgotten()
    scene.service = nil
  }

  func meetStockDisk() {
    guard stockDisk.hasStagedChanges else { return }
    if let failing = scene.failingCommit {
      scene.failingCommit = nil
      statistics.note(.stockDiskFailed)
      stockDisk.failCommit(with: .failed(path: "stock", detail: "the fsync has failed"), isKept: failing)
    } else if scene.fullUntil > clock.now {
      stockDisk.failCommit(with: .diskFull(detail: "no space left"))
    }
  }

  func timeOfStockCommit() -> TimeSpan {
    defer { scene.slowCommit = nil }
    return scene.slowCommit ?? plan.stock.gather + TimeSpan(nanoseconds: chance.draw(10_000...200_000))
  }

  func timeOfStockAudit() -> TimeSpan {
    guard let span = scene.longAudit else { return TimeSpan(nanoseconds: chance.draw(20_000...400_000)) }
    scene.longAudit = nil
    statistics.note(.stockAuditLong)
    return span
  }

  func newAsker() -> SimulatedAsker<StockCommand> {
    SimulatedAsker(socket: StockProgram.home.socket, world: self)
  }

  /// Kills the station if a kill is planned: after its fruit was taken, and before the station has reported that.
  /// Returns true if it was killed.
  func stationMeetsItsEnd(_ station: SimulatedProcess) -> Bool {
    guard scene.doomedStations > 0 else { return false }
    scene.doomedStations -= 1
    statistics.note(.stationKilled)
    station.kill()
    return true
  }

  /// Called when the stock has confirmed a return that the coordinator has not recorded. Sometimes kills the
  /// coordinator at this moment, or fills its disk.
  func releaseIsAnswered() {
    guard scene.doomedReleases > 0, coordinator != nil else { return }
    scene.doomedReleases -= 1
    statistics.note(.releaseInterrupted)
    guard chance.draw(0...1) == 0 else { return agenda.add(.coordinatorEnds, at: clock.now) }
    statistics.note(.diskFull)
    fullUntil = clock.now + .milliseconds(chance.draw(1...700))
  }

  /// A station requests its fruit. Sometimes its customer is cancelled before the stock answers, and the next customer
  /// is assigned.
  func stationAsks() {
    guard scene.recalls > 0, let service = scene.service else { return }
    scene.recalls -= 1
    statistics.note(.stationRecalled)
    let lease = plan.policy.lease.nanoseconds
    service.stand(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 8...lease / 2)))
    for client in clients where client.state == .ready {
      return agenda.add(.clientMeddles(client.number), at: clock.now)
    }
  }

  func troubleStock(_ kind: FaultKind) {
    guard hasStock else { return }
    switch kind {
    case .stockKilled: scene.service?.fuse = Int(chance.draw(0...60))
    case .stockSlow:
      let lease = plan.policy.lease.nanoseconds
      hit(scene.service, kind) {
        $0.stand(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 8...lease * 2)))
      }
    case .stockStuck: hit(scene.service, kind) { $0.getStuck() }
    case .stockAuditLong:
      scene.longAudit = .seconds(chance.draw(31...45))
      if chance.draw(0...2) == 0 { scene.keepers.first?.isToCount = true }
    case .stockDiskFull:
      statistics.note(kind)
      scene.fullUntil = clock.now + .milliseconds(chance.draw(1...(chance.draw(0...2) == 0 ? 4_000 : 700)))
    case .stockDiskFailed: scene.failingCommit = chance.draw(0...1) == 0
    case .stockCut: hit(someStream(of: scene.service), kind) { cut($0) }
    case .stockLate: hit(someStream(of: scene.service), kind) { $0.slow(by: chance.draw(100...20_000)) }
    case .stockCommitSlow:
      statistics.note(kind)
      scene.slowCommit = timeOfSlowCommit()
    case .stockCrowded: hit(scene.service, kind) { starve($0) }
    case .stockReaderDeaf:
      hit(scene.viewers.first, kind) {
        $0.stop()
        agenda.add(.relief(pid: $0.pid), at: clock.now + .milliseconds(chance.draw(1...3_000)))
      }
    case .stockEnded: hit(scene.service, kind) { $0.hear(signal: SIGTERM) }
    case .stationKilled: scene.doomedStations = 1
    case .stationRecalled: scene.recalls = 1
    case .releaseInterrupted: scene.doomedReleases = 1
    default: break
    }
  }

  /// Leaves a process without a free descriptor for a while, even for a client that reconnects.
  func starve(_ process: SimulatedProcess) {
    process.starve(byAtMost: 4)
    if let stream = process.connections.first, chance.draw(0...1) == 0 { cut(stream) }
    agenda.add(.relief(pid: process.pid), at: clock.now + .milliseconds(chance.draw(1...400)))
  }

  /// Limits on what a service stores for a client that does not read; small if the sockets are small.
  var clientLimits: ServiceLimits {
    var limits = ServiceLimits()
    if host.streamCapacity < 200_000 { (limits.heardWhileUnread, limits.openRequests) = (300, 4) }
    return limits
  }

  func someStream(of process: SimulatedProcess?) -> StreamEnd? { some(of: process?.connections ?? []) }

  func some<Element>(of elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(chance.draw(0...Int64(elements.count) - 1))]
  }

  func cut(_ stream: StreamEnd) { statistics.note(.messageLost, stream.breakOff(at: clock.now, on: host)) }

  /// Injects a fault into a target and counts it, if the target exists.
  func hit<Victim>(_ victim: Victim?, _ kind: FaultKind, _ body: (Victim) -> Void) {
    guard let victim else { return }
    statistics.note(kind)
    body(victim)
  }

  func calmStock() {
    scene.fullUntil = clock.now
    (scene.failingCommit, scene.slowCommit, scene.longAudit) = (nil, nil, nil)
    (scene.doomedStations, scene.doomedReleases, scene.recalls) = (0, 0, 0)
    scene.service?.fuse = nil
    for stream in scene.service?.streams ?? [] { stream.slow(by: 1) }
  }

  var isStockContent: Bool {
    guard hasStock else { return true }
    let left = (try? disk.unreleased(after: nil, limit: 1)) ?? []
    let last = checker.stock.rows.count
    return left.isEmpty && !disk.hasStagedChanges && scene.keepers.allSatisfy(\.isContent)
      && scene.viewers.allSatisfy { $0.seen == last }
  }
}
