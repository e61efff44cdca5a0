// Random faults of branches that share a bank: the same for the same seed, all within the time, and none that
// is not allowed.
import Testing
import Time

@testable import bank_chaos

@Suite("The plan of chaos over branches")
struct SharedPlanTests {
  private func steps(
    _ seed: UInt64, _ faults: [SharedFault] = SharedFault.allCases, lasts: TimeSpan = .minutes(1)
  ) -> [SharedPlan.Step] {
    var plan = SharedPlan(seed: seed, faults: faults, every: .seconds(1), lasts: lasts)
    return (0..<500).map { _ in plan.next() }
  }

  @Test("The same seed gives the same steps, another one others")
  func seeded() {
    #expect(steps(7) == steps(7))
    #expect(steps(7) != steps(8))
  }

  @Test("All faults are within the time, with pauses around the mean, and for the given duration")
  func complete() {
    let steps = steps(1)
    #expect(Set(steps.map(\.fault)) == Set(SharedFault.allCases))
    let pauses = steps.reduce(TimeSpan.zero) { $0 + $1.after }.milliseconds / 500
    #expect((850...1_150).contains(pauses), "\(pauses)")
    // A lease is four seconds long.
    #expect(
      steps.filter { $0.fault == .zombie }.allSatisfy { $0.length > .seconds(4) && $0.length < .seconds(10) })
    let partitions = steps.filter { $0.fault == .partition }.map(\.length)
    #expect(partitions.contains { $0 < .seconds(4) } && partitions.contains { $0 > .seconds(4) })
    #expect(partitions.allSatisfy { $0 >= .seconds(2) && $0 <= .seconds(15) })
  }

  @Test("If there is time some branches are suspended for a minute")
  func long() {
    let lengths = steps(1, lasts: .minutes(2)).filter { $0.fault == .zombie }.map(\.length)
    #expect(lengths.contains(.minutes(1)) && lengths.contains { $0 < .seconds(10) })
  }

  @Test("A fault that was not chosen does not occur")
  func chosen() {
    let faults = SharedFault.allCases.filter { !$0.needsScratch }
    #expect(faults == [.teller, .coordinator, .branch, .session, .zombie])
    #expect(Set(steps(3, faults).map(\.fault)) == Set(faults))
  }
}
