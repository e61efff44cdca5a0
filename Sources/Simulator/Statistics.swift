// Counts of simulated histories.
// Invariant: the counts of two parts add up to the counts of the whole.

/// Counts of simulated events, requests and faults.
public struct Statistics: Sendable, Equatable, Codable {
  /// Histories that ended without a violation.
  package var histories: Int64 = 0
  /// Steps of processes and scheduled events.
  package var occurrences: Int64 = 0
  /// Events that the core of the queue has received, and the effects that it has returned.
  package var events: Int64 = 0
  package var effects: Int64 = 0
  /// Writes to streams and pipes.
  package var messages: Int64 = 0
  /// Commits of the queue.
  package var commits: Int64 = 0
  /// Customers assigned to a worker.
  package var assignments: Int64 = 0
  /// Receipts on disk, and customers that became dead letters.
  package var receipts: Int64 = 0
  package var deadLetters: Int64 = 0
  /// Requests for tickets that clients withdrew, in time or not.
  package var withdrawals: Int64 = 0
  /// Withdrawn requests without any added customer.
  package var withdrawn: Int64 = 0
  /// Requests that were abandoned, other than for a reset, after the bank had accepted a part of them.
  package var withdrawnInPart: Int64 = 0
  /// Requests that were abandoned for a reset after the bank had accepted a part of them.
  package var givenUpForResets: Int64 = 0
  /// Commits of the queue that the production store has made.
  package var databaseCommits: Int64 = 0
  /// Commits handed over to a slow disk; those with earlier ones in flight; refused ones with later ones in
  /// flight; and killed processes whose commits in flight were stored only in part.
  package var commitsUnderway: Int64 = 0
  package var pipelinedCommits: Int64 = 0
  package var refusedPipelinedCommits: Int64 = 0
  package var partlyKeptCommits: Int64 = 0
  /// Starts of coordinators, including those that could not open the store.
  package var starts: Int64 = 0
  /// Starts of guardians.
  package var guardianStarts: Int64 = 0
  /// Coordinators that a new guardian took over.
  package var adoptions: Int64 = 0
  /// Commands that were started, their descendants, and commands that reached their timeout.
  package var commands: Int64 = 0
  package var commandProcesses: Int64 = 0
  package var commandsTimedOut: Int64 = 0
  /// Receipts with the result of a command.
  package var commandResults: Int64 = 0
  /// Events of the core of the stock, commits to its database, and starts of its process.
  package var stockEvents: Int64 = 0
  package var stockCommits: Int64 = 0
  package var stockStarts: Int64 = 0
  /// Receipts for juices that were made.
  package var juices: Int64 = 0
  /// Customers turned away because the stock had too little.
  package var shortages: Int64 = 0
  /// Requests to the stock to return what a cancelled ticket held.
  package var releases: Int64 = 0
  /// Changes that subscribers of the stock have received.
  package var news: Int64 = 0
  /// Events of the core of the vending machine, commits to its database, and starts of its process.
  package var vendingEvents: Int64 = 0
  package var vendingCommits: Int64 = 0
  package var vendingStarts: Int64 = 0
  /// Money that was inserted into the vending machine, in won.
  package var wonInserted: Int64 = 0
  /// Audits of the open bank.
  package var audits: Int64 = 0
  /// Snapshots that clients have read.
  package var boards: Int64 = 0
  /// Drinks that were bought.
  package var purchases: Int64 = 0
  /// Purchases that were started and then refused.
  package var refusedPurchases: Int64 = 0
  /// Faults, indexed by ``FaultKind/rawValue``.
  package var faults = [Int64](repeating: 0, count: FaultKind.allCases.count)

  /// All counts are zero.
  public init() {}
  /// Number of faults of all kinds.
  package var totalFaults: Int64 { faults.reduce(0, +) }
  /// Number of faults of a kind.
  public func count(of kind: FaultKind) -> Int64 { faults[kind.rawValue] }
  mutating func note(_ kind: FaultKind, _ times: Int = 1) { faults[kind.rawValue] += Int64(times) }

  /// All counts but those of the faults.
  private static let counts: [WritableKeyPath<Statistics, Int64> & Sendable] = [
    \.histories, \.occurrences, \.events, \.effects, \.messages, \.commits, \.assignments, \.receipts,
    \.deadLetters, \.withdrawals, \.withdrawn, \.withdrawnInPart, \.givenUpForResets, \.databaseCommits,
    \.commitsUnderway, \.pipelinedCommits, \.refusedPipelinedCommits, \.partlyKeptCommits,
    \.starts, \.guardianStarts, \.adoptions, \.commands, \.commandProcesses, \.commandsTimedOut,
    \.commandResults, \.stockEvents, \.stockCommits, \.stockStarts, \.juices,
    \.shortages, \.releases, \.news,
    \.vendingEvents, \.vendingCommits, \.vendingStarts, \.wonInserted, \.audits, \.boards, \.purchases,
    \.refusedPurchases,
  ]

  /// Adds the counts of another part.
  public static func += (left: inout Statistics, right: Statistics) {
    for count in counts { left[keyPath: count] += right[keyPath: count] }
    for place in left.faults.indices { left.faults[place] += right.faults[place] }
  }
}
