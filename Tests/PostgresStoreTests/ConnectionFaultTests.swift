// Branches of a shared database whose connections are cut, whose server stops and starts, who are fenced, and
// who are refused. All that a branch was sent is in the database, and nothing has taken effect twice.
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

@Suite("Faults of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct ConnectionFaultTests {
  @Test("Cut connections lose nothing, and windows keep their customers")
  func endedBackends() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    let other = try stage.open("other")
    for branch in [one, other] { (branch.servesImmediately, branch.pageSize) = (true, 4) }
    let kept = one.opening
    var ended = 0
    for round in 0..<15 {
      let number = stage.request()
      one.store.enqueueCustomers(
        number, SharedStoreFixture.customers(20, key: round % 2 == 0 ? "k\(round)" : nil))
      // One of the three, while a request is in progress on it.
      try stage.runLoop { one.store.backends[round % 3] > 1 }
      if kill(one.store.backends[round % 3], SIGTERM) == 0 { ended += 1 }
      let goal = min(one.done.count + other.done.count + 10, (round + 1) * 20)
      try stage.runLoop { one.done.count + other.done.count >= goal }
    }
    try stage.runLoop { one.done.count + other.done.count == 300 && one.answers.count == 15 }
    #expect(ended == 15 && one.losses.isEmpty && one.opening == kept && one.joins.count == 1)
    #expect(
      one.rejectedCompletions.isEmpty && other.rejectedCompletions.isEmpty && one.dropped.isEmpty
        && one.transactionsLost.isEmpty
    )
    #expect(Set(one.done + other.done).count == 300)
    var given: Int64 = 0
    for answer in one.answers.values { if case .issued(let tickets) = answer { given += tickets.count } }
    #expect(given == 300, "a repeated request has other tickets")
    try stage.check()
    try compareWithReceipts(stage, [one, other])
  }

  @Test(
    "Commits whose result was lost are found and not repeated, in the same epoch"
  )
  func lostReplies() throws {
    let stage = try SharedStoreFixture()
    let cluster = try StoreDatabase.shared.get()
    let relay = try PostgresRelay(to: cluster, loop: stage.loop)
    let one = try stage.open(
      "one", at: stage.stage.address.replacing(cluster.directory, with: relay.directory), lease: .seconds(30))
    try stage.enqueue(one, 30)
    one.pageSize = 10
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 10 }
    relay.withholdsReplies = true
    let rest = Array(one.inFlight.suffix(5))
    one.inFlight.removeLast(5)
    one.serve()
    one.inFlight = rest
    one.serve()
    one.claim(SharedStoreFixture.deposits)
    let (arriving, keyed) = (stage.request(), stage.request())
    one.store.enqueueCustomers(arriving, SharedStoreFixture.customers(3))
    one.store.enqueueCustomers(keyed, SharedStoreFixture.customers(3, key: "k"))
    try stage.runLoop {
      try stage.number("SELECT count(*) FROM bank.receipt") == 10
        && stage.number("SELECT count(*) FROM bank.claim") == 2
        && stage.number("SELECT count(*) FROM bank.customer") == 26
    }
    #expect(one.done.isEmpty && one.inFlight.isEmpty && one.answers.count == 1)
    relay.withholdsReplies = false
    relay.cut()
    try stage.runLoop { one.isSettled && one.inFlight.count == 10 && one.answers.count == 3 }
    #expect(
      one.done.count == 10 && one.rejectedCompletions.isEmpty && one.refusals.isEmpty && one.losses.isEmpty)
    #expect(
      one.answers[arriving] == .issued(RequestTickets(new: [IssuedTickets(day: 1, first: 31, last: 33)])))
    #expect(one.answers[keyed] == .issued(RequestTickets(new: [IssuedTickets(day: 1, first: 34, last: 36)])))
    one.serve()
    one.servesImmediately = true
    try stage.runLoop { one.done.count == 36 }
    #expect(one.joins.count == 1)
    try stage.check()
  }

  @Test("A branch that is cut off loses its claims before others may have them, without late effect")
  func zombie() throws {
    let stage = try SharedStoreFixture()
    let other = try stage.open("other")
    let cluster = try StoreDatabase.shared.get()
    let relay = try PostgresRelay(to: cluster, loop: stage.loop)
    let address = stage.stage.address.replacing(cluster.directory, with: relay.directory)
    let one = try stage.open("one", at: address, lease: .milliseconds(1_600))
    try stage.enqueue(other, 30)
    try stage.runLoop { one.lineMayHaveCustomers.contains(SharedStoreFixture.deposits) }
    one.pageSize = 10
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 10 }
    let page = one.inFlight
    relay.isSilent = true
    // Handed over, and never there.
    one.serve()
    let late = TestBranch.receipt(page[0].customer)
    try stage.runLoop { !one.losses.isEmpty }
    #expect(one.losses == [.leaseExpired])
    let left = try #require(
      try stage.number(
        "SELECT (extract(epoch FROM lease_expires_at - clock_timestamp()) * 1000)::bigint FROM bank.branch WHERE name = 'one'"
      ))
    #expect(left > 0, "by its own clock the lease ends before it does by the database's")
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 30 }
    one.store.stage(.finish(page[0].customer, from: .waiting, late))
    one.hand(over: [page[0].customer.ticket])
    relay.isSilent = false
    try stage.runLoop { one.joins.count == 2 }
    #expect(one.dropped.count == 11 && one.done.isEmpty && one.rejectedCompletions.isEmpty)
    #expect(one.joins[1].branch.epoch > one.joins[0].branch.epoch)
    #expect(
      try stage.number("SELECT count(*) FROM bank.receipt WHERE branch = \(one.joins[0].branch.id)") == 0)
    try stage.check()
    try compareWithReceipts(stage, [one, other])
  }

  @Test(
    "A fenced live branch finds out, knows what it did, and continues in another epoch")
  func fenced() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 20)
    one.pageSize = 10
    one.claim(SharedStoreFixture.deposits)
    try stage.runLoop { one.inFlight.count == 10 }
    try stage.stage.client.run("UPDATE bank.branch SET lease_expires_at = '-infinity' WHERE name = 'one'")
    let former = try #require(one.opening?.branch)
    _ = try stage.stage.ask(stage.stage.client, PostgresBranch.rescue(former))
    one.serve()
    try stage.runLoop { one.joins.count == 2 }
    #expect(one.losses == [.fenced] && one.dropped.count == 10 && one.done.isEmpty)
    (one.servesImmediately, other.servesImmediately) = (true, true)
    try stage.runLoop { one.done.count + other.done.count == 20 }
    #expect(one.rejectedCompletions.isEmpty && other.rejectedCompletions.isEmpty)
    try stage.check()
  }

  @Test(
    "A server that is killed and starts again has all that a branch was sent, the day continues")
  func killedServer() throws {
    let cluster = try PostgresCluster(["max_connections=30"])
    let stage = try SharedStoreFixture(on: cluster)
    let branches = try ["a", "b"].map { try stage.open($0) }
    for branch in branches { (branch.servesImmediately, branch.pageSize) = (true, 5) }
    func done() -> Int { branches[0].done.count + branches[1].done.count }
    for _ in 0..<4 {
      let number = stage.request()
      branches[0].store.enqueueCustomers(number, SharedStoreFixture.customers(50))
      let goal = done() + 5
      try stage.runLoop { done() > goal }
      try cluster.killServer()
      try cluster.start()
    }
    try stage.runLoop(within: .seconds(40)) { done() == 200 }
    #expect(branches.allSatisfy { $0.rejectedCompletions.isEmpty && $0.transactionsLost.isEmpty })
    let again = try StoreDatabase(at: stage.stage.address)
    try again.check()
    #expect(try again.number("SELECT count(*) FROM bank.receipt") == 200)
    #expect(Set(branches.flatMap(\.done)).count == 200)
  }

  @Test("A customer that no notification announced is found by the next look")
  func withoutNotification() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.enqueue(one, 1)
    one.servesImmediately = true
    // After the last page there is a look, and no further request.
    try stage.runLoop { one.numbers?.all.served == 1 && one.isIdle }
    let renewals = one.renewals
    try stage.runLoop { one.renewals > renewals && one.isIdle }
    try stage.stage.client.run(
      """
      INSERT INTO bank.ticket_batch (day, first, last, branch) VALUES (1, 2, 2, 1)
      """,
      """
      INSERT INTO bank.customer (position, amount, account, issued_ms)
      SELECT (1::bigint << 60) | (number << 40) | 2, 1, 1, 1 FROM bank.lane
      """,
      "INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, issued, waiting) SELECT 99, 1, 1, 1, number, 1, 1 FROM bank.lane"
    )
    try stage.runLoop { one.done.count == 2 }
    try stage.check()
  }

  @Test("Losses of a server that succeeds a lost one are named")
  func transactionsLost() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.enqueue(one, 30)
    (one.servesImmediately, one.pageSize) = (true, 10)
    try stage.runLoop { one.done.count == 30 }
    let last = try #require(try stage.number("SELECT max(commit_no) FROM bank.counter_delta"))
    try stage.stage.client.run(
      "DELETE FROM bank.receipt WHERE commit_no = \(last)",
      "DELETE FROM bank.counter_delta WHERE commit_no = \(last)",
      "DELETE FROM bank.commit WHERE commit_no = \(last)")
    #expect(one.transactionsLost.isEmpty)
    #expect(kill(one.store.backends[2], SIGTERM) == 0)
    try stage.runLoop { !one.transactionsLost.isEmpty }
    // Its pages are other ones there, so it joins again.
    #expect(one.transactionsLost == [last] && one.losses == [.databaseReplaced])
  }

  @Test(
    "On a full server nothing of the handed over is stored, nor what follows; later all of it is"
  )
  func full() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.enqueue(one, 30)
    one.pageSize = 30
    try stage.claimAll(one)
    try stage.stage.client.run(
      """
      CREATE FUNCTION bank.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.ticket = 5 THEN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$
      """, "CREATE TRIGGER no_room BEFORE INSERT ON bank.receipt FOR EACH ROW EXECUTE FUNCTION bank.no_room()"
    )
    let all = one.inFlight
    for part in 0..<3 {
      one.inFlight = Array(all[(part * 10)..<(part * 10 + 10)])
      one.serve()
    }
    #expect(one.store.underwayCount == 3)
    try stage.runLoop { !one.refusals.isEmpty }
    #expect(one.store.underwayCount == 0 && !one.store.hasStaged && one.done.isEmpty)
    guard case .diskFull = one.refusals.first else {
      Issue.record("\(one.refusals)")
      return
    }
    #expect(try stage.number("SELECT count(*) FROM bank.receipt") == 0)
    try stage.stage.client.run("DROP TRIGGER no_room ON bank.receipt")
    one.inFlight = all
    one.serve()
    try stage.runLoop { one.done.count == 30 }
    #expect(one.refusals.count == 1 && one.rejectedCompletions.isEmpty)
    try stage.check()
  }

  @Test("A commit refused by a conflict is sent again, in the same order, and not reported")
  func inTheWay() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.enqueue(one, 40)
    try stage.stage.client.run(
      """
      CREATE FUNCTION bank.busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF random() < 0.3 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;
        RETURN NULL; END $$
      """,
      "CREATE TRIGGER busy AFTER INSERT ON bank.counter_delta FOR EACH STATEMENT EXECUTE FUNCTION bank.busy()",
      "CREATE TRIGGER busy AFTER INSERT ON bank.claim FOR EACH STATEMENT EXECUTE FUNCTION bank.busy()")
    (one.servesImmediately, one.pageSize) = (true, 2)
    for _ in 0..<5 {
      let number = stage.request()
      one.store.enqueueCustomers(number, SharedStoreFixture.customers(4))
    }
    try stage.runLoop { one.done.count == 60 && one.answers.count == 6 }
    #expect(one.refusals.isEmpty && one.rejectedCompletions.isEmpty && one.losses.isEmpty)
    try stage.stage.client.run("DROP TRIGGER busy ON bank.counter_delta", "DROP TRIGGER busy ON bank.claim")
    try stage.check()
  }

  /// Each branch knows exactly what it did.
  private func compareWithReceipts(_ stage: SharedStoreFixture, _ branches: [TestBranch]) throws {
    for branch in branches {
      let rows = try stage.stage.client.rows(
        .once(
          """
          SELECT array_agg(ticket ORDER BY ticket) FROM bank.receipt r JOIN bank.branch b ON b.id = r.branch
          WHERE b.name = '\(branch.name)' AND outcome = 1
          """))[0]
      #expect(rows.integers(0, 0) ?? [] == branch.done.sorted())
    }
  }
}
