// The planted bugs: each is a possible defect of a core or of the code around it, described in one sentence, with the
// promises that it breaks.
// Invariant: the checker finds each bug; a test fails if the checker misses one.

/// A deliberate defect.
public enum PlantedBug: String, CaseIterable, Sendable {
  // In the core: staged changes.
  case forgetsToPutBack = "A customer whose teller died does not return to its line."
  case forgetsToBury = "A dead letter is not stored."
  case forgetsToRevive = "A requeued customer is not stored as waiting."
  case forgetsTheReceipt = "A finished customer gets no receipt."
  case forgetsTheCancelled = "A cancelled customer gets no receipt."
  case forgetsAttempts = "An attempt that ended without a receipt is not recorded."
  case writesReceiptsTwice = "Every receipt is written twice."
  case paysTheWrongAmount = "A receipt contains one won more than the request."
  case paysTheWrongAccount = "A receipt names the account of another customer."
  case postsNothingForServices = "The amount of a customer is not posted in a service with a ledger."
  case issuesNumbersTwice = "A ticket number is sometimes issued to two customers."
  case resetsWithoutReceipts = "A reset empties the queue without receipts."
  case forgetsWhatIsUnsettled = "Changes rejected by a full disk are not staged again."
  case countsOneTooMany = "The counters of a day contain one served customer too many."
  // In the core: answers.
  case acknowledgesTooEarly = "A completion is acknowledged before its commit."
  case acknowledgesTheNext = "An acknowledgement names the ticket after the finished one."
  case repliesTooEarly = "Tickets are announced when they are staged, not when they are on disk."
  case speaksRefusedTickets = "Tickets that the disk rejected are announced."
  case answersTwice = "A request is answered twice."
  case losesAnswers = "A completed request is never answered."
  // In the core: assignments.
  case handsAcrossServices = "A customer is assigned to a window of the other service."
  case assignsTwice = "A customer is assigned to two windows."
  case gradesUpsideDown = "The lowest grade is served first."
  case servesThePaused = "A pause has no effect."
  case forgetsPages = "The next page of a line is never read."
  case forgetsPagesOfTheDelayed = "The next page of delayed customers is never read."
  case servesAtOnceBeyondTheMemory =
    "A customer ordered for later is served at once if more are delayed than memory holds."
  // In the core: tellers.
  case forgetsTheLost = "The exit of a teller with a customer is not noticed."
  case ignoresGenerations = "A late message of a dead teller counts for its successor."
  case believesEveryTeller = "A teller that reports on another teller's customer finishes its own."
  case takesProgressForDone = "A progress report counts as the end of the work."
  case takesDeathForFailure = "The death of a teller counts as a reported failure."
  case expiresNobody = "A lease never runs out."
  case expiresTooEarly = "A lease runs out after half of its time."
  case leavesTheStuck = "A teller whose lease has run out is not ended."
  case endsTheWrongGeneration = "Instead of a stuck teller its predecessor is ended."
  case swallowsRecalls = "A teller is not notified of a recall."
  // In the core: concurrent workers.
  case putsAsideWhoWasBeside =
    "Every customer of a dead worker becomes a dead letter if it held several."
  case renewsEveryLeaseOfAWorker = "Progress with one customer renews all leases of a worker."
  case keepsTheResultOfAnother = "A receipt is stored with the result of the previous customer."
  case leavesTheExpiredInHand = "The leases of outside workers never run out."
  case keepsThoseOfTheGone = "A disconnected worker keeps its customers."
  case takesWorkersAnswersInTurn = "A worker's report always counts for its longest-held customer."
  case handsAsManyAgain = "A worker that has not returned recalled customers gets as many new ones."
  // In the core: services that count attempts.
  case startsTooEarly = "In a service that counts attempts, an attempt starts before it is on disk."
  case forgetsStarts = "Started attempts are forgotten at a start."
  // In the core: customers whose work is a command.
  case forgetsResultsOfCommands = "A customer served by a command gets a receipt without a result."
  case keepsTheResultOfTheOneBefore =
    "A receipt is stored with the result of that window's previous command."
  case saysThatCutOutputIsWhole = "A receipt marks truncated output as complete."
  case pausesWithoutAWord = "A service whose program is missing is paused without a notification."
  // In the core: limits and ends.
  case neverFull = "The queue has no limit."
  case ignoresTheShortage = "New customers are accepted while the disk only has room to finish others."
  case neverBuries = "A customer that crashes one teller after another never becomes a dead letter."
  case buriesTooEarly = "A customer becomes a dead letter one attempt too early."
  case neverWakes = "Timers never fire: pauses and leases end only at another event."
  case drainsNever = "The end of a drain is not reported."
  case drainsTooEarly = "A drain is reported as ended when it starts."
  case ignoresTheDrain = "A closing bank accepts new customers."
  // In the core: transactions in flight to the disk.
  case settlesAllWithTheFirst =
    "The first transaction on disk settles all transactions in flight."
  case answersAtTheSeal = "Answers are released when their transaction is sent, not when it is on disk."
  case settlesTheNewest = "The newest of several transactions in flight is settled first."
  case stagesNothingAgainOfTwo =
    "If two or more transactions in flight are rejected, nothing is staged again."
  // In the shell.
  case saysCommittedTooEarly = "The shell reports a commit before it has made it."
  case forgetsToSeal = "Changes staged during a transaction are settled with it."
  case takesAFullDiskForACommit = "The shell reports a commit that the disk has rejected."
  case performsLastFirst = "The shell stages changes in the wrong order."
  case forgetsWhatItHeldBack = "The shell forgets reads that failed while the disk was full."
  case forgetsKeys = "The shell does not remember the keys of requests."
  case givesPayloadsToTheNeighbour = "A payload in a list goes to the customer of the next line."
  case remembersTheFirstSliceOnly = "The shell stores a key with only the first of its tickets."
  case answersAKeyTooEarly = "The shell answers a known key before its tickets are on disk."
  case startsWithOldBooks = "The shell starts with the counters of the last commit but one."
  case forgetsTheDelayedAtTheStart = "The shell starts without the customers that wait for a retry."
  case callsEverybodyAtTheStart = "Customers ordered for later are served at once after a start."
  case cutsTheDelayAtTheStart =
    "After a start no customer is delayed for longer than the maximum retry delay."
  case commitsToAFullDisk = "The shell commits counters without the changes that a full disk has rejected."
  case goesOnAfterARefusal = "The shell continues with the rest of a rejected list."
  case startsGenerationsAnew = "The shell restarts at generation 1 at a window that is opened again."
  case waitsForTheDismissed = "The shell waits forever for a teller that was asked to exit."
  case countsTheKnownTwice = "The shell requires room for customers that are already queued."
  case stagesTwice = "After a full disk without other events the shell stages everything twice."
  case closesTheDayTwice = "The shell closes the day twice if the disk was full at the first attempt."
  case takesInTheWithdrawn = "A request reported as withdrawn is still accepted."
  case keepsAPartOfTheWithdrawn = "The stored part of a withdrawn request stays."
  // In the store that keeps the queue on a disk.
  case neverSyncs = "The queue's database is written without any fsync."
  case syncsOnlyWhenItCopiesTheLog = "A commit is answered before the fsync of the log."
  case copiesTheLogWithoutSyncing = "The WAL restarts before its copied pages are on disk."
  case keepsTheBooksApart = "The counters are committed after the rows that they count."
  case takesAFailedSyncForACommit = "A commit with a failed fsync counts as committed."
  case takesAFailedSyncForAFullDisk = "A failed fsync counts as a full disk, and the coordinator continues."
  case migratesWithoutAJournal = "A new database is made without a journal."
  case believesTheLogThatIsThere = "A start uses a WAL whose last sync may have failed."
  // In the stock's core.
  case takesAgain = "The stock takes items twice for one order."
  case forgetsOrdersInACrash = "The stock forgets the orders that were answered before its last start."
  case givesBackAgain = "The stock returns an order twice."
  case takesInPart = "The stock takes only the available part of an order."
  case forgetsVoids = "The stock forgets that an order was returned before it arrived."
  case forgetsShortages = "The stock forgets its shortages."
  case losesARow = "An order of two fruits records only the first in the ledger."
  case refusesTheLastFruit = "An order of all that is left of a fruit is refused."
  // In the shell around the stock.
  case stockAnswersTooEarly = "The stock answers before the fsync."
  case stockBelievesAFullDisk = "The stock answers for changes that a full disk has rejected."
  case leavesOutAChange =
    "A resumed subscription skips the first missed change."
  case showsTooEarly = "Subscribers receive changes before they are on disk."
  case forgetsWhoComesBack =
    "A resumed subscription receives the missed changes and nothing after them."
  case sellsTheLatestFirst = "The lot that expires last is sold first."
  // In the vending machine's core.
  case paysInAgain = "Money is inserted again when its request is repeated."
  case buysAgain = "A drink is bought again when its request is repeated."
  case countsCoinsTwice = "The machine counts inserted money twice."
  case givesChangeOfIntents = "The returned change includes the cost of open purchases."
  case takesBeforeTheIntent = "The stock is asked for a drink before the purchase is on disk."
  case forgetsIntents = "A restarted machine forgets its open purchases."
  case keepsWhatWasGivenUp = "The drink of an abandoned purchase is not returned."
  case chargesNothing = "A drink is bought at no cost."
  // In the shell around the vending machine.
  case vendingAnswersTooEarly = "The machine answers before the fsync."
  case vendingBelievesAFullDisk = "The machine answers for changes that a full disk has rejected."
  case renamesPurchases = "A restarted machine asks the stock under another name."
  case sellsTheExpired = "The machine does not send the current date to the stock."
  case takesSilenceForSoldOut = "A timeout of the stock counts as a drink that is sold out."
  case takesSilenceForTaken = "A timeout of the stock counts as a drink that was sold."
  case stocksAgain = "A repeated delivery of the manager is stored again."
  case introducesOnce =
    "Products that the stock rejected once are never sent again."
  case vendingForgetsToRetry =
    "Changes rejected by a full disk are not written once there is room, if others were written before."
  // In the common base of both services, and in their clients.
  case listenerStaysDeaf = "A service that ran out of descriptors never accepts a connection again."
  case channelForgetsTheRest = "The rest of a message is not sent after a full socket buffer."
  case neverResumesReading = "A client that did not read for a while is never read again."
  case viewIsNotRenewed = "A subscription is not renewed at the next service process."
  case gatesStayShut = "The machine never notices that its view shows the change."
  case releasesAreNotRetried = "A return that the stock rejected once is never sent again."
  // In the stock's clients.
  case neverGivesBack = "The reservation of a cancelled ticket is not returned."
  case givesBackTooEarly = "A reservation is returned before the cancellation is on disk."
  case takesSilenceForGivenBack = "A timeout of the stock counts as a completed return."
  case servesWithoutTaking = "A juice is sometimes served without taking fruit."
  case asksAnewEachAttempt = "Every attempt at a juice is a new order."
  case takesSilenceForShortage = "A timeout of the stock counts as a shortage."
  case believesALateAnswer = "A station uses the response for an earlier customer for the current one."
  case takesAFullStockForShortage = "A full disk of the stock counts as a shortage."
  case takesAFullStockForGivenBack = "A full disk of the stock counts as a completed return."
  case putsOffForGood = "A return that failed on a full disk is never retried."
  case takesAFullStockForSoldOut =
    "A full disk of the stock counts as a drink that is sold out."
  // In the supervision of the services.
  case judgesBySilence =
    "A service that waits for its disk or does long work is ended as stuck."
  case givesNoSignOfLife = "The stock service does not respond to health checks."
  case ignoresTheClose = "A service ignores the request to exit."
  case checksOnce = "A service gets only one health check."
  case isDeafToProgress = "A service that reports progress of long work is ended as stuck."
  case blamesServicesForItsOwnPause = "The timeouts of services include slow commits of the coordinator."
  case killsTheSuccessor = "A kill meant for a process that has already exited ends its successor."
  // In the supervisors, and at the control socket.
  case opensWindowsWhileItCloses = "A closing bank opens windows when its configuration is reloaded."
  case numbersWorkersAnew =
    "Outside workers get the same generations under each coordinator."
  case handsOutWithoutThePayload =
    "A customer is assigned without its payload while the disk is full."
  // In the runners of commands.
  case putsTheAttemptIntoTheKey = "Each attempt at a customer has its own key."
  case takesLaterForFailure = "Exit code 75 of a command counts as a failure."
  case buriesWhatCannotRun = "Exit code 126 or 127 of a command makes a dead letter, not a pause."
  case takesSignalsForFailures = "A killed command counts as failed."
  case cancelsInWords = "The command of a cancelled customer keeps running."
  case timesOutInWords = "A command keeps running after its timeout."
  case leavesTheTreeOfTheEnded = "The remaining processes of a finished command keep running."
  case succeedsBesideTheTree = "The remaining processes of a dead runner are not ended."
  case forgetsWhoWasInHand =
    "A start ignores the customers in flight of the previous coordinator."
  case leavesOrphansAtTheStart = "A start ignores the remaining processes of earlier commands."
  case carriesThePayloadOfAnother = "A customer is assigned with the payload of the previous ticket."
  case auditsTheDismissed = "An audit of a closing bank fails because its services have exited."
  case takesEveryDayForToday = "A ticket of another day is cancelled or requeued by its number alone."
  case takesEveryErrorForAFullDisk =
    "The coordinator treats every error of its store as a full disk."
  case forgetsTheSuccessor = "A teller that is replaced after a delay gets no successor."
  case abortsOnly = "A stuck teller that ignores SIGABRT keeps running."
  case expelsInWords = "A teller that violates the protocol is logged and keeps running."
  case speaksOnce = "A client receives only the messages of the first iteration that sends it any."
  case answersEveryPart = "A closing bank answers a list once for each part."
  case waitsForTheUnready = "The coordinator waits forever for a teller that never becomes ready."
  case blamesTellersForItsOwnPause = "The timeouts of tellers include slow commits of the coordinator."
  case blamesClientsForItsOwnPause = "The timeouts of clients include slow commits of the coordinator."
  // In the snapshots.
  case leavesTheFirstOffTheBoard = "A board snapshot omits the customer that has waited longest."
  case paintsThoseAtWindowsAsWaiting =
    "A board snapshot lists a customer being served as waiting, if its line exceeds memory."
  case paintsWithoutAPause = "A board snapshot is made at each event."
  // In the code shared by services and their clients, and in the shells of both.
  case servicesBlameClients = "The timeouts of clients include slow commits of a service."
  case hearsTwice = "An answered request is answered again at its deadline."
  case forgetsWhatWasHeldBack = "Messages received before reading was paused are not delivered afterwards."
  case callsEveryErrorAFullDisk = "A service treats every disk error as a full disk."
  case asksForEachTicketOnce = "A return is not retried after a timeout of the stock."
  case takesSilenceForDone =
    "A timeout of the stock counts as a completed request of the manager."
  case takesSilenceForPutBack = "A timeout of the stock counts as a returned drink."
  // In the guardian, and in the coordinator that it guards.
  case startsBesideTheLiving =
    "A guardian starts the next coordinator before a stuck one has exited."
  case endsTheSilent = "A guardian ends a silent coordinator even if it waits for its disk."
  case opensTheClosed = "A guardian reopens a closed bank."
  case leavesTheBankUnguarded = "A coordinator does not replace a dead guardian."
  case keepsTheEndToItself = "A coordinator does not report to its guardian that the bank is closed."
  case forgetsThatItWasOpen = "A coordinator does not report to the next guardian that its bank is open."

  /// The name, as in `--bug`.
  public var name: String { String(describing: self) }
  /// One sentence that describes the defect.
  public var sentence: String { rawValue }
  var isOfTheStock: Bool { Self.stock.contains(self) }
  private static let stock: Set<Self> = [
    .takesAgain, .forgetsOrdersInACrash, .givesBackAgain, .takesInPart, .forgetsVoids, .forgetsShortages,
    .losesARow, .refusesTheLastFruit, .sellsTheLatestFirst,
  ]

  var isOfTheMachine: Bool { Self.machine.contains(self) }
  private static let machine: Set<Self> = [
    .paysInAgain, .buysAgain, .countsCoinsTwice, .givesChangeOfIntents, .takesBeforeTheIntent,
    .forgetsIntents, .keepsWhatWasGivenUp, .chargesNothing,
  ]

  /// True if the defect is in the queue's core and not in the shell around it. The cases of the core are declared
  /// first.
  var isOfTheCore: Bool { Self.core.contains(self) }
  private static let core = Set(allCases.prefix { $0 != .saysCommittedTooEarly })
  /// The promises that the defect may break first. An audit of the open bank can find any defect.
  public var breaks: Set<Violation.Kind> { promises.union([.audit]) }
  private var promises: Set<Violation.Kind> {
    switch self {
    case .startsBesideTheLiving, .endsTheSilent, .opensTheClosed, .leavesTheBankUnguarded,
      .keepsTheEndToItself, .forgetsThatItWasOpen:
      [.guardianship]
    case .leavesTheFirstOffTheBoard, .paintsThoseAtWindowsAsWaiting, .paintsWithoutAPause: [.board]
    case .startsTooEarly, .settlesAllWithTheFirst, .answersAtTheSeal, .forgetsToSeal: [.notDurable]
    // The newest transaction's tickets are announced before those of the others.
    case .settlesTheNewest: [.notDurable, .board]
    case .forgetsStarts: [.tooManyAttempts, .attempt]
    case .putsAsideWhoWasBeside: [.deadLetter]
    case .forgetsResultsOfCommands, .keepsTheResultOfTheOneBefore, .saysThatCutOutputIsWhole,
      .takesLaterForFailure, .takesSignalsForFailures:
      [.result]
    case .pausesWithoutAWord: [.paused]
    case .buriesWhatCannotRun: [.result]
    case .putsTheAttemptIntoTheKey, .cancelsInWords, .timesOutInWords, .leavesTheTreeOfTheEnded,
      .succeedsBesideTheTree, .leavesOrphansAtTheStart:
      [.process]
    case .carriesThePayloadOfAnother: [.payload]
    case .renewsEveryLeaseOfAWorker, .leavesTheExpiredInHand: [.lease]
    // A wrong result appears in a worker's late message, or in the receipt of a command.
    case .keepsTheResultOfAnother: [.staleMessage, .result]
    case .numbersWorkersAnew: [.staleMessage]
    case .keepsThoseOfTheGone: [.attempt, .lease]
    case .takesWorkersAnswersInTurn: [.attempt]
    // The worker's answers for recalled customers then look like protocol violations.
    case .handsAsManyAgain: [.doubleLease, .protocolViolation]
    case .forgetsWhoWasInHand: [.attempt]
    case .forgetsToPutBack: [.lostTicket, .order]
    case .forgetsToBury: [.lostTicket]
    case .forgetsToRevive: [.order, .attempt, .dayCounters, .storeContradiction, .notDrained]
    case .forgetsTheReceipt, .forgetsAttempts, .forgetsTheLost, .believesEveryTeller, .takesProgressForDone,
      .takesDeathForFailure:
      [.attempt]
    case .forgetsTheCancelled: [.notDurable, .dayCounters, .lostTicket]
    case .writesReceiptsTwice: [.attempt, .duplicate, .storeContradiction]
    case .paysTheWrongAmount, .paysTheWrongAccount, .postsNothingForServices: [.ledger]
    case .issuesNumbersTwice: [.duplicate, .storeContradiction]
    // A customer inserted twice may have the payload of another.
    case .stagesTwice: [.duplicate, .storeContradiction, .payload]
    // The counters start a new day, and later customers still get tickets of the old one.
    case .resetsWithoutReceipts:
      [.storeContradiction, .lostTicket, .duplicate, .dayCounters, .notDurable, .partialRequest]
    case .forgetsWhatIsUnsettled, .stagesNothingAgainOfTwo:
      [.dayCounters, .storeContradiction, .lostTicket, .notDurable]
    case .countsOneTooMany, .startsWithOldBooks, .forgetsTheDelayedAtTheStart, .closesTheDayTwice: [.dayCounters]
    case .acknowledgesTooEarly, .acknowledgesTheNext, .repliesTooEarly, .speaksRefusedTickets,
      .saysCommittedTooEarly, .answersAKeyTooEarly, .stockAnswersTooEarly:
      [.notDurable]
    case .answersTwice, .takesEveryDayForToday, .answersEveryPart, .hearsTwice: [.answer]
    case .servesAtOnceBeyondTheMemory, .callsEverybodyAtTheStart, .cutsTheDelayAtTheStart: [.early]
    case .losesAnswers, .forgetsPages, .forgetsPagesOfTheDelayed, .drainsNever, .drainsTooEarly,
      .forgetsWhatItHeldBack,
      .waitsForTheDismissed, .forgetsWhoComesBack, .introducesOnce, .vendingForgetsToRetry,
      .listenerStaysDeaf, .neverResumesReading, .viewIsNotRenewed, .gatesStayShut, .releasesAreNotRetried,
      .putsOffForGood, .checksOnce, .opensWindowsWhileItCloses, .forgetsTheSuccessor, .abortsOnly,
      .expelsInWords, .speaksOnce, .waitsForTheUnready, .blamesTellersForItsOwnPause, .forgetsWhatWasHeldBack,
      .callsEveryErrorAFullDisk, .asksForEachTicketOnce:
      [.notDrained]
    case .handsAcrossServices: [.crossedServices]
    case .assignsTwice: [.doubleLease]
    case .gradesUpsideDown: [.order]
    case .servesThePaused: [.paused]
    case .ignoresGenerations: [.staleMessage]
    case .expiresNobody, .expiresTooEarly: [.lease, .attempt]
    case .leavesTheStuck, .endsTheWrongGeneration, .swallowsRecalls, .startsGenerationsAnew, .judgesBySilence,
      .givesNoSignOfLife, .ignoresTheClose, .isDeafToProgress, .blamesServicesForItsOwnPause,
      .killsTheSuccessor, .blamesClientsForItsOwnPause:
      [.protocolViolation]
    case .neverFull, .ignoresTheShortage: [.overLimit]
    case .neverBuries, .buriesTooEarly: [.deadLetter]
    case .neverWakes: [.lease, .notDrained]
    case .ignoresTheDrain: [.overLimit, .notDrained]
    case .takesAFullDiskForACommit:
      [.notDurable, .dayCounters, .lostTicket, .storeContradiction, .notDrained, .partialRequest]
    case .performsLastFirst: [.attempt, .storeContradiction, .ledger, .repeatedKey]
    case .handsOutWithoutThePayload: [.payload]
    case .givesPayloadsToTheNeighbour: [.payload, .storeContradiction]
    case .forgetsKeys, .remembersTheFirstSliceOnly, .countsTheKnownTwice: [.repeatedKey]
    // The core waits forever for a transaction that was handed over to a slow disk while the disk was full.
    case .commitsToAFullDisk: [.dayCounters, .lostTicket, .storeContradiction, .notDrained]
    case .goesOnAfterARefusal: [.answer, .dayCounters]
    case .takesInTheWithdrawn: [.withdrawal]
    case .keepsAPartOfTheWithdrawn: [.partialRequest, .withdrawal, .storeContradiction, .notDurable, .duplicate]
    case .neverSyncs, .syncsOnlyWhenItCopiesTheLog, .copiesTheLogWithoutSyncing, .keepsTheBooksApart,
      .takesAFailedSyncForACommit, .takesAFailedSyncForAFullDisk, .migratesWithoutAJournal,
      .believesTheLogThatIsThere:
      [.storeContradiction]
    case .takesAgain, .forgetsOrdersInACrash: [.stockOrder, .stock, .drinks, .purchase, .repeatedOrder]
    case .givesBackAgain, .forgetsVoids: [.stockOrder, .purchase]
    case .takesInPart, .refusesTheLastFruit, .neverGivesBack, .givesBackTooEarly, .takesSilenceForGivenBack,
      .servesWithoutTaking, .asksAnewEachAttempt, .takesSilenceForShortage, .believesALateAnswer,
      .takesAFullStockForShortage, .takesAFullStockForGivenBack:
      [.stockOrder]
    case .forgetsShortages: [.notDurable, .purchase]
    case .losesARow: [.stockOrder, .storeContradiction]
    case .stockBelievesAFullDisk: [.notDurable, .storeContradiction, .notDrained]
    case .leavesOutAChange: [.news]
    case .showsTooEarly: [.notDurable, .news]
    case .sellsTheLatestFirst: [.drinks]
    // When a client repeats an order whose success was only assumed, the stock answers differently.
    case .takesSilenceForDone: [.drinks, .repeatedOrder]
    case .paysInAgain, .countsCoinsTwice, .givesChangeOfIntents, .chargesNothing: [.money]
    case .buysAgain: [.purchase, .refusal, .repeatedOrder]
    case .takesBeforeTheIntent, .keepsWhatWasGivenUp, .takesSilenceForSoldOut, .takesSilenceForTaken,
      .takesSilenceForPutBack:
      [.purchase]
    case .forgetsIntents: [.notDrained, .money, .notDurable]
    case .vendingAnswersTooEarly: [.notDurable, .refusal]
    case .vendingBelievesAFullDisk: [.notDurable, .refusal, .storeContradiction, .purchase]
    case .renamesPurchases: [.drinks, .purchase]
    case .sellsTheExpired, .stocksAgain: [.drinks, .stockOrder]
    case .channelForgetsTheRest, .servicesBlameClients: [.protocolViolation, .notDrained]
    case .takesAFullStockForSoldOut: [.purchase, .refusal]
    case .auditsTheDismissed: [.audit]
    case .takesEveryErrorForAFullDisk:
      [
        .storeContradiction, .notDurable, .duplicate, .dayCounters, .lostTicket, .notDrained, .attempt,
        .partialRequest,
      ]
    }
  }
}
