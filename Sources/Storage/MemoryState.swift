// Content of an in-memory store, with undo steps for its changes.
// Invariant: the undo steps, run in reverse order, restore the content of the last commit. The constraints of
// the database also apply here: a second receipt, a missing customer or a second use of a key throws
// `.damaged`.

import BankModel
import QueueCore
import Time

struct MemoryState {
  /// Sorted keys, as ``CustomerPosition`` packs them.
  private(set) var positions: [Int64] = []
  /// Stored customers by their keys.
  private(set) var customers: [Int64: StoredCustomer] = [:]
  var lines = LineNumbers()
  /// Receipts in the order of their sequence numbers, which start at 1.
  private(set) var receipts: [Receipt] = []
  /// Index in ``receipts`` of the receipt of each ticket.
  private(set) var receiptPlaces: [TicketOfDay: Int] = [:]
  /// Attempts of each ticket that ended without a receipt.
  private(set) var attempts: [TicketOfDay: [Attempt]] = [:]
  /// Requests by the bytes of their keys, as in the database: two encodings of one character are different
  /// keys.
  private(set) var keys: [[UInt8]: KeyedRequest] = [:]
  private(set) var payloads: [TicketNumber: [UInt8]] = [:]
  /// Due times of tickets that were ordered for later.
  private(set) var later: [TicketOfDay: WallTime] = [:]
  /// Cancelled tickets for which the stock may have reservations.
  private(set) var releases: Set<TicketOfDay> = []
  /// Undo steps since the last commit, the latest one at the end.
  private var undoSteps: [(inout MemoryState) -> Void] = []

  /// Forgets the undo steps, because the changes are committed.
  mutating func keep() { undoSteps = [] }
  /// Undoes all changes since the last commit.
  mutating func rollBack() { while let step = undoSteps.popLast() { step(&self) } }

  /// Applies one change. The change can be undone, even if it throws after a part of its work.
  mutating func write(_ change: StoreChange, day: BusinessDay?) throws(StoreError) {
    switch change {
    case .insert(let customer):
      precondition(1...Limits.ticket ~= customer.ticket, "A ticket is out of range.")
      try put(StoredCustomer(customer: customer, state: .waiting, dueAt: nil))
    case .insertDelayed(let customer, let due):
      precondition(1...Limits.ticket ~= customer.ticket, "A ticket is out of range.")
      try put(StoredCustomer(customer: customer, state: .delayed, dueAt: due))
      note(TicketOfDay(day: day ?? 0, ticket: customer.ticket), due)
    case .finish(let customer, let state, let receipt):
      _ = try remove(customer, from: state)
      dropPayload(of: customer.ticket)
      try add(receipt)
    case .update(let customer): try move(customer, from: .waiting, to: .waiting, dueAt: nil)
    case .postpone(let customer, let due): try move(customer, from: .waiting, to: .delayed, dueAt: due)
    case .bury(let customer):
      try move(customer, from: .waiting, to: .dead, dueAt: nil)
      if let day { markFatal(TicketOfDay(day: day, ticket: customer.ticket), customer.attempts) }
    case .revive(let customer, let state): try move(customer, from: state, to: .waiting, dueAt: nil)
    case .record(let attempt): try add(attempt)
    case .remember(let key, let day, let first, let last, let request):
      let bytes = Array(key.utf8)
      if keys[bytes] != nil { throw damage("the key of tickets \(first) to \(last) is already recorded") }
      keys[bytes] = KeyedRequest(tickets: IssuedTickets(day: day, first: first, last: last), request: request)
      undoSteps.append { $0.keys[bytes] = nil }
    case .cancelAllCustomers(let day, let moment): try cancelEveryone(day: day, at: moment)
    case .released(let ticket):
      guard releases.remove(ticket) != nil else {
        throw damage(MessageDetail(.releaseNotFound, ticket.ticket, ticket.day))
      }
      undoSteps.append { $0.releases.insert(ticket) }
    case .attach(let payload, let tickets):
      for ticket in tickets {
        guard payloads[ticket] == nil else { throw damage(MessageDetail(.payloadTwice, ticket, day ?? 0)) }
        payloads[ticket] = payload
        undoSteps.append { $0.payloads[ticket] = nil }
      }
    }
  }

  /// Adds a customer in its state; throws if the key is in use.
  private mutating func put(_ found: StoredCustomer) throws(StoreError) {
    let key = CustomerPosition(found.state, number(of: found.customer.line), found.customer.ticket).key
    let place = place(of: key)
    if place < positions.count && positions[place] == key {
      throw damage("ticket \(found.customer.ticket) is already queued")
    }
    positions.insert(key, at: place)
    customers[key] = found
    undoSteps.append { contents in
      contents.customers[key] = nil
      contents.positions.remove(at: contents.place(of: key))
    }
  }

  /// Sets the due time of a ticket that was ordered for later, or removes it if `due` is nil.
  private mutating func note(_ ticket: TicketOfDay, _ due: WallTime?) {
    let before = later[ticket]
    later[ticket] = due
    undoSteps.append { $0.later[ticket] = before }
  }

  /// Number of a line. A line without a number gets one.
  private mutating func number(of line: Line) -> Int64 {
    if let known = lines[line] { return known }
    let before = lines
    var given = lines.give(to: line)
    if given == nil {
      lines.release(except: Set(positions.map { CustomerPosition(key: $0).line }))
      given = lines.give(to: line)
    }
    guard let number = given else { preconditionFailure("there are no more numbers for lines") }
    undoSteps.append { $0.lines = before }
    return number
  }

  /// Releases the numbers of all lines if no customers are stored.
  mutating func forgetLines() {
    guard positions.isEmpty else { return }
    lines.release()
  }

  /// Removes and returns a customer; throws if the customer is not in this state.
  private mutating func remove(
    _ customer: Customer, from state: CustomerState
  ) throws(StoreError) -> StoredCustomer {
    let key = lines[customer.line].map { CustomerPosition(state, $0, customer.ticket).key }
    guard let key, let found = customers.removeValue(forKey: key) else {
      throw damage("ticket \(customer.ticket) is not \(state.name)")
    }
    leave(key, found)
    return found
  }

  /// Removes the key of a customer that was removed, with an undo step that adds both again.
  private mutating func leave(_ key: Int64, _ found: StoredCustomer) {
    positions.remove(at: place(of: key))
    undoSteps.append { contents in
      contents.customers[key] = found
      contents.positions.insert(key, at: contents.place(of: key))
    }
  }

  /// Removes the payload of a customer, if the customer has one.
  private mutating func dropPayload(of ticket: TicketNumber) {
    guard let payload = payloads.removeValue(forKey: ticket) else { return }
    undoSteps.append { $0.payloads[ticket] = payload }
  }

  /// Changes the state, the due time and the counters of a customer. Its other values stay as they were inserted.
  private mutating func move(
    _ customer: Customer, from: CustomerState, to: CustomerState, dueAt: WallTime?
  ) throws(StoreError) {
    var found = try remove(customer, from: from)
    found.customer.attempts = customer.attempts
    found.customer.crashes = customer.crashes
    found.customer.failures = customer.failures
    (found.customer.startedAttempts, found.customer.isAttemptRunning) = (
      customer.startedAttempts, customer.isAttemptRunning
    )
    found.state = to
    found.dueAt = dueAt
    try put(found)
  }

  /// Adds a receipt with the next sequence number; throws if the ticket has one.
  private mutating func add(_ receipt: Receipt) throws(StoreError) {
    let ticket = TicketOfDay(day: receipt.day, ticket: receipt.ticket)
    if receiptPlaces[ticket] != nil {
      throw damage(MessageDetail(.receiptTwice, receipt.ticket, receipt.day))
    }
    receiptPlaces[ticket] = receipts.count
    receipts.append(receipt)
    receipts[receipts.count - 1].sequence = Int64(receipts.count)
    undoSteps.append { contents in
      contents.receipts.removeLast()
      contents.receiptPlaces[ticket] = nil
    }
    if receipt.outcome == .cancelled, receipt.service.usesStock, releases.insert(ticket).inserted {
      undoSteps.append { $0.releases.remove(ticket) }
    }
  }

  /// Adds an attempt; throws if its number is in use.
  private mutating func add(_ attempt: Attempt) throws(StoreError) {
    let ticket = TicketOfDay(day: attempt.day, ticket: attempt.ticket)
    if attempts[ticket, default: []].contains(where: { $0.number == attempt.number }) {
      throw damage("attempt \(attempt.number) at ticket \(attempt.ticket) is already recorded")
    }
    attempts[ticket, default: []].append(attempt)
    undoSteps.append { contents in
      contents.attempts[ticket]?.removeLast()
      if contents.attempts[ticket]?.isEmpty == true { contents.attempts[ticket] = nil }
    }
  }

  /// Marks the attempt after which a customer became a dead letter.
  private mutating func markFatal(_ ticket: TicketOfDay, _ number: Int32) {
    guard let place = attempts[ticket]?.firstIndex(where: { $0.number == number }) else { return }
    attempts[ticket]?[place].isFatal = true
    undoSteps.append { $0.attempts[ticket]?[place].isFatal = false }
  }

  /// Gives every stored customer a cancelled receipt, in ticket order.
  private mutating func cancelEveryone(day: BusinessDay, at moment: WallTime) throws(StoreError) {
    let everyone = customers.values.sorted { $0.customer.ticket < $1.customer.ticket }
    for found in everyone {
      let customer = try remove(found.customer, from: found.state).customer
      dropPayload(of: customer.ticket)
      try add(
        Receipt(
          day: day, ticket: customer.ticket, service: customer.service, priority: customer.priority,
          outcome: .cancelled, window: nil, generation: 0, pid: 0, attempts: customer.attempts,
          amount: customer.amount, account: customer.account, issuedAt: customer.issuedAt, startedAt: nil,
          finishedAt: moment, itemName: customer.itemName))
    }
  }

  /// True if a customer with this ticket or a higher one is stored.
  func hasCustomers(from first: TicketNumber) -> Bool {
    customers.values.contains { $0.customer.ticket >= first }
  }

  /// Removes at most `limit` customers with numbers from `first` on, and, when none of them is left, also the keys of
  /// these numbers.
  mutating func withdraw(from first: TicketNumber, day: BusinessDay, limit: Int) {
    let keys = positions.filter { CustomerPosition(key: $0).ticket >= first }
    for key in keys.prefix(limit) {
      guard let found = customers.removeValue(forKey: key) else { continue }
      leave(key, found)
      dropPayload(of: found.customer.ticket)
      note(TicketOfDay(day: day, ticket: found.customer.ticket), nil)
    }
    guard keys.count <= limit else { return }
    for (key, known) in self.keys where known.tickets.day == day && known.tickets.first >= first {
      self.keys[key] = nil
      undoSteps.append { $0.keys[key] = known }
    }
  }

  /// Customers whose keys are above `lower` and at most `upper`, at most `limit`.
  func customers(after lower: Int64, through upper: Int64, limit: Int) -> [StoredCustomer] {
    var found: [StoredCustomer] = []
    var place = place(of: lower)
    while found.count < limit, place < positions.count, positions[place] <= upper {
      if positions[place] > lower, let customer = customers[positions[place]] { found.append(customer) }
      place += 1
    }
    return found
  }

  /// The next delayed customers after a position, with tickets below `bound`.
  func delayed(after place: DuePosition, below bound: TicketNumber, limit: Int) -> [DelayedCustomer] {
    let keys = CustomerPosition.keys(of: .delayed)
    let found = customers(after: keys.lowerBound, through: keys.upperBound, limit: .max)
    let behind = found.compactMap { found in
      found.dueAt.map { DelayedCustomer(customer: found.customer, dueAt: $0) }
    }.filter { place < $0.place && $0.customer.ticket < bound }
    return Array(behind.sorted { $0.place < $1.place }.prefix(max(0, limit)))
  }

  /// Index in ``positions`` of the first key that is not below this one.
  func place(of key: Int64) -> Int {
    var (low, high) = (0, positions.count)
    while low < high {
      let middle = (low + high) / 2
      if positions[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func damage(_ detail: MessageDetail) -> StoreError {
    .damaged(path: MemoryStore.path, detail: detail)
  }
}
