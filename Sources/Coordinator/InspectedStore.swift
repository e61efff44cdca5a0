// Protocols for inspecting a database and for opening a shared one. A closed bank's database is in its home. A database
// shared by branches is opened by a module above this one.

import BankModel
import Posix
import QueueCore
import Wire

/// Database inspected by a separate process, which may block.
public protocol InspectedStore: AnyObject {
  /// Queries of the database.
  var reading: any QueueReader { get }
  /// Identity of the bank and its present day. For a shared database this also reads its services again.
  func refresh() throws(StoreError) -> InspectedState
  /// About `limit` receipts of all branches, from a day on, after the given position of each branch. `service`
  /// selects one service, or all if it is nil. Nil for a database with a single order of commits.
  func receipts(
    from day: BusinessDay, behind marks: [ReceiptPosition], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts?
  /// Findings of an audit; nil if a process may be opening the bank, which has priority.
  func audit() throws(StoreError) -> AuditReport?
  /// View of the database restricted to the juice tickets of one branch; nil if the branch does not exist, or
  /// the database has no branches.
  func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReader)?
}

extension InspectedStore {
  /// Nil, because a database in a home has no branches.
  public func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReader)? { nil }
}

extension InspectedStore {
  /// Nil, because a database in a home has a single order of commits.
  func receipts(
    from day: BusinessDay, behind marks: [ReceiptPosition], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts? { nil }
}

/// State of the present day of an inspected database.
public struct InspectedState: Sendable, Equatable {
  /// Identity of the bank, which is part of each `BANK_KEY`.
  public var name: BankID
  /// Default day of queries: for a closed bank the last day on which it was open.
  public var presentDay: BusinessDay
  /// Highest number issued on that day, or an upper bound if that day has ended.
  public var issued: TicketNumber

  public init(name: BankID, presentDay: BusinessDay, issued: TicketNumber) {
    (self.name, self.presentDay, self.issued) = (name, presentDay, issued)
  }
}

/// Opener of a store with an address (`--store postgres://…`).
public protocol SharedStoreOpener {
  /// Opens a shared database for reading, by a process that may block.
  ///
  /// - Parameters:
  ///   - language: Language of error messages.
  ///   - known: Returns the home's present record of the database at this address, to recognize it.
  /// - Throws: `Failure` or `StoreError`, for the process that started this one.
  func inspect(
    _ address: String, in language: Language, knowing known: @escaping () -> SharedStoreProgress?
  ) throws -> any InspectedStore

  /// Moves all data into an unused shared database. Blocks. Returns the contents of the shared database after this
  /// move, or after an identical earlier one.
  ///
  /// - Throws: `Failure` with the code `move_refused` if no data was moved. After any other `Failure` or
  ///   `StoreError` the result may be unknown.
  func move(_ input: MoveInput, observer watch: any MoveObserver) throws -> MoveResult

  /// Joins the bank with this database as a branch. Blocks, and reports progress meanwhile.
  ///
  /// - Parameter progressed: Called repeatedly while the call blocks.
  /// - Throws: `Failure` or `StoreError`, for the process that started this one.
  func join(
    _ branch: BranchJoinRequest, on loop: EventLoop, progressed: () -> Void
  ) throws -> (store: any SharedQueueStore, opening: BranchJoinState)
}

/// Request of a branch to join a shared bank.
public struct BranchJoinRequest: Sendable {
  /// Address of the database.
  public var address: String
  /// Name of the branch. A home is refused while an open branch of another home has this name.
  public var name: String
  /// Name of the machine, for reports.
  public var host: String
  /// Services that need numbers.
  public var services: [ServiceName]
  /// Language of error messages.
  public var language: Language
  /// The home's record of the shared database that it joined last; nil for none.
  public var known: SharedStoreProgress?
  /// True if ``known`` is the record of a database at another address.
  public var isElsewhere = false
  /// Identity of the home and the boot of its machine; see ``BranchIdentityProof``.
  public var homeIdentity: String
  /// Size in bytes up to which an enqueue request is sent to the database as a whole; nil for a default that
  /// suits any connection.
  public var wholeBytes: Int?
  /// True if the branch was open before and is restarted by its guardian: it then waits for an unavailable
  /// database.
  public var isReturning: Bool

  package init(
    address: String, name: String, host: String, services: [ServiceName], language: Language = .english,
    homeIdentity: String = "", isReturning: Bool = false, wholeBytes: Int? = nil
  ) {
    (self.address, self.name, self.host, self.services) = (address, name, host, services)
    (self.language, self.homeIdentity, self.isReturning) = (language, homeIdentity, isReturning)
    self.wholeBytes = wholeBytes
  }
}
