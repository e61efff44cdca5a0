// Serving: the order of customers, the record of a served customer, and the time of the teller's
// confirmation.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueServingTests {
  @Test("the higher grade is served first, and within a grade the smaller number")
  func gradeThenNumber() throws {
    let branch = TestBranch()
    branch.arrive(
      .deposit, .deposit(.vip), .deposit(.vvip), .deposit, .deposit(.vvip), .deposit(.vip))
    var order = branch.open(.deposit).assigned
    for _ in 0..<6 { order += try branch.answer(.deposit1).assigned }
    #expect(order == [3, 5, 2, 6, 1, 4])
  }

  @Test("a teller gets customers of its own service only")
  func ownService() throws {
    let branch = TestBranch()
    branch.open(.loan)
    branch.arrive(.deposit, .loan, .deposit)
    #expect(branch.lease(at: .loan1)?.ticket == 2)
    #expect(try branch.answer(.loan1).assigned == [])
    #expect(branch.tickets(.deposit) == [1, 3])
  }

  @Test("a loan at the head never holds up the deposits after it")
  func loanAtTheHead() throws {
    let branch = TestBranch()
    branch.arrive(.loan, .loan, .loan, .deposit, .deposit)
    #expect(branch.open(.deposit, windows: 2).assigned == [4, 5])
    #expect(branch.open(.loan).assigned == [1])
  }

  @Test("idle tellers are given customers from the first window on, one each")
  func oneEach() {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    let leases = branch.arrive(.deposit, .deposit, .deposit).leases
    #expect(leases[.deposit1]?.ticket == 1)
    #expect(leases[.deposit2]?.ticket == 2)
    #expect(branch.tickets(.deposit) == [3])
  }

  @Test("a completion assigns the next customer at once, without waiting for the disk")
  func nextWithoutCommit() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(try branch.answer(.deposit1).assigned == [2])
    #expect(try branch.answer(.deposit1).assigned == [3])
    #expect(branch.hasUncommittedChanges)
  }

  @Test("receipts are confirmed to a teller when they are on disk, only the last of them")
  func acknowledgement() throws {
    let branch = TestBranch()
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(try branch.answer(.deposit1).acknowledged == [])
    #expect(try branch.answer(.deposit1).acknowledged == [])
    let settled = branch.process(.committed)
    #expect(settled == [.acknowledge(.deposit1, Lease(ticket: 3, attempt: 1, generation: 1))])
    #expect(branch.process(.committed) == [])
  }

  @Test("a lost teller is sent nothing")
  func acknowledgementWithoutCustomer() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit)
    try branch.answer(.deposit1)
    branch.kill(.deposit1)
    branch.ready(.deposit1, generation: 2)
    #expect(branch.process(.committed).acknowledged == [])
    #expect(branch.machine.dayCounters.served == 1)
  }

  @Test("the receipt contains customer, window, process, time and attempt")
  func receipt() throws {
    let branch = TestBranch()
    branch.open(.loan)
    branch.arrive(.loan)
    branch.kill(.loan1)
    branch.pass(.seconds(2))
    branch.ready(.loan1, generation: 2)
    branch.pass(.seconds(3))
    let receipts = try branch.answer(.loan1).receipts
    let opening = TestBranch.opening.wall.milliseconds
    #expect(
      receipts == [
        Receipt(
          day: 1, ticket: 1, service: .loan, priority: .regular, outcome: .served, window: .loan1,
          generation: 2,
          pid: 201, attempts: 2, amount: 9_000, account: 8, issuedAt: WallTime(milliseconds: opening),
          startedAt: WallTime(milliseconds: opening + 2_000),
          finishedAt: WallTime(milliseconds: opening + 5_000))
      ])
  }

  @Test("the day's counters follow a customer from the line over the window to the receipt")
  func dayCounters() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit)
    #expect((branch.machine.waitingCount, branch.machine.serving) == (1, 1))
    #expect(branch.machine.dayCounters.waitingInAll == 2)
    try branch.answer(.deposit1)
    try branch.answer(.deposit1)
    #expect((branch.machine.waitingCount, branch.machine.serving) == (0, 0))
    #expect(branch.machine.dayCounters.served == 2)
    #expect(branch.machine.dayCounters.servedByService == [2, 0, 0])
    #expect(branch.machine.numbers(of: .deposit1)?.served == 2)
    #expect(branch.isIdle)
    #expect(branch.machine.dayCounters.isFinished)
  }

  @Test("subscribers see each start and each completion, in order")
  func announcements() throws {
    let branch = TestBranch()
    branch.open(.deposit)
    let startedAttempts = branch.arrive(.deposit, .deposit)
    let ended = try branch.answer(.deposit1)
    let seen = (startedAttempts + ended).compactMap { effect in
      if case .announce(let happening, _, let lease, _) = effect {
        "\(lease.ticket) \(happening)"
      } else {
        nil
      }
    }
    #expect(seen == ["1 started", "1 completed", "2 started"])
  }

  @Test("no customer is assigned while a commit is too large, and service resumes after it")
  func tooMuchUnsettled() throws {
    var policy = QueuePolicy()
    policy.maxUncommitted = 2
    let branch = TestBranch(policy: policy)
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(try branch.answer(.deposit1).assigned == [2])
    #expect(try branch.answer(.deposit1).assigned == [])
    #expect(branch.process(.committed).assigned == [3])
  }

  @Test("a page is requested when a line runs low, and its customers are assigned in order")
  func pages() throws {
    var policy = QueuePolicy()
    policy.lineCapacity = 2
    policy.lineLowWater = 1
    let branch = TestBranch(policy: policy)
    branch.arrive(.deposit, .deposit, .deposit, .deposit)
    #expect(branch.open(.deposit).pages.isEmpty)
    let second = try branch.answer(.deposit1)
    #expect(second.assigned == [2])
    let page = try #require(second.pages.first)
    #expect((page.line.priority, page.after, page.limit) == (.regular, 2, 2))
    #expect(try branch.answer(.deposit1).assigned == [], "the page has to come first")
    let stored = [3, 4].map { CustomerOrder.deposit.customer(ticket: $0, issuedAt: branch.now.wall) }
    #expect(branch.process(.pageLoaded(page.line, stored)).assigned == [3])
    #expect(try branch.answer(.deposit1).assigned == [4])
    try branch.answer(.deposit1)
    #expect(branch.isIdle)
  }

  @Test("a lower grade waits until the line of the higher one has been read")
  func pageOfHigherGrade() {
    var dayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall)
    dayCounters.issued = 2
    dayCounters.waiting[Line(service: .deposit, priority: .vip)] = 1
    dayCounters.waiting[Line(service: .deposit, priority: .regular)] = 1
    let branch = TestBranch(dayCounters: dayCounters)
    let opened = branch.open(.deposit)
    #expect(opened.assigned == [])
    #expect(opened.pages.map(\.line.priority) == [.vip])
    let vip = CustomerOrder.deposit(.vip).customer(ticket: 2, issuedAt: branch.now.wall)
    #expect(branch.process(.pageLoaded(vip.line, [vip])).assigned == [2])
  }

  @Test("a customer's place counts higher grades first, or names where in the store to count on")
  func places() {
    var policy = QueuePolicy()
    policy.lineCapacity = 2
    let branch = TestBranch(policy: policy)
    branch.arrive(.deposit, .deposit, .deposit, .deposit(.vip), .loan)
    func place(_ ticket: TicketNumber, _ order: CustomerOrder) -> QueueMachine.LinePosition {
      branch.machine.place(of: order.customer(ticket: ticket, issuedAt: branch.now.wall))
    }
    #expect(place(4, .deposit(.vip)) == .exactly(1))
    #expect(place(1, .deposit) == .exactly(2))
    #expect(place(2, .deposit) == .exactly(3))
    #expect(place(3, .deposit) == .beyondMemory(before: 3, cursor: 2))
    #expect(place(5, .loan) == .exactly(1))
  }
}
