// Histories in which commands do the work: that there are some, that everything happens in them that can, and that those go as
// ever that have none.

import Simulator
import Testing

@Suite("Histories with commands")
struct CommandHistoryTests {
  /// 8462: what a command has left behind whose customer was taken out outlives its runner and the coordinator.
  /// 9454: a runner that was stopped is being ended, and its customer went to another meanwhile.
  /// 1807: the last that a runner has left behind is gone, and with it the coordinator's last child.
  @Test(
    "every promise is kept where commands do the work",
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

  @Test("whatever can be wrong with a command happens")
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
