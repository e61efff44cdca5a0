// Owns what the stores of the services have in common: entries that are staged, committed, and written again where a full
// disk took them and room was made. Invariant: an entry is written whole or the transaction is gone.

import QueueCore

/// A store in a SQLite database to which entries are added.
public class EntryDatabaseStore<Entry>: DatabaseStore {
  private var staged: [Entry] = []
  /// Whether the store was read, before which nothing is staged.
  final var isLoaded = false

  func write(_ entry: Entry) throws(StoreError) {
    preconditionFailure("Every kind of store has rows of its own.")
  }
  func settle() {}
  func unsettle() {}
  /// Whether anything was staged since the last commit.
  public final var hasStagedChanges: Bool { transactions.isOpen }

  /// Adds to the open transaction. See `EntryStore`.
  ///
  /// - Throws: `.diskFull`, or `.damaged` where a promise would be broken, such as by a second order of the same name.
  public final func stage(_ entry: Entry) throws(StoreError) {
    try transactions.requireHealth()
    precondition(isLoaded, "A store is loaded before anything is staged.")
    staged.append(entry)
    try attempt { isAgain throws(StoreError) in
      for entry in isAgain ? staged[...] : staged.suffix(1) { try write(entry) }
    }
  }

  /// Returns when everything that was staged is on disk. See `EntryStore`.
  public final func commit() throws(StoreError) {
    try transactions.requireHealth()
    guard hasStagedChanges else { return }
    try attempt { isAgain throws(StoreError) in
      if isAgain { for entry in staged { try write(entry) } }
      try transactions.commit()
    }
    settle()
    staged.removeAll(keepingCapacity: true)
    room.committed()
    if try transactions.checkpointIfDue() { room.ease() }
  }

  /// Forgets everything that was staged since the last commit.
  public final func rollBack() {
    transactions.rollBack()
    unsettle()
    staged.removeAll(keepingCapacity: true)
  }

  /// Writes named numbers of a new store, `('name', 1), …`, in a transaction of their own.
  final func begin(_ notes: String, while purpose: StaticString) throws(StoreError) {
    try attempt { _ throws(StoreError) in
      try database.execute("INSERT OR IGNORE INTO meta VALUES \(notes)", while: purpose)
      try transactions.commit()
    }
  }

  /// Does something with the open transaction, and again with everything that was staged where room was made for it.
  private func attempt(_ body: (_ isAgain: Bool) throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try transactions.attempt(undo: unsettle, body) } catch {
      staged.removeAll(keepingCapacity: true)
      throw error
    }
  }
}
