// Columns of the counters in the row of a business day, and their order.
// Invariant: values are bound and read in the same order.

import BankModel
import QueueCore
import Time

enum BookColumns {
  /// Counters of the current day only; the columns are empty in the row of a closed day. `waiting` contains the
  /// waiting customers by the number of the line. `served_by_service` and `paused` contain the served
  /// customers, and 1 for a paused service, in the order of the services' numbers. See ``DayCounts``.
  static let present = ["waiting", "served_by_service", "paused"]
  /// Number of backward steps of the wall clock, over all days up to the end of the row's day.
  static let clock = "clock_steps"
  static let all = ["issued", "served", "cancelled", "delayed", "dead", "business_ns"] + present + [clock]
  static let list = all.joined(separator: ", ")

  /// Binds the counters to consecutive parameters, starting at `first`. Returns the next parameter.
  @discardableResult static func bind(
    _ books: Books, _ lines: LineNumbers, _ texts: inout ServiceTexts, to statement: Statement,
    from first: Int32
  ) throws(StoreError) -> Int32 {
    statement.bindAll(
      from: first, books.issued, books.served, books.cancelled, books.delayed, books.dead,
      books.businessTime.nanoseconds)
    try statement.bind(first + 6, utf8: DayCounts.write(books.waiting, lines))
    try texts.bind(books, to: statement, from: first + 7)
    statement.bind(first + 9, books.clockSteps)
    return first + 10
  }
}

struct DayRow {
  static let columns = "day, opened_ms, closed_ms, first_sequence, \(BookColumns.list)"

  var books: Books
  var isClosed: Bool
  var firstSequence: Int64
  /// True if the columns of the counts by line and by service are valid.
  let isReadable: Bool

  init(_ row: Statement, _ lines: LineNumbers, _ services: ServiceDirectory) {
    books = Books(day: row.integer(0), openedAt: WallTime(milliseconds: row.integer(1)))
    books.know(services: services.count)
    isClosed = row.optional(2) != nil
    firstSequence = row.integer(3)
    (books.issued, books.served, books.cancelled) = (row.integer(4), row.integer(5), row.integer(6))
    (books.delayed, books.dead) = (row.integer(7), row.integer(8))
    books.businessTime = TimeSpan(nanoseconds: row.integer(9))
    books.clockSteps = row.integer(13)
    isReadable = Self.take(row, lines, &books)
  }

  /// Reads the counters by line and by service. Returns false if they are invalid.
  private static func take(_ row: Statement, _ lines: LineNumbers, _ books: inout Books) -> Bool {
    guard let waiting = DayCounts.numbers(in: row.utf8(10)), waiting.count % 2 == 0,
      let served = DayCounts.numbers(in: row.utf8(11)), served.count <= books.servedByService.count,
      let paused = DayCounts.numbers(in: row.utf8(12)), paused.count <= books.paused.count,
      paused.allSatisfy({ $0 <= 1 })
    else { return false }
    for index in stride(from: 0, to: waiting.count, by: 2) {
      guard let line = lines[waiting[index]] else { return false }
      books.waiting[line] = waiting[index + 1]
    }
    // Missing values are 0.
    for (index, count) in served.enumerated() { books.servedByService[index] = count }
    for (index, isPaused) in paused.enumerated() { books.paused[index] = isPaused != 0 }
    return true
  }
}
