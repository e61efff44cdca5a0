// The bank's disk for the coordinator's process: this history's disk, plus the duration of commits, the faults, and the
// reports to the checker. In some histories the disk is slow: a commit is handed over, and reaches the disk when it is
// due.
// Invariant: a killed process stores nothing more. A failed change or commit rolls back the open transaction.
import BankModel
import QueueCore
import Storage
import Time

final class SimulatedQueueStore: QueryingStore {
  unowned let world: Simulation
  unowned let process: SimulatedProcess
  /// The disk of this history, which outlives the process.
  var disk: QueueDisk { world.disk }
  /// Transactions in flight; nil unless the disk is slow.
  private(set) var slowDisk: SlowDisk?
  /// The store as the process reads it: transactions in flight count as written.
  private var shown: any LocalQueueStore { slowDisk?.shown ?? disk }

  init(of process: SimulatedProcess, _ number: Int, in world: Simulation) {
    (self.process, self.world) = (process, world)
    guard world.hasSlowDisk else { return }
    let slowDisk = SlowDisk(
      over: world.disk, world.plan.slowDisk, seed: world.seed &* 41 &+ UInt64(number))
    self.slowDisk = slowDisk
    world.disk.shown = slowDisk.shown
  }

  /// Runs a call of the store, with the faults of the disk. An error rolls back the open transaction.
  private func attempt<Result>(
    _ call: MemoryStore.Call, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    world.applyDiskFault(call)
    slowDisk?.shown.isLowOnSpace = disk.isLowOnSpace
    do throws(StoreError) { return try body() } catch {
      world.checker.rolledBack()
      throw error
    }
  }

  func load(now: WallTime) throws(StoreError) -> StoredQueue { try disk.load(now: now) }
  func recordStart(at now: WallTime) throws(StoreError) -> Int64 { try disk.recordStart(at: now) }

  var services: ServiceDirectory { disk.services }

  func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in
      try disk.assignNumbers(to: names)
      try slowDisk?.shown.assignNumbers(to: names)
    }
  }

  func stage(_ change: StoreChange) throws(StoreError) {
    process.spend(world.plan.timeOfChange)
    if let slowDisk {
      return try attempt(.stage) { () throws(StoreError) in try slowDisk.stage(change) }
    }
    try attempt(.stage) { () throws(StoreError) in try disk.stage(change) }
    world.checker.staged(change)
  }

  var hasStagedChanges: Bool { shown.hasStagedChanges }

  @discardableResult
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    if slowDisk == nil { process.spend(world.commitDuration()) }
    var dayCounters = dayCounters
    switch world.bug {
    case .reversesPriorities: dayCounters = PriorityMirror.mirrored(dayCounters)
    case .countsOneServedTooMany: dayCounters.served += 1
    default: break
    }
    if let slowDisk { return try submit(dayCounters, arriving, to: slowDisk) }
    _ = try attempt(.commit) { () throws(StoreError) in try disk.commit(dayCounters, arriving: arriving) }
    world.checker.committed(dayCounters, in: disk)
    world.trace.line(process.clock, "  committed")
    return .onDisk
  }

  var firstUnissuedTicket: TicketNumber? { shown.firstUnissuedTicket }

  func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in
      if let slowDisk {
        try slowDisk.removeUnissuedCustomers(limit: limit)
      } else {
        try disk.removeUnissuedCustomers(limit: limit)
      }
    }
  }

  /// Does nothing: the simulated disk copies its log after commits, at random.
  func runDeferredWork() {}
  var resetProgress: ResetProgress? { disk.resetProgress }

  func continueReset() throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in try disk.continueReset() }
  }

  func rollBack() {
    guard !process.isMarkedForTermination else { return }
    if let slowDisk { slowDisk.rollBack() } else { disk.rollBack() }
  }
  var isLowOnSpace: Bool { disk.isLowOnSpace }
  func refreshDiskSpace() { world.refreshDiskSpace() }
  func holdBack(forJuicesOf assortment: Assortment) { disk.holdBack(forJuicesOf: assortment) }
  func hasRoom(toMove customers: Int64) -> Bool { disk.hasRoom(toMove: customers) }

  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any LocalQueueStore) throws(StoreError) -> Answer,
    comparable: (Answer) -> Answer
  ) throws(StoreError) -> Answer { try body(shown) }

  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try attempt(.read) { () throws(StoreError) in try shown.page(of: line, after: after, limit: limit) }
  }

  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try attempt(.read) { () throws(StoreError) in try shown.find(ticket) }
  }

  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try attempt(.read) { () throws(StoreError) in try shown.customers(in: state, after: cursor, limit: limit)
    }
  }

  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    let ticket = world.bug == .assignsWrongPayload && world.hasCommands ? max(1, ticket - 1) : ticket
    return try attempt(.read) { () throws(StoreError) in try shown.payload(of: ticket) }
  }

  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try attempt(.read) { () throws(StoreError) in try shown.unreleased(after: ticket, limit: limit) }
  }
}
