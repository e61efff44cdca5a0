// Owns the disk of the simulated vending machine as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. Invariant: a process that was killed keeps nothing more.
import BankModel
import QueueCore
import Storage
import VendingCore

final class SimulatedVendingStore: VendingStore, SimulatedDisk {
  static let name = "vending"
  static let bugs = (
    answersTooEarly: PlantedBug.vendingAnswersTooEarly, believesAFullDisk: PlantedBug.vendingBelievesAFullDisk
  )

  unowned let world: Simulation
  unowned let process: SimulatedProcess
  var memory: MemoryVendingStore { world.vending.disk }
  var isOwed = false

  init(of process: SimulatedProcess, in world: Simulation) { (self.process, self.world) = (process, world) }

  func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try memory.load(newMachine: machine)
  }

  func stage(_ entry: VendingEntry) throws(StoreError) {
    _ = try alive()
    world.meetVendingDisk(isCommit: false)
    try memory.stage(entry)
    world.checker.vending.staged(entry)
  }

  func timeOfCommit() -> TimeSpan { world.timeOfVendingCommit() }
  func meetCommit() { world.meetVendingDisk(isCommit: true) }
  func noteLoss() { world.checker.vending.forgotten() }

  func noteCommit() {
    world.statistics.vendingCommits += 1
    world.checker.vending.committed()
  }

  func request(_ id: OrderID) throws(StoreError) -> StoredRequest? { try alive().request(id) }

  func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try alive().purchases(after: sequence, limit: limit)
  }

  func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try memory.latestPurchases(limit: limit)
  }

  func sales() throws(StoreError) -> [ProductSales] { try memory.sales() }
  func audit() throws(StoreError) -> VendingAudit { try alive().audit() }
}
