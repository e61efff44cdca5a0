// The timer of business time: it runs while a customer waits or is served, and only a reset zeroes it.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct BusinessTimeTests {
  private func seconds(_ branch: TestBranch) -> Int64 {
    branch.machine.dayCounters.businessTime.milliseconds / 1_000
  }

  @Test("the timer does not run before the first customer comes")
  func noCustomerYet() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.pass(.seconds(30))
    #expect(branch.machine.dayCounters.businessTime == .zero)
  }

  @Test("the timer runs while a customer waits")
  func waiting() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.pass(.seconds(3))
    branch.pass(.seconds(4))
    #expect(seconds(branch) == 7)
  }

  @Test("the timer runs between two events, and does not run while no customer waits")
  func between() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.passQuietly(.seconds(4))
    #expect(branch.isTimerRunning)
    #expect(branch.machine.businessTime(at: branch.now.monotonic).milliseconds == 4_000)
    #expect(branch.machine.dayCounters.businessTime == .zero, "nothing has happened")
    try branch.answer(.deposit1)
    branch.passQuietly(.seconds(9))
    #expect(!branch.isTimerRunning)
    #expect(branch.machine.businessTime(at: branch.now.monotonic).milliseconds == 4_000)
  }

  @Test("the timer does not run for a customer whose ticket is not on disk yet")
  func newcomer() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.pass(.seconds(3))
    #expect(seconds(branch) == 0)
    branch.process(.committed)
    branch.pass(.seconds(2))
    #expect(seconds(branch) == 2)
  }

  @Test("the timer runs while a customer is served, and stops with the last completion")
  func serving() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.passQuietly(.seconds(5))
    try branch.answer(.deposit1)
    branch.pass(.seconds(50))
    #expect(seconds(branch) == 5)
  }

  @Test("the timer continues from where it stopped when the next customer comes")
  func accumulates() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    for _ in 0..<3 {
      branch.arrive(.deposit)
      branch.passQuietly(.seconds(2))
      try branch.answer(.deposit1)
      branch.pass(.seconds(10))
    }
    #expect(seconds(branch) == 6)
  }

  @Test("the timer runs while a customer is delayed, and not for a dead letter")
  func delayedAndDead() throws {
    var policy = QueuePolicy()
    policy.maxFailures = 2
    let branch = TestBranch(policy: policy)
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.pass(.seconds(1))
    #expect(seconds(branch) == 1)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.pass(.seconds(9))
    #expect(seconds(branch) == 1)
  }

  @Test("two customers at once do not make the timer run faster")
  func together() {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit, .deposit)
    branch.pass(.seconds(3))
    #expect(seconds(branch) == 3)
  }

  @Test("a reset zeroes the timer")
  func reset() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.pass(.seconds(3))
    branch.process(.reset(9))
    branch.process(.committed)
    branch.pass(.seconds(3))
    #expect(branch.machine.dayCounters.businessTime == .zero)
  }

  @Test("after a restart the timer continues from the database, without the time between")
  func restart() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.pass(.seconds(3))
    let next = TestBranch(dayCounters: branch.machine.dayCounters)
    next.pass(.seconds(2))
    #expect(seconds(next) == 5)
  }
}
