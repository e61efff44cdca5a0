// The end of a bank and of a day: a drain ends, reports it once, and does not wait for customers who cannot
// be served.

import BankModel
import QueueCore
import Testing

@Suite struct QueueEndTests {
  @Test("an empty bank has drained at once, and reports it once")
  func emptyDrain() {
    let branch = TestBranch()
    branch.open(.deposit)
    #expect(branch.process(.drain) == [.reportDrained])
    #expect(branch.process(.drain) == [])
    #expect(branch.process(.finish) == [])
    #expect(branch.process(.tick) == [])
  }

  @Test("a drain serves all waiting customers, and is reported with the last completion")
  func drain() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    #expect(branch.process(.drain) == [])
    #expect(try branch.answer(.deposit1).assigned == [2])
    let last = try branch.answer(.deposit1)
    #expect(last.receipts.map(\.ticket) == [2])
    #expect(last.last == .reportDrained)
    #expect(!branch.process(.committed).contains(.reportDrained))
  }

  @Test("a drain continues when a teller is lost, until its customer is served")
  func drainWithLoss() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.drain)
    #expect(!branch.kill(.deposit1).contains(.reportDrained))
    branch.ready(.deposit1, generation: 2)
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
  }

  @Test("a drain waits for tickets that are not on disk yet")
  func drainWithNewcomers() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(.deposit)
    #expect(branch.process(.drain) == [])
    #expect(branch.process(.committed).assigned == [1])
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
  }

  @Test("a drain waits for delayed customers, because they can still be served")
  func drainWithDelayed() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.drain)
    #expect(try !branch.answer(.deposit1, .failed(WorkFailure("no pen"))).contains(.reportDrained))
    #expect(branch.pass(.seconds(1)).assigned == [1])
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
  }

  @Test("a drain does not wait for a paused service")
  func drainWithPause() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.open(.loan)
    branch.process(.pause(9, .loan))
    branch.arrive(.deposit, .loan)
    branch.process(.drain)
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
    #expect(branch.tickets(.loan) == [2])
  }

  @Test("a drain does not wait for a service without windows")
  func drainWithoutWindows() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .loan)
    branch.process(.drain)
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
  }

  @Test("a drain does not wait for a delayed customer whose service is closed")
  func drainWithDelayedAndClosed() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.process(.scale(.deposit, windows: 0))
    #expect(branch.process(.drain) == [.reportDrained])
  }

  @Test("a service that is paused while the bank drains ends the drain")
  func pauseWhileDraining() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.process(.drain)
    branch.process(.pause(9, .deposit))
    #expect(try branch.answer(.deposit1).contains(.reportDrained))
    #expect(branch.tickets(.deposit) == [2])
  }

  @Test("finish ends the work at the windows and assigns no other customer")
  func finish() throws {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(branch.process(.finish) == [])
    let first = try branch.answer(.deposit1)
    #expect(first.assigned == [])
    #expect(!first.contains(.reportDrained))
    #expect(try branch.answer(.deposit2).contains(.reportDrained))
    #expect(branch.tickets(.deposit) == [3])
  }

  @Test("finish cuts a drain short")
  func finishAfterDrain() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.process(.drain)
    branch.process(.finish)
    branch.process(.drain)
    #expect(branch.machine.stage == .finishing)
    let done = try branch.answer(.deposit1)
    #expect(done.assigned == [])
    #expect(done.contains(.reportDrained))
  }

  @Test("a vacated bank returns all customers to the head of the line, which counts as no crash")
  func vacate() throws {
    var policy = QueuePolicy()
    policy.maxCrashes = 1
    let branch = TestBranch(policy: policy)
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit, .deposit)
    let lease = try #require(branch.lease(at: .deposit1))
    branch.process(.drain)
    let effects = branch.process(.returnAllClaims)
    #expect(effects.attempts.map(\.ticket) == [1, 2])
    #expect(effects.attempts.allSatisfy { $0.end == .recalled && $0.number == 1 })
    #expect(effects.assigned == [] && effects.dead == [] && effects.last == .reportDrained)
    #expect(branch.tickets(.deposit) == [1, 2, 3])
    #expect(
      branch.machine.front(of: Line(service: .deposit, priority: .regular)).map(\.attempts) == [1, 1, 0])
    #expect(
      branch.machine.front(of: Line(service: .deposit, priority: .regular)).allSatisfy { $0.crashes == 0 })
    // Later answers of the tellers, and their ends, change nothing.
    #expect(branch.process(.tellerAnswered(.deposit1, 1, lease, .done)) == [])
    #expect(branch.kill(.deposit1) == [])
    #expect(branch.machine.serving == 0 && branch.machine.dayCounters.served == 0)
  }

  @Test("customers to serve are newcomers, those at an open window, and those retried there")
  func waitingToServe() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    #expect(!branch.hasWaitingToServe)
    branch.ask(.deposit)
    #expect(branch.hasWaitingToServe, "its ticket is not on disk yet")
    branch.process(.committed)
    #expect(!branch.hasWaitingToServe, "it is at the window")
    branch.arrive(.deposit)
    #expect(branch.hasWaitingToServe)
    branch.process(.pause(9, .deposit))
    #expect(!branch.hasWaitingToServe)
    branch.process(.resume(9, .deposit))
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    try branch.answer(.deposit1)
    #expect(branch.hasWaitingToServe, "the first one is retried")
    branch.arrive(.loan)
    branch.process(.scale(.deposit, windows: 0))
    #expect(!branch.hasWaitingToServe)
  }

  @Test("a finished day is closed, and the next one starts with number 1 and the same pauses")
  func endDay() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.pause(9, .loan))
    branch.arrive(.deposit)
    try branch.answer(.deposit1)
    branch.process(.drain)
    branch.process(.endDay)
    var expected = DayCounters(day: 2, openedAt: branch.now.wall)
    expected.paused = [false, true, false]
    #expect(branch.machine.dayCounters == expected)
  }

  @Test("a day with waiting, delayed or dead customers is not closed")
  func endDayRefused() throws {
    let waiting = TestBranch()
    waiting.arrive(.deposit)
    let delayed = TestBranch()
    delayed.open(.deposit)
    delayed.arrive(.deposit)
    try delayed.answer(.deposit1, .failed(WorkFailure("no pen")))
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 1
    dayCounters.dead = 1
    for branch in [waiting, delayed, TestBranch(dayCounters: dayCounters)] {
      branch.process(.endDay)
      #expect(branch.machine.dayCounters.day == 1)
    }
  }
}
