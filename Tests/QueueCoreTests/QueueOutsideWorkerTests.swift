// Outside workers, as the queue sees them over all their services: which customer is to blame when a worker
// is lost, which customers a worker may get, and that no lease is given twice.

import BankModel
@testable import QueueCore
import Testing

@Suite("Outside workers") struct QueueOutsideWorkerTests {
  private static let mail = Service(number: 4)
  private static let fax = Service(number: 5)
  private let atMail = Window.outside(mail, number: 1)
  private let atFax = Window.outside(fax, number: 1)

  private func branch(_ change: (inout QueuePolicy) -> Void = { _ in }) -> TestBranch {
    var policy = QueuePolicy()
    policy.prefetch = Limits.customersPerWorker
    change(&policy)
    return TestBranch(policy: policy)
  }

  private func arrive(_ service: Service, _ count: Int = 1, at branch: TestBranch) -> [QueueEffect] {
    let orders = (0..<count).map { _ in
      CustomerOrder(service: service, priority: .regular, amount: 0, account: 0)
    }
    return branch.process(.enqueue(branch.request(), orders: orders, total: Int64(count), isLast: true))
      + branch.process(.committed)
  }

  private func lease(_ ticket: TicketNumber, attempt: Int32 = 1, _ generation: Generation = 77) -> Lease {
    Lease(ticket: ticket, attempt: attempt, generation: generation)
  }

  @Test("a lost worker with several customers makes no dead letter, and each of them is then served alone")
  func besideOverServices() {
    let branch = branch { $0.maxCrashes = 1 }
    branch.process(.workerConnected([Self.mail, Self.fax], number: 1, 77, pid: 9, inFlight: 4))
    _ = arrive(Self.mail, at: branch) + arrive(Self.fax, at: branch)
    let gone = branch.process(.workerDisconnected(77))
    #expect(gone.attempts.map(\.ticket).sorted() == [1, 2] && gone.dead.isEmpty)
    #expect(
      branch.process(.workerConnected([Self.mail, Self.fax], number: 1, 78, pid: 9, inFlight: 4)).assigned
        == [1])
    #expect(branch.process(.workerDisconnected(78)).dead == [1], "now it was alone")
  }

  @Test("leases of one worker that run out together make no dead letter either")
  func expiredOverServices() {
    let branch = branch { $0.maxCrashes = 1 }
    branch.process(.workerConnected([Self.mail, Self.fax], number: 1, 77, pid: 9, inFlight: 4))
    _ = arrive(Self.mail, at: branch) + arrive(Self.fax, at: branch)
    let expired = branch.pass(.seconds(11))
    #expect(expired.attempts.map(\.end) == [.leaseExpired, .leaseExpired] && expired.dead.isEmpty)
  }

  @Test("a customer served beside others does not become a dead letter by a later failure")
  func failureAfterwards() {
    let branch = branch { ($0.maxCrashes, $0.maxFailures) = (1, 3) }
    branch.process(.workerConnected([Self.mail], number: 1, 77, pid: 9, inFlight: 2))
    _ = arrive(Self.mail, 2, at: branch)
    branch.process(.workerDisconnected(77))
    branch.process(.workerConnected([Self.mail], number: 1, 78, pid: 9, inFlight: 2))
    let failed = branch.process(
      .tellerAnswered(atMail, 78, lease(1, attempt: 2, 78), .failed(WorkFailure("no paper"))))
    #expect(failed.attempts.map(\.end) == [.failed] && failed.dead.isEmpty)
  }

  @Test("a worker that never returns a recalled customer does not block the line")
  func neverGivenBack() {
    let branch = branch()
    branch.process(.workerConnected([Self.mail], number: 1, 77, pid: 9, inFlight: 4))
    _ = arrive(Self.mail, 2, at: branch)
    // The first customer's worker is silent; the second one's makes progress.
    branch.pass(.seconds(6))
    branch.process(.tellerProgressed(atMail, 77, lease(2)))
    branch.pass(.seconds(5))
    let next = branch.process(.tellerAnswered(atMail, 77, lease(2), .done))
    #expect(next.assigned == [1], "no other customer is beside it")
    // A worker with free capacity gets it.
    branch.pass(.seconds(11))
    branch.process(.workerConnected([Self.mail], number: 2, 78, pid: 10, inFlight: 1))
    #expect(
      branch.lease(at: .outside(Self.mail, number: 2))?.ticket == 1 || branch.lease(at: atMail)?.ticket == 1)
  }

  @Test("after a reset no customer is assigned under a lease that was not returned")
  func sameLeaseAfterReset() {
    let branch = branch()
    branch.process(.workerConnected([Self.mail, Self.fax], number: 1, 77, pid: 9, inFlight: 4))
    _ = arrive(Self.mail, at: branch)
    branch.process(.reset(branch.request()))
    branch.process(.committed)
    #expect(arrive(Self.fax, at: branch).assigned == [], "ticket 1, attempt 1, once more")
    let back = branch.process(.tellerAnswered(atMail, 77, lease(1), .done))
    #expect(back.receipts.isEmpty && back.assigned == [1])
    #expect(branch.process(.tellerAnswered(atFax, 77, lease(1), .done)).receipts.map(\.day) == [2])
  }

  @Test("a window with a recalled customer must answer before it gets customers of a new day")
  func sameLeaseAtAWindow() {
    let branch = branch()
    let window = Window(service: Self.mail, place: 1)
    branch.process(.scale(Self.mail, windows: 1))
    branch.process(.workerReady(window, 1, pid: 100, inFlight: 2))
    _ = arrive(Self.mail, 2, at: branch)
    branch.process(.cancel(branch.request(), 1))
    branch.process(.committed)
    branch.process(.reset(branch.request()))
    branch.process(.committed)
    _ = arrive(Self.mail, at: branch)
    #expect(branch.process(.tellerAnswered(window, 1, lease(2, 1), .returned)).assigned == [])
    #expect(branch.process(.tellerAnswered(window, 1, lease(1, 1), .returned)).assigned == [1])
  }
}
