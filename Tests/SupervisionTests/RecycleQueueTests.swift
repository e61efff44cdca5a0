// The time at which a worker is recycled, and the order of several.

import Supervision
import Testing

@Suite("Recycling") struct RecycleQueueTests {
  @Test("no worker is replaced unless configured")
  func off() {
    let policy = RecyclePolicy()
    #expect(policy.isOff)
    #expect(policy.reason(customers: .max, residentBytes: .max) == nil)
  }

  @Test("after a number of customers, or above a size of memory")
  func reasons() {
    let policy = RecyclePolicy(afterCustomers: 100, aboveBytes: 1_000)
    #expect(!policy.isOff)
    #expect(policy.reason(customers: 99, residentBytes: 1_000) == nil)
    #expect(policy.reason(customers: 100, residentBytes: nil) == .customers)
    #expect(policy.reason(customers: 1, residentBytes: 1_001) == .memory)
    #expect(
      policy.reason(customers: 1, residentBytes: nil) == nil, "a worker without a measurement is not judged")
    #expect(RecyclePolicy(aboveBytes: 5).reason(customers: .max, residentBytes: 5) == nil)
    #expect(RecyclePolicy(afterCustomers: 5).reason(customers: 4, residentBytes: .max) == nil)
  }

  @Test("one at a time, the others in the order in which they became due, each once")
  func turns() {
    var recycling = RecycleQueue<String>()
    let asked = ["a", "a", "b", "c", "b"].map { recycling.requestTurn(of: $0) }
    #expect(asked == [true, false, false, false, false])
    #expect(recycling.current == "a")
    var next = recycling.finishCurrent()
    #expect(next == "b")
    let again = recycling.requestTurn(of: "a")
    #expect(!again)
    next = recycling.finishCurrent()
    #expect(next == "c")
    next = recycling.finishCurrent()
    #expect(next == "a")
    next = recycling.finishCurrent()
    #expect(next == nil && recycling.current == nil)
    let free = recycling.requestTurn(of: "b")
    #expect(free)
  }
}
