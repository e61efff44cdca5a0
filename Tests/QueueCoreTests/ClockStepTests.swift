// Steps of the calendar's clock, which is not trusted: the day's counters say how often it went back.

import BankModel
import QueueCore
import Testing

@Suite struct ClockStepTests {
  @Test("a clock that moves forward does not count as a step, however far it jumps")
  func forwards() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.pass(.milliseconds(0))
    branch.pass(.seconds(1))
    branch.setCalendar(byMilliseconds: 86_400_000)
    branch.pass(.seconds(1))
    #expect(branch.machine.dayCounters.clockSteps == 0)
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
    #expect(branch.machine.dayCounters.clockSteps == 1)
    branch.setCalendar(byMilliseconds: -60_000)
    branch.pass(.seconds(1))
    #expect(branch.machine.dayCounters.clockSteps == 2, "one step back is counted once")
    branch.pass(.seconds(1))
    #expect(branch.machine.dayCounters.clockSteps == 2)
  }

  @Test("the count of steps survives the end of a day and a restart")
  func outliving() {
    let branch = TestBranch()
    branch.setCalendar(byMilliseconds: -60_000)
    branch.process(.endDay)
    #expect(branch.machine.dayCounters.day == 2)
    #expect(branch.machine.dayCounters.clockSteps == 1)
    let next = TestBranch(dayCounters: branch.machine.dayCounters)
    #expect(next.machine.dayCounters.clockSteps == 1, "clock readings of two coordinators are not compared")
  }
}
