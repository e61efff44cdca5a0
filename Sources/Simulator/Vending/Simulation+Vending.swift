// The vending machine in the simulated world: its process, its disk, its users, and their faults.
// Invariant: there is at most one machine at a time, a child of the current coordinator. It is killed with
// its parent, and the next coordinator starts it again.
import BankModel
import Glibc
import Storage
import Time
import Wire

/// The machine's process, disk and users in the simulated world, and its planned faults.
struct VendingState {
  let disk = MemoryVendingStore()
  var machine: SimulatedProcess?
  /// Number of machines that were started.
  var machines = 0
  var visitors: [VendingUser] = []
  /// Duration of a full disk that starts at the next answer of the stock; nil if none is planned.
  var fullAfterAnswer: TimeSpan?
  /// Time until which the machine's disk is full.
  var fullUntil = MonotonicTime(nanoseconds: 0)
  /// Duration of the next commit; nil for a usual one.
  var slowCommit: TimeSpan?
  /// If the next commit is to fail: true if the staged changes are on disk nevertheless; nil for no failure.
  var failingCommit: Bool?
  /// Number of machines still to be killed soon after the stock has carried out one of their orders.
  var purchasesToInterrupt = 0
  /// Number of stock services still to be killed soon after a request for a drink was sent to them.
  var stockKillsAtTake = 0
}

extension Simulation {
  var hasVending: Bool { plan.vending.isEnabled }
  /// Number that a new machine gets.
  var machineName: Int64 { Int64(seed >> 2) &+ 1 }
  /// Day of the calendar, counted from 1970.
  var today: DayNumber { clock.moment.wall.milliseconds / 86_400_000 }

  /// Makes the manager and the shoppers, and schedules their first steps.
  func startVendingUsers() {
    guard hasVending else { return }
    for number in 0...plan.vending.shoppers {
      vending.visitors.append(
        VendingUser(
          number: number, seed: seed &* 13 &+ UInt64(number) &+ 7, isManager: number == 0, world: self))
      eventQueue.add(.vendingUserActs(number), at: clock.now + .milliseconds(chance.draw(1...60)))
    }
  }

  /// Returns a closure that creates the program of the machine; nil in a history without one.
  func vendingProgram() -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasVending else { return nil }
    return { [unowned self] process in
      vending.machines += 1
      if vending.machines == 1, plan.vending.startsWithFullStock {
        // The stock cannot store that it has received the machine's products.
        statistics.note(.stockDiskFull)
        stockState.fullUntil = clock.now + .milliseconds(chance.draw(1...300))
      }
      statistics.vendingStarts += 1
      vending.machine = process
      trace.line(clock.now, "vending \(vending.machines) starts")
      if vending.machines == 1, plan.vending.arrival > .zero {
        process.stall(until: clock.now + plan.vending.arrival)
      }
      return try? SupervisedProgram(.vending) { [unowned self] loop, link in
        open("the machine", of: process) {
          let stored = try vending.disk.load(newMachine: machineName)
          checker.vending.restarted(with: stored)
          return try VendingProgram.open(stored, of: process, loop, link, in: self)
        }
      }
    }
  }

  /// Handles the exit of the machine: staged changes are lost.
  func vendingAskedToExit(_ ended: SimulatedProcess) {
    trace.line(clock.now, "vending \(ended.pid) has ended: \(ended.ending.map { "\($0.status)" } ?? "")")
    if ended.callsUntilKill != nil { statistics.note(.vendingKilled) }
    if vending.disk.hasStagedChanges { statistics.note(.vendingCommitLost) }
    vending.disk.crash()
    checker.vending.rolledBack()
    vending.machine = nil
  }

  /// Makes the machine's next commit or staging fail, if that is planned or its disk is full.
  func applyVendingDiskFault(isCommit: Bool) {
    guard isCommit else {
      guard vending.fullUntil > clock.now, chance.draw(0...1) == 0 else { return }
      return vending.disk.failStage(with: .diskFull(detail: "no space left"))
    }
    guard vending.disk.hasStagedChanges else { return }
    if let failing = vending.failingCommit {
      vending.failingCommit = nil
      statistics.note(.vendingDiskFailed)
      vending.disk.failCommit(with: .failed(path: "vending", detail: "the fsync has failed"), isKept: failing)
    } else if vending.fullUntil > clock.now {
      vending.disk.failCommit(with: .diskFull(detail: "no space left"))
    }
  }

  func vendingCommitDuration() -> TimeSpan {
    defer { vending.slowCommit = nil }
    return vending.slowCommit ?? TimeSpan(nanoseconds: chance.draw(10_000...200_000))
  }

  /// Checks a request of the machine to the stock, and kills the stock if that is planned.
  func machineRequestsStock(_ command: StockCommand, as order: OrderID) {
    switch command {
    case .take(_, let day):
      checker.vending.takeRequested(as: order)
      // A request that waited while the stock was unavailable keeps the day on which it was first sent.
      if let day, days.contains(day) { checker.vending.askedOn[order, default: []].append(day) }
      guard vending.stockKillsAtTake > 0, let service = stockState.service else { return }
      vending.stockKillsAtTake -= 1
      statistics.note(.stockKilledInPurchase)
      service.callsUntilKill = Int(chance.draw(0...30))
    case .returnItems: checker.vending.releaseRequested(order)
    default: checker.vending.managerOrderSent(order)
    }
  }

  /// Injects planned faults when the stock answers an order of the machine.
  func stockAnswered(_ order: OrderID, _ result: StockResult) {
    guard let machine = vending.machine, order.text.hasPrefix("v") else { return }
    fillVendingDisk()
    // The order is carried out, and no other process has been notified yet.
    guard case .done = result, vending.purchasesToInterrupt > 0 else { return }
    vending.purchasesToInterrupt -= 1
    statistics.note(.purchaseInterrupted)
    machine.callsUntilKill = Int(chance.draw(0...12))
  }

  /// Injects a fault of this kind into the machine, its disk or a connection, or plans one for a purchase.
  func injectVendingFault(_ kind: FaultKind) {
    guard hasVending else { return }
    switch kind {
    case .vendingKilled: vending.machine?.callsUntilKill = Int(chance.draw(0...60))
    case .vendingSlow:
      hit(vending.machine, kind) { $0.stall(until: clock.now + .milliseconds(chance.draw(1...400))) }
    case .vendingStuck: hit(vending.machine, kind) { $0.hangForever() }
    case .vendingDiskFull:
      // Losing the stock's answer is the hardest case: fill the disk when that answer arrives, or sometimes now.
      vending.fullAfterAnswer = .milliseconds(chance.draw(1...(chance.draw(0...1) == 0 ? 400 : 2_500)))
      if chance.draw(0...2) == 0 { fillVendingDisk() }
    case .vendingDiskFailed: vending.failingCommit = chance.draw(0...1) == 0
    case .vendingConnectionLost: hit(someStream(of: vending.machine), kind) { cut($0) }
    case .vendingLate: hit(someStream(of: vending.machine), kind) { $0.slow(by: chance.draw(100...20_000)) }
    case .vendingCommitSlow:
      statistics.note(kind)
      vending.slowCommit = slowCommitDuration()
    case .vendingOutOfDescriptors: hit(vending.machine, kind) { exhaustDescriptors($0) }
    case .vendingAskedToExit: hit(vending.machine, kind) { $0.handle(signal: SIGTERM) }
    case .purchaseInterrupted: vending.purchasesToInterrupt = 1
    case .stockKilledInPurchase: vending.stockKillsAtTake = 1
    default: break
    }
  }

  /// Fills the machine's disk if that is planned.
  func fillVendingDisk() {
    guard let span = vending.fullAfterAnswer else { return }
    vending.fullAfterAnswer = nil
    statistics.note(.vendingDiskFull)
    vending.fullUntil = clock.now + span
  }

  /// Ends the faults of the machine except stalls, and cancels the planned ones.
  func endVendingFaults() {
    vending.fullUntil = clock.now
    (vending.fullAfterAnswer, vending.failingCommit, vending.slowCommit) = (nil, nil, nil)
    (vending.purchasesToInterrupt, vending.stockKillsAtTake) = (0, 0)
    vending.machine?.callsUntilKill = nil
    for stream in vending.machine?.streams ?? [] { stream.slow(by: 1) }
  }

  /// True if the machine has nothing left to do: every purchase has ended, and every user has its answers.
  var isVendingSatisfied: Bool {
    guard hasVending else { return true }
    return vending.visitors.allSatisfy(\.isSatisfied) && !vending.disk.hasStagedChanges
      && !checker.vending.hasUnfinished
  }
}
