// Owns the disk of the simulated vending machine as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. It must not know a rule of the machine.
// Invariant: a process that was killed keeps nothing more.

import BankModel
import QueueCore
import Storage
import Time
import VendingCore

/// The store of a simulated vending machine.
final class SimulatedVendingStore: VendingStore, SimulatedDisk {
  unowned let world: Simulation
  unowned let process: SimulatedProcess
  private let disk: MemoryVendingStore
  var isOwed = false

  init(_ disk: MemoryVendingStore, of process: SimulatedProcess, in world: Simulation) {
    self.disk = disk
    self.process = process
    self.world = world
  }

  func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try disk.load(newMachine: machine)
  }

  func stage(_ entry: VendingEntry) throws(StoreError) {
    try requireLife()
    world.meetVendingDisk(isCommit: false)
    try disk.stage(entry)
    world.checker.vending.staged(entry)
  }

  var hasStagedChanges: Bool { disk.hasStagedChanges }

  static let name = "vending"
  static let bugs = (
    answersTooEarly: PlantedBug.vendingAnswersTooEarly, believesAFullDisk: PlantedBug.vendingBelievesAFullDisk
  )

  func timeOfCommit() -> TimeSpan { world.timeOfVendingCommit() }

  func commitMemory() throws(StoreError) {
    world.meetVendingDisk(isCommit: true)
    try disk.commit()
  }

  func rollBackMemory() { disk.rollBack() }

  func noteCommit() {
    world.statistics.vendingCommits += 1
    world.checker.vending.committed()
  }

  func noteLoss() { world.checker.vending.forgotten() }

  func request(_ id: OrderID) throws(StoreError) -> StoredRequest? {
    try requireLife()
    return try disk.request(id)
  }

  func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try requireLife()
    return try disk.purchases(after: sequence, limit: limit)
  }

  func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try disk.latestPurchases(limit: limit)
  }

  func sales() throws(StoreError) -> [ProductSales] { try disk.sales() }

  func audit() throws(StoreError) -> VendingAudit {
    try requireLife()
    return try disk.audit()
  }
}
