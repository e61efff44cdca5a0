// Customers who wait for a moment: the earliest first, and within a moment the smaller number.

import BankModel
import Glibc
import Testing
import Time

@testable import QueueCore

@Suite struct DelayedCustomersTests {
  private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  private func delayed(_ entries: (TicketNumber, Int64)...) -> DelayedCustomers {
    var delayed = DelayedCustomers()
    for (ticket, second) in entries {
      delayed.insert(.numbered(ticket), due: at(second), dueAt: WallTime(milliseconds: second * 1_000))
    }
    return delayed
  }

  @Test("nobody comes back before the moment, and at the moment itself one does")
  func notBefore() {
    var delayed = delayed((1, 5))
    #expect(delayed.nextDue == at(5))
    #expect(delayed.takeDue(at: at(4)) == nil)
    #expect(delayed.count == 1)
    #expect(delayed.takeDue(at: at(5))?.ticket == 1)
    #expect(delayed.takeDue(at: at(9)) == nil)
    #expect(delayed.nextDue == nil)
  }

  @Test("the earliest comes back first, whoever was put off first")
  func earliestFirst() {
    var delayed = delayed((1, 9), (2, 3), (3, 6), (4, 1))
    #expect((0..<4).map { _ in delayed.takeDue(at: at(10))?.ticket } == [4, 2, 3, 1])
  }

  @Test("customers of one moment come back in the order of their numbers")
  func sameMoment() {
    var delayed = delayed((8, 3), (2, 3), (5, 3), (1, 3))
    #expect((0..<4).map { _ in delayed.takeDue(at: at(3))?.ticket } == [1, 2, 5, 8])
  }

  @Test("one customer can be taken out, whenever it is due")
  func remove() {
    var delayed = delayed((1, 1), (2, 2), (3, 3))
    #expect(delayed.remove(2)?.ticket == 2)
    #expect(delayed.remove(2) == nil)
    #expect(delayed.remove(9) == nil)
    #expect((0..<3).map { _ in delayed.takeDue(at: at(9))?.ticket } == [1, 3, nil])
  }

  @Test("clear sends everyone away")
  func clear() {
    var delayed = delayed((1, 1), (2, 2))
    delayed.clear()
    #expect(delayed.count == 0)
    #expect(delayed.nextDue == nil)
  }

  @Test("whoever comes, goes or is taken out, the order is that of a sorted list")
  func agreesWithSortedList() {
    let chosen = getenv("BANK_QUEUE_SEED").flatMap { UInt64(String(cString: $0)) }
    for seed in chosen.map({ [$0] }) ?? Array(1...200) {
      var chance = SeededGenerator(seed: seed)
      var delayed = DelayedCustomers()
      var list: [(second: Int64, ticket: TicketNumber)] = []
      for ticket in 1...120 as ClosedRange<TicketNumber> {
        let second = chance.draw(1...20)
        delayed.insert(.numbered(ticket), due: at(second), dueAt: WallTime(milliseconds: 0))
        list.append((second, ticket))
        list.sort { $0 < $1 }
        if chance.draw(0...2) == 0 {
          let gone = chance.draw(1...ticket)
          let place = list.firstIndex { $0.ticket == gone }
          #expect(delayed.remove(gone)?.ticket == place.map { list.remove(at: $0).ticket })
        }
        if chance.draw(0...3) == 0 {
          let moment = chance.draw(1...20)
          let isDue = list.first.map { $0.second <= moment } ?? false
          #expect(delayed.takeDue(at: at(moment))?.ticket == (isDue ? list.removeFirst().ticket : nil))
        }
        guard delayed.count == list.count, delayed.nextDue == list.first.map({ at($0.second) }) else {
          Issue.record(
            "seed \(seed), ticket \(ticket); repeat: BANK_QUEUE_SEED=\(seed) scripts/test DelayedCustomersTests"
          )
          return
        }
      }
    }
  }
}
