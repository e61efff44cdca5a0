// A reset of the queue: every customer gets a receipt, and the next day starts with number 1.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueResetTests {
  @Test("a reset cancels all customers and starts the next day with number 1")
  func reset() {
    let branch = TestBranch()
    branch.arrive(.deposit, .loan, .deposit)
    branch.pass(.seconds(4))
    let reset = branch.process(.reset(9))
    #expect(reset.changes == [.cancelAllCustomers(day: 1, at: branch.now.wall)])
    #expect(branch.machine.dayCounters == DayCounters(day: 2, openedAt: branch.now.wall))
    #expect(branch.isIdle)
    #expect(branch.process(.committed).answer(to: 9) == .done)
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 2, first: 1, last: 1))])
  }

  @Test("customers at a window are recalled: each has a cancelled receipt and a recalled attempt")
  func recall() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    let reset = branch.process(.reset(9))
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    #expect(reset.contains(.recall(.deposit1, lease)))
    #expect(reset.attempts.map(\.end) == [.recalled])
    #expect(reset.receipts.map(\.outcome) == [.cancelled])
    #expect(reset.receipts.map(\.window) == [.deposit1])
    #expect(reset.receipts.map(\.attempts) == [1])
    #expect(reset.changes.last == .cancelAllCustomers(day: 1, at: branch.now.wall))
    #expect(branch.machine.serving == 0)
  }

  @Test(
    "a recalled teller gets no customer before it has answered, whatever the answer is",
    arguments: [
      TellerAnswer.returned, .done, .failed(WorkFailure("no pen")),
    ])
  func answerToRecall(answer: TellerAnswer) {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    branch.process(.reset(9))
    branch.process(.committed)
    #expect(branch.arrive(.deposit).assigned == [])
    #expect(
      branch.process(.tellerProgressed(.deposit1, 1, lease)) == [], "a beat in flight is harmless")
    let answered = branch.process(.tellerAnswered(.deposit1, 1, lease, answer))
    #expect(answered.assigned == [1])
    #expect(answered.receipts == [])
    #expect(branch.machine.dayCounters.served == 0)
  }

  @Test("a recalled teller that does not answer is ended when its lease runs out, and once")
  func recallUnanswered() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.pass(.seconds(9))
    branch.process(.reset(9))
    #expect(branch.machine.nextDeadline == branch.now.monotonic + .seconds(10))
    let ended = branch.pass(.seconds(10))
    #expect(ended.stuck == [.deposit1])
    #expect(ended.attempts == [])
    #expect(branch.pass(.seconds(60)).stuck == [])
  }

  @Test("a recalled teller that is lost leaves no lease that could run out")
  func recalledAndLost() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.reset(9))
    #expect(branch.kill(.deposit1).attempts == [])
    #expect(branch.machine.nextDeadline == nil)
    #expect(branch.pass(.seconds(60)).stuck == [], "there is no teller to end")
    #expect(branch.process(.scale(.deposit, windows: 0)) == [.closeWindow(.deposit1)])
    branch.process(.tellerLost(.deposit1, 2, .code(1)))
    #expect(branch.machine.numbers(of: .deposit1) == nil)
  }

  @Test(
    "a reset waits for tickets that are not on disk yet, so that they are announced before"
  )
  func waitsForTickets() {
    let branch = TestBranch()
    branch.ask(.deposit, as: 8)
    #expect(branch.process(.reset(9)) == [])
    #expect(branch.machine.dayCounters.day == 1)
    let settled = branch.process(.committed)
    #expect(settled.answer(to: 8) == .enqueued(IssuedTickets(day: 1, first: 1, last: 1)))
    #expect(settled.answer(to: 9) == nil)
    #expect(settled.changes == [.cancelAllCustomers(day: 1, at: branch.now.wall)])
    #expect(branch.machine.dayCounters.day == 2)
    #expect(branch.process(.committed).answer(to: 9) == .done)
  }

  @Test("a reset that waits for tickets is refused with them when the disk is full")
  func refusedWithTickets() {
    let branch = TestBranch()
    branch.ask(.deposit, as: 8)
    branch.process(.reset(9))
    let refused = branch.process(.commitRefused)
    #expect(refused.answer(to: 8) == .refused(.diskFull))
    #expect(refused.answer(to: 9) == .refused(.diskFull))
    #expect(branch.machine.dayCounters.day == 1)
  }

  @Test("a reset refused by the full disk is staged again and done when there is room")
  func stagedAgain() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    let changes = branch.process(.reset(9)).changes
    let refused = branch.process(.commitRefused)
    #expect(refused.changes == changes)
    #expect(refused.answers == [])
    #expect(branch.process(.committed).answer(to: 9) == .done)
  }

  @Test("delayed customers do not come back on the next day, and pauses hold")
  func delayedAndPauses() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.process(.pause(8, .loan))
    branch.process(.reset(9))
    branch.process(.committed)
    #expect(branch.machine.dayCounters.delayed == 0)
    #expect(branch.machine.dayCounters.paused == [false, true, false])
    #expect(branch.pass(.seconds(60)) == [])
  }
}
