// Several transactions in flight. Each promise waits for its own transaction, in the order in which these
// were handed over, and a refusal applies to all that are not on disk.

import BankModel
@testable import QueueCore
import Testing
import Time

@Suite struct QueueUnderwayTests {
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
    #expect(branch.hasPromises && branch.isUnsealed)
    #expect(branch.happen(.sealed) == [])
    #expect(!branch.hasPromises && !branch.isUnsealed && branch.isUnsettled, "it is in flight")
    #expect(branch.machine.issuedCount == 0 && !branch.isTimerRunning)
  }

  @Test("tickets are announced, and their customers waiting, with their own transaction")
  func newcomers() {
    let branch = TestBranch()
    branch.ask(.deposit, .deposit, as: 101)
    branch.happen(.sealed)
    branch.ask(.deposit, .loan, as: 102)
    branch.happen(.sealed)
    branch.ask(.deposit, as: 103)
    branch.open(.deposit, windows: 3)
    #expect(branch.machine.waitingCount == 0)
    let first = branch.happen(.committed)
    #expect(first.answers == [tickets(1, 2)] && first.assigned == [1, 2])
    #expect(branch.machine.issuedCount == 2)
    let second = branch.happen(.committed)
    #expect(second.answers == [tickets(3, 4)] && second.assigned == [3])
    #expect(branch.tickets(.loan) == [4] && branch.machine.underwayCount == 0)
    #expect(branch.happen(.committed).answers == [tickets(5, 5)])
    #expect(!branch.isUnsettled && branch.tickets(.deposit) == [5])
  }

  @Test("of a line longer than memory the first customers come into memory, and the others are read")
  func longLine() {
    var policy = QueuePolicy()
    (policy.lineCapacity, policy.lineLowWater) = (3, 1)
    let branch = TestBranch(policy: policy)
    branch.ask(.deposit, .deposit)
    branch.happen(.sealed)
    branch.ask(.deposit, .deposit)
    branch.happen(.sealed)
    branch.happen(.committed)
    #expect(branch.tickets(.deposit) == [1, 2] && branch.machine.waitingCount == 2)
    branch.happen(.committed)
    #expect(branch.tickets(.deposit) == [1, 2, 3] && branch.machine.waitingCount == 4)
  }

  @Test("a customer ordered for later is called when the ticket is on disk, and not before")
  func delayed() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(later(branch))
    branch.happen(.sealed)
    branch.ask(later(branch))
    branch.happen(.sealed)
    #expect(branch.pass(.seconds(9)).assigned == [] && branch.machine.delayedCount == 0)
    #expect(branch.happen(.committed).assigned == [1])
    #expect(branch.machine.delayedCount(of: .deposit) == 0 && branch.machine.books.delayed == 1)
    #expect(branch.machine.delayedCount == 0)
    branch.happen(.committed)
    #expect(branch.tickets(.deposit) == [2])
  }

  @Test("receipts are acknowledged to a teller up to the last one of the transaction")
  func acknowledgements() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.happen(.sealed)
    try branch.answer(.deposit1)
    branch.happen(.sealed)
    #expect(branch.happen(.committed).acknowledged.map(\.ticket) == [1])
    #expect(branch.happen(.committed).acknowledged.map(\.ticket) == [2])
  }

  @Test("a dead teller is sent nothing, and neither is its successor")
  func acknowledgementsOfTheDead() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    try branch.answer(.deposit1)
    branch.happen(.sealed)
    branch.kill(.deposit1)
    branch.ready(.deposit1, generation: 2)
    #expect(branch.happen(.committed).acknowledged == [])
  }

  @Test("an operator's request is answered with its own transaction")
  func answers() {
    let branch = TestBranch()
    branch.arrive(.deposit, .deposit)
    branch.happen(.cancel(11, 1))
    branch.happen(.sealed)
    branch.happen(.pause(12, .loan))
    branch.happen(.sealed)
    branch.happen(.cancel(13, 2))
    #expect(branch.happen(.committed) == [.reply(11, .done)])
    #expect(branch.happen(.committed) == [.reply(12, .done)])
    #expect(branch.happen(.committed) == [.reply(13, .done)])
  }

  @Test("a counted attempt starts with its own transaction")
  func starts() {
    let branch = counted()
    branch.open(.deposit)
    branch.arrive(.deposit, .loan)
    branch.happen(.sealed)
    #expect(branch.nextDeadline == nil, "no lease runs for a customer that has not started")
    branch.open(.loan)
    branch.happen(.sealed)
    #expect(branch.machine.serving == 2)
    #expect(branch.happen(.committed).assigned == [1])
    #expect(branch.happen(.committed).assigned == [2])
  }

  @Test("a customer taken back in between starts with the transaction of its next assignment")
  func startsTakenBack() {
    let branch = counted()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.happen(.sealed)
    branch.happen(.cancel(9, 77))
    #expect(branch.machine.serving == 1 && branch.isUnsealed, "it was assigned again")
    #expect(branch.happen(.committed).assigned == [], "that was the mark of the first time")
    branch.happen(.sealed)
    #expect(branch.happen(.committed).assigned == [1])
  }

  @Test(
    "a refusal takes back tickets and pauses not on disk, and stages all else again, once")
  func refusal() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.ask(.loan, as: 100)
    branch.happen(.sealed)
    branch.happen(.committed)
    try branch.answer(.deposit1)
    branch.ask(.loan, as: 101)
    branch.happen(.sealed)
    branch.happen(.pause(102, .loan))
    branch.happen(.sealed)
    branch.happen(.cancel(103, 3))
    branch.ask(later(branch), as: 104)
    #expect(branch.machine.unsettledCount > 2)
    let refused = branch.happen(.commitRefused)
    #expect(refused.receipts.map(\.ticket) == [2, 3], "in the order in which they were staged")
    for request in [101, 102, 104] as [RequestNumber] {
      #expect(refused.answer(to: request) == .refused(.diskFull))
    }
    #expect(refused.answer(to: 103) == nil && branch.machine.underwayCount == 0)
    #expect(branch.machine.books.issued == 4 && branch.machine.books.paused == [false, false, false])
    let again = branch.happen(.commitRefused)
    #expect(again.changes == refused.changes && again.answers == [])
    branch.happen(.sealed)
    let kept = branch.happen(.committed)
    #expect(kept.answer(to: 103) == .done && kept.acknowledged.map(\.ticket).last == 2 && !branch.isJammed)
    #expect(branch.ask(.deposit, as: 105).answers == [])
    #expect(branch.happen(.committed).answer(to: 105) == tickets(5, 5))
  }

  @Test(
    "a pause on disk stays when a later one is refused, and so does a service's automatic one"
  )
  func pauses() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.happen(.pause(1, .loan))
    branch.happen(.sealed)
    branch.happen(.pause(2, .juice))
    branch.happen(.sealed)
    #expect(branch.happen(.committed) == [.reply(1, .done)])
    branch.arrive(.deposit)
    branch.happen(.committed)
    branch.happen(.resume(3, .loan))
    branch.happen(.sealed)
    try branch.answer(.deposit1, .failed(WorkFailure("no program", .pause)))
    branch.happen(.committed)
    branch.happen(.commitRefused)
    #expect(branch.machine.books.paused[Service.deposit.index], "that has happened")
    #expect(!branch.machine.books.paused[Service.loan.index])
  }

  @Test("a new service knows its pause, although a transaction without it is in flight")
  func newService() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.happen(.sealed)
    let service = Service(index: ServiceName.branch.count)
    branch.happen(.pause(5, service))
    branch.happen(.committed)
    #expect(branch.happen(.commitRefused).answer(to: 5) == .refused(.diskFull))
    #expect(branch.machine.books.paused.count > service.index && !branch.machine.books.paused[service.index])
  }

  @Test("a reset waits until every ticket is on disk, and accepts no customer meanwhile")
  func reset() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.happen(.sealed)
    branch.ask(.deposit)
    branch.happen(.sealed)
    #expect(branch.happen(.reset(9)).changes == [] && branch.machine.holdsBackIntake)
    #expect(branch.happen(.committed).changes == [], "the second one is not known yet")
    let emptied = branch.happen(.committed)
    #expect(emptied.changes.count == 1 && branch.machine.books.day == 2 && !branch.machine.holdsBackIntake)
    branch.happen(.sealed)
    #expect(branch.happen(.committed).answer(to: 9) == .done)
  }

  @Test("a reset does not wait for receipts in flight")
  func resetBesideReceipts() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    try branch.answer(.deposit1)
    branch.happen(.sealed)
    branch.happen(.reset(9))
    branch.happen(.sealed)
    branch.ask(.loan, as: 10)
    #expect(branch.happen(.committed).acknowledged.map(\.ticket) == [1])
    #expect(branch.happen(.committed).answers == [.done])
    #expect(
      branch.happen(.committed).answer(to: 10) == .enqueued(IssuedTickets(day: 2, first: 1, last: 1)))
  }

  @Test("a request in progress continues with its slices beside transactions in flight")
  func slices() {
    let branch = TestBranch()
    func slice(_ isLast: Bool) {
      branch.happen(.enqueue(9, orders: [.deposit, .deposit], total: 4, isLast: isLast))
    }
    slice(false)
    branch.happen(.sealed)
    slice(true)
    #expect(branch.happen(.committed).answers == [])
    branch.happen(.sealed)
    #expect(branch.happen(.committed).answers == [tickets(1, 4)])
    #expect(branch.machine.waitingCount == 4)
  }

  @Test("the numbers of transactions in flight and of their changes are limited")
  func bounds() throws {
    var policy = QueuePolicy()
    (policy.maxUnderway, policy.maxUnsettled) = (2, 2)
    let branch = TestBranch(policy: policy)
    branch.open(.deposit, windows: 3)
    branch.arrive(.deposit, .deposit, .deposit, .deposit, .deposit)
    try branch.answer(.deposit1)
    branch.happen(.sealed)
    #expect(branch.machine.hasRoomUnderway && !branch.machine.holdsBackIntake)
    #expect(try branch.answer(.deposit2).assigned == [], "the limit is reached")
    branch.happen(.sealed)
    #expect(!branch.machine.hasRoomUnderway && branch.machine.holdsBackIntake)
    #expect(branch.happen(.committed).assigned == [5] && branch.machine.hasRoomUnderway)
  }

  @Test("a drain ends when every ticket is on disk")
  func drain() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(.deposit)
    branch.happen(.sealed)
    branch.happen(.drain)
    #expect(branch.hasWaitingToServe)
    branch.happen(.finish)
    #expect(branch.happen(.committed).contains(.reportDrained))
  }
}
