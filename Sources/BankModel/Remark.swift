// Owns the particulars of what went wrong, or of what an audit has found, as a kind and its values: each program says them
// in the language of its reader. It decides nothing. Invariant: a number that stands for a kind never means another.

/// One particular.
public struct Remark: Hashable, Sendable {
  /// Whose particular it is.
  public enum Source: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The stock has found it.
    case stock = 1
    /// The vending machine has found it.
    case machine = 2
    /// It is why the stock could not be audited.
    case unauditedStock = 3
    /// It is why the vending machine could not be audited.
    case unauditedMachine = 4

    /// What stands before it, in English.
    var english: String {
      switch self {
      case .stock: "the stock: "
      case .machine: "the vending machine: "
      case .unauditedStock: "the stock could not be audited: "
      case .unauditedMachine: "the vending machine could not be audited: "
      }
    }
  }

  /// The number of its kind; that of a newer program may be unknown here.
  public var code: Int64
  /// What stands in its sentence, in the order of its places.
  public var values: [String]
  /// Whose it is; nil where that goes without saying.
  public var source: Source?

  /// A particular with its values.
  public init(_ kind: Kind, _ values: any CustomStringConvertible...) {
    code = kind.rawValue
    self.values = values.map { "\($0)" }
  }

  /// The words of somebody else, such as the system or SQLite, as they are.
  public init(quoting text: String) { self.init(.quoted, text) }

  /// What it says; nil for a kind that only a newer program knows.
  public var kind: Kind? { Kind(rawValue: code) }

  /// The same, of somebody in particular.
  public func of(_ source: Source) -> Remark {
    var remark = self
    remark.source = source
    return remark
  }

  /// Puts values into a sentence: `{0}` is the first, and `{0:name}` the first in a form that `form` knows.
  ///
  /// - Parameter form: Gives a value in the form that is named; an empty name is the value as it is.
  public func filling(_ sentence: String, _ form: (_ value: String, _ name: String) -> String) -> String {
    var filled = ""
    var rest = sentence[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      filled += rest[..<open]
      let parts = rest[rest.index(after: open)..<close].split(separator: ":", maxSplits: 1)
      let place = parts.first.flatMap { Int($0) } ?? 0
      let value = values.indices.contains(place) ? values[place] : ""
      filled += form(value, parts.count > 1 ? String(parts[1]) : "")
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }
}

extension Remark: CustomStringConvertible {
  /// The sentence in English.
  public var description: String {
    let sentence = kind.map { kind in filling(kind.english) { value, _ in value } }
    return (source?.english ?? "") + (sentence ?? values.joined(separator: " "))
  }
}

extension Remark: ExpressibleByStringInterpolation {
  /// The words of somebody else.
  public init(stringLiteral text: String) { self.init(quoting: text) }
}

extension Remark: Codable {
  enum CodingKeys: Int, CodingKey {
    case code = 1
    case values, source
  }
}

extension Remark {
  /// What a particular says. The places of its values are in its English sentence.
  public enum Kind: Int64, Sendable, Hashable, CaseIterable {
    case quoted = 1
    case booksServed = 2
    case booksCancelled = 3
    case booksFirstReceipt = 4
    case booksDelayed = 5
    case booksDead = 6
    case booksWaiting = 7
    case booksOfService = 8
    case wrongTransfer = 9
    case more = 10
    case neverIssued = 11
    case ticketTwice = 12
    case ticketLost = 13
    case ticketsLost = 14
    case dayOutOfPlace = 15
    case dayNotFollowed = 16
    case dayNotClosed = 17
    case dayClosedEarly = 18
    case noDay = 19
    case strangeOrderRows = 20
    case receiptOutOfOrder = 21
    case receiptOfNobody = 22
    case attemptsNotNumbered = 23
    case attemptsMiscounted = 24
    case keyOfNobody = 25
    case receiptMissing = 26
    case receiptMeaningless = 27
    case customerMeaningless = 28
    case impossibleMoney = 29
    case momentWithoutDelay = 30
    case attemptsUnrecorded = 31
    case attemptOutOfPlace = 32
    case attemptEndUnknown = 33
    case attemptsOfNobody = 34
    case attemptsDiffer = 35
    case keyOfTicketsOfNobody = 36
    case servedOutOfTurn = 37
    case fileUnsound = 38
    case changeMissing = 39
    case changeLeaves = 40
    case changeLeavesImpossible = 41
    case changeOfUnknownOrder = 42
    case orderUnsaid = 43
    case orderMovedOther = 44
    case orderMovedUnasked = 45
    case shelfDiffers = 46
    case ordersDiffer = 47
    case moneyChangeMissing = 48
    case moneyChangeLeaves = 49
    case moneyChangeLeavesImpossible = 50
    case moneyChangeImpossible = 51
    case requestIsTwoThings = 52
    case purchaseNotMade = 53
    case purchaseOther = 54
    case purchaseMissing = 55
    case purchasesDiffer = 56
    case purchasesCost = 57
    case moneyNowhere = 58
    case booksDoNotAddUp = 59
    case waitingDiffers = 60
    case delayedDiffers = 61
    case lineOutOfOrder = 62
    case servedWithoutOrder = 63
    case servedByShortOrder = 64
    case servedByReturnedOrder = 65
    case sentAwayWithoutOrder = 66
    case sentAwayByReturnedOrder = 67
    case endedHolding = 68
    case orderOfNobody = 69
    case refuses = 70
    case strangeAnswer = 71
    case foreignOrders = 72
    case moreOfStock = 73
    case drinksDiffer = 74
    case stranger = 75
    case cannotLook = 76
    case otherOwner = 77
    case openToOthers = 78
    case notReturned = 79
    case moreNotReturned = 80
    case newBank = 81
    case newDatabase = 82
    case olderBank = 83
    case olderDatabase = 84
    case otherDatabase = 85
    case databaseMissing = 86
    case cannotBegin = 87
    case endedAtOnce = 88
    case presentDay = 100
    case lastDay = 101
    case waitAtMost = 102
    case inUse = 103
    case schemaFound = 104
    case fileEmpty = 105
    case databaseRemoved = 106
    case neverOpened = 107
    case accountRange = 108
    case listEmpty = 109
    case listEnded = 110
    case listUnreadable = 111
    case emptyAfterOpening = 112
    case notDirectory = 123
    case belongsToOther = 113
    case writableByOthers = 114
    case pathTooLong = 115
    case timeoutNegative = 116
    case noRange = 117
    case serviceTwice = 118
    case windowsRange = 119
    case viewsAtMost = 120
    case answersAtMost = 121
    case resetOtherDay = 122
    case resetMeanwhile = 124
    case reserveInUse = 130
    case noRoomForReceipts = 131
    case emptyBesideLog = 132
    case notSQLite = 133
    case otherApplication = 134
    case noSchemaVersion = 135
    case logNotOn = 136
    case logNotLeft = 137
    case fileNotCreated = 138
    case notCreated = 139
    case notCopied = 140
    case fileRemoved = 141
    case storeClosed = 142
    case amountImpossible = 150
    case itemTwice = 151
    case itemCount = 152
    case orderName = 153
    case badDates = 154
    case nameOfOther = 155
    case wasGivenBack = 156
    case presentAtMost = 157
    case lotsHaveDates = 158
    case lotsAlready = 159
    case noRoomForShelves = 160
    case insertionRange = 161
    case requestName = 162
    case nameOfOtherRequest = 163
    case balanceAtMost = 164
    case purchasesUnderWay = 165
    case expiresBeforeMade = 166
    case amountRange = 167
    case changesNothing = 168
    case managersSocket = 169
    case customersSocket = 170
    case viewsOpen = 171
    case noSocket = 180
    case nobodyListens = 181
    case noRoomForConnection = 182
    case peerClosed = 183
    case peerClosedMidFrame = 184
    case malformed = 185
    case oversized = 186
    case connectionFailed = 187
    case peerDoesNotRead = 188
    case unsendable = 189
    case closedHere = 190
    case noAnswer = 191
    case stockSilent = 192
    case endedMeanwhile = 193
    case nobodyListensYet = 194
    case showsNothing = 196
    case noPicture = 195
    case booksImpossible = 200
    case uncancelled = 201
    case waitsWithReceipt = 202
    case waitsCancelled = 203
    case cancelledBefore = 204
    case receiptTwice = 205
    case shortTwice = 206
    case releaseUnknown = 207
    case alreadyIs = 208
    case alreadyInQueue = 209
    case notAmong = 210
    case attemptTwice = 211
    case keyRemembered = 212
    case dayTwice = 213
    case dayMissing = 214
    case dayRowMissing = 215
    case noBusinessDay = 216
    case presentDayClosed = 217
    case startsMissing = 218
    case booksNameBroken = 219
    case receiptsWithoutDay = 220
    case dayNotCarried = 221
    case delayedWithoutMoment = 222
    case receiptOutcome = 223
    case serviceUnknown = 224
    case gradeUnknown = 225
    case numberRange = 226
    case orderOutcome = 230
    case orderShortUnknown = 231
    case changeMeaningless = 232
    case lotMeaningless = 233
    case itemNumber = 234
    case itemKept = 235
    case changeTwice = 236
    case changeLeavesLot = 237
    case orderAnswered = 238
    case orderShortAlready = 239
    case orderNotHolding = 240
    case itemUnknown = 241
    case balanceDiffers = 242
    case purchaseCostsMore = 243
    case purchaseEnded = 244
    case purchaseState = 245
    case purchaseNumber = 246
    case purchaseTwice = 247
    case moneyChangeTwice = 248
    case olderVersion = 250
    case missingBesideLog = 251
    case zeroByte = 252
    case partAtMost = 260
    case customersAtMost = 261
    case notInList = 262
    case moneyRange = 263
    case keyLength = 264
    case customersRange = 265
    case payloadAtMost = 266
    case processCode = 270
    case processSignal = 271
    case processUnseen = 272
    case cannotBeginCode = 273
    case cannotBeginSignal = 274
    case otherBuild = 275
    case fileDamaged = 276
    case earlyAnswer = 280
    case secondWelcome = 281
    case endsMidFrame = 282
    case tooManyAnswers = 283
    case nothingAnswered = 284
    case otherAnswer = 285
    case viewBegunAnew = 290
    case viewRefused = 291
    case viewOutOfOrder = 292
    case viewDiffers = 293
    case viewEndsEarly = 294
    case viewSum = 295
    case balanceAfter = 296
    case wasRefused = 297
    case wasAnsweredOtherwise = 298
    case balanceIs = 299
    case drinksAre = 300
    case purchasesKept = 301
  }
}
