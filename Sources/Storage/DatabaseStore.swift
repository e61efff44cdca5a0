// Owns what all stores in SQLite have in common: how a database is opened, only looked into and closed, the room that is
// held back beside it, and what is done when its files are removed. It knows no table.
// Invariant: a store has one connection, and all its transactions are those of one `Transactions`.
// Failure: StoreError.

import BankModel
import QueueCore

/// A store in a SQLite database: one process, one connection, one thread.
public class DatabaseStore {
  final let database: Database
  final let transactions: Transactions

  class var schema: Schema { preconditionFailure("Every kind of store has a schema of its own.") }
  /// How much room this kind of store holds back for nobody in particular.
  class var reservePlan: HeldRoom.Plan { preconditionFailure("Every kind of store has a plan of its own.") }

  init(_ database: Database) throws(StoreError) {
    self.database = database
    transactions = try Transactions(database, Self.reservePlan)
  }

  /// Opens the database at a path, or makes a new one with mode 0600.
  ///
  /// - Parameters:
  ///   - volume: where the path leads to a file.
  ///   - onProgress: called by a long work on the database every few milliseconds as it goes on, from within
  ///     whatever was called here; it must not ask the store anything.
  /// - Throws: `.inUse` while another process has it open; `.newerSchema`; `.damaged` where the file is not one of
  ///   ours or not whole, and then not a byte of it was changed; `.diskFull`; `.failed` with the system's reason.
  public convenience init(
    path: String, on volume: any Volume = SystemVolume(), onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(try Database.open(path: path, on: volume, schema: Self.schema, onProgress: onProgress))
  }

  /// Opens a database with a schema of the caller's choice and, for tests of a full disk, a bound for its pages.
  convenience init(
    path: String, schema: Schema, maximumPages: Int64? = nil, onProgress: (() -> Void)? = nil
  ) throws(StoreError) {
    try self.init(
      try Database.open(path: path, schema: schema, maximumPages: maximumPages, onProgress: onProgress))
  }

  /// Opens a database that is only looked at: nothing of it is changed, and it may lie where nobody can write. The caller
  /// keeps everybody else off it.
  ///
  /// - Throws: as ``init(path:on:onProgress:)`` does.
  public convenience init(inspecting path: String) throws(StoreError) {
    try self.init(try Database.inspect(path: path, schema: Self.schema))
  }

  /// Opens a database that another process has open, and keeps as it is meanwhile. What its log holds is not seen.
  ///
  /// - Throws: as ``init(path:on:onProgress:)`` does.
  public convenience init(frozen path: String, on volume: any Volume = SystemVolume()) throws(StoreError) {
    try self.init(try Database.look(atFrozen: path, on: volume, schema: Self.schema))
  }

  /// Copies the log into the database and closes it; what was staged is forgotten. The store cannot be used again.
  ///
  /// - Throws: what went wrong in the copying. Nothing is lost then: the log stays beside the database.
  public func close() throws(StoreError) { try transactions.close() }

  final func damage(_ detail: Remark) -> StoreError { .damaged(path: database.path, detail: detail) }
  final var room: HeldRoom { transactions.room }
  /// Bytes that are held back.
  public final var reservedBytes: Int64 { room.bytes }
  /// Whether a part of the reserve is given up. See `QueueStore`, `StockStore` and `VendingStore`.
  public final var isShort: Bool { room.isShort }
  /// Begins to hold room back for bad days. Without this call nothing is held back.
  public func keepReserve() { room.keep() }
  /// Looks whether there is room again. See `QueueStore`, `StockStore` and `VendingStore`.
  public func lookForRoom() { room.look() }
  /// What is done when the store's files are removed.
  public final var files: DatabaseFiles { DatabaseFiles(transactions) { [unowned self] in keepReserve() } }
}

/// The files of one open store, for whoever watches over them and is told what is gone.
///
/// A log without a name is still open, so everything in it is there for this process and for no other: it is copied into
/// the database at once, and after every commit, until there is a log again that the next process finds. What was told to
/// be durable is in a file that has a name, or the store says that it is not.
public final class DatabaseFiles {
  /// The database.
  public let database: String
  /// Its log.
  public var log: String { database + "-wal" }

  private let transactions: Transactions
  private let keepReserve: () -> Void

  init(_ transactions: Transactions, keepReserve: @escaping () -> Void) {
    self.transactions = transactions
    self.keepReserve = { if transactions.room.isKept { keepReserve() } }
    database = transactions.database.path
  }

  /// The log has lost its name: what is in it is copied, where no transaction is open, and with every commit from now on.
  public func logIsLost() throws(StoreError) { try transactions.logIsLost() }

  /// Begins a new log in the place of the one that was lost.
  ///
  /// - Returns: false where that cannot be now: a transaction is open, or the disk is full.
  public func renewLog() throws(StoreError) -> Bool { try transactions.renewLog() }

  /// Holds back again what was held back in a file that somebody has removed.
  public func renewReserve() { keepReserve() }

  /// The database itself is gone, or another file has its name: nothing is written any more, and nothing of the name is
  /// touched when the process ends.
  public func abandon() {
    transactions.abandon(because: .failed(path: database, detail: Remark(.fileRemoved)))
  }
}
