// Histories in which commands do the work: there are some, everything that can happen does, and histories
// without commands are unchanged.

import Simulator
import Testing

@Suite("Histories with commands")
struct CommandHistoryTests {
  /// 8462: descendants of a command whose customer was cancelled outlive its runner and the coordinator.
  /// 9454: a runner that was stopped is being ended, and its customer went to another meanwhile. 1807: the
  /// last descendant of a runner is gone, and with it the coordinator's last child.
  @Test(
    "every promise is kept if commands do the work",
    arguments: [4, 22, 27, 28, 31, 35, 41, 58, 63, 66, 69, 71, 94, 96, 115, 118, 1_807, 8_462, 9_454]
      as [UInt64])
  func keepsPromises(seed: UInt64) {
    let outcome = Simulation.run(seed: seed)
    #expect(
      outcome.violation == nil,
      "\(outcome.violation.map(\.description) ?? ""); repeat with: scripts/simulate --seed \(seed) --trace")
    #expect(outcome.statistics.commands > 0, "seed \(seed) has no commands any more: choose another")
    #expect(outcome == Simulation.run(seed: seed))
  }

  @Test("every fault of a command occurs")
  func everythingHappens() {
    var statistics = Statistics()
    for seed in 1...300 as ClosedRange<UInt64> { statistics += Simulation.run(seed: seed).statistics }
    let kinds: [FaultKind] = [
      .runnerKilled, .commandKilled, .commandHung, .commandRemoved, .commandCancelled,
    ]
    for kind in kinds { #expect(statistics.count(of: kind) > 0, "no \(kind.name)") }
    #expect(statistics.commandProcesses > 0)
    #expect(statistics.commandsTimedOut > 0)
    #expect(statistics.commandResults > 0)
    #expect(statistics.commands > statistics.commandResults)
  }
}
