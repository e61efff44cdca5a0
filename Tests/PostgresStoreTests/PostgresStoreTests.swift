// The database in PostgreSQL, on a real server: which roles may open it, how tickets are given, and that
// branches that claim, complete, die and return late cannot harm each other.

import BankModel
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("The database in PostgreSQL", .enabled(if: PostgresCluster.isInstalled))
struct PostgresStoreTests {
  // MARK: - The schema

  @Test("An empty database gets the tables once, also from two branches that start at once")
  func prepared() throws {
    let stage = try StoreDatabase(prepared: false)
    let other = try stage.another()
    var received: [Result<Int64, SchemaMigration.Failure>] = []
    for client in [stage.client, other] {
      SchemaMigration.begin(on: client.connection) { received.append($0) }
    }
    try stage.client.runLoop { received.count == 2 }
    #expect(received.allSatisfy { if case .success = $0 { true } else { false } }, "\(received)")
    #expect(try stage.prepare(other) == .success(PostgresSchema.version))
    #expect(try stage.number("SELECT number FROM bank.version") == PostgresSchema.version)
    for _ in 0..<2 { try stage.ask(other, SchemaMigration.partition(for: 7)) }
  }

  @Test("A database of a newer version is left unchanged, and so is another program's schema")
  func refused() throws {
    let stage = try StoreDatabase()
    try stage.client.run("UPDATE bank.version SET number = 1000")
    let known = PostgresSchema.version
    #expect(try stage.prepare(stage.client) == .failure(.newer(version: 1000, known: known)))
    try stage.client.run("DROP TABLE bank.version")
    #expect(try stage.prepare(stage.client) == .failure(.foreign))
    for language in Language.allCases {
      #expect(SchemaMigration.Failure.foreign.message(in: language).contains("bank"))
      #expect(SchemaMigration.Failure.newer(version: 7, known: 1).message(in: language).contains("7"))
    }
  }

  @Test("A role without any other rights is enough")
  func role() throws {
    let stage = try StoreDatabase(prepared: false)
    let role = "r\(UInt64.random(in: 0...UInt64.max))"
    let database = try #require(
      try stage.client.rows(.once("SELECT current_database()::text"))[0].text(0, 0))
    try stage.client.run("CREATE ROLE \(role) LOGIN", "GRANT CREATE ON DATABASE \(database) TO \(role)")
    let client = try PostgresClient.connected(stage.address.replacing("bank@", with: "\(role)@"))
    #expect(try stage.prepare(client) == .success(0))
    try stage.ask(client, SchemaMigration.partition(for: 1))
    let branch = try stage.ask(client, PostgresBranch.join("a", lease: .seconds(60))).branch
    _ = try stage.ask(client, branch.issueTickets([stage.intake(branch, count: 1)]))
    let page = try stage.ask(client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    let done = StoreDatabase.completion(of: page.map(\.position))
    #expect(try stage.ask(client, branch.complete(done, number: 1)) == [1])
    // The right that created the schema may be revoked again.
    try stage.client.run("REVOKE CREATE ON DATABASE \(database) FROM \(role)")
    #expect(try stage.prepare(client) == .success(PostgresSchema.version))
    try stage.client.run("DROP OWNED BY \(role) CASCADE", "DROP ROLE \(role)")
  }

  // MARK: - Intake

  @Test("Four branches issue tickets at once, in one series without gaps")
  func intake() throws {
    let stage = try StoreDatabase()
    let branches = try (0..<4).map { try stage.join("b\($0)") }
    let clients = try branches.map { _ in try stage.another() }
    var answers: [PostgresEnqueue.Answer?] = []
    var asked = 0
    for round in 0..<20 {
      for (branch, client) in zip(branches, clients) {
        let intakes = (0...round % 3).map { _ in
          stage.intake(branch, count: round + 1) { $0.itemName = "딸기쥬스" }
        }
        asked += intakes.count
        try client.runLoop { client.connection.inFlightCount < 4 }
        try client.connection.send(branch.issueTickets(intakes)) { answer in
          if case .done(let received) = answer { answers += received }
        }
      }
    }
    try stage.client.runLoop { answers.count == asked }
    let firsts = answers.compactMap {
      if case .given(let tickets, isNow: true) = $0 { tickets.new.first?.first } else { nil }
    }
    #expect(firsts.count == asked && Set(firsts).count == asked)
    try stage.check()
    #expect(try stage.number("SELECT count(*) FROM bank.customer WHERE item_name = '딸기쥬스'") == 1652)
  }

  @Test("A key gets its tickets once, for any branch, and its answer contains the original request")
  func keys() throws {
    let stage = try StoreDatabase()
    let branches = try ["a", "b"].map { try stage.join($0) }
    var customers = EnqueueRequest(issuedAt: .init(milliseconds: 5), key: "monday", digest: 77)
    var order = CustomerOrder(service: .deposit, priority: .regular, amount: 1, account: 2)
    customers.add(order, payload: [1, 2, 3])
    order = CustomerOrder(service: .loan, priority: .regular, amount: 1, account: 2)
    order.dueAt = .init(milliseconds: 9_000)
    customers.add(order)
    func intake(_ branch: PostgresBranch) -> PostgresEnqueue { stage.intake(branch, customers) }
    // Twice in one transaction, and by another branch.
    let first = try stage.ask(
      stage.client, branches[0].issueTickets([intake(branches[0]), intake(branches[0])]))
    let again = try stage.ask(stage.client, branches[1].issueTickets([intake(branches[1])]))
    let tickets = IssuedTickets(day: 1, first: 1, last: 2)
    let known = PostgresEnqueue.Answer.known(tickets, request: 77)
    #expect(first == [.given(RequestTickets(new: [tickets]), isNow: true), known] && again == [known])
    try stage.check()
    let page = try stage.ask(stage.client, branches[1].claim(lane: StoreDatabase.deposits, atMost: 5))
    #expect(page.map(\.ticket) == [1] && page[0].payload == [1, 2, 3] && page[0].issuedMilliseconds == 5)
    #expect(try stage.ask(stage.client, PostgresBranch.payload(of: page[0].position)) == [1, 2, 3])
    #expect(try stage.ask(stage.client, PostgresBranch.payload(of: 7)) == nil)
    // A customer ordered for later is in another table.
    #expect(try stage.ask(stage.client, branches[1].claim(lane: StoreDatabase.loans, atMost: 5)).isEmpty)
    #expect(try stage.number("SELECT due_ms FROM bank.customer WHERE position >> 60 = 2") == 9_000)
  }

  // MARK: - Claims

  @Test("Claims of four branches never overlap, omit no customer, and follow each lane in order")
  func claims() throws {
    let stage = try StoreDatabase()
    let branches = try (0..<4).map { try stage.join("b\($0)") }
    for _ in 0..<5 {
      for lane in [StoreDatabase.deposits, StoreDatabase.loans] {
        try stage.enqueue(branches[0], 200, lane: lane)
      }
    }
    let clients = try branches.map { _ in try stage.another() }
    var pages: [[[Int64]]] = branches.map { _ in [] }
    var finished = Set<Int>()
    for (index, (branch, client)) in zip(branches, clients).enumerated() {
      func next(_ lane: Int64) {
        do {
          try client.connection.send(branch.claim(lane: lane, atMost: 7)) { answer in
            guard case .done(let page) = answer else { return }
            pages[index].append(page.map(\.position))
            if !page.isEmpty {
              next(lane)
            } else if lane == StoreDatabase.deposits {
              next(StoreDatabase.loans)
            } else {
              finished.insert(index)
            }
          }
        } catch { Issue.record("\(error)") }
      }
      next(StoreDatabase.deposits)
    }
    try stage.client.runLoop { finished.count == branches.count }
    let claimed = pages.flatMap { $0 }.flatMap { $0 }
    #expect(claimed.count == 2_000 && Set(claimed).count == 2_000)
    for own in pages { #expect(own.flatMap { $0 } == own.flatMap { $0 }.sorted()) }
    #expect(pages.count { !$0.flatMap { $0 }.isEmpty } > 1, "one branch alone has claimed all customers")
    try stage.check()
    // In the order of the times, too.
    let backwards = try stage.number(
      """
      SELECT count(*) FROM (
        SELECT first, lag(last) OVER (PARTITION BY lane ORDER BY claimed_at) AS before FROM bank.claim) AS k
      WHERE first <= before
      """)
    #expect(backwards == 0)
  }

  @Test("Returned customers are claimed first, in order, and no claim waits for another one")
  func returned() throws {
    let stage = try StoreDatabase()
    let (dead, living) = (try stage.join("dead"), try stage.join("living"))
    try stage.enqueue(dead, 40)
    for _ in 0..<3 { _ = try stage.ask(stage.client, dead.claim(lane: StoreDatabase.deposits, atMost: 10)) }
    try stage.expire(dead)
    let ranges = try stage.ask(stage.client, PostgresBranch.rescue(dead))
    #expect(ranges?.map(\.first).sorted() == [1, 11, 21])
    let slow = try stage.another()
    try slow.run("BEGIN")
    let place: [PostgresValue] = [
      .integer(living.id), .integer(living.epoch), .integer(StoreDatabase.deposits), .integer(20),
      .integer(0),
    ]
    // As many pieces as may come together.
    let held = try slow.rows(PostgresStatements.claimReturned.with(place))[0]
    #expect(held.count == 20)
    // While that one is not committed.
    let second = try stage.ask(stage.client, living.claim(lane: StoreDatabase.deposits, atMost: 5))
    #expect(second.map(\.ticket) == Array(31...35))
    try slow.run("COMMIT")
    let third = try stage.ask(stage.client, living.claim(lane: StoreDatabase.deposits, atMost: 5))
    #expect(third.map(\.ticket) == Array(21...30) + Array(36...40))
    #expect(try stage.ask(stage.client, living.claim(lane: StoreDatabase.deposits, atMost: 5)).isEmpty)
    try stage.check()
  }

  @Test("A part of a page can be returned, and the rest stays claimed")
  func parts() throws {
    let stage = try StoreDatabase()
    let (one, other) = (try stage.join("one"), try stage.join("other"))
    try stage.enqueue(one, 10)
    _ = try stage.ask(stage.client, one.claim(lane: StoreDatabase.deposits, atMost: 10))
    func returnClaimed(_ branch: PostgresBranch, _ tickets: Int64...) throws -> Int64 {
      _ = try stage.ask(stage.client, branch.returnClaimed(lane: StoreDatabase.deposits, tickets))
      try stage.check()
      return try #require(try stage.number("SELECT count(*) FROM bank.returned_range"))
    }
    #expect(try returnClaimed(other, 4, 5, 6) == 0)
    #expect(try returnClaimed(one, 4, 5, 6) == 3)
    #expect(try returnClaimed(one, 6, 7) == 4, "a part of it was returned before")
    #expect(try returnClaimed(one, 10, 1, 99) == 6)
    let page = try stage.ask(stage.client, other.claim(lane: StoreDatabase.deposits, atMost: 4))
    #expect(page.map(\.ticket) == [1, 4, 5, 6])
    let rest = try stage.ask(stage.client, other.claim(lane: StoreDatabase.deposits, atMost: 9))
    #expect(rest.map(\.ticket) == [7, 10])
    // What the first has left comes back with its end, and nothing of the second's.
    #expect(try stage.ask(stage.client, one.leave())?.map(\.first).sorted() == [2, 8])
    try stage.check()
  }

  // MARK: - Fences

  @Test("A late completion of a fenced epoch has no effect, and neither has any other late request")
  func late() throws {
    let stage = try StoreDatabase()
    let zombie = try stage.join("zombie")
    try stage.enqueue(zombie, 20)
    let page = try stage.ask(stage.client, zombie.claim(lane: StoreDatabase.deposits, atMost: 10))
    let done = StoreDatabase.completion(of: page.map(\.position))
    // A live branch cannot be rescued, and nothing is taken from it.
    #expect(try stage.ask(stage.client, PostgresBranch.rescue(zombie)) == nil)
    #expect(try stage.ask(stage.client, PostgresBranch.expired).isEmpty)
    try stage.expire(zombie)
    #expect(try stage.ask(stage.client, PostgresBranch.expired) == [zombie])
    #expect(try stage.ask(stage.client, PostgresBranch.rescue(zombie))?.count == 1)
    #expect(try stage.ask(stage.client, zombie.complete(done, number: 1)) == [])
    #expect(try stage.ask(stage.client, zombie.stored([1])).isEmpty)
    #expect(try stage.ask(stage.client, zombie.renew(lease: .seconds(1))) == false)
    #expect(try stage.ask(stage.client, zombie.claim(lane: StoreDatabase.deposits, atMost: 10)).isEmpty)
    #expect(try stage.ask(stage.client, zombie.leave()) == nil)
    #expect(try stage.ask(stage.client, zombie.issueTickets([stage.intake(zombie, count: 1)])) == [nil])
    #expect(try stage.number("SELECT count(*) FROM bank.receipt") == 0)
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 20)
    try stage.check()
  }

  @Test("A repeated completion has no effect, and missing customers are not reported as done")
  func repeated() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 5)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 5))
    let most = StoreDatabase.completion(of: page.prefix(3).map(\.position))
    let all = StoreDatabase.completion(
      of: page.map(\.position) + [PostgresPosition.of(lane: StoreDatabase.deposits, ticket: 99)])
    #expect(try stage.ask(stage.client, branch.complete(most, number: 1)).sorted() == [1, 2, 3])
    #expect(try stage.ask(stage.client, branch.complete(all, number: 2)).sorted() == [4, 5])
    #expect(try stage.ask(stage.client, branch.complete(all, number: 3)) == [])
    #expect(try stage.ask(stage.client, branch.stored([1, 2, 3, 4])) == [1, 2, 3])
    // The same number again is a bug of this program, and is refused whole.
    #expect(throws: PostgresError.self) {
      try stage.ask(stage.client, branch.complete(all, number: 3))
    }
    let received = try stage.ask(stage.client, PostgresBranch.receipts(of: [2, 4, 99], day: 1))
    #expect(received.map(\.ticket) == [2, 4] && received.map(\.commit) == [1, 2])
    #expect(received.allSatisfy { $0.branch == branch })
    let row = try stage.client.rows(
      .once(
        """
        SELECT lane, outcome, window_number, generation, pid, attempts, amount, account, debit, credit, issued_ms,
        started_ms, finished_ms FROM bank.receipt WHERE ticket = 2
        """))[0]
    let expected: [Int64] = [StoreDatabase.deposits, 1, 3, 2, 4242, 1, 101, 1, -1, 7, 1_000, 2_000, 3_000]
    #expect((0..<13).map { row.integer(0, $0) } == expected)
    try stage.check()
  }

  @Test("The tickets of a commit are those that it served and those that it cancelled")
  func ticketsOfCommits() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 4)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 5))
    func completion(_ outcomes: [Int64], _ from: Int) -> PostgresCompletion {
      var done = PostgresCompletion()
      for (place, outcome) in outcomes.enumerated() {
        done.add(
          position: page[from + place].position, outcome: outcome, place: 1, generation: 1, pid: 1,
          attempts: 1,
          transfer: nil, started: 1, finished: 2)
      }
      return done
    }
    #expect(
      try stage.ask(stage.client, branch.complete(completion([1, 2], 0), number: 1)).sorted() == [1, 2])
    #expect(try stage.ask(stage.client, branch.complete(completion([2], 2), number: 2)) == [3])
    #expect(try stage.ask(stage.client, branch.complete(completion([1], 3), number: 3)) == [4])
    let found = try stage.ask(stage.client, branch.receipts(of: [1, 2, 3, 4]))
    #expect(found == [1: [1, 2], 2: [3], 3: [4]])
  }

  @Test("A completion without window, transfer and start leaves these out")
  func bare() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 1)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 5))
    var done = PostgresCompletion()
    done.add(
      position: try #require(page.first).position, outcome: 2, place: nil, generation: 0, pid: 0, attempts: 0,
      transfer: nil,
      started: nil, finished: 9)
    #expect(try stage.ask(stage.client, branch.complete(done, number: 1)) == [1])
    let nulls = try stage.number(
      "SELECT num_nulls(window_number, debit, credit, started_ms)::bigint FROM bank.receipt")
    #expect(nulls == 4)
  }

  @Test("Of two branches that rescue a third one gets its customers, and the other none")
  func rescuers() throws {
    let stage = try StoreDatabase()
    let dead = try stage.join("dead")
    try stage.enqueue(dead, 30)
    for _ in 0..<3 { _ = try stage.ask(stage.client, dead.claim(lane: StoreDatabase.deposits, atMost: 10)) }
    try stage.expire(dead)
    let clients = try (0..<4).map { _ in try stage.another() }
    let answers = try clients.map { try stage.begin($0, PostgresBranch.rescue(dead)) }
    try stage.client.runLoop { answers.allSatisfy { $0.received != nil } }
    let got = try answers.compactMap { try $0.value() }
    #expect(got.count == 1 && got[0].count == 3)
    try stage.check()
  }

  @Test("A branch that joins again returns its former claims, and its former epoch can do nothing")
  func joinsAgain() throws {
    let stage = try StoreDatabase()
    let former = try stage.join("a")
    try stage.enqueue(former, 10)
    let page = try stage.ask(stage.client, former.claim(lane: StoreDatabase.deposits, atMost: 10))
    let some = StoreDatabase.completion(of: page.prefix(4).map(\.position))
    _ = try stage.ask(stage.client, former.complete(some, number: 1))
    let joined = try stage.ask(stage.client, PostgresBranch.join("a", lease: .seconds(60)))
    #expect(joined.branch.id == former.id && joined.branch.epoch == former.epoch + 1)
    #expect(joined.returned.map(\.first) == [1])
    let rest = StoreDatabase.completion(of: page.dropFirst(4).map(\.position))
    #expect(try stage.ask(stage.client, former.complete(rest, number: 2)) == [])
    let again = try stage.ask(stage.client, joined.branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    #expect(again.map(\.ticket) == Array(5...10))
    #expect(try stage.ask(stage.client, joined.branch.complete(rest, number: 1)).count == 6)
    try stage.check()
  }

  @Test("Plans made for empty tables scan no whole table when these have filled")
  func plans() throws {
    let stage = try StoreDatabase()
    try stage.client.run(
      "INSERT INTO bank.branch (name, epoch, lease_expires_at, opened_ms, schema_version) SELECT g::text, 1, '-infinity', 1, 2 FROM generate_series(1, 300) g",
      "VACUUM ANALYZE")
    let branch = try stage.join("a")
    func work() throws {
      let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
      _ = try stage.ask(
        stage.client, branch.complete(StoreDatabase.completion(of: page.map(\.position)), number: 1))
    }
    try work()
    _ = try stage.ask(stage.client, PostgresBranch.rescue(branch))
    let lane = StoreDatabase.deposits
    try stage.client.run(
      """
      INSERT INTO bank.customer (position, amount, account, issued_ms)
      SELECT \(PostgresPosition.of(lane: lane, ticket: 0)) + g, 1, 1, 1 FROM generate_series(1, 20000) g
      """, "INSERT INTO bank.claim SELECT \(lane), g, g, 1, 1, now(), g FROM generate_series(1, 5000) g",
      "INSERT INTO bank.returned_range SELECT \(lane + 1), g, g FROM generate_series(1, 5000) g")
    // There are as many rows as branches in one table, and as large requests in progress in another.
    func some(_ count: Int) -> String { Array(repeating: "ARRAY[1]", count: count).joined(separator: ", ") }
    for call in [
      "bank-complete\"(1, 1, 9, 0, \(some(10)), 1, \(some(6)))",
      "bank-claim-next\"(1, 1, \(lane), 10, 1)", "bank-claim-returned\"(1, 1, \(lane), 10, 1)",
      "bank-give-back\"",
    ] {
      let rows = try stage.client.rows(.once("EXPLAIN EXECUTE \"\(call)"))[0]
      let plan = (0..<rows.count).compactMap { rows.text($0, 0) }
      #expect(
        !plan.isEmpty
          && !plan.contains {
            $0.contains("Seq Scan") && !$0.contains("on branch") && !$0.contains("on staged_batch")
          }, "\(plan.joined(separator: "\n"))")
      if call.hasPrefix("bank-complete") { #expect(!plan.contains { $0.contains("Nested Loop") }) }
    }
  }

  @Test(
    "If all but one of a page are served, that one is returned, whichever it is",
    arguments: [0, 4, 9])
  func oneLeft(_ left: Int) throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 20)
    let pages = try (0..<2).map { _ in
      try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    }
    var done = pages.flatMap { $0 }.map(\.position)
    done.remove(at: left)
    _ = try stage.ask(stage.client, branch.complete(StoreDatabase.completion(of: done), number: 1))
    let joined = try stage.ask(stage.client, PostgresBranch.join("a", lease: .seconds(60)))
    #expect(joined.returned == [.init(lane: StoreDatabase.deposits, first: 1, last: 10)])
    let page = try stage.ask(stage.client, joined.branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    #expect(page.map(\.ticket) == [Int64(left) + 1])
    try stage.check()
  }

  // MARK: - Concurrency

  /// A request in a transaction that is open when its branch's epoch is ended: the end waits, and sees it.
  @Test("A rescue waits for a completion and a claim in progress, and takes them into account")
  func rescueWaits() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 30)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    try stage.expire(branch)
    let fence: [PostgresValue] = [.integer(branch.id), .integer(branch.epoch)]
    let slow = try stage.another()
    try slow.run("BEGIN")
    let done = StoreDatabase.completion(of: page.map(\.position))
    try slow.rows(PostgresStatements.complete.with(fence + [.integer(1), .integer(0)] + done.values))
    try slow.rows(
      PostgresStatements.lockLane(.integer(StoreDatabase.deposits)),
      PostgresStatements.claimNext.with(
        fence + [.integer(StoreDatabase.deposits), .integer(10), .integer(2)]))
    let rescue = try stage.begin(stage.client, PostgresBranch.rescue(branch))
    try waitsForLock(stage, stage.client)
    #expect(rescue.received == nil)
    try slow.run("COMMIT")
    try stage.client.runLoop { rescue.received != nil }
    // All customers of the first page are served; the second was claimed while the rescue waited.
    #expect(try rescue.value()?.map(\.first) == [11])
    try stage.check()
  }

  @Test("A completion and a claim wait for a rescue in progress, and then have no effect")
  func completionWaits() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 30)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    try stage.expire(branch)
    let slow = try stage.another()
    try slow.run("BEGIN")
    try slow.rows(
      PostgresStatements.fenceExpired.with([.integer(branch.id), .integer(branch.epoch), .integer(0)]),
      PostgresStatements.returnClaimed())
    let (first, second) = (try stage.another(), try stage.another())
    let done = StoreDatabase.completion(of: page.map(\.position))
    let completion = try stage.begin(first, branch.complete(done, number: 1))
    let claim = try stage.begin(second, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    try waitsForLock(stage, first)
    try waitsForLock(stage, second)
    // A renewal of the lease waits, too, and comes too late.
    try slow.run("COMMIT")
    try stage.client.runLoop { completion.received != nil && claim.received != nil }
    #expect(try completion.value() == [] && claim.value().isEmpty)
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 30)
    try stage.check()
  }

  @Test("A renewal of the lease waits for no completion")
  func renewal() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("a")
    try stage.enqueue(branch, 10)
    let page = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    let slow = try stage.another()
    try slow.run("BEGIN")
    let done = StoreDatabase.completion(of: page.map(\.position))
    try slow.rows(
      PostgresStatements.complete.with(
        [.integer(branch.id), .integer(branch.epoch), .integer(1), .integer(0)] + done.values))
    #expect(try stage.ask(stage.client, branch.renew(lease: .seconds(4))))
    try slow.run("COMMIT")
    try stage.check()
  }

  private func waitsForLock(_ stage: StoreDatabase, _ client: PostgresClient) throws {
    let watcher = try PostgresClient.connected(stage.address)
    let end = SystemClock.monotonic() + .seconds(120)
    while try watcher.rows(
      .once(
        """
        SELECT count(*) FROM pg_stat_activity WHERE pid = \(client.connection.backend) AND wait_event_type = 'Lock'
        """))[0].integer(0, 0) == 0
    {
      try #require(SystemClock.monotonic() < end, "it waits for no other transaction")
    }
  }
}
