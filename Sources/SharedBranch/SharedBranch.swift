// PostgreSQL implementation of the protocol through which a coordinator opens the database of a shared bank. `bankd`
// passes it to the coordinator, which does not depend on PostgreSQL.
import BankModel
import Coordinator
import Posix
import Postgres
import PostgresReading
import PostgresStore
import QueueCore
import Time
import Wire

/// Opener of shared databases in PostgreSQL.
public struct SharedBranch: SharedBooksOpener {
  public init() {}

  /// Timeout for joining, after which the start fails. A client that opens a bank waits for this time. A branch that a
  /// guardian has restarted has no timeout.
  static let patience = TimeSpan.seconds(20)

  /// Opens the database at an address for reading. See ``Coordinator/SharedBooksOpener``.
  public func inspect(
    _ address: String, in language: Language, knowing known: @escaping () -> BooksMark?
  ) throws -> any InspectedBooks {
    try SharedBank(address, in: language, knowing: known)
  }

  /// Moves a bank into the database at an address. See ``Coordinator/SharedBooksOpener``.
  public func move(_ books: MovingBooks, told watch: any MoveWatch) throws -> MovedBooks {
    try BookMove(books, told: watch).run()
  }

  /// Joins the bank at an address. See ``Coordinator/SharedBooksOpener``.
  public func join(
    _ branch: JoiningBranch, on loop: EventLoop, progressed: () -> Void
  ) throws -> (books: any BranchStore, opening: BranchOpening) {
    let joining = try SharedJoining(branch, on: loop)
    while true {
      if let joined = try joining.look() { return joined }
      progressed()
      _ = try loop.runOnce(until: joining.nextDeadline)
    }
  }
}

/// A branch that is joining a shared bank, advanced once per loop iteration.
package final class SharedJoining {
  private let books: SharedBooks
  private let name: String
  private let language: Language
  private let place: PostgresPlace
  private var until = SystemClock.monotonic() + SharedBranch.patience
  /// True if a guardian has restarted the branch. In this case the join waits without a timeout until the database is
  /// available.
  private let isPatient: Bool
  private var trouble: PostgresError?
  private var early: [SharedHappening] = []

  /// Starts joining.
  package init(_ branch: JoiningBranch, on loop: EventLoop) throws {
    do throws(PostgresError) { place = try .ofBooks(branch.address) } catch {
      throw Self.failure(error, branch.language)
    }
    (name, language) = (branch.name, branch.language)
    var settings = SharedBooks.Settings(
      place: place, name: branch.name, host: branch.host, services: branch.services, proof: branch.proof)
    (settings.known, settings.isElsewhere) = (branch.known, branch.isElsewhere)
    if let bytes = branch.wholeBytes {
      (settings.bounds.whole, settings.bounds.slice) = (bytes, bytes)
    }
    books = SharedBooks(settings, loop: loop)
    isPatient = branch.isReturning
  }

  /// The latest moment for the next call of ``look()``.
  package var nextDeadline: MonotonicTime {
    let most = SystemClock.monotonic() + .milliseconds(500)
    return books.nextDeadline.map { min($0, most) } ?? most
  }

  /// The joined store and its initial state; nil before the join is complete.
  package func look() throws -> (books: any BranchStore, opening: BranchOpening)? {
    guard isPatient || SystemClock.monotonic() < until else {
      throw trouble.map { Self.failure($0, language) }
        ?? Failure(.system, subject: place.description, detail: "the shared database was not joined in time")
    }
    books.endTurn()
    while let happening = books.takeHappening() {
      switch happening {
      case .joined(let opening): return joined(opening)
      case .refused(let failure): throw Self.failure(failure, language)
      case .interrupted(let error): trouble = error
      // These events arrive before the join, and are reported after it.
      case .older, .known, .forgotten: early.append(happening)
      default: break
      }
    }
    return nil
  }

  private func joined(_ opening: SharedOpening) -> (books: any BranchStore, opening: BranchOpening) {
    var numbers = Books(day: opening.day, openedAt: opening.openedAt)
    numbers.know(services: opening.services.count)
    for service in opening.paused where service.index < numbers.paused.count {
      numbers.paused[service.index] = true
    }
    return (
      SharedStore(books, opening, name: name, in: language, after: early),
      BranchOpening(
        identity: BranchIdentity(opening.branch, name: name), books: numbers, booksName: opening.name,
        isDraining: opening.isDraining)
    )
  }

  private static func failure(_ error: PostgresError, _ language: Language) -> Failure {
    Failure(.system, subject: error.place, detail: error.message(in: language))
  }

  private static func failure(_ failure: SharedBooksFailure, _ language: Language) -> Failure {
    let words = failure.message(in: language)
    switch failure {
    case .books(.newer): return Failure(.newerSchema, subject: "bank", detail: words)
    case .books: return Failure(.system, subject: "postgres", detail: words)
    case .nameTaken(let name, _): return Failure(.system, subject: name, detail: words)
    case .server(let error): return Failure(.system, subject: error.place, detail: words)
    }
  }
}
