// Owns what can be done about a database under which somebody removes files. It knows no watch: it is told what is gone.
// A log without a name is still open, so everything in it is there for this process and for no other: it is copied into
// the database at once, and after every commit, until there is a log again that the next process finds.
// Invariant: what was told to be durable is in a file that has a name, or the store says that it is not.

import BankModel
import QueueCore

/// The files of one open store, for whoever watches over them.
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
