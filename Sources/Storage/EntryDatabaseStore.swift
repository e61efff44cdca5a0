// Common part of the stores of the service processes. Entries are staged and committed. If the disk is full and
// space can be freed, they are staged again.
// Invariant: an entry is written completely, or the transaction is rolled back.

import QueueCore

/// A store in a SQLite database to which entries are added.
public class EntryDatabaseStore<Entry>: DatabaseStore {
  /// Entries of the open transaction.
  private var staged: [Entry] = []
  /// True after the store was loaded. Nothing may be staged before.
  final var isLoaded = false

  /// Writes the rows of one entry in the open transaction. A subclass overrides it.
  func write(_ entry: Entry) throws(StoreError) {
    preconditionFailure("Every kind of store has its own rows.")
  }
  /// Called after a commit, so that a subclass can adopt its staged state.
  func markCommitted() {}
  /// Called after a rollback, so that a subclass can drop its staged state.
  func discardUncommitted() {}
  /// True if entries were staged since the last commit.
  public final var hasStagedChanges: Bool { transactions.isOpen }

  /// Adds an entry to the open transaction. See `EntryStore`.
  ///
  /// - Throws: `.diskFull`; `.damaged` if an invariant would be violated, for example by a second order with the
  ///   same id; `.failed`, which ends the use of the store.
  public final func stage(_ entry: Entry) throws(StoreError) {
    try transactions.requireHealth()
    precondition(isLoaded, "A store is loaded before anything is staged.")
    staged.append(entry)
    try attempt { isAgain throws(StoreError) in
      for entry in isAgain ? staged[...] : staged.suffix(1) { try write(entry) }
    }
  }

  /// Makes all staged entries durable. See `EntryStore`.
  public final func commit() throws(StoreError) {
    try transactions.requireHealth()
    guard hasStagedChanges else { return }
    try attempt { isAgain throws(StoreError) in
      if isAgain { for entry in staged { try write(entry) } }
      try transactions.commit()
    }
    markCommitted()
    staged.removeAll(keepingCapacity: true)
    reservedSpace.committed()
    if try transactions.checkpointIfDue() { reservedSpace.shrink() }
  }

  /// Drops all entries staged since the last commit.
  public final func rollBack() {
    transactions.rollBack()
    discardUncommitted()
    staged.removeAll(keepingCapacity: true)
  }

  /// Writes named numbers that are not stored yet, in the form `('name', 1), …`, in their own transaction.
  final func begin(_ notes: String, while purpose: StaticString) throws(StoreError) {
    try attempt { _ throws(StoreError) in
      try database.execute("INSERT OR IGNORE INTO meta VALUES \(notes)", while: purpose)
      try transactions.commit()
    }
  }

  /// Runs an operation in the open transaction. After a full disk for which space was freed, runs it again with
  /// all staged entries.
  private func attempt(_ body: (_ isAgain: Bool) throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try transactions.attempt(undo: discardUncommitted, body) } catch {
      staged.removeAll(keepingCapacity: true)
      throw error
    }
  }
}
