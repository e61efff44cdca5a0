// Shows that the checker is worth its name: every planted bug is caught within a bounded number of histories, for a
// promise that it breaks, and the real core lives through the very same histories with every promise kept.

import Simulator
import Testing

@Suite("The checker catches what is planted")
struct PlantedBugTests {
  /// Seeds that are tried for one bug, at most.
  static let patience: UInt64 = 1_000

  @Test("every planted bug is caught, and is not seen in the real core", arguments: PlantedBug.allCases)
  func isCaught(_ bug: PlantedBug) throws {
    for seed in 1...Self.patience {
      guard let violation = Simulation.run(seed: seed, bug: bug).violation else { continue }
      #expect(
        bug.breaks.contains(violation.kind),
        "\(bug.rawValue) was caught in seed \(seed) for a promise that it does not break: \(violation)")
      let real = Simulation.run(seed: seed)
      #expect(real.violation == nil, "repeat with: scripts/simulate --seed \(seed) --trace")
      return
    }
    Issue.record("\(bug.rawValue) was not caught in \(Self.patience) histories: \(bug.sentence)")
  }

  @Test("there are bugs enough to say so")
  func areEnough() { #expect(PlantedBug.allCases.count >= 20) }
}
