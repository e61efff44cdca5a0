// The check of the checker: every planted bug is caught within a bounded number of histories, for a guarantee
// that it breaks, and the real core passes the very same histories with every guarantee kept.

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
    .keepsTheBooksApart: 17, .takesAFailedSyncForAFullDisk: 17, .forgetsWhatItHeldBack: 2,
    .auditsTheDismissed: 21, .forgetsToBury: 19, .neverBuries: 19, .performsLastFirst: 19,
    .forgetsToRevive: 21, .callsEveryErrorAFullDisk: 21, .drainsTooEarly: 22, .forgetsVoids: 16,
    .keepsWhatWasGivenUp: 16, .takesSilenceForSoldOut: 16, .takesSilenceForTaken: 16, .judgesBySilence: 67,
    .ignoresGenerations: 118, .takesSilenceForPutBack: 34, .waitsForTheUnready: 19,
    .takesAFullStockForShortage: 95, .answersEveryPart: 355, .opensWindowsWhileItCloses: 1_354,
    .believesTheLogThatIsThere: 253, .takesAFullStockForSoldOut: 60, .blamesTellersForItsOwnPause: 65,
    .takesSilenceForShortage: 111, .givesChangeOfIntents: 119, .waitsForTheDismissed: 177,
    .takesSilenceForDone: 34, .forgetsTheDelayedAtTheStart: 12, .givesBackAgain: 175,
    .givesNoSignOfLife: 111, .releasesAreNotRetried: 34, .forgetsWhatWasHeldBack: 139,
    .takesEveryDayForToday: 157, .servicesBlameClients: 67, .blamesServicesForItsOwnPause: 166,
    .takesAFullStockForGivenBack: 178, .blamesClientsForItsOwnPause: 119, .isDeafToProgress: 230,
    .startsGenerationsAnew: 68, .migratesWithoutAJournal: 253, .believesALateAnswer: 508,
    .vendingForgetsToRetry: 336, .introducesOnce: 397, .stagesTwice: 986, .putsOffForGood: 512,
    .checksOnce: 603, .startsBesideTheLiving: 187, .forgetsThatItWasOpen: 3, .keepsTheEndToItself: 18,
    .putsAsideWhoWasBeside: 122, .numbersWorkersAnew: 2_569, .handsOutWithoutThePayload: 296,
    .renewsEveryLeaseOfAWorker: 614, .saysThatCutOutputIsWhole: 28, .pausesWithoutAWord: 35,
    .buriesWhatCannotRun: 35, .timesOutInWords: 69, .leavesOrphansAtTheStart: 22,
    .succeedsBesideTheTree: 66, .cancelsInWords: 460,
    .startsTooEarly: 199, .forgetsStarts: 388, .forgetsWhoWasInHand: 58,
    .leavesTheBankUnguarded: 12,  // One in a thousand histories has a guardian that looks at that moment.
    .endsTheSilent: 1_162,
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

  @Test("there are bugs enough to show it")
  func areEnough() { #expect(PlantedBug.allCases.count >= 20) }
}
