// Columns of the counters in the row of a business day, and their order.
// Invariant: values are bound and read in the same order.

import BankModel
import QueueCore
import Time

/// Columns of the counters in the table `day`.
enum DayCounterColumns {
  /// Counters of the current day only; the columns are empty in the row of a closed day. `waiting` contains the
  /// waiting customers by the number of the line. `served_by_service` and `paused` contain the served
  /// customers, and 1 for a paused service, in the order of the services' numbers. See ``DayCounterText``.
  static let present = ["waiting", "served_by_service", "paused"]
  /// Number of backward steps of the wall clock, over all days up to the end of the row's day.
  static let clock = "clock_steps"
  /// Columns of counters, in the order in which they are bound and read.
  static let all = ["issued", "served", "cancelled", "delayed", "dead", "business_ns"] + present + [clock]
  /// The same columns for SQL, with commas between them.
  static let list = all.joined(separator: ", ")

  /// Binds the counters to consecutive parameters, starting at `first`. Returns the next parameter.
  @discardableResult static func bind(
    _ dayCounters: DayCounters, _ lines: LineNumbers, _ serviceCountCache: inout ServiceCountCache,
    to statement: Statement,
    from first: Int32
  ) throws(StoreError) -> Int32 {
    statement.bindAll(
      from: first, dayCounters.issued, dayCounters.served, dayCounters.cancelled, dayCounters.delayed,
      dayCounters.dead,
      dayCounters.businessTime.nanoseconds)
    try statement.bind(first + 6, utf8: DayCounterText.write(dayCounters.waiting, lines))
    try serviceCountCache.bind(dayCounters, to: statement, from: first + 7)
    statement.bind(first + 9, dayCounters.clockSteps)
    return first + 10
  }
}

/// Row of the table `day`.
struct DayRow {
  /// Columns of a row, in the order in which they are read.
  static let columns = "day, opened_ms, closed_ms, first_sequence, \(DayCounterColumns.list)"

  var dayCounters: DayCounters
  var isClosed: Bool
  /// Sequence number of the first receipt of the day.
  var firstSequence: Int64
  /// True if the columns of the counts by line and by service are valid.
  let isReadable: Bool

  init(_ row: Statement, _ lines: LineNumbers, _ services: ServiceDirectory) {
    dayCounters = DayCounters(day: row.integer(0), openedAt: WallTime(milliseconds: row.integer(1)))
    dayCounters.know(services: services.count)
    isClosed = row.optional(2) != nil
    firstSequence = row.integer(3)
    (dayCounters.issued, dayCounters.served, dayCounters.cancelled) = (
      row.integer(4), row.integer(5), row.integer(6)
    )
    (dayCounters.delayed, dayCounters.dead) = (row.integer(7), row.integer(8))
    dayCounters.businessTime = TimeSpan(nanoseconds: row.integer(9))
    dayCounters.clockSteps = row.integer(13)
    isReadable = Self.take(row, lines, &dayCounters)
  }

  /// Reads the counters by line and by service. Returns false if they are invalid.
  private static func take(_ row: Statement, _ lines: LineNumbers, _ dayCounters: inout DayCounters) -> Bool {
    guard let waiting = DayCounterText.numbers(in: row.utf8(10)), waiting.count % 2 == 0,
      let served = DayCounterText.numbers(in: row.utf8(11)),
      served.count <= dayCounters.servedByService.count,
      let paused = DayCounterText.numbers(in: row.utf8(12)), paused.count <= dayCounters.paused.count,
      paused.allSatisfy({ $0 <= 1 })
    else { return false }
    for index in stride(from: 0, to: waiting.count, by: 2) {
      guard let line = lines[waiting[index]] else { return false }
      dayCounters.waiting[line] = waiting[index + 1]
    }
    // Missing values are 0.
    for (index, count) in served.enumerated() { dayCounters.servedByService[index] = count }
    for (index, isPaused) in paused.enumerated() { dayCounters.paused[index] = isPaused != 0 }
    return true
  }
}
