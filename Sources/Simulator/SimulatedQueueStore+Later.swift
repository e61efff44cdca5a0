// Transactions on a slow disk. A transaction is handed over, is in flight, and is written to this history's disk when
// it is due. If its process exits first, it is written at the exit or lost.
// Invariant: the checker receives a transaction and its changes when it is written, not when it is handed over.
import BankModel
import QueueCore
import Storage
import Time

extension SimulatedQueueStore {
  /// Hands over the open transaction to the slow disk.
  func submit(
    _ dayCounters: DayCounters, _ arriving: InProgressEnqueue?, to slowDisk: SlowDisk
  ) throws(StoreError) -> CommitProgress {
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    let before = slowDisk.underway.count
    let progress = try slowDisk.submit(
      dayCounters, arriving: arriving, at: process.clock, world.takeSlowCommit())
    guard progress == .underway else { return progress }
    world.statistics.commitsUnderway += 1
    if before > 0 { world.statistics.pipelinedCommits += 1 }
    world.trace.line(process.clock, "  sent, \(before) before it")
    return progress
  }

  /// Writes the oldest transaction in flight to the disk, and returns `.committed`; nil if none is due.
  func takeResult() throws(StoreError) -> QueueEvent? {
    guard let slowDisk, let next = slowDisk.underway.first, next.due <= process.clock else { return nil }
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    do throws(StoreError) { try write(next) { world.applyDiskFault(.commit) } } catch {
      disk.rollBack()
      world.checker.rolledBack()
      if slowDisk.underway.count > 1 { world.statistics.refusedPipelinedCommits += 1 }
      slowDisk.rollBack()
      throw error
    }
    try slowDisk.takeFirst()
    world.trace.line(process.clock, "  committed, \(slowDisk.underway.count) in flight")
    return .committed
  }

  /// Lets the process wait until its last transaction in flight is due.
  func awaitResults() {
    guard let last = slowDisk?.underway.last?.due, last > process.clock else { return }
    process.spend(last.since(process.clock))
  }

  /// Time when the oldest transaction in flight is due; nil if none is in flight.
  var nextResult: MonotonicTime? { slowDisk?.underway.first?.due }

  /// Writes a prefix of the transactions in flight to the disk, because the process has exited.
  func processEnded() {
    world.disk.shown = nil
    guard let slowDisk else { return }
    if slowDisk.hasStagedChanges { world.statistics.note(.commitLost) }
    let kept = slowDisk.drawKept()
    if kept > 0 {
      world.trace.line(world.clock.now, "  \(kept) of \(slowDisk.underway.count) in flight are kept")
    }
    if kept > 0, kept < slowDisk.underway.count { world.statistics.partlyKeptCommits += 1 }
    // An injected failure that the dead process did not reach does not apply to these transactions.
    world.disk.forgetFailures()
    for transaction in slowDisk.underway.prefix(kept) {
      do throws(StoreError) { try write(transaction) {} } catch {
        return world.violate(.storeContradiction, "a sent transaction cannot be written: \(error)")
      }
    }
  }

  /// Writes a transaction to this history's disk. `meet` injects a fault just before the commit.
  private func write(_ transaction: SlowDisk.Transaction, _ meet: () -> Void) throws(StoreError) {
    // If the disk was short of space, result bytes were already omitted when the change was staged.
    let isLowOnSpace = disk.isLowOnSpace
    disk.isLowOnSpace = false
    defer { if isLowOnSpace { disk.isLowOnSpace = true } }
    for (staged, written) in transaction.changes {
      switch written {
      case .change(let change): try disk.stage(change)
      case .withdrawal(let limit): try disk.removeUnissuedCustomers(limit: limit)
      }
      if let staged { world.checker.staged(staged) }
    }
    meet()
    try disk.commit(transaction.dayCounters, arriving: transaction.arriving)
    world.checker.committed(transaction.dayCounters, in: disk)
  }
}
