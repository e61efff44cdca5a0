// A start from the contents of a store: no customer is lost or duplicated, and those who were being served
// are at the head.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueRecoveryTests {
  private func dayCounters(issued: Int64, waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0)
    -> DayCounters
  {
    var dayCounters = DayCounters(day: 3, openedAt: TestBranch.opening.wall)
    dayCounters.issued = issued
    dayCounters.waiting[Line(service: .deposit, priority: .regular)] = waiting
    dayCounters.delay(delayed, of: .deposit)
    dayCounters.dead = dead
    dayCounters.served = issued - waiting - delayed - dead
    return dayCounters
  }

  private func stored(_ ticket: TicketNumber, attempts: Int32 = 0) -> Customer {
    var customer = CustomerOrder.deposit.customer(ticket: ticket, issuedAt: TestBranch.opening.wall)
    customer.attempts = attempts
    return customer
  }

  @Test("the first page is requested when the first teller is ready, and not before")
  func firstPage() throws {
    let branch = TestBranch(dayCounters: dayCounters(issued: 9, waiting: 3))
    #expect(branch.process(.tick) == [])
    // The oldest waiting customer is read from the store meanwhile.
    #expect(branch.machine.oldestWaiting == nil)
    #expect(branch.machine.unloadedLines.map(\.line) == [Line(service: .deposit, priority: .regular)])
    let page = try #require(branch.open(.deposit).pages.first)
    #expect((page.after, page.limit) == (0, 3))
    #expect(branch.process(.pageLoaded(page.line, [stored(4), stored(6), stored(9)])).assigned == [4])
    #expect(branch.tickets(.deposit) == [6, 9])
    #expect(branch.machine.unloadedLines.isEmpty && branch.machine.oldestWaiting == TestBranch.opening.wall)
  }

  @Test("a page fits into the memory of a line, however many customers wait")
  func boundedPage() throws {
    let branch = TestBranch(dayCounters: dayCounters(issued: 10_000_000, waiting: 10_000_000))
    let page = try #require(branch.open(.deposit).pages.first)
    #expect(page.limit == branch.machine.policy.lineCapacity)
    #expect(branch.machine.waitingCount == 10_000_000)
  }

  @Test("customers being served when the bank fell are at the head again, and attempts count on")
  func headOfTheLine() throws {
    let branch = TestBranch(dayCounters: dayCounters(issued: 2, waiting: 2))
    let page = try #require(branch.open(.deposit).pages.first)
    let leases = branch.process(.pageLoaded(page.line, [stored(1, attempts: 2), stored(2)])).leases
    #expect(leases == [.deposit1: Lease(ticket: 1, attempt: 3, generation: 1)])
  }

  @Test("numbers continue after the last stored one")
  func numbersContinue() {
    let branch = TestBranch(dayCounters: dayCounters(issued: 41))
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 3, first: 42, last: 42))])
  }

  @Test("newcomers are placed after all stored customers")
  func newcomersBehind() throws {
    let branch = TestBranch(dayCounters: dayCounters(issued: 2, waiting: 2))
    branch.arrive(.deposit)
    let page = try #require(branch.open(.deposit).pages.first)
    #expect(page.limit == 3)
    let loaded = branch.process(.pageLoaded(page.line, [stored(1), stored(2), stored(3)]))
    #expect(loaded.assigned == [1])
    #expect(branch.tickets(.deposit) == [2, 3])
  }

  @Test("a delayed customer comes back at the stored due time")
  func delayed() {
    let due = WallTime(milliseconds: TestBranch.opening.wall.milliseconds + 4_000)
    let branch = TestBranch(
      dayCounters: dayCounters(issued: 1, delayed: 1),
      delayed: [DelayedCustomer(customer: stored(1, attempts: 1), dueAt: due)])
    branch.open(.deposit)
    #expect(branch.machine.nextDeadline == branch.now.monotonic + .seconds(4))
    #expect(branch.pass(.milliseconds(3_999)).assigned == [])
    #expect(branch.pass(.milliseconds(1)).assigned == [1])
  }

  @Test("a customer whose due time passed while the bank was closed comes back at once")
  func overdue() {
    let due = WallTime(milliseconds: TestBranch.opening.wall.milliseconds - 4_000)
    let branch = TestBranch(
      dayCounters: dayCounters(issued: 1, delayed: 1),
      delayed: [DelayedCustomer(customer: stored(1), dueAt: due)])
    #expect(branch.open(.deposit).assigned == [1])
  }

  @Test("a failed customer waits no longer than the longest pause, even if the calendar was set back")
  func clockSetBack() {
    let due = WallTime(milliseconds: .max)
    let branch = TestBranch(
      dayCounters: dayCounters(issued: 1, delayed: 1),
      delayed: [DelayedCustomer(customer: stored(1, attempts: 1), dueAt: due)])
    branch.open(.deposit)
    #expect(branch.pass(.milliseconds(59_999)).assigned == [])
    #expect(branch.pass(.milliseconds(1)).assigned == [1])
  }

  @Test("a customer ordered for later waits for the calendar's time, however far it is")
  func orderedForLater() {
    let due = WallTime(milliseconds: TestBranch.opening.wall.milliseconds + 86_400_000)
    let branch = TestBranch(
      dayCounters: dayCounters(issued: 1, delayed: 1),
      delayed: [DelayedCustomer(customer: stored(1), dueAt: due)])
    branch.open(.deposit)
    #expect(branch.pass(.seconds(86_399)).assigned == [])
    // The calendar is set back: it is an hour more.
    branch.setCalendar(byMilliseconds: -3_600_000)
    #expect(branch.pass(.seconds(3_600)).assigned == [])
    #expect(branch.nextDeadline == branch.now.monotonic + .seconds(1))
    #expect(branch.pass(.seconds(1)).assigned == [1])
  }

  @Test("dead letters remain dead letters, and keep the day open")
  func deadLetters() {
    let branch = TestBranch(dayCounters: dayCounters(issued: 5, dead: 2))
    branch.open(.deposit)
    #expect(branch.isIdle)
    branch.process(.endDay)
    #expect(branch.machine.dayCounters.day == 3)
    #expect(branch.process(.drain) == [.reportDrained])
  }
}
