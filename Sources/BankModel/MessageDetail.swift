// Details of a failure or of an audit's finding, as a kind and its values. The program that shows a detail formats it
// in the language of its user.
// Invariant: the number of a kind never gets another meaning.

/// One detail of a failure or of an audit's finding: the number of its kind, and the values for its sentence.
public struct MessageDetail: Hashable, Sendable {
  /// Number of the kind. A newer program may have added a kind that this program does not know.
  public var code: Int64
  /// Values of the placeholders, in order.
  public var values: [String]
  /// Part of the bank that found the detail; nil if the context shows it.
  public var source: Source?

  /// Makes a detail; `values` fill the placeholders of the kind in order.
  public init(_ kind: Kind, _ values: any CustomStringConvertible...) {
    code = kind.wording.code
    self.values = values.map { "\($0)" }
  }

  /// Quotes another program's text, such as a message of the operating system or of SQLite.
  public init(quoting text: String) { self.init(.literal, text) }

  /// Kind of the detail; nil if this program does not know it.
  public var kind: Kind? { Kind.byCode[code] }
}

extension MessageDetail: Codable {
  /// Field numbers in messages.
  enum CodingKeys: Int, CodingKey {
    case code = 1
    case values, source
  }
}

extension MessageDetail {
  /// Kind of a detail. The raw value is its number in messages, followed by the English sentence. The sentence has no
  /// full stop, so that it can be part of another sentence. `{0}` is replaced by the first value.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case literal = "1 {0}"
    case servedCountDiffers = "2 served on day {0}: counter {1}, actual {2}"
    case cancelledCountDiffers = "3 cancelled on day {0}: counter {1}, actual {2}"
    case firstReceiptDiffers = "4 first receipt of day {0}: counter {1}, actual {2}"
    case delayedCountDiffers = "5 delayed: counter {0}, actual {1}"
    case serviceDelayedCountDiffers = "344 {0} delayed: counter {1}, actual {2}"
    case deadCountDiffers = "6 dead letters: counter {0}, actual {1}"
    case waitingCountDiffers = "7 {0} {1} waiting: counter {2}, actual {3}"
    case serviceServedCountDiffers = "8 {0} served: counter {1}, actual {2}"
    case transferInvalid = "9 receipt {0}: the transfer does not match its service, amount and account"
    case andMore = "10 and {0} more"
    case neverIssued = "11 ticket {0} of day {1} was never issued: the last issued ticket is {2}"
    case ticketDuplicated = "12 ticket {0} of day {1} is stored more than once"
    case ticketLost = "13 ticket {0} of day {1} was issued but is missing"
    case ticketsLost = "14 tickets {0} to {1} of day {2} were issued but are missing"
    case dayOutOfOrder = "15 day {0} is recorded as day {1}"
    case nextDayMissing = "16 day {0} is closed but no next day exists"
    case dayNotClosed = "17 day {0} was never closed"
    case dayClosedEarly = "18 day {0} was closed with unfinished customers"
    case customersWithoutDay = "19 there are customers but no business day"
    case unexpectedOrderRows = "20 {0} orders have rows that do not match their outcome"
    case receiptOutOfOrder = "21 receipt {0} of day {1} follows receipts of day {2}"
    case receiptOfUnissuedTicket = "22 receipt {0}: ticket {1} of day {2} was never issued"
    case attemptsNotNumbered = "23 ticket {0} of day {1}: its attempts are not numbered 1 to {2}"
    case attemptCountDiffers = "24 ticket {0} of day {1} counts {2} attempts, which differs from the records"
    case keyOfUnissuedTicket = "25 a key refers to tickets of day {0} that were never issued"
    case receiptMissing = "26 receipt {0} is missing before receipt {1}"
    case receiptInvalid = "27 receipt {0}: service, grade or outcome is invalid"
    case customerKeyInvalid = "28 the customer's key {0} is invalid"
    case moneyInvalid = "29 ticket {0}: amount or account is invalid"
    case dueTimeWithoutDelay = "30 ticket {0} has a retry time but is not delayed"
    case attemptsUnrecorded = "31 ticket {0} of day {1} counts {2} earlier attempts, none recorded"
    case attemptOutOfOrder = "32 ticket {0} of day {1}: attempt {2} is stored in place of attempt {3}"
    case attemptEndUnknown = "33 ticket {0} of day {1}: attempt {2} has an unknown end"
    case attemptsWithoutTicket = "34 ticket {0} of day {1} has attempts but is missing"
    case attemptsDiffer = "35 ticket {0} of day {1} counts {2} attempts, {3} recorded"
    case keyOfUnissuedRange =
      "36 a key refers to tickets {0} to {1} of day {2}, which were never issued"
    case servedOutOfOrder =
      "37 {0} {1} of day {2}: ticket {3} was started before ticket {4}, which was ahead of it"
    case integrityCheckFailed = "38 integrity check: {0}"
    case changeMissing = "39 change {0} is missing before change {1}"
    case changeBalanceDiffers = "40 change {0} records {1} (total {2}) {3}, the ledger {4} ({5})"
    case changeBalanceInvalid = "41 change {0} records {1} (total {2}) {3}, which is impossible"
    case changeOfUnknownOrder = "42 change {0} is of order {1}, which does not exist"
    case orderEffectMissing = "43 order {0} has no record of change {1}"
    case orderMovedOtherAmount = "44 order {0} requested {1} {2} but moved {3}"
    case orderMovedOtherItem = "45 order {0} moved items it did not request"
    case itemQuantityDiffers = "46 {0}: ledger {1}, actual {2}"
    case ordersDiffer = "47 {0} orders claim a change, {1} made one"
    case moneyChangeMissing = "48 money change {0} is missing before change {1}"
    case moneyBalanceDiffers = "49 money change {0} records {1} won, the ledger {2}"
    case moneyBalanceInvalid = "50 money change {0} records {1} won, which is impossible"
    case moneyChangeInvalid = "51 change {0} inserted {1} won, which is impossible"
    case requestAmbiguous = "52 request {0} is both a purchase and another change"
    case purchaseNotMade = "53 change {0} records a purchase that did not take place"
    case purchaseDiffers = "54 purchase {0} is recorded as a different one in change {1}"
    case purchaseMissing = "55 purchase {0} is missing before purchase {1}"
    case purchasesDiffer = "56 {0} purchases completed, {1} recorded"
    case openPurchasesExceedBalance = "57 purchases in progress cost {0} won, only {1} available"
    case moneyUnaccounted = "58 {0} won inserted are unaccounted for"
    case dayCountersInconsistent = "59 day {0}: {1} issued, {2} accounted for"
    case waitingDiffers = "60 counter says {0} waiting, {1} in memory"
    case delayedDiffers = "61 counter says {0} delayed, {1} in memory"
    case lineOutOfOrder = "62 {0} {1}: ticket {2} is after {3}"
    case servedWithoutOrder = "63 ticket {0} of day {1} was served but the stock has no order for it"
    case servedByShortOrder =
      "64 ticket {0} of day {1} was served but its order took nothing from the stock"
    case servedByReturnedOrder =
      "65 ticket {0} of day {1} was served but its order was returned to the stock"
    case outOfStockWithoutOrder =
      "66 ticket {0} of day {1} was rejected for lack of fruit, and the stock has no order for it"
    case outOfStockByReturnedOrder =
      "67 ticket {0} of day {1} was rejected for lack of fruit, and its order was returned to the stock"
    case endedWithReservation =
      "68 ticket {0} of day {1} ended without a juice but still has a reservation: {2}"
    case orderWithoutTicket = "69 the stock has an order of ticket {0} of day {1}, which does not exist"
    case requestRefused = "70 request refused: {0}"
    case unexpectedReply = "71 unexpected response"
    case ordersOfOtherBank = "72 {0} orders in the stock belong to tickets of another database"
    case andMoreOfStock = "73 and {0} more of the stock"
    case drinksDiffer = "74 the stock gave out {0} drinks, {1} were paid for"
    case unknownProcess = "75 process {0} ({1}) runs in this home but is not managed by the bank"
    case cannotInspect = "76 {0} cannot be inspected: {1}"
    case otherOwner = "77 {0} belongs to another user ({1})"
    case modeTooPermissive = "78 {0} is accessible to other users: its mode is {1}, not {2}"
    case homeFileMissing = "405 {0} is missing in the home, and its owner ({1}) has not created it again"
    case notReturned =
      "79 ticket {0} of day {1} was cancelled, but the stock refuses to release its reservation: {2}"
    case moreNotReturned = "80 and {0} more reservations that the stock refuses to release"
    case newBank = "81 {0}.db was last used with another bank.db"
    case newDatabase = "82 {0}.db is new and replaces another database"
    case olderBank = "83 bank.db is older than {0}.db beside it"
    case olderDatabase = "84 {0}.db is older than bank.db beside it"
    case otherDatabase = "85 {0}.db belongs to another bank"
    case databaseMissing = "86 there is no {0}, although orders exist"
    case startFailed = "87 its process cannot start: {0}"
    case exitedAtOnce = "88 its process cannot start: it exited immediately"
    case noPostgres = "350 this build has no PostgreSQL support; install libpq-dev and run scripts/build"
    case rowInvalid = "371 the row {1} of {0} is invalid"
    case ticketGap = "372 tickets {0} to {1} of day {2} are missing although later ones were issued"
    case ticketsIssuedTwice = "373 tickets {0} to {1} of day {2} were issued twice"
    case issuedCountDiffers = "374 issued on day {0}: counter {1}, actual {2}"
    case receiptOutsideClaim =
      "375 ticket {0} of day {1} has a receipt of branch {2} in its epoch {3} without a claim"
    case claimsOverlap = "376 {0} {1}: tickets {2} to {3} are claimed twice"
    case claimMissing = "377 {0} {1}: ticket {2} was skipped and is unclaimed"
    case claimOfEndedEpoch =
      "378 {0} {1}: ticket {2} waits in a page of branch {3}, whose epoch {4} has ended"
    case claimedOutOfOrder =
      "379 {0} {1}: tickets {2} to {3} were claimed after later tickets, without having been returned"
    case fsyncOff =
      "380 fsync is off on the database server, so a power loss can damage the database; switch it on"
    case synchronousCommitOff =
      "381 the database server acknowledges commits before they are on disk (synchronous_commit is {0}); set it to on"
    case standbySynchronous =
      "382 each commit waits for a standby (synchronous_commit {0}, synchronous_standby_names {1}), so losing the primary loses no data"
    case standbyAsynchronous = "383 no commit waits for a standby, so a lost primary disk loses data"
    case readerExited = "384 the process that reads the shared database has exited; try again"
    case readerUnavailable = "385 no process reads the shared database now: {0}"
    case foreignSchema = "386 the database has a schema 'bank' of another application"
    case homeAuditFailed = "387 an audit of the bank finds {0} problems, the first: {1}"
    case juiceAtWrongBranch =
      "388 ticket {0} of day {1} needs a juice from the stock of branch {3}, but branch {2} handled it"
    case bankIDMissing =
      "389 the database has no identity yet: open and close the bank once with this program"
    case sharedStoreNotEmpty =
      "390 the target already contains customers; it must be empty"
    case sharedStoreHasOpenBranches = "391 {0} branches are open there: stop them first"
    case movedCountDiffers = "392 {0}: {1} in the home, {2} in the database"
    case movedAuditFailed = "393 an audit of the migrated data finds a problem: {0}"
    case moveClientGone = "394 the client disconnected"
    case moveOutcomeUnknown = "395 it is not known whether the migration finished; see {0}"
    case sharedStoreOutdated =
      "396 the database has version {0}, not {1}; open a branch there with this program first"
    case olderBranchOpen = "397 the database has version {0}, and a branch of an older program is not closed"
    case receiptWithoutCommit =
      "398 ticket {0} of day {1} has a receipt by commit {4} of branch {2} in its epoch {3}, which does not list it"
    case commitWithoutReceipt = "399 commit {4} of branch {2} lists ticket {0} of day {1} without a receipt"
    case clockSetBack = "430 a clock was set back on day {0}: the order of service was not checked"
    case presentDay = "100 the current day is {0}"
    case lastDay = "101 the last day was {0}"
    case waitAtMost = "102 {0} customers are waiting; the limit is {1}"
    case waitForAtMost = "126 {0} customers are waiting for {1}; the limit is {2}"
    case inUse = "103 {0} is in use"
    case schemaFound = "104 found schema version {0}; this program supports up to {1}"
    case fileEmpty = "105 the file is empty"
    case databaseRemoved = "106 the database was removed while the bank was open"
    case neverOpened = "107 no bank was ever opened here"
    case accountRange = "108 an account is 0 to {0}, not {1}"
    case listEmpty = "109 the list is empty"
    case listEnded = "110 a list ended before its last customer"
    case listUnreadable = "111 a list could not be read again: {0}"
    case emptyAfterOpening = "112 the file is empty, although the bank has been open before"
    case notDirectory = "123 not a directory"
    case belongsToOther = "113 it belongs to another user"
    case writableByOthers =
      "114 other users can write to it, and it contains other files; use an empty directory"
    case pathTooLong = "115 its path has {0} bytes; the limit is {1}"
    case timeoutNegative = "116 a timeout must not be negative"
    case ticketRangeInvalid = "117 {0} to {1} is not a valid range"
    case serviceTwice = "118 a service is given more than once"
    case windowsRange = "119 {0} has 0 to {1} windows, not {2}"
    case viewsAtMost = "120 at most {0} requests that watch or follow may be open on one connection"
    case answersAtMost = "121 at most {0} answers may be open on one connection"
    case resetOtherDay = "122 day {0} was to be reset, but it is day {1}"
    case resetMeanwhile = "124 the queue was reset while the request was being processed"
    case reserveInUse = "130 the disk reserve is in use"
    case noSpaceForReceipts = "131 there is no room for the receipts of new customers"
    case emptyBesideLog = "132 the file is empty, but the WAL beside it is not"
    case notSQLite = "133 it is not an SQLite database"
    case otherApplication = "134 it is the database of another application"
    case noSchemaVersion = "135 its schema has no version"
    case walNotEnabled = "136 WAL mode could not be switched on ({0})"
    case walNotDisabled = "137 WAL mode could not be switched off ({0})"
    case fileNotCreated = "138 the file could not be created: {0}"
    case notCreated = "139 {0} could not be created: {1}"
    case notCopied =
      "140 it could not be copied for inspection ({0}); set TMPDIR to a directory with enough space"
    case fileRemoved = "141 the file was removed or renamed"
    case storeClosed = "142 the store was closed"
    case amountOutOfRange = "150 {0} is not a valid amount (at most {1})"
    case itemTwice = "151 duplicate item"
    case itemCount = "152 an order has 1 to {0} items, not {1}"
    case orderName = "153 an order ID has 1 to {0} bytes of printable ASCII"
    case badDates = "154 invalid dates, or in the wrong order"
    case nameOfOtherOrder = "155 the ID was used for a different order"
    case orderWasReturned = "156 the order was returned"
    case quantityLimit = "157 there are {0}; the limit is {1}"
    case lotsHaveDates = "158 its lots have dates; add or remove units"
    case lotsAlready = "159 there are already {0} lots"
    case noSpaceForItems = "160 there is no room for a new stock"
    case insertionRange = "161 {0} to {1} won can be inserted at a time"
    case requestName = "162 a request ID has 1 to {0} bytes of printable ASCII"
    case nameOfOtherRequest = "163 the ID was used for a different request"
    case balanceAtMost = "164 the machine holds at most {0} won"
    case purchasesUnderWay = "165 {0} purchases are in progress"
    case expiresBeforeMade = "166 invalid dates, or the expiry date is before the production date"
    case amountRange = "167 {0} is not a valid amount (1 to {1})"
    case changesNothing = "168 this changes nothing"
    case managersSocket = "169 this is the manager's socket"
    case customersSocket = "170 this is the customers' socket"
    case viewsOpen = "171 {0} views are open"
    case noSocket = "180 there is no socket {0}"
    case noListener = "181 no process is listening on {0}"
    case listenerBusy = "182 {0} has no room for another connection now"
    case peerClosed = "183 the peer closed the connection"
    case peerClosedMidFrame = "184 the peer closed the connection in the middle of a message"
    case malformed = "185 the peer sent a malformed message: {0}"
    case oversized = "186 the peer's message exceeds the limit"
    case connectionFailed = "187 the connection failed: {0}"
    case peerDoesNotRead = "188 the peer does not read incoming data"
    case unsendable = "189 a message could not be sent: {0}"
    case closedLocally = "190 this side closed the connection"
    case noAnswer = "191 the service does not respond"
    case stockSilent = "192 the stock service does not respond"
    case exitedMeanwhile = "193 the service exited {0} times while processing it"
    case noListenerYet = "194 no process is listening"
    case emptyReply = "196 no data"
    case noSnapshot = "195 no snapshot received"
    case dayCountersInvalid = "200 the counters of day {0} contain an invalid number"
    case cancelIncomplete = "201 day {0} has customers that could not be cancelled"
    case waitingWasCancelled = "203 a waiting customer of day {0} was already cancelled"
    case cancelledBefore = "204 ticket {0} of day {1} was already cancelled"
    case receiptTwice = "205 ticket {0} of day {1} already has a receipt"
    case shortageDuplicated = "206 ticket {0} of day {1} has the shortage of {2} twice"
    case releaseNotFound = "207 nothing is to be returned for ticket {0} of day {1}"
    case alreadyInState = "208 ticket {0} of day {1} is already {2}"
    case alreadyInQueue = "209 ticket {0} of day {1} is already queued"
    case ticketNotFound = "210 ticket {0} of day {1} is not {2}"
    case attemptTwice = "211 attempt {0} at ticket {1} of day {2} is already recorded"
    case keyRemembered = "212 the key of tickets {0} to {1} of day {2} is already recorded"
    case dayTwice = "213 day {0} already exists"
    case dayMissing = "214 day {0} is missing"
    case dayRowMissing = "215 the row of day {0} is missing"
    case noBusinessDay = "216 there is no business day"
    case presentDayClosed = "217 the current day {0} is closed"
    case startCountMissing = "218 the count of starts is missing"
    case bankIDIncomplete = "219 the identity of the database is invalid"
    case receiptsWithoutDay = "220 there are receipts but no business day"
    case dayHandoverDiffers = "221 day {0} ends with {1} customers, but the next starts with {2}"
    case delayedWithoutDueTime = "222 ticket {0} is delayed without a due time"
    case receiptOutcome = "223 receipt {0} has the unknown outcome {1}"
    case serviceUnknown = "224 there is no service {0}"
    case gradeUnknown = "225 there is no priority with the code {0}"
    case numberRange = "226 the number {0} is out of range"
    case lineInvalid = "227 line {0}: the number, the service or the priority is invalid"
    case prioritiesAtMost = "228 customers of {0} priorities are waiting, which is the limit"
    case linesExhausted = "229 there are no more numbers for lines"
    case orderOutcome = "230 order {0} has the outcome {1}"
    case orderShortUnknown = "231 order {0} was short of an unknown item"
    case changeInvalid = "232 change {0} is invalid"
    case lotInvalid = "233 a lot of item {0} is invalid"
    case itemNumber = "234 item {0} has an invalid number or name"
    case itemKept = "235 item {0} already exists"
    case changeTwice = "236 change {0} is already in the ledger, or is not a change"
    case lotBalanceInvalid = "237 change {0} leaves an invalid lot of {1}"
    case orderAnswered = "238 order {0} was already answered"
    case orderShortAlready = "239 order {0} was already short"
    case orderReservationMissing = "240 order {0} has no reservation to return"
    case itemUnknown = "241 there is no item {0}"
    case balanceDiffers = "242 the last balance is {0}, but the rows add up to {1}"
    case purchaseExceedsBalance = "243 a purchase in progress costs more than the balance"
    case purchaseEnded = "244 purchase {0} has already ended or never started"
    case purchaseState = "245 purchase {0} has the unknown state {1}"
    case purchaseNumber = "246 a purchase has the invalid number {0}"
    case purchaseTwice = "247 purchase {0} or request {1} was already started"
    case moneyChangeTwice = "248 change {0} or request {1} is already in the ledger"
    case olderVersion = "250 it has an older version"
    case missingBesideLog = "251 the file is missing, but its WAL {0} exists"
    case zeroByte = "252 the path contains a NUL byte"
    case partTooLong = "260 a part has at most {0} entries, not {1}"
    case customersAtMost = "261 at most {0} customers per command"
    case notInList = "262 customers for {0} cannot be in a list"
    case moneyRange = "263 an amount is 1 to {0} won, not {1}"
    case keyLength = "264 a key has 1 to {0} bytes, not {1}"
    case customersRange = "265 1 to {0} customers per command, not {1}"
    case itemNameTooLong = "266 the name of an article has at most {0} bytes, not {1}"
    case payloadTooLarge =
      "267 a payload has at most {0} bytes, not {1}; max_payload in the configuration allows more, up to {2}"
    case payloadOfEntryTooLarge =
      "268 the payload of customer {3} of the list has {1} bytes; the limit is {0}; max_payload in the configuration allows more, up to {2}"
    case payloadNotAllowed =
      "269 service {0} takes no payload: it has no command or worker to read it"
    case payloadOfEntryNotAllowed =
      "400 customer {1} of the list: service {0} takes no payload: it has no command or worker to read it"
    case payloadWithoutService =
      "401 a payload requires a service: randomly chosen services have no command or worker to read it"
    case noCommandLines =
      "402 service {0} takes no command lines; only a service with \"run\": [] in the configuration does, such as run"
    case commandLinesNotPermitted = "471 command lines of service {0} require 'bankctl web --allow-run'"
    case itemNameRequired = "279 a customer for {0} orders something by name, and this order has no name"
    case dueTwice = "330 give either a time or a delay, not both"
    case dueRange = "331 a customer can be scheduled 0 to {0} days ahead"
    case dueOfEntry = "332 customer {1} of the list: a customer can be scheduled 0 to {0} days ahead"
    case moneyNotAllowed =
      "340 service {0} has no ledger; omit amount and account, or add a ledger to the service in the configuration"
    case moneyOfEntryNotAllowed =
      "341 customer {1} of the list: service {0} has no ledger; omit amount and account, or add a ledger to the service in the configuration"
    case moneyRequired = "342 service {0} has a ledger; give amount and account"
    case moneyOfEntryRequired =
      "343 customer {1} of the list: service {0} has a ledger; give amount and account"
    case pendingPayloadLimit =
      "302 payloads of {0} bytes wait to be written; the limit is {1}"
    case payloadTwice = "303 ticket {0} of day {1} already has a payload"
    case resultTwice = "305 ticket {0} of day {1} already has a result"
    case resultWithoutReceipt = "306 ticket {0} of day {1} has a result, but no receipt of a served customer"
    case resultInvalid = "307 the result of receipt {0} is invalid"
    case blockInvalid = "320 the receipts of block {0} of tickets are invalid"
    case pageInvalid = "321 the receipts from {0} on are invalid"
    case receiptNotFound = "322 the receipt of ticket {0} of day {1} cannot be found by its ticket"
    case receiptOfOtherTicket =
      "323 ticket {0} of day {1} is listed with receipt {2}, which belongs to another ticket"
    case ticketsNotAllFound = "324 not all of tickets {0} to {1} of day {2} are {3}"
    case payloadWithoutCustomer = "304 ticket {0} has a payload, but there is no such customer"
    case processCode = "270 code {0}"
    case processSignal = "271 {0}"
    case processStatusUnknown = "272 exit status unknown"
    case processCodeWithOutput = "403 code {0}; last output: {1}"
    case processSignalWithOutput = "404 {0}; last output: {1}"
    case startFailedWithCode = "273 the process cannot start: code {0}"
    case startFailedWithSignal = "274 the process cannot start: {0}"
    case otherBuild = "275 {0}: protocol {1} (build {2}) is not supported"
    case fileDamaged = "276 {0} is damaged ({1})"
    case replyBeforeWelcome = "280 response before welcome"
    case secondWelcome = "281 second welcome"
    case endsMidFrame = "282 ends in the middle of a message"
    case tooManyReplies = "283 more responses than requests"
    case noReply = "284 empty response"
    case unexpectedReplyText = "285 response '{0}'"
    case viewRestarted = "290 after change {0} a new snapshot arrived, of change {1}"
    case viewRefused = "291 the subscription was refused: {0}"
    case viewOutOfOrder = "292 change {0} was followed by change {1}"
    case viewDiffers = "293 after change {0} there are {1} {2}, not {3}"
    case viewEndsEarly = "294 the last change is {0}, but the last received is {1}"
    case viewTotalDiffers = "295 the received changes do not add up to the stock"
    case balanceAfter = "296 the balance after {0} is {1}, not {2}"
    case wasRefused = "297 {0} was refused: {1}"
    case wasRepliedOtherwise = "298 {0} was answered with {1}"
    case balanceIs = "299 the balance is {0}, not {1}"
    case drinksAre = "300 there are {0} {1}, not {2}"
    case serviceInvalid = "310 service {0}: the number or the name is invalid"
    case servicesExhausted = "311 there are no more numbers for services"
    case servicesAre = "312 known services: {0}"
    case outsideServiceWithoutWindows = "314 the programs of {0} connect by themselves; it has no windows"
    case serviceRemoved = "313 {1} customers wait for {0}, which was removed from the configuration"
    case leftBehind =
      "470 processes left by earlier attempts cannot be killed and still run: {0}"
    case purchaseCountDiffers = "301 {0} purchases recorded, {1} acknowledged"

    /// Number and sentence of the raw value.
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
