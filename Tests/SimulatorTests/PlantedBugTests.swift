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
    .treatsStockDiskFullAsShortage: 95,
    .trustsLogAfterFailedSync: 253, .treatsStockDiskFullAsSoldOut: 60, .countsOwnStallAgainstTellers: 65,
    .treatsTimeoutAsShortage: 111, .refundsReservedMoney: 119, .waitsForeverForStoppedTeller: 177,
    .treatsTimeoutAsDone: 34, .startsWithoutDelayed: 12, .returnsStockTwice: 175,
    .ignoresProbes: 111, .releaseIsNotRetried: 34, .dropsHeldBackMessages: 139,
    .ignoresDayOfTicket: 157, .servicesCountStallAgainstClients: 67, .countsOwnStallAgainstServices: 166,
    .treatsStockDiskFullAsReleased: 178, .countsOwnStallAgainstClients: 119,
    .resetsGenerations: 68, .createsWithoutJournal: 253, .startsSecondCoordinator: 187, .doesNotReportOpen: 3,
    .doesNotReportClose: 18,
    .deadLettersConcurrentCustomers: 122, .assignsWithoutPayload: 296, .hidesTruncation: 28,
    .pausesWithoutNotification: 35,
    .deadLettersMissingProgram: 35, .doesNotKillTimedOutCommand: 69, .leavesOrphansAtStart: 22,
    .leavesDescendantsOfRunner: 66,
    .startsBeforeCommit: 199, .forgetsCustomersInFlight: 58,
    .doesNotRestartGuardian: 12,
  ]

  /// The scenarios that provoke bugs which ordinary histories seldom find, and a seed that finds the bug, tried first.
  private static let directed: [PlantedBug: (scenario: Scenario, seed: UInt64)] = [
    .opensWindowsWhileClosing: (.reloadWhileClosing, 50), .answersEachListPart: (.reloadWhileClosing, 6),
    .reusesOutsideGenerations: (.outsideWorkersAfterRestart, 747),
    .killsSilentCoordinator: (.stalledCoordinator, 57), .stagesTwice: (.fullDisk, 2),
    .renewsAllLeasesOfWorker: (.unreliableWorkers, 922), .probesOnce: (.stuckServices, 34),
    .ignoresProgress: (.stuckServices, 311), .neverRetriesRelease: (.fullStockDisk, 16),
    .acceptsLateAnswer: (.lateStock, 64), .doesNotKillCancelledCommand: (.interruptedCommands, 198),
    .announcesProductsOnce: (.fullVendingDisk, 1), .vendingDoesNotRetryWrite: (.fullVendingDisk, 5),
    .forgetsStartedAttempts: (.countedAttempts, 264),
  ]
  /// Histories of a scenario that are tried for one bug, at most.
  static let maxDirected = 300

  @Test("every planted bug is caught, and is not seen in the real core", arguments: PlantedBug.allCases)
  func isCaught(_ bug: PlantedBug) throws {
    let scenario = Self.directed[bug]?.scenario
    let first = [Self.directed[bug]?.seed ?? Self.slowToFind[bug]].compactMap(\.self)
    let others = scenario.map { Self.seeds(of: $0, Self.maxDirected) } ?? Array(1...Self.maxSeeds)
    for seed in first + others {
      guard let violation = Simulation.run(seed: seed, scenario: scenario, bug: bug).violation else {
        continue
      }
      #expect(
        bug.breaks.contains(violation.kind),
        "\(bug.name) was caught in seed \(seed) for a promise that it does not break: \(violation)")
      let real = Simulation.run(seed: seed, scenario: scenario)
      #expect(real.violation == nil, "\(Self.command(seed, scenario))")
      return
    }
    Issue.record("\(bug.name) was not caught in \(others.count) histories: \(bug.sentence)")
  }

  @Test("the real core keeps every promise in directed histories, too", arguments: Scenario.allCases)
  func scenarios(_ scenario: Scenario) {
    for seed in Self.seeds(of: scenario, 15) {
      let outcome = Simulation.run(seed: seed, scenario: scenario)
      #expect(
        outcome.violation == nil,
        "\(outcome.violation.map(\.description) ?? ""); \(Self.command(seed, scenario))")
    }
  }

  /// The first seeds of a scenario.
  private static func seeds(of scenario: Scenario, _ count: Int) -> [UInt64] {
    var seeds: [UInt64] = []
    while seeds.count < count { seeds.append(scenario.seed(from: (seeds.last ?? 0) + 1)) }
    return seeds
  }

  /// How to repeat a history.
  private static func command(_ seed: UInt64, _ scenario: Scenario?) -> String {
    let option = scenario.map { " --scenario \($0.name)" } ?? ""
    return "repeat with: scripts/simulate\(option) --seed \(seed) --trace"
  }

  @Test("every bug of the production code is planted, and described, once")
  func mutants() {
    let names = PlantedBug.allCases.map(\.name) + PlantedBranchBug.allCases.map(\.name)
    for mutant in Mutant.allCases { #expect(names.count { $0 == mutant.rawValue } == 1, "\(mutant)") }
  }

  @Test("there are bugs enough to show it")
  func areEnough() { #expect(PlantedBug.allCases.count >= 20) }
}
