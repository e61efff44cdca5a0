// Cancellation of customers, and requeueing of dead letters, wherever they are.

import BankModel
import QueueCore
import Testing

@Suite struct QueueCancelTests {
  /// A branch with one dead letter, ticket 1, and no other customer.
  private func branchWithDeadLetter() throws -> (branch: TestBranch, letter: Customer) {
    var policy = QueuePolicy()
    policy.maxFailures = 1
    let branch = TestBranch(policy: policy)
    branch.open(.deposit)
    branch.arrive(.deposit)
    let changes = try branch.answer(.deposit1, .failed(WorkFailure("no pen"))).changes
    branch.process(.committed)
    let letters = changes.compactMap { if case .bury(let customer) = $0 { customer } else { nil } }
    return (branch, try #require(letters.first))
  }

  @Test(
    "a waiting customer is cancelled: a receipt is written, and the answer follows the commit"
  )
  func waitingInMemory() {
    let branch = TestBranch()
    branch.arrive(.deposit, .deposit, .deposit)
    let cancelled = branch.process(.cancel(9, 2))
    #expect(cancelled.answers == [])
    #expect(cancelled.receipts.map(\.outcome) == [.cancelled])
    #expect(cancelled.receipts.map(\.window) == [nil])
    #expect(cancelled.receipts.map(\.transfer) == [nil])
    #expect(cancelled.receipts.map(\.attempts) == [0])
    #expect(branch.tickets(.deposit) == [1, 3])
    #expect(branch.machine.dayCounters.cancelled == 1)
    #expect(branch.process(.committed).answer(to: 9) == .done)
  }

  @Test("a customer who is only in the store is cancelled there, and is not missed later")
  func waitingBeyondMemory() throws {
    var policy = QueuePolicy()
    policy.lineCapacity = 2
    let branch = TestBranch(policy: policy)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(branch.process(.cancel(9, 3)) == [.lookUp(9, 3)])
    let stored = CustomerOrder.deposit.customer(ticket: 3, issuedAt: branch.now.wall)
    let found = branch.process(
      .found(9, ticket: 3, StoredCustomer(customer: stored, state: .waiting, dueAt: nil)))
    #expect(found.receipts.map(\.ticket) == [3])
    #expect(branch.process(.committed).answer(to: 9) == .done)
    #expect(branch.open(.deposit, windows: 2).pages.isEmpty)
    #expect(branch.machine.waitingCount == 0)
  }

  @Test("while a page of its line is being read, a customer is looked for again after it")
  func pageOnItsWay() {
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 2
    dayCounters.waiting[Line(service: .deposit, priority: .regular)] = 2
    let branch = TestBranch(dayCounters: dayCounters)
    #expect(branch.open(.deposit).pages.count == 1)
    let stored = [1, 2].map { CustomerOrder.deposit.customer(ticket: $0, issuedAt: branch.now.wall) }
    let answer = QueueEvent.found(
      9, ticket: 2, StoredCustomer(customer: stored[1], state: .waiting, dueAt: nil))
    #expect(branch.process(.cancel(9, 2)) == [.lookUp(9, 2)])
    #expect(branch.process(answer) == [.lookUp(9, 2)])
    #expect(branch.process(.pageLoaded(stored[0].line, stored)).assigned == [1])
    let found = branch.process(answer)
    #expect(found.receipts.map(\.ticket) == [2], "the page has brought the customer into memory meanwhile")
    #expect(branch.tickets(.deposit) == [])
    #expect(branch.process(.committed).answer(to: 9) == .done)
  }

  @Test("a delayed customer is cancelled and does not come back")
  func delayed() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    let cancelled = branch.process(.cancel(9, 1))
    #expect(cancelled.changes.contains { if case .finish(_, .delayed, _) = $0 { true } else { false } })
    #expect(cancelled.receipts.map(\.attempts) == [1])
    #expect(branch.pass(.seconds(60)).assigned == [])
    #expect(branch.isIdle)
  }

  @Test("a dead letter is cancelled, and the day can be closed")
  func dead() throws {
    let (branch, letter) = try branchWithDeadLetter()
    #expect(branch.process(.cancel(9, 1)) == [.lookUp(9, 1)])
    let found = branch.process(
      .found(9, ticket: 1, StoredCustomer(customer: letter, state: .dead, dueAt: nil)))
    #expect(found.changes.contains { if case .finish(_, .dead, _) = $0 { true } else { false } })
    #expect(branch.process(.committed).answer(to: 9) == .done)
    #expect(branch.machine.dayCounters.isFinished)
  }

  @Test(
    "a customer at a window gets its receipt first, and any answer of the teller is ignored"
  )
  func serving() throws {
    for answer in [TellerAnswer.returned, .done, .failed(WorkFailure("no pen"))] {
      let branch = TestBranch()
      branch.open(.deposit)
      branch.arrive(.deposit)
      branch.arrive(.deposit)
      let lease = try #require(branch.lease(at: .deposit1))
      let effects = branch.process(.cancel(9, 1))
      #expect(effects.contains(.recall(.deposit1, lease)) && effects.assigned == [])
      let receipts = effects.changes.compactMap {
        if case .finish(_, _, let receipt) = $0 { receipt } else { nil }
      }
      #expect(receipts.map(\.outcome) == [.cancelled] && receipts.first?.window == .deposit1)
      #expect(branch.process(.committed).answer(to: 9) == .done)
      #expect(branch.machine.dayCounters.cancelled == 1 && branch.lease(at: .deposit1) == nil)
      let later = branch.process(.tellerAnswered(.deposit1, lease.generation, lease, answer))
      #expect(later.changes == [] && later.assigned == [2])
    }
  }

  @Test("one of several assigned customers is recalled, and the teller continues with the others")
  func inHand() throws {
    for taken in [TicketNumber(1), 2, 3] {
      var policy = QueuePolicy()
      policy.prefetch = 3
      let branch = TestBranch(policy: policy)
      branch.open(.deposit)
      for _ in 1...4 { branch.arrive(.deposit) }
      let generation = try #require(branch.lease(at: .deposit1)).generation
      let lease = Lease(ticket: taken, attempt: 1, generation: generation)
      let effects = branch.process(.cancel(9, taken))
      #expect(effects.contains(.recall(.deposit1, lease)))
      #expect(effects.assigned == [], "the teller has as many customers as before")
      let rest = [TicketNumber(1), 2, 3].filter { $0 != taken }
      #expect(branch.lease(at: .deposit1)?.ticket == rest[0])
      _ = branch.process(.committed)
      // A beat that has crossed the recall, and then the answer.
      #expect(branch.process(.tellerProgressed(.deposit1, generation, lease)) == [])
      #expect(branch.process(.tellerAnswered(.deposit1, generation, lease, .returned)).assigned == [4])
      for ticket in rest {
        let done = Lease(ticket: ticket, attempt: 1, generation: generation)
        #expect(branch.lease(at: .deposit1) == done)
        _ = branch.process(.tellerAnswered(.deposit1, generation, done, .done))
      }
      #expect(branch.machine.dayCounters.served == 2 && branch.machine.dayCounters.cancelled == 1)
    }
  }

  @Test("an unknown ticket is refused, for cancel and for requeue")
  func unknown() {
    let branch = TestBranch()
    for event in [QueueEvent.cancel(9, 77), .requeue(9, 77)] {
      #expect(branch.process(event) == [.lookUp(9, 77)])
      #expect(branch.process(.found(9, ticket: 77, nil)) == [.reply(9, .refused(.noSuchTicket(77)))])
    }
    #expect(!branch.hasUncommittedChanges)
  }

  @Test("a ticket that was not announced yet does not exist for an operator")
  func newcomer() {
    let branch = TestBranch()
    branch.ask(.deposit)
    branch.process(.cancel(9, 1))
    let stored = CustomerOrder.deposit.customer(ticket: 1, issuedAt: branch.now.wall)
    let found = branch.process(
      .found(9, ticket: 1, StoredCustomer(customer: stored, state: .waiting, dueAt: nil)))
    #expect(found == [.reply(9, .refused(.noSuchTicket(1)))])
  }

  @Test("a requeued dead letter has its counters at zero, and keeps the count of its attempts")
  func requeueOne() throws {
    var (branch, letter) = try branchWithDeadLetter()
    branch.process(.scale(.deposit, windows: 0))
    #expect(branch.process(.requeue(9, 1)) == [.lookUp(9, 1)])
    let found = branch.process(
      .found(9, ticket: 1, StoredCustomer(customer: letter, state: .dead, dueAt: nil)))
    letter.failures = 0
    #expect(letter.attempts == 1)
    #expect(found.changes == [.revive(letter, from: .dead)])
    #expect(branch.tickets(.deposit) == [1])
    #expect(branch.process(.committed).answer(to: 9) == .requeued(1))
  }

  @Test("only a dead letter can be requeued")
  func requeueOthers() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    for (ticket, state) in [(1, CustomerState.serving), (2, .waiting)] as [(TicketNumber, CustomerState)] {
      branch.process(.requeue(9, ticket))
      let stored = CustomerOrder.deposit.customer(ticket: ticket, issuedAt: branch.now.wall)
      let found = branch.process(
        .found(9, ticket: ticket, StoredCustomer(customer: stored, state: .waiting, dueAt: nil)))
      #expect(found == [.reply(9, .refused(.wrongState(ticket, state)))])
    }
  }

  @Test("all dead letters are requeued page by page, and are served in the order of their numbers")
  func requeueAll() {
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 600
    dayCounters.dead = 600
    let branch = TestBranch(dayCounters: dayCounters)
    let letters = (1...600 as ClosedRange<TicketNumber>).map { ticket in
      var letter = Customer.numbered(ticket)
      letter.crashes = 3
      return letter
    }
    #expect(branch.process(.requeueDead(9)) == [.loadDead(9, limit: 512)])
    let first = branch.process(.deadLoaded(9, Array(letters.prefix(512))))
    #expect(first.last == .loadDead(9, limit: 512))
    branch.process(.deadLoaded(9, Array(letters.dropFirst(512))))
    #expect(branch.machine.dayCounters.dead == 0)
    #expect(branch.tickets(.deposit) == Array(1...600))
    #expect(branch.process(.committed).answer(to: 9) == .requeued(600))
    #expect(branch.open(.deposit).leases[.deposit1] == Lease(ticket: 1, attempt: 1, generation: 1))
  }

  @Test("with no dead letters none is requeued, and the answer reports that")
  func requeueNone() {
    let branch = TestBranch()
    branch.process(.requeueDead(9))
    #expect(branch.process(.deadLoaded(9, [])) == [])
    #expect(branch.process(.committed).answer(to: 9) == .requeued(0))
  }
}
