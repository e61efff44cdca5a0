// The number of lines, for customers of any priority.

import BankModel
import Testing

@testable import QueueCore

@Suite("Lines of any priority")
struct QueueLinesTests {
  private func branch(maxLines: Int) -> TestBranch {
    var policy = QueuePolicy()
    policy.maxLines = maxLines
    return TestBranch(policy: policy)
  }

  @Test("the lowest number is served first, and of one number the earliest customer")
  func order() throws {
    let branch = branch(maxLines: 9)
    branch.arrive(
      .deposit(Priority(7)), .deposit, .deposit(Priority(UInt32.max)), .deposit(.vvip), .deposit(Priority(7)),
      .deposit(.vip), .deposit(Priority(1)))
    var served = branch.open(.deposit).assigned
    for _ in 1..<7 { served += try branch.answer(.deposit1).assigned }
    #expect(served == [4, 7, 1, 5, 6, 2, 3])
  }

  @Test("the number of waiting priorities is bounded, grades aside; an empty line makes room")
  func limit() throws {
    let branch = branch(maxLines: 2)
    branch.arrive(.deposit(Priority(5)), .deposit(Priority(6)), .deposit, .deposit(.vip))
    #expect(branch.machine.refusal(ofLinesOf: [.deposit(Priority(5)), .loan, .deposit(.vvip)]) == nil)
    let another = CustomerOrder.deposit(Priority(7))
    #expect(branch.machine.refusal(ofLinesOf: [.deposit, another]) == .tooManyLines(limit: 2))
    #expect(branch.open(.deposit).assigned == [1])
    #expect(
      branch.machine.refusal(ofLinesOf: [another]) != nil, "a customer being served may have to come back")
    #expect(try branch.answer(.deposit1).assigned == [2])
    #expect(branch.machine.refusal(ofLinesOf: [another]) == nil)
    #expect(branch.machine.refusal(ofLinesOf: [another, .deposit(Priority(8))]) == .tooManyLines(limit: 2))
    branch.arrive(another, another)
    #expect(branch.tickets(.deposit, Priority(7)) == [5, 6])
    #expect(branch.machine.dayCounters.waiting.lines.count == 4)
    var served: [Int64] = []
    for _ in 1...4 { served += try branch.answer(.deposit1).assigned }
    #expect(served == [5, 6, 4, 3])
  }

  @Test("a dead letter returns to a line of its own, even at the limit of lines")
  func deadLetter() throws {
    let branch = branch(maxLines: 1)
    var policy = branch.machine.policy
    policy.maxCrashes = 1
    branch.adopt(policy)
    branch.arrive(.deposit(Priority(5)))
    branch.open(.deposit)
    branch.kill(.deposit1)
    branch.process(.committed)
    #expect(branch.machine.dayCounters.dead == 1)
    branch.arrive(.deposit(Priority(6)), .deposit(Priority(6)))
    let request = branch.request()
    branch.process(.requeue(request, 1))
    let dead = CustomerOrder.deposit(Priority(5)).customer(ticket: 1, issuedAt: branch.now.wall)
    branch.process(.found(request, ticket: 1, StoredCustomer(customer: dead, state: .dead, dueAt: nil)))
    branch.process(.committed)
    #expect(branch.tickets(.deposit, Priority(5)) == [1])
    #expect(branch.ready(.deposit1, generation: 2).assigned == [1])
    #expect(branch.machine.refusal(ofLinesOf: [.deposit(Priority(7))]) == .tooManyLines(limit: 1))
  }

  @Test("accepted slices of a large request count, and their place is not reused when they are taken back")
  func sliced() {
    let branch = branch(maxLines: 3)
    let request = branch.request()
    let (first, second) = (CustomerOrder.deposit(Priority(1)), CustomerOrder.deposit(Priority(2)))
    branch.process(.enqueue(request, orders: [first, second], total: 5, isLast: false, heldBack: 0))
    branch.process(.committed)
    #expect(branch.machine.refusal(ofLinesOf: [first, second, .deposit(Priority(3))]) == nil)
    let tooMany = [CustomerOrder.deposit(Priority(3)), .deposit(Priority(4))]
    #expect(branch.machine.refusal(ofLinesOf: tooMany) == .tooManyLines(limit: 3))
    branch.process(.enqueueAbandoned)
    #expect(branch.machine.refusal(ofLinesOf: tooMany) == nil)
  }

  @Test("a place is not reused while newcomers are not on disk, nor while a page is being read")
  func busyPlaces() throws {
    var policy = QueuePolicy()
    (policy.maxLines, policy.lineCapacity, policy.lineLowWater) = (1, 2, 2)
    let branch = TestBranch(policy: policy)
    let (mine, other) = (CustomerOrder.deposit(Priority(3)), CustomerOrder.deposit(Priority(4)))
    branch.ask(mine)
    #expect(branch.machine.refusal(ofLinesOf: [other]) != nil)
    branch.process(.committed)
    branch.arrive(mine, mine)
    let opened = branch.open(.deposit, windows: 2)
    #expect(opened.assigned == [1, 2])
    let page = try #require(opened.pages.first)
    #expect(page.line.priority == Priority(3))
    #expect(branch.machine.refusal(ofLinesOf: [other]) != nil)
    branch.process(.pageLoaded(page.line, [mine.customer(ticket: 3, issuedAt: branch.now.wall)]))
    #expect(try branch.answer(.deposit1).assigned == [3])
    #expect(branch.machine.refusal(ofLinesOf: [other]) != nil)
    for window in [Window.deposit1, .deposit2] { #expect(try branch.answer(window).assigned == []) }
    #expect(branch.machine.refusal(ofLinesOf: [other]) == nil)
  }

  @Test("a line beyond the 32nd keeps few customers in memory, and reads more when these run low")
  func smallLines() throws {
    let branch = branch(maxLines: 99)
    for number in 1...40 as ClosedRange<UInt32> { branch.arrive(.deposit(Priority(number))) }
    for _ in 1..<100 { branch.arrive(.deposit(Priority(1)), .deposit(Priority(40))) }
    #expect(branch.tickets(.deposit, Priority(1)).count == 100)
    #expect(branch.tickets(.deposit, Priority(40)).count == 32)
    var page = branch.open(.deposit).pages.first
    while page == nil, branch.lease(at: .deposit1) != nil {
      page = try branch.answer(.deposit1).pages.first
      branch.process(.committed)
    }
    #expect(page?.line.priority == Priority(40) && page?.limit == 32 - 7)
    #expect(branch.tickets(.deposit, Priority(40)).count == 7)
  }

  @Test("a hundred thousand priorities, one after the other, take the memory of a few")
  func oneAfterTheOther() throws {
    let branch = branch(maxLines: 50)
    branch.open(.deposit)
    for number in 0..<100_000 as Range<UInt32> {
      let order = CustomerOrder.deposit(Priority(number &* 2_654_435_761))
      try #require(branch.machine.refusal(ofLinesOf: [order]) == nil)
      branch.arrive(order)
      if branch.lease(at: .deposit1) != nil { try branch.answer(.deposit1) }
      branch.process(.committed)
    }
    #expect(branch.machine.dayCounters.waiting.lines.count <= 53)
  }
}
