// Translation of rows into customers and attempts, and the queries that return them.
// Invariant: reads include staged changes, but not the customers of an incomplete request. An invalid value on
// disk throws `.damaged`.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// The next waiting customers of a line with tickets above `after`, in ticket order.
  public func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try settle()
    guard let line = lines[line] else { return [] }
    statements.customers.bindAll(
      CustomerPosition(.waiting, line, after).key,
      CustomerPosition(.waiting, line, unissued.bound - 1).key, Int64(max(0, limit)))
    return try statements.customers.all(reserving: min(max(0, limit), 1_024)) { row throws(StoreError) in
      try customer(row).customer
    }
  }

  /// The waiting, delayed or dead customer with this ticket; nil if there is none.
  public func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try settle()
    guard 1...Limits.ticket ~= ticket, ticket < unissued.bound else { return nil }
    for state in CustomerPosition.storedStates {
      if let found = try find(ticket, in: state) { return found }
    }
    return nil
  }

  /// The customer with this ticket in one state; nil if there is none. Searches line by line, and skips lines without
  /// customers.
  private func find(_ ticket: TicketNumber, in state: CustomerState) throws(StoreError) -> StoredCustomer? {
    var line: Int64 = 0
    while line <= LineNumbers.highest {
      guard let next = try firstPosition(in: state, from: line, after: ticket - 1) else { return nil }
      if next.ticket == ticket {
        statements.customer.bind(1, next.key)
        return try statements.customer.first(customer)
      }
      // The first position after this ticket is in the same line or in a later one, which may contain lower
      // tickets.
      line = next.line > line && next.ticket < ticket ? next.line : max(line, next.line) + 1
    }
    return nil
  }

  /// First position after a ticket in this line, or in a later line; nil for none.
  func firstPosition(
    in state: CustomerState, from line: Int64, after ticket: TicketNumber
  ) throws(StoreError) -> CustomerPosition? {
    statements.customers.bindAll(
      CustomerPosition(state, line, ticket).key, CustomerPosition.keys(of: state).upperBound, 1)
    return try statements.customers.first({ $0.integer(0) }).map(CustomerPosition.init(key:))
  }

  /// Customers of one state, line by line. See `QueueReader`.
  public func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try settle()
    guard CustomerPosition.storedStates.contains(state) else { return [] }
    if state != .dead, hasUnissuedCustomers { return try issued(state, after: cursor, limit: limit) }
    let keys = CustomerPosition.keys(of: state)
    statements.customers.bindAll(
      key(of: cursor) ?? keys.lowerBound, keys.upperBound,
      Int64(max(0, limit)))
    return try statements.customers.all(customer)
  }

  /// Customers of a state whose numbers are issued, while an incomplete request exists. The customers of that
  /// request are at the end of each line.
  private func issued(
    _ state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    var customers: [StoredCustomer] = []
    for (line, _) in lines.all where customers.count < limit {
      let lowest = CustomerPosition(state, line, 0).key
      let after = key(of: cursor) ?? 0
      let highest = CustomerPosition(state, line, unissued.bound - 1).key
      guard after < highest else { continue }
      statements.customers.bindAll(max(after, lowest), highest, Int64(limit - customers.count))
      customers += try statements.customers.all(customer)
    }
    return customers
  }

  /// Key after which a list continues; nil without a cursor, and for a line without a number, which has no customers.
  private func key(of cursor: TicketCursor?) -> Int64? {
    guard let cursor, let line = lines[cursor.line] else { return nil }
    return CustomerPosition(cursor.state, line, cursor.after).key
  }

  /// Number of waiting or delayed customers in a range of tickets.
  public func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try count(tickets, in: [.waiting, .delayed])
  }

  /// Number of dead letters in a range of tickets.
  public func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try count(tickets, in: [.dead])
  }

  /// Number of dead letters of one service.
  public func countDead(of service: Service) throws(StoreError) -> Int64 {
    try settle()
    var count: Int64 = 0
    for (number, line) in lines.all where line.service == service {
      count += try self.count(
        CustomerPosition(.dead, number, 0).key...CustomerPosition(.dead, number, Limits.ticket).key)
    }
    return count
  }

  /// Number of customers in these states with issued tickets in this range.
  private func count(
    _ tickets: ClosedRange<TicketNumber>, in states: [CustomerState]
  ) throws(StoreError) -> Int64 {
    try settle()
    guard tickets.lowerBound < unissued.bound else { return 0 }
    let last = min(tickets.upperBound, unissued.bound - 1)
    var count: Int64 = 0
    for state in states {
      for (line, _) in lines.all {
        count += try self.count(
          CustomerPosition(state, line, tickets.lowerBound).key...CustomerPosition(state, line, last).key)
      }
    }
    return count
  }

  /// Number of customers with keys in this range.
  func count(_ keys: ClosedRange<Int64>) throws(StoreError) -> Int64 {
    statements.countCustomers.bindAll(keys.lowerBound, keys.upperBound)
    return try statements.countCustomers.first { $0.integer(0) } ?? 0
  }

  /// Number of waiting customers of a line between two tickets, both exclusive.
  public func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    try settle()
    let last = min(last, unissued.bound)
    guard first < last, let line = lines[line] else { return 0 }
    let (lower, upper) = (
      CustomerPosition(.waiting, line, first).key, CustomerPosition(.waiting, line, last).key
    )
    return upper - lower < 2 ? 0 : try count(lower + 1...upper - 1)
  }

  /// Number of receipts of a day with the outcome `out_of_stock`. See `QueueReader`.
  ///
  /// It counts tickets with shortages, and reads no receipts.
  public func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 {
    try settle()
    let count = try database.number(
      "SELECT count(DISTINCT ticket) FROM shortage WHERE day = \(day)", while: "counting rejected customers")
    return count ?? 0
  }

  /// The next delayed customers, in the order of their due times.
  public func delayed(after place: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] {
    try settle()
    return try readDelayed(after: place, limit: limit)
  }

  /// Reads the next delayed customers after a position; the caller has written gathered rows.
  func readDelayed(after place: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] {
    statements.delayed.bindAll(
      place.dueAt.milliseconds, place.ticket, unissued.bound, Int64(max(0, limit)))
    return try statements.delayed.all { row throws(StoreError) in
      let found = try customer(row)
      guard let due = found.dueAt else {
        throw damage(MessageDetail(.delayedWithoutDueTime, found.customer.ticket))
      }
      return DelayedCustomer(customer: found.customer, dueAt: due)
    }
  }

  /// Cancelled tickets for which the stock may still have reservations.
  public func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try settle()
    statements.releases.bindAll(ticket?.day ?? 0, ticket?.ticket ?? 0, Int64(max(0, limit)))
    return try statements.releases.all { TicketOfDay(day: $0.integer(0), ticket: $0.integer(1)) }
  }

  /// Attempts at one ticket that ended without a receipt, in order.
  public func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] {
    try settle()
    statements.attempts.bindAll(day, ticket)
    var attempts = try statements.attempts.all(attempt)
    if !attempts.isEmpty { try markDeadLetters(in: &attempts, of: ticket, day) }
    return attempts
  }

  private func markDeadLetters(
    in attempts: inout [Attempt], of ticket: TicketNumber, _ day: BusinessDay
  ) throws(StoreError) {
    // The range from `name + " "` to `name + "!"` contains only names in which a space follows `name`, because
    // `!` is the character after the space.
    let name = Self.deadLetterNames(of: ticket, day)
    let fatal = try database.withStatement(
      "SELECT value FROM meta WHERE name > '\(name) ' AND name < '\(name)!'",
      while: "looking for a dead letter"
    ) { row throws(StoreError) in try row.all { $0.integer(0) } }
    for place in attempts.indices { attempts[place].isFatal = fatal.contains(Int64(attempts[place].number)) }
  }

  /// The request with this idempotency key; nil if there is none.
  public func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    try settle()
    try statements.key.bind(1, text: key)
    return try statements.key.first { row in
      let tickets = IssuedTickets(day: row.integer(0), first: row.integer(1), last: row.integer(2))
      return KeyedRequest(tickets: tickets, request: row.optional(3))
    }
  }

  /// Makes a customer from a row; throws if a value is invalid.
  private func customer(_ row: Statement) throws(StoreError) -> StoredCustomer {
    let position = CustomerPosition(key: row.integer(0))
    guard let state = position.state, let line = lines[position.line] else {
      throw damage(MessageDetail(.customerKeyInvalid, position.key))
    }
    guard let attempts = CustomerAttempts(packed: row.integer(4)) else {
      throw damage(MessageDetail(.customerKeyInvalid, position.key))
    }
    let customer = Customer(
      ticket: position.ticket, service: line.service, priority: line.priority, amount: row.integer(1),
      account: row.integer(2), issuedAt: WallTime(milliseconds: row.integer(3)),
      attempts: attempts.ended, crashes: try small(row.integer(5)),
      failures: try small(row.integer(6)), startedAttempts: attempts.startedAttempts,
      isAttemptRunning: attempts.isAttemptRunning,
      itemName: row.text(8))
    return StoredCustomer(
      customer: customer, state: state, dueAt: row.optional(7).map(WallTime.init(milliseconds:)))
  }

  /// Makes an attempt from a row; throws if a value is invalid.
  func attempt(_ row: Statement) throws(StoreError) -> Attempt {
    guard let end = UInt8(exactly: row.integer(9)).flatMap(AttemptEnd.init(rawValue:)) else {
      throw damage(MessageDetail(.attemptEndUnknown, row.integer(1), row.integer(0), row.integer(2)))
    }
    return Attempt(
      day: row.integer(0), ticket: row.integer(1), number: try small(row.integer(2)),
      window: Window(service: try service(row.integer(3)), place: try small(row.integer(4))),
      generation: try small(row.integer(5)), pid: try small(row.integer(6)),
      startedAt: WallTime(milliseconds: row.integer(7)), endedAt: WallTime(milliseconds: row.integer(8)),
      end: end, processEnd: try processEnd(code: row.optional(10), signal: row.optional(11)),
      words: row.text(12))
  }

  /// End of a process: exit code, signal, or neither.
  func processEnd(code: Int64?, signal: Int64?) throws(StoreError) -> ProcessEnd? {
    ProcessEnd(
      code: try code.map { code throws(StoreError) in try small(code) },
      signal: try signal.map { signal throws(StoreError) in try small(signal) })
  }

  /// Service with this number; throws if there is none.
  func service(_ value: Int64) throws(StoreError) -> Service {
    guard let service = services.service(numbered: value) else {
      throw damage(MessageDetail(.serviceUnknown, value))
    }
    return service
  }

  /// Makes a line from stored numbers.
  ///
  /// - Parameter code: code of the priority.
  func line(service value: Int64, priority code: Int64) throws(StoreError) -> Line {
    let service = try service(value)
    guard let priority = Priority(code: code) else { throw damage(MessageDetail(.gradeUnknown, code)) }
    return Line(service: service, priority: priority)
  }

  /// The number as 32 bits; throws if it does not fit.
  func small(_ value: Int64) throws(StoreError) -> Int32 {
    guard let number = Int32(exactly: value) else { throw damage(MessageDetail(.numberRange, value)) }
    return number
  }
}
