// Random histories of several branches with one shared database. A failure prints its seed;
// `BANK_QUEUE_SEED=N scripts/test BranchHistoryTests` repeats it.

import BankModel
import Glibc
import QueueCore
import Testing
import Time

extension BranchHarness {
  private func anyBranch() -> Branch { branches[Int(chance.draw(0...Int64(branches.count - 1)))] }

  func step() {
    now.monotonic = now.monotonic + .milliseconds(chance.draw(1...50))
    now.listeningTime = now.monotonic
    switch chance.draw(0...99) {
    case 0..<10: enqueue()
    case 10..<30: arrive(from: anyBranch())
    case 30..<50: handle(anyBranch())
    case 50..<60: submitTransaction(anyBranch())
    case 60..<80: tellerSendsMessage(anyBranch())
    case 80..<86: tellerComes(anyBranch())
    case 86..<88: tellerExits(anyBranch())
    case 88..<90: cancelRandomCustomer(anyBranch())
    case 90..<94: poll()
    case 94: fence(anyBranch())
    case 95: if chance.draw(0...2) == 0 { kill(Int(chance.draw(0...Int64(branches.count - 1)))) }
    case 96: ledger.callDelayed()
    case 97: if chance.draw(0...3) == 0 { ledger.requeueDead() }
    default: break
    }
  }

  private func enqueue() {
    let orders = (0..<chance.draw(1...6)).map { _ in
      CustomerOrder(
        service: chance.draw(0...1) == 0 ? .deposit : .loan,
        priority: Priority.grades[Int(chance.draw(0...2))],
        amount: chance.draw(1...1_000), account: 1)
    }
    ledger.enqueueCustomers(orders, at: now.wall)
    if chance.draw(0...1) == 0 { poll() }
  }

  private func tellerComes(_ branch: Branch) {
    let windows = [Service.deposit, .loan].flatMap { service in
      (1...2).map { Window(service: service, place: $0) }
    }.filter { branch.machine.numbers(of: $0)?.isReady == false }
    guard !windows.isEmpty else { return }
    let window = windows[Int(chance.draw(0...Int64(windows.count - 1)))]
    let generation = (branch.generations[window] ?? 0) + 1
    branch.generations[window] = generation
    branch.tellers[window] = []
    process(.tellerReady(window, generation, pid: 7), at: branch)
  }

  private func tellerSendsMessage(_ branch: Branch) {
    let busy = branch.tellers.filter { !$0.value.isEmpty }.keys.sorted()
    guard !busy.isEmpty else { return }
    let window = busy[Int(chance.draw(0...Int64(busy.count - 1)))]
    guard let lease = branch.tellers[window]?.removeFirst() else { return }
    let answer: TellerAnswer =
      switch chance.draw(0...9) {
      case 0: .failed(WorkFailure("no", .again))
      case 1: .failed(WorkFailure("not now", .later))
      default: .done
      }
    process(.tellerAnswered(window, lease.generation, lease, answer), at: branch)
  }

  private func tellerExits(_ branch: Branch) {
    guard let window = branch.tellers.keys.sorted().first, let generation = branch.generations[window]
    else { return }
    branch.tellers[window] = nil
    process(.tellerLost(window, generation, .signal(9)), at: branch)
  }

  /// A branch that has lost nothing counts the same customers as its own as the database does.
  func compareCounts() {
    for branch in branches where branch.owner.epoch == 1 {
      let served = ledger.receipts.values.count { $0.by == branch.owner && $0.receipt.outcome == .served }
      if branch.machine.dayCounters.served != Int64(served) {
        fault(
          "\(branch.owner) counts \(branch.machine.dayCounters.served) served, and the database \(served)")
      }
    }
  }

  /// No more faults from here on, until no customer is left.
  func settle() {
    for _ in 0..<20_000 {
      if ledger.entries.isEmpty,
        branches.allSatisfy({ !$0.machine.hasUncommittedChanges && $0.staged.isEmpty })
      {
        return
      }
      ledger.callDelayed()
      ledger.requeueDead()
      poll()
      for branch in branches {
        tellerComes(branch)
        for window in branch.tellers.keys.sorted() {
          guard let lease = branch.tellers[window]?.first else { continue }
          branch.tellers[window]?.removeFirst()
          process(.tellerAnswered(window, lease.generation, lease, .done), at: branch)
        }
        submitTransaction(branch)
        while !branch.toStore.isEmpty { arrive(from: branch) }
        while !branch.fromStore.isEmpty { handle(branch) }
      }
    }
    fault("a customer is never served: \(ledger.entries.values.prefix(3))")
  }
}

@Suite struct BranchHistoryTests {
  private static func run(_ seed: UInt64, bug: ModelBug? = nil) -> BranchHarness {
    let world = BranchHarness(seed: seed, bug: bug)
    for _ in 0..<600 where world.allFaults.isEmpty { world.step() }
    if world.allFaults.isEmpty { world.settle() }
    for ticket in 1...max(1, world.ledger.issued) where world.ledger.issued > 0 && world.allFaults.isEmpty {
      if world.ledger.receipts[ticket] == nil { world.fault("ticket \(ticket) has no receipt") }
    }
    if world.allFaults.isEmpty { world.compareCounts() }
    return world
  }

  private static var seeds: [UInt64] {
    if let text = getenv("BANK_QUEUE_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
    return Array(1...300)
  }

  @Test("each ticket is finished once, by the branch that has the customer, whatever is lost")
  func histories() {
    var counts: [String: Int] = [:]
    for seed in Self.seeds {
      let world = Self.run(seed)
      #expect(world.allFaults.isEmpty, "BANK_QUEUE_SEED=\(seed): \(world.allFaults.prefix(3))")
      counts.merge(world.counts) { $0 + $1 }
    }
    guard Self.seeds.count > 1 else { return }
    for kind in ["assigned", "fenced", "killed", "of a zombie", "without effect", "cancelled"] {
      #expect(counts[kind, default: 0] > 50, "\(kind): \(counts)")
    }
  }

  @Test("wrong records in the database are found", arguments: ModelBug.allCases)
  func plantedBugs(_ bug: ModelBug) {
    let found = (1...300 as ClosedRange<UInt64>).first { !Self.run($0, bug: bug).allFaults.isEmpty }
    #expect(found != nil, "\(bug) is not found in 300 histories")
  }
}
