// Transactions on a slow disk. A transaction is handed over, is in flight, and is written to this history's disk when
// it is due. If its process is killed first, it is either written at that time or lost.
// Invariant: the checker receives a transaction and its changes when it is on disk, not before.
import BankModel
import QueueCore
import Storage
import Time

extension SimulatedQueueStore {
  func handOver(
    _ books: Books, _ arriving: ArrivingRequest?, to slow: SlowDisk
  ) throws(StoreError) -> CommitProgress {
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    let before = slow.underway.count
    let progress = try slow.handOver(books, arriving: arriving, at: process.clock, world.takeSlowCommit())
    guard progress == .underway else { return progress }
    world.statistics.commitsUnderway += 1
    if before > 0 { world.statistics.commitsBesideOthers += 1 }
    world.trace.line(process.clock, "  sent, \(before) before it")
    return progress
  }

  func takeResult() throws(StoreError) -> QueueEvent? {
    guard let slow, let next = slow.underway.first, next.due <= process.clock else { return nil }
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    do throws(StoreError) { try write(next) { world.meetDisk(.commit) } } catch {
      disk.rollBack()
      world.checker.rolledBack()
      if slow.underway.count > 1 { world.statistics.refusedBesideOthers += 1 }
      slow.rollBack()
      throw error
    }
    try slow.takeFirst()
    world.trace.line(process.clock, "  committed, \(slow.underway.count) in flight")
    return .committed
  }

  func awaitResults() {
    guard let last = slow?.underway.last?.due, last > process.clock else { return }
    process.spend(last.since(process.clock))
  }

  var nextResult: MonotonicTime? { slow?.underway.first?.due }

  /// The process has exited: a prefix of its transactions in flight has reached the disk.
  func processEnded() {
    world.disk.shown = nil
    guard let slow else { return }
    if slow.hasStagedChanges { world.statistics.note(.commitLost) }
    let kept = slow.drawKept()
    if kept > 0 {
      world.trace.line(world.clock.now, "  \(kept) of \(slow.underway.count) in flight are kept")
    }
    if kept > 0, kept < slow.underway.count { world.statistics.keptInPart += 1 }
    // An injected failure that the dead process did not reach does not apply to these transactions.
    world.disk.forgetFailures()
    for transaction in slow.underway.prefix(kept) {
      do throws(StoreError) { try write(transaction) {} } catch {
        return world.violate(.storeContradiction, "a sent transaction cannot be written: \(error)")
      }
    }
  }

  private func write(_ transaction: SlowDisk.Transaction, _ meet: () -> Void) throws(StoreError) {
    // If the disk was short of space, result bytes were already omitted when the change was staged.
    let isShort = disk.isShort
    disk.isShort = false
    defer { if isShort { disk.isShort = true } }
    for (staged, written) in transaction.changes {
      switch written {
      case .change(let change): try disk.stage(change)
      case .withdrawal(let limit): try disk.withdrawArrivals(limit: limit)
      }
      if let staged { world.checker.staged(staged) }
    }
    meet()
    try disk.commit(transaction.books, arriving: transaction.arriving)
    world.checker.committed(transaction.books, in: disk)
  }
}
