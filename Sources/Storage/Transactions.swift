// State of a store's database: its one open transaction, error handling, checkpoints of the WAL, and the end of
// its use.
// Invariant: staged changes become durable together or not at all. After a full disk or a violated constraint the
// store rolls back and continues. After a failed write or fsync it rejects further calls, because the content of
// the disk is unknown.

import BankModel
import CSQLite
import QueueCore

/// The open transaction of a database, and the error that has ended the use of the database.
final class Transactions {
  /// Number of frames in the WAL from which a commit is followed by a checkpoint.
  static let checkpointThreshold: Int32 = 2_000

  /// Minimum limit, in frames, of the WAL while the file is frozen.
  static let frozenThreshold: Int64 = 16_000

  let database: Database
  let reservedSpace: ReservedSpace
  private(set) var isOpen = false
  /// Number of frames in the WAL from which a checkpoint ends the freeze.
  private var frozenLimit: Int32 = 0
  /// True if the WAL was unlinked, so that no other process would find its content.
  private(set) var isLogLost = false
  /// Error that has ended the use of the store; nil while the store works.
  private var end: StoreError?
  /// Statements that begin, commit and roll back a transaction.
  private let begin, save, forget: Statement

  init(_ database: Database, _ plan: ReservedSpace.ReservePlan) throws(StoreError) {
    self.database = database
    reservedSpace = ReservedSpace(database, plan)
    begin = try database.prepare("BEGIN IMMEDIATE", while: "starting a transaction")
    save = try database.prepare("COMMIT", while: "committing a transaction")
    forget = try database.prepare("ROLLBACK", while: "rolling back a transaction")
  }

  deinit { if end != nil { database.abandon() } }
  /// Throws the error that has ended the use of the store, if there is one.
  func requireHealth() throws(StoreError) { if let end { throw end } }

  func beginIfNeeded() throws(StoreError) {
    if isOpen { return }
    try begin.run()
    isOpen = true
  }

  /// Makes the open transaction durable. A checkpoint may be due afterwards.
  func commit() throws(StoreError) {
    try save.run()
    isOpen = false
  }

  func rollBack() {
    if database.isInTransaction && end == nil {
      // An error here means that SQLite has already rolled back, or will roll back at the next start.
      try? forget.run()
    }
    isOpen = false
  }

  /// Checkpoints the WAL if it is long, if it was unlinked, or if it is nearly full while the reserve is in use.
  /// Returns true if it was checkpointed.
  ///
  /// Committed data is safe even if the checkpoint fails. A full disk is handled at the next commit. A failed
  /// fsync must not be retried.
  @discardableResult func checkpointIfDue() throws(StoreError) -> Bool {
    let isUrgent = isLogLost || reservedSpace.isLowOnSpace && reservedSpace.isLogNearlyFull
    let threshold = database.isFrozen ? frozenLimit : Self.checkpointThreshold
    guard isUrgent || database.logFrames >= threshold else { return false }
    return try unlessFull { () throws(StoreError) in try reservedSpace.copyLog(SQLITE_CHECKPOINT_PASSIVE) }
  }

  /// Runs an operation. Returns false if the disk is full. Any other error ends the use of the store.
  private func unlessFull(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    do throws(StoreError) { try body() } catch {
      if case .diskFull = error { return false }
      end = error
      throw error
    }
    return true
  }

  /// Checkpoints the WAL. The file then stays unchanged for a process that reads it in place, and commits change only
  /// the WAL. Returns false if the file cannot be frozen now.
  ///
  /// The freeze ends when the WAL has reached a limit, which depends on the length of the file and on the free
  /// space, or with another checkpoint.
  ///
  /// - Parameters:
  ///   - atLeast: minimum limit of the WAL in frames, for a small file.
  ///   - onThaw: called before the file changes again.
  func freeze(atLeast: Int64 = frozenThreshold, onThaw: @escaping () -> Void) throws(StoreError) -> Bool {
    try requireHealth()
    guard !isOpen, !isLogLost, !reservedSpace.isLowOnSpace, !database.isReadOnly else { return false }
    var limit = max(try database.pageCount(), atLeast)
    if let free = reservedSpace.free { limit = min(limit, free / 4 / ReservedSpace.frame) }
    guard limit > Int64(Self.checkpointThreshold) else { return false }
    guard try unlessFull({ () throws(StoreError) in try reservedSpace.copyLog(SQLITE_CHECKPOINT_PASSIVE) })
    else {
      return false
    }
    frozenLimit = Int32(clamping: limit)
    database.freeze(onThaw: onThaw)
    return true
  }

  /// Checkpoints an unlinked WAL now, unless a transaction is open, and after commits until the WAL is replaced.
  func handleLogLoss() throws(StoreError) {
    try requireHealth()
    isLogLost = true
    if !isOpen { try checkpointIfDue() }
  }

  /// Replaces an unlinked WAL with a new one. Returns false if that is impossible now.
  func renewLog() throws(StoreError) -> Bool {
    try requireHealth()
    guard isLogLost, !isOpen else { return !isLogLost }
    isLogLost = try !unlessFull(database.renewLog)
    return !isLogLost
  }

  /// Rejects every call from now on, and does not change the files any more.
  func abandon(because error: StoreError) { end = error }

  /// Rolls back, and returns the error that the caller must throw.
  ///
  /// - Parameter makesSpace: true to release a part of the reserve after a full disk.
  func recover(from error: StoreError, makesSpace: Bool = true) -> StoreError {
    if case .failed = error { end = error }
    rollBack()
    guard case .diskFull = error, makesSpace else { return error }
    let second = reservedSpace.makeSpace()
    if let second { end = second }
    return second ?? error
  }

  /// Runs an operation in the open transaction, and opens one if there is none. After a full disk for which
  /// space was freed, it starts a new transaction and calls `body` again, with `isAgain` true.
  ///
  /// - Parameter undo: called after staged changes were dropped.
  func attempt<Result>(
    undo: () -> Void, _ body: (_ isAgain: Bool) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var isAgain = false
    while true {
      do throws(StoreError) {
        try beginIfNeeded()
        return try body(isAgain)
      } catch {
        let error = recover(from: error)
        undo()
        guard case .diskFull = error, reservedSpace.hasMadeSpace else { throw error }
        isAgain = true
      }
    }
  }

  /// Checkpoints the WAL and closes the database. Staged changes are dropped. The store cannot be used again.
  ///
  /// - Throws: errors of the checkpoint. No data is lost then, because the WAL remains next to the database.
  func close() throws(StoreError) {
    try requireHealth()
    rollBack()
    do throws(StoreError) { try reservedSpace.copyLog(SQLITE_CHECKPOINT_TRUNCATE) } catch {
      end = error
      throw error
    }
    database.close()
    end = .failed(path: database.path, detail: MessageDetail(.storeClosed))
  }
}
