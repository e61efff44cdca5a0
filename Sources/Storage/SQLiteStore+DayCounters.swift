// Reading and saving of the day counters, the start of a new business day, and the count of the coordinator's
// starts.
// Invariant: the row of the counters is written in the same transaction as the changes that are counted.
// Inconsistent counters are rejected when they are read.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Reads the day counters and the first delayed customers. Starts day 1 in a new store.
  ///
  /// - Throws: `.damaged` if the counters are inconsistent or a row is invalid; for a new store also `.diskFull`.
  public func load(now: WallTime) throws(StoreError) -> StoredQueue {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let days = try database.number("SELECT count(*) FROM day", while: "counting days")
    if days == 0 {
      let first = DayCounters(day: 1, openedAt: now)
      if database.isReadOnly { return StoredQueue(dayCounters: first, delayed: []) }
      try begin(first)
    }
    var dayCounters = try readDayCounters()
    unissued = UnissuedCustomers(first: try readFirstUnissued())
    try readDelayedByService(into: &dayCounters)
    saved = dayCounters
    return StoredQueue(
      dayCounters: dayCounters, delayed: try readDelayed(after: .first, limit: StoredQueue.firstPage))
  }

  /// Counts the starts of the coordinator on this store. Returns the number of this start, from 1. Durable on
  /// return.
  public func recordStart(at now: WallTime) throws(StoreError) -> Int64 {
    try requireHealth()
    return try inTransaction { () throws(StoreError) in
      try database.execute(
        "UPDATE meta SET value = value + 1 WHERE name = 'incarnation'", while: "counting a start")
      let number = try database.note("incarnation", while: "counting a start")
      guard database.changes == 1, let number else { throw damage(MessageDetail(.startCountMissing)) }
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES
          ('\(Self.opening)\(number)', \(now.milliseconds)), ('\(Self.receiptsBefore)\(number)', \(sequence))
        """, while: "recording a start")
      try startStoringDelayedByService(from: number)
      return number
    }
  }

  /// Returns the identity of this database. A database without one gets a new one, which is valid for the
  /// tickets that are issued from now on.
  ///
  /// - Parameter number: number of the identity that a database without one gets.
  public func bankID(new number: Int64) throws(StoreError) -> BankID {
    if let known = try storedBankID() { return known }
    guard let saved else { preconditionFailure("The identity is written after the store is loaded.") }
    let name = BankID(number: number, day: saved.day, ticket: saved.issued + 1)
    try inTransaction { () throws(StoreError) in
      try database.execute(
        """
        INSERT INTO meta VALUES
          ('bank id', \(name.number)), ('bank id day', \(name.day)), ('bank id ticket', \(name.ticket))
        """, while: "recording the identity of the database")
    }
    return name
  }

  /// Identity of this database; nil if it has none.
  public func storedBankID() throws(StoreError) -> BankID? {
    try requireHealth()
    /// Number with this name in `meta`; nil if it is not stored.
    func value(_ name: String) throws(StoreError) -> Int64? {
      try database.note(name, while: "reading the identity of the database")
    }
    guard let number = try value("bank id") else { return nil }
    guard let day = try value("bank id day"), let ticket = try value("bank id ticket") else {
      throw damage(MessageDetail(.bankIDIncomplete))
    }
    return BankID(number: number, day: day, ticket: ticket)
  }

  /// Prefix of the names in `meta` for the times of starts. The number of the start follows the prefix.
  static let opening = "opening "
  /// Prefix of the names in `meta` for the last receipt before a start. The number of the start follows the
  /// prefix.
  static let receiptsBefore = "receipts before "

  static func readLines(
    _ database: Database, _ services: ServiceDirectory
  ) throws(StoreError) -> LineNumbers {
    var lines = LineNumbers()
    try database.withStatement(
      "SELECT number, service, priority FROM line", while: "reading the lines"
    ) { row throws(StoreError) in
      while try row.step() {
        let (number, priority) = (row.integer(0), UInt32(exactly: row.integer(2)))
        guard let service = services.service(numbered: row.integer(1)), let priority,
          1...LineNumbers.highest ~= number
        else { throw .damaged(path: database.path, detail: MessageDetail(.lineInvalid, number)) }
        lines.know(Line(service: service, priority: Priority(priority)), as: number)
      }
    }
    return lines
  }

  static func readServices(_ database: Database) throws(StoreError) -> ServiceDirectory {
    var names: [ServiceName] = []
    try database.withStatement(
      "SELECT number, name FROM service ORDER BY number", while: "reading the services"
    ) { row throws(StoreError) in
      while try row.step() {
        let number = row.integer(0)
        guard number == Int64(names.count) + 1, let name = ServiceName(row.text(1)) else {
          throw .damaged(path: database.path, detail: MessageDetail(.serviceInvalid, number))
        }
        names.append(name)
      }
    }
    guard let directory = ServiceDirectory(names: names) else {
      throw .damaged(path: database.path, detail: MessageDetail(.serviceInvalid, Int64(names.count)))
    }
    return directory
  }

  /// Assigns a number to each new service. See `QueueStore`.
  public func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    try requireHealth()
    precondition(!hasStagedChanges, "Numbers are assigned in their own transaction.")
    var grown = services
    let before = grown.count
    for name in names where grown[name] == nil {
      guard grown.hasRoom else {
        throw .failed(path: database.path, detail: MessageDetail(.servicesExhausted))
      }
      grown.add(name)
    }
    let new = grown.names[before...]
    guard !new.isEmpty else { return }
    try inTransaction { () throws(StoreError) in
      for (place, name) in new.enumerated() {
        // A service name contains only characters that need no quoting.
        try database.execute(
          "INSERT INTO service (number, name) VALUES (\(before + place + 1), '\(name)')",
          while: "assigning a number to a service")
      }
    }
    services = grown
    saved?.know(services: grown.count)
  }

  /// Writes the row of day 1 in a new store.
  private func begin(_ dayCounters: DayCounters) throws(StoreError) {
    if sequence > 0 { throw damage(MessageDetail(.receiptsWithoutDay)) }
    try inTransaction { () throws(StoreError) in try open(dayCounters, firstSequence: 1) }
  }

  /// Writes changed counters in the open transaction.
  func save(_ dayCounters: DayCounters, over saved: DayCounters, _ arriving: InProgressEnqueue?)
    throws(StoreError)
  {
    precondition(dayCounters.day >= saved.day, "A business day never repeats.")
    if dayCounters.day > saved.day {
      try startNextDay(from: saved, to: dayCounters, arriving)
    } else if dayCounters != saved {
      let statement = statements.updateDay
      statement.bind(
        try DayCounterColumns.bind(dayCounters, lines, &serviceCountCache, to: statement, from: 1),
        dayCounters.day)
      try statement.run()
      try requireRow(of: dayCounters.day)
    }
    if dayCounters.delayedByService != saved.delayedByService {
      try saveDelayedByService(dayCounters, over: saved)
    }
  }

  /// Closes the day of the saved counters and opens the day of the new ones.
  ///
  /// A closed day has a receipt for every ticket. The last counters of the old day may never have been saved,
  /// so its final counts are those of the receipts. If more tickets were saved as issued than have receipts,
  /// that number is kept, so that the audit finds the difference.
  private func startNextDay(
    from saved: DayCounters, to dayCounters: DayCounters, _ arriving: InProgressEnqueue?
  ) throws(StoreError) {
    // If no request is arriving, the rows of an incomplete request of the old day are removed. If one is arriving, the
    // day was ended by a reset, which has removed such rows already, and the rows belong to the new day.
    if arriving == nil { try withdraw(limit: .max) }
    // Every stored customer belongs to the current day, so no customer of the old day may be left.
    let kept = try database.number("SELECT count(*) FROM customer", while: "closing a day") ?? 0
    if kept != dayCounters.kept + (arriving?.count ?? 0) {
      throw damage(MessageDetail(.dayHandoverDiffers, saved.day, kept, dayCounters.kept))
    }
    if kept == 0 { try forgetLines() }
    var receipts = StagedReceipts(
      served: saved.served + staged.served, cancelled: saved.cancelled + staged.cancelled)
    var first = try firstSequence(of: saved.day)
    var day = saved.day
    while true {
      // Clock steps that were not saved yet may belong to the old day.
      statements.closeDay.bindAll(
        day, dayCounters.openedAt.milliseconds, receipts.served, receipts.cancelled, dayCounters.clockSteps)
      try statements.closeDay.run()
      try requireRow(of: day)
      first += receipts.served + receipts.cancelled
      day += 1
      if day == dayCounters.day { break }
      // This day started and ended within the open transaction.
      try open(
        DayCounters(day: day, openedAt: dayCounters.openedAt, clockSteps: dayCounters.clockSteps),
        firstSequence: first)
      receipts = try countReceipts(of: day, from: first)
    }
    try open(dayCounters, firstSequence: first)
  }

  /// Writes the row of a new day.
  private func open(_ dayCounters: DayCounters, firstSequence: Int64) throws(StoreError) {
    let statement = statements.insertDay
    statement.bindAll(dayCounters.day, dayCounters.openedAt.milliseconds, firstSequence)
    try DayCounterColumns.bind(dayCounters, lines, &serviceCountCache, to: statement, from: 4)
    try statement.run(violation: MessageDetail(.dayTwice, dayCounters.day))
  }

  /// Sequence number at which the receipts of a day start.
  private func firstSequence(of day: BusinessDay) throws(StoreError) -> Int64 {
    let first = try database.number(
      "SELECT first_sequence FROM day WHERE day = \(day)", while: "closing a day")
    guard let first else { throw damage(MessageDetail(.dayMissing, day)) }
    return first
  }

  /// Counts the receipts of a day, which start at sequence number `first`.
  private func countReceipts(of day: BusinessDay, from first: Int64) throws(StoreError) -> StagedReceipts {
    var counts = StagedReceipts()
    statements.pages.bind(1, first - 1)
    defer { statements.pages.reset() }
    while let page = try nextPage(statements.pages), page.first?.day == day {
      for entry in page {
        if entry.outcome == Int64(Outcome.cancelled.rawValue) {
          counts.cancelled += 1
        } else {
          counts.served += 1
        }
      }
    }
    return counts
  }

  /// Throws if the last statement has not changed the row of the day.
  private func requireRow(of day: BusinessDay) throws(StoreError) {
    if database.changes != 1 { throw damage(MessageDetail(.dayRowMissing, day)) }
  }

  /// Reads the counters of the current day; throws if they are invalid.
  private func readDayCounters() throws(StoreError) -> DayCounters {
    let dayCounters = try database.withStatement(
      "SELECT \(DayRow.columns) FROM day ORDER BY day DESC LIMIT 1", while: "reading the counters of the day"
    ) { row throws(StoreError) in
      guard let last = try row.first({ DayRow($0, lines, services) }), last.dayCounters.day >= 1 else {
        throw damage(MessageDetail(.noBusinessDay))
      }
      if !last.isReadable { throw damage(MessageDetail(.dayCountersInvalid, last.dayCounters.day)) }
      if last.isClosed { throw damage(MessageDetail(.presentDayClosed, last.dayCounters.day)) }
      return last.dayCounters
    }
    if let contradiction = dayCounters.contradiction { throw damage(contradiction) }
    return dayCounters
  }
}

extension DayCounters {
  /// Number of unfinished customers, including dead letters.
  var kept: Int64 { waitingInAll + delayed + dead }

  /// Upper bound for the number of customers that may get rows of shortages. All delayed and dead ones are included,
  /// whatever their service is.
  var openWithShortages: Int64 {
    waiting.occupied.reduce(delayed + dead) { $0 + ($1.line.service.usesStock ? $1.count : 0) }
  }

  /// Upper bound for the number of customers whose work may store a result, including all delayed and dead
  /// ones.
  var openWithResults: Int64 {
    waiting.occupied.reduce(delayed + dead) { $0 + ($1.line.service.mayStoreResult ? $1.count : 0) }
  }

  /// An inconsistency of the counters; nil if they are consistent.
  var contradiction: MessageDetail? {
    var sum: Int64 = 0
    for count in [served, cancelled, delayed, dead] + waiting.occupied.map(\.count) {
      let (next, overflow) = sum.addingReportingOverflow(count)
      if count < 0 || overflow { return MessageDetail(.dayCountersInvalid, day) }
      sum = next
    }
    return sum == issued ? nil : MessageDetail(.dayCountersInconsistent, day, issued, sum)
  }
}
