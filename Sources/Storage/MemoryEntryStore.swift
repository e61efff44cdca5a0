// Common part of the in-memory stores of the service processes, for tests and simulated histories, with
// injected crashes and failures.
// Invariant: staged changes are made to a copy, so a rollback only drops the copy.

import BankModel
import QueueCore

/// Store of a service process in memory, for tests and simulated histories.
public class MemoryEntryStore<Contents> {
  /// Content including staged entries.
  final var contents: Contents
  /// Content of the last commit.
  private(set) final var committed: Contents
  /// Errors of the next commit, the next entry and the next audit; nil for success.
  private var nextFailure, nextRefusal, nextAuditFailure: StoreError?
  /// True if the next commit that fails is durable nevertheless.
  private var persistsFailedCommit = false
  /// Error that has ended the use of the store; nil while the store works.
  private var end: StoreError?

  /// True if entries were staged since the last commit.
  public private(set) final var hasStagedChanges = false

  /// Number of audits.
  public private(set) final var audits = 0

  init(empty contents: Contents) { (self.contents, committed) = (contents, contents) }

  /// Makes the next commit fail. With `isKept` its data is durable nevertheless, as after an fsync with an
  /// unknown outcome.
  public final func failCommit(with error: StoreError, isKept: Bool = false) {
    (nextFailure, persistsFailedCommit) = (error, isKept)
  }

  /// Makes the next entry fail. All staged entries are dropped then.
  public final func failStage(with error: StoreError) { nextRefusal = error }
  /// Makes the next audit throw this error.
  public final func failAudit(with error: StoreError) { nextAuditFailure = error }

  /// Simulates a kill of the process: uncommitted changes are lost, and the store can be loaded again.
  public final func crash() {
    (end, nextFailure, nextRefusal) = (nil, nil, nil)
    rollBack()
  }

  /// Checks that the store can be loaded now.
  final func beginLoading() throws(StoreError) {
    try requireHealth()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
  }

  /// Checks that an audit can run now, and counts it.
  final func beginAudit() throws(StoreError) {
    try requireHealth()
    if let error = nextAuditFailure.take() { throw error }
    audits += 1
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
  }

  /// Runs `write`, which changes ``contents``, and rolls back if it fails.
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

  /// Makes all staged entries durable. See `EntryStore`.
  public final func commit() throws(StoreError) {
    try requireHealth()
    if let error = nextFailure.take() {
      if persistsFailedCommit { committed = contents }
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

  /// Drops all entries staged since the last commit.
  public final func rollBack() {
    contents = committed
    hasStagedChanges = false
  }

  /// Throws the error that has ended the use of the store, if there is one.
  final func requireHealth() throws(StoreError) { if let end { throw end } }
  final func damage(_ detail: MessageDetail) -> StoreError { .damaged(path: "memory", detail: detail) }
}
