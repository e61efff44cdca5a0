// Customers ordered for later: delayed at once, called by the calendar, and then in line by their numbers;
// any number of them in bounded memory.

import BankModel
import QueueCore
import Testing
import Time

@testable import QueueCore

@Suite struct QueueLaterTests {
  private func later(_ milliseconds: Int64, _ branch: TestBranch) -> CustomerOrder {
    var order = CustomerOrder.deposit
    order.dueAt = WallTime(milliseconds: branch.now.wall.milliseconds + milliseconds)
    return order
  }

  @Test("a customer ordered for later is delayed at once, and then in line at the place of its number")
  func orders() throws {
    let branch = TestBranch()
    let asked = branch.ask(later(2_000, branch), .deposit, .deposit)
    guard case .insertDelayed(let customer, let dueAt)? = asked.changes.first else {
      Issue.record("\(asked)")
      return
    }
    #expect((customer.ticket, dueAt.milliseconds) == (1, branch.now.wall.milliseconds + 2_000))
    #expect(branch.machine.dayCounters.delayed == 1)
    branch.process(.committed)
    #expect(branch.pass(.milliseconds(1_999)).changes == [])
    #expect(branch.pass(.milliseconds(1)).changes == [.revive(customer, from: .delayed)])
    #expect(branch.tickets(.deposit) == [1, 2, 3])
  }

  @Test("no customer is called whose ticket is not on disk")
  func notBeforeTheDisk() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(later(5, branch))
    #expect(branch.pass(.seconds(5)).changes == [])
    #expect(branch.process(.committed).assigned == [1])
  }

  @Test("for a due time in the past a customer waits at once")
  func past() {
    let branch = TestBranch()
    #expect(branch.ask(later(0, branch), later(-9_000, branch)).changes.count == 2)
    #expect(branch.machine.dayCounters.delayed == 0 && branch.machine.dayCounters.waitingInAll == 2)
  }

  @Test("a full disk takes them back, and so does an abandoned request")
  func takenBack() {
    let branch = TestBranch()
    branch.ask(later(5, branch), .deposit)
    branch.process(.commitRefused)
    #expect(branch.machine.dayCounters.delayed == 0 && branch.machine.dayCounters.issued == 0)
    branch.process(.committed)
    branch.process(.enqueue(9, orders: [later(5, branch)], total: 2, isLast: false))
    branch.process(.enqueueAbandoned)
    #expect(branch.machine.dayCounters.delayed == 0 && branch.isIdle)
    #expect(branch.pass(.seconds(9)).changes == [])
  }

  @Test("a request in slices delays the customers ordered for later with its last slice")
  func slices() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.enqueue(9, orders: [later(5, branch), .deposit], total: 4, isLast: false))
    branch.process(.committed)
    #expect(branch.machine.dayCounters.delayed == 0)
    branch.process(.enqueue(9, orders: [later(9, branch), later(-1, branch)], total: 4, isLast: true))
    #expect(branch.machine.dayCounters.delayed == 2 && branch.machine.dayCounters.waitingInAll == 2)
    #expect(branch.process(.committed).assigned == [2])
    #expect(branch.pass(.seconds(1)).changes.count == 2)
    #expect(branch.tickets(.deposit) == [1, 3, 4])
  }

  @Test("they count as waiting customers")
  func full() {
    var policy = QueuePolicy()
    policy.maxWaiting = 2
    let branch = TestBranch(policy: policy)
    branch.arrive(later(5, branch), .deposit)
    #expect(branch.arrive(.deposit).answers == [.refused(.queueFull(waiting: 2, limit: 2))])
  }

  @Test("a customer who is only in the store is cancelled there")
  func cancelBeyond() {
    var policy = QueuePolicy()
    (policy.delayedCapacity, policy.delayedLowWater) = (1, 1)
    let branch = TestBranch(policy: policy)
    branch.arrive(later(5, branch), later(7, branch), later(9, branch))
    let order = later(9, branch)
    let third = order.customer(ticket: 3, issuedAt: branch.now.wall)
    #expect(branch.process(.cancel(8, 3)) == [.lookUp(8, 3)])
    let found = branch.process(
      .found(8, ticket: 3, StoredCustomer(customer: third, state: .delayed, dueAt: order.dueAt)))
    #expect(found.receipts.map(\.ticket) == [3])
    #expect(branch.machine.dayCounters.delayed == 2)
    #expect(branch.process(.committed).answer(to: 8) == .done)
  }

  @Test("many customers with one due time are called in portions, with other events in between")
  func portions() {
    let branch = TestBranch()
    let order = later(1_000, branch)
    branch.process(
      .enqueue(1, orders: Array(repeating: order, count: 2_500), total: 2_500, isLast: true))
    branch.process(.committed)
    #expect(branch.pass(.seconds(1)).changes.count == QueueMachine.dueBatchSize)
    #expect(branch.nextDeadline.map { $0 <= branch.now.monotonic } == true)
    #expect(branch.process(.tick).changes.count == QueueMachine.dueBatchSize)
    #expect(branch.process(.tick).changes.count == 2_500 - 2 * QueueMachine.dueBatchSize)
    #expect(branch.nextDeadline == nil)
  }

  @Test("a drain waits for them if a window can serve them")
  func drain() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(later(60_000, branch))
    #expect(branch.process(.drain) == [])
    #expect(branch.hasWaitingToServe)
    #expect(branch.process(.pause(7, .deposit)) == [.reportDrained])
  }
}
