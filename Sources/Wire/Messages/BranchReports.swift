// Answers about the branches of a shared bank.
// Rates are thousandths of a customer per second.

import BankModel

/// One branch of a shared bank.
public struct BranchReport: Codable, Sendable, Equatable {
  /// Number of the branch, from 1.
  public var number: Int64
  /// Name with which the branch joined the bank.
  public var name: String
  /// Name of the machine on which the branch was last opened.
  public var host: String
  /// Number of times that the branch has joined the bank or was fenced. The database rejects writes under an
  /// earlier epoch.
  public var epoch: Int64
  /// State of the branch by the database's clock.
  public var state: BranchState
  /// Remaining time of the branch lease by the database's clock, in milliseconds; 0 without a lease.
  public var leaseMilliseconds: Int64
  /// Number of windows that are open or being opened.
  public var windows: Int64
  /// Receipts of the current day with the outcomes `served` and `out_of_stock`.
  public var served: Int64
  /// Rate at which the branch serves customers now, in thousandths per second; nil if not measured yet.
  public var rate: Int64?
  /// Number of the branch's transactions that wrote to the database.
  public var commits: Int64
  /// True for the branch that sent the answer.
  public var isThis: Bool
  /// Waiting or delayed customers that need the stock of this branch; nil for none.
  public var juices: Int64?

  /// Maximum number of branches in one answer.
  public static let inAnswer = 1_000

  public init(
    number: Int64, name: String, host: String, epoch: Int64, state: BranchState, leaseMilliseconds: Int64,
    windows: Int64, served: Int64, rate: Int64? = nil, commits: Int64, isThis: Bool = false,
    juices: Int64? = nil
  ) {
    (self.number, self.name, self.host, self.epoch) = (number, name, host, epoch)
    (self.state, self.leaseMilliseconds, self.windows) = (state, leaseMilliseconds, windows)
    (self.served, self.rate, self.commits, self.isThis) = (served, rate, commits, isThis)
    self.juices = juices
  }

  /// Field number of each property of a report about one branch, in messages.
  enum CodingKeys: Int, CodingKey {
    case number = 1, name, host, epoch, state, leaseMilliseconds, windows, served, rate, commits, isThis
    case juices
  }
}

/// State of all branches of a shared bank together. Customers at the windows of other branches are counted as
/// waiting.
public struct SharedBankReport: Codable, Sendable, Equatable {
  /// Counters of the day.
  public var queue: QueueReport
  /// The services of this branch, with the counters of all branches. The numbers of windows are those of this
  /// branch.
  public var services: [ServiceReport]

  public init(queue: QueueReport, services: [ServiceReport]) {
    (self.queue, self.services) = (queue, services)
  }
  /// Field number of each property of the report about all branches, in messages.
  enum CodingKeys: Int, CodingKey { case queue = 1, services }
}
