// Owns how a branch recognizes the books that it shares: which books they are, on which server, and how far they had come.
// Invariant: it is a value, and its judgements follow from it alone. A count that it holds never becomes smaller in the same books.

import BankModel

/// What a branch knows of shared books: their number, the server that had them, and how far they had come.
public struct BooksMark: Sendable, Hashable {
  /// The random number that the books got when they were made.
  public var books: Int64
  /// The identifier of the server's cluster, which its standbys have as well.
  public var system: Int64
  /// The server's timeline: a standby that takes over is on a higher one.
  public var timeline: Int64
  /// The present business day, and the last ticket that was given on it.
  public var day: BusinessDay
  /// See ``day``.
  public var ticket: TicketNumber
  /// The branch's own epoch, and how many of its transactions in this epoch the books had counted.
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

  /// The branch has come so far in them.
  public mutating func note(epoch: Int64, commits: Int64 = 0) {
    (self.epoch, self.commits) = (epoch, commits)
  }

  /// True if books that have come so far are older than these: they lack what was there before.
  public func isAhead(day: BusinessDay, ticket: TicketNumber) -> Bool {
    (self.day, self.ticket) > (day, ticket)
  }

  /// True if a row of the branch in the books is older than the one that it knows.
  public func isAhead(epoch: Int64, commits: Int64) -> Bool {
    (self.epoch, self.commits) > (epoch, commits)
  }
}

/// Books that lack what was in them before: they were brought back to an older state.
public struct OlderBooks: Sendable, Hashable {
  /// What the branch knew of them.
  public var known: BooksMark
  /// What is there now.
  public var found: BooksMark

  public init(known: BooksMark, found: BooksMark) { (self.known, self.found) = (known, found) }
}
