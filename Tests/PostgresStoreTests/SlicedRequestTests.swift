// Large requests for tickets, with a real server: they arrive in slices before any lock is taken, get their
// tickets at once, and their customers come in even if their branch dies. Also pages that are too long to be
// sent under a lane's lock.

import BankModel
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Large requests for tickets", .enabled(if: PostgresCluster.isInstalled))
struct SlicedRequestTests {
  private var small: EnqueueLimits {
    var bounds = EnqueueLimits()
    (bounds.whole, bounds.slice, bounds.customers) = (1_000, 4_000, 40)
    return bounds
  }

  @Test(
    "Its tickets are one series, its customers are served once with payloads, others go between")
  func served() throws {
    let stage = try SharedStoreFixture()
    let branches = try ["a", "b"].map { try stage.open($0, bounds: small) }
    for branch in branches { branch.servesImmediately = true }
    let large = stage.request()
    branches[0].store.enqueueCustomers(
      large, SharedStoreFixture.customers(900, key: "k", digest: 7, payload: [1, 2, 3]))
    for _ in 0..<5 { try stage.enqueue(branches[1], 3) }
    try stage.runLoop { branches[0].answers[large] != nil }
    guard case .issued(let tickets)? = branches[0].answers[large] else {
      Issue.record("\(String(describing: branches[0].answers[large]))")
      return
    }
    #expect(tickets.new.count == 1 && tickets.count == 900)
    try stage.runLoop { branches.map(\.done.count).reduce(0, +) == 915 }
    let payloads = branches.flatMap(\.pages).flatMap(\.customers).filter { $0.payload == [1, 2, 3] }
    #expect(payloads.count == 900 && branches.allSatisfy { $0.rejectedCompletions.isEmpty })
    // The key is known, and nothing is left of the second request.
    let again = try stage.ask(branches[1]) {
      $0.enqueueCustomers($1, SharedStoreFixture.customers(900, key: "k", digest: 7, payload: [1, 2, 3]))
    }
    #expect(again == .issued(RequestTickets(known: tickets.new)))
    try stage.runLoop { try stage.number("SELECT count(*) FROM bank.staged_slice") == 0 }
    #expect(try stage.number("SELECT count(*) FROM bank.staged_batch") == 0)
    try stage.check()
  }

  @Test(
    "A list of customers with keys arrives in the same way, and known ones get no other ticket")
  func list() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a", bounds: small)
    func list(_ keys: Range<Int>) -> EnqueueRequest {
      var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: 1_000))
      for key in keys {
        customers.add(
          CustomerOrder(service: .deposit, priority: .regular, amount: 5, account: 1), key: "key \(key)",
          digest: Int64(key))
      }
      return customers
    }
    guard case .issued(let first) = try stage.ask(branch, { $0.enqueueCustomers($1, list(0..<100)) }),
      case .issued(let second) = try stage.ask(branch, { $0.enqueueCustomers($1, list(50..<250)) })
    else {
      Issue.record("no tickets were given")
      return
    }
    #expect(first.count == 100 && second.count == 150)
    #expect(second.known.reduce(0) { $0 + $1.last - $1.first + 1 } == 50)
    try stage.runLoop { try stage.number("SELECT count(*) FROM bank.staged_slice") == 0 }
    try stage.check()
  }

  @Test("Slices arrive while another branch has the intake lock; a small request waits for no slice")
  func lock() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a", bounds: small)
    let other = try stage.stage.another()
    try other.run("SELECT pg_advisory_lock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")
    let large = stage.request()
    branch.store.enqueueCustomers(large, SharedStoreFixture.customers(400))
    try stage.runLoop {
      try stage.number("SELECT coalesce(sum(count), 0)::bigint FROM bank.staged_slice") == 400
    }
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 0 && branch.answers[large] == nil)
    try other.run("SELECT pg_advisory_unlock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")
    try stage.runLoop { branch.answers[large] != nil }
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 400)
    try stage.check()
  }

  @Test("Slices of a branch that died before its request had tickets are removed by another")
  func leftBefore() throws {
    let stage = try SharedStoreFixture()
    let living = try stage.open("b")
    let dead = try stage.stage.join("a")
    let customers = EnqueueColumns(SharedStoreFixture.customers(10))
    let lanes = [SharedStoreFixture.deposits: StoreDatabase.deposits]
    for (part, slice) in [0..<5, 5..<10].enumerated() {
      #expect(
        try stage.stage.ask(
          stage.stage.client, dead.storeSlice(customers, slice, part: Int64(part), as: (1, 900), lanes: lanes)
        ))
    }
    #expect(try stage.number("SELECT count(*) FROM bank.staged_slice") == 2)
    try stage.stage.expire(dead)
    try stage.runLoop { try stage.number("SELECT count(*) FROM bank.staged_slice") == 0 }
    #expect(living.losses.isEmpty)
    try stage.enqueue(living, 3)
    try stage.check()
  }

  @Test(
    "A request with tickets comes in although its branch has died, and no later one overtakes it"
  )
  func leftBehind() throws {
    let stage = try SharedStoreFixture()
    let living = try stage.open("b")
    try stage.enqueue(living, 1)
    let lane = try #require(try stage.number("SELECT number FROM bank.lane WHERE service = 1"))
    let dead = try stage.stage.join("a")
    let columns = EnqueueColumns(SharedStoreFixture.customers(10))
    let lanes = [SharedStoreFixture.deposits: lane]
    for (part, slice) in [0..<5, 5..<10].enumerated() {
      try stage.stage.ask(
        stage.stage.client, dead.storeSlice(columns, slice, part: Int64(part), as: (1, 900), lanes: lanes))
    }
    var intake = PostgresEnqueue(customers: columns, lanes: lanes, commit: 901, name: (1, 900))
    intake.isStaged = true
    let answer = try stage.stage.ask(stage.stage.client, dead.issueTickets([intake]))[0]
    guard case .given(let tickets, true)? = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
    #expect(tickets.new.map(\.first) == [2] && tickets.new.map(\.last) == [11])
    // A customer comes after them, and the lane is open only to those before them.
    try stage.enqueue(living, 2)
    living.claim(SharedStoreFixture.deposits)
    try stage.runLoop { !living.pages.isEmpty }
    #expect(living.inFlight.map(\.customer.ticket) == [1])
    try stage.stage.expire(dead)
    try stage.runLoop { try stage.number("SELECT count(*) FROM bank.customer") == 13 }
    living.servesImmediately = true
    try stage.runLoop { living.done.count == 13 }
    #expect(living.done.sorted() == Array(1...13))
    #expect(try stage.number("SELECT count(*) FROM bank.staged_batch") == 0)
    try stage.check()
  }

  @Test("A request whose slices are gone when it is to get its tickets sends them again")
  func sentAgain() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a", bounds: small)
    let other = try stage.stage.another()
    try other.run("SELECT pg_advisory_lock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")
    let large = stage.request()
    branch.store.enqueueCustomers(large, SharedStoreFixture.customers(200))
    try stage.runLoop {
      try stage.number("SELECT coalesce(sum(count), 0)::bigint FROM bank.staged_slice") == 200
    }
    try other.run("DELETE FROM bank.staged_slice WHERE part = 1")
    try other.run("SELECT pg_advisory_unlock(\(PostgresSchema.lockClass), \(PostgresSchema.intakeLock))")
    try stage.runLoop { branch.answers[large] != nil }
    guard case .issued(let tickets)? = branch.answers[large] else {
      Issue.record("\(String(describing: branch.answers[large]))")
      return
    }
    #expect(tickets.count == 200)
    #expect(try stage.number("SELECT count(*) FROM bank.customer") == 200)
    try stage.check()
  }

  @Test("A page too long to be sent under the lane's lock follows after it, in its place")
  func longPage() throws {
    let stage = try SharedStoreFixture()
    let branch = try stage.open("a")
    let payload = [UInt8](repeating: 7, count: 20_000)
    _ = try stage.ask(branch) { $0.enqueueCustomers($1, SharedStoreFixture.customers(6, payload: payload)) }
    let lane = try #require(try stage.number("SELECT number FROM bank.lane WHERE service = 1"))
    let own = try #require(branch.opening?.branch)
    let page = try stage.stage.ask(stage.stage.client, own.claimPage(lane: lane, atMost: 2, number: 50))
    #expect(page == nil, "nothing of it is sent under the lock")
    let there = try stage.stage.ask(stage.stage.client, own.claimed(50))
    #expect(there?.map(\.ticket) == [1, 2] && there?.allSatisfy { $0.payload == payload } == true)
    branch.pageSize = 3
    for _ in 0..<2 { branch.claim(SharedStoreFixture.deposits) }
    try stage.runLoop { branch.pages.count == 2 }
    #expect(branch.pages.map { $0.customers.map(\.customer.ticket) } == [[3, 4, 5], [6]])
    #expect(branch.inFlight.allSatisfy { $0.payload == payload })
  }
}
