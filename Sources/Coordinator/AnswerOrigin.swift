// Origins of answers to clients. A client may rely on an answer after a crash, so an answer that quotes the store must
// come from a place that shows only what is on disk.

import Wire

/// Where the facts of an answer come from.
package enum AnswerOrigin: Sendable {
  /// Variables of this process, such as counts and window states, which may be ahead of the disk.
  case memory
  /// The result of a transaction that the store has reported as committed.
  case commit
  /// A read of the store on this process's connection, which also shows staged changes and transactions in flight.
  case read
  /// A read by a process with its own connection, which sees committed rows.
  case reader
}

extension QueueDriver {
  /// True if facts of this origin are on disk now; false for those in memory.
  func isOnDisk(_ origin: AnswerOrigin, isShared: Bool) -> Bool {
    switch origin {
    case .memory: false
    case .commit: isReplying
    case .read: engine.isDurable
    case .reader: isShared
    }
  }
}

extension ControlAnswer {
  /// True if a client may rely on the answer after a crash, so that its facts must be on disk.
  ///
  /// Counts in status and progress reports may be ahead of the disk. Refusals are not checked: most of them quote
  /// nothing from the store.
  var quotesDurableState: Bool {
    switch self {
    case .enqueued, .tickets, .ticket, .receipts, .ended, .requeued, .stopped, .audit, .ledger, .account,
      .selection:
      true
    case .failure, .status, .event, .progress, .board, .branches, .moved: false
    }
  }
}
