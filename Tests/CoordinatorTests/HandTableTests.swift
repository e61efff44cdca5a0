// The table of customers being served: what the next coordinator finds in it, and that damage to its file is
// harmless.

import BankModel
import Glibc
import Posix
import PosixFixture
import QueueCore
import Testing

@testable import Coordinator

@Suite("The table of customers being served") struct HandTableTests {
  private static let books = BooksName(number: 7, day: 1, ticket: 1)

  private final class Memory {
    let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: HandTable.wordCount)
    init() { words.initialize(repeating: 0) }
    deinit { words.deallocate() }

    /// The next coordinator starts.
    func begin(
      boot: [UInt8]? = [1, 2], books: BooksName = HandTableTests.books, day: BusinessDay = 3
    ) -> (table: HandTable, falls: [TicketNumber: Int]) {
      let table = HandTable(words, boot: boot, owner: self)
      return (table, table.begin(books: books, day: day).mapValues(\.count))
    }
  }

  @Test("each customer being served at a death is found, and no other") func found() {
    let memory = Memory()
    let (table, none) = memory.begin()
    #expect(none.isEmpty)
    for ticket in 1...6 as ClosedRange<TicketNumber> { table.take(ticket) }
    table.leave(2)
    table.forget(4)
    let (next, falls) = memory.begin()
    #expect(falls == [1: 1, 3: 1, 5: 1, 6: 1])
    // Recorded, and assigned again.
    for ticket in [1, 3, 5] as [TicketNumber] { next.leave(ticket) }
    next.take(1)
    next.forget(3)
    #expect(memory.begin().falls == [1: 2, 5: 1, 6: 1])
  }

  @Test("a coordinator that ends regularly has lost no customer, and earlier counts stay")
  func closed() {
    let memory = Memory()
    memory.begin().table.take(1)
    let (table, falls) = memory.begin()
    #expect(falls == [1: 1])
    table.leave(1)
    table.take(1)
    table.take(2)
    table.close()
    #expect(memory.begin().falls == [1: 1])
  }

  @Test("a death with no customer being served clears the counts of all customers")
  func forgiven() {
    let memory = Memory()
    memory.begin().table.take(1)
    memory.begin().table.take(1)
    let (table, falls) = memory.begin()
    #expect(falls == [1: 2])
    table.leave(1)
    #expect(memory.begin().falls.isEmpty)
  }

  @Test("another database, another day and another boot know nothing of it") func others() {
    for change in 0..<4 {
      let memory = Memory()
      memory.begin().table.take(1)
      switch change {
      case 0: #expect(memory.begin(boot: [3]).falls.isEmpty)
      case 1: #expect(memory.begin(books: BooksName(number: 8, day: 1, ticket: 1)).falls.isEmpty)
      case 2: #expect(memory.begin(day: 4).falls.isEmpty)
      default: #expect(memory.begin(boot: nil).falls.isEmpty)
      }
      #expect(memory.begin().falls.isEmpty)
    }
  }

  @Test("with a new day the numbers start again") func newDay() {
    let memory = Memory()
    let table = memory.begin().table
    table.take(1)
    table.begin(day: 4)
    table.take(9)
    #expect(memory.begin(day: 4).falls == [9: 1])
  }

  @Test("customers beyond the room of the table are not noted, and disturb no other") func full() {
    let memory = Memory()
    let table = memory.begin().table
    let colliding = (0..<20).map { TicketNumber(5 + $0 * 1_024) }
    for ticket in colliding { table.take(ticket) }
    for ticket in colliding { table.leave(ticket) }
    table.take(5)
    #expect(memory.begin().falls == [5: 1])
  }

  @Test("the contents of the file are read by the next process that maps it") func file() throws {
    let directory = try TemporaryDirectory("bank-hands")
    let path = directory.file("hands")
    do {
      let table = try HandTable(at: path)
      #expect(table.begin(books: Self.books, day: 1).isEmpty)
      table.take(12)
    }
    let table = try HandTable(at: path)
    #expect(table.begin(books: Self.books, day: 1) == [12: CoordinatorFall(count: 1, isUnrecorded: true)])
  }

  @Test("a removed file is created again with the contents of the table, and is used afterwards")
  func renewed() throws {
    let directory = try TemporaryDirectory("bank-hands")
    let path = directory.file("hands")
    do {
      let table = try HandTable(at: path)
      _ = table.begin(books: Self.books, day: 1)
      table.take(12)
      try Directory.unlink(path)
      try table.renew(at: path)
      table.take(13)
      table.forget(12)
      table.take(14)
    }
    let table = try HandTable(at: path)
    #expect(table.begin(books: Self.books, day: 1).mapValues(\.count) == [13: 1, 14: 1])
  }

  @Test("a file that is truncated under an open bank loses its contents, and the process continues")
  func cut() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory("bank-hands")
      let path = directory.file("hands")
      let table = try HandTable(at: path)
      _ = table.begin(books: BooksName(number: 7, day: 1, ticket: 1), day: 1)
      table.take(1)
      #expect(truncate(path, 0) == 0)
      // Removed as well, and created again with the remaining contents.
      try Directory.unlink(path)
      try table.renew(at: path)
      table.take(2)
      #expect(truncate(path, 0) == 0)
      for ticket in 1...5_000 as ClosedRange<TicketNumber> { table.take(ticket) }
      for ticket in 1...5_000 as ClosedRange<TicketNumber> { table.leave(ticket) }
      table.close()
    }
  }
}
