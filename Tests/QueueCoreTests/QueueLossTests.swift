// Every way in which a customer loses its teller, and the state of both afterwards.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueLossTests {
  private func policy(crashes: Int32 = 3, failures: Int32 = 5) -> QueuePolicy {
    var policy = QueuePolicy()
    policy.maxCrashes = crashes
    policy.maxFailures = failures
    return policy
  }

  @Test("the customer of a lost teller is at the head of its line again")
  func lostTeller() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    branch.kill(.deposit1)
    #expect(branch.tickets(.deposit) == [1, 2, 3])
    #expect(
      branch.ready(.deposit1, generation: 2).leases[.deposit1] == Lease(ticket: 1, attempt: 2, generation: 2))
  }

  @Test("the customer of a lost teller is assigned to another idle teller at once")
  func anotherTeller() {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit)
    #expect(branch.kill(.deposit1).leases == [.deposit2: Lease(ticket: 1, attempt: 2, generation: 1)])
  }

  @Test("the attempt at a lost teller is recorded with its process and its signal")
  func recordedAttempt() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.passQuietly(.milliseconds(250))
    let lost = branch.kill(.deposit1)
    let began = TestBranch.opening.wall
    #expect(
      lost.attempts == [
        Attempt(
          day: 1, ticket: 1, number: 1, window: .deposit1, generation: 1, pid: 101, startedAt: began,
          endedAt: branch.now.wall, end: .killed, processEnd: .signal(9))
      ])
    let customers = lost.changes.compactMap { if case .update(let customer) = $0 { customer } else { nil } }
    #expect(customers.map(\.attempts) == [1])
    #expect(customers.map(\.crashes) == [1])
    #expect(customers.map(\.failures) == [0])
  }

  @Test("a message of a teller whose end was reported is ignored, and its successor's is handled")
  func wordFromTheGrave() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    branch.kill(.deposit1)
    #expect(branch.process(.tellerAnswered(.deposit1, 1, lease, .done)) == [])
    #expect(branch.process(.tellerProgressed(.deposit1, 1, lease)) == [])
    #expect(
      branch.ready(.deposit1, generation: 2).leases[.deposit1] == Lease(ticket: 1, attempt: 2, generation: 2))
  }

  @Test("the loss of an idle teller affects no customer, and it gets none")
  func lostIdleTeller() {
    let branch = TestBranch()
    branch.open(.deposit)
    #expect(branch.kill(.deposit1) == [])
    #expect(branch.arrive(.deposit).assigned == [])
    #expect(branch.machine.numbers(of: .deposit1)?.isReady == false)
  }

  @Test("a lease runs out: the stuck teller is ended, and its customer is served elsewhere at once")
  func leaseExpiry() throws {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit)
    let deadline = try #require(branch.nextDeadline)
    #expect(deadline == branch.now.monotonic + branch.machine.policy.lease)
    #expect(branch.pass(.milliseconds(9_999)).stuck == [])
    let expired = branch.pass(.milliseconds(1))
    #expect(expired.contains(.killStuckTeller(.deposit1, 1)))
    #expect(expired.leases == [.deposit2: Lease(ticket: 1, attempt: 2, generation: 1)])
    #expect(expired.attempts.map(\.end) == [.leaseExpired])
    #expect(branch.pass(.seconds(5)).stuck == [], "it is ended once")
  }

  @Test("an unrelated message expires no lease: the teller's answer may be queued after it")
  func wordBeforeTheBeat() throws {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit)
    let (first, second) = (
      try #require(branch.lease(at: .deposit1)), try #require(branch.lease(at: .deposit2))
    )
    branch.now.monotonic = branch.now.monotonic + .seconds(60)
    branch.now.listeningTime = branch.now.listeningTime + .seconds(60)
    #expect(branch.process(.tellerProgressed(.deposit1, 1, first)).stuck == [])
    #expect(branch.arrive(.loan).stuck == [])
    #expect(branch.process(.tellerAnswered(.deposit2, 1, second, .done)).stuck == [])
    #expect(branch.pass(.zero).stuck == [], "both were handled before they were judged")
    #expect(branch.machine.dayCounters.served == 1)
  }

  @Test("time in which the coordinator did not read is not counted against any teller")
  func unattendedTime() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.now.monotonic = branch.now.monotonic + .seconds(3_600)
    #expect(branch.process(.tick).stuck == [])
    #expect(branch.pass(.seconds(9)).stuck == [])
    #expect(branch.pass(.seconds(1)).stuck == [.deposit1], "and time in which it read all messages is")
  }

  @Test("a beat restarts the lease")
  func beats() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = try #require(branch.lease(at: .deposit1))
    for _ in 0..<5 {
      #expect(branch.pass(.seconds(9)).stuck == [])
      branch.process(.tellerProgressed(.deposit1, 1, lease))
    }
    #expect(branch.pass(.seconds(10)).stuck == [.deposit1])
  }

  @Test("an idle teller has no lease that could run out")
  func noLeaseNoDeadline() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1)
    #expect(branch.machine.nextDeadline == nil)
    #expect(branch.pass(.seconds(100)) == [])
  }

  @Test("a late message of a stuck teller is ignored")
  func lateMessageOfStuckTeller() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = try #require(branch.lease(at: .deposit1))
    branch.pass(.seconds(10))
    #expect(branch.process(.tellerAnswered(.deposit1, 1, lease, .done)) == [])
    #expect(branch.process(.tellerProgressed(.deposit1, 1, lease)) == [])
    #expect(branch.machine.dayCounters.served == 0)
    #expect(branch.tickets(.deposit) == [1])
  }

  @Test("a late message of a dead generation does not affect its successor")
  func lateMessageOfDeadGeneration() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let old = try #require(branch.lease(at: .deposit1))
    branch.kill(.deposit1)
    branch.ready(.deposit1, generation: 2)
    #expect(branch.process(.tellerAnswered(.deposit1, 1, old, .done)) == [])
    #expect(branch.process(.tellerProgressed(.deposit1, 1, old)) == [])
    #expect(branch.process(.tellerLost(.deposit1, 1, .code(0))) == [])
    #expect(branch.process(.tellerReady(.deposit1, 1, pid: 101)) == [])
    #expect(branch.lease(at: .deposit1) == Lease(ticket: 1, attempt: 2, generation: 2))
  }

  @Test("a teller that answers for a customer it does not hold is ended, and its own customer goes back")
  func foreignLease() {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit)
    let foreign = Lease(ticket: 2, attempt: 1, generation: 1)
    let told = branch.process(.tellerAnswered(.deposit1, 1, foreign, .done))
    #expect(told.rogues == [.deposit1])
    #expect(told.receipts == [])
    #expect(branch.tickets(.deposit) == [1])
    #expect(branch.lease(at: .deposit2)?.ticket == 2)
    #expect(branch.machine.dayCounters.served == 0)
  }

  @Test("a teller that answers with a lease of an older generation or another attempt is ended")
  func wrongLease() {
    for lease in [Lease(ticket: 1, attempt: 2, generation: 2), Lease(ticket: 1, attempt: 1, generation: 1)] {
      let branch = TestBranch()
      branch.process(.scale(.deposit, windows: 1))
      branch.ready(.deposit1, generation: 2)
      branch.arrive(.deposit)
      #expect(branch.process(.tellerAnswered(.deposit1, 2, lease, .done)).rogues == [.deposit1])
      #expect(branch.machine.dayCounters.served == 0)
    }
  }

  @Test("a teller that answers twice is ended, and the work has taken effect once")
  func answersTwice() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = try #require(branch.lease(at: .deposit1))
    #expect(try branch.answer(.deposit1).receipts.count == 1)
    let again = branch.process(.tellerAnswered(.deposit1, 1, lease, .done))
    #expect(again.rogues == [.deposit1])
    #expect(again.receipts == [])
    #expect(branch.machine.dayCounters.served == 1)
  }

  @Test("a teller that beats without a customer, or returns one that was not recalled, is ended")
  func otherBreaches() throws {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    let none = Lease(ticket: 1, attempt: 1, generation: 1)
    #expect(branch.process(.tellerProgressed(.deposit1, 1, none)).rogues == [.deposit1])
    branch.arrive(.deposit)
    #expect(try branch.answer(.deposit2, .returned).rogues == [.deposit2])
    #expect(branch.tickets(.deposit) == [1])
  }

  @Test("an ended teller gets no customer; its successor does")
  func successorOfRogue() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.tellerProgressed(.deposit1, 1, Lease(ticket: 1, attempt: 1, generation: 1)))
    #expect(branch.arrive(.deposit).assigned == [])
    #expect(branch.kill(.deposit1).assigned == [])
    #expect(branch.ready(.deposit1, generation: 2).assigned == [1])
  }

  @Test("a message from a window that does not exist changes nothing")
  func unknownWindow() {
    let branch = TestBranch()
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    #expect(branch.ready(.deposit1) == [])
    #expect(branch.process(.tellerAnswered(.deposit1, 1, lease, .done)) == [])
    #expect(branch.process(.tellerProgressed(.deposit1, 1, lease)) == [])
    #expect(branch.kill(.deposit1) == [])
  }

  @Test(
    "a failed customer is delayed, the pause doubles with each failure, and its number keeps its place")
  func failed() throws {
    let branch = TestBranch(policy: policy(failures: 9))
    branch.open(.deposit)
    branch.arrive(.deposit)
    for pause in [1, 2, 4, 8] as [Int64] {
      let failed = try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
      let due = WallTime(milliseconds: branch.now.wall.milliseconds + pause * 1_000)
      let deferredRequests = failed.changes.compactMap {
        if case .postpone(_, let dueAt) = $0 { dueAt } else { nil }
      }
      #expect(deferredRequests == [due])
      #expect(failed.attempts.map(\.end) == [.failed])
      #expect(branch.machine.dayCounters.delayed == 1)
      #expect(branch.machine.nextDeadline == branch.now.monotonic + .seconds(pause))
      #expect(branch.pass(.milliseconds(pause * 1_000 - 1)).assigned == [])
      #expect(branch.pass(.milliseconds(1)).assigned == [1])
      #expect(branch.machine.dayCounters.delayed == 0)
    }
  }

  @Test("a customer comes back from its pause to the place of its number")
  func backFromPause() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit, .deposit)
    #expect(try branch.answer(.deposit1, .failed(WorkFailure("no pen"))).assigned == [2])
    let back = branch.pass(.seconds(1))
    let revived = back.changes.compactMap {
      if case .revive(let who, let from) = $0 { (who.ticket, from) } else { nil }
    }
    #expect(revived.map(\.0) == [1])
    #expect(revived.map(\.1) == [.delayed])
    #expect(branch.tickets(.deposit) == [1, 3, 4])
  }

  @Test("the pause never exceeds the longest one, however many failures there were")
  func longestPause() {
    let policy = QueuePolicy()
    #expect(policy.common.pause(afterFailures: 0) == .seconds(1))
    #expect(policy.common.pause(afterFailures: 6) == .seconds(32))
    #expect(policy.common.pause(afterFailures: 7) == .seconds(60))
    #expect(policy.common.pause(afterFailures: .max) == .seconds(60))
  }

  @Test("after too many failures a customer is a dead letter")
  func tooManyFailures() throws {
    let branch = TestBranch(policy: policy(failures: 2))
    branch.open(.deposit)
    branch.arrive(.deposit)
    #expect(try branch.answer(.deposit1, .failed(WorkFailure("no pen"))).dead == [])
    branch.pass(.seconds(1))
    let last = try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    #expect(last.dead == [1])
    #expect(last.changes.contains { if case .bury(let who) = $0 { who.failures == 2 } else { false } })
    #expect(branch.machine.dayCounters.dead == 1)
    #expect(branch.isIdle)
    #expect(!branch.machine.dayCounters.isFinished)
  }

  @Test("after too many crashes a customer is a dead letter, with the reason of the last one")
  func tooManyCrashes() {
    let branch = TestBranch(policy: policy(crashes: 3))
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.kill(.deposit1)
    branch.ready(.deposit1, generation: 2)
    branch.kill(.deposit1, generation: 2)
    branch.ready(.deposit1, generation: 3)
    let last = branch.process(.tellerLost(.deposit1, 3, .signal(11)))
    let reports = last.compactMap { effect -> ProcessEnd? in
      if case .logDeadLetter(let who, .deposit1, .killed, let end) = effect, who.crashes == 3 {
        end
      } else {
        nil
      }
    }
    #expect(reports == [.signal(11)])
    #expect(branch.tickets(.deposit) == [2], "the next customer is served")
  }

  @Test("crashes and failures are counted separately")
  func countedApart() throws {
    let branch = TestBranch(policy: policy(crashes: 2, failures: 2))
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.pass(.seconds(1))
    #expect(branch.kill(.deposit1).dead == [])
    branch.ready(.deposit1, generation: 2)
    #expect(branch.lease(at: .deposit1)?.attempt == 3)
  }

  @Test(
    "delayed customers beyond the memory for them are read when due, and none is called at once"
  )
  func manyDelayed() throws {
    var policy = policy()
    (policy.delayedCapacity, policy.delayedLowWater) = (1, 1)
    let branch = TestBranch(policy: policy)
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    var put: [DelayedCustomer] = []
    for _ in 0..<3 {
      for case .postpone(let customer, let dueAt) in try branch.answer(
        .deposit1, .failed(WorkFailure("no pen"))
      )
      .changes {
        put.append(DelayedCustomer(customer: customer, dueAt: dueAt))
      }
    }
    #expect(branch.machine.dayCounters.delayed == 3)
    #expect(put.map(\.customer.ticket) == [1, 2, 3])
    let called = branch.pass(.seconds(1))
    #expect(called.assigned == [1])
    #expect(
      called.last == .loadDelayed(after: put[0].place, limit: 1)
        || called.contains(.loadDelayed(after: put[0].place, limit: 1)))
    branch.process(.delayedLoaded([put[1]]))
    #expect(branch.pass(.milliseconds(1)).changes.contains { if case .revive = $0 { true } else { false } })
  }
}
