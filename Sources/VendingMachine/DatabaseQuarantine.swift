// Renaming of a damaged database of the vending machine, at the request of an operator. An undamaged one stays in
// place.
// The database and its files `-wal`, `-journal` and `-shm` get another name, and a new, empty database is created.
// Errors: an exit code for the reason, and a sentence on standard error.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Transport
import Wire

/// Replacement of a damaged database of the vending machine by a new one.
enum DatabaseQuarantine {
  /// Result of the replacement, as the exit code of the process: done, failed, not damaged, or in use.
  enum Outcome: Int32 {
    /// The database was renamed, and a new one was created.
    case done = 0
    /// An error; the message on standard error describes it.
    case failed = 1
    /// The database does not exist, or no damage was found.
    case notDamaged = 3
    /// A running machine uses the database.
    case inUse = 4
  }

  /// Renames the database to `target` if it is damaged, unless a running machine uses it.
  static func run(_ home: ServiceHome, to target: String) throws -> Outcome {
    try home.prepare()
    let loop = try EventLoop()
    let lock: LockFile
    do throws(Failure) { lock = try home.takeLock(loop) } catch {
      guard error.code == .alreadyOpen else { throw error }
      return .inUse
    }
    let outcome = try rename(home, to: target)
    lock.unlock()
    return outcome
  }

  /// Renames the files of a damaged database, and creates a new one. The caller holds the lock of the home.
  private static func rename(_ home: ServiceHome, to target: String) throws -> Outcome {
    guard let facts = try FileMetadata.inspect(home.database), facts.isFile, isDamaged(home) else {
      return .notDamaged
    }
    for suffix in ["-wal", "-journal", "-shm", ""]
    where try FileMetadata.inspect(home.database + suffix) != nil {
      try Directory.rename(home.database + suffix, to: target + suffix)
    }
    try Directory.sync(home.path)
    try createEmpty(home)
    return .done
  }

  /// Creates the new database now and not at the next start, because a missing database of an open bank counts as
  /// removed by mistake.
  private static func createEmpty(_ home: ServiceHome) throws {
    let store = try SQLiteVendingStore(path: home.database)
    _ = try store.load(newMachine: Int64(bitPattern: RandomSeed.fromSystem() >> 1))
    try store.close()
  }

  /// True if the database shows damage when it is opened, loaded or audited.
  private static func isDamaged(_ home: ServiceHome) -> Bool {
    do throws(Failure) { try home.examineDatabase() } catch { return true }
    do throws(StoreError) {
      let store = try SQLiteVendingStore(path: home.database)
      _ = try store.load(newMachine: 1)
      let isWhole = try store.audit().problems.isEmpty
      try store.close()
      return !isWhole
    } catch {
      if case .damaged = error { return true }
      return false
    }
  }
}
