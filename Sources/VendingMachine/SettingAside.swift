// Owns how a damaged database of the vending machine is put out of the way, which happens when an operator asks for it
// and never otherwise. It decides by opening the database: one that is whole stays where it is.
// Invariant: not a byte of the file is changed; it has another name afterwards, with everything that belongs to it.
// Failure: an exit code that tells what kept it from being done, and a sentence on standard error.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Transport
import Wire

enum SettingAside {
  /// The exit codes of a process that was asked to.
  enum Outcome: Int32 {
    case done = 0
    case failed = 1
    /// The database is whole, or there is none.
    case notDamaged = 3
    /// A machine has it open.
    case inUse = 4
  }

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

  private static func rename(_ home: ServiceHome, to target: String) throws -> Outcome {
    guard let facts = try FileFacts.inspect(home.database), facts.isFile, isDamaged(home) else {
      return .notDamaged
    }
    for suffix in ["-wal", "-journal", "-shm", ""] where try FileFacts.inspect(home.database + suffix) != nil
    {
      try Directory.rename(home.database + suffix, to: target + suffix)
    }
    try Directory.sync(home.path)
    try beginAnew(home)
    return .done
  }

  /// The machine begins anew here and not when it is opened next: a database that is missing under an open bank is one that
  /// somebody has removed.
  private static func beginAnew(_ home: ServiceHome) throws {
    let store = try SQLiteVendingStore(path: home.database)
    _ = try store.load(newMachine: Int64(bitPattern: RandomSeed.fromSystem() >> 1))
    try store.close()
  }

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
