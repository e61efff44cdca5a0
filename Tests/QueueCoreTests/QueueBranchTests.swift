// A queue that is one of several branches. It counts only the customers it has claimed, claims pages that may
// be empty, and assigns only while its lease holds. When the lease is lost it has no customers any more.

import BankModel
import QueueCore
import Testing
import Time

@testable import QueueCore

@Suite struct QueueBranchTests {
  private static let regular = Line(service: .deposit, priority: .regular)
  private static let vip = Line(service: .deposit, priority: .vip)

  /// A branch of a shared database, with a lease that holds for ten seconds.
  private func branch(page: Int = 4, _ change: (inout QueuePolicy) -> Void = { _ in }) -> TestBranch {
    var policy = QueuePolicy().sharing(page: page)
    change(&policy)
    let branch = TestBranch(policy: policy)
    branch.process(.leaseExtended(until: branch.now.monotonic + .seconds(10)))
    return branch
  }

  private func customers(_ tickets: ClosedRange<TicketNumber>, _ priority: Priority = .regular) -> [Customer]
  {
    tickets.map { .numbered($0, priority) }
  }

  @Test("a customer who may wait is claimed when a window is free, and not before")
  func claims() {
    let branch = branch()
    #expect(branch.process(.lineMayHaveCustomers(Self.regular)) == [])
    let wanted = branch.open(.deposit)
    #expect(wanted.last == .loadPage(Self.regular, after: 0, limit: 4))
    // Nothing is requested twice.
    #expect(branch.process(.lineMayHaveCustomers(Self.regular)) == [])
    let got = branch.process(.pageLoaded(Self.regular, customers(3...5)))
    #expect(got.assigned == [3])
    #expect(branch.machine.dayCounters.issued == 3 && branch.machine.waitingCount == 2)
  }

  @Test("for an outside worker pages are claimed, and it gets the customers in them")
  func outside() {
    let branch = branch { $0.prefetch = 2 }
    branch.process(.lineMayHaveCustomers(Self.regular))
    let came = branch.process(.workerConnected([.deposit], number: 1, 77, pid: 9, inFlight: 2))
    #expect(came.last == .loadPage(Self.regular, after: 0, limit: 4))
    #expect(branch.process(.pageLoaded(Self.regular, customers(3...5))).assigned == [3, 4])
  }

  @Test(
    "a customer taken out by another branch leaves line, window and worker, without a receipt")
  func cancelledElsewhere() {
    let branch = branch { $0.prefetch = 2 }
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...6)))
    #expect(branch.machine.serving == 2)
    #expect(branch.process(.cancelledElsewhere(5)) == [], "no worker has started it")
    #expect(branch.tickets(.deposit) == [3, 4, 6])
    for ticket: TicketNumber in [2, 1] {
      let effects = branch.process(.cancelledElsewhere(ticket))
      #expect(
        effects.contains {
          if case .recall(.deposit1, let lease) = $0 { lease.ticket == ticket } else { false }
        },
        "\(effects)")
      #expect(!effects.contains { if case .stage(.finish) = $0 { true } else { false } })
    }
    #expect(branch.process(.cancelledElsewhere(77)) == [])
    #expect(branch.machine.dayCounters.cancelled == 0 && branch.machine.dayCounters.served == 0)
  }

  @Test("an empty page is not an error, and is not requested again before a customer may wait")
  func empty() throws {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    #expect(branch.process(.pageLoaded(Self.regular, [])) == [])
    #expect(branch.pass(.seconds(1)) == [])
    #expect(
      branch.process(.lineMayHaveCustomers(Self.regular)) == [.loadPage(Self.regular, after: 0, limit: 4)])
  }

  @Test("the next page is claimed when half of one is left; with pages of one, when a window is free")
  func pages() throws {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...4)))
    #expect(try branch.answer(.deposit1).pageCount == 0)
    #expect(try branch.answer(.deposit1).pageCount == 1)

    let strict = self.branch(page: 1)
    strict.process(.lineMayHaveCustomers(Self.regular))
    strict.open(.deposit)
    #expect(strict.process(.pageLoaded(Self.regular, customers(1...1))).pageCount == 0)
    #expect(try strict.answer(.deposit1).pageCount == 1)
  }

  @Test("a customer returned by another branch comes before those who are already here")
  func givenBack() {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(7...9)))
    branch.process(.pageLoaded(Self.regular, customers(2...3)))
    #expect(branch.tickets(.deposit) == [2, 3, 8, 9])
  }

  @Test("a lower priority waits until it is known that no customer of a higher one exists")
  func priorities() {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.process(.lineMayHaveCustomers(Self.vip))
    let asked = branch.open(.deposit)
    #expect(asked.last == .loadPage(Self.vip, after: 0, limit: 4))
    #expect(branch.process(.pageLoaded(Self.vip, [])).last == .loadPage(Self.regular, after: 0, limit: 4))
  }

  @Test("no customer is assigned after the end of the lease, until it holds again")
  func lease() throws {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...3)))
    branch.passQuietly(.seconds(10))
    #expect(try branch.answer(.deposit1).assigned == [])
    #expect(branch.process(.leaseExtended(until: branch.now.monotonic + .seconds(4))).assigned == [2])
  }

  @Test("no customer is assigned before the first lease is granted")
  func noLease() {
    let branch = TestBranch(policy: QueuePolicy().sharing(page: 4))
    branch.process(.lineMayHaveCustomers(Self.regular))
    #expect(branch.open(.deposit).pageCount == 0)
  }

  @Test("a delayed or dead customer leaves the branch, and is in none of its counts")
  func leaves() throws {
    let branch = branch {
      $0.maxFailures = 2
      $0.maxCrashes = 1
    }
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...3)))
    let failed = try branch.answer(.deposit1, .failed(WorkFailure("no", .again)))
    #expect(failed.changes.contains { if case .postpone = $0 { true } else { false } })
    #expect(branch.machine.dayCounters.issued == 2 && branch.machine.dayCounters.delayed == 0)
    #expect(branch.machine.nextRetry == nil)
    branch.kill(.deposit1)
    #expect(branch.machine.dayCounters.issued == 1 && branch.machine.dayCounters.dead == 0)
  }

  @Test("work for a customer who was finished elsewhere is not counted")
  func withoutEffect() throws {
    let branch = branch()
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...3)))
    _ = try branch.answer(.deposit1)
    branch.process(.sealed)
    _ = try branch.answer(.deposit1)
    let told = branch.process(.withoutEffect([1, 2]))
    // The second one is a part of the next transaction.
    #expect(told.rejectedCompletions == [1])
    #expect(branch.machine.dayCounters.served == 1 && branch.machine.dayCounters.issued == 2)
    branch.process(.committed)
    branch.process(.committed)
  }

  @Test("when the lease is lost all customers are recalled, and no answer is waited for")
  func lost() throws {
    let branch = branch { $0.prefetch = 2 }
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...4)))
    _ = try branch.answer(.deposit1)
    branch.process(.sealed)
    branch.process(.cancel(9, 4))
    let lost = branch.process(.claimsLost)
    #expect(lost.recalls == [3, 2])
    #expect(lost.answer(to: 9) == .refused(.leaseLost))
    #expect(branch.machine.dayCounters.issued == 0 && branch.machine.dayCounters.served == 0)
    #expect(
      !branch.machine.hasUncommittedChanges && branch.machine.serving == 0 && branch.machine.waitingCount == 0
    )
    // The teller's answers about them change nothing.
    for ticket in [2, 3] as [TicketNumber] {
      let lease = Lease(ticket: ticket, attempt: 1, generation: 1)
      #expect(branch.process(.tellerAnswered(.deposit1, 1, lease, .done)).changes == [])
    }
    // The teller is free, and with the next lease it is served again.
    #expect(branch.process(.leaseExtended(until: branch.now.monotonic + .seconds(4))).pageCount == 1)
  }

  @Test("pauses belong to the branch, also when its lease is lost")
  func pause() {
    let branch = branch()
    branch.process(.pause(7, .deposit))
    #expect(branch.process(.claimsLost).answer(to: 7) == .done)
    #expect(branch.machine.numbers(of: .deposit).isPaused)
  }

  @Test("a customer whose start was not yet reported to a worker is not recalled from one")
  func starts() {
    let branch = branch { $0.maxAttempts = 3 }
    branch.process(.lineMayHaveCustomers(Self.regular))
    branch.open(.deposit)
    branch.process(.pageLoaded(Self.regular, customers(1...2)))
    #expect(branch.machine.serving == 1)
    let lost = branch.process(.claimsLost)
    #expect(lost.recalls == [] && lost.changes == [])
    #expect(branch.machine.serving == 0)
  }

  @Test("what is not claimed by this branch is forwarded to the database; a reset is not done")
  func forwards() {
    let branch = branch()
    #expect(branch.process(.cancel(1, 5)) == [.forward(1, .cancel(5))])
    #expect(branch.process(.requeue(2, 5)) == [.forward(2, .requeue(5))])
    #expect(branch.process(.requeueDead(3)) == [.forward(3, .requeueDead)])
    #expect(branch.process(.reset(4)).answer(to: 4) == .refused(.unsupportedWithSharedStore))
  }

  @Test("a drain waits for all customers who can be served here, at any branch")
  func drain() throws {
    let branch = branch()
    branch.open(.deposit)
    branch.process(.openCountsChanged([2, 1, 0]))
    #expect(!branch.process(.drain).contains(.reportDrained))
    // No window here can serve a loan.
    #expect(branch.process(.openCountsChanged([0, 1, 0])).contains(.reportDrained))
  }
}

extension [QueueEffect] {
  fileprivate var pageCount: Int { count { if case .loadPage = $0 { true } else { false } } }
  fileprivate var recalls: [TicketNumber] {
    compactMap { if case .recall(_, let lease) = $0 { lease.ticket } else { nil } }
  }
  fileprivate var rejectedCompletions: [TicketNumber] {
    compactMap { if case .logRejectedCompletion(let customer, _) = $0 { customer.ticket } else { nil } }
  }
}
