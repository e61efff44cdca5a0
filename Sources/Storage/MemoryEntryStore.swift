// Owns what the services' stores in memory have in common, for tests and for simulated histories: crashes and failures at
// will. Invariant: what was staged and not committed is a copy beside what was, so taking it back is forgetting it.

import BankModel
import QueueCore

/// A store that forgets everything when the process ends, and before that only what it is told to. Written for plainness
/// and not for speed.
public class MemoryEntryStore<Contents> {
  final var contents: Contents
  private(set) final var committed: Contents
  /// The errors that the next commit, the next entry and the next audit meet; nil for none.
  private var nextFailure, nextRefusal, nextAuditFailure: StoreError?
  private var keepsFailed = false
  private var end: StoreError?

  /// Whether anything was staged since the last commit.
  public private(set) final var hasStagedChanges = false

  /// How often everything was checked.
  public private(set) final var audits = 0

  init(empty contents: Contents) { (self.contents, committed) = (contents, contents) }

  /// Makes the next commit fail. One that is kept is on disk all the same, as after an fsync of which nobody knows.
  public final func failCommit(with error: StoreError, isKept: Bool = false) {
    (nextFailure, keepsFailed) = (error, isKept)
  }

  /// Makes the next entry fail, and with it everything that was staged before it.
  public final func failStage(with error: StoreError) { nextRefusal = error }
  /// Makes the next audit fail.
  public final func failAudit(with error: StoreError) { nextAuditFailure = error }

  /// The process that used this store was killed: what was not committed is gone, and the store can be loaded again.
  public final func crash() {
    (end, nextFailure, nextRefusal) = (nil, nil, nil)
    rollBack()
  }

  final func beginLoading() throws(StoreError) {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
  }

  final func beginAudit() throws(StoreError) {
    try requireHealth()
    if let error = nextAuditFailure.take() { throw error }
    audits += 1
    precondition(!hasStagedChanges, "An audit looks at what is committed: commit or roll back first.")
  }

  final func stage(_ write: () throws(StoreError) -> Void) throws(StoreError) {
    try requireHealth()
    hasStagedChanges = true
    do throws(StoreError) {
      if let error = nextRefusal.take() { throw error }
      try write()
    } catch {
      rollBack()
      throw error
    }
  }

  /// Keeps everything that was staged. See `EntryStore`.
  public final func commit() throws(StoreError) {
    try requireHealth()
    if let error = nextFailure.take() {
      if keepsFailed { committed = contents }
      rollBack()
      if case .failed = error { end = error }
      throw error
    }
    keep()
  }

  final func keep() {
    committed = contents
    hasStagedChanges = false
  }

  /// Forgets everything that was staged since the last commit.
  public final func rollBack() {
    contents = committed
    hasStagedChanges = false
  }

  final func requireHealth() throws(StoreError) { if let end { throw end } }
  final func damage(_ detail: Remark) -> StoreError { .damaged(path: "memory", detail: detail) }
}
