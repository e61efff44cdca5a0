// Pauses with jitter, so that customers who failed together do not come back together: spread over their
// bounds, and the same for the same history.

import BankModel
import QueueCore
import Testing
import Time

@Suite struct QueueJitterTests {
  @Test(
    "a pause varies by no more than its jitter, over all of that range, and the same every time")
  func jitter() {
    var rules = ServicePolicy()
    (rules.retryInitialDelay, rules.retryMaxDelay) = (.seconds(10), .seconds(20))
    func pause(_ ticket: TicketNumber, _ day: BusinessDay = 1, _ attempt: Int32 = 1) -> TimeSpan {
      rules.pause(afterFailures: attempt, of: ticket, on: day, attempt: attempt)
    }
    #expect((1...100).allSatisfy { pause($0) == .seconds(10) }, "without jitter")
    rules.retryJitter = 250
    let pauses = (1...1_000).map { pause($0) }
    #expect(pauses == (1...1_000).map { pause($0) })
    #expect(pauses.allSatisfy { (TimeSpan.milliseconds(7_500)...TimeSpan.milliseconds(12_500)).contains($0) })
    // Each tenth of the width has about a tenth of them.
    for tenth in 0..<10 {
      let from = TimeSpan.milliseconds(7_500 + 500 * Int64(tenth))
      let count = pauses.count { from <= $0 && $0 < from + .milliseconds(500) }
      #expect((60...140).contains(count), "\(tenth): \(count)")
    }
    #expect(Set(pauses).count == pauses.count, "no two are equal")
    #expect(Set((1...100).map { pause(7, $0) }).count == 100 && pause(7, 1, 2) != pause(7, 2, 1))
    #expect((1...9).allSatisfy { pause($0, 1, 9) <= .seconds(25) && pause($0, 1, 9) >= .seconds(15) })
    rules.retryJitter = 1_000
    #expect((1...1_000).allSatisfy { (TimeSpan.zero...TimeSpan.seconds(20)).contains(pause($0)) })
    (rules.retryInitialDelay, rules.retryMaxDelay) = (.zero, .zero)
    #expect(pause(1) == .zero)
  }

  @Test("a failed customer is delayed by the pause with its jitter, and a restart does not cut it")
  func jitterOfCustomer() throws {
    var policy = QueuePolicy()
    (policy.retryInitialDelay, policy.retryMaxDelay, policy.retryJitter) = (.seconds(10), .seconds(10), 500)
    let branch = TestBranch(policy: policy)
    branch.open(.deposit)
    branch.arrive(.deposit, .deposit, .deposit)
    for ticket in TicketNumber(1)...3 {
      let before = branch.now
      let failed = try branch.answer(.deposit1, .failed(WorkFailure("no pen")))
      let due = failed.changes.compactMap {
        if case .postpone(let who, let due) = $0 { (who.ticket, due) } else { nil }
      }
      let pause = policy.common.pause(afterFailures: 1, of: ticket, on: 1, attempt: 1)
      #expect(due.map(\.0) == [ticket])
      #expect(due.map(\.1) == [WallTime(milliseconds: before.wall.milliseconds + pause.milliseconds)])
    }
  }
}
