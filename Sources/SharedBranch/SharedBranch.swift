// Owns what a coordinator needs of a shared bank, as far as it is PostgreSQL's: how an address becomes books. `bankd` hands
// it to the coordinator, which knows no such store.
import BankModel
import Coordinator
import Posix
import Postgres
import PostgresReading
import PostgresStore
import QueueCore
import Time
import Wire

/// Opens the books of a shared bank in PostgreSQL.
public struct SharedBranch: SharedBooksOpener {
  public init() {}

  /// For how long a branch tries to join before it is said that it cannot. Who opens a bank waits for so long, and a guardian
  /// begins anew then.
  static let patience = TimeSpan.seconds(20)

  /// Opens the books at an address to be read. See ``Coordinator/SharedBooksOpener``.
  public func inspect(
    _ address: String, in language: Language, knowing known: @escaping () -> BooksMark?
  ) throws -> any InspectedBooks {
    try SharedBank(address, in: language, knowing: known)
  }

  /// Moves everything into the books at an address. See ``Coordinator/SharedBooksOpener``.
  public func move(_ books: MovingBooks, told watch: any MoveWatch) throws -> MovedBooks {
    try BookMove(books, told: watch).run()
  }

  /// Joins the bank whose books are at an address. See ``Coordinator/SharedBooksOpener``.
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

/// A branch on its way into a shared bank, turn by turn.
package final class SharedJoining {
  private let books: SharedBooks
  private let name: String
  private let language: Language
  private let place: PostgresPlace
  private var until = SystemClock.monotonic() + SharedBranch.patience
  /// Whether it waits for as long as the database can be expected back.
  private let isPatient: Bool
  private var trouble: PostgresError?
  private var early: [SharedHappening] = []

  /// Begins to join.
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

  /// When to look at the latest.
  package var nextDeadline: MonotonicTime {
    let most = SystemClock.monotonic() + .milliseconds(500)
    return books.nextDeadline.map { min($0, most) } ?? most
  }

  /// The books and what there is in them, once it has joined.
  package func look() throws -> (books: any BranchStore, opening: BranchOpening)? {
    guard isPatient || SystemClock.monotonic() < until else {
      throw trouble.map { Self.failure($0, language) }
        ?? Failure(.system, subject: place.description, detail: "the books were not joined in time")
    }
    books.endTurn()
    while let happening = books.takeHappening() {
      switch happening {
      case .joined(let opening): return joined(opening)
      case .refused(let failure): throw Self.failure(failure, language)
      case .interrupted(let error): trouble = error
      // They come before it has joined, and are told behind that.
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
