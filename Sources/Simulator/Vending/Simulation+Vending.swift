// Owns the vending machine's side of the simulated world: its process, its disk, those who use it, and what goes wrong
// there. It must not know a rule of the machine. Invariant: there is at most one machine at a time, a child of the present
// coordinator; it ends with its parent and is started again by it.

import BankModel
import QueueCore
import Storage
import VendingCore

/// The vending machine's side of a simulated world.
struct VendingScene {
  let disk = MemoryVendingStore()
  var machine: SimulatedMachine?
  var machines = 0
  var visitors: [SimulatedVisitor] = []
  /// Connections to the present machine.
  var links: [Int] = []
  /// The disk will be full for so long from the next answer of the stock on.
  var fullAtAnswer: TimeSpan?
  /// The disk is full until then.
  var fullUntil = MonotonicTime(nanoseconds: 0)
  /// The next commit fails: with what was staged on disk, or not.
  var failingCommit: (isKept: Bool, Void)?
  /// So many machines die when they hear that a drink was taken.
  var doomedPurchases = 0
  /// So many stock services die soon after they are asked for a drink.
  var doomedTakes = 0
}

extension Simulation {
  var hasVending: Bool { plan.vending.isThere }
  /// The name of the one machine.
  var machineName: Int64 { Int64(seed >> 2) &+ 1 }
  /// The day that people have.
  var today: DayNumber { clock.moment.wall.milliseconds / 86_400_000 }

  /// Those who buy begin, and whoever fills the machine.
  func inviteVisitors() {
    guard hasVending else { return }
    for number in 0...plan.vending.shoppers {
      vending.visitors.append(
        SimulatedVisitor(
          number: number, seed: seed &* 13 &+ UInt64(number) &+ 7, isManager: number == 0, world: self))
      agenda.add(.visitorActs(number), at: clock.now + .milliseconds(chance.draw(1...60)))
    }
  }

  /// Whether the manager's socket is at the other end of a connection.
  func isManager(at link: Int) -> Bool {
    guard case .visitor(let number) = network.peer(of: link) else { return false }
    return vending.visitors[number].isManager
  }

  // MARK: - The process

  func startVending() {
    guard hasVending, vending.machine == nil, coordinator != nil else { return }
    vending.machines += 1
    if vending.machines == 1, plan.vending.meetsAFullStock {
      // The stock cannot write down that it has heard of the machine's products.
      statistics.note(.stockDiskFull)
      scene.fullUntil = clock.now + .milliseconds(chance.draw(1...300))
    }
    statistics.vendingStarts += 1
    trace.line(clock.now, "vending \(vending.machines) starts")
    do throws(StoreError) {
      let stored = try vending.disk.load(newMachine: machineName)
      checker.vending.restarted(with: stored)
      let machine = SimulatedMachine(number: vending.machines, stored: stored, world: self)
      vending.machine = machine
      machine.open()
    } catch {
      violate(.storeContradiction, "the machine cannot be opened: \(error)")
    }
  }

  /// The machine's process has ended: its connections end, and what it had not committed is gone.
  func vendingEnded(_ ended: SimulatedMachine) {
    trace.line(clock.now, "vending \(ended.number) is dead")
    if vending.disk.hasStagedChanges { statistics.note(.vendingCommitLost) }
    vending.disk.crash()
    checker.vending.forgotten()
    vending.machine = nil
    for link in vending.links { endTowardsPeer(link, isCut: true) }
    vending.links.removeAll()
    agenda.add(.vendingStart, at: clock.now + .milliseconds(chance.draw(2...150)))
  }

  /// The coordinator has ended, and with it its child.
  func orphanVending() {
    guard let machine = vending.machine else { return }
    agenda.add(
      .vendingOrphaned(incarnation: machine.number),
      at: clock.now + TimeSpan(nanoseconds: chance.draw(1_000_000...80_000_000)))
  }

  /// What the machine's disk does with what comes next.
  func meetVendingDisk(isCommit: Bool) {
    guard isCommit else {
      guard vending.fullUntil > clock.now, chance.draw(0...1) == 0 else { return }
      return vending.disk.failStage(with: .diskFull(detail: "no space left"))
    }
    guard vending.disk.hasStagedChanges else { return }
    if let failing = vending.failingCommit {
      vending.failingCommit = nil
      statistics.note(.vendingDiskFailed)
      vending.disk.failCommit(
        with: .failed(path: "vending", detail: "the fsync has failed"), isKept: failing.isKept)
    } else if vending.fullUntil > clock.now {
      vending.disk.failCommit(with: .diskFull(detail: "no space left"))
    }
  }

  // MARK: - Those who use it

  /// A connection to the machine; nil where nobody listens.
  func connect(visitor number: Int) -> Int? {
    guard let machine = vending.machine else { return nil }
    let link = network.connect(.visitor(number), incarnation: machine.number)
    vending.links.append(link)
    return link
  }

  /// The machine is going to ask the stock for a drink.
  func purchaseIsAsked() {
    guard vending.doomedTakes > 0, let service = scene.service else { return }
    vending.doomedTakes -= 1
    statistics.note(.stockKilledInPurchase)
    service.fuse = Int(chance.draw(0...6))
  }

  /// Whether the machine dies now, between what was taken and what is written of it.
  func purchaseMeetsItsEnd() -> Bool {
    guard vending.doomedPurchases > 0 else { return false }
    vending.doomedPurchases -= 1
    statistics.note(.purchaseInterrupted)
    return true
  }

  // MARK: - What goes wrong

  /// Something is wrong with the machine.
  func troubleVending(_ kind: FaultKind) {
    guard hasVending else { return }
    switch kind {
    case .vendingKilled: vending.machine?.fuse = Int(chance.draw(0...12))
    case .vendingSlow:
      guard let machine = vending.machine else { return }
      statistics.note(kind)
      machine.stand(until: clock.now + .milliseconds(chance.draw(1...400)))
    case .vendingDiskFull:
      // What the stock has said is the hardest to lose: often the disk is full just when it says something.
      vending.fullAtAnswer = .milliseconds(chance.draw(1...(chance.draw(0...1) == 0 ? 400 : 2_500)))
      if chance.draw(0...2) == 0 { fillVendingDisk() }
    case .vendingDiskFailed: vending.failingCommit = (chance.draw(0...1) == 0, ())
    case .vendingCut:
      guard let link = anyVisitorsLink() else { return }
      statistics.note(kind)
      cutVending(link)
    case .vendingLate:
      guard let link = anyVisitorsLink() else { return }
      statistics.note(kind)
      network.slow(link, by: chance.draw(100...20_000))
    case .purchaseInterrupted: vending.doomedPurchases = 1
    case .stockKilledInPurchase: vending.doomedTakes = 1
    default: break
    }
  }

  /// The machine's disk is full from now on, where that was to come.
  func fillVendingDisk() {
    guard let span = vending.fullAtAnswer else { return }
    vending.fullAtAnswer = nil
    statistics.note(.vendingDiskFull)
    vending.fullUntil = clock.now + span
  }

  private func anyVisitorsLink() -> Int? {
    guard !vending.links.isEmpty else { return nil }
    return vending.links[Int(chance.draw(0...Int64(vending.links.count) - 1))]
  }

  private func cutVending(_ link: Int) {
    guard case .visitor(let number) = network.peer(of: link) else { return }
    let lost = network.loseTail(of: link, towards: .server) + network.loseTail(of: link, towards: .peer)
    statistics.note(.messageLost, lost)
    vending.links.removeAll { $0 == link }
    network.endSending(on: link, to: .server, at: clock.now, &agenda)
    if vending.visitors[number].link == link { vending.visitors[number].leave() }
  }

  /// The faults end here too.
  func calmVending() {
    vending.fullUntil = clock.now
    vending.fullAtAnswer = nil
    vending.failingCommit = nil
    vending.doomedPurchases = 0
    vending.doomedTakes = 0
    vending.machine?.fuse = nil
    for link in vending.links { network.slow(link, by: 1) }
  }

  /// Whether everything that concerns the machine has come to its end.
  var isVendingContent: Bool {
    guard hasVending else { return true }
    return vending.visitors.allSatisfy(\.isContent) && !vending.disk.hasStagedChanges
      && !checker.vending.hasUnfinished
  }
}
