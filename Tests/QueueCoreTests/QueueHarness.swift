// A small world around the queue for tests: a store that can crash or be full, tellers that come, work, fail
// and die, and a model of which customer must be assigned next. A seed decides everything.

import BankModel
import QueueCore
import Testing
import Time

/// The contents of a store, as plain dictionaries.
struct StoredState {
  var dayCounters: DayCounters
  var customers: [TicketNumber: StoredCustomer] = [:]
  var receipts: [TicketNumber: Receipt] = [:]
  var earlierDays = 0

  /// Removes the arrivals without numbers.
  mutating func dropArrivals() {
    let issued = dayCounters.issued
    customers = customers.filter { $0.key <= issued }
  }
}

/// A teller as the world sees it.
enum Teller: Equatable {
  case starting
  case idle
  /// It holds these leases, and serves the first one.
  case holding([Lease])
  case dismissed

  var leases: [Lease] { if case .holding(let leases) = self { leases } else { [] } }
}

final class QueueHarness {
  var machine: QueueMachine
  var chance: SeededGenerator
  let policy: QueuePolicy
  var now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 1_000_000))
  var staged: StoredState
  var committed: StoredState
  /// True if the store answers later; `underway` holds its commits in flight, the oldest first.
  let commitsAsynchronously: Bool
  var underway: [StoredState] = []
  /// Random numbers for late answers, apart from the others, so that these stay the same.
  private var later: SeededGenerator
  var together = 0
  var tellers: [Window: Teller] = [:]
  var generations: [Window: Generation] = [:]
  var requests: RequestNumber = 0
  var open: Set<RequestNumber> = []
  /// Tickets of the present day that were announced to clients.
  var reportedTickets: Set<TicketNumber> = []
  var lastIssued: ClosedRange<TicketNumber>?
  var hasDrained = false
  var faults: [String] = []
  var assignments = 0
  var crashes = 0
  var dead = 0
  var refusedForDisk = 0
  /// The shortages of customers that this process ended. A full disk causes receipts to be written more than
  /// once.
  var sentAway: [TicketOfDay: [Shortage]] = [:]

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed)
    var policy = QueuePolicy()
    policy.lineCapacity = Int(chance.draw(2...6))
    policy.lineLowWater = Int(chance.draw(1...4))
    policy.maxWaiting = chance.draw(20...400)
    policy.maxUncommitted = Int(chance.draw(8...200))
    policy.delayedCapacity = Int(chance.draw(1...5))
    policy.delayedLowWater = Int(chance.draw(1...3))
    policy.maxCrashes = Int32(chance.draw(1...3))
    policy.maxFailures = Int32(chance.draw(1...5))
    policy.lease = .seconds(10)
    policy.prefetch = Int(chance.draw(1...2) == 1 ? 1 : chance.draw(2...5))
    later = SeededGenerator(seed: seed ^ 0x1A7E)
    commitsAsynchronously = later.draw(0...1) == 0
    policy.maxUnderway = Int(later.draw(1...5))
    self.policy = policy
    let kept = StoredState(dayCounters: DayCounters(day: 1, openedAt: WallTime(milliseconds: 0)))
    staged = kept
    committed = kept
    machine = QueueMachine(StoredQueue(dayCounters: kept.dayCounters, delayed: []), policy: policy, at: now)
  }

  func fault(_ words: String) { faults.append(words) }

  func process(_ event: QueueEvent) {
    var effects: [QueueEffect] = []
    machine.apply(event, at: now, into: &effects)
    effects.performAll(perform)
    check()
  }

  func request() -> RequestNumber {
    requests += 1
    open.insert(requests)
    return requests
  }

  // MARK: - Effects

  private func perform(_ effect: QueueEffect, _ effects: inout [QueueEffect]) {
    switch effect {
    case .stage(let change): stage(change)
    case .loadPage(let line, let after, let limit):
      let page = staged.customers.values
        .filter { $0.state == .waiting && $0.customer.line == line && $0.customer.ticket > after }
        .map(\.customer).sorted { $0.ticket < $1.ticket }.prefix(limit)
      machine.apply(.pageLoaded(line, Array(page)), at: now, into: &effects)
    case .loadDelayed(let after, let limit):
      let page = delayed.filter { after < $0.place && $0.customer.ticket <= staged.dayCounters.issued }
        .prefix(
          limit)
      machine.apply(.delayedLoaded(Array(page)), at: now, into: &effects)
    case .lookUp(let request, let ticket):
      machine.apply(.found(request, ticket: ticket, staged.customers[ticket]), at: now, into: &effects)
    case .loadDead(let request, let limit):
      let letters = staged.customers.values.filter { $0.state == .dead }.map(\.customer)
        .sorted { $0.ticket < $1.ticket }.prefix(limit)
      machine.apply(.deadLoaded(request, Array(letters)), at: now, into: &effects)
    case .forward, .logRejectedCompletion: fault("this database is not shared")
    case .assign(let window, let lease, let customer): assign(window, lease, customer)
    case .recall(let window, let lease):
      if tellers[window]?.leases.contains(lease) != true {
        fault("\(window) is asked for \(lease), which it does not hold")
      }
    case .openWindow(let window): if tellers[window] == nil { tellers[window] = .starting }
    case .acceptSlice, .closeWindow, .acknowledge, .announce, .notifyNoMoreCustomers: break
    case .dismissTeller(let window):
      if tellers[window] != .idle { fault("\(window) is dismissed with an assigned customer") }
      tellers[window] = .dismissed
    case .killStuckTeller(let window, let generation), .killRogueTeller(let window, let generation, _):
      if generations[window] != generation { fault("\(window): the wrong generation is ended") }
      if tellers[window] == .starting || tellers[window] == nil {
        fault("\(window): a teller is ended that is gone")
      }
      tellers[window] = .dismissed
    case .logDeadLetter: dead += 1
    case .logPause: break
    case .reply(let request, let answer): reply(request, answer)
    case .reportDrained:
      if hasDrained { fault("the drain was reported twice") }
      hasDrained = true
    }
  }

  private func reply(_ request: RequestNumber, _ answer: QueueAnswer) {
    if open.remove(request) == nil { fault("request \(request) was answered twice") }
    switch answer {
    case .enqueued(let tickets):
      guard tickets.first <= tickets.last else { return }
      for ticket in tickets.first...tickets.last where tickets.day == machine.dayCounters.day {
        if !reportedTickets.insert(ticket).inserted { fault("ticket \(ticket) was announced twice") }
        if committed.customers[ticket] == nil, committed.receipts[ticket] == nil {
          fault("ticket \(ticket) was announced and is not on disk")
        }
      }
    case .refused(.diskFull): refusedForDisk += 1
    default: break
    }
  }

  private func assign(_ window: Window, _ lease: Lease, _ customer: Customer) {
    assignments += 1
    let held = tellers[window]?.leases ?? []
    // Before it may be a customer who was taken out and has not been returned.
    let isServed = machine.numbers(of: window)?.lease.map(held.contains) ?? false
    if tellers[window] != .idle, !isServed || held.count >= policy.prefetch {
      fault("\(window) got a customer with \(tellers[window] as Any)")
    }
    if customer.service != window.service { fault("\(window) got a customer for \(customer.service)") }
    if machine.dayCounters.paused[window.service.index] {
      fault("\(window) is paused and got a customer")
    }
    if !reportedTickets.contains(customer.ticket) {
      fault("ticket \(customer.ticket) is served before it was announced")
    }
    // A teller that still holds a customer of a day that was reset holds none of today.
    let taken = Set(
      tellers.flatMap { window, teller -> [TicketNumber] in
        machine.numbers(of: window)?.lease.map(teller.leases.contains) == true
          ? teller.leases.map(\.ticket) : []
      })
    let first = staged.customers.values
      .filter {
        $0.state == .waiting && $0.customer.service == window.service
          && reportedTickets.contains($0.customer.ticket)
          && !taken.contains($0.customer.ticket)
      }
      .map(\.customer).min { ($0.priority, $0.ticket) < ($1.priority, $1.ticket) }
    if first?.ticket != customer.ticket {
      fault("\(window) got ticket \(customer.ticket) before \(first?.ticket as Any)")
    }
    tellers[window] = .holding(held + [lease])
  }

  // MARK: - The store

  private func stage(_ change: StoreChange) {
    switch change {
    case .insert(let customer):
      if staged.customers[customer.ticket] != nil { fault("ticket \(customer.ticket) was issued twice") }
      staged.customers[customer.ticket] = StoredCustomer(customer: customer, state: .waiting, dueAt: nil)
    case .insertDelayed(let customer, let dueAt):
      if staged.customers[customer.ticket] != nil { fault("ticket \(customer.ticket) was issued twice") }
      if dueAt <= now.wall { fault("ticket \(customer.ticket) is delayed, and its due time has passed") }
      staged.customers[customer.ticket] = StoredCustomer(customer: customer, state: .delayed, dueAt: dueAt)
    case .finish(let customer, let state, let receipt):
      if staged.customers.removeValue(forKey: customer.ticket)?.state != state {
        fault("ticket \(customer.ticket) ends and is not \(state)")
      }
      if staged.receipts[customer.ticket] != nil { fault("ticket \(customer.ticket) has two receipts") }
      let missing = sentAway[TicketOfDay(day: receipt.day, ticket: customer.ticket)] ?? []
      if receipt.shortages != missing || (receipt.outcome == .outOfStock) == missing.isEmpty {
        fault(
          "ticket \(customer.ticket) lacked \(missing), and its receipt has \(receipt.outcome), \(receipt.shortages)"
        )
      }
      if receipt.itemName != customer.itemName || customer.itemName.isEmpty == (customer.service == .juice) {
        fault("ticket \(customer.ticket) has lost its article: '\(receipt.itemName)'")
      }
      staged.receipts[customer.ticket] = receipt
    case .update(let customer): move(customer, from: .waiting, to: .waiting, nil)
    case .postpone(let customer, let dueAt): move(customer, from: .waiting, to: .delayed, dueAt)
    case .bury(let customer): move(customer, from: .waiting, to: .dead, nil)
    case .revive(let customer, let state):
      if state == .delayed { returnCustomer(customer) }
      move(customer, from: state, to: .waiting, nil)
    case .record, .remember, .released, .attach: break
    case .cancelAllCustomers:
      staged.customers.removeAll()
      staged.receipts.removeAll()
      staged.earlierDays += 1
      reportedTickets.removeAll()
    }
  }

  /// All delayed customers, in order.
  private var delayed: [DelayedCustomer] {
    staged.customers.values.filter { $0.state == .delayed }
      .map { DelayedCustomer(customer: $0.customer, dueAt: $0.dueAt ?? now.wall) }
      .sorted { $0.place < $1.place }
  }

  private func returnCustomer(_ customer: Customer) {
    guard customer.attempts == 0, let dueAt = staged.customers[customer.ticket]?.dueAt else { return }
    let isRepeated = machine.isDiskFull
    if !isRepeated, now.wall < dueAt { fault("ticket \(customer.ticket) is called before its due time") }
  }

  private func move(
    _ customer: Customer, from: CustomerState, to: CustomerState, _ dueAt: WallTime?
  ) {
    if staged.customers[customer.ticket]?.state != from { fault("ticket \(customer.ticket) is not \(from)") }
    staged.customers[customer.ticket] = StoredCustomer(customer: customer, state: to, dueAt: dueAt)
  }

  func commit() {
    guard !commitsAsynchronously else { return proceed() }
    staged.dayCounters = machine.dayCounters
    committed = staged
    process(.committed)
  }

  /// Commits are handed over, or come to the disk, or both.
  private func proceed() {
    if underway.isEmpty || later.draw(0...2) > 0 { submitTransaction() }
    for _ in 0..<later.draw(0...Int64(underway.count)) { settleOldest() }
  }

  /// All staged changes are on disk, or in flight.
  private func submitTransaction() {
    guard commitsAsynchronously else { return commit() }
    if !machine.hasRoomUnderway { settleOldest() }
    staged.dayCounters = machine.dayCounters
    underway.append(staged)
    if underway.count > 1 { together += 1 }
    process(.sealed)
  }

  private func settleOldest() {
    committed = underway.removeFirst()
    process(.committed)
  }

  /// All commits in flight come to the disk.
  func commitAll() {
    repeat {
      submitTransaction()
      while !underway.isEmpty { settleOldest() }
    } while machine.hasUncommittedChanges
  }

  /// Customers under numbers that were not issued belong to a request that will never be complete.
  private func removeUnissuedCustomers() {
    for place in underway.indices { underway[place].dropArrivals() }
    committed.dropArrivals()
  }

  func refuseCommit() {
    underway.removeAll()
    removeUnissuedCustomers()
    staged = committed
    process(.commitRefused)
  }

  /// A request in progress is abandoned; what others have staged is committed first.
  func abandonEnqueue() {
    submitTransaction()
    guard let given = machine.arriving else { return }
    open.remove(given.request)
    removeUnissuedCustomers()
    // With the commit a delayed customer may have come back.
    let issued = machine.dayCounters.issued
    staged.customers = staged.customers.filter { $0.key <= issued }
    process(.enqueueAbandoned)
  }

  /// The process is killed: uncommitted changes and all tellers are gone.
  func crash() {
    crashes += 1
    let kept = Int(later.draw(0...Int64(underway.count)))
    if kept > 0 { committed = underway[kept - 1] }
    underway.removeAll()
    removeUnissuedCustomers()
    staged = committed
    sentAway.removeAll()
    // Clients get no answer, and a day that was not closed on disk continues.
    open.removeAll()
    tellers.removeAll()
    let first = Array(delayed.prefix(Int(chance.draw(0...4))))
    machine = QueueMachine(
      StoredQueue(dayCounters: staged.dayCounters, delayed: first), policy: policy, at: now)
    reportedTickets = Set(staged.customers.keys).union(staged.receipts.keys)
    hasDrained = false
  }

  // MARK: - Invariants after every step

  private func check() {
    for words in machine.inconsistencies(ServiceDirectory()) { fault(words.description) }
    let dayCounters = machine.dayCounters
    let sum =
      machine.waitingCount + machine.delayedCount + machine.serving + dayCounters.served + dayCounters.dead
      + dayCounters.cancelled
    if machine.issuedCount != sum { fault("issued \(machine.issuedCount), and the states add up to \(sum)") }
    let held = tellers.values.reduce(0) { $0 + $1.leases.count }
    if machine.serving > held { fault("\(machine.serving) are at windows, and tellers hold \(held)") }
  }
}

extension [QueueEffect] {
  /// Performs all effects in their order, and those that are added meanwhile.
  mutating func performAll(_ perform: (QueueEffect, inout [QueueEffect]) -> Void) {
    var place = 0
    while place < count {
      perform(self[place], &self)
      place += 1
    }
  }
}
