// Planted bugs in production code: deliberate defects that the checkers of the simulator must find. Each has the name of a
// case of `PlantedBug` or `PlantedBranchBug`, which describes the defect and names the promises that it breaks.
// Invariant: only a build with the condition MUTANTS contains them, which is that of `scripts/test`. A program of any
// other build contains neither the defects nor their names; `scripts/build` checks that.
// A defect that is visible at a seam is not here: a wrapper in the simulator has it, around the queue, the disk or a store.

#if MUTANTS
  /// A planted bug in production code.
  public enum Mutant: String, CaseIterable, Sendable {
    // `Transport`
    case answersAgainAtDeadline, dropsHeldBackMessages, ignoresClose, neverResumesReading,
      sendsFirstIterationOnly, servicesCountStallAgainstClients, viewIsNotResubscribed
    // `CommandRunner`
    case leavesDescendantsOfCommand
    // `Guardian`
    case killsSilentCoordinator, reopensClosedBank, startsSecondCoordinator
    // `ServiceProcess`
    case ignoresProbes, vendingDoesNotRetryWrite
    // `JuiceStation`
    case acceptsLateAnswer, ordersOncePerAttempt, treatsStockDiskFullAsShortage, treatsTimeoutAsShortage
    // `CommandExecutor`
    case doesNotKillCancelledCommand, doesNotKillTimedOutCommand
    // `Coordinator`
    case admitsWithdrawnRequest, answersEachListPart, answersKeyBeforeCommit, auditsStoppedServices,
      commitsCountersOnFullDisk, continuesAfterRefusedList, countsKnownCustomersAgain,
      countsOwnStallAgainstClients, countsOwnStallAgainstServices, countsOwnStallAgainstTellers,
      doesNotDisconnectViolator, doesNotRestartGuardian, dropsPostponedReads, endsDayTwice,
      forgetsCustomersInFlight, forgetsDelayedRestart, ignoresDayOfTicket, ignoresProgress,
      keepsPartOfWithdrawnRequest, killsBusyServices, killsTheSuccessor, leavesDescendantsOfRunner,
      leavesOrphansAtStart, listsServedAsWaiting, neverReleasesStock, neverRetriesRelease, neverRunsTimers,
      omitsFirstWaitingFromBoard, opensWindowsWhileClosing, probesOnce, releasesBeforeCommit,
      requestsReleaseOnce, resetsGenerations, reusesOutsideGenerations, reversesStagedChanges,
      sendsSnapshotsUnthrottled, settlesUnsealedChanges, stagesTwice, treatsStockDiskFullAsReleased,
      treatsTimeoutAsReleased, waitsForeverForStoppedTeller, waitsForeverForUnreadyTeller
    // `StockService`
    case dropsReturningSubscriber, notifiesBeforeCommit, skipsMissedChange
    // `VendingMachine`
    case announcesProductsOnce, changesPurchaseIDs, gatesStayClosed, omitsDayInOrder, releaseIsNotRetried,
      restocksTwice, treatsStockDiskFullAsSoldOut, treatsTimeoutAsDone, treatsTimeoutAsPutBack,
      treatsTimeoutAsSoldOut, treatsTimeoutAsTaken
    // `PostgresStore`
    case addsCountsToOneLane, claimsAgainWithoutCheck, claimsJuiceOfOtherBranch,
      dropsRequestsAfterLeaseLoss, keepsCommitsAfterLeaseLoss, leavesWithoutReturningClaims, neverPolls,
      neverRescues, neverReturnsDue, opensBesideFormerSession, repeatsWithoutCheck, treatsRefusalAsCommit,
      usesAnyDatabase
    // `PostgresBackend`
    case ignoresBankDrain, reportsTicketsBeforeCommit

    /// True if the simulated process that runs on this thread has this bug.
    @inline(__always)
    public var isActive: Bool { Kernel.simulated?.mutant == self }
  }
#else
  /// All planted bugs in a build without any.
  @dynamicMemberLookup
  public enum Mutant {
    /// The bug of this name, which this build does not contain.
    @inlinable @inline(__always)
    public static subscript(dynamicMember name: StaticString) -> AbsentMutant { AbsentMutant() }
  }

  /// A planted bug that this build does not contain.
  public struct AbsentMutant {
    @inlinable @inline(__always)
    init() {}

    /// False
    @inlinable @inline(__always)
    public var isActive: Bool { false }
  }
#endif
