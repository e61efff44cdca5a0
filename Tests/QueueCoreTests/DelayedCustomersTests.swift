// Customers who are delayed: the earliest due time first, within one due time the smaller number, and none
// before its due time. A customer that is not in memory is read from the store before a later one is called.

import BankModel
import Glibc
import QueueCore
import Testing
import Time

@testable import QueueCore

@Suite struct DelayedCustomersTests {
  private func at(_ second: Int64, _ wall: Int64? = nil) -> Moment {
    Moment(
      monotonic: MonotonicTime(nanoseconds: second * 1_000_000_000),
      wall: WallTime(milliseconds: (wall ?? second) * 1_000))
  }

  /// A customer ordered for a second of the calendar.
  private func ordered(_ ticket: TicketNumber, _ second: Int64) -> DelayedCustomer {
    DelayedCustomer(customer: .numbered(ticket), dueAt: WallTime(milliseconds: second * 1_000))
  }

  private func failed(_ ticket: TicketNumber, _ second: Int64) -> DelayedCustomer {
    var customer = ordered(ticket, second)
    customer.customer.attempts = 1
    return customer
  }

  private func delayed(_ entries: [DelayedCustomer], capacity: Int = 99) -> DelayedCustomers {
    DelayedCustomers(
      entries.sorted { $0.place < $1.place }, of: Int64(entries.count), capacity: capacity, at: at(0),
      limit: { _ in .seconds(60) })
  }

  @Test("a retry is delayed no longer than the longest pause of its own service")
  func longestPause() {
    var customer = failed(4, 100)
    let longest: (Service) -> TimeSpan = { $0 == customer.customer.service ? .seconds(90) : .seconds(1) }
    let held = DelayedCustomers([customer], of: 1, capacity: 9, at: at(0), limit: longest)
    #expect(held.nextDue(after: at(0)) == at(90).monotonic)
    customer.dueAt = at(50).wall
    let sooner = DelayedCustomers([customer], of: 1, capacity: 9, at: at(0), limit: longest)
    #expect(sooner.nextDue(after: at(0)) == at(50).monotonic)
  }

  @Test("no customer comes back before its due time, and one does at the due time itself")
  func notBefore() {
    for customer in [ordered(1, 5), failed(1, 5)] {
      var delayed = delayed([customer])
      #expect(delayed.nextDue(after: at(0)) == at(5).monotonic)
      #expect(delayed.takeDue(at: at(4)) == nil)
      #expect(delayed.count == 1)
      #expect(delayed.takeDue(at: at(5))?.ticket == 1)
      #expect(delayed.takeDue(at: at(9)) == nil)
      #expect(delayed.nextDue(after: at(9)) == nil)
    }
  }

  @Test("the earliest comes first, and within one due time the smaller number")
  func order() {
    var delayed = delayed([(1, 9), (8, 3), (2, 3), (5, 3), (4, 1)].map { ordered($0.0, $0.1) })
    #expect((0..<5).map { _ in delayed.takeDue(at: at(10))?.ticket } == [4, 2, 5, 8, 1])
  }

  @Test("a customer ordered for later follows the calendar, and a failed one the steady clock")
  func clocks() {
    var delayed = delayed([ordered(1, 100), failed(2, 100), failed(3, 10)])
    // The longest pause is a minute, even if the calendar would allow more.
    #expect(delayed.nextDue(after: at(0)) == at(10).monotonic)
    #expect(delayed.takeDue(at: at(11, -500))?.ticket == 3)
    #expect(delayed.takeDue(at: at(59, -500)) == nil)
    #expect(delayed.takeDue(at: at(60, -500))?.ticket == 2)
    // The calendar may be set forward at any time, so it is checked once a minute.
    #expect(delayed.nextDue(after: at(60, -500)) == at(120).monotonic)
    #expect(delayed.takeDue(at: at(9_999, 99)) == nil)
    #expect(delayed.takeDue(at: at(120, 100))?.ticket == 1)
  }

  @Test("a customer is taken out, in memory and in the store")
  func remove() {
    var delayed = delayed([ordered(1, 1), failed(2, 2), ordered(3, 3)])
    #expect(delayed.remove(2)?.ticket == 2)
    #expect(delayed.remove(2) == nil)
    #expect(delayed.remove(9) == nil)
    #expect((0..<3).map { _ in delayed.takeDue(at: at(9))?.ticket } == [1, 3, nil])
  }

  @Test("no customer is left when all are sent away, and a page that comes then is ignored")
  func clear() {
    var delayed = delayed([ordered(1, 1), ordered(2, 2), ordered(3, 3)], capacity: 2)
    #expect(delayed.unloaded == 1)
    #expect(delayed.nextPage(lowWater: 3) == 1)
    delayed.clear()
    delayed.append(page: [ordered(3, 3)], at: at(0), limit: { _ in .zero }) { _ in false }
    #expect(delayed.count == 0 && delayed.takeDue(at: at(9)) == nil)
  }

  @Test("a page is read again if a customer came beyond its horizon meanwhile")
  func stalePage() {
    var delayed = delayed([ordered(1, 1), ordered(2, 2), ordered(3, 9)], capacity: 2)
    #expect(delayed.nextPage(lowWater: 3) == 1)
    delayed.postpone(failed(4, 5), due: at(5).monotonic)
    delayed.append(page: [ordered(3, 9)], at: at(0), limit: { _ in .seconds(60) }) { _ in false }
    #expect(delayed.held == 2)
    #expect(delayed.count == 4)
    #expect(delayed.nextPage(lowWater: 3) == 1)
    delayed.append(page: [failed(4, 5)], at: at(0), limit: { _ in .seconds(60) }) { _ in false }
    #expect((0..<4).map { _ in delayed.takeDue(at: at(10))?.ticket } == [4, 1, 2, nil])
  }

  @Test("in any order of arrivals and removals all are called in order, and memory stays small")
  func agreesWithSortedList() {
    let chosen = getenv("BANK_QUEUE_SEED").flatMap { UInt64(String(cString: $0)) }
    for seed in chosen.map({ [$0] }) ?? Array(1...300) {
      var chance = SeededGenerator(seed: seed)
      let capacity = Int(chance.draw(1...6))
      var delayed = delayed([], capacity: capacity)
      var store: [DelayedCustomer] = []
      var uncommitted: [DelayedCustomer] = []
      var ticket: TicketNumber = 0
      var second: Int64 = 0
      for _ in 0..<150 {
        switch chance.draw(0...9) {
        case 0..<4:
          for _ in 0..<chance.draw(1...4) {
            ticket += 1
            let customer = ordered(ticket, second + chance.draw(1...40))
            delayed.admit(customer)
            uncommitted.append(customer)
          }
        case 4..<6:
          delayed.settleNewcomers()
          store += uncommitted
          uncommitted = []
        case 6:
          delayed.dropNewcomers()
          ticket -= Int64(uncommitted.count)
          uncommitted = []
        case 7:
          guard let gone = store.indices.randomElement(using: &chance) else { break }
          let customer = store.remove(at: gone)
          #expect(delayed.remove(customer.customer.ticket) != nil || delayed.removeBeyond(customer))
        default:
          second += chance.draw(0...5)
          while true {
            load(&delayed, store + uncommitted, settled: ticket - Int64(uncommitted.count))
            let next = store.min { $0.place < $1.place }
            let isDue = next.map { $0.dueAt <= at(second).wall } ?? false
            let called = delayed.takeDue(at: at(second))
            #expect(called?.ticket == (isDue ? next?.customer.ticket : nil), "seed \(seed)")
            guard let called else { break }
            store.removeAll { $0.customer.ticket == called.ticket }
          }
        }
        #expect(delayed.count == Int64(store.count), "seed \(seed)")
        #expect(delayed.newcomerCount == Int64(uncommitted.count), "seed \(seed)")
        #expect(delayed.held <= 2 * capacity, "seed \(seed)")
      }
    }
  }

  private func load(_ delayed: inout DelayedCustomers, _ store: [DelayedCustomer], settled: TicketNumber) {
    while true {
      let wanted = delayed.nextPage(lowWater: 1)
      guard wanted > 0 else { return }
      let behind = store.filter { delayed.horizon < $0.place }.sorted { $0.place < $1.place }
      delayed.append(page: Array(behind.prefix(wanted)), at: at(0), limit: { _ in .seconds(60) }) {
        $0 > settled
      }
    }
  }
}
