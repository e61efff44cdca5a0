// Details of a failure or of an audit's finding, as a kind and its values. Each program shows them in the
// language of its reader.
// Invariant: the number of a kind never gets another meaning.

/// One detail of a failure or of a finding.
public struct Remark: Hashable, Sendable {
  /// Number of its kind; a kind of a newer program may be unknown here.
  public var code: Int64
  /// Values of the placeholders, in order.
  public var values: [String]
  /// Origin; nil if the context shows it.
  public var source: Source?

  /// Makes a detail; `values` fill the placeholders of the kind in order.
  public init(_ kind: Kind, _ values: any CustomStringConvertible...) {
    code = kind.wording.code
    self.values = values.map { "\($0)" }
  }

  /// Quotes another program's text, such as a message of the system or of SQLite.
  public init(quoting text: String) { self.init(.quoted, text) }

  /// Kind of the detail; nil if only a newer program has it.
  public var kind: Kind? { Kind.byCode[code] }
}

extension Remark: Codable {
  enum CodingKeys: Int, CodingKey {
    case code = 1
    case values, source
  }
}

extension Remark {
  /// Number of a detail in messages, and its sentence in English, for logs, scripts and English readers. The
  /// sentence has no capital and no full stop, so that it can be part of another. `{0}` is the first value.
  /// Translations are part of the client.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case quoted = "1 {0}"
    case booksServed = "2 served on day {0}: the books say {1}, the rows are {2}"
    case booksCancelled = "3 cancelled on day {0}: the books say {1}, the rows are {2}"
    case booksFirstReceipt = "4 first receipt of day {0}: the books say {1}, the rows are {2}"
    case booksDelayed = "5 delayed: the books say {0}, the rows are {1}"
    case booksDelayedOfService = "344 {0} delayed: the books say {1}, the rows are {2}"
    case booksDead = "6 dead letters: the books say {0}, the rows are {1}"
    case booksWaiting = "7 {0} {1} waiting: the books say {2}, the rows are {3}"
    case booksOfService = "8 {0} served: the books say {1}, the rows are {2}"
    case wrongTransfer = "9 receipt {0}: the transfer is not the one of its service, amount and account"
    case more = "10 and {0} more"
    case neverIssued = "11 ticket {0} of day {1} was never issued: the books end at {2}"
    case ticketTwice = "12 ticket {0} of day {1} stands in more than one place"
    case ticketLost = "13 ticket {0} of day {1} was issued and stands nowhere"
    case ticketsLost = "14 tickets {0} to {1} of day {2} were issued and stand nowhere"
    case dayOutOfPlace = "15 day {0} is not day {1} in the books"
    case dayNotFollowed = "16 day {0} is closed, and none follows"
    case dayNotClosed = "17 day {0} was never closed"
    case dayClosedEarly = "18 day {0} was closed with customers in it"
    case noDay = "19 there are customers and no business day"
    case strangeOrderRows = "20 {0} orders have rows that their outcome does not have"
    case receiptOutOfOrder = "21 receipt {0} of day {1} comes after day {2}"
    case receiptOfNobody = "22 receipt {0}: ticket {1} of day {2} was never issued"
    case attemptsNotNumbered = "23 ticket {0} of day {1}: its attempts are not numbered 1 to {2}"
    case attemptsMiscounted = "24 ticket {0} of day {1} counts {2} attempts, and that is not what is recorded"
    case keyOfNobody = "25 a key stands for tickets of day {0} that were never issued"
    case receiptMissing = "26 receipt {0} is missing before receipt {1}"
    case receiptMeaningless = "27 receipt {0}: service, grade or outcome mean nothing"
    case customerMeaningless = "28 the customer's key {0} means nothing"
    case impossibleMoney = "29 ticket {0}: amount or account are impossible"
    case momentWithoutDelay = "30 ticket {0}: only who is delayed has a moment of the next attempt"
    case attemptsUnrecorded = "31 ticket {0} of day {1} counts {2} attempts before, and none is recorded"
    case attemptOutOfPlace = "32 ticket {0} of day {1}: attempt {2} stands where {3} should"
    case attemptEndUnknown = "33 ticket {0} of day {1}: attempt {2} ended in no known way"
    case attemptsOfNobody = "34 ticket {0} of day {1} has attempts and stands nowhere"
    case attemptsDiffer = "35 ticket {0} of day {1} counts {2} attempts, and {3} are recorded"
    case keyOfTicketsOfNobody =
      "36 a key stands for tickets {0} to {1} of day {2}, and they were never issued"
    case servedOutOfTurn =
      "37 {0} {1} of day {2}: ticket {3} was begun before ticket {4}, which stood before it"
    case fileUnsound = "38 the file: {0}"
    case changeMissing = "39 change {0} is missing before change {1}"
    case changeLeaves = "40 change {0} leaves {1} of {2} {3}, the ledger {4} of {5}"
    case changeLeavesImpossible = "41 change {0} leaves {1} of {2} {3}, which cannot be"
    case changeOfUnknownOrder = "42 change {0} is of order {1}, which nobody remembers"
    case orderUnsaid = "43 order {0} does not say what it has done in change {1}"
    case orderMovedOther = "44 order {0} asked for {1} {2} and moved {3}"
    case orderMovedUnasked = "45 order {0} moved what it did not ask for"
    case shelfDiffers = "46 of {0} the ledger says {1}, and {2} are there"
    case ordersDiffer = "47 {0} orders say that they changed something, and {1} did"
    case moneyChangeMissing = "48 change {0} of the money is missing before change {1}"
    case moneyChangeLeaves = "49 change {0} of the money leaves {1} won, the ledger {2}"
    case moneyChangeLeavesImpossible = "50 change {0} of the money leaves {1} won, which cannot be"
    case moneyChangeImpossible = "51 change {0} put in {1} won, which cannot be"
    case requestIsTwoThings = "52 request {0} is a purchase and something else"
    case purchaseNotMade = "53 change {0} books a purchase that was not made"
    case purchaseOther = "54 purchase {0} is booked as another one in change {1}"
    case purchaseMissing = "55 purchase {0} is missing before purchase {1}"
    case purchasesDiffer = "56 {0} purchases say that they were made, and {1} are booked"
    case purchasesCost = "57 purchases under way cost {0} won, and {1} are there"
    case moneyNowhere = "58 {0} won that were put in are nowhere"
    case booksDoNotAddUp = "59 the books of day {0} count {1} tickets and account for {2}"
    case waitingDiffers = "60 {0} customers wait by the books, and {1} in the lines and at windows"
    case delayedDiffers = "61 {0} customers are delayed by the books, and {1} in memory"
    case lineOutOfOrder = "62 {0} {1}: ticket {2} stands behind {3}"
    case servedWithoutOrder = "63 ticket {0} of day {1} got a juice, and for its order the stock has none"
    case servedByShortOrder =
      "64 ticket {0} of day {1} got a juice, and for its order the stock has one that took nothing"
    case servedByReturnedOrder =
      "65 ticket {0} of day {1} got a juice, and for its order the stock has one that was given back"
    case sentAwayWithoutOrder =
      "66 ticket {0} of day {1} was sent away for want of fruit, and the stock has none"
    case sentAwayByReturnedOrder =
      "67 ticket {0} of day {1} was sent away for want of fruit, and the stock has one that was given back"
    case endedHolding = "68 ticket {0} of day {1} ended without a juice and holds {2}"
    case orderOfNobody = "69 the stock has an order of ticket {0} of day {1}, and there is no such ticket"
    case refuses = "70 it refuses: {0}"
    case strangeAnswer = "71 it gave an answer that does not belong here"
    case foreignOrders = "72 {0} orders in the stock were made for tickets of other books than these"
    case moreOfStock = "73 and {0} more of the stock"
    case drinksDiffer = "74 the stock gave out {0} drinks, and {1} were paid for"
    case stranger = "75 process {0} ({1}) works in this home, and the bank does not know it"
    case cannotLook = "76 {0} cannot be looked at: {1}"
    case otherOwner = "77 {0} belongs to another user ({1})"
    case openToOthers = "78 {0} is open to others: its mode is {1}, not {2}"
    case missingInHome = "405 {0} is missing in the home, and the owner ({1}) has not made it again"
    case notReturned =
      "79 ticket {0} of day {1} was cancelled, and the stock does not take back what it holds: {2}"
    case moreNotReturned = "80 and {0} more that the stock does not take back"
    case newBank = "81 {0}.db has last worked with another bank.db"
    case newDatabase = "82 {0}.db is a new one, and the bank has worked with another"
    case olderBank = "83 bank.db is an older copy than {0}.db beside it"
    case olderDatabase = "84 {0}.db is an older copy than bank.db beside it"
    case otherDatabase = "85 {0}.db belongs to another bank"
    case databaseMissing = "86 there is no {0}, and there were orders"
    case cannotBegin = "87 its process cannot begin: {0}"
    case endedAtOnce = "88 its process cannot begin: it ended at once"
    case noPostgres = "350 this build has no PostgreSQL; install libpq-dev and run scripts/build"
    case rowMeaningless = "371 the row {1} of {0} means nothing"
    case intakeGap = "372 tickets {0} to {1} of day {2} were never given, and tickets behind them were"
    case intakeTwice = "373 tickets {0} to {1} of day {2} were given twice"
    case booksIssued = "374 issued on day {0}: the books say {1}, the rows are {2}"
    case receiptOutsideClaim =
      "375 ticket {0} of day {1} has a receipt of branch {2} in its epoch {3}, which had not claimed it"
    case claimsOverlap = "376 {0} {1}: tickets {2} to {3} are in the hands of two at once"
    case claimMissing = "377 {0} {1}: ticket {2} waits and was passed over, and nobody has it"
    case claimEnded = "378 {0} {1}: ticket {2} waits in a page of branch {3}, whose epoch {4} has ended"
    case claimedOutOfTurn =
      "379 {0} {1}: tickets {2} to {3} were claimed after tickets behind them, and had not been given back"
    case fsyncOff =
      "380 the database server does not wait for its disk (fsync is off), so a loss of power can damage all books; switch fsync on"
    case commitsUnawaited =
      "381 the database server says done before a commit is on its disk (synchronous_commit is {0}); set it to on"
    case standbyAwaited =
      "382 each commit waits for a standby (synchronous_commit {0}, synchronous_standby_names {1}), so nothing is lost with the primary"
    case standbyUnawaited = "383 no commit waits for a standby, so the disk of the primary must not be lost"
    case readerEnded = "384 the process that reads the shared books has ended meanwhile; ask again"
    case readerUnavailable = "385 no process reads the shared books now: {0}"
    case foreignSchema = "386 the database has a schema 'bank' that is somebody else's"
    case homeBroken = "387 an audit of the bank finds {0} problems, the first: {1}"
    case juiceElsewhere =
      "388 ticket {0} of day {1} wants a juice out of the stock of branch {3}, and branch {2} has attended to it"
    case booksUnnamed =
      "389 the books were never given a name: open and close the bank once with this program"
    case sharedBooksFull =
      "390 somebody is in those books already, and only empty ones can take a whole bank in"
    case sharedBooksOpen = "391 {0} branches are open there: stop them first"
    case movedOtherwise = "392 {0}: {1} in the home, {2} in the database"
    case movedBroken = "393 an audit of what was moved finds a problem: {0}"
    case moveGivenUp = "394 whoever asked for it has gone"
    case moveUnknown = "395 it is not known whether the move came to its end; the note of it is {0}"
    case olderBooks = "396 the books are of version {0}, not {1}; open a branch there with this program first"
    case olderBranchOpen = "397 the books are of version {0}, and an older program's branch is not closed"
    case receiptWithoutCommit =
      "398 ticket {0} of day {1} has a receipt by commit {4} of branch {2} in its epoch {3}, which does not name it"
    case commitWithoutReceipt = "399 commit {4} of branch {2} names ticket {0} of day {1} without a receipt"
    case clockSetBack = "430 a clock was set back on day {0}: the order of service was not checked"
    case presentDay = "100 the present day is {0}"
    case lastDay = "101 the last day was {0}"
    case waitAtMost = "102 {0} customers wait, and {1} may wait at most"
    case waitForAtMost = "126 {0} customers wait for {1}, and {2} may wait for it at most"
    case inUse = "103 {0} is in use"
    case schemaFound = "104 schema {0} was found, up to {1} is known"
    case fileEmpty = "105 the file is empty"
    case databaseRemoved = "106 the database was removed while the bank was open"
    case neverOpened = "107 no bank was ever opened here"
    case accountRange = "108 an account is 0 to {0}, not {1}"
    case listEmpty = "109 the list is empty"
    case listEnded = "110 a list ended before its last customer"
    case listUnreadable = "111 a list could not be read back: {0}"
    case emptyAfterOpening = "112 the file is empty, and the bank has been open before"
    case notDirectory = "123 it is no directory"
    case belongsToOther = "113 it belongs to another user"
    case writableByOthers =
      "114 other users can write to it, and it holds other things; an empty directory will do"
    case pathTooLong = "115 its path has {0} bytes, and {1} is the most"
    case timeoutNegative = "116 a timeout is not negative"
    case noRange = "117 tickets {0} to {1} are no range"
    case serviceTwice = "118 a service is named more than once"
    case windowsRange = "119 {0} has 0 to {1} windows, not {2}"
    case viewsAtMost = "120 at most {0} requests that watch or follow may be open on one connection"
    case answersAtMost = "121 at most {0} answers may be open on one connection"
    case resetOtherDay = "122 day {0} was to be reset, and it is day {1}"
    case resetMeanwhile = "124 the queue was reset while the request was taken in"
    case reserveInUse = "130 the reserve is in use"
    case noRoomForReceipts = "131 there is no room for the receipts of those who would come"
    case emptyBesideLog = "132 the file is empty, and the log beside it is not"
    case notSQLite = "133 it is not an SQLite database"
    case otherApplication = "134 it is the database of another application"
    case noSchemaVersion = "135 its schema has no version"
    case logNotOn = "136 the write-ahead log could not be switched on ({0})"
    case logNotLeft = "137 the log could not be left ({0})"
    case fileNotCreated = "138 the file could not be created: {0}"
    case notCreated = "139 {0} could not be created: {1}"
    case notCopied =
      "140 it could not be copied to be looked into ({0}); set TMPDIR to a place with room for it"
    case fileRemoved = "141 the file was removed or renamed"
    case storeClosed = "142 the store was closed"
    case amountImpossible = "150 {0} is not among the amounts there can be, up to {1}"
    case itemTwice = "151 the item stands twice"
    case itemCount = "152 an order is of 1 to {0} items, not {1}"
    case orderName = "153 an order has a name of 1 to {0} bytes of visible ASCII"
    case badDates = "154 the dates are no days, or in the wrong order"
    case nameOfOther = "155 the name belongs to an order of something else"
    case wasGivenBack = "156 the order was given back"
    case presentAtMost = "157 there are {0}, and {1} may be there at most"
    case lotsHaveDates = "158 its lots have dates; add or remove pieces"
    case lotsAlready = "159 there are {0} lots already"
    case noRoomForShelves = "160 there is no room for the shelves of a new stock"
    case insertionRange = "161 {0} to {1} won can be put in at a time"
    case requestName = "162 a request has a name of 1 to {0} bytes of visible ASCII"
    case nameOfOtherRequest = "163 the name belongs to a request of something else"
    case balanceAtMost = "164 {0} won may be in the machine at most"
    case purchasesUnderWay = "165 {0} purchases are under way"
    case expiresBeforeMade = "166 the dates are no days, or it expires before it is made"
    case amountRange = "167 {0} is not among the amounts there can be, 1 to {1}"
    case changesNothing = "168 this changes nothing"
    case managersSocket = "169 this is the manager's socket"
    case customersSocket = "170 this is the customers' socket"
    case viewsOpen = "171 {0} views are open"
    case noSocket = "180 there is no socket {0}"
    case nobodyListens = "181 nobody listens on {0}"
    case noRoomForConnection = "182 {0} has no room for another connection now"
    case peerClosed = "183 the peer closed the connection"
    case peerClosedMidFrame = "184 the peer closed the connection in the middle of a message"
    case malformed = "185 the peer sent a malformed message: {0}"
    case oversized = "186 the peer announced a message longer than this connection allows"
    case connectionFailed = "187 the connection failed: {0}"
    case peerDoesNotRead = "188 the peer does not read what it is sent"
    case unsendable = "189 a message could not be sent: {0}"
    case closedHere = "190 this side closed the connection"
    case noAnswer = "191 the service does not answer"
    case stockSilent = "192 the stock service does not answer"
    case endedMeanwhile = "193 the service ended {0} times while it was at it"
    case nobodyListensYet = "194 nobody listens"
    case showsNothing = "196 it shows nothing"
    case noPicture = "195 no picture"
    case booksImpossible = "200 the books of day {0} hold an impossible number"
    case uncancelled = "201 day {0} has customers that could not be cancelled"
    case waitsCancelled = "203 someone who waits on day {0} was cancelled before"
    case cancelledBefore = "204 ticket {0} of day {1} was cancelled before"
    case receiptTwice = "205 ticket {0} of day {1} already has a receipt"
    case shortTwice = "206 ticket {0} of day {1} lacks {2} twice"
    case releaseUnknown = "207 nothing was to be given back for ticket {0} of day {1}"
    case alreadyIs = "208 ticket {0} of day {1} already is {2}"
    case alreadyInQueue = "209 ticket {0} of day {1} already stands in the queue"
    case notAmong = "210 ticket {0} of day {1} is not among the {2} customers"
    case attemptTwice = "211 attempt {0} at ticket {1} of day {2} already is recorded"
    case keyRemembered = "212 the key of tickets {0} to {1} of day {2} already is remembered"
    case dayTwice = "213 day {0} already has been"
    case dayMissing = "214 day {0} is missing"
    case dayRowMissing = "215 the row of day {0} is missing"
    case noBusinessDay = "216 there is no business day"
    case presentDayClosed = "217 the present day {0} is closed"
    case startsMissing = "218 the count of starts is missing"
    case booksNameBroken = "219 the name of the books is not whole"
    case receiptsWithoutDay = "220 there are receipts and no business day"
    case dayNotCarried = "221 day {0} ends with {1} customers, and the next begins with {2}"
    case delayedWithoutMoment = "222 ticket {0} is delayed until no moment"
    case receiptOutcome = "223 receipt {0} has the unknown outcome {1}"
    case serviceUnknown = "224 there is no service {0}"
    case gradeUnknown = "225 there is no priority with the code {0}"
    case numberRange = "226 the number {0} is out of range"
    case lineMeaningless = "227 line {0}: the number, the service or the priority means nothing"
    case prioritiesAtMost = "228 customers of {0} priorities wait, and more may not wait at the same time"
    case linesExhausted = "229 there are no more numbers for lines"
    case orderOutcome = "230 order {0} has the outcome {1}"
    case orderShortUnknown = "231 order {0} was short of an item that is not kept"
    case changeMeaningless = "232 change {0} means nothing"
    case lotMeaningless = "233 a lot of item {0} means nothing"
    case itemNumber = "234 item {0} has the number or the name of none"
    case itemKept = "235 item {0} is kept already"
    case changeTwice = "236 change {0} is in the ledger already, or is none"
    case changeLeavesLot = "237 change {0} leaves a lot of {1}"
    case orderAnswered = "238 order {0} was answered already"
    case orderShortAlready = "239 order {0} was short already"
    case orderNotHolding = "240 order {0} does not hold what is given back"
    case itemUnknown = "241 there is no item {0}"
    case balanceDiffers = "242 the last balance is {0}, and the rows add up to {1}"
    case purchaseCostsMore = "243 a purchase under way costs more than there is"
    case purchaseEnded = "244 purchase {0} has ended already, or never began"
    case purchaseState = "245 purchase {0} has the state {1}"
    case purchaseNumber = "246 a purchase has the number {0}"
    case purchaseTwice = "247 purchase {0} or request {1} was begun already"
    case moneyChangeTwice = "248 change {0} or request {1} is in the ledger already"
    case olderVersion = "250 it is of an older version"
    case missingBesideLog = "251 the file is missing, and its log {0} is there"
    case zeroByte = "252 the path contains a zero byte"
    case partAtMost = "260 a part has at most {0} entries, not {1}"
    case customersAtMost = "261 at most {0} customers a command"
    case notInList = "262 customers for {0} do not come in a list"
    case moneyRange = "263 an amount is 1 to {0} won, not {1}"
    case keyLength = "264 a key has 1 to {0} bytes, not {1}"
    case customersRange = "265 1 to {0} customers a command, not {1}"
    case articleAtMost = "266 the name of an article has at most {0} bytes, not {1}"
    case payloadAtMost =
      "267 a payload has at most {0} bytes, not {1}; max_payload in the configuration allows more, up to {2}"
    case payloadOfEntry =
      "268 the payload of customer {3} of the list has {1} bytes, and at most {0} are allowed; max_payload in the configuration allows more, up to {2}"
    case payloadUnwanted =
      "269 customers for {0} carry no payload: no command and no worker is there to read it"
    case payloadUnwantedOfEntry =
      "400 customer {1} of the list: customers for {0} carry no payload: no command and no worker is there to read it"
    case payloadWithoutService =
      "401 a payload needs the name of a service: no command and no worker reads it at a service that is drawn"
    case noCommandLines =
      "402 service {0} takes no command lines; only a service with \"run\": [] in the configuration does, such as run"
    case articleWanted = "279 a customer for {0} orders something by its name, and this order names nothing"
    case dueTwice = "330 a customer is ordered for a moment or for in a while, and not for both"
    case dueRange = "331 a customer can be ordered for 0 to {0} days ahead"
    case dueOfEntry = "332 customer {1} of the list: a customer can be ordered for 0 to {0} days ahead"
    case moneyUnwanted =
      "340 customers for {0} move no money; leave out the amount and the account, or give the service a ledger in the configuration"
    case moneyUnwantedOfEntry =
      "341 customer {1} of the list: customers for {0} move no money; leave out the amount and the account, or give the service a ledger in the configuration"
    case moneyWanted = "342 customers for {0} move money; say the amount and the account of each"
    case moneyWantedOfEntry =
      "343 customer {1} of the list: customers for {0} move money; say the amount and the account of each"
    case payloadsWait =
      "302 payloads of {0} bytes wait to be written, and at most {1} may"
    case payloadTwice = "303 ticket {0} of day {1} has a payload already"
    case resultTwice = "305 ticket {0} of day {1} has a result already"
    case resultOfNobody = "306 ticket {0} of day {1} has a result, and no receipt says that it was served"
    case resultMeaningless = "307 the result of receipt {0} means nothing"
    case blockMeaningless = "320 which receipts have the tickets of block {0} means nothing"
    case pageMeaningless = "321 the receipts from {0} on mean nothing"
    case receiptNotFound = "322 the receipt of ticket {0} of day {1} is not found by its ticket"
    case receiptOfOther = "323 ticket {0} of day {1} is said to have receipt {2}, and that is none of its"
    case notAllAmong = "324 not all of tickets {0} to {1} of day {2} are among the {3} customers"
    case payloadOfNobody = "304 ticket {0} has a payload, and nobody with this number is kept"
    case processCode = "270 code {0}"
    case processSignal = "271 {0}"
    case processUnseen = "272 exit status unknown"
    case processCodeSaying = "403 code {0}; its last words: {1}"
    case processSignalSaying = "404 {0}; its last words: {1}"
    case cannotBeginCode = "273 the process cannot begin: code {0}"
    case cannotBeginSignal = "274 the process cannot begin: {0}"
    case otherBuild = "275 {0}: version {1} of build {2} is not mine"
    case fileDamaged = "276 {0} is damaged ({1})"
    case earlyAnswer = "280 an answer before the welcome"
    case secondWelcome = "281 a second welcome"
    case endsMidFrame = "282 it ends within a frame"
    case tooManyAnswers = "283 more answers than questions"
    case nothingAnswered = "284 nothing"
    case otherAnswer = "285 the answer '{0}'"
    case viewBegunAnew = "290 after change {0} a new picture was shown, of change {1}"
    case viewRefused = "291 the view was refused: {0}"
    case viewOutOfOrder = "292 after change {0} came change {1}"
    case viewDiffers = "293 after change {0} there are {1} {2}, not {3}"
    case viewEndsEarly = "294 the last change is {0}, and the last that was told is {1}"
    case viewSum = "295 what was told does not add up to what is there"
    case balanceAfter = "296 the balance after {0} is {1}, not {2}"
    case wasRefused = "297 {0} was refused: {1}"
    case wasAnsweredOtherwise = "298 {0} was answered with {1}"
    case balanceIs = "299 the balance is {0}, not {1}"
    case drinksAre = "300 there are {0} {1}, not {2}"
    case serviceMeaningless = "310 service {0}: the number or the name means nothing"
    case servicesExhausted = "311 there are no more numbers for services"
    case servicesAre = "312 there are {0}"
    case noWindowsOutside = "314 the programs of {0} connect by themselves, and it has no windows"
    case serviceTakenOut = "313 {1} customers wait for {0}, which is not in the configuration any more"
    case leftBehind =
      "470 processes that former attempts have left, and that cannot be ended, still live: {0}"
    case purchasesKept = "301 {0} purchases are kept, and {1} were answered"

    /// The two parts of the raw value.
    var wording: (code: Int64, english: String) {
      let parts = rawValue.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let code = Int64(parts[0]) else {
        preconditionFailure("'\(rawValue)' has no number")
      }
      return (code, String(parts[1]))
    }

    fileprivate static let byCode = Dictionary(uniqueKeysWithValues: allCases.map { ($0.wording.code, $0) })
  }
}
