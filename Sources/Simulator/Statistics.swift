// Owns what is counted while histories are simulated. It must not know how they are. Invariant: counts of two parts
// add up to the counts of the whole. There is nothing that can fail.

/// How much was simulated.
public struct Statistics: Sendable, Equatable, Codable {
  /// Histories that came to their end.
  public var histories: Int64 = 0
  /// Things that happened in the simulated worlds.
  public var occurrences: Int64 = 0
  /// Events that the queue's core was given.
  public var events: Int64 = 0
  /// Effects that were performed.
  public var effects: Int64 = 0
  /// Messages that went through the codec.
  public var messages: Int64 = 0
  /// Commits that were kept.
  public var commits: Int64 = 0
  /// Customers who were handed to a teller.
  public var assignments: Int64 = 0
  /// Receipts that were kept.
  public var receipts: Int64 = 0
  /// Customers who were put aside.
  public var deadLetters: Int64 = 0
  /// Requests for tickets that clients withdrew, in time or not.
  public var withdrawals: Int64 = 0
  /// Those of which nobody was added.
  public var withdrawn: Int64 = 0
  /// Requests that were withdrawn when a part of them was taken in.
  public var withdrawnInPart: Int64 = 0
  /// Requests that were given up for a reset when a part of them was taken in.
  public var givenUpForResets: Int64 = 0
  /// Commits of the queue that the production store has kept.
  public var databaseCommits: Int64 = 0
  /// Coordinators that were started.
  public var starts: Int64 = 0
  /// Guardians that were started.
  public var guardianStarts: Int64 = 0
  /// Coordinators that a new guardian has taken over from one that had died.
  public var adoptions: Int64 = 0
  /// Events that the stock's core was given.
  public var stockEvents: Int64 = 0
  /// Commits of the stock that were kept.
  public var stockCommits: Int64 = 0
  /// Stock services that were started.
  public var stockStarts: Int64 = 0
  /// Juices that were made.
  public var juices: Int64 = 0
  /// Customers who were sent away because too little was there.
  public var shortages: Int64 = 0
  /// Times that the stock was asked to give back what a cancelled ticket held.
  public var releases: Int64 = 0
  /// Changes that somebody who looks on was told of.
  public var news: Int64 = 0
  /// Events that the vending machine's core was given.
  public var vendingEvents: Int64 = 0
  /// Commits of the vending machine that were kept.
  public var vendingCommits: Int64 = 0
  /// Vending machines that were started.
  public var vendingStarts: Int64 = 0
  /// Won that were put into the vending machine.
  public var wonInserted: Int64 = 0
  /// Audits of an open bank.
  public var audits: Int64 = 0
  /// Drinks that were bought.
  public var purchases: Int64 = 0
  /// Purchases that were begun and not made: there was none of the product, or the stock was away.
  public var refusedPurchases: Int64 = 0
  /// Faults, by ``FaultKind/rawValue``.
  public var faults = [Int64](repeating: 0, count: FaultKind.allCases.count)

  /// Nothing yet.
  public init() {}

  /// Faults of all kinds.
  public var faultsInAll: Int64 { faults.reduce(0, +) }

  /// How often something went wrong.
  public func count(of kind: FaultKind) -> Int64 { faults[kind.rawValue] }

  /// Counts a fault.
  mutating func note(_ kind: FaultKind, _ times: Int = 1) { faults[kind.rawValue] += Int64(times) }

  /// Adds another part.
  public static func += (left: inout Statistics, right: Statistics) {
    left.histories += right.histories
    left.occurrences += right.occurrences
    left.events += right.events
    left.effects += right.effects
    left.messages += right.messages
    left.commits += right.commits
    left.assignments += right.assignments
    left.receipts += right.receipts
    left.deadLetters += right.deadLetters
    left.withdrawals += right.withdrawals
    left.withdrawn += right.withdrawn
    left.withdrawnInPart += right.withdrawnInPart
    left.givenUpForResets += right.givenUpForResets
    left.databaseCommits += right.databaseCommits
    left.starts += right.starts
    left.guardianStarts += right.guardianStarts
    left.adoptions += right.adoptions
    left.stockEvents += right.stockEvents
    left.stockCommits += right.stockCommits
    left.stockStarts += right.stockStarts
    left.juices += right.juices
    left.shortages += right.shortages
    left.releases += right.releases
    left.news += right.news
    left.vendingEvents += right.vendingEvents
    left.vendingCommits += right.vendingCommits
    left.vendingStarts += right.vendingStarts
    left.wonInserted += right.wonInserted
    left.audits += right.audits
    left.purchases += right.purchases
    left.refusedPurchases += right.refusedPurchases
    for place in left.faults.indices { left.faults[place] += right.faults[place] }
  }
}
