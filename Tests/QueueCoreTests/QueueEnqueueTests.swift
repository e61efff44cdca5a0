// Intake of customers: a ticket is announced when it is on disk, a refusal changes nothing, and a full disk
// takes back only tickets that were not announced.

import BankModel
import QueueCore
import Testing

@Suite struct QueueEnqueueTests {
  private func limited(to waiting: Int64) -> QueuePolicy {
    var policy = QueuePolicy()
    policy.maxWaiting = waiting
    return policy
  }

  @Test("a ticket is announced only after it is on disk")
  func spokenAfterCommit() {
    let branch = TestBranch()
    let asked = branch.ask(.deposit, .loan, as: 7)
    #expect(asked.answers == [])
    #expect(asked.changes.count == 2)
    #expect(branch.hasUncommittedChanges)
    let settled = branch.process(.committed)
    #expect(settled.answer(to: 7) == .enqueued(IssuedTickets(day: 1, first: 1, last: 2)))
    #expect(!branch.hasUncommittedChanges)
    #expect(branch.process(.committed) == [], "an answer is sent once")
  }

  @Test("a customer is not assigned before its ticket is on disk, although a teller is idle")
  func notServedBeforeCommit() {
    let branch = TestBranch()
    branch.open(.deposit)
    #expect(branch.ask(.deposit).assigned == [])
    #expect(branch.machine.waitingCount == 0)
    #expect(branch.machine.issuedCount == 0)
    #expect(branch.process(.committed).assigned == [1])
    #expect(branch.machine.issuedCount == 1)
  }

  @Test("a new customer is staged with all its requested properties")
  func stagedCustomer() {
    let branch = TestBranch()
    let order = CustomerOrder(service: .loan, priority: .vip, amount: 12_345, account: 67)
    let expected = Customer(
      ticket: 1, service: .loan, priority: .vip, amount: 12_345, account: 67, issuedAt: branch.now.wall)
    #expect(branch.ask(order).changes == [.insert(expected)])
  }

  @Test("numbers are consecutive over requests, and each request gets its own")
  func consecutiveNumbers() {
    let branch = TestBranch()
    branch.ask(.deposit, .deposit, as: 1)
    branch.ask(.loan, as: 2)
    branch.ask(.deposit, .loan, .deposit, as: 3)
    let settled = branch.process(.committed)
    #expect(settled.answer(to: 1) == .enqueued(IssuedTickets(day: 1, first: 1, last: 2)))
    #expect(settled.answer(to: 2) == .enqueued(IssuedTickets(day: 1, first: 3, last: 3)))
    #expect(settled.answer(to: 3) == .enqueued(IssuedTickets(day: 1, first: 4, last: 6)))
    #expect(branch.arrive(.loan).answers == [.enqueued(IssuedTickets(day: 1, first: 7, last: 7))])
  }

  @Test(
    "between two slices other changes are committed; the request is not announced or served"
  )
  func commitBetweenSlices() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.ask(.loan, as: 4)
    branch.process(.enqueue(5, orders: [.deposit, .loan], total: 4, isLast: false))
    #expect(branch.hasRepliesToCommit)
    #expect(branch.machine.dayCounters.issued == 1 && branch.machine.arriving?.first == 2)
    #expect(!branch.isIdle && branch.hasWaitingToServe)
    let between = branch.process(.committed)
    #expect(between.answers == [.enqueued(IssuedTickets(day: 1, first: 1, last: 1))])
    #expect(between.assigned == [])
    #expect(!branch.hasUncommittedChanges && !branch.hasRepliesToCommit)
    #expect((branch.machine.waitingCount, branch.machine.issuedCount) == (1, 1))
    branch.process(.enqueue(5, orders: [.deposit, .deposit], total: 4, isLast: true))
    #expect(branch.machine.dayCounters.issued == 5 && branch.machine.arriving == nil)
    let last = branch.process(.committed)
    #expect(last.answer(to: 5) == .enqueued(IssuedTickets(day: 1, first: 2, last: 5)))
    #expect(last.assigned == [2])
    #expect(branch.machine.inconsistencies(ServiceDirectory()) == [])
  }

  @Test("a full disk refuses a request with committed slices, and its numbers are free again")
  func refusedBetweenSlices() {
    let branch = TestBranch()
    branch.process(.enqueue(5, orders: [.deposit, .loan], total: 4, isLast: false))
    branch.process(.committed)
    branch.process(.enqueue(5, orders: [.deposit], total: 4, isLast: false))
    #expect(branch.process(.commitRefused).answer(to: 5) == .refused(.diskFull))
    #expect(!branch.isTakingIn)
    #expect(branch.machine.dayCounters.issued == 0)
    branch.process(.committed)
    #expect(branch.arrive(.loan).answers == [.enqueued(IssuedTickets(day: 1, first: 1, last: 1))])
    #expect(branch.machine.inconsistencies(ServiceDirectory()) == [])
  }

  @Test("a request in slices is one request: it is announced after its last slice")
  func slices() {
    let branch = TestBranch()
    branch.process(.enqueue(5, orders: [.deposit, .loan], total: 3, isLast: false))
    #expect(branch.isTakingIn)
    let last = branch.process(.enqueue(5, orders: [.deposit], total: 3, isLast: true))
    #expect(!branch.isTakingIn)
    #expect(last.answers == [])
    #expect(branch.process(.committed).answer(to: 5) == .enqueued(IssuedTickets(day: 1, first: 1, last: 3)))
  }

  /// Amounts tell the customers apart.
  private func orders(_ amounts: ClosedRange<Won>) -> [CustomerOrder] {
    amounts.map { CustomerOrder(service: .deposit, priority: .regular, amount: $0, account: 1) }
  }

  /// The number of each customer, by the staged changes.
  private func insert(_ effects: [QueueEffect], into people: inout [TicketNumber: Won]) {
    for case .stage(.insert(let customer)) in effects {
      #expect(people.updateValue(customer.amount, forKey: customer.ticket) == nil, "\(customer.ticket) twice")
    }
  }

  @Test(
    "others who come beside a large request take the next numbers, and its own stay consecutive",
    arguments: [0, 1, 3, 4, 6])
  func beside(_ others: Int) {
    let branch = TestBranch()
    var people: [TicketNumber: Won] = [:]
    branch.arrive(.loan)
    func slice(_ amounts: ClosedRange<Won>, heldBack: Int64, isLast: Bool = false) -> QueueEvent {
      .enqueue(5, orders: orders(amounts), total: 14, isLast: isLast, heldBack: heldBack)
    }
    insert(branch.process(slice(7...10, heldBack: 6)), into: &people)
    #expect(branch.machine.concurrentEnqueueLimit == 6)
    for other in 0..<others {
      if other == 3 { insert(branch.process(slice(11...14, heldBack: 6)), into: &people) }
      let asked = branch.process(.enqueue(9, orders: orders(99...99), total: 1, isLast: true))
      insert(asked, into: &people)
      let answer = QueueAnswer.enqueued(
        IssuedTickets(day: 1, first: 2 + Int64(other), last: 2 + Int64(other)))
      #expect(branch.process(.committed).answers == [answer])
    }
    if others <= 3 { insert(branch.process(slice(11...14, heldBack: 6)), into: &people) }
    insert(branch.process(slice(4...6, heldBack: 3)), into: &people)
    insert(branch.process(slice(1...3, heldBack: 0, isLast: true)), into: &people)
    let first = 2 + Int64(others)
    #expect(
      branch.process(.committed).answer(to: 5)
        == .enqueued(IssuedTickets(day: 1, first: first, last: first + 13)))
    let amounts = (first..<first + 14).compactMap { people[$0] }
    #expect(amounts.sorted() == Array(1...14))
    // Customers displaced by others are at the end, and all others in the order of the request.
    #expect(Array(amounts.prefix(14 - others)) == (1...14).filter { !(7 - others..<7).contains(Int($0)) })
    #expect(branch.machine.dayCounters.issued == first + 13)
    #expect(people.keys.sorted() == Array(2...first + 13))
    branch.open(.deposit)
    #expect(branch.machine.inconsistencies(ServiceDirectory()) == [])
  }

  @Test("customers of a request in progress take up room in the queue")
  func roomForAll() {
    let branch = TestBranch(policy: limited(to: 6))
    branch.process(.enqueue(5, orders: [.deposit], total: 5, isLast: false, heldBack: 2))
    #expect(
      branch.ask(.deposit, .deposit, as: 9).answer(to: 9) == .refused(.queueFull(waiting: 5, limit: 6)))
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 1, first: 1, last: 1))])
  }

  @Test("an abandoned request frees its numbers, and no other tickets are touched")
  func abandoned() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .loan)
    branch.process(.pause(6, .loan))
    branch.process(.enqueue(5, orders: [.deposit, .loan], total: 9, isLast: false, heldBack: 3))
    branch.ask(.deposit, as: 8)
    #expect(branch.process(.committed).answers.count == 2)
    #expect(branch.process(.enqueueAbandoned) == [], "the caller that abandons it has answered its client")
    #expect(branch.machine.dayCounters.issued == 3 && !branch.isTakingIn && !branch.isDiskFull)
    #expect(branch.machine.dayCounters.paused == [false, true, false])
    #expect(branch.process(.enqueueAbandoned) == [], "without an intake there is nothing to abandon")
    #expect(branch.arrive(.loan).answers == [.enqueued(IssuedTickets(day: 1, first: 4, last: 4))])
  }

  @Test("a reset that waits for the tickets of an abandoned request happens at once")
  func resetAfterAbandoning() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.process(.enqueue(5, orders: [.deposit], total: 9, isLast: false))
    #expect(branch.process(.reset(7)) == [])
    #expect(!branch.process(.enqueueAbandoned).changes.isEmpty)
    #expect(branch.machine.dayCounters.day == 2)
    #expect(branch.process(.committed).answer(to: 7) == .done)
  }

  @Test("a full queue refuses the whole request, and nothing is changed")
  func queueFull() {
    let branch = TestBranch(policy: limited(to: 3))
    branch.arrive(.deposit, .deposit)
    let dayCounters = branch.machine.dayCounters
    let refused = branch.ask(.deposit, .deposit, as: 9)
    #expect(refused == [.reply(9, .refused(.queueFull(waiting: 2, limit: 3)))])
    #expect(branch.machine.dayCounters == dayCounters)
    #expect(!branch.hasUncommittedChanges)
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 1, first: 3, last: 3))])
  }

  @Test("an empty request is answered, however many customers wait")
  func noNewCustomer() {
    let branch = TestBranch(policy: limited(to: 1))
    branch.arrive(.deposit)
    #expect(branch.process(.enqueue(9, orders: [], total: 0, isLast: true)).answers == [])
    #expect(branch.hasRepliesToCommit)
    let answered = branch.process(.committed)
    #expect(answered.answer(to: 9) == .enqueued(IssuedTickets(day: 1, first: 2, last: 1)))
  }

  @Test("the first slice is refused when the whole request does not fit")
  func queueFullForSlices() {
    let branch = TestBranch(policy: limited(to: 3))
    let refused = branch.process(.enqueue(9, orders: [.deposit], total: 4, isLast: false))
    #expect(refused.answer(to: 9) == .refused(.queueFull(waiting: 0, limit: 3)))
    #expect(!branch.isTakingIn)
  }

  @Test("a total beyond the largest number is refused, and service continues")
  func absurdTotal() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    let refused = branch.process(.enqueue(9, orders: [.deposit], total: .max, isLast: false))
    #expect(
      refused.answer(to: 9) == .refused(.queueFull(waiting: 1, limit: branch.machine.policy.maxWaiting)))
  }

  @Test("customers at a window, delayed, or not yet on disk take up room in the queue")
  func whoCounts() throws {
    let branch = TestBranch(policy: limited(to: 3))
    branch.open(.deposit)
    branch.open(.loan)
    branch.arrive(.deposit, .loan)
    try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
    branch.ask(.loan)
    #expect(branch.ask(.deposit, as: 9).answer(to: 9) == .refused(.queueFull(waiting: 3, limit: 3)))
  }

  @Test("a bank that is closing accepts no customers")
  func draining() {
    for event in [QueueEvent.drain, .finish] {
      let branch = TestBranch()
      branch.process(event)
      #expect(branch.ask(.deposit, as: 9) == [.reply(9, .refused(.draining))])
      #expect(branch.machine.dayCounters.issued == 0)
    }
  }

  @Test("a request in progress when the bank starts to close is accepted to its end")
  func drainingBetweenSlices() {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.process(.enqueue(5, orders: [.deposit], total: 2, isLast: false))
    #expect(!branch.process(.drain).contains(.reportDrained))
    branch.process(.enqueue(5, orders: [.deposit], total: 2, isLast: true))
    #expect(branch.process(.committed).answer(to: 5) == .enqueued(IssuedTickets(day: 1, first: 1, last: 2)))
  }

  @Test("a full disk takes back unannounced tickets, and stages all other changes again")
  func diskFull() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    let served = try branch.answer(.deposit1)
    branch.ask(.deposit, .loan, as: 8)
    branch.ask(.loan, as: 9)
    let refused = branch.process(.commitRefused)
    #expect(refused.answer(to: 8) == .refused(.diskFull))
    #expect(refused.answer(to: 9) == .refused(.diskFull))
    #expect(refused.changes == served.changes, "the receipt is staged again, and no ticket is")
    #expect(refused.acknowledged == [])
    #expect(branch.machine.dayCounters.issued == 2)
    #expect(branch.isDiskFull)
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [1])
    #expect(!branch.isDiskFull)
  }

  @Test("what a full disk refused is staged again each time, until it is on disk")
  func diskFullAgain() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    let first = try branch.answer(.deposit1).changes
    #expect(branch.process(.commitRefused).changes == first)
    let second = try branch.answer(.deposit1).changes
    #expect(branch.process(.commitRefused).changes == first + second)
    #expect(branch.process(.committed).acknowledged.map(\.ticket) == [2])
    #expect(branch.process(.commitRefused).changes == [])
  }

  @Test(
    "on a full disk no customer is accepted, waiting ones are served, and numbers have no gap"
  )
  func jammed() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    branch.ask(.deposit)
    branch.process(.commitRefused)
    #expect(branch.ask(.deposit, as: 9) == [.reply(9, .refused(.diskFull))])
    #expect(try branch.answer(.deposit1).assigned == [2])
    branch.process(.committed)
    #expect(branch.arrive(.deposit).answers == [.enqueued(IssuedTickets(day: 1, first: 3, last: 3))])
  }

  @Test("a full disk in the middle of a request takes back the slices already staged")
  func diskFullBetweenSlices() {
    let branch = TestBranch()
    branch.process(.enqueue(5, orders: [.deposit, .loan], total: 3, isLast: false))
    let refused = branch.process(.commitRefused)
    #expect(refused.answer(to: 5) == .refused(.diskFull))
    #expect(!branch.isTakingIn)
    #expect(branch.machine.dayCounters.issued == 0)
    #expect(branch.machine.dayCounters.waitingInAll == 0)
  }

  @Test("while the disk is full every other change is refused too")
  func jammedOperator() {
    let branch = TestBranch()
    branch.arrive(.deposit)
    branch.process(.commitRefused)
    let events: [QueueEvent] = [
      .cancel(9, 1), .requeue(9, 1), .requeueDead(9), .pause(9, nil), .resume(9, .loan), .reset(9),
    ]
    for event in events { #expect(branch.process(event) == [.reply(9, .refused(.diskFull))]) }
  }
}
