// Owns the life of a store's database: its one open transaction, what happens after an error, the size of the log, the
// end. It knows no table. Invariant: what was staged becomes durable as a whole or not at all.
// A full disk or a broken promise rolls back and the store goes on; after a failed write or fsync everything is
// refused, because nobody knows any more what is on disk.

import BankModel
import CSQLite
import QueueCore

final class Transactions {
  /// Frames in the log after which a commit copies it into the database: 8 MB of pages.
  static let checkpointThreshold: Int32 = 2_000

  /// How far the log may grow at least while the file stays as it is: 64 MB of pages.
  static let frozenThreshold: Int64 = 16_000

  let database: Database
  let room: HeldRoom
  private(set) var isOpen = false
  /// Frames in the log after which the file does not stay as it is any more.
  private var frozenLimit: Int32 = 0
  /// Whether the log has lost its name, so that no other process would find what is in it.
  private(set) var isLogLost = false
  private var end: StoreError?
  private let begin, save, forget: Statement

  init(_ database: Database, _ plan: HeldRoom.Plan) throws(StoreError) {
    self.database = database
    room = HeldRoom(database, plan)
    begin = try database.prepare("BEGIN IMMEDIATE", while: "beginning a transaction")
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

  /// Returns when the open transaction is on disk. The log may still have to be copied.
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

  /// Copies a log into the database that has grown long, has lost its name, or has hardly any place while the reserve is
  /// in use.
  ///
  /// What was committed is safe whether this succeeds or not. A full disk is met again at the next commit; a failed
  /// fsync is not to be met twice.
  ///
  /// - Returns: whether it was copied.
  @discardableResult func checkpointIfDue() throws(StoreError) -> Bool {
    let isUrgent = isLogLost || room.isShort && room.isLogNearlyFull
    let threshold = database.isFrozen ? frozenLimit : Self.checkpointThreshold
    guard isUrgent || database.logFrames >= threshold else { return false }
    return try unlessFull { () throws(StoreError) in try room.copyLog(SQLITE_CHECKPOINT_PASSIVE) }
  }

  /// Does something that a full disk may keep from being done; false where it does. Any other error ends the store's life.
  private func unlessFull(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    do throws(StoreError) { try body() } catch {
      if case .diskFull = error { return false }
      end = error
      throw error
    }
    return true
  }

  /// Copies the log into the file, which then stays as it is for whoever reads it in its place: the log takes whatever is
  /// committed.
  ///
  /// The log may become as long as the file, which is what has to be read of it meanwhile, and never take more than a
  /// quarter of what is free on the disk. A full disk, and whatever else copies the log, comes first.
  /// - Parameters:
  ///   - atLeast: frames that the log of a small file may have.
  ///   - onThaw: called before the file is written to again.
  /// - Returns: false where it cannot be now.
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

  /// Copies a log that has lost its name; from now on it is copied after every commit.
  func logIsLost() throws(StoreError) {
    try requireHealth()
    isLogLost = true
    if !isOpen { try checkpointIfDue() }
  }

  /// Begins a new log in the place of one that has lost its name; false where that cannot be now.
  func renewLog() throws(StoreError) -> Bool {
    try requireHealth()
    guard isLogLost, !isOpen else { return !isLogLost }
    isLogLost = try !unlessFull(database.renewLog)
    return !isLogLost
  }

  /// Refuses everything from now on, and leaves the files alone for good.
  func abandon(because error: StoreError) { end = error }

  /// Takes back what was staged, and gives back the error that the caller is to throw.
  ///
  /// - Parameter makesRoom: Whether a part of the reserve is given up where the disk is full.
  func recover(from error: StoreError, makesRoom: Bool = true) -> StoreError {
    if case .failed = error { end = error }
    rollBack()
    guard case .diskFull = error, makesRoom else { return error }
    let second = room.make()
    if let second { end = second }
    return second ?? error
  }

  /// Does something with the open transaction, which is begun where there is none. Where the disk is full and room can be
  /// made for it, the transaction begins anew and everything is done again; `body` hears that it is.
  ///
  /// - Parameter undo: Called when what was staged is gone.
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

  /// Copies the log into the database and closes it; what was staged is forgotten. Nothing works afterwards.
  ///
  /// - Throws: what went wrong in the copying. Nothing is lost then: the log stays beside the database.
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
