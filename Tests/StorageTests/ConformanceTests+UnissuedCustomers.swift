// Guarantees of every store about a request that is larger than a transaction: it takes effect as a whole,
// with the counters that have issued its numbers, and until then it is invisible.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

extension ConformanceTests {
  /// A request of which this number of slices of ten have come, after a gap of twenty numbers.
  func request(_ slices: Int, at branch: StoreFixture) -> InProgressEnqueue? {
    var machine = QueueMachine(
      StoredQueue(dayCounters: branch.dayCounters, delayed: []), policy: QueuePolicy(),
      at: Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: branch.now))
    var effects: [QueueEffect] = []
    for slice in 0..<slices {
      let order = CustomerOrder(service: .deposit, priority: .regular, amount: 5, account: 7)
      machine.apply(
        .enqueue(
          1, orders: Array(repeating: order, count: 10), total: 50, isLast: false,
          heldBack: slice < 3 ? 20 : 10),
        at: Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: branch.now), into: &effects)
    }
    return machine.arriving
  }

  /// Customers stored under numbers that the counters do not contain.
  func arrive(_ numbers: ClosedRange<TicketNumber>, at branch: StoreFixture) throws {
    for ticket in numbers {
      let customer = Customer(
        ticket: ticket, service: ticket % 2 == 0 ? .loan : .deposit, priority: .regular, amount: 5,
        account: 7,
        issuedAt: branch.now)
      try branch.store.stage(.insert(customer))
      try branch.store.stage(.remember(key: "of \(ticket)", day: 1, first: ticket, last: ticket))
    }
  }

  @Test("a request that is committed in parts takes effect with its counters", arguments: StoreKind.allCases)
  func arrivalsComplete(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let first = try branch.arrive(.deposit)
    try branch.commit()
    // Its numbers start after a gap.
    let arriving = try #require(request(3, at: branch))
    #expect((arriving.first, arriving.next) == (22, 52))
    try arrive(22...51, at: branch)
    // Other changes are part of the same transactions, and customers come beside it.
    try branch.finish(first)
    try branch.store.commit(branch.dayCounters, arriving: arriving)
    #expect(branch.store.firstUnissuedTicket == 22)
    #expect(try branch.store.audit().problems == [])
    #expect(try branch.store.audit().served == 1)
    try branch.arrive(.loan)
    let further = try #require(request(4, at: branch))
    try arrive(further.first...21, at: branch)
    try branch.store.commit(branch.dayCounters, arriving: further)
    #expect(branch.store.firstUnissuedTicket == further.first)
    #expect(try branch.store.find(2) != nil)
    #expect(try branch.store.find(further.first) == nil)
    #expect(try branch.store.customers(in: .waiting, after: nil, limit: 99).map(\.customer.ticket) == [2])
    #expect(try branch.store.countUnfinished(1...99) == 1)
    #expect(try branch.store.audit().problems == [])
    // The last slice fills the gap, and the counters follow.
    try arrive(3...further.first - 1, at: branch)
    branch.dayCounters.issued = 51
    for line in Line.graded where line.priority == .regular && line.service != .juice {
      branch.dayCounters.waiting[line] += line.service == .loan ? 24 : 25
    }
    try branch.commit()
    #expect(!branch.store.hasUnissuedCustomers)
    try branch.crash()
    #expect(!branch.store.hasUnissuedCustomers)
    let report = try branch.store.audit()
    #expect((report.problems, report.issued, report.waiting) == ([], 51, 50))
  }

  @Test(
    "an incomplete request is found after a crash and leaves nothing, while others come",
    arguments: StoreKind.allCases)
  func arrivalsWithdrawn(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    let kept = try branch.arrive(.loan)
    try branch.commit()
    try arrive(22...51, at: branch)
    try branch.store.commit(branch.dayCounters, arriving: request(3, at: branch))
    try branch.crash()
    #expect(branch.store.firstUnissuedTicket == 22)
    #expect(try branch.store.audit().problems == [])
    try branch.store.removeUnissuedCustomers(limit: 10)
    branch.store.rollBack()
    let beside = try branch.arrive(.deposit)
    try branch.commit()
    #expect(branch.store.firstUnissuedTicket == 22)
    for _ in 0..<10 where branch.store.hasUnissuedCustomers {
      try branch.store.removeUnissuedCustomers(limit: 10)
      try branch.commit()
    }
    #expect(!branch.store.hasUnissuedCustomers)
    #expect(try (branch.store.find(22), branch.store.find(51)) == (nil, nil))
    #expect(try branch.store.tickets(forKey: "of 22") == nil)
    #expect(try branch.store.find(kept.ticket) != nil && branch.store.find(beside.ticket) != nil)
    #expect(beside.ticket == 2)
    try branch.crash()
    #expect(!branch.store.hasUnissuedCustomers)
    #expect(try branch.store.audit().problems == [])
  }

  @Test(
    "a day ends without customers of an incomplete request, who are removed in pieces",
    arguments: StoreKind.allCases)
  func arrivalsAtTheEnd(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.arrive(.loan)
    try branch.commit()
    try arrive(22...8_021, at: branch)
    try branch.store.commit(branch.dayCounters, arriving: request(3, at: branch))
    try branch.cancelEveryone()
    var pieces = 0
    while branch.store.resetProgress != nil {
      try branch.store.continueReset()
      pieces += 1
    }
    if kind == .sqlite { #expect(pieces > 4) }
    branch.startNextDay()
    try branch.commit()
    #expect(!branch.store.hasUnissuedCustomers)
    let report = try branch.store.audit()
    #expect((report.problems, report.cancelled, report.issued) == ([], 1, 1))
  }
}
