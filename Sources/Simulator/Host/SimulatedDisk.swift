// Common part of the simulated services' disks: a commit takes time and may fail, and a killed process stores
// nothing more. A planted bug reports a commit before it is on disk.
import BankModel
import QueueCore
import StockCore
import Storage
import Time
import VendingCore

/// The store of a simulated service, with faults and the duration of commits.
protocol SimulatedDisk: EntryStore where Failure == StoreError {
  /// The store in memory that keeps what is on disk.
  associatedtype Memory: EntryStore<Entry, StoreError>

  var world: Simulation { get }
  var process: SimulatedProcess { get }
  var memory: Memory { get }
  /// True while a planted bug has reported a commit that is not on disk yet.
  var owesCommit: Bool { get set }
  static var name: String { get }
  /// Planted bugs: to report a commit before it is on disk, and to take a full disk for a success.
  static var bugs: (answersTooEarly: PlantedBug, believesAFullDisk: PlantedBug) { get }

  func commitDuration() -> TimeSpan
  /// Makes the next commit fail, if a fault is active.
  func applyCommitFault()
  /// Notifies the checker of a commit.
  func noteCommit()
  /// Notifies the checker that the staged changes were dropped.
  func noteLoss()
}

extension SimulatedDisk {
  var hasStagedChanges: Bool { memory.hasStagedChanges }

  /// Returns the store in memory. Throws if the process was killed, so that its calls have no effect.
  func alive() throws(StoreError) -> Memory {
    guard process.survives() else { throw .failed(path: Self.name, detail: "the process is dead") }
    return memory
  }

  /// Spends the duration of a commit, and then commits. A planted bug puts the commit off until the answers are sent.
  func commit() throws(StoreError) {
    _ = try alive()
    process.spend(commitDuration())
    owesCommit = world.bug == Self.bugs.answersTooEarly
    if !owesCommit { try commitNow() }
  }

  /// Commits in the store in memory, and notifies the checker.
  private func commitNow() throws(StoreError) {
    do throws(StoreError) {
      applyCommitFault()
      try memory.commit()
    } catch {
      guard case .diskFull = error else {
        if case .damaged(_, let detail) = error {
          world.violate(.storeContradiction, "\(Self.name): \(detail)")
        }
        if world.bug == .servicesTreatErrorAsDiskFull { throw .diskFull(detail: "a planted bug") }
        throw error
      }
      guard world.bug == Self.bugs.believesAFullDisk else { throw error }
      rollBack()
    }
    noteCommit()
    world.trace.line(process.clock, "  \(Self.name): committed")
  }

  /// For a planted bug: makes the commit that was reported too early, after the answers were sent.
  func makeOwedCommit() {
    guard owesCommit, process.survives() else { return }
    owesCommit = false
    try? commitNow()
  }

  func rollBack() {
    memory.rollBack()
    noteLoss()
  }
}

/// The stock service's disk as its process sees it: the store in memory, with the duration of commits and
/// with faults.
/// Invariant: a killed process stores nothing more.
final class SimulatedStockStore: StockStore, SimulatedDisk {
  static let name = "stock"
  static let bugs = (
    answersTooEarly: PlantedBug.stockAnswersBeforeSync, believesAFullDisk: PlantedBug.stockIgnoresDiskFull
  )

  unowned let world: Simulation
  unowned let process: SimulatedProcess
  var memory: MemoryStockStore { world.stockDisk }
  var owesCommit = false
  private let onProgress: () -> Void

  init(of process: SimulatedProcess, in world: Simulation, onProgress: @escaping () -> Void) {
    (self.onProgress, self.process, self.world) = (onProgress, process, world)
  }

  /// Returns what the stock starts from. In a new store, `ledger` becomes the number of its ledger.
  func load(newLedger ledger: Int64) throws(StoreError) -> StoredStock { try memory.load(newLedger: ledger) }

  /// Stages an entry of the stock, and passes it to the checker.
  func stage(_ entry: StockEntry) throws(StoreError) {
    try alive().stage(entry)
    world.checker.stock.staged(entry)
  }

  func commitDuration() -> TimeSpan { world.stockCommitDuration() }
  /// Makes the next commit fail if a fault of the stock's disk is due.
  func applyCommitFault() { world.applyStockDiskFault() }
  /// Notifies the checker that the staged changes were dropped.
  func noteLoss() { world.checker.stock.rolledBack() }

  func noteCommit() {
    world.statistics.stockCommits += 1
    world.checker.stock.committed()
  }

  func order(_ id: OrderID) throws(StoreError) -> StoredOrder? { try alive().order(id) }

  /// The next orders that the stock has answered, by ID.
  func orders(after id: OrderID?, limit: Int) throws(StoreError) -> [OrderRecord] {
    try alive().orders(after: id, limit: limit)
  }

  /// The next rows of the stock's ledger.
  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [StockChange] {
    try alive().changes(after: sequence, limit: limit)
  }

  /// Audits the stock, which takes the drawn time and reports progress meanwhile.
  func audit() throws(StoreError) -> StockAudit {
    _ = try alive()
    let end = process.clock + world.stockAuditDuration()
    while process.clock < end {
      process.work(min(end.since(process.clock), .milliseconds(500)))
      onProgress()
      _ = try alive()
    }
    return try memory.audit()
  }
}

/// The vending machine's disk as its process sees it: the store in memory, with the duration of commits and
/// with faults.
/// Invariant: a killed process stores nothing more.
final class SimulatedVendingStore: VendingStore, SimulatedDisk {
  static let name = "vending"
  static let bugs = (
    answersTooEarly: PlantedBug.vendingAnswersBeforeSync, believesAFullDisk: PlantedBug.vendingIgnoresDiskFull
  )

  unowned let world: Simulation
  unowned let process: SimulatedProcess
  var memory: MemoryVendingStore { world.vending.disk }
  var owesCommit = false

  init(of process: SimulatedProcess, in world: Simulation) { (self.process, self.world) = (process, world) }

  /// Returns what the machine starts from. In a new store, `machine` becomes the number of the machine.
  func load(newMachine machine: Int64) throws(StoreError) -> StoredVending {
    try memory.load(newMachine: machine)
  }

  /// Stages an entry of the machine, and passes it to the checker. A full disk may refuse it.
  func stage(_ entry: VendingEntry) throws(StoreError) {
    _ = try alive()
    world.applyVendingDiskFault(isCommit: false)
    try memory.stage(entry)
    world.checker.vending.staged(entry)
  }

  func commitDuration() -> TimeSpan { world.vendingCommitDuration() }
  /// Makes the next commit fail if a fault of the machine's disk is due.
  func applyCommitFault() { world.applyVendingDiskFault(isCommit: true) }
  /// Notifies the checker that the staged changes were dropped.
  func noteLoss() { world.checker.vending.rolledBack() }

  func noteCommit() {
    world.statistics.vendingCommits += 1
    world.checker.vending.committed()
  }

  func request(_ id: OrderID) throws(StoreError) -> StoredRequest? { try alive().request(id) }

  /// The next completed purchases after a row of the ledger.
  func purchases(after sequence: Int64, limit: Int) throws(StoreError) -> [MoneyChange] {
    try alive().purchases(after: sequence, limit: limit)
  }

  func latestPurchases(limit: Int) throws(StoreError) -> [MoneyChange] {
    try memory.latestPurchases(limit: limit)
  }

  /// Number of purchases of each product.
  func sales() throws(StoreError) -> [ProductSales] { try memory.sales() }
  func audit() throws(StoreError) -> VendingAudit { try alive().audit() }
}
