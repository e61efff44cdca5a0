// Owns what ties an open bank to its home on disk besides the queue's store: the database's files, what these books remember of
// others, the lock, and whoever opens the bank again when this process dies. A bank without a home has none of it.

import Storage

/// What a coordinator has of its home.
struct HomeBindings {
  /// What the books remember of the databases beside them; nil where nobody remembers.
  var memory: SQLiteStore?
  /// What is done when the store's files are removed.
  var files: DatabaseFiles?
  /// The tie to whoever restarts this process when it dies.
  var guardianship: Guardianship?
  /// Closes the store and gives up the lock, when everything is kept and before the last word is spoken.
  var close: () -> Void = {}
  /// Takes the lock again, whose file was removed; false where somebody else has it at this moment.
  var retakeLock: () -> Bool = { true }
  /// Holds room back again, which was removed.
  var renewReserve: () -> Void = {}
  /// Sends standard error to the logs again, whose directory was removed and is there again.
  var renewLogs: () -> Void = {}
}
