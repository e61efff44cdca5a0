// Owns what clients are told of the branches of a bank whose books several coordinators share. It knows no socket and no
// database. Rates are thousandths of a customer a second.

import BankModel

/// One branch of a shared bank.
public struct BranchReport: Codable, Sendable, Equatable {
  /// Its number, from 1, which is never another's, and its name.
  public var number: Int64
  /// The name under which it has joined the bank.
  public var name: String
  /// The machine on which it was opened last.
  public var host: String
  /// How often it was opened, or was taken over by others: what is done under an earlier epoch has no effect.
  public var epoch: Int64
  /// Whether it serves.
  public var state: BranchState
  /// For how long its lease holds by the database's clock, in milliseconds; 0 where it has none.
  public var leaseMilliseconds: Int64
  /// Windows that are open or shall be.
  public var windows: Int64
  /// Receipts of the present day with the outcome served.
  public var served: Int64
  /// How many it serves at present, in thousandths a second; nil where nobody has counted yet.
  public var rate: Int64?
  /// Transactions in which it has written to the books.
  public var commits: Int64
  /// Whether it is the one that answers.
  public var isThis: Bool
  /// Customers who wait or are delayed for what lies in its own stock, and whom no other branch can serve; nil for nobody.
  public var juices: Int64?

  /// Branches in one answer, at most.
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

  enum CodingKeys: Int, CodingKey {
    case number = 1, name, host, epoch, state, leaseMilliseconds, windows, served, rate, commits, isThis
    case juices
  }
}

/// What all branches of a shared bank are together.
public struct SharedBankReport: Codable, Sendable, Equatable {
  /// The numbers of the day.
  public var queue: QueueReport
  /// Every service; its windows are those of all branches that are open.
  public var services: [ServiceReport]

  public init(queue: QueueReport, services: [ServiceReport]) {
    (self.queue, self.services) = (queue, services)
  }
  enum CodingKeys: Int, CodingKey { case queue = 1, services }
}
