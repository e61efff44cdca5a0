// The writing side of the shared database with a real server, as branches without windows use it: all
// requests, and the events that each branch gets for them.
import BankModel
import Glibc
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("A branch of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct SharedStoreTests {
  @Test("A branch joins the database it has created, another finds it, with the services of both")
  func join() throws {
    let stage = try SharedStoreFixture()
    let mail = try #require(ServiceName("mail"))
    let stamps = try #require(ServiceName("stamps"))
    let first = try stage.open("first", services: [mail])
    let second = try stage.open("second", services: [stamps, mail])
    let (one, two) = (try #require(first.opening), try #require(second.opening))
    #expect(one.day == 1 && !one.isDraining && one.name == two.name && one.branch.id != two.branch.id)
    #expect(one.services.names == ServiceName.branch + [mail])
    #expect(two.services.names == ServiceName.branch + [mail, stamps])
    first.store.note(windows: 7, oldest: nil)
    try stage.runLoop {
      first.numbers?.branches.map(\.windows) == [7, 0]
        && first.received.contains { if case .services = $0 { true } else { false } }
    }
    let branches = try #require(first.numbers?.branches)
    #expect(
      branches.map(\.identity.name) == ["first", "second"] && branches.allSatisfy { $0.state == .open })
    #expect(branches.map(\.host) == ["first.example", "second.example"])
    #expect(branches.allSatisfy { (1...20_000).contains($0.leaseMilliseconds) })
    #expect(first.leaseUntil != nil && first.joins.count == 1)
  }

  @Test("Two branches share a lane without overlap and with payloads; each customer has one receipt")
  func shared() throws {
    let stage = try SharedStoreFixture()
    let branches = try ["a", "b"].map { try stage.open($0) }
    for branch in branches {
      branch.servesImmediately = true
      branch.pageSize = 7
    }
    for round in 0..<20 {
      _ = try stage.ask(branches[round % 2]) {
        $0.enqueueCustomers($1, SharedStoreFixture.customers(25, payload: [UInt8(round)]))
      }
    }
    try stage.runLoop { branches.map(\.done.count).reduce(0, +) == 500 }
    let done = branches.flatMap(\.done)
    #expect(
      Set(done).count == 500 && branches.allSatisfy { $0.rejectedCompletions.isEmpty && $0.losses.isEmpty })
    let payloads = branches.flatMap(\.pages).flatMap(\.customers).map(\.payload)
    #expect(Set(payloads).count == 20 && !payloads.contains(nil))
    let customers = branches.flatMap(\.pages).flatMap(\.customers).map(\.customer)
    #expect(Set(customers.map(\.line)) == [SharedStoreFixture.deposits])
    #expect(customers.allSatisfy { $0.issuedAt == WallTime(milliseconds: 1_000) && $0.amount >= 100 })
    try stage.runLoop {
      branches.allSatisfy { $0.numbers?.all.served == 500 && $0.numbers?.all.waiting == 0 }
    }
    #expect(branches[0].numbers?.branches.map(\.served).reduce(0, +) == 500)
    try stage.check()
  }

  @Test(
    "A key gets its tickets once, a partly known list gets the rest, and a conflict gets nothing"
  )
  func keys() throws {
    let stage = try SharedStoreFixture()
    let branches = try ["a", "b"].map { try stage.open($0) }
    func issueTickets(_ branch: TestBranch, _ customers: EnqueueRequest) throws -> StoreReply {
      try stage.ask(branch) { $0.enqueueCustomers($1, customers) }
    }
    func tickets(_ first: Int64, _ last: Int64) -> IssuedTickets {
      IssuedTickets(day: 1, first: first, last: last)
    }
    let monday = SharedStoreFixture.customers(3, key: "monday", digest: 1)
    #expect(try issueTickets(branches[0], monday) == .issued(RequestTickets(new: [tickets(1, 3)])))
    #expect(try issueTickets(branches[1], monday) == .issued(RequestTickets(known: [tickets(1, 3)])))
    #expect(
      try issueTickets(branches[1], SharedStoreFixture.customers(3, key: "monday", digest: 2))
        == .keyConflict("monday"))
    func list(_ entries: [(key: String?, digest: Int64?)]) -> EnqueueRequest {
      var list = EnqueueRequest(issuedAt: WallTime(milliseconds: 5))
      for entry in entries {
        list.add(
          CustomerOrder(service: .loan, priority: .vip, amount: 9, account: 9), key: entry.key,
          digest: entry.digest)
      }
      return list
    }
    #expect(
      try issueTickets(branches[0], list([(nil, nil), ("x", 5), (nil, nil), (nil, nil), ("y", nil)]))
        == .issued(RequestTickets(new: [tickets(4, 8)])))
    // A row for each customer with a key, and one for each run of customers without.
    #expect(try stage.number("SELECT count(*) FROM bank.ticket_batch WHERE first >= 4") == 4)
    #expect(
      try issueTickets(branches[1], list([("x", 5), ("z", 1), (nil, nil), ("y", 3)]))
        == .issued(RequestTickets(new: [tickets(9, 10)], known: [tickets(5, 5), tickets(8, 8)])))
    #expect(try issueTickets(branches[1], list([("new", 1), ("x", 6)])) == .keyConflict("x"))
    #expect(
      try issueTickets(branches[0], list([("x", 5)])) == .issued(RequestTickets(known: [tickets(5, 5)])))
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 10)
    #expect(
      try issueTickets(branches[0], EnqueueRequest(issuedAt: WallTime(milliseconds: 1)))
        == .issued(RequestTickets()))
    try stage.check()
  }

  @Test(
    "A delayed customer leaves the branch, is called when due by any, and keeps all attempt fields"
  )
  func delayed() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    let other = try stage.open("other")
    try stage.enqueue(one, 20)
    one.pageSize = 20
    try stage.claimAll(one)
    #expect(one.inFlight.count == 20)
    let now = SystemClock.wall().milliseconds
    for index in [3, 4, 11] {
      var customer = one.inFlight[index].customer
      customer.attempts = 1
      customer.failures = 1
      customer.startedAttempts = 1
      let window = Window(service: .deposit, place: 2)
      var attempt = Attempt(
        day: 1, ticket: customer.ticket, number: 1, window: window, generation: 3, pid: 77,
        startedAt: WallTime(milliseconds: 10), endedAt: WallTime(milliseconds: 20), end: .failed,
        processEnd: .code(75), words: "later\0")
      attempt.words = "later\0"
      one.store.stage(.record(attempt))
      one.store.stage(.postpone(customer, dueAt: WallTime(milliseconds: now + 1_000)))
    }
    let postponed = [3, 4, 11].map { one.inFlight[$0].customer.ticket }
    one.inFlight.removeAll { postponed.contains($0.customer.ticket) }
    one.hand(over: [])
    try stage.runLoop { one.numbers?.all.delayed == 3 }
    try stage.check()
    // The rest is still claimed, and served there.
    one.serve()
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 3 && one.done.count == 17 }
    #expect(other.done.sorted() == postponed)
    let again = other.pages.flatMap(\.customers).map(\.customer)
    #expect(again.allSatisfy { $0.attempts == 1 && $0.failures == 1 && $0.startedAttempts == 1 })
    #expect(
      try stage.number(
        "SELECT count(*) FROM bank.attempt WHERE exit_code = 75 AND number = 1 AND window_number = 2") == 3)
    #expect(try stage.number("SELECT count(*) FROM bank.claim WHERE first > last") == 0)
    try stage.check()
  }

  @Test("A customer ordered for later is called when due, also if later tickets were claimed before")
  func orderedForLater() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 3)
    let due = WallTime(milliseconds: SystemClock.wall().milliseconds + 400)
    _ = try stage.ask(one) { $0.enqueueCustomers($1, SharedStoreFixture.customers(2, dueAt: due)) }
    try stage.enqueue(one, 3)
    try stage.claimAll(one)
    #expect(one.inFlight.map(\.customer.ticket) == [1, 2, 3, 6, 7, 8])
    try stage.runLoop { other.numbers?.issued == 8 && other.numbers?.all.delayed == 0 }
    try stage.claimAll(other)
    #expect(other.inFlight.map(\.customer.ticket) == [4, 5])
    try stage.check()
    // Whatever happens to either now, no customer is claimed twice.
    stage.stopRunning(one)
    try stage.stage.client.run("UPDATE bank.branch SET lease_expires_at = '-infinity' WHERE name = 'one'")
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 8 }
    #expect(Set(other.done).count == 8 && other.rejectedCompletions.isEmpty)
    try stage.check()
  }

  @Test("A dead letter is requeued alone or with others, with new attempts, and cancelled in place")
  func dead() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    let other = try stage.open("other")
    try stage.enqueue(one, 8)
    try stage.claimAll(one)
    for index in 0..<5 {
      var customer = one.inFlight[index].customer
      (customer.attempts, customer.crashes) = (3, 3)
      one.store.stage(
        .record(
          Attempt(
            day: 1, ticket: customer.ticket, number: 3, window: Window(service: .deposit, place: 1),
            generation: 1,
            pid: 5, startedAt: WallTime(milliseconds: 1), endedAt: WallTime(milliseconds: 2), end: .killed,
            processEnd: .signal(9))))
      one.store.stage(.bury(customer))
    }
    one.inFlight.removeFirst(5)
    one.hand(over: [])
    try stage.runLoop { one.numbers?.all.dead == 5 }
    #expect(try stage.number("SELECT count(*) FROM bank.attempt WHERE is_fatal AND exit_signal = 9") == 5)
    #expect(try stage.ask(other) { $0.requeue($1, 2) } == .done)
    #expect(try stage.ask(other) { $0.requeue($1, 2) } == .wrongState(.waiting))
    #expect(try stage.ask(other) { $0.requeue($1, 99) } == .noSuchTicket)
    #expect(try stage.ask(other) { $0.cancel($1, 3) } == .done)
    #expect(try stage.ask(other) { $0.cancel($1, 3) } == .wrongState(.done))
    #expect(try stage.ask(other) { $0.requeue($1, 3) } == .wrongState(.done))
    #expect(try stage.ask(one) { $0.requeueDead($1, limit: 2) } == .requeued(2))
    #expect(try stage.ask(one) { $0.requeueDead($1, limit: 2) } == .requeued(1))
    #expect(try stage.ask(one) { $0.requeueDead($1) } == .requeued(0))
    try stage.check()
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 4 }
    #expect(other.done.sorted() == [1, 2, 4, 5])
    let again = other.pages.flatMap(\.customers).map(\.customer)
    #expect(again.allSatisfy { $0.attempts == 3 && $0.crashes == 0 })
    one.serve()
    try stage.runLoop { one.done.count == 3 }
    try stage.check()
  }

  @Test(
    "A customer cancelled elsewhere is without effect; the others of the commit have receipts")
  func cancelledElsewhere() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 10)
    try stage.claimAll(one)
    #expect(try stage.ask(other) { $0.cancel($1, 4) } == .done)
    #expect(try stage.ask(other) { $0.cancel($1, 11) } == .noSuchTicket)
    // A customer that is only changed is without effect, too.
    var changed = one.inFlight[8].customer
    #expect(try stage.ask(other) { $0.cancel($1, changed.ticket) } == .done)
    changed.crashes = 1
    one.store.stage(.update(changed))
    one.inFlight.remove(at: 8)
    one.serve()
    try stage.runLoop { one.done.count == 8 }
    #expect(one.rejectedCompletions == [4, 9] && one.refusals.isEmpty)
    let row = try stage.stage.client.rows(
      .once("SELECT outcome, window_number, debit, branch FROM bank.receipt WHERE ticket = 4"))[0]
    #expect(row.integer(0, 0) == 2 && !row.has(0, 1) && !row.has(0, 2))
    #expect(row.integer(0, 3) == other.opening?.branch.id)
    try stage.runLoop { one.numbers?.all.cancelled == 2 && one.numbers?.all.served == 8 }
    try stage.check()
  }

  @Test("Result, shortages and transfer are in the receipt as they were sent")
  func results() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one", services: [try #require(ServiceName("print"))])
    let line = Line(service: Service(number: 4), priority: Priority(77))
    try stage.enqueue(one, 3, line)
    try stage.claimAll(one, line)
    let output = try #require(TruncatedOutput(first: [0, 1], last: [9], length: 500, filed: 100))
    let result = WorkResult(
      ending: .signal(15), duration: .nanoseconds(123_456), output: output,
      errors: try #require(TruncatedOutput(first: [7])))
    let short = Shortage(item: ItemID("strawberry"), needed: 16, available: 10)
    var changes: [(inout Receipt) -> Void] = [
      { $0.result = result },
      {
        $0.outcome = .outOfStock; $0.shortages = [short, short]
      }, { _ in },
    ]
    for customer in one.inFlight {
      one.store.stage(
        .finish(
          customer.customer, from: .waiting, TestBranch.receipt(customer.customer, changes.removeFirst())))
    }
    one.hand(over: one.inFlight.map(\.customer.ticket))
    try stage.runLoop { one.done.count == 3 }
    let rows = try stage.stage.client.rows(
      .once(
        """
        SELECT duration_ns, exit_code, exit_signal, output_head, output_tail, output_length, output_file_length,
        stderr_head, stderr_tail, stderr_length, stderr_file_length, shortages, outcome FROM bank.receipt
        ORDER BY ticket
        """))[0]
    #expect(rows.integer(0, 0) == 123_456 && !rows.has(0, 1) && rows.integer(0, 2) == 15)
    #expect(rows.bytes(0, 3) == [0, 1] && rows.bytes(0, 4) == [9] && rows.integer(0, 5) == 500)
    #expect(
      rows.integer(0, 6) == 100 && rows.bytes(0, 7) == [7] && rows.bytes(0, 8) == []
        && rows.integer(0, 9) == 1)
    #expect(!rows.has(1, 0) && !rows.has(1, 3) && rows.integer(1, 12) == 3)
    #expect(PostgresShortages.read(rows.text(1, 11)) == [short, short])
    #expect((0..<12).allSatisfy { !rows.has(2, $0) })
    try stage.runLoop { one.numbers?.services[3].sentAway == 1 }
    try stage.check()
  }

  @Test("Returned customers come to another branch, and those who are kept do not")
  func givenBack() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    try stage.enqueue(one, 10)
    try stage.claimAll(one)
    other.servesImmediately = true
    one.store.returnClaimed(SharedStoreFixture.deposits, [2, 3, 9])
    try stage.runLoop { other.done.count == 3 }
    #expect(other.done == [2, 3, 9])
    try stage.check()
    // All the rest at once.
    var hasLeft = false
    one.store.leave { hasLeft = true }
    try stage.runLoop { hasLeft && other.done.count == 10 }
    try stage.runLoop { other.numbers?.branches.first?.state == .closed }
    #expect(other.rejectedCompletions.isEmpty)
    try stage.check()
    #expect(one.losses.isEmpty)
    let again = try stage.open("one")
    #expect(again.opening?.branch.epoch ?? 0 > one.joins[0].branch.epoch)
    try stage.runLoop { other.numbers?.branches.first?.state == .open }
  }

  @Test("A draining bank accepts no customer, and its day ends when all have receipts")
  func day() throws {
    let stage = try SharedStoreFixture()
    let (one, other) = (try stage.open("one"), try stage.open("other"))
    _ = try stage.ask(one) { $0.enqueueCustomers($1, SharedStoreFixture.customers(10, key: "k")) }
    #expect(try stage.ask(one) { $0.drainDay($1) } == .done)
    try stage.runLoop { other.isDraining && one.isDraining }
    #expect(try stage.ask(other) { $0.enqueueCustomers($1, SharedStoreFixture.customers(1)) } == .draining)
    // A known key needs no room.
    let known = RequestTickets(known: [IssuedTickets(day: 1, first: 1, last: 10)])
    #expect(
      try stage.ask(other) { $0.enqueueCustomers($1, SharedStoreFixture.customers(10, key: "k")) }
        == .issued(known))
    #expect(try stage.ask(other) { $0.endDay($1) } == .notFinished)
    other.servesImmediately = true
    try stage.runLoop { other.done.count == 10 }
    #expect(try stage.ask(other) { $0.endDay($1) } == .done)
    try stage.runLoop { one.days == [2] && other.days == [2] && !one.isDraining }
    // A late request is not an error, and ends no day twice.
    #expect(try stage.number("SELECT max(day) FROM bank.day") == 2)
    #expect(try stage.enqueue(one, 5).new == [IssuedTickets(day: 2, first: 1, last: 5)])
    try stage.runLoop { other.done.count == 15 }
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE day = 2") == 5)
    try stage.runLoop { one.numbers?.day == 2 && one.numbers?.all.served == 5 }
    // A reset cancels all customers, also those claimed.
    other.servesImmediately = false
    try stage.enqueue(one, 12)
    other.pageSize = 6
    other.claim(SharedStoreFixture.deposits)
    try stage.runLoop { other.inFlight.count == 6 }
    #expect(try stage.ask(one) { $0.endDay($1, cancellingAll: true) } == .done)
    other.serve()
    try stage.runLoop { other.rejectedCompletions.count == 6 }
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE day = 2 AND outcome = 2") == 12)
    #expect(try stage.number("SELECT count(*) FROM bank.claim") == 0)
    try stage.runLoop { one.days == [2, 3] && other.days == [2, 3] }
    #expect(try stage.ask(one) { $0.prune($1, before: 2) } == .done)
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE day = 1") == 0)
    #expect(try stage.number("SELECT count(*) FROM bank.receipt WHERE day = 2") == 17)
    #expect(try stage.number("SELECT (to_regclass('bank.attempt_1') IS NULL)::int::bigint") == 1)
    // Its key is free again.
    let fresh = RequestTickets(new: [IssuedTickets(day: 3, first: 1, last: 10)])
    #expect(
      try stage.ask(other) { $0.enqueueCustomers($1, SharedStoreFixture.customers(10, key: "k")) }
        == .issued(fresh))
    #expect(try stage.ask(one) { $0.prune($1, before: 99) } == .done)
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 10)
    other.servesImmediately = true
    other.claim(SharedStoreFixture.deposits)
    try stage.runLoop { other.done.count == 25 }
    try stage.check()
  }

  @Test(
    "Old counts are folded without changing the totals, also after an unknown outcome",
    arguments: [false, true])
  func folded(_ wasCutOff: Bool) throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    if wasCutOff {
      let holder = try stage.stage.another()
      try holder.run("BEGIN", "LOCK TABLE bank.ticket_batch IN ACCESS EXCLUSIVE MODE")
      let request = stage.request()
      one.store.enqueueCustomers(request, SharedStoreFixture.customers(1))
      let isUnderWay = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = \(one.store.backends[1])"
      try stage.runLoop { try stage.number(isUnderWay) == 1 }
      #expect(kill(one.store.backends[1], SIGTERM) == 0)
      try holder.run("ROLLBACK")
      try stage.runLoop { one.answers[request] != nil }
      _ = try stage.ask(one) { $0.cancel($1, 1) }
    }
    one.servesImmediately = true
    one.pageSize = 1
    try stage.enqueue(one, 900)
    try stage.runLoop { one.done.count == 900 }
    try stage.runLoop { (try stage.number("SELECT count(*) FROM bank.counter_delta") ?? .max) < 600 }
    #expect(try stage.number("SELECT count(*) FROM bank.counter_delta WHERE commit_no = 0") == 1)
    try stage.runLoop { one.numbers?.all.served == 900 }
    try stage.check()
  }

  @Test("A database of a newer version, and an address without access, are refused")
  func refused() throws {
    let stage = try SharedStoreFixture()
    let one = try stage.open("one")
    try stage.stage.client.run("UPDATE bank.version SET number = 1000")
    #expect(throws: SharedStoreFailure.schema(.newer(version: 1000, known: PostgresSchema.version))) {
      try stage.open("two")
    }
    let stranger = stage.stage.address.replacing("bank@", with: "unknown@")
    #expect {
      try stage.open("three", at: stranger)
    } throws: { error in
      guard case SharedStoreFailure.server(let why) = error, case .accessDenied = why.reason else {
        return false
      }
      return Language.allCases.allSatisfy { !SharedStoreFailure.server(why).message(in: $0).isEmpty }
    }
    #expect(one.losses.isEmpty)
  }
}
