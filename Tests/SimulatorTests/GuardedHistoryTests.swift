// Histories in which the bank is guarded: the production guardian starts the production coordinator, either
// is killed, stopped and stalled, and the guarantees of a guarded bank hold. A failure names its seed.

import Posix
import Testing

@testable import Simulator

@Suite("Histories of a guarded bank")
struct GuardedHistoryTests {
  /// The seeds below a number that choose a guarded bank.
  private static func guarded(below end: UInt64) -> [UInt64] {
    (1..<end).filter { GuardState(seed: $0).isEnabled }
  }

  @Test("one history in four is guarded")
  func share() { #expect((800...1_200).contains(Self.guarded(below: 4_000).count)) }

  @Test("a guarded bank keeps every promise, and every fault of its guardian occurs")
  func keepsPromises() {
    var statistics = Statistics()
    for seed in Self.guarded(below: 800) {
      let outcome = Simulation.run(seed: seed)
      #expect(
        outcome.violation == nil,
        "\(outcome.violation.map(\.description) ?? ""); repeat with: scripts/simulate --seed \(seed) --trace")
      statistics += outcome.statistics
    }
    for kind in [FaultKind.guardianKilled, .guardianStalled, .bankKilled, .coordinatorStuck] {
      #expect(statistics.count(of: kind) > 10, "only \(statistics.count(of: kind)) of \(kind.name)")
    }
    #expect(statistics.adoptions > 100)
    #expect(statistics.guardianStarts > statistics.adoptions)
  }

  @Test(
    "a bank that opens and dies before its new guardian listens is opened again",
    arguments: [419_444_009_293, 419_444_019_803])
  func opensUnheard(seed: UInt64) {
    let violation = Simulation.run(seed: seed).violation
    #expect(violation == nil, "repeat with: scripts/simulate --seed \(seed) --trace")
  }

  @Test("a guardian's death changes nothing for a customer: its coordinator continues")
  func deathOfAGuardian() {
    var seen = 0
    for seed in Self.guarded(below: 100) {
      var last: (guardian: Int32?, coordinator: Int32?) = (nil, nil)
      _ = Simulation.run(
        seed: seed,
        inspect: { world in
          let present = (
            guardian: world.guardians.first?.pid, coordinator: world.coordinator?.process.pid
          )
          // A guardian that has replaced another guards the coordinator that was there.
          if let old = last.guardian, let new = present.guardian, old != new, let pid = last.coordinator,
            let coordinator = present.coordinator
          {
            seen += 1
            #expect(coordinator == pid, "seed \(seed)")
          }
          if present.coordinator == nil {
            last = (nil, nil)
          } else if present.guardian != nil {
            last = present
          }
        })
    }
    #expect(seen > 10, "only \(seen) guardians were replaced")
  }

  @Test("histories without a guardian have none of its processes")
  func unguarded() throws {
    let seed = try #require((1...100 as ClosedRange<UInt64>).first { !GuardState(seed: $0).isEnabled })
    let statistics = Simulation.run(seed: seed).statistics
    #expect(statistics.guardianStarts == 0 && statistics.adoptions == 0)
  }
}
