// Owns the disk of the simulated stock service as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. Invariant: a process that was killed keeps nothing more.
import BankModel
import QueueCore
import StockCore
import Storage

final class SimulatedStockStore: StockStore, SimulatedDisk {
  static let name = "stock"
  static let bugs = (
    answersTooEarly: PlantedBug.stockAnswersTooEarly, believesAFullDisk: PlantedBug.stockBelievesAFullDisk
  )

  unowned let world: Simulation
  unowned let process: SimulatedProcess
  var memory: MemoryStockStore { world.stockDisk }
  var isOwed = false
  private let onProgress: () -> Void

  init(of process: SimulatedProcess, in world: Simulation, onProgress: @escaping () -> Void) {
    (self.onProgress, self.process, self.world) = (onProgress, process, world)
  }

  func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock { try memory.load(newLedger: ledger) }

  func stage(_ entry: StockEntry) throws(StoreError) {
    try alive().stage(entry)
    world.checker.stock.staged(entry)
  }

  func timeOfCommit() -> TimeSpan { world.timeOfStockCommit() }
  func meetCommit() { world.meetStockDisk() }
  func noteLoss() { world.checker.stock.forgotten() }

  func noteCommit() {
    world.statistics.stockCommits += 1
    world.checker.stock.committed()
  }

  func order(_ id: OrderID) throws(StoreError) -> StoredOrder? { try alive().order(id) }

  func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [KeptOrder] {
    try alive().orders(after: id, limit: limit)
  }

  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try alive().changes(after: sequence, limit: limit)
  }

  func audit() throws(StoreError) -> StockAudit {
    _ = try alive()
    let end = process.clock + world.timeOfStockAudit()
    while process.clock < end {
      process.work(min(end.since(process.clock), .milliseconds(500)))
      onProgress()
      _ = try alive()
    }
    return try memory.audit()
  }
}
