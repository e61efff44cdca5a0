// Several transactions in flight. Each promise waits for its own transaction, in the order in which these
// were handed over, and a refusal applies to all that are not on disk.

import BankModel
@testable import QueueCore
import Testing
import Time

@Suite struct QueueInFlightTests {
  private func tickets(_ first: TicketNumber, _ last: TicketNumber) -> QueueAnswer {
    .enqueued(IssuedTickets(day: 1, first: first, last: last))
  }

  private func later(_ branch: TestBranch) -> CustomerOrder {
    var order = CustomerOrder.deposit
    order.dueAt = WallTime(milliseconds: branch.now.wall.milliseconds + 5_000)
    return order
  }

  private func counted() -> TestBranch {
    var policy = QueuePolicy()
    policy.common.maxAttempts = 3
    return TestBranch(policy: policy)
  }

  @Test("a seal answers no request and needs no commit")
  func silence() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(.deposit)
    #expect(branch.hasRepliesToCommit && branch.isUnsealed)
    #expect(branch.process(.sealed) == [])
    #expect(
      !branch.hasRepliesToCommit && !branch.isUnsealed && branch.hasUncommittedChanges, "it is in flight")
    #expect(branch.machine.issuedCount == 0 && !branch.isTimerRunning)
  }

  @Test("tickets are announced, and their customers waiting, with their own transaction")
  func newcomers() {
    let branch = TestBranch()
    branch.ask(.deposit, .deposit, as: 101)
    branch.process(.sealed)
    branch.ask(.deposit, .loan, as: 102)
    branch.process(.sealed)
    branch.ask(.deposit, as: 103)
    branch.open(.deposit, windows: 3)
    #expect(branch.machine.waitingCount == 0)
    let first = branch.process(.committed)
    #expect(first.answers == [tickets(1, 2)] && first.assigned == [1, 2])
    #expect(branch.machine.issuedCount == 2)
    let second = branch.process(.committed)
    #expect(second.answers == [tickets(3, 4)] && second.assigned == [3])
    #expect(branch.tickets(.loan) == [4] && branch.machine.underwayCount == 0)
    #expect(branch.process(.committed).answers == [tickets(5, 5)])
    #expect(!branch.hasUncommittedChanges && branch.tickets(.deposit) == [5])
  }

  @Test("of a line longer than memory the first customers come into memory, and the others are read")
  func longLine() {
    var policy = QueuePolicy()
    (policy.lineCapacity, policy.lineLowWater) = (3, 1)
    let branch = TestBranch(policy: policy)
    branch.ask(.deposit, .deposit)
    branch.process(.sealed)
    branch.ask(.deposit, .deposit)
    branch.process(.sealed)
    branch.process(.committed)
    #expect(branch.tickets(.deposit) == [1, 2] && branch.machine.waitingCount == 2)
    branch.process(.committed)
    #expect(branch.tickets(.deposit) == [1, 2, 3] && branch.machine.waitingCount == 4)
  }

  @Test("a customer ordered for later is called when the ticket is on disk, and not before")
  func delayed() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(later(branch))
    branch.process(.sealed)
    branch.ask(later(branch))
    branch.process(.sealed)
    #expect(branch.pass(.seconds(9)).assigned == [] && branch.machine.delayedCount == 0)
    #expect(branch.process(.committed).assigned == [1])
    #expect(branch.machine.delayedCount(of: .deposit) == 0 && branch.machine.dayCounters.delayed == 1)
    #expect(branch.machine.delayedCount == 0)
    branch.process(.committed)
    #expect(branch.tickets(.deposit) == [2])
  }

  @Test("receipts are acknowledged to a teller up to the last one of the transaction")
  func acknowledgements() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.process(.sealed)
    try branch.answer(.deposit1)
    branch.process(.sealed)
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [1])
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [2])
  }

  @Test("a dead teller is sent nothing, and neither is its successor")
  func acknowledgementsOfTheDead() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    try branch.answer(.deposit1)
    branch.process(.sealed)
    branch.kill(.deposit1)
    branch.ready(.deposit1, generation: 2)
    #expect(branch.process(.committed).acknowledged == [])
  }

  @Test("an operator's request is answered with its own transaction")
  func answers() {
    let branch = TestBranch()
    branch.arrive(.deposit, .deposit)
    branch.process(.cancel(11, 1))
    branch.process(.sealed)
    branch.process(.pause(12, .loan))
    branch.process(.sealed)
    branch.process(.cancel(13, 2))
    #expect(branch.process(.committed) == [.reply(11, .done)])
    #expect(branch.process(.committed) == [.reply(12, .done)])
    #expect(branch.process(.committed) == [.reply(13, .done)])
  }

  @Test("a counted attempt starts with its own transaction")
  func starts() {
    let branch = counted()
    branch.open(.deposit)
    branch.arrive(.deposit, .loan)
    branch.process(.sealed)
    #expect(branch.nextDeadline == nil, "no lease runs for a customer that has not started")
    branch.open(.loan)
    branch.process(.sealed)
    #expect(branch.machine.serving == 2)
    #expect(branch.process(.committed).assigned == [1])
    #expect(branch.process(.committed).assigned == [2])
  }

  @Test("a customer taken back in between starts with the transaction of its next assignment")
  func startsTakenBack() {
    let branch = counted()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.sealed)
    branch.process(.cancel(9, 77))
    #expect(branch.machine.serving == 1 && branch.isUnsealed, "it was assigned again")
    #expect(branch.process(.committed).assigned == [], "that was the mark of the first time")
    branch.process(.sealed)
    #expect(branch.process(.committed).assigned == [1])
  }

  @Test(
    "a refusal takes back tickets and pauses not on disk, and stages all else again, once")
  func refusal() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.ask(.loan, as: 100)
    branch.process(.sealed)
    branch.process(.committed)
    try branch.answer(.deposit1)
    branch.ask(.loan, as: 101)
    branch.process(.sealed)
    branch.process(.pause(102, .loan))
    branch.process(.sealed)
    branch.process(.cancel(103, 3))
    branch.ask(later(branch), as: 104)
    #expect(branch.machine.uncommittedCount > 2)
    let refused = branch.process(.commitRefused)
    #expect(refused.receipts.map(\.ticket) == [2, 3], "in the order in which they were staged")
    for request in [101, 102, 104] as [RequestNumber] {
      #expect(refused.answer(to: request) == .refused(.diskFull))
    }
    #expect(refused.answer(to: 103) == nil && branch.machine.underwayCount == 0)
    #expect(
      branch.machine.dayCounters.issued == 4 && branch.machine.dayCounters.paused == [false, false, false])
    let again = branch.process(.commitRefused)
    #expect(again.changes == refused.changes && again.answers == [])
    branch.process(.sealed)
    let kept = branch.process(.committed)
    #expect(kept.answer(to: 103) == .done && kept.acknowledged.map(\.ticket).last == 2 && !branch.isDiskFull)
    #expect(branch.ask(.deposit, as: 105).answers == [])
    #expect(branch.process(.committed).answer(to: 105) == tickets(5, 5))
  }

  @Test(
    "a pause on disk stays when a later one is refused, and so does a service's automatic one"
  )
  func pauses() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.pause(1, .loan))
    branch.process(.sealed)
    branch.process(.pause(2, .juice))
    branch.process(.sealed)
    #expect(branch.process(.committed) == [.reply(1, .done)])
    branch.arrive(.deposit)
    branch.process(.committed)
    branch.process(.resume(3, .loan))
    branch.process(.sealed)
    try branch.answer(.deposit1, .failed(WorkFailure("no program", .pause)))
    branch.process(.committed)
    branch.process(.commitRefused)
    #expect(branch.machine.dayCounters.paused[Service.deposit.index], "that has happened")
    #expect(!branch.machine.dayCounters.paused[Service.loan.index])
  }

  @Test("a new service knows its pause, although a transaction without it is in flight")
  func newService() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.process(.sealed)
    let service = Service(index: ServiceName.branch.count)
    branch.process(.pause(5, service))
    branch.process(.committed)
    #expect(branch.process(.commitRefused).answer(to: 5) == .refused(.diskFull))
    #expect(
      branch.machine.dayCounters.paused.count > service.index
        && !branch.machine.dayCounters.paused[service.index])
  }

  @Test("a reset waits until every ticket is on disk, and accepts no customer meanwhile")
  func reset() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.process(.sealed)
    branch.ask(.deposit)
    branch.process(.sealed)
    #expect(branch.process(.reset(9)).changes == [] && branch.machine.delaysEnqueues)
    #expect(branch.process(.committed).changes == [], "the second one is not known yet")
    let emptied = branch.process(.committed)
    #expect(
      emptied.changes.count == 1 && branch.machine.dayCounters.day == 2 && !branch.machine.delaysEnqueues)
    branch.process(.sealed)
    #expect(branch.process(.committed).answer(to: 9) == .done)
  }

  @Test("a reset does not wait for receipts in flight")
  func resetBesideReceipts() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    try branch.answer(.deposit1)
    branch.process(.sealed)
    branch.process(.reset(9))
    branch.process(.sealed)
    branch.ask(.loan, as: 10)
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [1])
    #expect(branch.process(.committed).answers == [.done])
    #expect(
      branch.process(.committed).answer(to: 10) == .enqueued(IssuedTickets(day: 2, first: 1, last: 1)))
  }

  @Test("a request in progress continues with its slices beside transactions in flight")
  func slices() {
    let branch = TestBranch()
    func slice(_ isLast: Bool) {
      branch.process(.enqueue(9, orders: [.deposit, .deposit], total: 4, isLast: isLast))
    }
    slice(false)
    branch.process(.sealed)
    slice(true)
    #expect(branch.process(.committed).answers == [])
    branch.process(.sealed)
    #expect(branch.process(.committed).answers == [tickets(1, 4)])
    #expect(branch.machine.waitingCount == 4)
  }

  @Test("the numbers of transactions in flight and of their changes are limited")
  func bounds() throws {
    var policy = QueuePolicy()
    (policy.maxUnderway, policy.maxUncommitted) = (2, 2)
    let branch = TestBranch(policy: policy)
    branch.open(.deposit, windows: 3)
    branch.arrive(.deposit, .deposit, .deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.process(.sealed)
    #expect(branch.machine.hasRoomUnderway && !branch.machine.delaysEnqueues)
    #expect(try branch.answer(.deposit2).assigned == [], "the limit is reached")
    branch.process(.sealed)
    #expect(!branch.machine.hasRoomUnderway && branch.machine.delaysEnqueues)
    #expect(branch.process(.committed).assigned == [5] && branch.machine.hasRoomUnderway)
  }

  @Test("a drain ends when every ticket is on disk")
  func drain() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(.deposit)
    branch.process(.sealed)
    branch.process(.drain)
    #expect(branch.hasWaitingToServe)
    branch.process(.finish)
    #expect(branch.process(.committed).contains(.reportDrained))
  }
}
