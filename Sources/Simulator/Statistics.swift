// Owns what is counted while histories are simulated. It must not know how they are. Invariant: counts of two parts
// add up to the counts of the whole. There is nothing that can fail.

/// How much was simulated.
public struct Statistics: Sendable, Equatable, Codable {
  /// Histories that came to their end.
  package var histories: Int64 = 0
  package var occurrences: Int64 = 0
  package var events: Int64 = 0
  package var effects: Int64 = 0
  /// Messages that went through the codec.
  package var messages: Int64 = 0
  package var commits: Int64 = 0
  /// Customers who were handed to a teller.
  package var assignments: Int64 = 0
  package var receipts: Int64 = 0
  package var deadLetters: Int64 = 0
  /// Requests for tickets that clients withdrew, in time or not.
  package var withdrawals: Int64 = 0
  /// Those of which nobody was added.
  package var withdrawn: Int64 = 0
  /// Requests that were withdrawn when a part of them was taken in.
  package var withdrawnInPart: Int64 = 0
  /// Requests that were given up for a reset when a part of them was taken in.
  package var givenUpForResets: Int64 = 0
  /// Commits of the queue that the production store has kept.
  package var databaseCommits: Int64 = 0
  /// Commits of the queue that were handed over to a disk that answers later, those of them with others before them on
  /// their way, refusals of one with others behind it, and killed processes that left some of those on their way on the
  /// disk and others not.
  package var commitsUnderway: Int64 = 0
  package var commitsBesideOthers: Int64 = 0
  package var refusedBesideOthers: Int64 = 0
  package var keptInPart: Int64 = 0
  /// Coordinators that were started.
  package var starts: Int64 = 0
  package var guardianStarts: Int64 = 0
  /// Coordinators that a new guardian has taken over from one that had died.
  package var adoptions: Int64 = 0
  /// Commands that have begun, other processes that they have started, and commands that took too long.
  package var commands: Int64 = 0
  package var commandProcesses: Int64 = 0
  package var commandsTimedOut: Int64 = 0
  /// Receipts with the result of a command.
  package var commandResults: Int64 = 0
  package var stockEvents: Int64 = 0
  package var stockCommits: Int64 = 0
  package var stockStarts: Int64 = 0
  package var juices: Int64 = 0
  /// Customers who were sent away because too little was there.
  package var shortages: Int64 = 0
  /// Times that the stock was asked to give back what a cancelled ticket held.
  package var releases: Int64 = 0
  /// Changes that somebody who looks on was told of.
  package var news: Int64 = 0
  package var vendingEvents: Int64 = 0
  package var vendingCommits: Int64 = 0
  package var vendingStarts: Int64 = 0
  package var wonInserted: Int64 = 0
  package var audits: Int64 = 0
  /// Pictures of the board that clients have read.
  package var boards: Int64 = 0
  package var purchases: Int64 = 0
  /// Purchases that were begun and not made: there was none of the product, or the stock was away.
  package var refusedPurchases: Int64 = 0
  /// Faults, by ``FaultKind/rawValue``.
  package var faults = [Int64](repeating: 0, count: FaultKind.allCases.count)

  /// Nothing yet.
  public init() {}
  package var faultsInAll: Int64 { faults.reduce(0, +) }
  /// How often something went wrong.
  public func count(of kind: FaultKind) -> Int64 { faults[kind.rawValue] }
  mutating func note(_ kind: FaultKind, _ times: Int = 1) { faults[kind.rawValue] += Int64(times) }

  private static let counts: [WritableKeyPath<Statistics, Int64> & Sendable] = [
    \.histories, \.occurrences, \.events, \.effects, \.messages, \.commits, \.assignments, \.receipts,
    \.deadLetters, \.withdrawals, \.withdrawn, \.withdrawnInPart, \.givenUpForResets, \.databaseCommits,
    \.commitsUnderway, \.commitsBesideOthers, \.refusedBesideOthers, \.keptInPart,
    \.starts, \.guardianStarts, \.adoptions, \.commands, \.commandProcesses, \.commandsTimedOut,
    \.commandResults, \.stockEvents, \.stockCommits, \.stockStarts, \.juices,
    \.shortages, \.releases, \.news,
    \.vendingEvents, \.vendingCommits, \.vendingStarts, \.wonInserted, \.audits, \.boards, \.purchases,
    \.refusedPurchases,
  ]

  /// Adds another part.
  public static func += (left: inout Statistics, right: Statistics) {
    for count in counts { left[keyPath: count] += right[keyPath: count] }
    for place in left.faults.indices { left.faults[place] += right.faults[place] }
  }
}
