// Histories in which user programs serve customers: there are some, everything that can happen does, and
// those that failed once pass.

import Simulator
import Testing

@Suite("Histories with foreign workers")
struct ExternalWorkerHistoryTests {
  /// 39: a worker at a window that uses frames gets no messages meant for tellers. 479: a customer's payload
  /// cannot be read while the disk is full. 465, 590, 686: half a frame, a receipt that was lost, a frame
  /// that is answered in a line.
  @Test("histories that failed once pass", arguments: [8, 39, 254, 465, 479, 590, 686] as [UInt64])
  func keepsPromises(seed: UInt64) {
    let outcome = Simulation.run(seed: seed)
    #expect(
      outcome.violation == nil,
      "\(outcome.violation.map(\.description) ?? ""); repeat with: scripts/simulate --seed \(seed) --trace")
    #expect(outcome == Simulation.run(seed: seed))
  }

  @Test("every fault of a foreign worker occurs")
  func everythingHappens() {
    var statistics = Statistics()
    for seed in 801...1_200 as ClosedRange<UInt64> { statistics += Simulation.run(seed: seed).statistics }
    let kinds: [FaultKind] = [
      .workerKilled, .workerHung, .workerStopped, .workerSentFalseAnswer, .workerSentGarbage, .workerLeft,
      .workerLate,
    ]
    for kind in kinds { #expect(statistics.count(of: kind) > 0, "no \(kind.name)") }
  }
}
