// Owns the move of a closed bank's books to those that branches share: it is tried at most once at a time, under the lock of
// the home, and the note in the home says where the books are.
// Invariant: the books in the home stay as they are. Whatever dies: either nothing has been moved, or everything, and the
// next move to the same place finds out which.
// Failure: Failure or StoreError.

import BankModel
import Posix
import QueueCore
import Wire

/// The books of a home, on their way to others.
public struct MovingBooks {
  /// What is moved.
  public var source: any QueueExport
  /// What the books are called; they are called so there, too.
  public var name: BooksName
  /// The branch to which belongs what has happened so far: the one that this home becomes.
  public var branch: String
  /// The machine.
  public var host: String
  /// Where to.
  public var address: String
}

/// What a move has brought.
public struct MovedBooks {
  /// The place as it may be shown.
  public var place: String
  /// How many rows there are now.
  public var rows: ExportedRows
  /// The sums of the ledger there.
  public var balance: TrialBalance
  /// Whether an earlier move has brought it.
  public var isRepeated: Bool

  public init(place: String, rows: ExportedRows, balance: TrialBalance, isRepeated: Bool) {
    (self.place, self.rows, self.balance, self.isRepeated) = (place, rows, balance, isRepeated)
  }
}

/// Who hears how a move goes on.
public protocol MoveWatch: AnyObject {
  /// So many of so many tickets are there, and nobody sees them yet; whether it shall go on.
  func moved(_ done: Int64, of total: Int64) -> Bool
  /// From now on it may have come to its end.
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

  /// Moves the books.
  ///
  /// - Parameter told: how far it has come; whether it shall go on.
  func run(_ order: MoveOrder, _ told: @escaping (ProgressReport) -> Bool) throws -> MoveReport {
    // To the same place again: it is found out what has come of it.
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

extension BankHome {
  /// The note of where the books are since they were moved.
  var movedNote: String { Paths.join(path, "moved") }

  /// Refuses a home whose books are somewhere else by now.
  func requireOwnBooks() throws(Failure) {
    if let note = MovedNote.read(from: movedNote) { throw booksMoved(note) }
  }

  func booksMoved(_ note: MovedNote) -> Failure {
    note.isDone
      ? Failure(.booksMoved, subject: note.address, detail: movedNote)
      : Failure(.booksMoved, subject: note.address, remark: Remark(.moveUnknown, movedNote))
  }
}
