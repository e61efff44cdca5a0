// The calendar's clock is read and not trusted: the books count how often it went back.

import BankModel
import QueueCore
import Testing

@Suite struct ClockStepTests {
  @Test("a clock that goes on is no step, however far it jumps")
  func forwards() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.pass(.milliseconds(0))
    branch.pass(.seconds(1))
    branch.setCalendar(byMilliseconds: 86_400_000)
    branch.pass(.seconds(1))
    #expect(branch.machine.books.clockSteps == 0)
  }

  @Test("a clock that goes back and forward again between two receipts is noticed by any event")
  func backAndForth() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.setCalendar(byMilliseconds: -1)
    branch.arrive(.loan)
    branch.setCalendar(byMilliseconds: 1)
    branch.pass(.zero)
    #expect(branch.machine.books.clockSteps == 1)
    branch.setCalendar(byMilliseconds: -60_000)
    branch.pass(.seconds(1))
    #expect(branch.machine.books.clockSteps == 2, "whoever moved it counts it once")
    branch.pass(.seconds(1))
    #expect(branch.machine.books.clockSteps == 2)
  }

  @Test("steps outlive a day and a restart")
  func outliving() {
    let branch = TestBranch()
    branch.setCalendar(byMilliseconds: -60_000)
    branch.happen(.endDay)
    #expect(branch.machine.books.day == 2)
    #expect(branch.machine.books.clockSteps == 1)
    let next = TestBranch(books: branch.machine.books)
    #expect(next.machine.books.clockSteps == 1, "what happened between two coordinators is not compared")
  }
}
