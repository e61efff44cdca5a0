// Identity of a shared database, by which a branch recognizes it: the database, its server, and how far it had
// progressed.
// Invariant: a value without side effects. Its counts never decrease for the same database.

import BankModel

/// Identity and progress of a shared database, as a branch remembers it.
public struct BooksMark: Sendable, Hashable {
  /// Random number that the database got at its creation.
  public var books: Int64
  /// System identifier of the PostgreSQL cluster, which its standbys share.
  public var system: Int64
  /// Timeline of the server; promotion of a standby increments it.
  public var timeline: Int64
  /// The present business day, and the last ticket issued on it.
  public var day: BusinessDay
  /// See ``day``.
  public var ticket: TicketNumber
  /// The branch's own epoch, and the number of its transactions in this epoch that the database had counted.
  public var epoch: Int64
  /// See ``epoch``.
  public var commits: Int64

  public init(
    books: Int64, system: Int64, timeline: Int64, day: BusinessDay = 0, ticket: TicketNumber = 0,
    epoch: Int64 = 0, commits: Int64 = 0
  ) {
    (self.books, self.system, self.timeline) = (books, system, timeline)
    (self.day, self.ticket, self.epoch, self.commits) = (day, ticket, epoch, commits)
  }

  /// Records the progress of the branch.
  public mutating func note(epoch: Int64, commits: Int64 = 0) {
    (self.epoch, self.commits) = (epoch, commits)
  }

  /// True if a database with this progress is older than the remembered one, so that it lacks data.
  public func isAhead(day: BusinessDay, ticket: TicketNumber) -> Bool {
    (self.day, self.ticket) > (day, ticket)
  }

  /// True if the branch's row in the database is older than the remembered one.
  public func isAhead(epoch: Int64, commits: Int64) -> Bool {
    (self.epoch, self.commits) > (epoch, commits)
  }
}

/// A database that was restored to an older state and lacks data.
public struct OlderBooks: Sendable, Hashable {
  /// Identity that the branch remembered.
  public var known: BooksMark
  /// Identity that was found.
  public var found: BooksMark

  public init(known: BooksMark, found: BooksMark) { (self.known, self.found) = (known, found) }
}
