// Owns the seam between a branch and the books that it shares with others: what only such books can do. It knows no database,
// and no network.
// Everything is a request whose result comes later, by ``QueueStore/takeResult()`` as an event of the queue, or by
// ``BranchStore/takeNews()``. Whoever works with them takes both once in each turn, until there is nothing.
//
// Invariant: every request is answered once, also when the lease is lost; of what was staged before that nothing is told any more.

import BankModel
import Time

/// The books that several branches share, as one of them works with them.
public protocol BranchStore: QueueStore {
  /// The next of what the books have to say beside what the queue has asked for; nil where there is nothing to say yet.
  func takeNews() -> BranchNews?

  /// Has tickets given to customers. They wait where any branch finds them.
  func takeIn(_ customers: IntakeRequest, for request: RequestNumber)

  /// Does something with customers whom this branch has not in hand.
  func perform(_ order: OperatorOrder, for request: RequestNumber)

  /// What other branches see of this one: its open windows, and when the customer was issued who has waited longest in its
  /// hands (nil for none).
  func note(windows: Int64, oldest: WallTime?)

  /// These services are paused in this branch, and no others: so it is again when it joins under its name.
  func keepPaused(_ services: [Service], for request: RequestNumber)

  /// No branch takes new customers any more, and the day ends when everybody who can be served has been.
  func drainBank(for request: RequestNumber)

  /// Gives back everybody whom the branch has, at once, and ends its lease: `.left` comes when it is done. The day is closed
  /// where the bank drains and nobody is left.
  func leave()

  /// Something has come that nobody has asked for yet, or a moment has come: called at the end of each turn of the loop.
  func endTurn()
}

/// What a store of the bank's own has to do and shared books have not: room, a reset, and requests that come in parts.
extension BranchStore {
  /// A network is not waited for.
  public var canBeAwaited: Bool { false }
  /// There is nothing that could be waited for.
  public func awaitResults() {}
  /// Services have their numbers when the branch joins.
  public func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    guard names.allSatisfy({ services[$0] != nil }) else {
      throw .failed(
        path: "the shared books", detail: Remark(quoting: "a new service waits for the next start"))
    }
  }
  /// A request is one transaction, whole or not at all.
  public func withdrawArrivals(limit: Int) throws(StoreError) {}
  /// Nothing is put off.
  public func tidyUp() throws(StoreError) {}
  /// Room is the database's business.
  public var isShort: Bool { false }
  /// See ``isShort``.
  public func lookForRoom() {}
  /// See ``isShort``.
  public func hasRoom(toMove customers: Int64) -> Bool { true }
}

/// What shared books have to say.
public enum BranchNews: Sendable {
  /// What became of a request.
  case answered(RequestNumber, BranchAnswer)
  /// How the whole bank is.
  case numbers(BankNumbers)
  /// The bank was as was told last, at this moment or later.
  case looked(askedAt: MonotonicTime)
  /// For which cancelled tickets this branch's stock is to be asked whether it holds something: some of them, the oldest first.
  /// They are told again until a ``StoreChange/released(_:)`` of them is staged.
  case releases([OwedRelease])
  /// The bank drains: no branch takes new customers.
  case draining
  /// The day has ended for which this branch was opened, and the next one is for those who open again.
  case dayEnded
  /// The database has refused to end the day of the whole bank; the branch leaves all the same.
  case dayNotEnded(StoreError)
  /// The lease was lost, and why: the queue hears `.branchLost` first of all. It is joined again by itself.
  case lost(Remark)
  /// The branch has its lease again, in another epoch.
  case joined(BranchIdentity)
  /// The books or their server are known better than before: to be remembered for the next start.
  case known(BooksMark)
  /// The books were brought back to an older state: what was there before is not there any more.
  case older(OlderBooks)
  /// Commits of this branch that were said to be on disk and are not there any more, after the database was replaced by a copy
  /// that had not everything.
  case forgotten(commits: [Int64])
  /// The branch has left, and so many of its customers were given back.
  case left
  /// A connection to the books was lost or could not be made; another one is tried. Nothing is lost by that alone.
  case interrupted(Remark)
  /// The books can be used no more.
  case failed(StoreError)
}

/// A cancelled ticket for which something may still be put by in a branch's stock, and when it was issued: by that the stock
/// knows its order.
public struct OwedRelease: Sendable, Hashable {
  /// Which ticket.
  public var ticket: TicketOfDay
  /// By the clock of the books.
  public var issuedAt: WallTime

  public init(ticket: TicketOfDay, issuedAt: WallTime) { (self.ticket, self.issuedAt) = (ticket, issuedAt) }
}

/// What became of a request to shared books.
public enum BranchAnswer: Sendable, Equatable {
  /// New tickets, and those of customers whose keys were known; nil where all were known.
  case issued(IssuedTickets?, known: [IssuedTickets])
  /// A key stands for another request.
  case keyConflict(String)
  /// As an answer of the queue.
  case queue(QueueAnswer)
  /// It could not be done, and nothing was.
  case failed(StoreError)
}

/// A branch in one of its epochs.
public struct BranchIdentity: Sendable, Hashable {
  /// Its number in the books, from 1.
  public var number: Int64
  /// Its name.
  public var name: String
  /// How often it has begun, or was ended by others.
  public var epoch: Int64

  public init(number: Int64, name: String, epoch: Int64) {
    (self.number, self.name, self.epoch) = (number, name, epoch)
  }
}

/// What a branch finds when it joins.
public struct BranchOpening: Sendable {
  /// Who it is.
  public var identity: BranchIdentity
  /// The present day, with nobody in the branch's hands, and the services.
  public var books: Books
  /// What the books are called.
  public var booksName: BooksName
  /// Whether the day is about to end.
  public var isDraining: Bool

  public init(identity: BranchIdentity, books: Books, booksName: BooksName, isDraining: Bool) {
    (self.identity, self.books, self.booksName, self.isDraining) = (identity, books, booksName, isDraining)
  }
}

/// Customers who ask shared books for tickets, in one request.
public struct IntakeRequest: Sendable {
  /// The request's idempotency key; nil for none.
  public var key: String?
  /// By what the request is known again under its key.
  public var digest: Int64?
  /// Who asks, in the order of the tickets to be.
  public var orders: [CustomerOrder] = []
  /// What they carry, by their places among ``orders``.
  public var payloads: [(payload: [UInt8], places: Range<Int>)] = []
  /// Those with keys of their own: their place, the key, and by what they are known again.
  public var keyed: [(place: Int, key: String, digest: Int64?)] = []
  /// Where in ``keyed`` a key stands, by its bytes: a text of Swift's is equal to one that is spelled otherwise.
  public var places: [[UInt8]: Int] = [:]
  /// When they came.
  public var issuedAt: WallTime

  public init(issuedAt: WallTime, key: String? = nil, digest: Int64? = nil) {
    (self.issuedAt, self.key, self.digest) = (issuedAt, key, digest)
  }

  /// Adds a customer.
  ///
  /// - Parameters:
  ///   - payload: what the customer carries; nil for nothing.
  ///   - key: of this customer alone, where the request has none: whoever is known by it gets no other ticket.
  ///   - digest: what is asked for under it.
  public mutating func add(
    _ order: CustomerOrder, payload: [UInt8]? = nil, key: String? = nil, digest: Int64? = nil
  ) {
    let place = orders.count
    orders.append(order)
    if let payload { payloads.append((payload, place..<place + 1)) }
    guard let key else { return }
    places[Array(key.utf8)] = keyed.count
    keyed.append((place, key, digest))
  }
}

/// How the whole bank is.
public struct BankNumbers: Sendable, Equatable {
  /// One service over all branches.
  public struct ServiceCounts: Sendable, Equatable {
    /// Who stands where, and how many were finished today.
    public var waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0
    /// See ``waiting``. Those who were sent away are among those who were served.
    public var served: Int64 = 0, sentAway: Int64 = 0, cancelled: Int64 = 0
    public init() {}
  }

  /// One branch.
  public struct Branch: Sendable, Equatable {
    /// Who it is.
    public var identity: BranchIdentity
    /// Its machine.
    public var host: String
    /// Whether it is there.
    public var state: BranchState
    /// How long its lease goes on, in milliseconds; below zero where it has run out.
    public var leaseMilliseconds: Int64
    /// Windows that are open there.
    public var windows: Int64
    /// Whom it has served today, and transactions since it began.
    public var served: Int64, commits: Int64
    /// Who waits or is delayed for something that lies in its stock: nobody else serves them.
    public var juices: Int64 = 0

    public init(
      identity: BranchIdentity, host: String, state: BranchState, leaseMilliseconds: Int64, windows: Int64,
      served: Int64, commits: Int64
    ) {
      (self.identity, self.host, self.state) = (identity, host, state)
      (self.leaseMilliseconds, self.windows) = (leaseMilliseconds, windows)
      (self.served, self.commits) = (served, commits)
    }
  }

  /// The present day.
  public var day: BusinessDay
  /// Tickets of it.
  public var issued: Int64
  /// By the index of the service.
  public var services: [ServiceCounts]
  /// In the order of their numbers.
  public var branches: [Branch]
  /// When the customer was issued who has waited longest of those at no window; nil for none.
  public var oldest: WallTime?

  public init(day: BusinessDay, issued: Int64 = 0, services: [ServiceCounts] = [], branches: [Branch] = []) {
    (self.day, self.issued, self.services, self.branches) = (day, issued, services, branches)
  }

  /// Over all services.
  public var all: ServiceCounts { services.reduce(into: ServiceCounts()) { $0 += $1 } }
}

extension BankNumbers.ServiceCounts {
  /// Adds what was counted elsewhere.
  public static func += (sum: inout Self, counts: Self) {
    sum.waiting += counts.waiting
    sum.delayed += counts.delayed
    sum.dead += counts.dead
    sum.served += counts.served
    sum.sentAway += counts.sentAway
    sum.cancelled += counts.cancelled
  }
}
