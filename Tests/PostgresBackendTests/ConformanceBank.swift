// A bank over the interface between the queue and its database, for any kind of database: it sends the
// requests of a queue, and hands over its changes. A database in the home gets customers with their numbers,
// and an operator's requests are applied here, as the queue does it; a shared one gets the requests for both.
// It keeps no counts of its own. Failure: a condition that does not hold within two minutes fails the test.

import BankModel
import Coordinator
import Posix
import PosixFixture
import PostgresFixture
import PostgresQueries
import QueueCore
import PostgresBackend
import Storage
import Testing
import Time

/// The kinds of database against which every case runs.
enum BackendKind: CaseIterable, CustomStringConvertible, Sendable {
  case memory, sqlite, postgres

  /// Those that exist on this machine.
  static let present = allCases.filter { $0 != .postgres || PostgresCluster.isInstalled }

  var description: String {
    switch self {
    case .memory: "in memory"
    case .sqlite: "in SQLite"
    case .postgres: "in PostgreSQL"
    }
  }
}

/// Deviations of a database, planted so that the case for each is seen to find it.
enum StoreDefect: CaseIterable, Sendable {
  case forgetsIdempotencyKeys, losesPayloads, losesLastCommit, claimsLastFirst, keepsCancelledCustomers,
    skipsAnAttempt
  case neverRequeuesDue, losesResults
}

final class ConformanceBank {
  static let deposits = Line(service: .deposit, priority: .regular)
  static let vip = Line(service: .deposit, priority: .vip)
  static let loans = Line(service: .loan, priority: .regular)

  let kind: BackendKind
  private let difference: StoreDefect?
  private var dayCounters = DayCounters(day: 1, openedAt: WallTime(milliseconds: 0))
  private(set) var day: BusinessDay = 1
  private(set) var inFlight: Set<TicketNumber> = []
  private var local: (any LocalQueueStore)?
  private var directory: TemporaryDirectory?
  private var database = ""
  private var shared: (any SharedQueueStore)?
  private var stage: ReaderDatabase?
  private var reader: PostgresReader?
  private var events: [QueueEvent] = []
  private var storeEvents: [SharedStoreEvent] = []
  private var lastRequest: RequestNumber = 0

  init(_ kind: BackendKind, _ difference: StoreDefect? = nil) throws {
    (self.kind, self.difference) = (kind, difference)
    switch kind {
    case .memory: local = MemoryStore()
    case .sqlite:
      let made = try TemporaryDirectory("seam")
      database = made.path + "/bank.db"
      directory = consume made
    case .postgres: stage = try ReaderDatabase(prepared: false)
    }
    try open()
  }

  var store: any QueueStore {
    get throws { try #require(local ?? shared) }
  }

  /// The database as its readers see it.
  var reading: any QueueReader {
    get throws {
      if let local { return local }
      let reader = try #require(reader)
      _ = try reader.refresh()
      return reader
    }
  }

  private func open() throws {
    inFlight = []
    (events, storeEvents) = ([], [])
    if kind == .sqlite {
      local = nil
      local = try SQLiteStore(path: database)
    }
    if let local {
      dayCounters = try local.load(now: SystemClock.wall()).dayCounters
      day = dayCounters.day
      return
    }
    let stage = try #require(stage)
    shared = nil
    let branch = BranchJoinRequest(
      address: stage.address, name: "seam", host: "here", services: ServiceName.branch)
    let joining = try BranchJoin(branch, on: stage.client.loop)
    var joined: (store: any SharedQueueStore, opening: BranchJoinState)?
    try runLoop {
      joined = try joined ?? joining.refresh()
      return joined != nil
    }
    let (store, opening) = try #require(joined)
    shared = store
    (dayCounters, day) = (opening.dayCounters, opening.dayCounters.day)
    reader = try PostgresReader(stage.address)
  }

  private func runLoop(until isDone: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + .seconds(120)
    while try !isDone() {
      try #require(SystemClock.monotonic() < end, "the condition does not hold in time")
      if let stage {
        _ = try stage.client.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
        stage.client.connection.finishIteration()
        shared?.finishIteration()
        while let said = shared?.nextEvent() { storeEvents.append(said) }
      }
      while let event = try (local ?? shared)?.takeResult() { events.append(event) }
    }
  }

  /// Waits for an event, and handles it with all earlier ones.
  private func event<Found>(_ find: (QueueEvent) -> Found?) throws -> Found {
    var found: Found?
    try runLoop {
      while found == nil, !events.isEmpty { found = find(events.removeFirst()) }
      return found != nil
    }
    return try #require(found)
  }

  private func answer(_ ask: (any SharedQueueStore, RequestNumber) -> Void) throws -> SharedStoreReply {
    lastRequest += 1
    ask(try #require(shared), lastRequest)
    var found: SharedStoreReply?
    try runLoop {
      while found == nil, !storeEvents.isEmpty {
        if case .answered(lastRequest, let answer) = storeEvents.removeFirst() { found = answer }
      }
      return found != nil
    }
    return try #require(found)
  }

  // MARK: - Tickets

  func enqueueCustomers(_ request: EnqueueRequest) throws -> SharedStoreReply {
    guard let local else { return try answer { $0.enqueueCustomers(request, for: $1) } }
    var known: [IssuedTickets] = []
    for (key, digest) in request.keyed.map({ ($0.key, $0.digest) })
      + [request.key.map { ($0, request.digest) }].compactMap(\.self)
    {
      guard difference != .forgetsIdempotencyKeys || key != "k", let found = try local.request(forKey: key)
      else {
        continue
      }
      guard found.isRepeated(by: digest) else { return .keyConflict(key) }
      known.append(found.tickets)
    }
    if request.key != nil, !known.isEmpty { return .issued(nil, known: known) }
    let first = dayCounters.issued + 1
    var tickets: [Int: TicketNumber] = [:]
    let repeated = Set(try request.keyed.filter { try local.request(forKey: $0.key) != nil }.map(\.place))
    for (place, order) in request.orders.enumerated() where !repeated.contains(place) {
      let customer = order.customer(ticket: dayCounters.issued + 1, issuedAt: request.issuedAt)
      tickets[place] = customer.ticket
      try stage(order.dueAt.map { .insertDelayed(customer, dueAt: $0) } ?? .insert(customer))
    }
    for (payload, places) in request.payloads {
      for place in places {
        guard let ticket = tickets[place] else { continue }
        try local.stage(.attach(payload: payload, to: ticket...ticket))
      }
    }
    if let key = request.key {
      let change = StoreChange.remember(
        key: key, day: day, first: first, last: dayCounters.issued, request: request.digest)
      if difference != .forgetsIdempotencyKeys { try local.stage(change) }
    }
    for (place, key, digest) in request.keyed {
      guard let ticket = tickets[place] else { continue }
      try local.stage(.remember(key: key, day: day, first: ticket, last: ticket, request: digest))
    }
    try commit()
    let new = tickets.isEmpty ? nil : IssuedTickets(day: day, first: first, last: dayCounters.issued)
    return .issued(new, known: known)
  }

  /// Customers of a line, one for each of these amounts.
  @discardableResult
  func enqueue(
    _ line: Line, _ amounts: [Won], key: String? = nil, digest: Int64? = nil, dueAt: WallTime? = nil,
    payload: [UInt8]? = nil
  ) throws -> SharedStoreReply {
    var request = EnqueueRequest(issuedAt: SystemClock.wall(), key: key, digest: digest)
    request.orders = amounts.map {
      CustomerOrder(service: line.service, priority: line.priority, amount: $0, account: 7, dueAt: dueAt)
    }
    if let payload { request.payloads = [(payload, 0..<amounts.count)] }
    return try enqueueCustomers(request)
  }

  // MARK: - Claimed customers

  /// The next unclaimed customers of a line, up to this limit, in their order.
  func claim(_ line: Line, _ limit: Int) throws -> [Customer] {
    let isLocal = local != nil
    let asked = isLocal ? limit + inFlight.count : limit
    if let event = try store.ask(.page(line, after: 0, limit: asked)) { events.append(event) }
    var page: [Customer] = try event { event in
      if case .pageLoaded(line, let page) = event { page } else { nil }
    }
    page = Array(page.filter { !inFlight.contains($0.ticket) }.prefix(limit))
    if difference == .claimsLastFirst { page.reverse() }
    inFlight.formUnion(page.map(\.ticket))
    return page
  }

  func payload(of ticket: TicketNumber) throws -> [UInt8]? {
    difference == .losesPayloads ? nil : try store.payload(of: ticket)
  }

  func stage(_ change: StoreChange) throws {
    if local != nil { dayCounters.count(change) }
    switch change {
    case .finish(let customer, _, var receipt):
      inFlight.remove(customer.ticket)
      if difference == .losesResults { receipt.result = nil }
      if difference == .losesResults { return try store.stage(.finish(customer, from: .waiting, receipt)) }
    case .postpone(let customer, _), .bury(let customer): inFlight.remove(customer.ticket)
    case .record where difference == .skipsAnAttempt: return
    default: break
    }
    try store.stage(change)
  }

  /// Hands over what was staged, and waits until it is in the database; returns changes without effect.
  @discardableResult
  func commit() throws -> [TicketNumber] {
    guard try store.commit(dayCounters, arriving: nil) == .underway else { return [] }
    var without: [TicketNumber] = []
    try event { event -> Void? in
      if case .withoutEffect(let tickets) = event { without += tickets }
      if case .committed = event { return () }
      return nil
    }
    return without
  }

  func receipt(for customer: Customer, _ change: (inout Receipt) -> Void = { _ in }) -> Receipt {
    let now = SystemClock.wall()
    var receipt = Receipt(
      day: day, ticket: customer.ticket, service: customer.service, priority: customer.priority,
      outcome: .served,
      window: Window(service: customer.service, place: 2), generation: 3, pid: 4_242,
      attempts: customer.attempts + 1,
      amount: customer.amount, account: customer.account, issuedAt: customer.issuedAt, startedAt: now,
      finishedAt: now,
      itemName: customer.itemName)
    change(&receipt)
    return receipt
  }

  func serve(_ customers: [Customer]) throws {
    for customer in customers { try stage(.finish(customer, from: .waiting, receipt(for: customer))) }
    try commit()
  }

  /// A failed attempt is recorded and counted.
  func fail(_ customer: Customer, _ end: AttemptEnd = .failed, words: String = "") throws -> Customer {
    let now = SystemClock.wall()
    try stage(
      .record(
        Attempt(
          day: day, ticket: customer.ticket, number: customer.attempts + 1,
          window: Window(service: customer.service, place: 1), generation: 7, pid: 99, startedAt: now,
          endedAt: now,
          end: end, processEnd: end == .killed ? .signal(9) : nil, words: words)))
    var customer = customer
    customer.attempts += 1
    if end == .failed { customer.failures += 1 } else { customer.crashes += 1 }
    return customer
  }

  // MARK: - Requests of an operator, and time

  func perform(_ order: OperatorCommand) throws -> SharedStoreReply {
    guard let local else { return try answer { $0.perform(order, for: $1) } }
    switch order {
    case .cancel(let ticket):
      guard let found = try local.find(ticket) else { return .queue(.refused(try missing(ticket))) }
      var receipt = receipt(for: found.customer) { $0.outcome = .cancelled }
      (receipt.window, receipt.generation, receipt.pid) = (nil, 0, 0)
      (receipt.startedAt, receipt.postingRule, receipt.attempts) = (nil, nil, found.customer.attempts)
      if difference != .keepsCancelledCustomers {
        try stage(.finish(found.customer, from: found.state, receipt))
      }
    case .requeue(let ticket):
      guard let found = try local.find(ticket) else { return .queue(.refused(try missing(ticket))) }
      guard found.state == .dead else { return .queue(.refused(.wrongState(ticket, found.state))) }
      try makeWaiting(found.customer)
    case .requeueDead:
      let all = try local.customers(in: .dead, after: nil, limit: 1_000)
      for found in all { try makeWaiting(found.customer) }
      try commit()
      return .queue(.requeued(Int64(all.count)))
    }
    try commit()
    return .queue(.done)
  }

  private func missing(_ ticket: TicketNumber) throws -> QueueRefusal {
    try reading.receipt(day: day, ticket: ticket) == nil ? .noSuchTicket(ticket) : .wrongState(ticket, .done)
  }

  private func makeWaiting(_ customer: Customer) throws {
    var customer = customer
    (customer.crashes, customer.failures) = (0, 0)
    try stage(.revive(customer, from: .dead))
  }

  /// Waits until no customer is delayed any more: due customers are called, here by the test.
  func requeueAllDue() throws {
    try runLoop {
      if let local, difference != .neverRequeuesDue {
        let now = SystemClock.wall()
        for found in try local.delayed(after: .first, limit: 99) where found.dueAt <= now {
          try stage(.revive(found.customer, from: .delayed))
        }
        try commit()
      }
      return try difference == .neverRequeuesDue
        || reading.customers(in: .delayed, after: nil, limit: 1).isEmpty
    }
  }

  // MARK: - Ends

  /// The process is killed, and the next one opens the database.
  func crash() throws {
    if let memory = local as? MemoryStore { memory.crash() }
    shared = nil
    try open()
  }

  /// Stages what a crash is to lose, and crashes.
  func crashWithStaged() throws {
    if difference == .losesLastCommit { try commit() }
    try crash()
  }

  /// The day of the bank ends, if no customer is left, and it opens again.
  func endDay() throws {
    guard local == nil else {
      if dayCounters.isFinished { dayCounters = dayCounters.next(openedAt: SystemClock.wall()) }
      try commit()
      return try crash()
    }
    let drained = try answer { $0.drainBank(for: $1) }
    #expect(drained == .queue(.done))
    shared?.leave()
    try runLoop {
      var hasLeft = false
      while !storeEvents.isEmpty { if case .left = storeEvents.removeFirst() { hasLeft = true } }
      return hasLeft
    }
    try open()
  }
}
