// Move of a closed bank's database to a shared one. One move runs at a time, under the lock of the home, and a marker
// file in the home records the new place.
// Invariant: the database in the home is unchanged. After any crash either all data has been moved or none, and the
// next move to the same place determines which.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// Source and destination of the move of a home's database to a shared one.
public struct MoveInput {
  /// Data to be moved.
  public var source: any QueueExport
  /// Identity of the bank, which it keeps.
  public var name: BankID
  /// Name of the branch that this home becomes, and to which the moved data belong.
  public var branch: String
  /// Name of the machine.
  public var host: String
  /// Address of the destination.
  public var address: String
}

/// Result of a move.
public struct MoveResult {
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

/// Receives the progress of a move, and may cancel the move.
public protocol MoveObserver: AnyObject {
  /// Reports the number of tickets moved so far, which are not visible yet; returns false to cancel.
  func moved(_ done: Int64, of total: Int64) -> Bool
  /// Called before the commit. After this call the move may be complete.
  func willCommit() throws
}

final class HomeMove: MoveObserver {
  private let home: BankHome
  private let closedBank: ClosedBank
  private let opener: any SharedStoreOpener
  private var address = ""
  private var onProgress: ((ProgressReport) -> Bool)?

  init(_ home: BankHome, _ closedBank: ClosedBank, _ opener: any SharedStoreOpener) {
    (self.home, self.closedBank, self.opener) = (home, closedBank, opener)
  }

  /// Moves the database.
  ///
  /// - Parameter observer: Receives progress; returns false to cancel.
  func run(_ order: MoveParameters, _ observer: @escaping (ProgressReport) -> Bool) throws -> MoveReport {
    // A repeated move to the same place determines the result of the earlier move.
    if let former = MoveMarkerFile.read(from: home.moveMarkerFile), former.address != order.address {
      throw home.databaseMoved(former)
    }
    guard let name = closedBank.name else {
      throw Failure(.notMoved, messageDetail: MessageDetail(.bankIDMissing))
    }
    (address, onProgress) = (order.address, observer)
    defer { onProgress = nil }
    let before = try closedBank.export.countRows()
    let moved = try opener.move(
      MoveInput(
        source: closedBank.export, name: name, branch: order.branch ?? home.branchName, host: LocalHost.name,
        address: order.address), observer: self)
    try write(MoveMarkerFile(address: order.address, isDone: true))
    return MoveReport(
      place: moved.place, day: closedBank.refresh().presentDay,
      rows: ExportedRows.Kind.allCases.map {
        MovedRows(name: $0.rawValue, before: before[$0], after: moved.rows[$0])
      }, ledger: moved.balance.rows, isRepeated: moved.isRepeated, note: home.moveMarkerFile)
  }

  /// Sends the client the progress of the move. Returns false if the client has cancelled the move.
  func moved(_ done: Int64, of total: Int64) -> Bool {
    onProgress?(ProgressReport(phase: .moving, done: done, total: total)) ?? true
  }

  func willCommit() throws { try write(MoveMarkerFile(address: address, isDone: false)) }

  private func write(_ note: MoveMarkerFile) throws(Failure) {
    do throws(SystemError) { try note.write(at: home.moveMarkerFile) } catch {
      throw Failure(.badHome, subject: home.path, detail: error.description)
    }
  }
}

extension HomeMove {
  /// Executes a request to move the database of a home. The second parameter receives progress and returns false
  /// to cancel.
  typealias Handler = (MoveParameters, @escaping (ProgressReport) -> Bool) throws -> MoveReport

  /// Handler of a build without PostgreSQL, which refuses every move.
  static func unavailable(
    _ order: MoveParameters, _ observer: @escaping (ProgressReport) -> Bool
  ) throws -> MoveReport { throw Failure(.badRequest, messageDetail: MessageDetail(.noPostgres)) }

  /// Handler for a home whose bank uses a shared database. If the home was moved and its own database still exists,
  /// the same move determines the result of the first one. Any other move is refused.
  static func again(in home: BankHome, _ opener: any SharedStoreOpener) -> Handler {
    { order, observer in
      guard !home.path.isEmpty, let note = MoveMarkerFile.read(from: home.moveMarkerFile) else {
        throw Failure(.unsupportedWithSharedStore, subject: "move")
      }
      guard note.address == order.address, try FileMetadata.inspect(home.database) != nil else {
        throw home.databaseMoved(note)
      }
      let lock = try HomeLock(inspecting: home)
      defer { lock.release() }
      try home.examineDatabase()
      let bank = try ClosedBank(home, now: WallTime(milliseconds: SystemClock.wall().milliseconds))
      return try HomeMove(home, bank, opener).run(order, observer)
    }
  }
}

extension BankHome {
  /// Marker file with the new place of the database after a move.
  var moveMarkerFile: String { Paths.join(path, "moved") }

  /// Refuses a home whose database was moved away.
  func requireOwnDatabase() throws(Failure) {
    if let note = MoveMarkerFile.read(from: moveMarkerFile) { throw databaseMoved(note) }
  }

  /// Failure that names the database to which this home's data were moved, or may have been moved.
  func databaseMoved(_ note: MoveMarkerFile) -> Failure {
    note.isDone
      ? Failure(.databaseMoved, subject: note.address, detail: moveMarkerFile)
      : Failure(
        .databaseMoved, subject: note.address,
        messageDetail: MessageDetail(.moveOutcomeUnknown, moveMarkerFile))
  }
}
