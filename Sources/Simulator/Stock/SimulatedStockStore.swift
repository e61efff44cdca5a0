// Owns the disk of the simulated stock service as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. It must not know a rule of the stock.
// Invariant: a process that was killed keeps nothing more.

import BankModel
import QueueCore
import StockCore
import Storage

/// The store of a simulated stock service.
final class SimulatedStockStore: StockStore {
  private unowned let world: Simulation
  private unowned let process: SimulatedProcess
  private let disk: MemoryStockStore
  /// What a planted bug has said to be on disk, and is not yet.
  private(set) var isOwed = false

  init(_ disk: MemoryStockStore, of process: SimulatedProcess, in world: Simulation) {
    self.disk = disk
    self.process = process
    self.world = world
  }

  private func requireLife() throws(StoreError) {
    guard process.survives() else { throw .failed(path: "stock", detail: "the process is dead") }
  }

  func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock { try disk.load(newLedger: ledger) }

  func stage(_ entry: StockEntry) throws(StoreError) {
    try requireLife()
    try disk.stage(entry)
    world.checker.stock.staged(entry)
  }

  var hasStagedChanges: Bool { disk.hasStagedChanges }

  func commit() throws(StoreError) {
    try requireLife()
    process.spend(world.timeOfStockCommit())
    if world.bug == .stockAnswersTooEarly {
      isOwed = true
      return
    }
    try commitNow()
  }

  private func commitNow() throws(StoreError) {
    do throws(StoreError) {
      world.meetStockDisk()
      try disk.commit()
    } catch {
      guard case .diskFull = error else {
        if case .damaged(_, let detail) = error { world.violate(.storeContradiction, "the stock: \(detail)") }
        throw error
      }
      guard world.bug == .stockBelievesAFullDisk else { throw error }
      disk.rollBack()
      world.checker.stock.forgotten()
    }
    world.statistics.stockCommits += 1
    world.checker.stock.committed()
    world.trace.line(process.clock, "  stock: committed")
  }

  /// A planted bug: what was said to be on disk is put there when everything was answered.
  func payOff() {
    guard isOwed, process.survives() else { return }
    isOwed = false
    try? commitNow()
  }

  func rollBack() {
    disk.rollBack()
    world.checker.stock.forgotten()
  }

  func order(_ id: OrderID) throws(StoreError) -> StoredOrder? {
    try requireLife()
    return try disk.order(id)
  }

  func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [KeptOrder] {
    try requireLife()
    return try disk.orders(after: id, limit: limit)
  }

  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try requireLife()
    return try disk.changes(after: sequence, limit: limit)
  }

  func audit() throws(StoreError) -> StockAudit {
    try requireLife()
    return try disk.audit()
  }
}
