// Identity and progress of a shared database. A branch stores them to recognize the database and its server, and to
// detect that the database was restored to an older state.
// Invariant: day and ticket, and epoch and commits, compared as pairs, decrease only if the database was restored to an
// older state.

import BankModel

/// Identity and progress of a shared database, as a branch has stored them.
public struct SharedStoreProgress: Sendable, Hashable {
  /// Random number, drawn when the database was created.
  public var bankID: Int64
  /// System identifier of the PostgreSQL cluster, which its standbys share.
  public var system: Int64
  /// Timeline of the server; promotion of a standby increments it.
  public var timeline: Int64
  /// The current business day.
  public var day: BusinessDay
  /// The last ticket that was issued on ``day``.
  public var ticket: TicketNumber
  /// The branch's own epoch.
  public var epoch: Int64
  /// Number of the branch's transactions in ``epoch`` that the database had counted.
  public var commits: Int64

  public init(
    bankID: Int64, system: Int64, timeline: Int64, day: BusinessDay = 0, ticket: TicketNumber = 0,
    epoch: Int64 = 0, commits: Int64 = 0
  ) {
    (self.bankID, self.system, self.timeline) = (bankID, system, timeline)
    (self.day, self.ticket, self.epoch, self.commits) = (day, ticket, epoch, commits)
  }

  /// Records the present epoch of the branch, and the number of its transactions in this epoch.
  public mutating func note(epoch: Int64, commits: Int64 = 0) {
    (self.epoch, self.commits) = (epoch, commits)
  }

  /// True if the stored identity is ahead of a database whose last issued ticket is `ticket` of `day`. Such a database
  /// was restored to an older state and lacks data.
  public func isAhead(day: BusinessDay, ticket: TicketNumber) -> Bool {
    (self.day, self.ticket) > (day, ticket)
  }

  /// True if the stored identity is ahead of the branch's row in the database, which has this epoch and these commits.
  public func isAhead(epoch: Int64, commits: Int64) -> Bool {
    (self.epoch, self.commits) > (epoch, commits)
  }
}

/// A database that was restored to an older state and lacks data.
public struct StoreRollback: Sendable, Hashable {
  /// Identity that the branch had stored.
  public var known: SharedStoreProgress
  /// Identity that the branch has found in the database.
  public var found: SharedStoreProgress

  public init(known: SharedStoreProgress, found: SharedStoreProgress) {
    (self.known, self.found) = (known, found)
  }
}
