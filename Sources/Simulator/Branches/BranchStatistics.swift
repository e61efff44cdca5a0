// Counts of simulated histories of several branches.
// Invariant: the counts of two parts add up to the counts of the whole.

/// Counts of simulated events, requests and faults of several branches.
public struct BranchStatistics: Sendable, Equatable {
  /// Histories that ended without a violation.
  package var histories: Int64 = 0
  /// Steps of the simulation, events and effects of the queues, and writes of processes.
  package var occurrences: Int64 = 0, events: Int64 = 0, effects: Int64 = 0, messages: Int64 = 0
  /// Requests of clients, and their answers.
  package var requests: Int64 = 0, answers: Int64 = 0
  /// Started coordinators, connections to the database, epochs started, and epochs ended by other branches.
  package var starts: Int64 = 0, connections: Int64 = 0, joins: Int64 = 0, rescues: Int64 = 0
  /// Pages claimed from the front of a lane, assigned customers, statements that finish or change customers, receipts.
  package var pages: Int64 = 0, assignments: Int64 = 0, commits: Int64 = 0, receipts: Int64 = 0
  /// Transactions of epochs that had ended; requests that arrived from a lost connection; and requests for tickets that
  /// had been done before.
  package var fencedTransactions: Int64 = 0, lateTransactions: Int64 = 0, repeatedRequests: Int64 = 0
  /// Transactions of which a part had no effect, as counted in the database; and the customers of these, as
  /// reported to branches.
  package var rejectedCompletions: Int64 = 0, reportedWithoutEffect: Int64 = 0
  /// Transactions that were refused for lack of space.
  package var refusals: Int64 = 0
  /// Slices of large requests that have arrived, and that were unpacked.
  package var slices: Int64 = 0, unpacked: Int64 = 0
  /// Faults, indexed by ``BranchFault/rawValue``.
  package var faults = [Int64](repeating: 0, count: BranchFault.allCases.count)

  /// All counts are zero.
  public init() {}
  /// Number of faults of all kinds.
  package var totalFaults: Int64 { faults.reduce(0, +) }
  /// Number of faults of a kind.
  public func count(of fault: BranchFault) -> Int64 { faults[fault.rawValue] }
  mutating func note(_ fault: BranchFault) { faults[fault.rawValue] += 1 }
  mutating func noteRefusal() { refusals += 1 }

  /// The counts with their names in reports.
  package static let counts: [(words: String, count: WritableKeyPath<BranchStatistics, Int64> & Sendable)] = [
    ("histories", \.histories), ("events", \.events), ("effects", \.effects), ("messages", \.messages),
    ("requests", \.requests), ("answers", \.answers), ("starts of a coordinator", \.starts),
    ("connections to the database", \.connections), ("epochs started", \.joins),
    ("epochs ended by others", \.rescues),
    ("pages claimed", \.pages), ("customers assigned", \.assignments), ("transactions", \.commits),
    ("receipts", \.receipts), ("transactions of zombies", \.fencedTransactions),
    ("late responses of connections", \.lateTransactions), ("requests done before", \.repeatedRequests),
    ("transactions without effect", \.rejectedCompletions), ("customers of these", \.reportedWithoutEffect),
    ("refused for lack of space", \.refusals), ("slices that arrived", \.slices),
    ("slices that were unpacked", \.unpacked),
  ]

  /// Adds the counts of another part.
  public static func += (left: inout BranchStatistics, right: BranchStatistics) {
    for (_, count) in counts { left[keyPath: count] += right[keyPath: count] }
    left.occurrences += right.occurrences
    for index in left.faults.indices { left.faults[index] += right.faults[index] }
  }
}
