// State of a store's database: its one open transaction, error handling, size of the log, end.
// Invariant: staged changes become durable together or not at all. After a full disk or a violated constraint the store
// rolls back and continues. After a failed write or fsync it refuses everything, because the content of the disk is
// unknown.

import BankModel
import CSQLite
import QueueCore

final class Transactions {
  /// Frames in the log from which a commit copies it into the database: 8 MB of pages.
  static let checkpointThreshold: Int32 = 2_000

  /// Minimum limit of the log while the file is frozen: 64 MB of pages.
  static let frozenThreshold: Int64 = 16_000

  let database: Database
  let room: HeldRoom
  private(set) var isOpen = false
  /// Frames in the log from which the freeze ends.
  private var frozenLimit: Int32 = 0
  /// True if the log was unlinked, so that no other process would find its content.
  private(set) var isLogLost = false
  private var end: StoreError?
  private let begin, save, forget: Statement

  init(_ database: Database, _ plan: HeldRoom.Plan) throws(StoreError) {
    self.database = database
    room = HeldRoom(database, plan)
    begin = try database.prepare("BEGIN IMMEDIATE", while: "starting a transaction")
    save = try database.prepare("COMMIT", while: "committing a transaction")
    forget = try database.prepare("ROLLBACK", while: "rolling back a transaction")
  }

  deinit { if end != nil { database.abandon() } }
  func requireHealth() throws(StoreError) { if let end { throw end } }

  func beginIfNeeded() throws(StoreError) {
    if isOpen { return }
    try begin.run()
    isOpen = true
  }

  /// Makes the open transaction durable. The log may have to be copied afterwards.
  func commit() throws(StoreError) {
    do throws(StoreError) { try save.run() } catch {
      guard case .failed(_, let detail) = error else { throw error }
      if database.volume.makes("takesAFailedSyncForAFullDisk") { throw .diskFull(detail: detail) }
      guard database.volume.makes("takesAFailedSyncForACommit") else { throw error }
    }
    isOpen = false
  }

  func rollBack() {
    if database.isInTransaction && end == nil {
      // An error here means that SQLite has rolled back already, or will at the next start.
      try? forget.run()
    }
    isOpen = false
  }

  /// Copies the log into the database if it is long, was unlinked, or is nearly full while the reserve is in use.
  ///
  /// Committed data is safe even if this fails. A full disk is handled at the next commit; a failed fsync must not be
  /// retried.
  ///
  /// - Returns: true if it was copied.
  @discardableResult func checkpointIfDue() throws(StoreError) -> Bool {
    let isUrgent = isLogLost || room.isShort && room.isLogNearlyFull
    let threshold = database.isFrozen ? frozenLimit : Self.checkpointThreshold
    guard isUrgent || database.logFrames >= threshold else { return false }
    return try unlessFull { () throws(StoreError) in try room.copyLog(SQLITE_CHECKPOINT_PASSIVE) }
  }

  /// Runs an operation that a full disk may prevent; returns false in that case. Any other error ends the store.
  private func unlessFull(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    do throws(StoreError) { try body() } catch {
      if case .diskFull = error { return false }
      end = error
      throw error
    }
    return true
  }

  /// Copies the log into the file, which then stays unchanged for a process that reads it in place; commits go to the
  /// log.
  ///
  /// The log may become as long as the file, because a reader needs that time, but never more than a quarter of the
  /// free disk. A full disk, and every other copy of the log, ends the freeze.
  /// - Parameters:
  ///   - atLeast: minimum limit in frames, for a small file.
  ///   - onThaw: called before the file changes again.
  /// - Returns: false if freezing is impossible now.
  func freeze(atLeast: Int64 = frozenThreshold, onThaw: @escaping () -> Void) throws(StoreError) -> Bool {
    try requireHealth()
    guard !isOpen, !isLogLost, !room.isShort, !database.isReadOnly else { return false }
    var limit = max(try database.pageCount(), atLeast)
    if let free = room.free { limit = min(limit, free / 4 / HeldRoom.frame) }
    guard limit > Int64(Self.checkpointThreshold) else { return false }
    guard try unlessFull({ () throws(StoreError) in try room.copyLog(SQLITE_CHECKPOINT_PASSIVE) }) else {
      return false
    }
    frozenLimit = Int32(clamping: limit)
    database.freeze(onThaw: onThaw)
    return true
  }

  /// Copies an unlinked log, now and after every later commit.
  func logIsLost() throws(StoreError) {
    try requireHealth()
    isLogLost = true
    if !isOpen { try checkpointIfDue() }
  }

  /// Replaces an unlinked log with a new one; false if that is impossible now.
  func renewLog() throws(StoreError) -> Bool {
    try requireHealth()
    guard isLogLost, !isOpen else { return !isLogLost }
    isLogLost = try !unlessFull(database.renewLog)
    return !isLogLost
  }

  /// Refuses everything from now on, and never touches the files again.
  func abandon(because error: StoreError) { end = error }

  /// Rolls back, and returns the error that the caller must throw.
  ///
  /// - Parameter makesRoom: if true, a part of the reserve is released after a full disk.
  func recover(from error: StoreError, makesRoom: Bool = true) -> StoreError {
    if case .failed = error { end = error }
    rollBack()
    guard case .diskFull = error, makesRoom else { return error }
    let second = room.make()
    if let second { end = second }
    return second ?? error
  }

  /// Runs an operation in the open transaction, which is opened if there is none. After a full disk for which space can
  /// be made, it starts a new transaction and calls `body` again, with `isAgain` true.
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
        guard case .diskFull = error, room.hasMadeRoom else { throw error }
        isAgain = true
      }
    }
  }

  /// Copies the log into the database and closes it; staged changes are dropped. The store cannot be used again.
  ///
  /// - Throws: errors of the copy. No data is lost then, because the log remains beside the database.
  func close() throws(StoreError) {
    try requireHealth()
    rollBack()
    do throws(StoreError) { try room.copyLog(SQLITE_CHECKPOINT_TRUNCATE) } catch {
      end = error
      throw error
    }
    database.close()
    end = .failed(path: database.path, detail: Remark(.storeClosed))
  }
}
