// The planted bugs: each a possible defect of a core or a shell, described in a sentence, with the promises
// that it breaks.
// Invariant: a checker that misses one of them is itself broken, which a test would show.

/// A deliberate defect.
public enum PlantedBug: String, CaseIterable, Sendable {
  // In the core: staged changes.
  case forgetsToPutBack = "A customer whose teller died is not put back into its line."
  case forgetsToBury = "A customer who is put aside is not kept among the dead letters."
  case forgetsToRevive = "A customer who is brought back is not kept as waiting."
  case forgetsTheReceipt = "A customer is done and gets no receipt."
  case forgetsTheCancelled = "A cancelled customer gets no receipt."
  case forgetsAttempts = "An attempt that ended without a receipt is not recorded."
  case writesReceiptsTwice = "Every receipt is written twice."
  case paysTheWrongAmount = "A receipt says one won more than the customer brought."
  case paysTheWrongAccount = "A receipt names the account of somebody else."
  case postsNothingForServices = "Of a customer of a service with a ledger the amount is not moved."
  case issuesNumbersTwice = "Now and then a number is given to two customers."
  case resetsWithoutReceipts = "A reset empties the queue and writes no receipts."
  case forgetsWhatIsUnsettled = "After a full disk what was staged is not staged again."
  case countsOneTooMany = "The books count one customer more than were served."
  // In the core: answers.
  case acknowledgesTooEarly = "A completion is acknowledged before its commit."
  case acknowledgesTheNext = "An acknowledgement names the ticket after the one that was done."
  case repliesTooEarly = "Tickets are spoken when they are staged, not when they are on disk."
  case speaksRefusedTickets = "Tickets that the disk refused are spoken."
  case answersTwice = "A request is answered twice."
  case losesAnswers = "A request that was done is never answered."
  // In the core: assignments.
  case handsAcrossServices = "A customer is handed to a window of the other service."
  case assignsTwice = "A customer is handed to two windows."
  case gradesUpsideDown = "The lowest grade is served first."
  case servesThePaused = "A pause changes nothing."
  case forgetsPages = "The next page of a line is never read."
  case forgetsPagesOfTheDelayed = "The next page of those who are delayed is never read."
  case servesAtOnceBeyondTheMemory =
    "Whoever orders for later is served at once where more are delayed than memory holds."
  // In the core: tellers.
  case forgetsTheLost = "The end of a teller with a customer in hand is not noticed."
  case ignoresGenerations = "A late word of a dead teller counts for its successor."
  case believesEveryTeller = "A teller that answers for somebody else's customer finishes its own."
  case takesProgressForDone = "A report of progress counts as the end of the work."
  case takesDeathForFailure = "A teller that dies counts as one that reported a failure."
  case expiresNobody = "A lease never runs out."
  case expiresTooEarly = "A lease runs out after half of its time."
  case leavesTheStuck = "A teller whose lease has run out is not ended."
  case endsTheWrongGeneration = "Of a stuck teller its predecessor is ended."
  case swallowsRecalls = "A teller is not told that its customer was taken back."
  // In the core: concurrent workers.
  case putsAsideWhoWasBeside =
    "Everybody is put aside who was in the hands of a worker that died, beside others."
  case renewsEveryLeaseOfAWorker = "Progress with one customer renews the leases of all in a worker's hands."
  case keepsTheResultOfAnother = "A receipt is kept with the result of the customer before."
  case leavesTheExpiredInHand = "No lease runs out that a worker holds who has come by itself."
  case keepsThoseOfTheGone = "A worker that has gone keeps its customers."
  case takesWorkersAnswersInTurn = "Whatever a worker answers is for the one whom it has longest."
  case handsAsManyAgain = "A worker that has not given back whom it was asked for gets as many again."
  // In the core: services that count attempts.
  case startsTooEarly = "In a service that counts attempts one begins before that is on disk."
  case forgetsStarts = "After a start nobody knows whose attempt had begun."
  // In the core: customers whose work is a command.
  case forgetsResultsOfCommands = "A customer whom a command has served gets a receipt without its result."
  case keepsTheResultOfTheOneBefore =
    "A receipt is kept with the result of the command before at that window."
  case saysThatCutOutputIsWhole = "Of output that was cut the receipt says that there was no more."
  case pausesWithoutAWord = "A service whose program is missing is paused, and nobody is told."
  // In the core: limits and ends.
  case neverFull = "The queue has no limit."
  case ignoresTheShortage = "New customers are taken while there is only room for finishing the others."
  case neverBuries = "A customer who ends one teller after the other is never put aside."
  case buriesTooEarly = "A customer is put aside one attempt too early."
  case neverWakes = "Nothing happens by itself: neither pauses nor leases end without another event."
  case drainsNever = "The end of a drain is not reported."
  case drainsTooEarly = "A drain is reported as ended when it begins."
  case ignoresTheDrain = "A bank that is closing takes new customers."
  // In the core: transactions in flight to the disk.
  case settlesAllWithTheFirst =
    "With the first transaction that is on disk everything is settled that is on its way."
  case answersAtTheSeal = "What waits for a transaction is settled when that is on its way."
  case settlesTheNewest = "Of several transactions on their way the newest is settled first."
  case stagesNothingAgainOfTwo =
    "Where two transactions or more on their way are refused, nothing is staged again."
  // In the shell.
  case saysCommittedTooEarly = "The shell reports a commit before it has made it."
  case forgetsToSeal = "What was staged while a transaction was on its way is settled with it."
  case takesAFullDiskForACommit = "The shell reports a commit that the disk has refused."
  case performsLastFirst = "The shell stages changes in the wrong order."
  case forgetsWhatItHeldBack = "The shell forgets what could not be read while the disk was full."
  case forgetsKeys = "The shell does not remember the keys of requests."
  case givesPayloadsToTheNeighbour = "In a list a payload is given to the customer of the next line."
  case remembersTheFirstSliceOnly = "The shell remembers a key with the first of its tickets only."
  case answersAKeyTooEarly = "The shell answers a known key before its tickets are on disk."
  case startsWithOldBooks = "The shell starts with the books of the commit before the last."
  case forgetsTheDelayedAtTheStart = "The shell starts without the customers who wait for a next attempt."
  case callsEverybodyAtTheStart = "After a start whoever has ordered for later is served at once."
  case cutsTheDelayAtTheStart =
    "After a start nobody is delayed for longer than the longest pause between attempts."
  case commitsToAFullDisk = "The shell keeps the books without the changes that a full disk has refused."
  case goesOnAfterARefusal = "The shell goes on with the rest of a list that was refused."
  case startsGenerationsAnew = "The shell begins again with generation 1 at a window that is opened again."
  case waitsForTheDismissed = "The shell waits without end for a teller that was told to go."
  case countsTheKnownTwice = "The shell wants room for customers who are in the queue already."
  case stagesTwice = "After a full disk the shell stages everything twice when nothing happened meanwhile."
  case closesTheDayTwice = "The shell closes the day again when the disk was full at the first time."
  case takesInTheWithdrawn = "A request that is said to be withdrawn is taken in all the same."
  case keepsAPartOfTheWithdrawn = "Of a request that is withdrawn the part stays that was taken in."
  // In the store that keeps the queue on a disk.
  case neverSyncs = "The queue's database is kept without any fsync."
  case syncsOnlyWhenItCopiesTheLog = "A commit is answered before the fsync of the log."
  case copiesTheLogWithoutSyncing = "The log begins anew before what was copied from it is on disk."
  case keepsTheBooksApart = "The books are committed after the rows that they count."
  case takesAFailedSyncForACommit = "A commit whose fsync has failed counts as one that was kept."
  case takesAFailedSyncForAFullDisk = "A failed fsync counts as a full disk, and the coordinator goes on."
  case migratesWithoutAJournal = "A new database is made without a journal."
  case believesTheLogThatIsThere = "A start goes on with a log of which a sync may have failed."
  // In the stock's core.
  case takesAgain = "The stock takes again for an order that it has served."
  case forgetsOrdersInACrash = "The stock does not know the orders that were answered before its last start."
  case givesBackAgain = "The stock gives back once more what was given back."
  case takesInPart = "The stock takes what is there of an order, and leaves out what is not."
  case forgetsVoids = "The stock does not remember that an order was given back before it came."
  case forgetsShortages = "The stock does not remember which orders it had too little for."
  case losesARow = "An order of two fruits writes the first only into the ledger."
  case refusesTheLastFruit = "An order of all that is left of a fruit is refused."
  // In the shell around the stock.
  case stockAnswersTooEarly = "The stock answers before the fsync."
  case stockBelievesAFullDisk = "The stock answers for what a full disk has refused."
  case leavesOutAChange =
    "Somebody who comes back to look on is not told of the first change that was missed."
  case showsTooEarly = "Those who look on are told of changes before they are on disk."
  case forgetsWhoComesBack =
    "Somebody who comes back to look on is told of what was missed, and of nothing after it."
  case sellsTheLatestFirst = "Of two lots the one that expires last is sold first."
  // In the vending machine's core.
  case paysInAgain = "Money is put in once more when its request is repeated."
  case buysAgain = "A drink is bought once more when its request is repeated."
  case countsCoinsTwice = "The machine counts twice what is put in."
  case givesChangeOfIntents = "The change includes what purchases under way will cost."
  case takesBeforeTheIntent = "The stock is asked for a drink before the purchase is on disk."
  case forgetsIntents = "A machine that begins again knows nothing of the purchases that were under way."
  case keepsWhatWasGivenUp = "What a purchase that was given up has taken is not put back."
  case chargesNothing = "A drink is bought, and costs nothing."
  // In the shell around the vending machine.
  case vendingAnswersTooEarly = "The machine answers before the fsync."
  case vendingBelievesAFullDisk = "The machine answers for what a full disk has refused."
  case renamesPurchases = "A machine that begins again asks the stock under another name."
  case sellsTheExpired = "The machine does not tell the stock what day it is."
  case takesSilenceForSoldOut = "A stock that does not answer counts as one that has none of the drink."
  case takesSilenceForTaken = "A stock that does not answer counts as one that has handed the drink out."
  case stocksAgain = "What the manager brings is put in each time that it is asked for."
  case introducesOnce =
    "A stock that would not hear of the machine's products at the first time is never told of them again."
  case vendingForgetsToRetry =
    "What a full disk has refused is not written when there is room, if something else was written before."
  // In the common base of both services, and in their clients.
  case listenerStaysDeaf = "A service that had no descriptor left accepts nobody any more."
  case channelForgetsTheRest = "What a full socket did not take is not sent later."
  case neverResumesReading = "A client that has read nothing for a while is never heard again."
  case viewIsNotRenewed = "Somebody who looks on does not say so again to the next service."
  case gatesStayShut = "The machine never notices that its view shows what was done."
  case releasesAreNotRetried = "What the stock would not put back at the first time is never put back."
  // In the stock's clients.
  case neverGivesBack = "What a cancelled ticket holds is not given back."
  case givesBackTooEarly = "What a ticket holds is given back before its cancellation is on disk."
  case takesSilenceForGivenBack = "A stock that does not answer counts as one that has given back."
  case servesWithoutTaking = "Now and then a juice is served for which nothing was taken."
  case asksAnewEachAttempt = "Every attempt at a juice is a new order."
  case takesSilenceForShortage = "A stock that does not answer counts as one that has too little."
  case believesALateAnswer = "A station takes the answer for an earlier customer for that of the present one."
  case takesAFullStockForShortage = "A stock without room on its disk counts as one that has too little."
  case takesAFullStockForGivenBack = "A stock without room on its disk counts as one that has given back."
  case putsOffForGood = "What could not be given back while the disk was full is never given back."
  case takesAFullStockForSoldOut =
    "A stock without room on its disk counts as one that has none of the drink."
  // In the supervision of the services.
  case judgesBySilence =
    "A service that waits for its disk, or is at a long work, is ended as if it stood still."
  case givesNoSignOfLife = "The stock service does not answer when it is asked whether it lives."
  case ignoresTheClose = "A service that is told to go stays."
  case checksOnce = "A service is asked only once whether it lives."
  case isDeafToProgress = "A service that reports how a long work goes on is ended as if it stood still."
  case blamesServicesForItsOwnPause = "A slow commit of the coordinator is held against its services."
  case killsTheSuccessor = "What was to end a process that has ended by itself ends its successor."
  // In the supervisors, and at the control socket.
  case opensWindowsWhileItCloses = "A bank that closes opens windows where its configuration is read again."
  case numbersWorkersAnew =
    "The workers that come by themselves have the same generations under each coordinator."
  case handsOutWithoutThePayload =
    "Where the disk is full a customer is handed out without what it carries."
  // In the runners of commands.
  case putsTheAttemptIntoTheKey = "Each attempt at a customer has a key of its own."
  case takesLaterForFailure = "A command that ends with 75 counts as one that has failed."
  case buriesWhatCannotRun = "A command that ends with 126 or 127 makes a dead letter, and pauses nothing."
  case takesSignalsForFailures = "A command that was killed counts as one that has failed."
  case cancelsInWords = "The command of a customer who is taken out goes on."
  case timesOutInWords = "A command whose time is over goes on."
  case leavesTheTreeOfTheEnded = "When a command has ended, those whom it has left behind live on."
  case succeedsBesideTheTree = "Of a runner that has died what it has left behind is not ended."
  case forgetsWhoWasInHand =
    "A start does not look for the customers with whom the coordinator before it has died."
  case leavesOrphansAtTheStart = "A start does not look for what is left of the commands of before."
  case carriesThePayloadOfAnother = "Whoever is served is handed out with the payload of the ticket before."
  case auditsTheDismissed = "An audit of a bank that closes fails, because its services were told to go."
  case takesEveryDayForToday = "A ticket of another day is cancelled, or brought back, by its number alone."
  case takesEveryErrorForAFullDisk =
    "The coordinator goes on after an error of its store as if the disk were full."
  case forgetsTheSuccessor = "A teller whose successor comes after a pause has none."
  case abortsOnly = "A stuck teller that does not hear SIGABRT stays."
  case expelsInWords = "A teller that breaks the rules is told off, and stays."
  case speaksOnce = "A client is told only what is said in the first turn that says something to it."
  case answersEveryPart = "A bank that closes answers a list once for each of its parts."
  case waitsForTheUnready = "A teller that is never ready is waited for without end."
  case blamesTellersForItsOwnPause = "A slow commit of the coordinator is held against its tellers."
  case blamesClientsForItsOwnPause = "A slow commit of the coordinator is held against its clients."
  // In the board.
  case leavesTheFirstOffTheBoard = "A picture of the board does not show who waits longest."
  case paintsThoseAtWindowsAsWaiting =
    "A picture of the board names whom a window has among those who wait, where they stand beyond the memory."
  case paintsWithoutAPause = "A picture of the board is made each time that something happens."
  // In the code shared by services and their clients, in their shells, and in what is held back.
  case servicesBlameClients = "A slow commit of a service is held against its clients."
  case hearsTwice = "A request that was answered is answered once more at its deadline."
  case forgetsWhatWasHeldBack = "What came before a client was no longer heard is not delivered afterwards."
  case callsEveryErrorAFullDisk = "A service goes on after an error of its disk as if it were full."
  case asksForEachTicketOnce = "A stock that did not answer is not asked again to give back."
  case takesSilenceForDone =
    "A stock that does not answer counts as one that has done what the manager wants."
  case takesSilenceForPutBack = "A stock that does not answer counts as one that has put a drink back."
  // In the guardian, and in the coordinator that it guards.
  case startsBesideTheLiving =
    "A guardian starts the next coordinator before it has seen the end of one that stands still."
  case endsTheSilent = "A guardian ends a coordinator that is silent, also where it waits for its disk."
  case opensTheClosed = "A guardian opens a bank again that was closed."
  case leavesTheBankUnguarded = "A coordinator does not replace a guardian that has died."
  case keepsTheEndToItself = "A coordinator does not tell its guardian that the bank is closed."
  case forgetsThatItWasOpen = "A coordinator does not tell the next guardian that its bank is open."

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

  /// True if the defect is in the queue's core and not in the shell around it. Those cases come first.
  var isOfTheCore: Bool { Self.core.contains(self) }
  private static let core = Set(allCases.prefix { $0 != .saysCommittedTooEarly })
  /// The promises that it may break first. An audit of the open bank can find any of them.
  public var breaks: Set<Violation.Kind> { promises.union([.audit]) }
  private var promises: Set<Violation.Kind> {
    switch self {
    case .startsBesideTheLiving, .endsTheSilent, .opensTheClosed, .leavesTheBankUnguarded,
      .keepsTheEndToItself, .forgetsThatItWasOpen:
      [.guarding]
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
    case .keepsTheResultOfAnother: [.lateWord, .result]
    case .numbersWorkersAnew: [.lateWord]
    case .keepsThoseOfTheGone: [.attempt, .lease]
    case .takesWorkersAnswersInTurn: [.attempt]
    // The worker's answers for recalled customers then look like lies.
    case .handsAsManyAgain: [.doubleLease, .conversation]
    case .forgetsWhoWasInHand: [.attempt]
    case .forgetsToPutBack: [.lostTicket, .order]
    case .forgetsToBury: [.lostTicket]
    case .forgetsToRevive: [.order, .attempt, .books, .storeContradiction, .notDrained]
    case .forgetsTheReceipt, .forgetsAttempts, .forgetsTheLost, .believesEveryTeller, .takesProgressForDone,
      .takesDeathForFailure:
      [.attempt]
    case .forgetsTheCancelled: [.notDurable, .books, .lostTicket]
    case .writesReceiptsTwice: [.attempt, .duplicate, .storeContradiction]
    case .paysTheWrongAmount, .paysTheWrongAccount, .postsNothingForServices: [.ledger]
    case .issuesNumbersTwice: [.duplicate, .storeContradiction]
    // A customer inserted twice may have the payload of another.
    case .stagesTwice: [.duplicate, .storeContradiction, .payload]
    // The counters start a new day, and later customers still get tickets of the old one.
    case .resetsWithoutReceipts:
      [.storeContradiction, .lostTicket, .duplicate, .books, .notDurable, .halfRequest]
    case .forgetsWhatIsUnsettled, .stagesNothingAgainOfTwo:
      [.books, .storeContradiction, .lostTicket, .notDurable]
    case .countsOneTooMany, .startsWithOldBooks, .forgetsTheDelayedAtTheStart, .closesTheDayTwice: [.books]
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
    case .ignoresGenerations: [.lateWord]
    case .expiresNobody, .expiresTooEarly: [.lease, .attempt]
    case .leavesTheStuck, .endsTheWrongGeneration, .swallowsRecalls, .startsGenerationsAnew, .judgesBySilence,
      .givesNoSignOfLife, .ignoresTheClose, .isDeafToProgress, .blamesServicesForItsOwnPause,
      .killsTheSuccessor, .blamesClientsForItsOwnPause:
      [.conversation]
    case .neverFull, .ignoresTheShortage: [.overfull]
    case .neverBuries, .buriesTooEarly: [.deadLetter]
    case .neverWakes: [.lease, .notDrained]
    case .ignoresTheDrain: [.overfull, .notDrained]
    case .takesAFullDiskForACommit:
      [.notDurable, .books, .lostTicket, .storeContradiction, .notDrained, .halfRequest]
    case .performsLastFirst: [.attempt, .storeContradiction, .ledger, .repeatedKey]
    case .handsOutWithoutThePayload: [.payload]
    case .givesPayloadsToTheNeighbour: [.payload, .storeContradiction]
    case .forgetsKeys, .remembersTheFirstSliceOnly, .countsTheKnownTwice: [.repeatedKey]
    // A transaction handed over to a slow disk that was full is waited for forever.
    case .commitsToAFullDisk: [.books, .lostTicket, .storeContradiction, .notDrained]
    case .goesOnAfterARefusal: [.answer, .books]
    case .takesInTheWithdrawn: [.withdrawal]
    case .keepsAPartOfTheWithdrawn: [.halfRequest, .withdrawal, .storeContradiction, .notDurable, .duplicate]
    case .neverSyncs, .syncsOnlyWhenItCopiesTheLog, .copiesTheLogWithoutSyncing, .keepsTheBooksApart,
      .takesAFailedSyncForACommit, .takesAFailedSyncForAFullDisk, .migratesWithoutAJournal,
      .believesTheLogThatIsThere:
      [.storeContradiction]
    case .takesAgain, .forgetsOrdersInACrash: [.taking, .stock, .drinks, .purchase, .repeatedOrder]
    case .givesBackAgain, .forgetsVoids: [.taking, .purchase]
    case .takesInPart, .refusesTheLastFruit, .neverGivesBack, .givesBackTooEarly, .takesSilenceForGivenBack,
      .servesWithoutTaking, .asksAnewEachAttempt, .takesSilenceForShortage, .believesALateAnswer,
      .takesAFullStockForShortage, .takesAFullStockForGivenBack:
      [.taking]
    case .forgetsShortages: [.notDurable, .purchase]
    case .losesARow: [.taking, .storeContradiction]
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
    case .sellsTheExpired, .stocksAgain: [.drinks, .taking]
    case .channelForgetsTheRest, .servicesBlameClients: [.conversation, .notDrained]
    case .takesAFullStockForSoldOut: [.purchase, .refusal]
    case .auditsTheDismissed: [.audit]
    case .takesEveryErrorForAFullDisk:
      [
        .storeContradiction, .notDurable, .duplicate, .books, .lostTicket, .notDrained, .attempt,
        .halfRequest,
      ]
    }
  }
}
