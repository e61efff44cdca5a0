// Owns the disk of the simulated vending machine as its process meets it: the store in memory, with the time that a commit
// takes and with what goes wrong there. It must not know a rule of the machine.
// Invariant: a process that was killed keeps nothing more.

import BankModel
import QueueCore
import Storage
import VendingCore

/// The store of a simulated vending machine.
final class SimulatedVendingStore: VendingStore {
  private unowned let world: Simulation
  private unowned let process: SimulatedProcess
  private let disk: MemoryVendingStore
  /// What a planted bug has said to be on disk, and is not yet.
  private var isOwed = false

  init(_ disk: MemoryVendingStore, of process: SimulatedProcess, in world: Simulation) {
    self.disk = disk
    self.process = process
    self.world = world
  }

  private func requireLife() throws(StoreError) {
    guard process.survives() else { throw .failed(path: "vending", detail: "the process is dead") }
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

  func commit() throws(StoreError) {
    try requireLife()
    process.spend(world.timeOfVendingCommit())
    if world.bug == .vendingAnswersTooEarly {
      isOwed = true
      return
    }
    try commitNow()
  }

  private func commitNow() throws(StoreError) {
    do throws(StoreError) {
      world.meetVendingDisk(isCommit: true)
      try disk.commit()
    } catch {
      guard case .diskFull = error else {
        if case .damaged(_, let detail) = error {
          world.violate(.storeContradiction, "the machine: \(detail)")
        }
        throw error
      }
      guard world.bug == .vendingBelievesAFullDisk else { throw error }
      disk.rollBack()
      world.checker.vending.forgotten()
    }
    world.statistics.vendingCommits += 1
    world.checker.vending.committed()
    world.trace.line(process.clock, "  vending: committed")
  }

  /// A planted bug: what was said to be on disk is put there when everything was answered.
  func payOff() {
    guard isOwed, process.survives() else { return }
    isOwed = false
    try? commitNow()
  }

  func rollBack() {
    disk.rollBack()
    world.checker.vending.forgotten()
  }

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
