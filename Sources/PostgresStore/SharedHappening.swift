// Owns what a branch is told of the books that it shares, as values. It knows no connection and no statement.
// Invariant: of every transaction that was handed over it is said once what became of it, in their order; after `lost` nothing
// that was in hand is the branch's, and what was under way is told before the next `joined`.
import BankModel
import Postgres
import QueueCore
import Time

/// What the books that several branches share have to say.
public enum SharedHappening: Sendable, Equatable {
  /// They cannot be used at all. Nothing follows.
  case refused(SharedBooksFailure)
  /// A connection was lost or could not be made. Another is being made; nothing is lost by that alone.
  case interrupted(PostgresError)
  /// The branch is in an epoch of its own, and nothing is in its hands. Also said again after ``lost(_:)``.
  case joined(SharedOpening)
  /// What is in hand stays the branch's until then, at least; nobody is to be handed out later.
  case leaseHolds(until: MonotonicTime)
  /// Nothing that was in hand is the branch's any more: it is served again, here or elsewhere. What was staged is forgotten;
  /// what was handed over is told of before the next ``joined(_:)``.
  case lost(SharedLoss)
  /// The oldest transaction under way is in the books. These of its customers it has not changed: somebody else had taken
  /// them out before.
  case committed(withoutEffect: [TicketNumber])
  /// The oldest transaction under way has had no effect, and never will: the branch had lost what was in its hands.
  case dropped
  /// The database has refused a transaction: nothing of what is under way or staged was kept.
  case commitRefused(StoreError)
  /// The next page of a line, in the order in which pages were asked for. It may be empty.
  case page(Line, [SharedCustomer])
  /// Somebody whom nobody has may stand in this line.
  case mayWait(Line)
  /// Another branch has taken a customer out, who may be in this branch's hands.
  case takenOut(TicketNumber)
  /// A request is answered.
  case answered(RequestNumber, SharedAnswer)
  /// The numbers of the whole bank have changed.
  case numbers(BankNumbers)
  /// The whole bank was looked at, with a question that was asked at this moment: everything was told of it before.
  case looked(askedAt: MonotonicTime)
  /// For which cancelled tickets something may be put by in this branch's stock: some of them, the oldest first, and again for as
  /// long as they are not ``SharedBooks/released(_:)``.
  case releases([OwedRelease])
  /// Another business day has begun.
  case dayBegan(BusinessDay, openedAt: WallTime)
  /// The bank takes no new customers any more, or takes them again.
  case draining(Bool)
  /// There are services that were not known before.
  case services(ServiceDirectory)
  /// The books or their server are known better than before: to be remembered for the next start.
  case known(BooksMark)
  /// The books were brought back to an older state: what was there before is not there any more.
  case older(OlderBooks)
  /// These transactions were told as committed and are not in the books: the server that had them is gone, and the one that
  /// follows it has never had them.
  case forgotten(commits: [Int64])
}

/// Why nothing in hand is the branch's any more.
public enum SharedLoss: Sendable, Hashable {
  /// Another branch, or the same one begun anew, has ended the epoch.
  case fenced
  /// The lease could not be renewed in time.
  case leaseRanOut
  /// The books are those of another server, which has never had some of the branch's transactions: who was finished by them
  /// waits again, in pages that the branch has, and pages that it has taken may be another's.
  case booksReplaced
}

/// Why the books cannot be used.
public enum SharedBooksFailure: Error, Sendable, Hashable {
  /// The server cannot be used, or does not let this user in.
  case server(PostgresError)
  /// What is in the database cannot be used.
  case books(PostgresPreparation.Failure)
  /// Another home has a branch of this name, which is open on that machine.
  case nameTaken(String, host: String)

  /// The sentence for people.
  public func message(in language: Language) -> String {
    switch self {
    case .server(let error): error.message(in: language)
    case .books(let failure): failure.message(in: language)
    case .nameTaken(let name, let host):
      switch language {
      case .english:
        "a branch named \(name) is open in another home, on \(host); stop that one, or give this one a name of its own: "
          + "{\"store\": {\"branch\": \"NAME\"}} in config/bank.json"
      case .korean:
        "\(name) 지점이 다른 홈에서 열려 있습니다(컴퓨터: \(host)). 그 지점을 닫거나, config/bank.json의 "
          + "{\"store\": {\"branch\": \"이름\"}} 설정으로 이 지점에 다른 이름을 주세요"
      }
    }
  }
}

/// What a branch knows when it has joined.
public struct SharedOpening: Sendable, Equatable {
  /// Its number and its epoch.
  public var branch: PostgresBranch
  /// The present business day.
  public var day: BusinessDay
  /// When it began.
  public var openedAt: WallTime
  /// Whether the bank takes no new customers.
  public var isDraining: Bool
  /// Every service that a branch of this bank has, by the numbers that all use.
  public var services: ServiceDirectory
  /// The name of the books.
  public var name: BooksName
  /// Services that are paused in this branch.
  public var paused: [Service] = []
}

/// A customer who has come into the branch's hands.
public struct SharedCustomer: Sendable, Equatable {
  /// Who.
  public var customer: Customer
  /// What the customer carries; nil for nothing, which is not the same as no bytes.
  public var payload: [UInt8]?

  public init(customer: Customer, payload: [UInt8]? = nil) {
    (self.customer, self.payload) = (customer, payload)
  }
}

/// The answer to a request.
public enum SharedAnswer: Sendable, Equatable {
  /// These are the tickets.
  case issued(SharedTickets)
  /// It is done.
  case done
  /// So many were brought back; there may be more where it is as many as were asked for.
  case requeued(Int64)
  /// No such ticket was ever given on this day.
  case noSuchTicket
  /// The customer is elsewhere, so it cannot be done.
  case wrongState(CustomerState)
  /// The key was given for something else.
  case keyConflict(String)
  /// The bank takes no new customers.
  case draining
  /// Somebody is not finished, so the day cannot be closed.
  case notFinished
  /// The database has refused it, and nothing was changed.
  case refused(StoreError)
}

/// The tickets of one request.
public struct SharedTickets: Sendable, Equatable {
  /// Tickets that were given now, in order; one run unless somebody in the list was known.
  public var new: [IssuedTickets] = []
  /// Tickets that the keys had before.
  public var known: [IssuedTickets] = []

  public init(new: [IssuedTickets] = [], known: [IssuedTickets] = []) {
    (self.new, self.known) = (new, known)
  }

  /// How many were given now.
  public var count: Int64 { new.reduce(0) { $0 + $1.last - $1.first + 1 } }
}
