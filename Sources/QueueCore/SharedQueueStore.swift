// Interface between a branch and the database that it shares with other branches: operations that only a shared store
// has. The result of an operation is returned later, by ``QueueStore/takeResult()`` as an event of the queue, or by
// ``SharedQueueStore/nextEvent()``. The caller calls both until they return nil.
//
// Invariant: an operation with a request number is answered once, even if the lease is lost. After the loss of the
// lease, no commit of changes that were staged before is reported.

import BankModel
import Time

/// Store of the queue in a shared database, as one branch uses it.
public protocol SharedQueueStore: QueueStore {
  /// Returns the next event that is not an event of the queue, or nil if there is none yet.
  func nextEvent() -> SharedStoreEvent?

  /// Requests tickets for customers. The customers then wait in the database, where any branch can claim them, except
  /// those that draw on the stock, which are reserved for this branch.
  func enqueueCustomers(_ customers: EnqueueRequest, for request: RequestNumber)

  /// Executes an operator's command on customers that this branch does not own.
  func perform(_ order: OperatorCommand, for request: RequestNumber)

  /// Publishes the state of this branch to the other branches: its number of open windows, and the issue time of the
  /// longest-waiting customer that it owns (nil for none).
  func note(windows: Int64, oldest: WallTime?)

  /// Sets the paused services of this branch. The setting applies again after a restart.
  func savePaused(_ services: [Service], for request: RequestNumber)

  /// Starts a drain of the bank: all branches refuse new customers, and the day ends when every customer that can be
  /// served is finished.
  func drainBank(for request: RequestNumber)

  /// Returns all customers of the branch and ends its lease, after the results of earlier commits are known;
  /// ``SharedStoreEvent/left`` reports that this is done. Closes the day if the bank drains and has no customers left.
  func leave()

  /// Processes received data and due timers.
  func finishIteration()
}

/// Default implementations of operations that a shared store does not need.
extension SharedQueueStore {
  /// False: the caller must not block on a network.
  public var canBlockForResults: Bool { false }
  /// Does nothing: the caller must not block on a network.
  public func awaitResults() {}
  /// Assigns no numbers, because services get their numbers when the branch joins. Throws if a name has no number.
  public func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    guard names.allSatisfy({ services[$0] != nil }) else {
      throw .failed(
        path: "the shared database", detail: MessageDetail(quoting: "a new service waits for the next start"))
    }
  }
  /// Does nothing: the shared database removes requests that will never be complete.
  public func removeUnissuedCustomers(limit: Int) throws(StoreError) {}
  /// Does nothing: no work is deferred.
  public func runDeferredWork() throws(StoreError) {}
  /// False: the database server manages its disk space.
  public var isLowOnSpace: Bool { false }
  /// Does nothing: the database server manages its disk space.
  public func refreshDiskSpace() {}
  /// True: the database server manages its disk space.
  public func hasRoom(toMove customers: Int64) -> Bool { true }
}

/// Event that a shared store reports to the coordinator, other than the events of the queue.
public enum SharedStoreEvent: Sendable {
  /// Reply to a request of the caller.
  case answered(RequestNumber, SharedStoreReply)
  /// Counters of the whole bank.
  case numbers(BankCounters)
  /// The counters that were reported last are still correct for a moment at or after `askedAt`.
  case countersConfirmed(askedAt: MonotonicTime)
  /// Cancelled tickets for which this branch's stock may have reservations: a limited number, the oldest first. The
  /// store reports a ticket again until a ``StoreChange/released(_:)`` for it is staged.
  case releases([OwedRelease])
  /// The bank drains: no branch accepts new customers.
  case draining
  /// The day for which this branch was opened has ended. Only branches that open again take part in the next day.
  case dayEnded
  /// The database refused to end the day of the whole bank. The branch leaves nevertheless.
  case dayEndFailed(StoreError)
  /// The lease was lost, for this reason. The store rejoins automatically.
  case lost(MessageDetail)
  /// The branch has a lease again, in another epoch.
  case joined(BranchIdentity)
  /// Updated identity of the database or its server, which the caller stores for the next start.
  case known(SharedStoreProgress)
  /// The database was restored to an older state and lacks later data.
  case older(StoreRollback)
  /// These commits of this branch were reported as on disk and are lost, because an incomplete copy has replaced the
  /// database.
  case transactionsLost(commits: [Int64])
  /// The branch has returned its customers and has ended its lease.
  case left
  /// A connection to the database was lost or could not be made. The store retries.
  case interrupted(MessageDetail)
  /// Permanent failure: the database cannot be used any more.
  case failed(StoreError)
}

/// A cancelled ticket for which a branch's stock may have a reservation, with its issue time, by which the stock
/// identifies its order.
public struct OwedRelease: Sendable, Hashable {
  /// The cancelled ticket.
  public var ticket: TicketOfDay
  /// Issue time, by the clock of the database server.
  public var issuedAt: WallTime

  public init(ticket: TicketOfDay, issuedAt: WallTime) { (self.ticket, self.issuedAt) = (ticket, issuedAt) }
}

/// Reply of a shared store to a request.
public enum SharedStoreReply: Sendable, Equatable {
  /// The new tickets, and the earlier tickets of customers whose keys were already stored. The new tickets are nil if
  /// all keys were already stored.
  case issued(IssuedTickets?, known: [IssuedTickets])
  /// The key was used by a different request.
  case keyConflict(String)
  /// Reply of the same type as the replies of the queue.
  case queue(QueueAnswer)
  /// The operation failed and changed nothing.
  case failed(StoreError)
}

/// A branch, by number and name, in one of its epochs.
public struct BranchIdentity: Sendable, Hashable {
  /// Number of the branch in the database, from 1.
  public var number: Int64
  /// Name of the branch.
  public var name: String
  /// Epoch, incremented whenever the branch joins or is fenced.
  public var epoch: Int64

  public init(number: Int64, name: String, epoch: Int64) {
    (self.number, self.name, self.epoch) = (number, name, epoch)
  }
}

/// State of the bank that a branch receives when it joins.
public struct BranchJoinState: Sendable {
  /// Number, name and epoch of the branch.
  public var identity: BranchIdentity
  /// Counters with which the branch starts: the current day, its start, and the services with their pauses. All numbers
  /// of customers are 0.
  public var dayCounters: DayCounters
  /// Identity of the database.
  public var bankID: BankID
  /// True if the bank is draining.
  public var isDraining: Bool

  public init(identity: BranchIdentity, dayCounters: DayCounters, bankID: BankID, isDraining: Bool) {
    (self.identity, self.dayCounters) = (identity, dayCounters)
    (self.bankID, self.isDraining) = (bankID, isDraining)
  }
}

/// A request for tickets from a shared store.
public struct EnqueueRequest: Sendable {
  /// The request's idempotency key; nil for none.
  public var key: String?
  /// Digest of the request, by which the store distinguishes a repeated request from another one with the same key.
  public var digest: Int64?
  /// Ordered customers, in ticket order.
  public var orders: [CustomerOrder] = []
  /// Payloads, with the indices of their customers in ``orders``.
  public var payloads: [(payload: [UInt8], places: Range<Int>)] = []
  /// Customers with keys of their own: index, key, and digest.
  public var keyed: [(place: Int, key: String, digest: Int64?)] = []
  /// Index in ``keyed`` of each key, by the bytes of the key, because Swift strings with different bytes can be
  /// equal.
  public var places: [[UInt8]: Int] = [:]
  /// Issue time of the tickets, by the wall clock of the branch.
  public var issuedAt: WallTime

  public init(issuedAt: WallTime, key: String? = nil, digest: Int64? = nil) {
    (self.issuedAt, self.key, self.digest) = (issuedAt, key, digest)
  }

  /// Adds a customer to the request, with a payload and an idempotency key of its own, if there are any.
  ///
  /// - Parameters:
  ///   - payload: payload of the customer; nil for none.
  ///   - key: idempotency key of this customer alone, if the request has none. A key that is already stored gets no
  ///     second ticket.
  ///   - digest: digest of the customer's order.
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

/// Counters of the whole bank.
public struct BankCounters: Sendable, Equatable {
  /// Counters of one service over all branches.
  public struct ServiceCounts: Sendable, Equatable {
    /// Number of customers by state.
    public var waiting: Int64 = 0, delayed: Int64 = 0, dead: Int64 = 0
    /// Receipts of the current day. `sentAway` counts the outcome out of stock; these customers are also counted in
    /// `served`.
    public var served: Int64 = 0, sentAway: Int64 = 0, cancelled: Int64 = 0
    public init() {}
  }

  /// State of one branch.
  public struct Branch: Sendable, Equatable {
    /// Number, name and epoch of the branch.
    public var identity: BranchIdentity
    /// Name of the machine on which the branch runs.
    public var host: String
    /// State of the branch by the database's clock.
    public var state: BranchState
    /// Remaining time of the branch lease, in milliseconds; negative after expiry.
    public var leaseMilliseconds: Int64
    /// Number of open windows.
    public var windows: Int64
    /// Number of customers served today, and of transactions since the branch joined.
    public var served: Int64, commits: Int64
    /// Number of waiting or delayed customers that need the stock of this branch, so that no other branch can serve
    /// them.
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

  /// Final counts of a day that has ended.
  public struct EndedDay: Sendable, Equatable {
    /// Number of the day.
    public var day: BusinessDay
    /// Receipts of that day. `sentAway` counts the outcome out of stock; these customers are also counted in
    /// `served`.
    public var served: Int64, sentAway: Int64

    public init(day: BusinessDay, served: Int64, sentAway: Int64) {
      (self.day, self.served, self.sentAway) = (day, served, sentAway)
    }
  }

  /// The current day.
  public var day: BusinessDay
  /// Counts of the day before ``day`` in the last counters of a leaving branch; nil otherwise.
  public var ended: EndedDay?
  /// Number of tickets issued today.
  public var issued: Int64
  /// Counters by the index of the service.
  public var services: [ServiceCounts]
  /// Branches, by number.
  public var branches: [Branch]
  /// Issue time of the longest-waiting customer that is at no window; nil for none.
  public var oldest: WallTime?

  public init(day: BusinessDay, issued: Int64 = 0, services: [ServiceCounts] = [], branches: [Branch] = []) {
    (self.day, self.issued, self.services, self.branches) = (day, issued, services, branches)
  }

  /// Sum over all services.
  public var all: ServiceCounts { services.reduce(into: ServiceCounts()) { $0 += $1 } }
}

extension BankCounters.ServiceCounts {
  /// Adds the counts of each kind.
  public static func += (sum: inout Self, counts: Self) {
    sum.waiting += counts.waiting
    sum.delayed += counts.delayed
    sum.dead += counts.dead
    sum.served += counts.served
    sum.sentAway += counts.sentAway
    sum.cancelled += counts.cancelled
  }
}
