// Owns the columns of a day's row in which its numbers stand, and their order.
// Invariant: what is bound in this order is read in this order, by the names of the domain.

import BankModel
import QueueCore
import Time

enum BookColumns {
  /// What is counted for the present day alone, by line and by service, 0 in the row of a closed one: `deposit_vvip` and so
  /// on in the order of ``Line/index``, `deposit_served`, `deposit_paused` (0 or 1).
  static let present =
    Line.allCases.map { "\($0.service.name)_\($0.grade.name)" } + Service.allCases.map { "\($0.name)_served" }
    + Service.allCases.map { "\($0.name)_paused" }
  /// How often the calendar's clock had gone back, over all days until the end of this one.
  static let clock = "clock_steps"
  static let all = ["issued", "served", "cancelled", "delayed", "dead", "business_ns"] + present + [clock]
  static let list = all.joined(separator: ", ")

  /// Binds what the books say, from a parameter on; gives the parameter behind them.
  @discardableResult static func bind(_ books: Books, to statement: Statement, from first: Int32) -> Int32 {
    var index = first
    func bind(_ value: Int64) {
      statement.bind(index, value)
      index += 1
    }
    bind(books.issued)
    bind(books.served)
    bind(books.cancelled)
    bind(books.delayed)
    bind(books.dead)
    bind(books.businessTime.nanoseconds)
    for count in books.waiting { bind(count) }
    for count in books.servedByService { bind(count) }
    for isPaused in books.paused { bind(isPaused ? 1 : 0) }
    bind(books.clockSteps)
    return index
  }
}

struct DayRow {
  static let columns = "day, opened_ms, closed_ms, first_sequence, \(BookColumns.list)"

  var books: Books
  var isClosed: Bool
  var firstSequence: Int64

  init(_ row: Statement) {
    books = Books(day: row.integer(0), openedAt: WallTime(milliseconds: row.integer(1)))
    isClosed = row.optional(2) != nil
    firstSequence = row.integer(3)
    var column: Int32 = 3
    func next() -> Int64 {
      column += 1
      return row.integer(column)
    }
    books.issued = next()
    books.served = next()
    books.cancelled = next()
    books.delayed = next()
    books.dead = next()
    books.businessTime = TimeSpan(nanoseconds: next())
    for index in books.waiting.indices { books.waiting[index] = next() }
    for index in books.servedByService.indices { books.servedByService[index] = next() }
    for index in books.paused.indices { books.paused[index] = next() != 0 }
    books.clockSteps = next()
  }
}
