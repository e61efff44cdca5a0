// Reading and saving of the day counters, the start of a new business day, and the count of the coordinator's
// starts.
// Invariant: the row of the counters is written only if a counter differs from the last commit, in the same
// transaction as the changes that are counted. Inconsistent counters are rejected when they are read.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Reads the day counters and the first delayed customers. Starts day 1 in a new store. See `QueueStore`.
  ///
  /// - Throws: `.damaged` if the counters are inconsistent or a row is invalid; for a new store also `.diskFull`.
  public func load(now: WallTime) throws(StoreError) -> StoredQueue {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    let days = try database.number("SELECT count(*) FROM day", while: "counting days")
    if days == 0 {
      let first = Books(day: 1, openedAt: now)
      if database.isReadOnly { return StoredQueue(books: first, delayed: []) }
      try begin(first)
    }
    var books = try readBooks()
    arrivals = Arrivals(first: try readArrivals())
    try readDelayedByService(into: &books)
    saved = books
    return StoredQueue(
      books: books, delayed: try readDelayed(after: .first, limit: StoredQueue.firstPage))
  }

  /// Counts the starts of the coordinator on this store. Returns the number of this start, from 1. Durable on
  /// return.
  public func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64 {
    try requireHealth()
    return try inTransaction { () throws(StoreError) in
      try database.execute(
        "UPDATE meta SET value = value + 1 WHERE name = 'incarnation'", while: "counting a start")
      let number = try database.note("incarnation", while: "counting a start")
      guard database.changes == 1, let number else { throw damage(Remark(.startsMissing)) }
      try database.execute(
        """
        INSERT OR REPLACE INTO meta VALUES
          ('\(Self.opening)\(number)', \(now.milliseconds)), ('\(Self.receiptsBefore)\(number)', \(sequence))
        """, while: "recording a start")
      try keepDelayedByService(from: number)
      return number
    }
  }

  /// Returns the identity of this database. A database without one gets a new one, which is valid for the
  /// tickets that are issued from now on.
  ///
  /// - Parameter number: number of the identity that a database without one gets.
  public func booksName(new number: Int64) throws(StoreError) -> BooksName {
    if let known = try knownBooksName() { return known }
    guard let saved else { preconditionFailure("The identity is written after the store is loaded.") }
    let name = BooksName(number: number, day: saved.day, ticket: saved.issued + 1)
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
  public func knownBooksName() throws(StoreError) -> BooksName? {
    try requireHealth()
    func value(_ name: String) throws(StoreError) -> Int64? {
      try database.note(name, while: "reading the identity of the database")
    }
    guard let number = try value("bank id") else { return nil }
    guard let day = try value("bank id day"), let ticket = try value("bank id ticket") else {
      throw damage(Remark(.booksNameBroken))
    }
    return BooksName(number: number, day: day, ticket: ticket)
  }

  /// Prefix of the names in `meta` for the times of starts. The number of the start follows the prefix.
  static let opening = "opening "
  /// Prefix of the names in `meta` for the last receipt before a start. The number of the start follows the
  /// prefix.
  static let receiptsBefore = "receipts before "

  /// Reads the lines with their numbers.
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
        else { throw .damaged(path: database.path, detail: Remark(.lineMeaningless, number)) }
        lines.know(Line(service: service, priority: Priority(priority)), as: number)
      }
    }
    return lines
  }

  /// Reads the services with their numbers.
  static func readServices(_ database: Database) throws(StoreError) -> ServiceDirectory {
    var names: [ServiceName] = []
    try database.withStatement(
      "SELECT number, name FROM service ORDER BY number", while: "reading the services"
    ) { row throws(StoreError) in
      while try row.step() {
        let number = row.integer(0)
        guard number == Int64(names.count) + 1, let name = ServiceName(row.text(1)) else {
          throw .damaged(path: database.path, detail: Remark(.serviceMeaningless, number))
        }
        names.append(name)
      }
    }
    guard let directory = ServiceDirectory(names: names) else {
      throw .damaged(path: database.path, detail: Remark(.serviceMeaningless, Int64(names.count)))
    }
    return directory
  }

  /// Assigns a number to each new service. See `QueueStore`.
  public func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    try requireHealth()
    precondition(!hasStagedChanges, "Numbers are assigned in their own transaction.")
    var grown = services
    let before = grown.count
    for name in names where grown[name] == nil {
      guard grown.hasRoom else { throw .failed(path: database.path, detail: Remark(.servicesExhausted)) }
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

  private func begin(_ books: Books) throws(StoreError) {
    if sequence > 0 { throw damage(Remark(.receiptsWithoutDay)) }
    try inTransaction { () throws(StoreError) in try open(books, firstSequence: 1) }
  }

  /// Writes changed counters in the open transaction.
  func save(_ books: Books, over saved: Books, _ arriving: ArrivingRequest?) throws(StoreError) {
    precondition(books.day >= saved.day, "A business day never repeats.")
    if books.day > saved.day {
      try turnPages(from: saved, to: books, arriving)
    } else if books != saved {
      let statement = statements.updateDay
      statement.bind(try BookColumns.bind(books, lines, &texts, to: statement, from: 1), books.day)
      try statement.run()
      try requireRow(of: books.day)
    }
    if books.delayedByService != saved.delayedByService { try saveDelayedByService(books, over: saved) }
  }

  /// Closes the day of the saved counters and opens the day of the new ones.
  ///
  /// A closed day has a receipt for every ticket. The last counters of the old day may never have been saved,
  /// so its final counts are those of the receipts. If more tickets were saved as issued than have receipts,
  /// that number is kept, so that the audit finds the difference.
  private func turnPages(
    from saved: Books, to books: Books, _ arriving: ArrivingRequest?
  ) throws(StoreError) {
    // An arriving request started after the reset, which has removed any incomplete request of the previous
    // day.
    if arriving == nil { try withdraw(limit: .max) }
    // Every stored customer belongs to the current day, so no customer of the old day may be left.
    let kept = try database.number("SELECT count(*) FROM customer", while: "closing a day") ?? 0
    if kept != books.kept + (arriving?.count ?? 0) {
      throw damage(Remark(.dayNotCarried, saved.day, kept, books.kept))
    }
    if kept == 0 { try forgetLines() }
    var receipts = StagedReceipts(
      served: saved.served + staged.served, cancelled: saved.cancelled + staged.cancelled)
    var first = try firstSequence(of: saved.day)
    var day = saved.day
    while true {
      // Clock steps that were not saved yet may belong to the old day.
      statements.closeDay.bindAll(
        day, books.openedAt.milliseconds, receipts.served, receipts.cancelled, books.clockSteps)
      try statements.closeDay.run()
      try requireRow(of: day)
      first += receipts.served + receipts.cancelled
      day += 1
      if day == books.day { break }
      // This day started and ended within the open transaction.
      try open(Books(day: day, openedAt: books.openedAt, clockSteps: books.clockSteps), firstSequence: first)
      receipts = try countReceipts(of: day, from: first)
    }
    try open(books, firstSequence: first)
  }

  private func open(_ books: Books, firstSequence: Int64) throws(StoreError) {
    let statement = statements.insertDay
    statement.bindAll(books.day, books.openedAt.milliseconds, firstSequence)
    try BookColumns.bind(books, lines, &texts, to: statement, from: 4)
    try statement.run(broken: Remark(.dayTwice, books.day))
  }

  private func firstSequence(of day: BusinessDay) throws(StoreError) -> Int64 {
    let first = try database.number(
      "SELECT first_sequence FROM day WHERE day = \(day)", while: "closing a day")
    guard let first else { throw damage(Remark(.dayMissing, day)) }
    return first
  }

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

  private func requireRow(of day: BusinessDay) throws(StoreError) {
    if database.changes != 1 { throw damage(Remark(.dayRowMissing, day)) }
  }

  private func readBooks() throws(StoreError) -> Books {
    let books = try database.withStatement(
      "SELECT \(DayRow.columns) FROM day ORDER BY day DESC LIMIT 1", while: "reading the counters of the day"
    ) { row throws(StoreError) in
      guard let last = try row.first({ DayRow($0, lines, services) }), last.books.day >= 1 else {
        throw damage(Remark(.noBusinessDay))
      }
      if !last.isReadable { throw damage(Remark(.booksImpossible, last.books.day)) }
      if last.isClosed { throw damage(Remark(.presentDayClosed, last.books.day)) }
      return last.books
    }
    if let contradiction = books.contradiction { throw damage(contradiction) }
    return books
  }
}

extension Books {
  var kept: Int64 { waitingInAll + delayed + dead }

  /// Upper bound for the number of customers that may get rows of shortages. All delayed and dead ones are included,
  /// whatever their service is.
  var keptForJuice: Int64 {
    waiting.occupied.reduce(delayed + dead) { $0 + ($1.line.service.drawsOnStock ? $1.count : 0) }
  }

  /// Upper bound for the number of customers whose work may store a result, including all delayed and dead
  /// ones.
  var keptWithResults: Int64 {
    waiting.occupied.reduce(delayed + dead) { $0 + ($1.line.service.leavesResults ? $1.count : 0) }
  }

  /// An inconsistency of the counters; nil if they are consistent.
  var contradiction: Remark? {
    var sum: Int64 = 0
    for count in [served, cancelled, delayed, dead] + waiting.occupied.map(\.count) {
      let (next, overflow) = sum.addingReportingOverflow(count)
      if count < 0 || overflow { return Remark(.booksImpossible, day) }
      sum = next
    }
    return sum == issued ? nil : Remark(.booksDoNotAddUp, day, issued, sum)
  }
}
