// Commits of staged changes and their consequences. With a store that confirms later, the bank continues to serve and
// stages into the next transaction meanwhile.
// Invariant: the machine receives `sealed` before anything else is staged, so the transactions of the machine match
// those of the store.

import BankModel
import Posix
import QueueCore
import Time

extension QueueDriver {
  /// Deadline of the next commit; at once if a client waits or `isImmediate` is true. Nil if there is nothing to
  /// commit, no commit is possible, or the limit of transactions in flight is reached.
  /// - Parameter isImmediate: True to commit in this iteration although no client waits.
  func commitDue(isImmediate: Bool) -> MonotonicTime? {
    guard machine.hasRoomUnderway else { return nil }
    return engine.due(
      hasUncommittedChanges: machine.isUnsealed,
      isAwaited: machine.hasRepliesToCommit || subscriptions.tickets.hasUnreportedCompletion || isImmediate)
  }

  /// Commits if the deadline has passed; see ``commitDue(isImmediate:)``.
  func commitIfDue(isImmediate: Bool) {
    guard let due = commitDue(isImmediate: isImmediate), due <= context.now.monotonic else { return }
    commit()
  }

  /// Commits everything that is staged, and notifies waiting clients if it is on disk. A store that confirms later only
  /// starts the commit. If the limit of transactions in flight is reached, their results are awaited first. If the
  /// store has had unconfirmed changes for too long, the results are awaited afterwards.
  func commit() {
    if !machine.hasRoomUnderway { awaitResults() }
    guard machine.hasRoomUnderway else { return }
    // If only the business time has changed, the commit can wait for the transactions in flight.
    guard engine.canCommit, !engine.isUnderway || engine.hasStaged || machine.isUnsealed else { return }
    let progress: CommitProgress
    do throws(StoreError) {
      progress = try engine.commit(machine.dayCounters, arriving: machine.arriving)
    } catch { return fail(error) }
    guard progress == .onDisk else { return startCommit() }
    subscriptions.confirmEvents()
    apply(.committed)
    notifyWaiters()
    updateDiskSpace()
  }

  /// Records that the store has started a commit whose result arrives later.
  private func startCommit() {
    subscriptions.sealEvents()
    if !Mutant.settlesUnsealedChanges.isActive { apply(.sealed) }
    updateDiskSpace()
    if engine.isDurableTooRarely { awaitResults() }
  }

  /// Handles the results that have arrived. First blocks until no transaction is in flight, except for a store on a
  /// remote server.
  func awaitResults() {
    engine.awaitResults()
    handleResults()
  }

  /// Handles the results that have arrived, and notifies waiting clients after each committed transaction: the effects
  /// of a transaction may change the answers to the clients of the next one.
  func handleResults() {
    while engine.mayHaveResults {
      let wasJammed = machine.isDiskFull
      var result: QueueEvent?
      do throws(StoreError) { result = try engine.takeResult() } catch { return fail(error) }
      guard let result else { return }
      guard case .committed = result else {
        if case .claimsLost = result {
          subscriptions.discardUncommittedEvents()
          inFlightTable?.markAllReturned()
        }
        process(result)
        continue
      }
      subscriptions.confirmEvents()
      apply(.committed)
      if wasJammed { logDiskAvailable() }
      notifyWaiters()
      updateDiskSpace()
    }
  }

  /// Notifies waiting clients before any effect is performed, and so before anything is staged. If no other
  /// transaction is in flight, the store now contains only what is on disk. A notified part may cause more
  /// effects, which are performed after the others.
  private func notifyWaiters() {
    isNotifying = true
    onCommitted()
    isNotifying = false
    perform()
  }
}
