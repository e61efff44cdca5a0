// Owns the disk of the simulated stock service as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. It must not know a rule of the stock.
// Invariant: a process that was killed keeps nothing more.

import BankModel
import QueueCore
import StockCore
import Storage
import Time

/// The store of a simulated stock service.
final class SimulatedStockStore: StockStore, SimulatedDisk {
  unowned let world: Simulation
  unowned let process: SimulatedProcess
  private let disk: MemoryStockStore
  /// Told now and then that a long work goes on.
  private let onProgress: () -> Void
  var isOwed = false

  init(
    _ disk: MemoryStockStore, of process: SimulatedProcess, in world: Simulation,
    onProgress: @escaping () -> Void
  ) {
    self.disk = disk
    self.onProgress = onProgress
    self.process = process
    self.world = world
  }

  func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock { try disk.load(newLedger: ledger) }

  func stage(_ entry: StockEntry) throws(StoreError) {
    try requireLife()
    try disk.stage(entry)
    world.checker.stock.staged(entry)
  }

  var hasStagedChanges: Bool { disk.hasStagedChanges }

  static let name = "stock"
  static let bugs = (
    answersTooEarly: PlantedBug.stockAnswersTooEarly, believesAFullDisk: PlantedBug.stockBelievesAFullDisk
  )

  func timeOfCommit() -> TimeSpan { world.timeOfStockCommit() }

  func commitMemory() throws(StoreError) {
    world.meetStockDisk()
    try disk.commit()
  }

  func rollBackMemory() { disk.rollBack() }

  func noteCommit() {
    world.statistics.stockCommits += 1
    world.checker.stock.committed()
  }

  func noteLoss() { world.checker.stock.forgotten() }

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
    let end = process.clock + world.timeOfStockAudit()
    while process.clock < end {
      process.work(min(end.since(process.clock), .milliseconds(500)))
      onProgress()
      try requireLife()
    }
    return try disk.audit()
  }
}
