// A service that counts its attempts: what is on disk before an attempt starts, which attempts count, and
// what happens to a customer with none left.

import BankModel
@testable import QueueCore
import Testing
import Time

@Suite struct QueueStartsTests {
  private func branch(
    most: Int16 = 1, dayCounters: DayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall),
    change: (inout QueuePolicy) -> Void = { _ in }
  ) -> TestBranch {
    var policy = QueuePolicy()
    policy.common.maxAttempts = most
    policy.maxCrashes = 100
    policy.maxFailures = 100
    change(&policy)
    return TestBranch(policy: policy, dayCounters: dayCounters)
  }

  private func marks(_ effects: [QueueEffect]) -> [String] {
    effects.changes.compactMap {
      guard case .update(let customer) = $0 else { return nil }
      return "\(customer.ticket): \(customer.startedAttempts)\(customer.isAttemptRunning ? " under way" : "")"
    }
  }

  @Test("a teller gets a customer when the start of the attempt is on disk, and its time starts then")
  func toldAfterTheCommit() throws {
    let branch = branch()
    branch.open(.deposit)
    let came = branch.arrive(.deposit)
    #expect(came.assigned.isEmpty && marks(came) == ["1: 1 under way"])
    #expect(branch.hasRepliesToCommit && branch.machine.serving == 1 && branch.nextDeadline == nil)
    branch.passQuietly(.seconds(60))
    let told = branch.process(.committed)
    #expect(told.assigned == [1] && !branch.hasRepliesToCommit)
    #expect(branch.nextDeadline == branch.now.monotonic + .seconds(10))
    let served = try branch.answer(.deposit1)
    #expect(served.receipts.map(\.attempts) == [1] && served.receipts.first?.startedAt == branch.now.wall)
  }

  @Test("many attempts start with one commit")
  func together() {
    let branch = branch()
    branch.open(.deposit, windows: 2)
    branch.open(.loan)
    #expect(marks(branch.arrive(.deposit, .loan, .deposit)).count == 3)
    #expect(Set(branch.process(.committed).assigned) == [1, 2, 3])
  }

  @Test("without counted attempts no start waits for the disk, and nothing is staged")
  func uncounted() {
    let branch = TestBranch()
    branch.open(.deposit)
    let came = branch.arrive(.deposit)
    #expect(came.assigned == [1] && marks(came).isEmpty)
  }

  @Test("a customer without attempts left is a dead letter, whatever ended the last one", arguments: 0...4)
  func spent(_ way: Int) throws {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.committed)
    let lost =
      switch way {
      case 0: branch.kill(.deposit1)
      case 1: branch.pass(.seconds(11))
      case 2: try branch.answer(.deposit1, .failed(WorkFailure("no paper")))
      case 3: try branch.answer(.deposit1, .failed(WorkFailure("later", .later)))
      default: branch.process(.returnAllClaims)
      }
    #expect(lost.dead == [1] && branch.machine.dayCounters.dead == 1)
    #expect(lost.attempts.map(\.number) == [1])
    #expect(lost.assigned.isEmpty && branch.tickets(.deposit) == [])
  }

  @Test("as many attempts start as allowed")
  func several() throws {
    let branch = branch(most: 3) { $0.retryInitialDelay = .milliseconds(10) }
    branch.open(.deposit)
    branch.arrive(.deposit)
    for attempt in Int32(1)...3 {
      #expect(branch.process(.committed).leases[.deposit1]?.attempt == attempt)
      let failed = try branch.answer(.deposit1, .failed(WorkFailure("no paper")))
      #expect(failed.dead == (attempt == 3 ? [1] : []))
      branch.pass(.seconds(1))
    }
    #expect(branch.process(.committed).assigned.isEmpty)
  }

  @Test("nothing has started if the teller is lost, or the customer taken out, before it is on disk")
  func notBegun() {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lost = branch.kill(.deposit1)
    #expect(marks(lost) == ["1: 0"] && lost.attempts.isEmpty && lost.dead.isEmpty)
    #expect(branch.process(.committed).assigned.isEmpty && branch.tickets(.deposit) == [1])
    branch.ready(.deposit1, generation: 2)
    let cancelled = branch.process(.cancel(branch.request(), 1))
    #expect(cancelled.receipts.map(\.outcome) == [.cancelled] && cancelled.attempts.isEmpty)
    #expect(!cancelled.contains { if case .recall = $0 { true } else { false } })
    #expect(branch.process(.committed).assigned.isEmpty && branch.isIdle)
  }

  @Test("a pause, a reset and an end hold back customers that have not started", arguments: 0...2)
  func keptBack(_ way: Int) {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    switch way {
    case 0: branch.process(.pause(branch.request(), .deposit))
    case 1: branch.process(.finish)
    default: branch.process(.reset(branch.request()))
    }
    #expect(branch.process(.committed).assigned.isEmpty)
    #expect(branch.tickets(.deposit) == (way == 2 ? [] : [1]) && branch.machine.serving == 0)
  }

  @Test("while the disk is full no customer is assigned, and no attempt counts")
  func fullDisk() {
    let branch = branch()
    branch.open(.deposit)
    branch.open(.loan)
    branch.arrive(.deposit)
    let full = branch.process(.commitRefused)
    #expect(full.assigned.isEmpty && marks(full) == ["1: 1 under way", "1: 0"])
    #expect(branch.tickets(.deposit) == [1])
    #expect(branch.process(.tick).changes.isEmpty)
    let room = branch.process(.committed)
    #expect(room.assigned.isEmpty && marks(room) == ["1: 1 under way"])
    #expect(branch.process(.committed).assigned == [1])
  }

  @Test("a message about a customer that the teller was not given is a breach", arguments: [true, false])
  func spokenTooEarly(_ isAnswer: Bool) {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    let word: QueueEvent =
      isAnswer ? .tellerAnswered(.deposit1, 1, lease, .done) : .tellerProgressed(.deposit1, 1, lease)
    let said = branch.process(word)
    #expect(said.rogues == [.deposit1] && said.receipts.isEmpty && said.attempts.isEmpty)
    #expect(branch.tickets(.deposit) == [1] && branch.machine.serving == 0)
  }

  @Test("a failure of work that did not start does not count")
  func unbegun() throws {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.committed)
    let refused = try branch.answer(.deposit1, .failed(WorkFailure("no such program", .pause)))
    #expect(marks(refused) == ["1: 0"] && refused.dead.isEmpty && branch.isPaused == false)
    branch.process(.resume(branch.request(), .deposit))
    #expect(branch.process(.committed).leases[.deposit1]?.attempt == 2)
    #expect(
      try branch.answer(.deposit1, .failed(WorkFailure("x", .pause, processEnd: .code(127)))).dead == [])
    branch.process(.resume(branch.request(), .deposit))
    branch.process(.committed)
    #expect(try branch.answer(.deposit1, .failed(WorkFailure("x", .pause, processEnd: .code(3)))).dead == [1])
  }

  @Test("a customer that a lost worker had not started keeps that attempt")
  func returned() throws {
    let branch = branch { ($0.retryInitialDelay, $0.prefetch) = (.milliseconds(10), 2) }
    let place = Window.outside(.deposit, number: 1)
    branch.process(.workerConnected([.deposit], number: 1, 70_000, pid: 9, inFlight: 2))
    branch.arrive(.deposit, .deposit)
    #expect(branch.process(.committed).assigned == [1, 2])
    let lease = Lease(ticket: 2, attempt: 1, generation: 70_000)
    #expect(branch.process(.tellerAnswered(place, 70_000, lease, .returned)).dead.isEmpty)
    branch.pass(.seconds(1))
    #expect(branch.process(.committed).assigned == [2])
    // Both may have started, whichever was to blame.
    #expect(Set(branch.process(.workerDisconnected(70_000)).dead) == [1, 2])
  }

  @Test("a lost coordinator has started all marked attempts: used up ones become dead letters first")
  func restart() {
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 3
    let line = Line(service: .deposit, priority: .regular)
    dayCounters.waiting[line] = 3
    let branch = branch(dayCounters: dayCounters)
    var marked = Customer.numbered(1)
    (marked.startedAttempts, marked.isAttemptRunning) = (1, true)
    var spent = Customer.numbered(2)
    (spent.attempts, spent.startedAttempts) = (1, 1)
    #expect(branch.open(.deposit).pages.count == 1)
    let read = branch.process(.pageLoaded(line, [marked, spent, .numbered(3)]))
    #expect(read.dead == [1, 2] && read.assigned.isEmpty && branch.machine.dayCounters.dead == 2)
    #expect(read.attempts.map(\.end) == [.lost] && read.attempts.map(\.number) == [1])
    #expect(marks(read) == ["3: 1 under way"])
    #expect(branch.process(.committed).assigned == [3])
  }

  @Test(
    "after a restart a lost attempt keeps its number, and the next one starts if any is left"
  )
  func restartWithOneLeft() {
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 1
    let line = Line(service: .deposit, priority: .regular)
    dayCounters.waiting[line] = 1
    let branch = branch(most: 2, dayCounters: dayCounters)
    var marked = Customer.numbered(1)
    (marked.startedAttempts, marked.isAttemptRunning) = (1, true)
    branch.open(.deposit)
    let read = branch.process(.pageLoaded(line, [marked]))
    #expect(read.attempts.map(\.end) == [.lost] && marks(read) == ["1: 1", "1: 2 under way"])
    #expect(branch.process(.committed).leases[.deposit1]?.attempt == 2)
    #expect(branch.kill(.deposit1).dead == [1])
  }

  @Test("a customer requeued by an operator has all attempts again")
  func broughtBack() {
    let branch = branch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.committed)
    var letter: Customer?
    for case .bury(let customer) in branch.kill(.deposit1).changes { letter = customer }
    branch.ready(.deposit1, generation: 2)
    let request = branch.request()
    branch.process(.requeue(request, 1))
    let found = letter.map { StoredCustomer(customer: $0, state: .dead, dueAt: nil) }
    #expect(marks(branch.process(.found(request, ticket: 1, found))) == ["1: 1 under way"])
    #expect(
      branch.process(.committed).leases[.deposit1] == Lease(ticket: 1, attempt: 2, generation: 2))
  }

  @Test("a teller holds one customer at once, because it is unknown which prefetched one has started")
  func oneInHand() {
    let branch = branch { $0.prefetch = 4 }
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    #expect(branch.process(.committed).assigned == [1])
    #expect(branch.process(.committed).assigned.isEmpty)
  }

  @Test(
    "a lower limit ends customers who have reached it, and no limit lets them continue")
  func reload() throws {
    let branch = branch(most: 3) { $0.retryInitialDelay = .milliseconds(10) }
    branch.open(.deposit)
    branch.arrive(.deposit)
    branch.process(.committed)
    #expect(try branch.answer(.deposit1, .failed(WorkFailure("x"))).dead.isEmpty)
    var policy = QueuePolicy()
    policy.common.maxAttempts = 1
    branch.adopt(policy)
    let back = branch.pass(.seconds(1))
    #expect(back.dead == [1] && back.attempts.isEmpty)
    branch.arrive(.deposit)
    branch.adopt(QueuePolicy())
    #expect(branch.process(.committed).assigned == [2])
    #expect(branch.kill(.deposit1).dead.isEmpty)
  }
}
