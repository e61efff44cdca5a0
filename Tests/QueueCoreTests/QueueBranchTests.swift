// A queue that is one of several branches: it counts who has come into its hands, claims by pages that may be empty, hands out
// only while its lease holds, and has nobody any more when that is lost.

import BankModel
import QueueCore
import Testing
import Time

@testable import QueueCore

@Suite struct QueueBranchTests {
  private static let regular = Line(service: .deposit, priority: .regular)
  private static let vip = Line(service: .deposit, priority: .vip)

  /// A branch that shares its books, with a lease that holds for ten seconds.
  private func branch(page: Int = 4, _ change: (inout QueuePolicy) -> Void = { _ in }) -> TestBranch {
    var policy = QueuePolicy().sharing(page: page)
    change(&policy)
    let branch = TestBranch(policy: policy)
    branch.happen(.leaseHolds(until: branch.now.monotonic + .seconds(10)))
    return branch
  }

  private func customers(_ tickets: ClosedRange<TicketNumber>, _ priority: Priority = .regular) -> [Customer]
  {
    tickets.map { .numbered($0, priority) }
  }

  @Test("somebody who may wait is claimed when a window is free, and nobody before")
  func claims() {
    let branch = branch()
    #expect(branch.happen(.somebodyMayWait(Self.regular)) == [])
    let wanted = branch.open(.deposit)
    #expect(wanted.last == .loadPage(Self.regular, after: 0, limit: 4))
    // Nothing is asked twice.
    #expect(branch.happen(.somebodyMayWait(Self.regular)) == [])
    let got = branch.happen(.pageLoaded(Self.regular, customers(3...5)))
    #expect(got.assigned == [3])
    #expect(branch.machine.books.issued == 3 && branch.machine.waitingCount == 2)
  }

  @Test("a worker that has come by itself has pages claimed, and gets who is in them")
  func outside() {
    let branch = branch { $0.prefetch = 2 }
    branch.happen(.somebodyMayWait(Self.regular))
    let came = branch.happen(.workerCame([.deposit], number: 1, 77, pid: 9, inHand: 2))
    #expect(came.last == .loadPage(Self.regular, after: 0, limit: 4))
    #expect(branch.happen(.pageLoaded(Self.regular, customers(3...5))).assigned == [3, 4])
  }

  @Test(
    "whom another branch takes out leaves the line, the window and the hand of a worker, without a receipt")
  func takenOut() {
    let branch = branch { $0.prefetch = 2 }
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...6)))
    #expect(branch.machine.serving == 2)
    #expect(branch.happen(.takenOut(5)) == [], "nobody has begun it")
    #expect(branch.tickets(.deposit) == [3, 4, 6])
    for ticket: TicketNumber in [2, 1] {
      let effects = branch.happen(.takenOut(ticket))
      #expect(
        effects.contains {
          if case .recall(.deposit1, let lease) = $0 { lease.ticket == ticket } else { false }
        },
        "\(effects)")
      #expect(!effects.contains { if case .stage(.finish) = $0 { true } else { false } })
    }
    #expect(branch.happen(.takenOut(77)) == [])
    #expect(branch.machine.books.cancelled == 0 && branch.machine.books.served == 0)
  }

  @Test("an empty page is no error, and is not asked for again before somebody may wait")
  func empty() throws {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    #expect(branch.happen(.pageLoaded(Self.regular, [])) == [])
    #expect(branch.pass(.seconds(1)) == [])
    #expect(
      branch.happen(.somebodyMayWait(Self.regular)) == [.loadPage(Self.regular, after: 0, limit: 4)])
  }

  @Test("the next page is claimed when half of one is left; with pages of one, when a window is free")
  func pages() throws {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...4)))
    #expect(try branch.answer(.deposit1).pageCount == 0)
    #expect(try branch.answer(.deposit1).pageCount == 1)

    let strict = self.branch(page: 1)
    strict.happen(.somebodyMayWait(Self.regular))
    strict.open(.deposit)
    #expect(strict.happen(.pageLoaded(Self.regular, customers(1...1))).pageCount == 0)
    #expect(try strict.answer(.deposit1).pageCount == 1)
  }

  @Test("who was given back by another branch comes before those who are here")
  func givenBack() {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(7...9)))
    branch.happen(.pageLoaded(Self.regular, customers(2...3)))
    #expect(branch.tickets(.deposit) == [2, 3, 8, 9])
  }

  @Test("a lower priority waits until it is known that nobody of a higher one is there")
  func priorities() {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.happen(.somebodyMayWait(Self.vip))
    let asked = branch.open(.deposit)
    #expect(asked.last == .loadPage(Self.vip, after: 0, limit: 4))
    #expect(branch.happen(.pageLoaded(Self.vip, [])).last == .loadPage(Self.regular, after: 0, limit: 4))
  }

  @Test("nobody is handed out behind the end of the lease, until it holds again")
  func lease() throws {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...3)))
    branch.passQuietly(.seconds(10))
    #expect(try branch.answer(.deposit1).assigned == [])
    #expect(branch.happen(.leaseHolds(until: branch.now.monotonic + .seconds(4))).assigned == [2])
  }

  @Test("before the first word of a lease nobody is handed out")
  func noLease() {
    let branch = TestBranch(policy: QueuePolicy().sharing(page: 4))
    branch.happen(.somebodyMayWait(Self.regular))
    #expect(branch.open(.deposit).pageCount == 0)
  }

  @Test("who is put off or put aside leaves the branch, and stands in no count of it")
  func leaves() throws {
    let branch = branch {
      $0.maxFailures = 2
      $0.maxCrashes = 1
    }
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...3)))
    let failed = try branch.answer(.deposit1, .failed(WorkFailure("no", .again)))
    #expect(failed.changes.contains { if case .postpone = $0 { true } else { false } })
    #expect(branch.machine.books.issued == 2 && branch.machine.books.delayed == 0)
    #expect(branch.machine.nextRetry == nil)
    branch.kill(.deposit1)
    #expect(branch.machine.books.issued == 1 && branch.machine.books.dead == 0)
  }

  @Test("what was done with somebody who was finished elsewhere is counted no more")
  func withoutEffect() throws {
    let branch = branch()
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...3)))
    _ = try branch.answer(.deposit1)
    branch.happen(.sealed)
    _ = try branch.answer(.deposit1)
    let told = branch.happen(.withoutEffect([1, 2]))
    // The second one is a part of the next transaction.
    #expect(told.withoutEffect == [1])
    #expect(branch.machine.books.served == 1 && branch.machine.books.issued == 2)
    branch.happen(.committed)
    branch.happen(.committed)
  }

  @Test("when the lease is lost everybody is asked back, and nothing is waited for")
  func lost() throws {
    let branch = branch { $0.prefetch = 2 }
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...4)))
    _ = try branch.answer(.deposit1)
    branch.happen(.sealed)
    branch.happen(.cancel(9, 4))
    let lost = branch.happen(.branchLost)
    #expect(lost.recalls == [3, 2])
    #expect(lost.answer(to: 9) == .refused(.leaseLost))
    #expect(branch.machine.books.issued == 0 && branch.machine.books.served == 0)
    #expect(!branch.machine.isUnsettled && branch.machine.serving == 0 && branch.machine.waitingCount == 0)
    // What the teller says of them changes nothing.
    for ticket in [2, 3] as [TicketNumber] {
      let lease = Lease(ticket: ticket, attempt: 1, generation: 1)
      #expect(branch.happen(.tellerAnswered(.deposit1, 1, lease, .done)).changes == [])
    }
    // Its hands are free, and with the next lease it is served again.
    #expect(branch.happen(.leaseHolds(until: branch.now.monotonic + .seconds(4))).pageCount == 1)
  }

  @Test("to pause is the branch's own, also when its lease is lost")
  func pause() {
    let branch = branch()
    branch.happen(.pause(7, .deposit))
    #expect(branch.happen(.branchLost).answer(to: 7) == .done)
    #expect(branch.machine.numbers(of: .deposit).isPaused)
  }

  @Test("who was to begin and was told to nobody is asked back from nobody")
  func starts() {
    let branch = branch { $0.maxAttempts = 3 }
    branch.happen(.somebodyMayWait(Self.regular))
    branch.open(.deposit)
    branch.happen(.pageLoaded(Self.regular, customers(1...2)))
    #expect(branch.machine.serving == 1)
    let lost = branch.happen(.branchLost)
    #expect(lost.recalls == [] && lost.changes == [])
    #expect(branch.machine.serving == 0)
  }

  @Test("what is not in this branch's hands is forwarded to the books; a reset is not done")
  func forwards() {
    let branch = branch()
    #expect(branch.happen(.cancel(1, 5)) == [.forward(1, .cancel(5))])
    #expect(branch.happen(.requeue(2, 5)) == [.forward(2, .requeue(5))])
    #expect(branch.happen(.requeueDead(3)) == [.forward(3, .requeueDead)])
    #expect(branch.happen(.reset(4)).answer(to: 4) == .refused(.sharedBooks))
  }

  @Test("a drain of the bank waits for everybody who can be served here, wherever they are")
  func drain() throws {
    let branch = branch()
    branch.open(.deposit)
    branch.happen(.remains([2, 1, 0]))
    #expect(!branch.happen(.drain).contains(.reportDrained))
    // Nobody is here who could serve a loan.
    #expect(branch.happen(.remains([0, 1, 0])).contains(.reportDrained))
  }
}

extension [QueueEffect] {
  fileprivate var pageCount: Int { count { if case .loadPage = $0 { true } else { false } } }
  fileprivate var recalls: [TicketNumber] {
    compactMap { if case .recall(_, let lease) = $0 { lease.ticket } else { nil } }
  }
  fileprivate var withoutEffect: [TicketNumber] {
    compactMap { if case .reportWithoutEffect(let customer, _) = $0 { customer.ticket } else { nil } }
  }
}
