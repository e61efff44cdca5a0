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
final class SharedBranch {
  let name: String
  let books: SharedBooks
  private(set) var opening: SharedOpening?
  private(set) var joins: [SharedOpening] = []
  private(set) var losses: [SharedLoss] = []
  private(set) var failures: [SharedBooksFailure] = []
  private(set) var refusals: [StoreError] = []
  private(set) var forgotten: [Int64] = []
  /// The mark of the database to remember, and of restored ones.
  private(set) var known: BooksMark?
  private(set) var older: [OlderBooks] = []
  private(set) var interruptions: [PostgresError] = []
  private(set) var numbers: BankNumbers?
  private(set) var leaseUntil: MonotonicTime?
  private(set) var answers: [RequestNumber: SharedAnswer] = [:]
  private(set) var days: [BusinessDay] = []
  /// Tickets for which its stock is to be asked, as last reported.
  private(set) var owed: [OwedRelease] = []
  private(set) var isDraining = false
  /// Customers whom another branch has taken out, or this one.
  private(set) var takenOut: [TicketNumber] = []
  /// Pages in the order in which they came.
  private(set) var pages: [(line: Line, customers: [SharedCustomer])] = []
  /// Claimed customers.
  var inHand: [SharedCustomer] = []
  /// Tickets with a receipt of this branch, as reported to it, and tickets reported as without effect.
  private(set) var done: [TicketNumber] = []
  private(set) var withoutEffect: [TicketNumber] = []
  private(set) var dropped: [TicketNumber] = []
  private(set) var told: [SharedHappening] = []
  /// Lines in which customers may wait, and for which no page was requested since.
  private(set) var mayWait: Set<Line> = []
  /// True if all customers are claimed, and served as soon as they come.
  var servesAtOnce = false
  var pageSize = 10
  private var underway: [[TicketNumber]] = []
  /// True if no line may have waiting customers, and no page was requested.
  var isIdle: Bool { mayWait.isEmpty && asked.isEmpty && inHand.isEmpty }
  /// The number of renewals of the lease.
  private(set) var renewals = 0
  /// True if the result of all that it has handed over is known.
  var isSettled: Bool { underway.isEmpty }
  private var asked: Set<Line> = []

  init(
    _ name: String, _ address: String, _ loop: EventLoop, lease: TimeSpan = .seconds(20),
    services: [ServiceName] = [], knowing known: BooksMark? = nil, isElsewhere: Bool = false,
    proof: String = "", bounds: IntakeBounds = IntakeBounds()
  )
    throws
  {
    self.name = name
    var settings = SharedBooks.Settings(
      place: try .ofBooks(address), name: name, host: "\(name).example", services: services, proof: proof)
    (settings.lease, settings.bounds) = (lease, bounds)
    (settings.known, settings.isElsewhere) = (known, isElsewhere)
    books = SharedBooks(settings, loop: loop)
  }

  func endTurn() {
    books.endTurn()
    while let happening = books.takeHappening() { hear(happening) }
    guard servesAtOnce, opening != nil else { return }
    for line in mayWait.subtracting(asked) {
      mayWait.remove(line)
      claim(line)
    }
    serve()
  }

  func claim(_ line: Line) {
    asked.insert(line)
    books.claim(line, limit: pageSize)
  }

  /// Serves the claimed customers, as one transaction.
  func serve(_ change: (inout Receipt) -> Void = { _ in }) {
    guard !inHand.isEmpty else { return }
    for one in inHand {
      books.stage(.finish(one.customer, from: .waiting, Self.receipt(one.customer, change)))
    }
    hand(over: inHand.map(\.customer.ticket))
    inHand = []
  }

  /// Hands over staged changes, which end these customers.
  func hand(over tickets: [TicketNumber]) {
    underway.append(tickets)
    books.commit()
  }

  static func receipt(_ customer: Customer, _ change: (inout Receipt) -> Void = { _ in }) -> Receipt {
    var receipt = Receipt(
      day: 1, ticket: customer.ticket, service: customer.service, priority: customer.priority,
      outcome: .served,
      window: Window(service: customer.service, place: 1), generation: 1, pid: 4242,
      attempts: customer.attempts + 1, amount: customer.amount, account: customer.account,
      issuedAt: customer.issuedAt, startedAt: WallTime(milliseconds: 2_000),
      finishedAt: WallTime(milliseconds: 3_000), article: customer.article)
    change(&receipt)
    return receipt
  }

  private func hear(_ happening: SharedHappening) {
    told.append(happening)
    switch happening {
    case .refused(let failure): failures.append(failure)
    case .interrupted(let error): interruptions.append(error)
    case .services: break
    case .joined(let opening):
      #expect(underway.isEmpty, "what was in progress is reported before the branch joins again")
      self.opening = opening
      joins.append(opening)
      mayWait = []
      asked = []
    case .leaseHolds(let moment):
      leaseUntil = moment
      renewals += 1
    case .lost(let loss):
      losses.append(loss)
      opening = nil
      inHand = []
      asked = []
    case .committed(let without):
      let tickets = underway.removeFirst()
      done += tickets.filter { !without.contains($0) }
      withoutEffect += without
    case .dropped: dropped += underway.removeFirst()
    case .commitRefused(let error):
      underway = []
      refusals.append(error)
    case .page(let line, let page):
      asked.remove(line)
      if !page.isEmpty { mayWait.insert(line) }
      pages.append((line, page))
      inHand += page
    case .mayWait(let line): mayWait.insert(line)
    case .takenOut(let ticket): takenOut.append(ticket)
    case .answered(let request, let answer):
      #expect(answers[request] == nil, "a request is answered once")
      answers[request] = answer
    case .numbers(let numbers): self.numbers = numbers
    case .looked: break
    case .releases(let owed): self.owed = owed
    case .dayBegan(let day, _): days.append(day)
    case .draining(let drains): isDraining = drains
    case .known(let mark): known = mark
    case .older(let books): older.append(books)
    case .forgotten(let commits): forgotten += commits
    }
  }
}

final class SharedStage {
  static let deposits = Line(service: .deposit, priority: .regular)
  static let loans = Line(service: .loan, priority: .vip)

  let stage: StoreStage
  let loop: EventLoop
  private(set) var branches: [SharedBranch] = []
  private var lastRequest: RequestNumber = 0

  init(on cluster: PostgresCluster? = nil) throws {
    stage = try StoreStage(prepared: false, on: cluster)
    loop = stage.client.loop
  }

  /// A branch that has joined.
  func open(
    _ name: String, at address: String? = nil, lease: TimeSpan = .seconds(20), services: [ServiceName] = [],
    knowing known: BooksMark? = nil, isElsewhere: Bool = false, proof: String = "",
    bounds: IntakeBounds = IntakeBounds()
  ) throws
    -> SharedBranch
  {
    let branch = try begin(
      name, at: address, lease: lease, services: services, knowing: known, isElsewhere: isElsewhere,
      proof: proof, bounds: bounds)
    try turn { branch.opening != nil || !branch.failures.isEmpty }
    if let failure = branch.failures.first { throw failure }
    return branch
  }

  /// A branch that is about to join.
  func begin(
    _ name: String, at address: String? = nil, lease: TimeSpan = .seconds(20), services: [ServiceName] = [],
    knowing known: BooksMark? = nil, isElsewhere: Bool = false, proof: String = "",
    bounds: IntakeBounds = IntakeBounds()
  ) throws -> SharedBranch {
    let branch = try SharedBranch(
      name, address ?? stage.address, loop, lease: lease, services: services, knowing: known,
      isElsewhere: isElsewhere, proof: proof, bounds: bounds)
    branches.append(branch)
    return branch
  }

  /// The branch does not run any more.
  func abandon(_ branch: SharedBranch) { branches.removeAll { $0 === branch } }

  func turn(
    within span: TimeSpan = .seconds(120), until condition: () throws -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let end = SystemClock.monotonic() + span
    while try !condition() {
      try #require(
        SystemClock.monotonic() < end, "the condition does not hold in time", sourceLocation: sourceLocation)
      let soon = SystemClock.monotonic() + .milliseconds(10)
      let next = branches.map(\.books.nextDeadline).reduce(soon) { MonotonicTime.earlier($0, $1) ?? $0 }
      _ = try loop.runOnce(until: next)
      stage.client.connection.endTurn()
      for branch in branches { branch.endTurn() }
    }
  }

  func request() -> RequestNumber {
    lastRequest += 1
    return lastRequest
  }

  func ask(_ branch: SharedBranch, _ body: (SharedBooks, RequestNumber) -> Void) throws -> SharedAnswer {
    let number = request()
    body(branch.books, number)
    try turn { branch.answers[number] != nil }
    return try #require(branch.answers[number])
  }

  static func customers(
    _ count: Int, _ line: Line = SharedStage.deposits, key: String? = nil, digest: Int64? = nil,
    dueAt: WallTime? = nil,
    payload: [UInt8]? = nil
  ) -> IntakeRequest {
    var customers = IntakeRequest(issuedAt: WallTime(milliseconds: 1_000), key: key, digest: digest)
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
  func enqueue(_ branch: SharedBranch, _ count: Int, _ line: Line = SharedStage.deposits) throws
    -> SharedTickets
  {
    let answer = try ask(branch) { $0.takeIn($1, Self.customers(count, line)) }
    guard case .issued(let tickets) = answer else { throw Unexpected(answer: answer) }
    return tickets
  }

  struct Unexpected: Error { var answer: SharedAnswer }

  /// The branch has claimed all customers of a line that it can get.
  func claimAll(_ branch: SharedBranch, _ line: Line = SharedStage.deposits) throws {
    while true {
      let before = branch.pages.count
      branch.claim(line)
      try turn { branch.pages.count > before }
      if branch.pages.last?.customers.isEmpty == true { return }
    }
  }

  func check() throws { try stage.check() }
  func number(_ text: String) throws -> Int64? { try stage.number(text) }
}
