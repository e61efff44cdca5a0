// PostgreSQL implementation of the protocol through which a coordinator opens the database of a shared bank. The
// coordinator itself does not depend on PostgreSQL.
import BankModel
import Coordinator
import Posix
import Postgres
import PostgresQueries
import PostgresStore
import QueueCore
import Time
import Wire

/// Opener of shared databases in PostgreSQL.
public struct PostgresStoreOpener: SharedStoreOpener {
  public init() {}

  /// Timeout for joining, after which the start fails.
  static let timeout = TimeSpan.seconds(20)

  /// Opens the database at an address for reading. See ``Coordinator/SharedStoreOpener``.
  public func inspect(
    _ address: String, in language: Language, knowing known: @escaping () -> SharedStoreProgress?
  ) throws -> any InspectedStore {
    try PostgresInspection(address, in: language, knowing: known)
  }

  /// Moves a bank into the database at an address. See ``Coordinator/SharedStoreOpener``.
  public func move(_ input: MoveInput, observer watch: any MoveObserver) throws -> MoveResult {
    try BankMove(input, observer: watch).run()
  }

  /// Joins the bank at an address. See ``Coordinator/SharedStoreOpener``.
  public func join(
    _ branch: BranchJoinRequest, on loop: EventLoop, progressed: () -> Void
  ) throws -> (store: any SharedQueueStore, opening: BranchJoinState) {
    let joining = try BranchJoin(branch, on: loop)
    while true {
      if let joined = try joining.refresh() { return joined }
      progressed()
      _ = try loop.runOnce(until: joining.nextDeadline)
    }
  }
}

/// A branch that is joining a shared bank, advanced once per loop iteration.
package final class BranchJoin {
  private let store: SharedStore
  private let name: String
  private let language: Language
  private let place: PostgresURL
  private var until = SystemClock.monotonic() + PostgresStoreOpener.timeout
  /// True if a guardian has restarted the branch. In this case the join waits without a timeout until the database is
  /// available.
  private let waitsIndefinitely: Bool
  private var lastError: PostgresError?
  /// Events that arrived before the join, reported after it.
  private var earlyEvents: [PostgresStoreEvent] = []

  /// Starts joining.
  package init(_ branch: BranchJoinRequest, on loop: EventLoop) throws {
    do throws(PostgresError) { place = try .ofSharedStore(branch.address) } catch {
      throw Self.failure(error, branch.language)
    }
    (name, language) = (branch.name, branch.language)
    var settings = SharedStore.Settings(
      place: place, name: branch.name, host: branch.host, services: branch.services,
      homeIdentity: branch.homeIdentity)
    (settings.known, settings.isElsewhere) = (branch.known, branch.isElsewhere)
    if let bytes = branch.wholeBytes {
      (settings.bounds.whole, settings.bounds.slice) = (bytes, bytes)
    }
    store = SharedStore(settings, loop: loop)
    waitsIndefinitely = branch.isReturning
  }

  /// The latest moment for the next call of ``refresh()``.
  package var nextDeadline: MonotonicTime {
    let most = SystemClock.monotonic() + .milliseconds(500)
    return store.nextDeadline.map { min($0, most) } ?? most
  }

  /// Continues to join. Returns the joined store and its initial state, or nil if the join is not complete yet.
  package func refresh() throws -> (store: any SharedQueueStore, opening: BranchJoinState)? {
    guard waitsIndefinitely || SystemClock.monotonic() < until else {
      throw lastError.map { Self.failure($0, language) }
        ?? Failure(.system, subject: place.description, detail: "the shared database was not joined in time")
    }
    store.finishIteration()
    while let event = store.takeEvent() {
      switch event {
      case .joined(let opening): return joined(opening)
      case .refused(let failure): throw Self.failure(failure, language)
      case .interrupted(let error): lastError = error
      case .older, .known, .transactionsLost: earlyEvents.append(event)
      default: break
      }
    }
    return nil
  }

  /// Makes the store of a branch that has joined, and the state of the bank for the coordinator.
  private func joined(_ opening: JoinResult) -> (store: any SharedQueueStore, opening: BranchJoinState) {
    var numbers = DayCounters(day: opening.day, openedAt: opening.openedAt)
    numbers.know(services: opening.services.count)
    for service in opening.paused where service.index < numbers.paused.count {
      numbers.paused[service.index] = true
    }
    return (
      PostgresQueueStore(store, opening, name: name, in: language, after: earlyEvents),
      BranchJoinState(
        identity: BranchIdentity(opening.branch, name: name), dayCounters: numbers, bankID: opening.name,
        isDraining: opening.isDraining)
    )
  }

  /// Failure of the start because of an error of the server.
  private static func failure(_ error: PostgresError, _ language: Language) -> Failure {
    Failure(.system, subject: error.place, detail: error.message(in: language))
  }

  /// Failure of the start because the database cannot be used.
  private static func failure(_ failure: SharedStoreFailure, _ language: Language) -> Failure {
    let message = failure.message(in: language)
    switch failure {
    case .schema(.newer): return Failure(.newerSchema, subject: "bank", detail: message)
    case .schema: return Failure(.system, subject: "postgres", detail: message)
    case .nameTaken(let name, _): return Failure(.system, subject: name, detail: message)
    case .server(let error): return Failure(.system, subject: error.place, detail: message)
    }
  }
}
