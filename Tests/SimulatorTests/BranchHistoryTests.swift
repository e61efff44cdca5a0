#if HAS_POSTGRES
  // Histories of several branches of one bank, over a simulated PostgreSQL: a seed decides everything in one,
  // every fault occurs, and the checker finds planted bugs. A failure names its seed.

  import Simulator
  import Testing

  @Suite("Histories of several branches")
  struct BranchSimulationTests {
    /// In 75 and 814 the clock of a branch was set between two looks, and 1496 while the database had no
    /// room; in 445 no branch had a window for the customers who were left, in 2387 no branch closed the day
    /// of an empty bank, and in 100389 another branch had served a customer that a branch was sent as
    /// cancelled. In 702012 a refusal was handled before the commit that it came after.
    @Test(
      "several branches keep every promise",
      arguments: Array(1...36) + [75, 445, 814, 1496, 2387, 100_389, 702_012] as [UInt64])
    func keepsPromises(seed: UInt64) {
      let outcome = BranchSimulation.run(seed: seed)
      #expect(
        outcome.violation == nil,
        "\(outcome.violation.map(\.description) ?? ""); repeat with: scripts/simulate --branches --seed \(seed) --trace"
      )
    }

    @Test("the same seed gives the same history to the byte", arguments: [1, 2, 77] as [UInt64])
    func isDeterministic(seed: UInt64) {
      let first = BranchSimulation.run(seed: seed)
      #expect(first == BranchSimulation.run(seed: seed))
      #expect(first.digest != BranchSimulation.run(seed: seed &+ 1).digest)
    }

    @Test("every kind of fault happens in a few hundred histories")
    func everyFaultHappens() {
      var statistics = BranchStatistics()
      var seed: UInt64 = 1
      while seed <= 200, !BranchFault.allCases.allSatisfy({ statistics.count(of: $0) > 0 }) {
        statistics += BranchSimulation.run(seed: seed).statistics
        seed += 1
      }
      for fault in BranchFault.allCases { #expect(statistics.count(of: fault) > 0, "no \(fault.name)") }
    }

    /// Seeds that are tried for one bug, at most.
    private static let maxSeeds: UInt64 = 300
    /// Seeds that find slow ones, tried before the others.
    private static let slowToFind: [PlantedBranchBug: UInt64] = [
      .claimsWithoutEpoch: 12, .losesReturnedTickets: 12, .dropsRefusedTransaction: 12, .neverRescues: 12,
      .keepsCustomersAfterLeaseLoss: 16, .treatsRefusalAsCommit: 18, .keepsCommitsAfterLeaseLoss: 20,
      .forgetsStockReleases: 24, .rescuesTwice: 24, .issuesWhileDraining: 24, .claimsAgainWithoutCheck: 65,
      .endsDayEarly: 71,
      .doesNotRecallAfterLeaseLoss: 120, .assignsAfterLeaseEnd: 170,
    ]
    @Test(
      "every planted bug is caught, and is not seen in the real branches",
      arguments: PlantedBranchBug.allCases)
    func isCaught(_ bug: PlantedBranchBug) {
      for seed in [Self.slowToFind[bug]].compactMap(\.self) + Array(1...Self.maxSeeds) {
        guard let violation = BranchSimulation.run(seed: seed, bug: bug).violation else { continue }
        #expect(
          bug.breaks.contains(violation.kind),
          "\(bug.name) was caught in seed \(seed) for a promise that it does not break: \(violation)")
        let real = BranchSimulation.run(seed: seed)
        #expect(real.violation == nil, "repeat with: scripts/simulate --branches --seed \(seed) --trace")
        return
      }
      Issue.record("\(bug.name) was not caught in \(Self.maxSeeds) histories: \(bug.sentence)")
    }
  }
#endif
