// The bugs planted in the database of a shared bank, or in one of its branches, each described in a sentence,
// with the promises that it breaks. The simulated server, which models the statements, makes those of the
// database. The others are in a branch's production code itself, or in front of its queue.
// Invariant: a checker that misses one of them is itself broken, which a test would show.

/// A deliberate defect of a bank whose branches share a database.
public enum PlantedBranchBug: String, CaseIterable, Sendable {
  // In the database.
  case completesWithoutTheEpoch = "What a branch finishes takes effect, though its epoch has ended."
  case claimsWithoutTheEpoch = "A branch claims customers, though its epoch has ended."
  case claimsOverlap = "A page begins among those whom another branch has claimed."
  case claimsTheLastFirst = "A page is claimed from the end of a lane."
  case rescuesTwice = "Whoever is given back stays in the claim as well, and is given back again with it."
  case losesTheReturned = "Whoever a dead branch has left is in no claim and is not given back."
  case losesTheRevived =
    "A dead letter that is brought back, and stood before the last claim, is found by nobody."
  case forgetsRequests = "A request for tickets that is repeated gets tickets again."
  case forgetsKeysOfOtherEpochs = "A key is known in the epoch only in which it came."
  case leavesGaps = "Now and then a number is left out."
  case takesInWhileItDrains = "A bank that drains gives tickets."
  case callsTheDueTwice = "Whoever is due is called, and called again."
  case callsTooEarly = "Whoever is delayed is called a minute too early."
  case cancelsWithoutEffect = "A customer who is done is told to be taken out."
  case keepsSilentAboutNoEffect = "A branch is told that it has finished whom somebody else had."
  case endsTheDayEarly = "The day ends while somebody is left."
  case claimsPastTheArriving = "Somebody behind a large request is claimed before its customers have come in."
  case forgetsTheRestOfARequest =
    "Of a large request that has its tickets the customers of one slice come in."
  case forgetsWhatIsOwed = "Nobody notes that a stock may hold something for somebody who was cancelled."
  // In a branch: its requests to the database.
  case makesTheJuiceOfOthers = "A branch claims those who have ordered a juice at another."
  case repeatsWithoutLooking = "A transaction of which the outcome is unknown is sent again without a look."
  case opensBesideTheFormer =
    "A new connection does not wait for the end of the server's process of the former one."
  case addsUpInOneLane = "A branch adds up its commit as if all its customers were of the lane of the first."
  case keepsItsCommitsOverTheLoss = "What was done under an epoch that has ended is sent under the next one."
  case claimsAnewInsteadOfLooking =
    "A page of which the answer was lost is claimed anew, and the first one forgotten."
  case takesARefusalForACommit = "What the database has refused is told as committed."
  case forgetsRequestsOverTheLoss = "Whoever has asked for tickets when the lease was lost is never answered."
  case tellsTicketsTooEarly = "Tickets are spoken before the books have given them."
  case delaysByTheLocalCalendar = "Whoever is put off waits by the calendar of the branch."
  case neverRescues = "Nobody gives back whom a dead branch has left."
  case neverCallsTheDue = "Nobody calls those who are due."
  case neverLooks = "What is not heard as a notification is never found."
  case leavesWithoutAWord = "A branch that closes does not give back whom it has."
  case usesAnyBooks = "A branch uses whatever it finds at the address of its books."
  case isDeafToTheDrain = "A branch does not hear that the bank drains."
  // In a branch: its queue.
  case handsOutBehindTheLease = "A branch hands out customers behind the end of its lease."
  case keepsItsCustomersOverTheLoss =
    "A branch that has lost its lease goes on with those whom it had in hand."
  case forgetsToAskTellersBack = "Tellers are not told that the customers were lost."
  case countsWhatHadNoEffect = "A branch counts as its own what somebody else has finished."
  case losesARefusedTransaction = "What the database has refused is not handed over again."

  /// The name, as in `--bug`.
  public var name: String { String(describing: self) }
  /// One sentence that describes the defect.
  public var sentence: String { rawValue }

  /// The promises that it may break first.
  public var breaks: Set<Violation.Kind> {
    switch self {
    case .keepsItsCustomersOverTheLoss: [.fence, .notDrained, .notDurable]
    case .completesWithoutTheEpoch, .keepsItsCommitsOverTheLoss:
      [.fence]
    case .claimsWithoutTheEpoch: [.fence, .claim]
    case .claimsOverlap, .rescuesTwice, .makesTheJuiceOfOthers: [.claim]
    case .forgetsWhatIsOwed, .usesAnyBooks: [.books]
    case .claimsTheLastFirst: [.order]
    case .callsTheDueTwice: [.claim, .early]
    // A customer in no claim any more is claimed again as if it had never been claimed.
    case .losesTheReturned: [.lostTicket, .order, .notDrained, .claim]
    case .losesTheRevived: [.lostTicket, .order, .notDrained, .claim]
    case .handsOutBehindTheLease: [.lease, .notDrained]
    case .forgetsRequests: [.duplicate, .repeatedKey]
    case .forgetsKeysOfOtherEpochs: [.repeatedKey]
    case .leavesGaps: [.series]
    case .forgetsTheRestOfARequest: [.lostTicket, .notDrained, .answer, .books]
    case .claimsPastTheArriving: [.order, .notDrained, .lostTicket]
    case .takesInWhileItDrains: [.overfull]
    case .callsTooEarly: [.early]
    case .cancelsWithoutEffect, .tellsTicketsTooEarly: [.notDurable]
    case .keepsSilentAboutNoEffect: [.notDurable, .books]
    case .endsTheDayEarly: [.lostTicket]
    case .repeatsWithoutLooking: [.repeatedTurn]
    case .opensBesideTheFormer: [.repeatedTurn, .claim, .notDrained]
    case .claimsAnewInsteadOfLooking, .neverRescues, .neverCallsTheDue, .neverLooks, .isDeafToTheDrain:
      [.notDrained]
    case .delaysByTheLocalCalendar: [.notDrained, .early]
    case .forgetsRequestsOverTheLoss: [.notDrained, .answer]
    case .takesARefusalForACommit: [.notDurable, .notDrained]
    case .leavesWithoutAWord: [.conversation]
    case .forgetsToAskTellersBack: [.conversation]
    case .countsWhatHadNoEffect: [.books]
    // A client that waits for wrong counts waits forever.
    case .addsUpInOneLane: [.books, .notDrained]
    case .losesARefusedTransaction: [.notDrained, .books, .lostTicket]
    }
  }
}
