// The table of customers being served: what the next coordinator finds in it, and that damage to its file is
// harmless.

import BankModel
import Glibc
import Posix
import PosixFixture
import QueueCore
import Testing

@testable import Coordinator

// One after the other, because a process maps one table at a time.
@Suite("The table of customers being served", .serialized) struct InFlightTableTests {
  private static let bankID = BankID(number: 7, day: 1, ticket: 1)

  private final class Memory {
    let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: InFlightTable.wordCount)
    init() { words.initialize(repeating: 0) }
    deinit { words.deallocate() }

    /// The next coordinator starts.
    func begin(
      boot: [UInt8]? = [1, 2], bankID: BankID = InFlightTableTests.bankID, day: BusinessDay = 3
    ) -> (table: InFlightTable, falls: [TicketNumber: Int]) {
      let table = InFlightTable(words, boot: boot, owner: self)
      return (table, table.begin(bankID: bankID, day: day).mapValues(\.count))
    }
  }

  @Test("each customer being served at a death is found, and no other") func found() {
    let memory = Memory()
    let (table, none) = memory.begin()
    #expect(none.isEmpty)
    for ticket in 1...6 as ClosedRange<TicketNumber> { table.markAssigned(ticket) }
    table.markReturned(2)
    table.forget(4)
    let (next, coordinatorCrashes) = memory.begin()
    #expect(coordinatorCrashes == [1: 1, 3: 1, 5: 1, 6: 1])
    // Recorded, and assigned again.
    for ticket in [1, 3, 5] as [TicketNumber] { next.markReturned(ticket) }
    next.markAssigned(1)
    next.forget(3)
    #expect(memory.begin().falls == [1: 2, 5: 1, 6: 1])
  }

  @Test("a coordinator that ends regularly has lost no customer, and earlier counts stay")
  func closed() {
    let memory = Memory()
    memory.begin().table.markAssigned(1)
    let (table, coordinatorCrashes) = memory.begin()
    #expect(coordinatorCrashes == [1: 1])
    table.markReturned(1)
    table.markAssigned(1)
    table.markAssigned(2)
    table.close()
    #expect(memory.begin().falls == [1: 1])
  }

  @Test("a death with no customer being served clears the counts of all customers")
  func forgiven() {
    let memory = Memory()
    memory.begin().table.markAssigned(1)
    memory.begin().table.markAssigned(1)
    let (table, coordinatorCrashes) = memory.begin()
    #expect(coordinatorCrashes == [1: 2])
    table.markReturned(1)
    #expect(memory.begin().falls.isEmpty)
  }

  @Test("another database, another day and another boot know nothing of it") func others() {
    for change in 0..<4 {
      let memory = Memory()
      memory.begin().table.markAssigned(1)
      switch change {
      case 0: #expect(memory.begin(boot: [3]).falls.isEmpty)
      case 1: #expect(memory.begin(bankID: BankID(number: 8, day: 1, ticket: 1)).falls.isEmpty)
      case 2: #expect(memory.begin(day: 4).falls.isEmpty)
      default: #expect(memory.begin(boot: nil).falls.isEmpty)
      }
      #expect(memory.begin().falls.isEmpty)
    }
  }

  @Test("with a new day the numbers start again") func newDay() {
    let memory = Memory()
    let table = memory.begin().table
    table.markAssigned(1)
    table.begin(day: 4)
    table.markAssigned(9)
    #expect(memory.begin(day: 4).falls == [9: 1])
  }

  @Test("customers beyond the room of the table are not noted, and disturb no other") func full() {
    let memory = Memory()
    let table = memory.begin().table
    let colliding = (0..<20).map { TicketNumber(5 + $0 * 1_024) }
    for ticket in colliding { table.markAssigned(ticket) }
    for ticket in colliding { table.markReturned(ticket) }
    table.markAssigned(5)
    #expect(memory.begin().falls == [5: 1])
  }

  @Test("the contents of the file are read by the next process that maps it") func file() throws {
    let directory = try TemporaryDirectory("bank-inflight")
    let path = directory.file("inflight")
    do {
      let table = try InFlightTable(at: path)
      #expect(table.begin(bankID: Self.bankID, day: 1).isEmpty)
      table.markAssigned(12)
    }
    let table = try InFlightTable(at: path)
    #expect(
      table.begin(bankID: Self.bankID, day: 1) == [12: CoordinatorCrashes(count: 1, isUnrecorded: true)])
  }

  @Test("a removed file is created again with the contents of the table, and is used afterwards")
  func renewed() throws {
    let directory = try TemporaryDirectory("bank-inflight")
    let path = directory.file("inflight")
    do {
      let table = try InFlightTable(at: path)
      _ = table.begin(bankID: Self.bankID, day: 1)
      table.markAssigned(12)
      try Directory.unlink(path)
      try table.renew(at: path)
      table.markAssigned(13)
      table.forget(12)
      table.markAssigned(14)
    }
    let table = try InFlightTable(at: path)
    #expect(table.begin(bankID: Self.bankID, day: 1).mapValues(\.count) == [13: 1, 14: 1])
  }

  @Test("a file that is truncated under an open bank loses its contents, and the process continues")
  func cut() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory("bank-inflight")
      let path = directory.file("inflight")
      let table = try InFlightTable(at: path)
      _ = table.begin(bankID: BankID(number: 7, day: 1, ticket: 1), day: 1)
      table.markAssigned(1)
      #expect(truncate(path, 0) == 0)
      // Removed as well, and created again with the remaining contents.
      try Directory.unlink(path)
      try table.renew(at: path)
      table.markAssigned(2)
      #expect(truncate(path, 0) == 0)
      for ticket in 1...5_000 as ClosedRange<TicketNumber> { table.markAssigned(ticket) }
      for ticket in 1...5_000 as ClosedRange<TicketNumber> { table.markReturned(ticket) }
      table.close()
    }
  }
}
