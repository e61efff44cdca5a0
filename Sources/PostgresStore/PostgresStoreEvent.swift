// Events that a branch receives from its shared store, as values.
// Invariant: results of transactions are reported in order, and none twice. After `lost` the branch owns no customers,
// and transactions in flight are reported before the next `joined`.
import BankModel
import Postgres
import QueueCore
import Time

/// Event that a shared store reports to its branch.
public enum PostgresStoreEvent: Sendable, Equatable {
  /// The database cannot be used. No event follows.
  case refused(SharedStoreFailure)
  /// A connection was lost, could not be made or leads to an unsuitable server, or the database accepts no writes; the
  /// store retries.
  case interrupted(PostgresError)
  /// The branch has joined in a new epoch and owns no customers. Also sent after ``lost(_:)``.
  case joined(JoinResult)
  /// The lease was renewed. The branch must not assign a customer after this time.
  case leaseExtended(until: MonotonicTime)
  /// The branch owns no customers any more. Staged changes are dropped. Transactions that were already sent are
  /// reported before the next ``joined(_:)``.
  case lost(LeaseLoss)
  /// The oldest transaction in flight is committed. These customers were not changed, because they had been removed
  /// before.
  case committed(rejectedCompletions: [TicketNumber])
  /// The oldest transaction in flight has no effect, because the branch had lost its customers.
  case dropped
  /// The database refused a transaction. Everything in flight or staged is dropped.
  case commitRefused(StoreError)
  /// The next page of a line, in the order of the requests; may be empty.
  case page(Line, [CustomerWithPayload])
  /// The line may have unclaimed customers.
  case lineMayHaveCustomers(Line)
  /// A customer that this branch may own was cancelled.
  case cancelledElsewhere(TicketNumber)
  /// Reply to a request.
  case answered(RequestNumber, StoreReply)
  /// Changed counters of the whole bank.
  case numbers(BankCounters)
  /// A poll of the whole bank, sent at this moment, is complete; its events precede this one.
  case countersConfirmed(askedAt: MonotonicTime)
  /// Cancelled tickets for which this branch's stock may have reservations; a limited number of them, the oldest
  /// first. Polls repeat the event until the tickets were passed to ``SharedStore/released(_:)`` and deleted.
  case releases([OwedRelease])
  /// Another business day has started.
  case dayBegan(BusinessDay, openedAt: WallTime)
  /// The bank accepts no new customers any more, or accepts them again.
  case draining(Bool)
  /// New services were added.
  case services(ServiceDirectory)
  /// Updated identity of the database or its server, to be remembered for the next start.
  case known(SharedStoreProgress)
  /// The database was restored to an older state and lacks later data.
  case older(StoreRollback)
  /// Transactions that were reported as committed and are not in the database, for example after a failover.
  case transactionsLost(commits: [Int64])
}

/// Reason why the branch owns no customers any more.
public enum LeaseLoss: Sendable, Hashable {
  /// The epoch was ended by another branch, or by a new start of the same one.
  case fenced
  /// The lease could not be renewed in time.
  case leaseExpired
  /// The database is a different or an older one, or that of another server which lacks some of the branch's
  /// transactions. Customers that these transactions finished wait again in pages of the branch, and pages that the
  /// branch claimed may belong to other branches.
  case databaseReplaced
}

/// Reason why the database cannot be used.
public enum SharedStoreFailure: Error, Sendable, Hashable {
  /// The server is unusable, or refuses this user.
  case server(PostgresError)
  /// The content of the database is unusable.
  case schema(SchemaMigration.Failure)
  /// A branch of this name is open in another home, on the machine `host`.
  case nameTaken(String, host: String)

  /// Localised error message.
  public func message(in language: Language) -> String {
    switch self {
    case .server(let error): error.message(in: language)
    case .schema(let failure): failure.message(in: language)
    case .nameTaken(let name, let host):
      switch language {
      case .english:
        "a branch named \(name) is open in another home, on \(host); stop that one, or give this one another name: "
          + "{\"store\": {\"branch\": \"NAME\"}} in config/bank.json"
      case .korean:
        "\(name) 지점이 다른 홈에서 열려 있습니다(호스트: \(host)). 그 지점을 닫거나, config/bank.json의 "
          + "{\"store\": {\"branch\": \"이름\"}} 설정으로 이 지점에 다른 이름을 지정하세요"
      }
    }
  }
}

/// State of the bank that a branch receives when it joins.
public struct JoinResult: Sendable, Equatable {
  /// Number and epoch of the branch.
  public var branch: PostgresBranch
  /// The present business day.
  public var day: BusinessDay
  /// Start of the day.
  public var openedAt: WallTime
  /// True if the bank accepts no new customers.
  public var isDraining: Bool
  /// All services of the bank, by the numbers that all branches use.
  public var services: ServiceDirectory
  /// Identity of the database.
  public var name: BankID
  /// Services that are paused in this branch.
  public var paused: [Service] = []
}

/// A claimed customer with its payload.
public struct CustomerWithPayload: Sendable, Equatable {
  /// The claimed customer.
  public var customer: Customer
  /// Payload; nil for none, which differs from an empty payload.
  public var payload: [UInt8]?

  public init(customer: Customer, payload: [UInt8]? = nil) {
    (self.customer, self.payload) = (customer, payload)
  }
}

/// Reply to a request for tickets, to an operator command or to a task of the branch.
public enum StoreReply: Sendable, Equatable {
  /// The tickets of a request, new or known.
  case issued(RequestTickets)
  /// The operation has taken effect.
  case done
  /// This number of customers returned to their lines. If it equals the requested limit, more may exist.
  case requeued(Int64)
  /// The database has no customer and no receipt with this ticket number on this day.
  case noSuchTicket
  /// The state of the customer does not allow the operation.
  case wrongState(CustomerState)
  /// The key was used by a different request.
  case keyConflict(String)
  /// The bank accepts no new customers.
  case draining
  /// The day has not ended, because a customer is not finished.
  case notFinished
  /// The database refused the request; nothing was changed.
  case refused(StoreError)
}

/// Tickets of one request: those issued to it, and those issued earlier under its customers' keys.
public struct RequestTickets: Sendable, Equatable {
  /// Tickets issued to this request, in ascending order. Adjacent ranges are merged.
  public var new: [IssuedTickets] = []
  /// Tickets issued earlier under the keys.
  public var known: [IssuedTickets] = []

  public init(new: [IssuedTickets] = [], known: [IssuedTickets] = []) {
    (self.new, self.known) = (new, known)
  }

  /// Number of tickets in ``new``.
  public var count: Int64 { new.reduce(0) { $0 + $1.last - $1.first + 1 } }
}
