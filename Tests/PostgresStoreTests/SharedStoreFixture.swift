// The shared database of a test, and its branches, all on one loop. Each branch claims customers who may
// wait, serves them, and records what it was sent. Failure: a condition that does not hold within two minutes
// fails the test.
import BankModel
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

/// A branch without windows: a claimed customer is served at once, or when the test decides.
final class TestBranch {
  let name: String
  let store: SharedStore
  private(set) var opening: JoinResult?
  private(set) var joins: [JoinResult] = []
  private(set) var losses: [LeaseLoss] = []
  private(set) var failures: [SharedStoreFailure] = []
  private(set) var refusals: [StoreError] = []
  private(set) var transactionsLost: [Int64] = []
  /// The mark of the database to remember, and of restored ones.
  private(set) var known: SharedStoreProgress?
  private(set) var older: [StoreRollback] = []
  private(set) var interruptions: [PostgresError] = []
  private(set) var numbers: BankCounters?
  private(set) var leaseUntil: MonotonicTime?
  private(set) var answers: [RequestNumber: StoreReply] = [:]
  private(set) var days: [BusinessDay] = []
  /// Tickets for which its stock is to be asked, as last reported.
  private(set) var owed: [OwedRelease] = []
  private(set) var isDraining = false
  /// Customers whom another branch has taken out, or this one.
  private(set) var cancelledElsewhere: [TicketNumber] = []
  /// Pages in the order in which they came.
  private(set) var pages: [(line: Line, customers: [CustomerWithPayload])] = []
  /// Claimed customers.
  var inFlight: [CustomerWithPayload] = []
  /// Tickets with a receipt of this branch, as reported to it, and tickets reported as without effect.
  private(set) var done: [TicketNumber] = []
  private(set) var rejectedCompletions: [TicketNumber] = []
  private(set) var dropped: [TicketNumber] = []
  private(set) var received: [PostgresStoreEvent] = []
  /// Lines in which customers may wait, and for which no page was requested since.
  private(set) var lineMayHaveCustomers: Set<Line> = []
  /// True if all customers are claimed, and served as soon as they come.
  var servesImmediately = false
  var pageSize = 10
  private var underway: [[TicketNumber]] = []
  /// True if no line may have waiting customers, and no page was requested.
  var isIdle: Bool { lineMayHaveCustomers.isEmpty && asked.isEmpty && inFlight.isEmpty }
  /// The number of renewals of the lease.
  private(set) var renewals = 0
  /// True if the result of all that it has handed over is known.
  var isSettled: Bool { underway.isEmpty }
  private var asked: Set<Line> = []

  init(
    _ name: String, _ address: String, _ loop: EventLoop, lease: TimeSpan = .seconds(20),
    services: [ServiceName] = [], knowing known: SharedStoreProgress? = nil, isElsewhere: Bool = false,
    homeIdentity: String = "", bounds: EnqueueLimits = EnqueueLimits()
  )
    throws
  {
    self.name = name
    var settings = SharedStore.Settings(
      place: try .ofSharedStore(address), name: name, host: "\(name).example", services: services,
      homeIdentity: homeIdentity)
    (settings.lease, settings.bounds) = (lease, bounds)
    (settings.known, settings.isElsewhere) = (known, isElsewhere)
    store = SharedStore(settings, loop: loop)
  }

  func finishIteration() {
    store.finishIteration()
    while let event = store.takeEvent() { handle(event) }
    guard servesImmediately, opening != nil else { return }
    for line in lineMayHaveCustomers.subtracting(asked) {
      lineMayHaveCustomers.remove(line)
      claim(line)
    }
    serve()
  }

  func claim(_ line: Line) {
    asked.insert(line)
    store.claim(line, limit: pageSize)
  }

  /// Serves the claimed customers, as one transaction.
  func serve(_ change: (inout Receipt) -> Void = { _ in }) {
    guard !inFlight.isEmpty else { return }
    for one in inFlight {
      store.stage(.finish(one.customer, from: .waiting, Self.receipt(one.customer, change)))
    }
    hand(over: inFlight.map(\.customer.ticket))
    inFlight = []
  }

  /// Hands over staged changes, which end these customers.
  func hand(over tickets: [TicketNumber]) {
    underway.append(tickets)
    store.commit()
  }

  static func receipt(_ customer: Customer, _ change: (inout Receipt) -> Void = { _ in }) -> Receipt {
    var receipt = Receipt(
      day: 1, ticket: customer.ticket, service: customer.service, priority: customer.priority,
      outcome: .served,
      window: Window(service: customer.service, place: 1), generation: 1, pid: 4242,
      attempts: customer.attempts + 1, amount: customer.amount, account: customer.account,
      issuedAt: customer.issuedAt, startedAt: WallTime(milliseconds: 2_000),
      finishedAt: WallTime(milliseconds: 3_000), itemName: customer.itemName)
    change(&receipt)
    return receipt
  }

  private func handle(_ event: PostgresStoreEvent) {
    received.append(event)
    switch event {
    case .refused(let failure): failures.append(failure)
    case .interrupted(let error): interruptions.append(error)
    case .services: break
    case .joined(let opening):
      #expect(underway.isEmpty, "what was in progress is reported before the branch joins again")
      self.opening = opening
      joins.append(opening)
      lineMayHaveCustomers = []
      asked = []
    case .leaseExtended(let moment):
      leaseUntil = moment
      renewals += 1
    case .lost(let loss):
      losses.append(loss)
      opening = nil
      inFlight = []
      asked = []
    case .committed(let without):
      let tickets = underway.removeFirst()
      done += tickets.filter { !without.contains($0) }
      rejectedCompletions += without
    case .dropped: dropped += underway.removeFirst()
    case .commitRefused(let error):
      underway = []
      refusals.append(error)
    case .page(let line, let page):
      asked.remove(line)
      if !page.isEmpty { lineMayHaveCustomers.insert(line) }
      pages.append((line, page))
      inFlight += page
    case .lineMayHaveCustomers(let line): lineMayHaveCustomers.insert(line)
    case .cancelledElsewhere(let ticket): cancelledElsewhere.append(ticket)
    case .answered(let request, let answer):
      #expect(answers[request] == nil, "a request is answered once")
      answers[request] = answer
    case .numbers(let numbers): self.numbers = numbers
    case .countersConfirmed: break
    case .releases(let owed): self.owed = owed
    case .dayBegan(let day, _): days.append(day)
    case .draining(let drains): isDraining = drains
    case .known(let mark): known = mark
    case .older(let rollback): older.append(rollback)
    case .transactionsLost(let commits): transactionsLost += commits
    }
  }
}

final class SharedStoreFixture {
  static let deposits = Line(service: .deposit, priority: .regular)
  static let loans = Line(service: .loan, priority: .vip)

  let stage: StoreDatabase
  let loop: EventLoop
  private(set) var branches: [TestBranch] = []
  private var lastRequest: RequestNumber = 0

  init(on cluster: PostgresCluster? = nil) throws {
    stage = try StoreDatabase(prepared: false, on: cluster)
    loop = stage.client.loop
  }

  /// A branch that has joined.
  func open(
    _ name: String, at address: String? = nil, lease: TimeSpan = .seconds(20), services: [ServiceName] = [],
    knowing known: SharedStoreProgress? = nil, isElsewhere: Bool = false, homeIdentity: String = "",
    bounds: EnqueueLimits = EnqueueLimits()
  ) throws
    -> TestBranch
  {
    let branch = try begin(
      name, at: address, lease: lease, services: services, knowing: known, isElsewhere: isElsewhere,
      homeIdentity: homeIdentity, bounds: bounds)
    try runLoop { branch.opening != nil || !branch.failures.isEmpty }
    if let failure = branch.failures.first { throw failure }
    return branch
  }

  /// A branch that is about to join.
  func begin(
    _ name: String, at address: String? = nil, lease: TimeSpan = .seconds(20), services: [ServiceName] = [],
    knowing known: SharedStoreProgress? = nil, isElsewhere: Bool = false, homeIdentity: String = "",
    bounds: EnqueueLimits = EnqueueLimits()
  ) throws -> TestBranch {
    let branch = try TestBranch(
      name, address ?? stage.address, loop, lease: lease, services: services, knowing: known,
      isElsewhere: isElsewhere, homeIdentity: homeIdentity, bounds: bounds)
    branches.append(branch)
    return branch
  }

  /// The branch does not run any more.
  func stopRunning(_ branch: TestBranch) { branches.removeAll { $0 === branch } }

  func runLoop(
    within span: TimeSpan = .seconds(120), until condition: () throws -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let end = SystemClock.monotonic() + span
    while try !condition() {
      try #require(
        SystemClock.monotonic() < end, "the condition does not hold in time", sourceLocation: sourceLocation)
      let soon = SystemClock.monotonic() + .milliseconds(10)
      let next = branches.map(\.store.nextDeadline).reduce(soon) { MonotonicTime.earlier($0, $1) ?? $0 }
      _ = try loop.runOnce(until: next)
      stage.client.connection.finishIteration()
      for branch in branches { branch.finishIteration() }
    }
  }

  func request() -> RequestNumber {
    lastRequest += 1
    return lastRequest
  }

  func ask(_ branch: TestBranch, _ body: (SharedStore, RequestNumber) -> Void) throws -> StoreReply {
    let number = request()
    body(branch.store, number)
    try runLoop { branch.answers[number] != nil }
    return try #require(branch.answers[number])
  }

  static func customers(
    _ count: Int, _ line: Line = SharedStoreFixture.deposits, key: String? = nil, digest: Int64? = nil,
    dueAt: WallTime? = nil,
    payload: [UInt8]? = nil
  ) -> EnqueueRequest {
    var customers = EnqueueRequest(issuedAt: WallTime(milliseconds: 1_000), key: key, digest: digest)
    for number in 0..<count {
      var order = CustomerOrder(
        service: line.service, priority: line.priority, amount: 100 + Int64(number), account: Int64(number))
      order.dueAt = dueAt
      customers.add(order, payload: payload)
    }
    return customers
  }

  /// Issues this number of tickets, and waits for them.
  @discardableResult
  func enqueue(_ branch: TestBranch, _ count: Int, _ line: Line = SharedStoreFixture.deposits) throws
    -> RequestTickets
  {
    let answer = try ask(branch) { $0.enqueueCustomers($1, Self.customers(count, line)) }
    guard case .issued(let tickets) = answer else { throw Unexpected(answer: answer) }
    return tickets
  }

  struct Unexpected: Error { var answer: StoreReply }

  /// The branch has claimed all customers of a line that it can get.
  func claimAll(_ branch: TestBranch, _ line: Line = SharedStoreFixture.deposits) throws {
    while true {
      let before = branch.pages.count
      branch.claim(line)
      try runLoop { branch.pages.count > before }
      if branch.pages.last?.customers.isEmpty == true { return }
    }
  }

  func check() throws { try stage.check() }
  func number(_ text: String) throws -> Int64? { try stage.number(text) }
}
