// The limit of waiting customers of one service, beside that of all: which customers count, and that a
// refusal changes nothing.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueRoomTests {
  /// A limit of waiting deposits.
  private func limited(to waiting: Int64) -> QueuePolicy {
    var policy = QueuePolicy()
    var rules = policy.common
    rules.maxWaiting = waiting
    policy.set(rules, for: .deposit)
    return policy
  }

  private func later(_ seconds: Int64, _ branch: TestBranch) -> CustomerOrder {
    var order = CustomerOrder.deposit
    order.dueAt = WallTime(milliseconds: branch.now.wall.milliseconds + seconds * 1_000)
    return order
  }

  private func full(_ waiting: Int64, _ limit: Int64) -> QueueAnswer {
    .refused(.serviceFull(.deposit, waiting: waiting, limit: limit))
  }

  @Test("a request beyond the limit of one service is refused as a whole, and others are accepted")
  func refused() {
    let branch = TestBranch(policy: limited(to: 3))
    branch.arrive(.deposit, .loan, .deposit)
    let dayCounters = branch.machine.dayCounters
    #expect(branch.ask(.loan, .deposit, .deposit, as: 9) == [.reply(9, full(2, 3))])
    #expect(branch.machine.dayCounters == dayCounters && !branch.hasUncommittedChanges)
    #expect(branch.arrive(.loan, .loan).answers.count == 1)
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 1, first: 6, last: 6))])
    #expect(branch.ask(.deposit(.vvip), as: 9).answer(to: 9) == full(3, 3), "at any priority")
  }

  @Test("customers at a window, delayed or not yet on disk count, and those with a receipt do not")
  func whoCounts() throws {
    let branch = TestBranch(policy: limited(to: 4))
    branch.open(.deposit)
    branch.arrive(.deposit)
    #expect(branch.machine.serving == 1)
    branch.ask(later(60, branch), as: 8)
    #expect(branch.ask(.deposit, .deposit, .deposit, as: 9).answer(to: 9) == full(2, 4), "not on disk yet")
    branch.process(.committed)
    #expect(branch.ask(.deposit, .deposit, .deposit, as: 9).answer(to: 9) == full(2, 4))
    branch.arrive(.deposit, .deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    #expect(branch.machine.dayCounters.delayed == 2)
    #expect(branch.ask(.deposit, as: 9).answer(to: 9) == full(4, 4))
    try branch.answer(.deposit1, .done)
    branch.process(.committed)
    #expect(branch.arrive(.deposit).answers.count == 1)
    #expect(branch.ask(.deposit, as: 9).answer(to: 9) == full(4, 4))
    branch.process(.cancel(5, 2))
    branch.process(.committed)
    #expect(branch.arrive(.deposit).answers.count == 1, "a delayed customer that is cancelled has left")
    branch.pass(.seconds(90))
    #expect(branch.machine.dayCounters.delayed == 0)
    #expect(branch.ask(.deposit, as: 9).answer(to: 9) == full(4, 4), "a customer that comes back counts once")
  }

  @Test("customers delayed at the start count, however many, also those not read into memory")
  func delayedAtStart() {
    var dayCounters = DayCounters(day: 3, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 10
    dayCounters.delay(7, of: .deposit)
    dayCounters.delay(3, of: .loan)
    let order = later(60, TestBranch())
    let first = DelayedCustomer(
      customer: order.customer(ticket: 1, issuedAt: TestBranch.opening.wall),
      dueAt: order.dueAt ?? TestBranch.opening.wall)
    var policy = limited(to: 9)
    policy.delayedCapacity = 1
    let branch = TestBranch(policy: policy, dayCounters: dayCounters, delayed: [first])
    #expect(branch.ask(.deposit, .deposit, .deposit, as: 9).answer(to: 9) == full(7, 9))
    branch.pass(.seconds(60))
    #expect(
      branch.machine.dayCounters.delayedByService.prefix(2) == [6, 3], "a customer that comes back waits")
    #expect(branch.ask(.deposit, .deposit, .deposit, as: 9).answer(to: 9) == full(7, 9))
    #expect(branch.machine.inconsistencies(ServiceDirectory()) == [])
  }

  @Test("tickets that a full disk takes back free their room")
  func takenBack() {
    let branch = TestBranch(policy: limited(to: 2))
    branch.ask(.deposit, later(60, branch), as: 8)
    branch.process(.commitRefused)
    #expect(branch.machine.refusal(ofServicesOf: [.deposit, .deposit]) == nil)
    #expect(branch.machine.refusal(ofServicesOf: [.deposit, .deposit, .deposit]) != nil)
  }

  @Test("slices of a request count when accepted, and no longer when the request is taken back")
  func slices() {
    let branch = TestBranch(policy: limited(to: 5))
    branch.arrive(.deposit)
    branch.process(
      .enqueue(9, orders: [.deposit, later(60, branch), .loan], total: 9, isLast: false))
    #expect(branch.isTakingIn)
    let two = [CustomerOrder.deposit, .deposit]
    #expect(branch.machine.refusal(ofServicesOf: two) == nil)
    #expect(
      branch.machine.refusal(ofServicesOf: two + [.deposit]) == .serviceFull(.deposit, waiting: 1, limit: 5))
    branch.process(.enqueueAbandoned)
    #expect(branch.machine.refusal(ofServicesOf: two + two) == nil)
    #expect(branch.machine.refusal(ofServicesOf: two + two + two) != nil)
  }

  @Test("a first slice beyond the limit is refused, and no intake starts")
  func firstSlice() {
    let branch = TestBranch(policy: limited(to: 1))
    let refused = branch.process(.enqueue(9, orders: [.deposit, .deposit], total: 9, isLast: false))
    #expect(refused.answer(to: 9) == full(0, 1) && !branch.isTakingIn)
  }
}
