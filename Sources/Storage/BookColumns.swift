// Owns the columns of a day's row in which the present day is counted by line and by service, and their order. It knows
// no connection. Invariant: what is bound in this order is read in this order, by the names of the domain.

import BankModel
import QueueCore

/// The columns of `day` that count by line and by service, and the steps of the clock.
enum BookColumns {
  /// `deposit_vvip` and so on, in the order of ``Line/index``.
  static let waiting = Line.allCases.map { "\($0.service.name)_\($0.grade.name)" }
  /// `deposit_served` and so on.
  static let served = Service.allCases.map { "\($0.name)_served" }
  /// `deposit_paused` and so on: 0 or 1.
  static let paused = Service.allCases.map { "\($0.name)_paused" }
  /// What is counted for the present day alone: 0 in the row of a closed one.
  static let present = waiting + served + paused
  /// How often the calendar's clock had gone back, over all days until the end of this one.
  static let clock = "clock_steps"
  /// All of them.
  static let all = present + [clock]
  /// All of them, for a statement.
  static let list = all.joined(separator: ", ")

  /// Binds what the books say, from a parameter on.
  static func bind(_ books: Books, to statement: Statement, from first: Int32) {
    var index = first
    for value in books.waiting + books.servedByService {
      statement.bind(index, value)
      index += 1
    }
    for isPaused in books.paused {
      statement.bind(index, isPaused ? 1 as Int64 : 0)
      index += 1
    }
    statement.bind(index, books.clockSteps)
  }

  /// Reads them into books, from a column on.
  static func read(_ row: Statement, from first: Int32, into books: inout Books) {
    var column = first
    for index in books.waiting.indices {
      books.waiting[index] = row.integer(column)
      column += 1
    }
    for index in books.servedByService.indices {
      books.servedByService[index] = row.integer(column)
      column += 1
    }
    for index in books.paused.indices {
      books.paused[index] = row.integer(column) != 0
      column += 1
    }
    books.clockSteps = row.integer(column)
  }
}
