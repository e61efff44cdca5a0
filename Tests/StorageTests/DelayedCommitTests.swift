// The time at which a commit is on disk: at once in every store that is not set to answer later; and in the
// order of handing over, as the store in memory plays it.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("The result of a commit")
struct DelayedCommitTests {
  @Test("it is on disk when the store returns, and nothing is ever in flight", arguments: StoreKind.allCases)
  func atOnce(_ kind: StoreKind) throws {
    let branch = try StoreFixture(kind)
    try branch.arrive(.deposit)
    #expect(try branch.store.commit(branch.dayCounters, arriving: nil) == .onDisk)
    #expect(!branch.store.hasStagedChanges && branch.store.nextResult == nil)
    #expect(try branch.store.commit(branch.dayCounters, arriving: nil) == .onDisk, "nothing has changed")
    branch.store.awaitResults()
    #expect(try branch.store.takeResult().isNothing)
    try branch.crash()
    #expect(try branch.store.find(1) != nil)
  }

  /// A store that answers later, with three transactions in flight, of one customer each, and one that is
  /// staged.
  private func threeUnderway() throws -> MemoryStore {
    let store = MemoryStore()
    _ = try store.load(now: WallTime(milliseconds: 5))
    store.commitsAsynchronously = true
    for ticket in 1...3 as ClosedRange<TicketNumber> {
      try store.stage(.insert(Self.customer(ticket)))
      #expect(try store.commit(Self.dayCounters(issued: ticket), arriving: nil) == .underway)
    }
    try store.stage(.insert(Self.customer(4)))
    #expect(store.commits == 0 && store.hasStagedChanges)
    return store
  }

  private static func customer(_ ticket: TicketNumber) -> Customer {
    CustomerOrder(service: .deposit, priority: .regular, amount: 1, account: 1).customer(
      ticket: ticket, issuedAt: WallTime(milliseconds: 5))
  }

  private static func dayCounters(issued: TicketNumber) -> DayCounters {
    var dayCounters = DayCounters(day: 1, openedAt: WallTime(milliseconds: 5))
    dayCounters.issued = issued
    dayCounters.waiting[customer(1).line] = issued
    return dayCounters
  }

  private func present(_ store: MemoryStore) throws -> [TicketNumber] {
    try store.page(of: Self.customer(1).line, after: 0, limit: 9).map(\.ticket)
  }

  @Test("it shows what is in flight, and reports each once as on disk, in order")
  func inOrder() throws {
    let store = try threeUnderway()
    #expect(try present(store) == [1, 2, 3, 4])
    #expect(try store.takeResult().isNothing)
    store.completeCommits(2)
    #expect(try store.takeResult().isCommitted && store.commits == 1)
    #expect(try store.takeResult().isCommitted && store.commits == 2)
    #expect(try store.takeResult().isNothing && store.hasStagedChanges)
    store.awaitResults()
    #expect(try store.takeResult().isCommitted && store.underwayCount == 0)
    store.rollBack()
    #expect(try present(store) == [1, 2, 3] && !store.hasStagedChanges)
    #expect(try store.audit().problems == [])
  }

  @Test("a refusal applies to all that are not on disk")
  func refusal() throws {
    let store = try threeUnderway()
    store.completeCommits(2)
    #expect(try store.takeResult().isCommitted)
    store.fail(.commit, with: .diskFull(detail: "of this test"))
    #expect(throws: StoreError.self) { try store.takeResult() }
    #expect(try present(store) == [1] && !store.hasStagedChanges && store.underwayCount == 0)
    #expect(try store.audit().problems == [])
  }

  @Test("a crash leaves a prefix of what was in flight", arguments: 0...3)
  func crash(_ kept: Int) throws {
    let store = try threeUnderway()
    store.crash(keeping: kept)
    let stored = try store.load(now: WallTime(milliseconds: 9))
    #expect(stored.dayCounters.issued == Int64(kept))
    #expect(try present(store) == (0..<kept).map { Int64($0) + 1 })
    #expect(try store.audit().problems == [])
  }

  @Test("a copy starts from what is on disk, and changes nothing of it")
  func copies() throws {
    let store = try threeUnderway()
    store.crash(keeping: 2)
    _ = try store.load(now: WallTime(milliseconds: 9))
    let copy = MemoryStore(copyOf: store)
    try copy.stage(.insert(Self.customer(3)))
    try copy.commit(Self.dayCounters(issued: 3))
    #expect(try present(copy) == [1, 2, 3])
    #expect(try present(store) == [1, 2])
  }
}

extension QueueEvent? {
  fileprivate var isNothing: Bool { if case .none = self { true } else { false } }
  fileprivate var isCommitted: Bool { if case .committed? = self { true } else { false } }
}
