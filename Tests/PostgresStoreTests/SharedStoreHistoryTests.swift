// Three branches of a shared database through a random day: customers of every kind, failing attempts, dead
// letters, operators, cut connections, and branches that are fenced and join again. At any time the counts
// match the rows, each branch knows what it did, and every ticket has one end.
import BankModel
import Glibc
import Posix
import PosixFixture
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("A random day of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct SharedStoreHistoryTests {
  @Test("The counts match the rows, and nothing is lost or done twice")
  func history() throws {
    let seed = Environment.value("BANK_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print("seed \(seed); repeat with: BANK_SEED=\(seed) scripts/test SharedHistoryTests")
    var chance = SeededGenerator(seed: seed)
    let stage = try SharedStoreFixture()
    for number in 0..<3 { _ = try stage.open("branch-\(number)") }
    let branches = stage.branches
    for branch in branches { branch.pageSize = Int(chance.draw(1...12)) }
    let lines = [SharedStoreFixture.deposits, SharedStoreFixture.loans]
    var issued: Int64 = 0
    var ended = 0
    for _ in 0..<250 {
      // Events that came during the look at the database are handled before all else, as in a coordinator.
      for branch in branches { branch.finishIteration() }
      let branch = branches[Int(chance.draw(0...2))]
      let line = lines[Int(chance.draw(0...1))]
      switch chance.draw(0...19) {
      case 0...2:
        let count = Int(chance.draw(1...15))
        let due =
          chance.draw(0...4) == 0 ? WallTime(milliseconds: SystemClock.wall().milliseconds + 200) : nil
        branch.store.enqueueCustomers(stage.request(), SharedStoreFixture.customers(count, line, dueAt: due))
        issued += Int64(count)
      case 3...8: if branch.opening != nil { branch.claim(line) }
      case 9...11: branch.serve()
      case 12...14: fail(branch, &chance)
      case 15: branch.store.cancel(stage.request(), chance.draw(1...max(1, issued)))
      case 16: branch.store.requeueDead(stage.request(), limit: 3)
      case 17:
        if branch.inFlight.count > 1, let last = branch.inFlight.last {
          let given = branch.inFlight.filter { $0.customer.line == last.customer.line }
          branch.inFlight.removeAll { $0.customer.line == last.customer.line }
          branch.store.returnClaimed(last.customer.line, given.map(\.customer.ticket))
        }
      case 18:
        let backend = branch.store.backends[Int(chance.draw(0...2))]
        if backend > 1, kill(backend, SIGTERM) == 0 { ended += 1 }
      default:
        try stage.stage.client.run(
          "UPDATE bank.branch SET lease_expires_at = '-infinity' WHERE name = '\(branch.name)'")
      }
      let pause = SystemClock.monotonic() + .milliseconds(Int64(chance.draw(0...12)))
      try stage.runLoop { SystemClock.monotonic() >= pause }
      try stage.check()
    }
    // The rest of the day is quiet.
    for branch in branches {
      branch.servesImmediately = true
      branch.pageSize = 50
      for line in lines where branch.opening != nil { branch.claim(line) }
    }
    try stage.runLoop(within: .seconds(40)) {
      let left = try stage.number("SELECT count(*) FROM bank.customer WHERE position >> 60 < 3")
      return left == 0 && branches.allSatisfy { $0.isSettled && $0.opening != nil }
    }
    try stage.check()
    #expect(
      try stage.number("SELECT coalesce(sum(last - first + 1), 0)::bigint FROM bank.ticket_batch") == issued)
    let done = branches.flatMap(\.done)
    #expect(Set(done).count == done.count, "seed \(seed): a ticket was served twice")
    let served = try stage.number("SELECT count(*) FROM bank.receipt WHERE outcome = 1")
    let unreported = served == Int64(done.count) ? [] : try unreported(stage, Set(done))
    #expect(
      served == Int64(done.count),
      "seed \(seed): a branch does not know what it did: \(unreported)")
    try stage.runLoop {
      branches.allSatisfy { $0.numbers?.all.served == served && $0.numbers?.issued == issued }
    }
    #expect(branches.allSatisfy { $0.transactionsLost.isEmpty && $0.refusals.isEmpty }, "seed \(seed)")
    print(
      "\(issued) issued, \(done.count) served, \(ended) connections ended, \(branches.map(\.losses.count)) lost epochs"
    )
  }

  /// The receipts that were not reported, their branches, and what these were sent instead.
  private func unreported(_ stage: SharedStoreFixture, _ done: Set<TicketNumber>) throws -> [String] {
    let rows = try stage.stage.client.rows(
      .once(
        "SELECT ticket, name, r.epoch, commit_no FROM bank.receipt r JOIN bank.branch b ON b.id = branch WHERE outcome = 1"
      ))[0]
    return (0..<rows.count).compactMap { row in
      guard let ticket = rows.integer(row, 0), !done.contains(ticket) else { return nil }
      let branch = stage.branches.first { $0.name == rows.text(row, 1) }
      let received =
        branch?.dropped.contains(ticket) == true
        ? "dropped" : branch?.rejectedCompletions.contains(ticket) == true ? "without effect" : "nothing"
      return
        "ticket \(ticket) of \(rows.text(row, 1) ?? ""), epoch \(rows.integer(row, 2) ?? 0), commit \(rows.integer(row, 3) ?? 0): \(received), losses \(branch?.losses ?? [])"
    }
  }

  /// A claimed customer is delayed or becomes a dead letter, or is only counted.
  private func fail(_ branch: TestBranch, _ chance: inout SeededGenerator) {
    guard let one = branch.inFlight.popLast() else { return }
    var customer = one.customer
    customer.attempts += 1
    customer.failures += 1
    branch.store.stage(
      .record(
        Attempt(
          day: 1, ticket: customer.ticket, number: customer.attempts,
          window: Window(service: customer.service, place: 1),
          generation: 1, pid: 9, startedAt: WallTime(milliseconds: 1), endedAt: WallTime(milliseconds: 2),
          end: .failed,
          processEnd: nil)))
    switch chance.draw(0...2) {
    case 0: branch.store.stage(.bury(customer))
    case 1:
      let due = SystemClock.wall().milliseconds + Int64(chance.draw(0...300))
      branch.store.stage(.postpone(customer, dueAt: WallTime(milliseconds: due)))
    default:
      branch.store.stage(.update(customer))
      branch.inFlight.append(CustomerWithPayload(customer: customer))
    }
    branch.hand(over: [])
  }
}
