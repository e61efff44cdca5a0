// The check of the checker: every planted bug is caught within a bounded number of histories, for a guarantee
// that it breaks, and the real core passes the very same histories with every guarantee kept.

import Posix
import Simulator
import Testing

@Suite("The checker catches planted bugs")
struct PlantedBugTests {
  /// Seeds that are tried for one bug, at most.
  static let maxSeeds: UInt64 = 1_000

  /// The seeds that find the slowest bugs, tried before the others: most of the time of this suite would be
  /// spent on the histories before them. If such a seed finds nothing any more, the first thousand are tried
  /// as for the other bugs.
  private static let slowToFind: [PlantedBug: UInt64] = [
    .commitsCountersSeparately: 17, .treatsFailedSyncAsDiskFull: 17, .dropsPostponedReads: 2,
    .auditsStoppedServices: 21, .doesNotStoreDeadLetter: 19, .neverDeadLetters: 19,
    .reversesStagedChanges: 19,
    .doesNotStoreRequeue: 21, .servicesTreatErrorAsDiskFull: 21, .reportsDrainTooEarly: 22,
    .forgetsVoidedOrders: 16,
    .keepsAbandonedDrink: 16, .treatsTimeoutAsSoldOut: 16, .treatsTimeoutAsTaken: 16, .killsBusyServices: 67,
    .ignoresGenerations: 118, .treatsTimeoutAsPutBack: 34, .waitsForeverForUnreadyTeller: 19,
    .treatsStockDiskFullAsShortage: 95, .answersEachListPart: 355, .opensWindowsWhileClosing: 1_354,
    .trustsLogAfterFailedSync: 253, .treatsStockDiskFullAsSoldOut: 60, .countsOwnStallAgainstTellers: 65,
    .treatsTimeoutAsShortage: 111, .refundsReservedMoney: 119, .waitsForeverForStoppedTeller: 177,
    .treatsTimeoutAsDone: 34, .startsWithoutDelayed: 12, .returnsStockTwice: 175,
    .ignoresProbes: 111, .releaseIsNotRetried: 34, .dropsHeldBackMessages: 139,
    .ignoresDayOfTicket: 157, .servicesCountStallAgainstClients: 67, .countsOwnStallAgainstServices: 166,
    .treatsStockDiskFullAsReleased: 178, .countsOwnStallAgainstClients: 119, .ignoresProgress: 230,
    .resetsGenerations: 68, .createsWithoutJournal: 253, .acceptsLateAnswer: 508,
    .vendingDoesNotRetryWrite: 336, .announcesProductsOnce: 397, .stagesTwice: 986, .neverRetriesRelease: 512,
    .probesOnce: 603, .startsSecondCoordinator: 187, .doesNotReportOpen: 3, .doesNotReportClose: 18,
    .deadLettersConcurrentCustomers: 122, .reusesOutsideGenerations: 2_569, .assignsWithoutPayload: 296,
    .renewsAllLeasesOfWorker: 614, .hidesTruncation: 28, .pausesWithoutNotification: 35,
    .deadLettersMissingProgram: 35, .doesNotKillTimedOutCommand: 69, .leavesOrphansAtStart: 22,
    .leavesDescendantsOfRunner: 66, .doesNotKillCancelledCommand: 460,
    .startsBeforeCommit: 199, .forgetsStartedAttempts: 388, .forgetsCustomersInFlight: 58,
    .doesNotRestartGuardian: 12,  // One in a thousand histories has a guardian that looks at that moment.
    .killsSilentCoordinator: 1_162,
  ]

  @Test("every planted bug is caught, and is not seen in the real core", arguments: PlantedBug.allCases)
  func isCaught(_ bug: PlantedBug) throws {
    for seed in [Self.slowToFind[bug]].compactMap(\.self) + Array(1...Self.maxSeeds) {
      guard let violation = Simulation.run(seed: seed, bug: bug).violation else { continue }
      #expect(
        bug.breaks.contains(violation.kind),
        "\(bug.name) was caught in seed \(seed) for a promise that it does not break: \(violation)")
      let real = Simulation.run(seed: seed)
      #expect(real.violation == nil, "repeat with: scripts/simulate --seed \(seed) --trace")
      return
    }
    Issue.record("\(bug.name) was not caught in \(Self.maxSeeds) histories: \(bug.sentence)")
  }

  @Test("every bug of the production code is planted, and described, once")
  func mutants() {
    let names = PlantedBug.allCases.map(\.name) + PlantedBranchBug.allCases.map(\.name)
    for mutant in Mutant.allCases { #expect(names.count { $0 == mutant.rawValue } == 1, "\(mutant)") }
  }

  @Test("there are bugs enough to show it")
  func areEnough() { #expect(PlantedBug.allCases.count >= 20) }
}
