// Common part of all SQLite stores: opening, inspecting and closing a database, its space reserve, and the
// reaction to removed files.
// Invariant: a store has one connection, and its transactions belong to one `Transactions`.

import BankModel
import QueueCore

/// A store in a SQLite database: one process, one connection, one thread.
public class DatabaseStore {
  final let database: Database
  final let transactions: Transactions

  /// Schema of this kind of store.
  class var schema: Schema { preconditionFailure("Every kind of store has its own schema.") }
  /// Amount of space that this kind of store reserves in addition to the need of its customers.
  class var reservePlan: ReservedSpace.ReservePlan {
    preconditionFailure("Every kind of store has its own plan.")
  }

  init(_ database: Database) throws(StoreError) {
    self.database = database
    transactions = try Transactions(database, Self.reservePlan)
  }

  /// Opens the database at a path, or creates one with mode 0600.
  ///
  /// - Parameters:
  ///   - volume: file system that contains the path.
  ///   - onProgress: called repeatedly during a long operation, from within the call of the store.
  ///     It must not call the store.
  /// - Throws: `.inUse` while another process has the database open; `.newerSchema`; `.damaged` if the file is
  ///   foreign, incomplete or damaged; `.diskFull`; `.failed` with the system's reason. A foreign or newer file
  ///   without a rollback journal is left unchanged.
  public convenience init(
    path: String, on volume: any Volume = SystemVolume(), onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(try Database.open(path: path, on: volume, schema: Self.schema, onProgress: onProgress))
  }

  /// Opens a database with another schema and, for tests of a full disk, a limit on its pages.
  convenience init(
    path: String, schema: Schema, maximumPages: Int64? = nil, onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(
      try Database.open(path: path, schema: schema, maximumPages: maximumPages, onProgress: onProgress))
  }

  /// Opens a database for inspection: no file is changed, and the directory may be read-only. The caller
  /// ensures that no other process uses the database.
  ///
  /// - Throws: the errors of ``init(path:on:onProgress:)``.
  public convenience init(inspecting path: String) throws(StoreError) {
    try self.init(try Database.inspect(path: path, schema: Self.schema))
  }

  /// Opens a database that another process has open and has frozen, without the content of its WAL.
  ///
  /// - Throws: the errors of ``init(path:on:onProgress:)``.
  public convenience init(frozen path: String, on volume: any Volume = SystemVolume()) throws(StoreError) {
    try self.init(try Database.look(atFrozen: path, on: volume, schema: Self.schema))
  }

  /// Checkpoints the WAL and closes the database. Staged changes are dropped. The store cannot be used again.
  ///
  /// - Throws: errors of the checkpoint. No data is lost then, because the WAL remains next to the database.
  public func close() throws(StoreError) { try transactions.close() }

  /// Error that reports damage of this database.
  final func damage(_ detail: MessageDetail) -> StoreError { .damaged(path: database.path, detail: detail) }
  final var reservedSpace: ReservedSpace { transactions.reservedSpace }
  /// Number of bytes that are reserved now.
  public final var reservedBytes: Int64 { reservedSpace.bytes }
  /// True if a part of the reserve is released, or could not be reserved. See `QueueStore`, `StockStore` and
  /// `VendingStore`.
  public final var isLowOnSpace: Bool { reservedSpace.isLowOnSpace }
  /// Starts to reserve space for a full disk, and to use a reserve that an earlier process has left.
  public func enableReserve() { reservedSpace.enable() }
  /// Checks again whether enough space is free. See `QueueStore`, `StockStore` and `VendingStore`.
  public func refreshDiskSpace() { reservedSpace.look() }
  /// Handlers for the removal of the store's files.
  public final var files: DatabaseFiles { DatabaseFiles(transactions) { [unowned self] in enableReserve() } }
}

/// Files of one open store, for a watcher that notices the removal of a file.
///
/// An unlinked WAL is still open, so only this process can read its content. The WAL is checkpointed, unless a
/// transaction is open, and again after commits, until a WAL exists that the next process finds.
public final class DatabaseFiles {
  /// Path of the database.
  public let database: String
  /// Path of the WAL.
  public var log: String { database + "-wal" }

  private let transactions: Transactions
  private let enableReserve: () -> Void

  init(_ transactions: Transactions, enableReserve: @escaping () -> Void) {
    self.transactions = transactions
    self.enableReserve = { if transactions.reservedSpace.isEnabled { enableReserve() } }
    database = transactions.database.path
  }

  /// Handles the removal of the WAL: checkpoints it until ``renewLog()`` has succeeded.
  public func handleLogLoss() throws(StoreError) { try transactions.handleLogLoss() }

  /// Creates a new WAL in place of a removed one. Returns false if that is impossible now, because a transaction is
  /// open or the disk is full.
  public func renewLog() throws(StoreError) -> Bool { try transactions.renewLog() }

  /// Reserves space again after the reserve file was removed. Does nothing for a store without a reserve.
  public func renewReserve() { enableReserve() }

  /// Handles the removal or replacement of the database itself: nothing is written any more, and the files are
  /// not changed at process exit.
  public func abandon() {
    transactions.abandon(because: .failed(path: database, detail: MessageDetail(.fileRemoved)))
  }
}
