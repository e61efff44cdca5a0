// The bugs planted in the database of a shared bank, or in one of its branches, each described in one sentence, with
// the promises that it breaks. The simulated server, which models the statements, contains the bugs of the database.
// The other bugs are in a branch's production code, or in the events and effects of its queue.
// Invariant: the checker finds each bug; a test fails if the checker misses one.

/// A deliberate defect of a bank whose branches share a database.
public enum PlantedBranchBug: String, CaseIterable, Sendable {
  // In the database.
  case completesWithoutTheEpoch = "A branch finishes customers after its epoch has ended."
  case claimsWithoutTheEpoch = "A branch claims customers after its epoch has ended."
  case claimsOverlap = "A page overlaps with the claim of another branch."
  case claimsTheLastFirst = "A page is claimed from the end of a lane."
  case rescuesTwice = "A returned customer also stays in the claim, and is returned again with it."
  case losesTheReturned = "The customers of a dead branch are in no claim and are not returned."
  case losesTheRevived =
    "A requeued dead letter with a ticket below the last claim is not found."
  case forgetsRequests = "A repeated request for tickets gets new tickets."
  case forgetsKeysOfOtherEpochs = "A key is known only in the epoch in which it arrived."
  case leavesGaps = "A ticket number is sometimes skipped."
  case takesInWhileItDrains = "A draining bank issues tickets."
  case callsTheDueTwice = "A due customer joins its line twice."
  case callsTooEarly = "A delayed customer joins its line a minute too early."
  case cancelsWithoutEffect = "A finished customer is reported as cancelled."
  case keepsSilentAboutNoEffect = "A branch gets a success for a customer that another branch held."
  case endsTheDayEarly = "The day ends with unfinished customers."
  case claimsPastTheArriving = "A customer after a large request is claimed before the request is complete."
  case forgetsTheRestOfARequest =
    "Only one slice of a large request is stored."
  case forgetsWhatIsOwed = "It is not recorded that a stock may hold items for a cancelled customer."
  // In a branch: its requests to the database.
  case makesTheJuiceOfOthers = "A branch claims customers who ordered a juice at another branch."
  case repeatsWithoutLooking = "A transaction with an unknown outcome is sent again without a check."
  case opensBesideTheFormer =
    "A new connection does not wait for the end of the previous one's server process."
  case addsUpInOneLane = "A branch counts all customers of a commit in the lane of the first one."
  case keepsItsCommitsOverTheLoss = "Commits of an ended epoch are sent under the next one."
  case claimsAnewInsteadOfLooking =
    "A page whose response was lost is claimed again, and the first claim forgotten."
  case takesARefusalForACommit = "A rejected transaction is reported as committed."
  case forgetsRequestsOverTheLoss = "A request for tickets open at the loss of the lease is never answered."
  case tellsTicketsTooEarly = "Tickets are announced before the database has issued them."
  case delaysByTheLocalCalendar = "A deferred customer waits by the calendar of the branch."
  case neverRescues = "The claims of a dead branch are never returned."
  case neverCallsTheDue = "Due customers never join their lines."
  case neverLooks = "A change without a received notification is never found."
  case leavesWithoutAWord = "A closing branch does not return its claims."
  case usesAnyBooks = "A branch uses any database that it finds at its address."
  case isDeafToTheDrain = "A branch ignores that the bank drains."
  // In a branch: its queue.
  case handsOutBehindTheLease = "A branch assigns customers after the end of its lease."
  case keepsItsCustomersOverTheLoss =
    "A branch that has lost its lease continues with its customers in flight."
  case forgetsToAskTellersBack = "Tellers are not notified that their customers were lost."
  case countsWhatHadNoEffect = "A branch counts customers that another branch has finished."
  case losesARefusedTransaction = "A rejected transaction is not sent again."

  /// The name, as in `--bug`.
  public var name: String { String(describing: self) }
  /// One sentence that describes the defect.
  public var sentence: String { rawValue }

  /// The promises that the defect may break first.
  public var breaks: Set<Violation.Kind> {
    switch self {
    case .keepsItsCustomersOverTheLoss: [.fence, .notDrained, .notDurable]
    case .completesWithoutTheEpoch, .keepsItsCommitsOverTheLoss:
      [.fence]
    case .claimsWithoutTheEpoch: [.fence, .claim]
    case .claimsOverlap, .rescuesTwice, .makesTheJuiceOfOthers: [.claim]
    case .forgetsWhatIsOwed, .usesAnyBooks: [.dayCounters]
    case .claimsTheLastFirst: [.order]
    case .callsTheDueTwice: [.claim, .early]
    // A customer that is no longer in a claim is claimed again as if it had never been claimed.
    case .losesTheReturned: [.lostTicket, .order, .notDrained, .claim]
    case .losesTheRevived: [.lostTicket, .order, .notDrained, .claim]
    case .handsOutBehindTheLease: [.lease, .notDrained]
    case .forgetsRequests: [.duplicate, .repeatedKey]
    case .forgetsKeysOfOtherEpochs: [.repeatedKey]
    case .leavesGaps: [.series]
    case .forgetsTheRestOfARequest: [.lostTicket, .notDrained, .answer, .dayCounters]
    case .claimsPastTheArriving: [.order, .notDrained, .lostTicket]
    case .takesInWhileItDrains: [.overLimit]
    case .callsTooEarly: [.early]
    case .cancelsWithoutEffect, .tellsTicketsTooEarly: [.notDurable]
    case .keepsSilentAboutNoEffect: [.notDurable, .dayCounters]
    case .endsTheDayEarly: [.lostTicket]
    case .repeatsWithoutLooking: [.repeatedTransaction]
    case .opensBesideTheFormer: [.repeatedTransaction, .claim, .notDrained]
    case .claimsAnewInsteadOfLooking, .neverRescues, .neverCallsTheDue, .neverLooks, .isDeafToTheDrain:
      [.notDrained]
    case .delaysByTheLocalCalendar: [.notDrained, .early]
    case .forgetsRequestsOverTheLoss: [.notDrained, .answer]
    case .takesARefusalForACommit: [.notDurable, .notDrained]
    case .leavesWithoutAWord: [.protocolViolation]
    case .forgetsToAskTellersBack: [.protocolViolation]
    case .countsWhatHadNoEffect: [.dayCounters]
    // A client that waits for wrong counts waits forever.
    case .addsUpInOneLane: [.dayCounters, .notDrained]
    case .losesARefusedTransaction: [.notDrained, .dayCounters, .lostTicket]
    }
  }
}
