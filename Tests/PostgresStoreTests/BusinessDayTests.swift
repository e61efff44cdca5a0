// An operator's requests for the whole bank beside all other work of branches: a late drain, a day that could
// not be ended, pages claimed or returned during a reset, and a cancellation repeated after an unknown
// outcome.
import BankModel
import Posix
import PosixFixture
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Operators of a shared bank", .enabled(if: PostgresCluster.isInstalled))
struct BusinessDayTests {
  @Test(
    "A drain with unknown outcome, repeated after its day has ended, drains no other day"
  )
  func lateDrain() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    #expect(try stage.ask(one) { $0.drainDay($1) } == .done)
    #expect(try stage.ask(one) { $0.endDay($1) } == .done)
    let branch = try #require(one.opening?.branch)
    let again = StoreOperations.drain(1)(branch, 0, StoreRequestQueue.EarlierAttempts())
    guard case .answer(.done) = try stage.stage.ask(stage.stage.client, again) else {
      Issue.record("it is refused")
      return
    }
    #expect(try stage.number("SELECT count(*) FROM bank.day WHERE draining") == 0)
    #expect(try stage.enqueue(one, 1).new == [IssuedTickets(day: 2, first: 1, last: 1)])
    // Nor is another day ended by a branch that was suspended.
    #expect(try stage.ask(one) { $0.endDay($1, 1, cancellingAll: true) } == .done)
    #expect(try stage.number("SELECT max(day) FROM bank.day") == 2)
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 1)
  }

  @Test(
    "An unfinished end of the day is resumed by the first to open again, not beside others or a crash"
  )
  func continues() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 1)
    try stage.claimAll(one)
    let dead = one.inFlight.removeLast()
    one.store.stage(.bury(dead.customer))
    one.hand(over: [])
    try stage.runLoop { one.isSettled }
    #expect(try stage.ask(one) { $0.drainDay($1) } == .done)
    #expect(try stage.ask(one) { $0.endDay($1) } == .notFinished)
    try leave(one, stage)
    let between = try stage.open("one")
    #expect(between.opening?.isDraining == true, "another branch is still there")
    try leave(between, stage)
    // It dies.
    stage.stopRunning(other)
    try stage.stage.client.run("UPDATE bank.branch SET lease_expires_at = '-infinity'")
    let risen = try stage.open("other")
    #expect(risen.opening?.isDraining == true, "it was ending the day, and continues")
    try leave(risen, stage)
    let next = try stage.open("one")
    #expect(next.opening?.isDraining == false && next.opening?.day == 1)
    #expect(try stage.enqueue(next, 1).new == [IssuedTickets(day: 1, first: 2, last: 2)])
  }

  @Test("A branch that leaves after the end of the day has the counts of all branches on that day")
  func countsOfEndedDay() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    for (branch, count) in [(one, 5), (other, 3)] {
      try stage.enqueue(branch, count)
      try stage.claimAll(branch)
      branch.serve()
      try stage.runLoop { branch.isSettled && branch.done.count == count }
    }
    #expect(try stage.ask(one) { $0.drainDay($1) } == .done)
    #expect(try stage.ask(one) { $0.endDay($1) } == .done)
    #expect(one.numbers?.ended == nil && other.numbers?.ended == nil)
    for branch in [one, other] {
      try leave(branch, stage)
      #expect(branch.numbers?.day == 2)
      #expect(branch.numbers?.ended == BankCounters.EndedDay(day: 1, served: 8, sentAway: 0))
    }
  }

  private func leave(_ branch: TestBranch, _ stage: SharedStoreFixture) throws {
    var hasLeft = false
    branch.store.leave { hasLeft = true }
    try stage.runLoop { hasLeft }
    stage.stopRunning(branch)
  }

  /// A transaction that another connection has open when all customers are cancelled.
  enum Beside: CaseIterable { case claim, rescue }

  @Test(
    "A reset beside a claim or rescue in progress comes after it, and the next day is complete",
    arguments: Beside.allCases)
  func cancelsBeside(_ beside: Beside) throws {
    let stage = try StoreDatabase()
    let (one, dead) = (try stage.join("one"), try stage.join("dead"))
    try stage.enqueue(one, 12)
    let lane = StoreDatabase.deposits
    try stage.client.run("INSERT INTO bank.lane VALUES (\(lane), 1, 1024)")
    try stage.ask(stage.client, dead.claim(lane: lane, atMost: 3))
    if beside == .rescue { try stage.expire(dead) }
    let (claiming, ending) = (try stage.another(), try stage.another())
    try claiming.run("BEGIN")
    switch beside {
    case .claim:
      #expect(try stage.ask(claiming, one.claim(lane: lane, atMost: 5)).map(\.ticket) == [4, 5, 6, 7, 8])
    case .rescue: #expect(try stage.ask(claiming, PostgresBranch.rescue(dead))?.count == 1)
    }
    let request = StoreOperations.endDay(1, cancellingAll: true)(one, 99, StoreRequestQueue.EarlierAttempts())
    let end = try stage.begin(ending, request)
    _ = try eventually(within: .seconds(10)) {
      try stage.number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1
        || end.received != nil
    }
    #expect(end.received == nil, "it comes after what is in progress")
    try claiming.run("COMMIT")
    try ending.runLoop { end.received != nil }
    guard case .answer(.done) = try end.value() else {
      Issue.record("the day has not ended")
      return
    }
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE outcome = 2") == 12)
    #expect(
      try stage.number(
        "SELECT (SELECT count(*) FROM bank.claim) + (SELECT count(*) FROM bank.returned_range)") == 0
    )
    try stage.enqueue(one, 5)
    #expect(try stage.ask(stage.client, one.claim(lane: lane, atMost: 9)).map(\.ticket) == [1, 2, 3, 4, 5])
    // A branch that had a customer of the former day learns that its work was without effect.
    let late = StoreDatabase.completion(of: [PostgresPosition.of(lane: lane, ticket: 7)])
    #expect(try stage.ask(stage.client, one.complete(late, number: 100)) == [])
    try stage.check()
  }

  @Test(
    "A repeated cancel is not reported as done if another branch has served the customer"
  )
  func cancelledWithoutCaller() throws {
    let stage = try StoreDatabase()
    let (one, other) = (try stage.join("one"), try stage.join("other"))
    try stage.enqueue(one, 1)
    try stage.client.run("INSERT INTO bank.lane VALUES (\(StoreDatabase.deposits), 1, 1024)")
    let page = try stage.ask(stage.client, other.claim(lane: StoreDatabase.deposits, atMost: 1))
    // Under the number and epoch of the try with the unknown outcome.
    try stage.ask(stage.client, other.complete(StoreDatabase.completion(of: page.map(\.position)), number: 7))
    let earlierAttempts = StoreRequestQueue.EarlierAttempts(unknown: [(one.epoch, 7)])
    guard
      case .answer(let answer) = try stage.ask(
        stage.client, StoreOperations.cancel(1)(one, 8, earlierAttempts))
    else {
      Issue.record("it is refused")
      return
    }
    #expect(one.epoch == other.epoch && answer == .wrongState(.done))
  }
}
