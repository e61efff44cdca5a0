// Owns the English sentence of each kind of remark, for logs, for scripts and for whoever reads English. `{0}` stands for
// the first value. It knows no other language; those are the client's.

extension Remark.Kind {
  /// The sentence, without a capital and without a full stop, so that it can stand inside another.
  var english: String {
    switch self {
    case .quoted:
      "{0}"
    case .booksServed:
      "served on day {0}: the books say {1}, the rows are {2}"
    case .booksCancelled:
      "cancelled on day {0}: the books say {1}, the rows are {2}"
    case .booksFirstReceipt:
      "first receipt of day {0}: the books say {1}, the rows are {2}"
    case .booksDelayed:
      "delayed: the books say {0}, the rows are {1}"
    case .booksDead:
      "dead letters: the books say {0}, the rows are {1}"
    case .booksWaiting:
      "{0} {1} waiting: the books say {2}, the rows are {3}"
    case .booksOfService:
      "{0} served: the books say {1}, the rows are {2}"
    case .wrongTransfer:
      "receipt {0}: the transfer is not the one of its service, amount and account"
    case .more:
      "and {0} more"
    case .neverIssued:
      "ticket {0} of day {1} was never issued: the books end at {2}"
    case .ticketTwice:
      "ticket {0} of day {1} stands in more than one place"
    case .ticketLost:
      "ticket {0} of day {1} was issued and stands nowhere"
    case .ticketsLost:
      "tickets {0} to {1} of day {2} were issued and stand nowhere"
    case .dayOutOfPlace:
      "day {0} is not day {1} in the books"
    case .dayNotFollowed:
      "day {0} is closed, and none follows"
    case .dayNotClosed:
      "day {0} was never closed"
    case .dayClosedEarly:
      "day {0} was closed with customers in it"
    case .noDay:
      "there are customers and no business day"
    case .strangeOrderRows:
      "{0} orders have rows that their outcome does not have"
    case .receiptOutOfOrder:
      "receipt {0} of day {1} comes after day {2}"
    case .receiptOfNobody:
      "receipt {0}: ticket {1} of day {2} was never issued"
    case .attemptsNotNumbered:
      "ticket {0} of day {1}: its attempts are not numbered 1 to {2}"
    case .attemptsMiscounted:
      "ticket {0} of day {1} counts {2} attempts, and that is not what is recorded"
    case .keyOfNobody:
      "a key stands for tickets of day {0} that were never issued"
    case .receiptMissing:
      "receipt {0} is missing before receipt {1}"
    case .receiptMeaningless:
      "receipt {0}: service, grade or outcome mean nothing"
    case .customerMeaningless:
      "the customer's key {0} means nothing"
    case .impossibleMoney:
      "ticket {0}: amount or account are impossible"
    case .momentWithoutDelay:
      "ticket {0}: only who is delayed has a moment of the next attempt"
    case .attemptsUnrecorded:
      "ticket {0} of day {1} counts {2} attempts before, and none is recorded"
    case .attemptOutOfPlace:
      "ticket {0} of day {1}: attempt {2} stands where {3} should"
    case .attemptEndUnknown:
      "ticket {0} of day {1}: attempt {2} ended in no known way"
    case .attemptsOfNobody:
      "ticket {0} of day {1} has attempts and stands nowhere"
    case .attemptsDiffer:
      "ticket {0} of day {1} counts {2} attempts, and {3} are recorded"
    case .keyOfTicketsOfNobody:
      "a key stands for tickets {0} to {1} of day {2}, and they were never issued"
    case .servedOutOfTurn:
      "{0} {1} of day {2}: ticket {3} was begun before ticket {4}, which stood before it"
    case .fileUnsound:
      "the file: {0}"
    case .changeMissing:
      "change {0} is missing before change {1}"
    case .changeLeaves:
      "change {0} leaves {1} of {2} {3}, the ledger {4} of {5}"
    case .changeLeavesImpossible:
      "change {0} leaves {1} of {2} {3}, which cannot be"
    case .changeOfUnknownOrder:
      "change {0} is of order {1}, which nobody remembers"
    case .orderUnsaid:
      "order {0} does not say what it has done in change {1}"
    case .orderMovedOther:
      "order {0} asked for {1} {2} and moved {3}"
    case .orderMovedUnasked:
      "order {0} moved what it did not ask for"
    case .shelfDiffers:
      "of {0} the ledger says {1}, and {2} are there"
    case .ordersDiffer:
      "{0} orders say that they changed something, and {1} did"
    case .moneyChangeMissing:
      "change {0} of the money is missing before change {1}"
    case .moneyChangeLeaves:
      "change {0} of the money leaves {1} won, the ledger {2}"
    case .moneyChangeLeavesImpossible:
      "change {0} of the money leaves {1} won, which cannot be"
    case .moneyChangeImpossible:
      "change {0} put in {1} won, which cannot be"
    case .requestIsTwoThings:
      "request {0} is a purchase and something else"
    case .purchaseNotMade:
      "change {0} books a purchase that was not made"
    case .purchaseOther:
      "purchase {0} is booked as another one in change {1}"
    case .purchaseMissing:
      "purchase {0} is missing before purchase {1}"
    case .purchasesDiffer:
      "{0} purchases say that they were made, and {1} are booked"
    case .purchasesCost:
      "purchases under way cost {0} won, and {1} are there"
    case .moneyNowhere:
      "{0} won that were put in are nowhere"
    case .booksDoNotAddUp:
      "the books of day {0} count {1} tickets and account for {2}"
    case .waitingDiffers:
      "{0} customers wait by the books, and {1} in the lines and at windows"
    case .delayedDiffers:
      "{0} customers are delayed by the books, and {1} in memory"
    case .lineOutOfOrder:
      "{0} {1}: ticket {2} stands behind {3}"
    case .servedWithoutOrder:
      "ticket {0} of day {1} got a juice, and for its order the stock has none"
    case .servedByShortOrder:
      "ticket {0} of day {1} got a juice, and for its order the stock has one that took nothing"
    case .servedByReturnedOrder:
      "ticket {0} of day {1} got a juice, and for its order the stock has one that was given back"
    case .sentAwayWithoutOrder:
      "ticket {0} of day {1} was sent away for want of fruit, and the stock has none"
    case .sentAwayByReturnedOrder:
      "ticket {0} of day {1} was sent away for want of fruit, and the stock has one that was given back"
    case .endedHolding:
      "ticket {0} of day {1} ended without a juice and holds {2}"
    case .orderOfNobody:
      "the stock has an order of ticket {0} of day {1}, and there is no such ticket"
    case .refuses:
      "it refuses: {0}"
    case .strangeAnswer:
      "it gave an answer that does not belong here"
    case .foreignOrders:
      "{0} orders in the stock were made for tickets of other books than these"
    case .moreOfStock:
      "and {0} more of the stock"
    case .drinksDiffer:
      "the stock gave out {0} drinks, and {1} were paid for"
    case .stranger:
      "process {0} ({1}) works in this home, and the bank does not know it"
    case .cannotLook:
      "{0} cannot be looked at: {1}"
    case .otherOwner:
      "{0} belongs to another user ({1})"
    case .openToOthers:
      "{0} is open to others: its mode is {1}, not {2}"
    case .notReturned:
      "ticket {0} of day {1} was cancelled, and the stock does not take back what it holds: {2}"
    case .moreNotReturned:
      "and {0} more that the stock does not take back"
    case .newBank:
      "{0}.db has last worked with another bank.db"
    case .newDatabase:
      "{0}.db is a new one, and the bank has worked with another"
    case .olderBank:
      "bank.db is an older copy than {0}.db beside it"
    case .olderDatabase:
      "{0}.db is an older copy than bank.db beside it"
    case .otherDatabase:
      "{0}.db belongs to another bank"
    case .databaseMissing:
      "there is no {0}, and there were orders"
    case .cannotBegin:
      "its process cannot begin: {0}"
    case .endedAtOnce:
      "its process cannot begin: it ended at once"
    case .presentDay: "the present day is {0}"
    case .lastDay: "the last day was {0}"
    case .waitAtMost: "{0} customers wait, and {1} may wait at most"
    case .inUse: "{0} is in use"
    case .schemaFound: "schema {0} was found, up to {1} is known"
    case .fileEmpty: "the file is empty"
    case .databaseRemoved: "the database was removed while the bank was open"
    case .neverOpened: "no bank was ever opened here"
    case .accountRange: "an account is 0 to {0}, not {1}"
    case .listEmpty: "the list is empty"
    case .listEnded: "a list ended before its last customer"
    case .listUnreadable: "a list could not be read back: {0}"
    case .emptyAfterOpening: "the file is empty, and the bank has been open before"
    case .notDirectory: "it is no directory"
    case .belongsToOther: "it belongs to another user"
    case .writableByOthers:
      "other users can write to it, and it holds other things; an empty directory will do"
    case .pathTooLong: "its path has {0} bytes, and {1} is the most"
    case .timeoutNegative: "a timeout is not negative"
    case .noRange: "tickets {0} to {1} are no range"
    case .serviceTwice: "a service is named more than once"
    case .windowsRange: "{0} has 0 to {1} windows, not {2}"
    case .viewsAtMost: "at most {0} requests that watch or follow may be open on one connection"
    case .answersAtMost: "at most {0} answers may be open on one connection"
    case .resetOtherDay: "day {0} was to be reset, and it is day {1}"
    case .resetMeanwhile: "the queue was reset while the request was taken in"
    case .reserveInUse: "the reserve is in use"
    case .noRoomForReceipts: "there is no room for the receipts of those who would come"
    case .emptyBesideLog: "the file is empty, and the log beside it is not"
    case .notSQLite: "it is not an SQLite database"
    case .otherApplication: "it is the database of another application"
    case .noSchemaVersion: "its schema has no version"
    case .logNotOn: "the write-ahead log could not be switched on ({0})"
    case .logNotLeft: "the log could not be left ({0})"
    case .fileNotCreated: "the file could not be created: {0}"
    case .notCreated: "{0} could not be created: {1}"
    case .notCopied: "it could not be copied to be looked into ({0}); set TMPDIR to a place with room for it"
    case .fileRemoved: "the file was removed or renamed"
    case .storeClosed: "the store was closed"
    case .amountImpossible: "{0} is not among the amounts there can be, up to {1}"
    case .itemTwice: "the item stands twice"
    case .itemCount: "an order is of 1 to {0} items, not {1}"
    case .orderName: "an order has a name of 1 to {0} bytes of visible ASCII"
    case .badDates: "the dates are no days, or in the wrong order"
    case .nameOfOther: "the name belongs to an order of something else"
    case .wasGivenBack: "the order was given back"
    case .presentAtMost: "there are {0}, and {1} may be there at most"
    case .lotsHaveDates: "its lots have dates; add or remove pieces"
    case .lotsAlready: "there are {0} lots already"
    case .noRoomForShelves: "there is no room for the shelves of a new stock"
    case .insertionRange: "{0} to {1} won can be put in at a time"
    case .requestName: "a request has a name of 1 to {0} bytes of visible ASCII"
    case .nameOfOtherRequest: "the name belongs to a request of something else"
    case .balanceAtMost: "{0} won may be in the machine at most"
    case .purchasesUnderWay: "{0} purchases are under way"
    case .expiresBeforeMade: "the dates are no days, or it expires before it is made"
    case .amountRange: "{0} is not among the amounts there can be, 1 to {1}"
    case .changesNothing: "this changes nothing"
    case .managersSocket: "this is the manager's socket"
    case .customersSocket: "this is the customers' socket"
    case .viewsOpen: "{0} views are open"
    case .noSocket: "there is no socket {0}"
    case .nobodyListens: "nobody listens on {0}"
    case .noRoomForConnection: "{0} has no room for another connection now"
    case .peerClosed: "the peer closed the connection"
    case .peerClosedMidFrame: "the peer closed the connection in the middle of a message"
    case .malformed: "the peer sent a malformed message: {0}"
    case .oversized: "the peer announced a message longer than this connection allows"
    case .connectionFailed: "the connection failed: {0}"
    case .peerDoesNotRead: "the peer does not read what it is sent"
    case .unsendable: "a message could not be sent: {0}"
    case .closedHere: "this side closed the connection"
    case .noAnswer: "the service does not answer"
    case .stockSilent: "the stock service does not answer"
    case .endedMeanwhile: "the service ended {0} times while it was at it"
    case .nobodyListensYet: "nobody listens"
    case .showsNothing: "it shows nothing"
    case .noPicture: "no picture"
    case .booksImpossible: "the books of day {0} hold an impossible number"
    case .uncancelled: "day {0} has customers that could not be cancelled"
    case .waitsWithReceipt: "someone who waits on day {0} already has a receipt"
    case .waitsCancelled: "someone who waits on day {0} was cancelled before"
    case .cancelledBefore: "ticket {0} of day {1} was cancelled before"
    case .receiptTwice: "ticket {0} of day {1} already has a receipt"
    case .shortTwice: "ticket {0} of day {1} lacks {2} twice"
    case .releaseUnknown: "nothing was to be given back for ticket {0} of day {1}"
    case .alreadyIs: "ticket {0} of day {1} already is {2}"
    case .alreadyInQueue: "ticket {0} of day {1} already stands in the queue"
    case .notAmong: "ticket {0} of day {1} is not among the {2} customers"
    case .attemptTwice: "attempt {0} at ticket {1} of day {2} already is recorded"
    case .keyRemembered: "the key of tickets {0} to {1} of day {2} already is remembered"
    case .dayTwice: "day {0} already has been"
    case .dayMissing: "day {0} is missing"
    case .dayRowMissing: "the row of day {0} is missing"
    case .noBusinessDay: "there is no business day"
    case .presentDayClosed: "the present day {0} is closed"
    case .startsMissing: "the count of starts is missing"
    case .booksNameBroken: "the name of the books is not whole"
    case .receiptsWithoutDay: "there are receipts and no business day"
    case .dayNotCarried: "day {0} ends with {1} customers, and the next begins with {2}"
    case .delayedWithoutMoment: "ticket {0} is delayed until no moment"
    case .receiptOutcome: "receipt {0} has the unknown outcome {1}"
    case .serviceUnknown: "there is no service {0}"
    case .gradeUnknown: "there is no grade {0}"
    case .numberRange: "the number {0} is out of range"
    case .orderOutcome: "order {0} has the outcome {1}"
    case .orderShortUnknown: "order {0} was short of an item that is not kept"
    case .changeMeaningless: "change {0} means nothing"
    case .lotMeaningless: "a lot of item {0} means nothing"
    case .itemNumber: "item {0} has the number or the name of none"
    case .itemKept: "item {0} is kept already"
    case .changeTwice: "change {0} is in the ledger already, or is none"
    case .changeLeavesLot: "change {0} leaves a lot of {1}"
    case .orderAnswered: "order {0} was answered already"
    case .orderShortAlready: "order {0} was short already"
    case .orderNotHolding: "order {0} does not hold what is given back"
    case .itemUnknown: "there is no item {0}"
    case .balanceDiffers: "the last balance is {0}, and the rows add up to {1}"
    case .purchaseCostsMore: "a purchase under way costs more than there is"
    case .purchaseEnded: "purchase {0} has ended already, or never began"
    case .purchaseState: "purchase {0} has the state {1}"
    case .purchaseNumber: "a purchase has the number {0}"
    case .purchaseTwice: "purchase {0} or request {1} was begun already"
    case .moneyChangeTwice: "change {0} or request {1} is in the ledger already"
    case .olderVersion: "it is of an older version"
    case .missingBesideLog: "the file is missing, and its log {0} is there"
    case .zeroByte: "the path contains a zero byte"
    case .partAtMost: "a part has at most {0} entries, not {1}"
    case .customersAtMost: "at most {0} customers a command"
    case .notInList: "customers for {0} do not come in a list"
    case .moneyRange: "an amount is 1 to {0} won, not {1}"
    case .keyLength: "a key has 1 to {0} bytes, not {1}"
    case .customersRange: "1 to {0} customers a command, not {1}"
    case .payloadAtMost: "a payload has at most {0} bytes, not {1}"
    case .processCode: "code {0}"
    case .processSignal: "{0}"
    case .processUnseen: "unseen"
    case .cannotBeginCode: "the process cannot begin: code {0}"
    case .cannotBeginSignal: "the process cannot begin: {0}"
    case .fileDamaged: "{0} is damaged ({1})"
    case .otherBuild: "{0}: version {1} of build {2} is not mine"
    case .earlyAnswer: "an answer before the welcome"
    case .secondWelcome: "a second welcome"
    case .endsMidFrame: "it ends within a frame"
    case .tooManyAnswers: "more answers than questions"
    case .nothingAnswered: "nothing"
    case .otherAnswer: "the answer '{0}'"
    case .viewBegunAnew: "after change {0} a new picture was shown, of change {1}"
    case .viewRefused: "the view was refused: {0}"
    case .viewOutOfOrder: "after change {0} came change {1}"
    case .viewDiffers: "after change {0} there are {1} {2}, not {3}"
    case .viewEndsEarly: "the last change is {0}, and the last that was told is {1}"
    case .viewSum: "what was told does not add up to what is there"
    case .balanceAfter: "the balance after {0} is {1}, not {2}"
    case .wasRefused: "{0} was refused: {1}"
    case .wasAnsweredOtherwise: "{0} was answered with {1}"
    case .balanceIs: "the balance is {0}, not {1}"
    case .drinksAre: "there are {0} {1}, not {2}"
    case .purchasesKept: "{0} purchases are kept, and {1} were answered"
    }
  }
}
