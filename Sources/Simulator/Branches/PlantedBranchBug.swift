// The bugs planted in the database of a shared bank, or in one of its branches, each described in one sentence, with
// the promises that it breaks.
// Invariant: the checker finds each bug.

/// A deliberate defect of a bank whose branches share a database.
public enum PlantedBranchBug: String, SelectableCase {
  // In the database.
  case completesWithoutEpoch = "A branch finishes customers after its epoch has ended."
  case claimsWithoutEpoch = "A branch claims customers after its epoch has ended."
  case claimsOverlap = "A page overlaps with the claim of another branch."
  case claimsFromEnd = "A page is claimed from the end of a lane."
  case rescuesTwice = "A returned customer also stays in the claim, and is returned again with it."
  case losesReturnedTickets = "The customers of a dead branch are in no claim and are not returned."
  case losesRequeuedTickets =
    "A requeued dead letter with a ticket below the last claim is not found."
  case forgetsRequests = "A repeated request for tickets gets new tickets."
  case forgetsKeysOfOtherEpochs = "A key is known only in the epoch in which it arrived."
  case skipsNumbers = "A ticket number is sometimes skipped."
  case issuesWhileDraining = "A draining bank issues tickets."
  case returnsDueTwice = "A due customer joins its line twice."
  case returnsDueEarly = "A delayed customer joins its line a minute too early."
  case cancelsWithoutEffect = "A finished customer is reported as cancelled."
  case hidesRejectedCompletions = "A branch gets a success for a customer that another branch held."
  case endsDayEarly = "The day ends with unfinished customers."
  case claimsPastUnpacked = "A customer after a large request is claimed before the request is complete."
  case unpacksFirstSliceOnly =
    "Only one slice of a large request is stored."
  case forgetsStockReleases = "It is not recorded that a stock may hold items for a cancelled customer."
  // In a branch: its requests to the database.
  case claimsJuiceOfOtherBranch = "A branch claims customers who ordered a juice at another branch."
  case repeatsWithoutCheck = "A transaction with an unknown outcome is sent again without a check."
  case opensBesideFormerSession =
    "A new connection does not wait for the end of the previous one's server process."
  case addsCountsToOneLane = "A branch counts all customers of a commit in the lane of the first one."
  case keepsCommitsAfterLeaseLoss = "Commits of an ended epoch are sent under the next one."
  case claimsAgainWithoutCheck =
    "A page whose response was lost is claimed again, and the first claim forgotten."
  case treatsRefusalAsCommit = "A rejected transaction is reported as committed."
  case dropsRequestsAfterLeaseLoss = "A request for tickets open at the loss of the lease is never answered."
  case reportsTicketsBeforeCommit = "Tickets are announced before the database has issued them."
  case delaysByLocalClock = "A deferred customer waits by the calendar of the branch."
  case neverRescues = "The claims of a dead branch are never returned."
  case neverReturnsDue = "Due customers never join their lines."
  case neverPolls = "A change without a received notification is never found."
  case leavesWithoutReturningClaims = "A closing branch does not return its claims."
  case usesAnyDatabase = "A branch uses any database that it finds at its address."
  case ignoresBankDrain = "A branch ignores that the bank drains."
  // In a branch: its queue.
  case assignsAfterLeaseEnd = "A branch assigns customers after the end of its lease."
  case keepsCustomersAfterLeaseLoss =
    "A branch that has lost its lease continues with its customers in flight."
  case doesNotRecallAfterLeaseLoss = "Tellers are not notified that their customers were lost."
  case countsRejectedCompletions = "A branch counts customers that another branch has finished."
  case dropsRefusedTransaction = "A rejected transaction is not sent again."

  /// The promises that the defect may break first.
  public var breaks: Set<Violation.Kind> {
    switch self {
    case .keepsCustomersAfterLeaseLoss: [.fence, .notDrained, .notDurable]
    case .completesWithoutEpoch, .keepsCommitsAfterLeaseLoss:
      [.fence]
    case .claimsWithoutEpoch: [.fence, .claim]
    case .claimsOverlap, .rescuesTwice, .claimsJuiceOfOtherBranch: [.claim]
    case .forgetsStockReleases, .usesAnyDatabase: [.dayCounters]
    case .claimsFromEnd: [.order]
    case .returnsDueTwice: [.claim, .early]
    // A customer that is no longer in a claim is claimed again as if it had never been claimed.
    case .losesReturnedTickets: [.lostTicket, .order, .notDrained, .claim]
    case .losesRequeuedTickets: [.lostTicket, .order, .notDrained, .claim]
    case .assignsAfterLeaseEnd: [.lease, .notDrained]
    case .forgetsRequests: [.duplicate, .repeatedKey]
    case .forgetsKeysOfOtherEpochs: [.repeatedKey]
    case .skipsNumbers: [.series]
    case .unpacksFirstSliceOnly: [.lostTicket, .notDrained, .answer, .dayCounters]
    case .claimsPastUnpacked: [.order, .notDrained, .lostTicket]
    case .issuesWhileDraining: [.overLimit]
    case .returnsDueEarly: [.early]
    case .cancelsWithoutEffect, .reportsTicketsBeforeCommit: [.notDurable]
    case .hidesRejectedCompletions: [.notDurable, .dayCounters]
    case .endsDayEarly: [.lostTicket]
    case .repeatsWithoutCheck: [.repeatedTransaction]
    case .opensBesideFormerSession: [.repeatedTransaction, .claim, .notDrained]
    case .claimsAgainWithoutCheck, .neverRescues, .neverReturnsDue, .neverPolls, .ignoresBankDrain:
      [.notDrained]
    case .delaysByLocalClock: [.notDrained, .early]
    case .dropsRequestsAfterLeaseLoss: [.notDrained, .answer]
    case .treatsRefusalAsCommit: [.notDurable, .notDrained]
    case .leavesWithoutReturningClaims: [.protocolViolation]
    case .doesNotRecallAfterLeaseLoss: [.protocolViolation]
    case .countsRejectedCompletions: [.dayCounters]
    // A client that waits for wrong counts waits forever.
    case .addsCountsToOneLane: [.dayCounters, .notDrained]
    case .dropsRefusedTransaction: [.notDrained, .dayCounters, .lostTicket]
    }
  }
}
