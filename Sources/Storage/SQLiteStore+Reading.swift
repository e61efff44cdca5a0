// Owns how rows become customers, receipts and attempts. It changes nothing. Invariant: reads see what was staged, and
// a value on disk that means nothing becomes `.damaged`, never a trap. Memory is bounded by the limits of the caller.

import BankModel
import QueueCore

extension SQLiteStore {
  // MARK: Customers

  /// The next waiting customers of a line, by number, beginning behind `after`. See `QueueStore`.
  public func page(
    of line: Line, after: TicketNumber, limit: Int
  ) throws(StoreError) -> [Customer] {
    try settle()
    let statement = statements.customers
    statement.bind(1, CustomerPosition(.waiting, line, after).key)
    statement.bind(2, CustomerPosition(.waiting, line, arrivals.bound - 1).key)
    statement.bind(3, Int64(max(0, limit)))
    defer { statement.reset() }
    var page: [Customer] = []
    page.reserveCapacity(min(max(0, limit), 1_024))
    while try statement.step() { page.append(try customer(in: statement).customer) }
    return page
  }

  /// The customer with this number among those who wait, are delayed, or are dead letters.
  public func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try settle()
    guard 1...Limits.ticket ~= ticket, ticket < arrivals.bound else { return nil }
    let statement = statements.customer
    defer { statement.reset() }
    for state in CustomerPosition.keptStates {
      for line in Line.allCases {
        statement.bind(1, CustomerPosition(state, line, ticket).key)
        if try statement.step() { return try customer(in: statement) }
      }
    }
    return nil
  }

  /// Customers of one state, line after line; nil begins. At most `limit`. See `QueueStore`.
  public func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try settle()
    guard CustomerPosition.keptStates.contains(state) else { return [] }
    if state == .waiting, arrivals.first != nil { return try issued(after: cursor, limit: limit) }
    let statement = statements.customers
    let keys = CustomerPosition.keys(of: state)
    statement.bind(1, cursor.map { CustomerPosition(state, $0.line, $0.after).key } ?? keys.lowerBound)
    statement.bind(2, keys.upperBound)
    statement.bind(3, Int64(max(0, limit)))
    defer { statement.reset() }
    var customers: [StoredCustomer] = []
    while try statement.step() { customers.append(try customer(in: statement)) }
    return customers
  }

  /// Those who wait and have their tickets, while others are there who have none yet: these stand at the end of each line.
  private func issued(
    after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    var customers: [StoredCustomer] = []
    for line in Line.allCases.sorted(by: {
      CustomerPosition(.waiting, $0, 0).key < CustomerPosition(.waiting, $1, 0).key
    }) where customers.count < limit {
      let lowest = CustomerPosition(.waiting, line, 0).key
      let after = cursor.map { CustomerPosition(.waiting, $0.line, $0.after).key } ?? 0
      let highest = CustomerPosition(.waiting, line, arrivals.bound - 1).key
      guard after < highest else { continue }
      let statement = statements.customers
      statement.bind(1, max(after, lowest))
      statement.bind(2, highest)
      statement.bind(3, Int64(limit - customers.count))
      defer { statement.reset() }
      while try statement.step() { customers.append(try customer(in: statement)) }
    }
    return customers
  }

  /// The customers of the present day in a range of numbers who wait or are delayed.
  public func countUnfinished(
    _ tickets: ClosedRange<TicketNumber>
  ) throws(StoreError) -> Int64 {
    try count(tickets, in: [.waiting, .delayed])
  }

  /// The dead letters of the present day in a range of numbers.
  public func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try count(tickets, in: [.dead])
  }

  private func count(
    _ tickets: ClosedRange<TicketNumber>, in states: [CustomerState]
  ) throws(StoreError) -> Int64 {
    try settle()
    guard tickets.lowerBound < arrivals.bound else { return 0 }
    let last = min(tickets.upperBound, arrivals.bound - 1)
    let statement = statements.countCustomers
    defer { statement.reset() }
    var count: Int64 = 0
    for state in states {
      for line in Line.allCases {
        statement.bind(1, CustomerPosition(state, line, tickets.lowerBound).key)
        statement.bind(2, CustomerPosition(state, line, last).key)
        if try statement.step() { count += statement.integer(0) }
        statement.reset()
      }
    }
    return count
  }

  /// Everyone who waits for a next attempt, the earliest moment first.
  func readDelayed() throws(StoreError) -> [DelayedCustomer] {
    let statement = statements.delayed
    let keys = CustomerPosition.keys(of: .delayed)
    statement.bind(1, keys.lowerBound)
    statement.bind(2, keys.upperBound)
    defer { statement.reset() }
    var delayed: [DelayedCustomer] = []
    while try statement.step() {
      let found = try customer(in: statement)
      guard let due = found.dueAt else {
        throw damage(Remark(.delayedWithoutMoment, found.customer.ticket))
      }
      delayed.append(DelayedCustomer(customer: found.customer, dueAt: due))
    }
    return delayed
  }

  // MARK: Receipts, attempts, keys

  /// Receipts in the order of their commits, of one day or of all, behind a sequence number. See `QueueStore`.
  public func receipts(
    day: BusinessDay?, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    try settle()
    let statement = day == nil ? statements.receipts : statements.receiptsOfDay
    var index: Int32 = 1
    if let day {
      statement.bind(index, day)
      index += 1
    }
    statement.bind(index, sequence)
    statement.bind(index + 1, Int64(max(0, limit)))
    defer { statement.reset() }
    var receipts: [Receipt] = []
    while try statement.step() { receipts.append(try receipt(in: statement)) }
    return receipts
  }

  /// Receipts of one service over all days. See `QueueStore`.
  public func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    try settle()
    let statement = statements.receiptsOfService
    statement.bind(1, Int64(service.rawValue))
    statement.bind(2, sequence)
    statement.bind(3, last)
    statement.bind(4, Int64(max(0, limit)))
    defer { statement.reset() }
    var receipts: [Receipt] = []
    while try statement.step() { receipts.append(try receipt(in: statement)) }
    return receipts
  }

  /// Cancelled tickets for which something may still be put by. See `QueueStore`.
  public func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try settle()
    let statement = statements.releases
    statement.bind(1, ticket?.day ?? 0)
    statement.bind(2, ticket?.ticket ?? 0)
    statement.bind(3, Int64(max(0, limit)))
    defer { statement.reset() }
    var tickets: [TicketOfDay] = []
    while try statement.step() {
      tickets.append(TicketOfDay(day: statement.integer(0), ticket: statement.integer(1)))
    }
    return tickets
  }

  /// The receipt of one ticket.
  public func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    try settle()
    let statement = statements.receipt
    statement.bind(1, day)
    statement.bind(2, ticket)
    defer { statement.reset() }
    return try statement.step() ? try receipt(in: statement) : nil
  }

  /// The attempts at one ticket that ended without a receipt, in order.
  public func attempts(
    day: BusinessDay, ticket: TicketNumber
  ) throws(StoreError) -> [Attempt] {
    try settle()
    let statement = statements.attempts
    statement.bind(1, day)
    statement.bind(2, ticket)
    defer { statement.reset() }
    var attempts: [Attempt] = []
    while try statement.step() { attempts.append(try attempt(in: statement)) }
    if !attempts.isEmpty { try markBurials(in: &attempts, of: ticket, day) }
    return attempts
  }

  private func markBurials(
    in attempts: inout [Attempt], of ticket: TicketNumber, _ day: BusinessDay
  ) throws(StoreError) {
    // A space comes before an exclamation mark, and nothing else that can follow comes between them.
    let name = Self.burials(of: ticket, day)
    var fatal: Set<Int64> = []
    try database.withStatement(
      "SELECT value FROM meta WHERE name > '\(name) ' AND name < '\(name)!'",
      while: "looking for a dead letter"
    ) { row throws(StoreError) in
      while try row.step() { fatal.insert(row.integer(0)) }
    }
    for place in attempts.indices { attempts[place].isFatal = fatal.contains(Int64(attempts[place].number)) }
  }

  /// What a key stands for.
  public func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    try settle()
    let statement = statements.key
    try statement.bind(1, text: key)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return KeyedRequest(
      tickets: IssuedTickets(
        day: statement.integer(0), first: statement.integer(1), last: statement.integer(2)),
      request: statement.optional(3))
  }

  // MARK: Rows

  private func customer(in row: Statement) throws(StoreError) -> StoredCustomer {
    let position = CustomerPosition(key: row.integer(0))
    guard let state = position.state, let line = position.line else {
      throw damage(Remark(.customerMeaningless, position.key))
    }
    let customer = Customer(
      ticket: position.ticket, service: line.service, grade: line.grade, amount: row.integer(1),
      account: row.integer(2), issuedAt: WallTime(milliseconds: row.integer(3)),
      attempts: try small(row.integer(4)), crashes: try small(row.integer(5)),
      failures: try small(row.integer(6)), payload: row.text(8))
    return StoredCustomer(
      customer: customer, state: state, dueAt: row.optional(7).map(WallTime.init(milliseconds:)))
  }

  private func receipt(in row: Statement) throws(StoreError) -> Receipt {
    let line = try line(service: row.integer(3), grade: row.integer(4))
    guard let outcome = UInt8(exactly: row.integer(5)).flatMap(Outcome.init(rawValue:)) else {
      throw damage(Remark(.receiptOutcome, row.integer(0), row.integer(5)))
    }
    var window: Window?
    if let place = row.optional(6) { window = Window(service: line.service, place: try small(place)) }
    let (day, ticket) = (row.integer(1), row.integer(2))
    return Receipt(
      sequence: row.integer(0), day: day, ticket: ticket, service: line.service,
      grade: line.grade, outcome: outcome, window: window, generation: try small(row.integer(7)),
      pid: try small(row.integer(8)), attempts: try small(row.integer(9)), amount: row.integer(10),
      account: row.integer(11), issuedAt: WallTime(milliseconds: row.integer(12)),
      startedAt: row.optional(13).map(WallTime.init(milliseconds:)),
      finishedAt: WallTime(milliseconds: row.integer(14)), payload: row.text(15),
      shortages: outcome == .outOfStock ? try shortages(day: day, ticket: ticket) : [])
  }

  private func shortages(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Shortage] {
    let statement = statements.shortages
    statement.bind(1, day)
    statement.bind(2, ticket)
    defer { statement.reset() }
    var shortages: [Shortage] = []
    while try statement.step() {
      shortages.append(
        Shortage(
          item: ItemID(statement.text(0)), needed: statement.integer(1), available: statement.integer(2)))
    }
    return shortages
  }

  private func attempt(in row: Statement) throws(StoreError) -> Attempt {
    guard let end = UInt8(exactly: row.integer(9)).flatMap(AttemptEnd.init(rawValue:)) else {
      throw damage(Remark(.attemptEndUnknown, row.integer(1), row.integer(0), row.integer(2)))
    }
    var processEnd: ProcessEnd?
    if let code = row.optional(10) { processEnd = .code(try small(code)) }
    if let signal = row.optional(11) { processEnd = .signal(try small(signal)) }
    return Attempt(
      day: row.integer(0), ticket: row.integer(1), number: try small(row.integer(2)),
      window: Window(service: try service(row.integer(3)), place: try small(row.integer(4))),
      generation: try small(row.integer(5)), pid: try small(row.integer(6)),
      startedAt: WallTime(milliseconds: row.integer(7)), endedAt: WallTime(milliseconds: row.integer(8)),
      end: end, processEnd: processEnd)
  }

  /// The service with this raw value.
  func service(_ value: Int64) throws(StoreError) -> Service {
    guard let service = UInt8(exactly: value).flatMap(Service.init(rawValue:)) else {
      throw damage(Remark(.serviceUnknown, value))
    }
    return service
  }

  /// The line with these raw values.
  func line(service value: Int64, grade: Int64) throws(StoreError) -> Line {
    let service = try service(value)
    guard let grade = UInt8(exactly: grade).flatMap(Grade.init(rawValue:)) else {
      throw damage(Remark(.gradeUnknown, grade))
    }
    return Line(service: service, grade: grade)
  }

  /// A number that has 32 bits in the model.
  private func small(_ value: Int64) throws(StoreError) -> Int32 {
    guard let number = Int32(exactly: value) else { throw damage(Remark(.numberRange, value)) }
    return number
  }

  /// The error for a database whose rows are not as promised.
  func damage(_ detail: Remark) -> StoreError { .damaged(path: database.path, detail: detail) }
}
