// The planted bugs: each is a possible defect of a core or of the code around it, described in one sentence, with the
// promises that it breaks.
// Invariant: the checker finds each bug.

/// A deliberate defect.
public enum PlantedBug: String, SelectableCase {
  // In the core: staged changes.
  case doesNotRequeueAfterTellerExit = "A customer whose teller died does not return to its line."
  case doesNotStoreDeadLetter = "A dead letter is not stored."
  case doesNotStoreRequeue = "A requeued customer is not stored as waiting."
  case omitsReceipt = "A finished customer gets no receipt."
  case omitsCancelledReceipt = "A cancelled customer gets no receipt."
  case omitsFailedAttempts = "An attempt that ended without a receipt is not recorded."
  case writesReceiptsTwice = "Every receipt is written twice."
  case recordsWrongAmount = "A receipt contains one won more than the request."
  case recordsWrongAccount = "A receipt names the account of another customer."
  case skipsServicePosting = "The amount of a customer is not posted in a service with a ledger."
  case reusesTicketNumber = "A ticket number is sometimes issued to two customers."
  case resetOmitsReceipts = "A reset empties the queue without receipts."
  case dropsRefusedChanges = "Changes rejected by a full disk are not staged again."
  case countsOneServedTooMany = "The counters of a day contain one served customer too many."
  // In the core: answers.
  case acknowledgesBeforeCommit = "A completion is acknowledged before its commit."
  case acknowledgesWrongTicket = "An acknowledgement names the ticket after the finished one."
  case repliesBeforeCommit = "Tickets are announced when they are staged, not when they are on disk."
  case reportsRefusedTickets = "Tickets that the disk rejected are announced."
  case repliesTwice = "A request is answered twice."
  case dropsReplies = "A completed request is never answered."
  // In the core: assignments.
  case assignsAcrossServices = "A customer is assigned to a window of the other service."
  case assignsTwice = "A customer is assigned to two windows."
  case reversesPriorities = "The lowest grade is served first."
  case ignoresPause = "A pause has no effect."
  case neverLoadsNextPage = "The next page of a line is never read."
  case neverLoadsNextDelayedPage = "The next page of delayed customers is never read."
  case servesUnloadedDelayedEarly =
    "A customer ordered for later is served at once if more are delayed than memory holds."
  // In the core: tellers.
  case ignoresTellerExit = "The exit of a teller with a customer is not noticed."
  case ignoresGenerations = "A late message of a dead teller counts for its successor."
  case ignoresLeaseOfAnswer = "A teller that reports on another teller's customer finishes its own."
  case treatsProgressAsDone = "A progress report counts as the end of the work."
  case treatsCrashAsFailure = "The death of a teller counts as a reported failure."
  case neverExpiresLeases = "A lease never runs out."
  case expiresLeasesEarly = "A lease runs out after half of its time."
  case doesNotKillStuckTeller = "A teller whose lease has run out is not ended."
  case killsWrongGeneration = "Instead of a stuck teller its predecessor is ended."
  case dropsRecalls = "A teller is not notified of a recall."
  // In the core: external workers.
  case deadLettersConcurrentCustomers =
    "Every customer of a dead worker becomes a dead letter if it held several."
  case renewsAllLeasesOfWorker = "Progress with one customer renews all leases of a worker."
  case storesResultOfOtherCustomer = "A receipt is stored with the result of the previous customer."
  case neverExpiresOutsideLeases = "The leases of outside workers never run out."
  case keepsCustomersOfGoneWorker = "A disconnected worker keeps its customers."
  case matchesAnswersInOrder = "A worker's report always counts for its longest-held customer."
  case ignoresUnreturnedRecalls = "A worker that has not returned recalled customers gets as many new ones."
  // In the core: services that count attempts.
  case startsBeforeCommit = "In a service that counts attempts, an attempt starts before it is on disk."
  case forgetsStartedAttempts = "Started attempts are forgotten at a start."
  // In the core: customers whose work is a command.
  case omitsCommandResults = "A customer served by a command gets a receipt without a result."
  case storesPreviousCommandResult =
    "A receipt is stored with the result of that window's previous command."
  case hidesTruncation = "A receipt marks truncated output as complete."
  case pausesWithoutNotification = "A service whose program is missing is paused without a notification."
  // In the core: limits and ends.
  case ignoresQueueLimit = "The queue has no limit."
  case ignoresLowDiskSpace = "New customers are accepted while the disk only has room to finish others."
  case neverDeadLetters = "A customer that crashes one teller after another never becomes a dead letter."
  case deadLettersTooEarly = "A customer becomes a dead letter one attempt too early."
  case neverRunsTimers = "Timers never fire: pauses and leases end only at another event."
  case neverReportsDrain = "The end of a drain is not reported."
  case reportsDrainTooEarly = "A drain is reported as ended when it starts."
  case admitsWhileDraining = "A closing bank accepts new customers."
  // In the core: transactions in flight to the disk.
  case settlesAllTransactionsWithFirst =
    "The first transaction on disk settles all transactions in flight."
  case settlesWhenSealed = "Answers are released when their transaction is sent, not when it is on disk."
  case settlesNewestFirst = "The newest of several transactions in flight is settled first."
  case doesNotRestageTransactions =
    "If two or more transactions in flight are rejected, nothing is staged again."
  // In the core: keys and payloads of new customers.
  case forgetsIdempotencyKeys = "The keys of requests are not stored."
  case shiftsPayloads = "The payload of one customer goes to the next customer."
  case storesFirstSliceOfKey = "A key is stored with only the first of its tickets."
  // In the shell of the queue's core, which is the code of the coordinator.
  case reportsCommitTooEarly = "The shell reports a commit before it has made it."
  case settlesUnsealedChanges = "Changes staged during a transaction are settled with it."
  case treatsDiskFullAsCommit = "The shell reports a commit that the disk has rejected."
  case reversesStagedChanges = "The shell stages changes in the wrong order."
  case dropsPostponedReads = "The shell forgets reads that failed while the disk was full."
  case answersKeyBeforeCommit = "The shell answers a known key before its tickets are on disk."
  case startsWithOldCounters = "The shell starts with the counters of the last commit but one."
  case startsWithoutDelayed = "The shell starts without the customers that wait for a retry."
  case servesDelayedAtStart = "Customers ordered for later are served at once after a start."
  case capsDelaysAtStart =
    "After a start no customer is delayed for longer than the maximum retry delay."
  case commitsCountersOnFullDisk =
    "The shell commits counters without the changes that a full disk has rejected."
  case continuesAfterRefusedList = "The shell continues with the rest of a rejected list."
  case resetsGenerations = "The shell restarts at generation 1 at a window that is opened again."
  case waitsForeverForStoppedTeller = "The shell waits forever for a teller that was asked to exit."
  case countsKnownCustomersAgain = "The shell requires room for customers that are already queued."
  case stagesTwice = "After a full disk without other events the shell stages everything twice."
  case endsDayTwice = "The shell closes the day twice if the disk was full at the first attempt."
  case admitsWithdrawnRequest = "A request reported as withdrawn is still accepted."
  case keepsPartOfWithdrawnRequest = "The stored part of a withdrawn request stays."
  // In the store that keeps the queue on a disk.
  case neverSyncs = "The queue's database is written without any fsync."
  case syncsOnlyAtCheckpoint = "A commit is answered before the fsync of the log."
  case checkpointsWithoutSync = "The WAL restarts before its copied pages are on disk."
  case commitsCountersSeparately = "The counters are committed after the rows that they count."
  case treatsFailedSyncAsCommit = "A commit with a failed fsync counts as committed."
  case treatsFailedSyncAsDiskFull = "A failed fsync counts as a full disk, and the coordinator continues."
  case createsWithoutJournal = "A new database is made without a journal."
  case trustsLogAfterFailedSync = "A start uses a WAL whose last sync may have failed."
  // In the stock's core.
  case takesStockTwice = "The stock takes items twice for one order."
  case forgetsOrdersAfterCrash = "The stock forgets the orders that were answered before its last start."
  case returnsStockTwice = "The stock returns an order twice."
  case takesPartialOrder = "The stock takes only the available part of an order."
  case forgetsVoidedOrders = "The stock forgets that an order was returned before it arrived."
  case forgetsShortages = "The stock forgets its shortages."
  case omitsLedgerRow = "An order of two fruits records only the first in the ledger."
  case refusesLastPiece = "An order of all that is left of a fruit is refused."
  // In the shell of the stock's core, which is the code of the stock service.
  case stockAnswersBeforeSync = "The stock answers before the fsync."
  case stockIgnoresDiskFull = "The stock answers for changes that a full disk has rejected."
  case skipsMissedChange =
    "A resumed subscription skips the first missed change."
  case notifiesBeforeCommit = "Subscribers receive changes before they are on disk."
  case dropsReturningSubscriber =
    "A resumed subscription receives the missed changes and nothing after them."
  // In the stock's core.
  case sellsLatestExpiryFirst = "The lot that expires last is sold first."
  // In the vending machine's core.
  case insertsMoneyTwice = "Money is inserted again when its request is repeated."
  case purchasesTwice = "A drink is bought again when its request is repeated."
  case countsCoinsTwice = "The machine counts inserted money twice."
  case refundsReservedMoney = "The returned change includes the cost of open purchases."
  case takesBeforeIntentCommit = "The stock is asked for a drink before the purchase is on disk."
  case forgetsOpenPurchases = "A restarted machine forgets its open purchases."
  case keepsAbandonedDrink = "The drink of an abandoned purchase is not returned."
  case doesNotCharge = "A drink is bought at no cost."
  // In the shell of the vending machine's core, which is the code of its service.
  case vendingAnswersBeforeSync = "The machine answers before the fsync."
  case vendingIgnoresDiskFull = "The machine answers for changes that a full disk has rejected."
  case changesPurchaseIDs = "A restarted machine asks the stock under another name."
  case omitsDayInOrder = "The machine does not send the current date to the stock."
  case treatsTimeoutAsSoldOut = "A timeout of the stock counts as a drink that is sold out."
  case treatsTimeoutAsTaken = "A timeout of the stock counts as a drink that was sold."
  case restocksTwice = "A repeated delivery of the manager is stored again."
  case announcesProductsOnce =
    "Products that the stock rejected once are never sent again."
  case vendingDoesNotRetryWrite =
    "Changes rejected by a full disk are not written once there is room, if others were written before."
  // In the common base of both services, and in their clients.
  case listenerNeverAcceptsAgain = "A service that ran out of descriptors never accepts a connection again."
  case channelDropsUnsentBytes = "The rest of a message is not sent after a full socket buffer."
  case neverResumesReading = "A client that did not read for a while is never read again."
  case viewIsNotResubscribed = "A subscription is not renewed at the next service process."
  case gatesStayClosed = "The machine never notices that its view shows the change."
  case releaseIsNotRetried = "A return that the stock rejected once is never sent again."
  // In the stock's clients.
  case neverReleasesStock = "The reservation of a cancelled ticket is not returned."
  case releasesBeforeCommit = "A reservation is returned before the cancellation is on disk."
  case treatsTimeoutAsReleased = "A timeout of the stock counts as a completed return."
  case servesWithoutStock = "A juice is sometimes served without taking fruit."
  case ordersOncePerAttempt = "Every attempt at a juice is a new order."
  case treatsTimeoutAsShortage = "A timeout of the stock counts as a shortage."
  case acceptsLateAnswer = "A station uses the response for an earlier customer for the current one."
  case treatsStockDiskFullAsShortage = "A full disk of the stock counts as a shortage."
  case treatsStockDiskFullAsReleased = "A full disk of the stock counts as a completed return."
  case neverRetriesRelease = "A return that failed on a full disk is never retried."
  case treatsStockDiskFullAsSoldOut =
    "A full disk of the stock counts as a drink that is sold out."
  // In the supervision of the services.
  case killsBusyServices =
    "A service that waits for its disk or does long work is ended as stuck."
  case ignoresProbes = "The stock service does not respond to health checks."
  case ignoresClose = "A service ignores the request to exit."
  case probesOnce = "A service gets only one health check."
  case ignoresProgress = "A service that reports progress of long work is ended as stuck."
  case countsOwnStallAgainstServices = "The timeouts of services include slow commits of the coordinator."
  case killsTheSuccessor = "A kill meant for a process that has already exited ends its successor."
  // In the supervisors, and elsewhere in the coordinator.
  case opensWindowsWhileClosing = "A closing bank opens windows when its configuration is reloaded."
  case reusesOutsideGenerations =
    "Outside workers get the same generations under each coordinator."
  case assignsWithoutPayload =
    "A customer is assigned without its payload while the disk is full."
  // In the runners of commands, in the coordinator, and in its supervision of tellers.
  case addsAttemptToKey = "Each attempt at a customer has its own key."
  case treatsDeferralAsFailure = "Exit code 75 of a command counts as a failure."
  case deadLettersMissingProgram = "Exit code 126 or 127 of a command makes a dead letter, not a pause."
  case treatsSignalAsFailure = "A killed command counts as failed."
  case doesNotKillCancelledCommand = "The command of a cancelled customer keeps running."
  case doesNotKillTimedOutCommand = "A command keeps running after its timeout."
  case leavesDescendantsOfCommand = "The remaining processes of a finished command keep running."
  case leavesDescendantsOfRunner = "The remaining processes of a dead runner are not ended."
  case forgetsCustomersInFlight =
    "A start ignores the customers in flight of the previous coordinator."
  case leavesOrphansAtStart = "A start ignores the remaining processes of earlier commands."
  case assignsWrongPayload = "A customer is assigned with the payload of the previous ticket."
  case auditsStoppedServices = "An audit of a closing bank fails because its services have exited."
  case ignoresDayOfTicket = "A ticket of another day is cancelled or requeued by its number alone."
  case treatsStoreErrorAsDiskFull =
    "The coordinator treats every error of its store as a full disk."
  case forgetsDelayedRestart = "A teller that is replaced after a delay gets no successor."
  case neverEscalatesToKill = "A stuck teller that ignores SIGABRT keeps running."
  case doesNotDisconnectViolator = "A teller that violates the protocol is logged and keeps running."
  case sendsFirstIterationOnly =
    "A client receives only the messages of the first iteration that sends it any."
  case answersEachListPart = "A closing bank answers a list once for each part."
  case waitsForeverForUnreadyTeller = "The coordinator waits forever for a teller that never becomes ready."
  case countsOwnStallAgainstTellers = "The timeouts of tellers include slow commits of the coordinator."
  case countsOwnStallAgainstClients = "The timeouts of clients include slow commits of the coordinator."
  // In the snapshots.
  case omitsFirstWaitingFromBoard = "A board snapshot omits the customer that has waited longest."
  case listsServedAsWaiting =
    "A board snapshot lists a customer being served as waiting, if its line exceeds memory."
  case sendsSnapshotsUnthrottled = "A board snapshot is made at each event."
  // In the code shared by services and their clients, and in the shells of both.
  case servicesCountStallAgainstClients = "The timeouts of clients include slow commits of a service."
  case answersAgainAtDeadline = "An answered request is answered again at its deadline."
  case dropsHeldBackMessages = "Messages received before reading was paused are not delivered afterwards."
  case servicesTreatErrorAsDiskFull = "A service treats every disk error as a full disk."
  case requestsReleaseOnce = "A return is not retried after a timeout of the stock."
  case treatsTimeoutAsDone =
    "A timeout of the stock counts as a completed request of the manager."
  case treatsTimeoutAsPutBack = "A timeout of the stock counts as a returned drink."
  // In the guardian, and in the coordinator that it guards.
  case startsSecondCoordinator =
    "A guardian starts the next coordinator before a stuck one has exited."
  case killsSilentCoordinator = "A guardian ends a silent coordinator even if it waits for its disk."
  case reopensClosedBank = "A guardian reopens a closed bank."
  case doesNotRestartGuardian = "A coordinator does not replace a dead guardian."
  case doesNotReportClose = "A coordinator does not report to its guardian that the bank is closed."
  case doesNotReportOpen = "A coordinator does not report to the next guardian that its bank is open."

  /// True if the defect is a change of what the stock's core reads or stages.
  var isOfTheStock: Bool { Self.stock.contains(self) }
  private static let stock: Set<Self> = [
    .takesStockTwice, .forgetsOrdersAfterCrash, .returnsStockTwice, .takesPartialOrder, .forgetsVoidedOrders,
    .forgetsShortages,
    .omitsLedgerRow, .refusesLastPiece, .sellsLatestExpiryFirst,
  ]

  var isOfTheMachine: Bool { Self.machine.contains(self) }
  private static let machine: Set<Self> = [
    .insertsMoneyTwice, .purchasesTwice, .countsCoinsTwice, .refundsReservedMoney, .takesBeforeIntentCommit,
    .forgetsOpenPurchases, .keepsAbandonedDrink, .doesNotCharge,
  ]

  /// True if the defect is in the queue's core, whose cases are declared first, and not in the shell around it.
  var isOfTheCore: Bool { Self.core.contains(self) }
  private static let core = Set(allCases.prefix { $0 != .reportsCommitTooEarly })
  /// The promises that the defect may break first. An audit of the open bank may find the defect before that.
  public var breaks: Set<Violation.Kind> { promises.union([.audit]) }
  private var promises: Set<Violation.Kind> {
    switch self {
    case .startsSecondCoordinator, .killsSilentCoordinator, .reopensClosedBank, .doesNotRestartGuardian,
      .doesNotReportClose, .doesNotReportOpen:
      [.guardianship]
    case .omitsFirstWaitingFromBoard, .listsServedAsWaiting, .sendsSnapshotsUnthrottled: [.board]
    case .startsBeforeCommit, .settlesAllTransactionsWithFirst, .settlesWhenSealed, .settlesUnsealedChanges:
      [.notDurable]
    // The newest transaction's tickets are announced before those of the others.
    case .settlesNewestFirst: [.notDurable, .board]
    case .forgetsStartedAttempts: [.tooManyAttempts, .attempt]
    case .deadLettersConcurrentCustomers: [.deadLetter]
    case .omitsCommandResults, .storesPreviousCommandResult, .hidesTruncation,
      .treatsDeferralAsFailure, .treatsSignalAsFailure:
      [.result]
    case .pausesWithoutNotification: [.paused]
    case .deadLettersMissingProgram: [.result]
    case .addsAttemptToKey, .doesNotKillCancelledCommand, .doesNotKillTimedOutCommand,
      .leavesDescendantsOfCommand,
      .leavesDescendantsOfRunner, .leavesOrphansAtStart:
      [.process]
    case .assignsWrongPayload: [.payload]
    case .renewsAllLeasesOfWorker, .neverExpiresOutsideLeases: [.lease]
    // If external workers serve the customers, the result of another customer counts as a stale message.
    case .storesResultOfOtherCustomer: [.staleMessage, .result]
    case .reusesOutsideGenerations: [.staleMessage]
    case .keepsCustomersOfGoneWorker: [.attempt, .lease]
    case .matchesAnswersInOrder: [.attempt]
    // The worker's answers for recalled customers then look like protocol violations.
    case .ignoresUnreturnedRecalls: [.doubleLease, .protocolViolation]
    case .forgetsCustomersInFlight: [.attempt]
    case .doesNotRequeueAfterTellerExit: [.lostTicket, .order]
    case .doesNotStoreDeadLetter: [.lostTicket]
    case .doesNotStoreRequeue: [.order, .attempt, .dayCounters, .storeContradiction, .notDrained]
    case .omitsReceipt, .omitsFailedAttempts, .ignoresTellerExit, .ignoresLeaseOfAnswer,
      .treatsProgressAsDone,
      .treatsCrashAsFailure:
      [.attempt]
    case .omitsCancelledReceipt: [.notDurable, .dayCounters, .lostTicket]
    case .writesReceiptsTwice: [.attempt, .duplicate, .storeContradiction]
    case .recordsWrongAmount, .recordsWrongAccount, .skipsServicePosting: [.ledger]
    case .reusesTicketNumber: [.duplicate, .storeContradiction]
    // A customer inserted twice may have the payload of another.
    case .stagesTwice: [.duplicate, .storeContradiction, .payload]
    // The counters start a new day, and later customers still get tickets of the old one.
    case .resetOmitsReceipts:
      [.storeContradiction, .lostTicket, .duplicate, .dayCounters, .notDurable, .partialRequest]
    case .dropsRefusedChanges, .doesNotRestageTransactions:
      [.dayCounters, .storeContradiction, .lostTicket, .notDurable]
    case .countsOneServedTooMany, .startsWithOldCounters, .startsWithoutDelayed, .endsDayTwice: [.dayCounters]
    case .acknowledgesBeforeCommit, .acknowledgesWrongTicket, .repliesBeforeCommit, .reportsRefusedTickets,
      .reportsCommitTooEarly, .answersKeyBeforeCommit, .stockAnswersBeforeSync:
      [.notDurable]
    case .repliesTwice, .ignoresDayOfTicket, .answersEachListPart, .answersAgainAtDeadline: [.answer]
    case .servesUnloadedDelayedEarly, .servesDelayedAtStart, .capsDelaysAtStart: [.early]
    case .dropsReplies, .neverLoadsNextPage, .neverLoadsNextDelayedPage, .neverReportsDrain,
      .reportsDrainTooEarly,
      .dropsPostponedReads,
      .waitsForeverForStoppedTeller, .dropsReturningSubscriber, .announcesProductsOnce,
      .vendingDoesNotRetryWrite,
      .listenerNeverAcceptsAgain, .neverResumesReading, .viewIsNotResubscribed, .gatesStayClosed,
      .releaseIsNotRetried,
      .neverRetriesRelease, .probesOnce, .opensWindowsWhileClosing, .forgetsDelayedRestart,
      .neverEscalatesToKill,
      .doesNotDisconnectViolator, .sendsFirstIterationOnly, .waitsForeverForUnreadyTeller,
      .countsOwnStallAgainstTellers, .dropsHeldBackMessages, .requestsReleaseOnce:
      [.notDrained]
    case .assignsAcrossServices: [.crossedServices]
    case .assignsTwice: [.doubleLease]
    case .reversesPriorities: [.order]
    case .ignoresPause: [.paused]
    case .ignoresGenerations: [.staleMessage]
    case .neverExpiresLeases, .expiresLeasesEarly: [.lease, .attempt]
    case .doesNotKillStuckTeller, .killsWrongGeneration, .dropsRecalls, .resetsGenerations,
      .killsBusyServices,
      .ignoresProbes, .ignoresClose, .ignoresProgress, .countsOwnStallAgainstServices,
      .killsTheSuccessor, .countsOwnStallAgainstClients:
      [.protocolViolation]
    case .ignoresQueueLimit, .ignoresLowDiskSpace: [.overLimit]
    case .neverDeadLetters, .deadLettersTooEarly: [.deadLetter]
    case .neverRunsTimers: [.lease, .notDrained]
    case .admitsWhileDraining: [.overLimit, .notDrained]
    case .treatsDiskFullAsCommit:
      [.notDurable, .dayCounters, .lostTicket, .storeContradiction, .notDrained, .partialRequest]
    case .reversesStagedChanges: [.attempt, .storeContradiction, .ledger, .repeatedKey]
    case .assignsWithoutPayload: [.payload]
    case .shiftsPayloads: [.payload, .storeContradiction]
    case .forgetsIdempotencyKeys, .storesFirstSliceOfKey, .countsKnownCustomersAgain: [.repeatedKey]
    // The core waits forever for a transaction that was handed over to a slow disk while the disk was full.
    case .commitsCountersOnFullDisk: [.dayCounters, .lostTicket, .storeContradiction, .notDrained]
    case .continuesAfterRefusedList: [.answer, .dayCounters]
    case .admitsWithdrawnRequest: [.withdrawal]
    case .keepsPartOfWithdrawnRequest:
      [.partialRequest, .withdrawal, .storeContradiction, .notDurable, .duplicate]
    case .neverSyncs, .syncsOnlyAtCheckpoint, .checkpointsWithoutSync, .commitsCountersSeparately,
      .treatsFailedSyncAsCommit, .treatsFailedSyncAsDiskFull, .createsWithoutJournal,
      .trustsLogAfterFailedSync:
      [.storeContradiction]
    case .takesStockTwice, .forgetsOrdersAfterCrash:
      [.stockOrder, .stock, .drinks, .purchase, .repeatedOrder]
    case .returnsStockTwice, .forgetsVoidedOrders: [.stockOrder, .purchase]
    case .takesPartialOrder, .refusesLastPiece, .neverReleasesStock, .releasesBeforeCommit,
      .treatsTimeoutAsReleased,
      .servesWithoutStock, .ordersOncePerAttempt, .treatsTimeoutAsShortage, .acceptsLateAnswer,
      .treatsStockDiskFullAsShortage, .treatsStockDiskFullAsReleased:
      [.stockOrder]
    case .forgetsShortages: [.notDurable, .purchase]
    case .omitsLedgerRow: [.stockOrder, .storeContradiction]
    case .stockIgnoresDiskFull: [.notDurable, .storeContradiction, .notDrained]
    case .skipsMissedChange: [.news]
    case .notifiesBeforeCommit: [.notDurable, .news]
    case .sellsLatestExpiryFirst: [.drinks]
    // When a client repeats an order whose success was only assumed, the stock answers differently.
    case .treatsTimeoutAsDone: [.drinks, .repeatedOrder]
    case .insertsMoneyTwice, .countsCoinsTwice, .refundsReservedMoney, .doesNotCharge: [.money]
    case .purchasesTwice: [.purchase, .refusal, .repeatedOrder]
    case .takesBeforeIntentCommit, .keepsAbandonedDrink, .treatsTimeoutAsSoldOut, .treatsTimeoutAsTaken,
      .treatsTimeoutAsPutBack:
      [.purchase]
    case .forgetsOpenPurchases: [.notDrained, .money, .notDurable]
    case .vendingAnswersBeforeSync: [.notDurable, .refusal]
    case .vendingIgnoresDiskFull: [.notDurable, .refusal, .storeContradiction, .purchase]
    case .changesPurchaseIDs: [.drinks, .purchase]
    case .omitsDayInOrder, .restocksTwice: [.drinks, .stockOrder]
    case .channelDropsUnsentBytes, .servicesCountStallAgainstClients: [.protocolViolation, .notDrained]
    case .treatsStockDiskFullAsSoldOut: [.purchase, .refusal]
    case .auditsStoppedServices: [.audit]
    case .servicesTreatErrorAsDiskFull: [.notDrained, .notDurable]
    case .treatsStoreErrorAsDiskFull:
      [
        .storeContradiction, .notDurable, .duplicate, .dayCounters, .lostTicket, .notDrained, .attempt,
        .partialRequest, .board,
      ]
    }
  }
}
