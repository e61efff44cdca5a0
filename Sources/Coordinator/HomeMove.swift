// Move of a closed bank's database to a shared one. One move runs at a time, under the lock of the home, and a marker
// file in the home records the new place.
// Invariant: the database in the home is unchanged. After any crash either all data has been moved or none, and the
// next move to the same place determines which.
// Errors: Failure or StoreError; SystemError if the database file cannot be examined.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// Move of a home's database to a shared one.
public struct MovingBooks {
  /// Data to be moved.
  public var source: any QueueExport
  /// Identity of the bank, which it keeps.
  public var name: BooksName
  /// Name of the branch that this home becomes, and to which the history so far belongs.
  public var branch: String
  /// Name of the machine.
  public var host: String
  /// Address of the destination.
  public var address: String
}

/// Result of a move.
public struct MovedBooks {
  /// Destination without secrets, for display.
  public var place: String
  /// Number of rows at the destination.
  public var rows: ExportedRows
  /// Sums of the ledger at the destination.
  public var balance: TrialBalance
  /// True if an earlier move has already moved the data.
  public var isRepeated: Bool

  public init(place: String, rows: ExportedRows, balance: TrialBalance, isRepeated: Bool) {
    (self.place, self.rows, self.balance, self.isRepeated) = (place, rows, balance, isRepeated)
  }
}

/// Observer of a move.
public protocol MoveWatch: AnyObject {
  /// Reports the number of tickets moved so far, which are not visible yet; returns false to cancel.
  func moved(_ done: Int64, of total: Int64) -> Bool
  /// Called before the commit. After this call the move may be complete.
  func isCommitting() throws
}

final class HomeMove: MoveWatch {
  private let home: BankHome
  private let books: ClosedBank
  private let opener: any SharedBooksOpener
  private var address = ""
  private var tell: ((ProgressReport) -> Bool)?

  init(_ home: BankHome, _ books: ClosedBank, _ opener: any SharedBooksOpener) {
    (self.home, self.books, self.opener) = (home, books, opener)
  }

  /// Moves the database.
  ///
  /// - Parameter told: Receives progress; returns false to cancel.
  func run(_ order: MoveOrder, _ told: @escaping (ProgressReport) -> Bool) throws -> MoveReport {
    // A repeated move to the same place determines the result of the earlier move.
    if let former = MovedNote.read(from: home.movedNote), former.address != order.address {
      throw home.booksMoved(former)
    }
    guard let name = books.name else { throw Failure(.notMoved, remark: Remark(.booksUnnamed)) }
    (address, tell) = (order.address, told)
    defer { tell = nil }
    let before = try books.export.countRows()
    let moved = try opener.move(
      MovingBooks(
        source: books.export, name: name, branch: order.branch ?? home.branchName, host: Machine.name,
        address: order.address), told: self)
    try keep(MovedNote(address: order.address, isDone: true))
    return MoveReport(
      place: moved.place, day: books.look().presentDay,
      rows: ExportedRows.Kind.allCases.map {
        MovedRows(name: $0.rawValue, before: before[$0], after: moved.rows[$0])
      }, ledger: moved.balance.rows, isRepeated: moved.isRepeated, note: home.movedNote)
  }

  func moved(_ done: Int64, of total: Int64) -> Bool {
    tell?(ProgressReport(phase: .moving, done: done, total: total)) ?? true
  }

  func isCommitting() throws { try keep(MovedNote(address: address, isDone: false)) }

  private func keep(_ note: MovedNote) throws(Failure) {
    do throws(SystemError) { try note.keep(at: home.movedNote) } catch {
      throw Failure(.badHome, subject: home.path, detail: error.description)
    }
  }
}

extension HomeMove {
  /// Executes a request to move the database of a home. The second parameter receives progress and returns false
  /// to cancel.
  typealias Handler = (MoveOrder, @escaping (ProgressReport) -> Bool) throws -> MoveReport

  /// Handler of a build without PostgreSQL, which refuses every move.
  static func unavailable(
    _ order: MoveOrder, _ told: @escaping (ProgressReport) -> Bool
  ) throws -> MoveReport { throw Failure(.badRequest, remark: Remark(.noPostgres)) }

  /// Handler for a home whose bank uses a shared database. If the home was moved to this database, its own
  /// database still exists: the same move determines the result of the first one, and any other move is
  /// refused.
  static func again(in home: BankHome, _ opener: any SharedBooksOpener) -> Handler {
    { order, told in
      guard !home.path.isEmpty, let note = MovedNote.read(from: home.movedNote) else {
        throw Failure(.notInSharedBank, subject: "move")
      }
      guard note.address == order.address, try FileFacts.inspect(home.database) != nil else {
        throw home.booksMoved(note)
      }
      let lock = try HomeLock(visiting: home)
      defer { lock.release() }
      try home.examineDatabase()
      let bank = try ClosedBank(home, now: WallTime(milliseconds: SystemClock.wall().milliseconds))
      return try HomeMove(home, bank, opener).run(order, told)
    }
  }
}

extension BankHome {
  /// Marker file with the new place of the database after a move.
  var movedNote: String { Paths.join(path, "moved") }

  /// Refuses a home whose database was moved away.
  func requireOwnBooks() throws(Failure) {
    if let note = MovedNote.read(from: movedNote) { throw booksMoved(note) }
  }

  func booksMoved(_ note: MovedNote) -> Failure {
    note.isDone
      ? Failure(.booksMoved, subject: note.address, detail: movedNote)
      : Failure(.booksMoved, subject: note.address, remark: Remark(.moveUnknown, movedNote))
  }
}
