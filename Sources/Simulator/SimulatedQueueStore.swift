// The bank's disk for the coordinator's process: this history's disk, plus the duration of commits, the faults, and the
// reports to the checker. In some histories the disk is slow: a commit is handed over, and reaches the disk when it is
// due.
// Invariant: a killed process cannot stage or commit. A failed change or commit rolls back the open transaction.
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

  /// Runs a call of the store, with the faults of the disk. After an error the checker drops the open transaction.
  private func attempt<Result>(
    _ call: MemoryStore.Call, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    makeOwedCommit()
    guard process.survives() else { throw .failed(path: "bank", detail: "the process is dead") }
    world.applyDiskFault(call)
    slowDisk?.shown.isLowOnSpace = disk.isLowOnSpace
    do throws(StoreError) { return try body() } catch {
      world.checker.rolledBack()
      if world.bug == .treatsStoreErrorAsDiskFull, case .failed(_, let detail) = error, process.survives() {
        throw .diskFull(detail: detail)
      }
      throw error
    }
  }

  /// Reads the stored queue for a start.
  func load(now: WallTime) throws(StoreError) -> StoredQueue { try disk.load(now: now) }
  /// Counts a start of a coordinator. Returns the number of starts.
  func recordStart(at now: WallTime) throws(StoreError) -> Int64 { try disk.recordStart(at: now) }

  var services: ServiceDirectory { disk.services }

  /// Gives numbers to services that have none yet.
  func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in
      try disk.assignNumbers(to: names)
      try slowDisk?.shown.assignNumbers(to: names)
    }
  }

  /// Adds a change to the open transaction, and reports it to the checker unless the disk is slow.
  func stage(_ change: StoreChange) throws(StoreError) {
    process.spend(world.plan.timeOfChange)
    if let slowDisk {
      return try attempt(.stage) { () throws(StoreError) in try slowDisk.stage(change) }
    }
    try attempt(.stage) { () throws(StoreError) in try disk.stage(change) }
    world.checker.staged(change)
  }

  var hasStagedChanges: Bool { owed == nil && shown.hasStagedChanges }

  /// Commits the open transaction, or hands it over to the slow disk.
  @discardableResult
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    makeOwedCommit()
    if world.bug == .reportsCommitTooEarly, slowDisk == nil, arriving == nil {
      owed = dayCounters
      return .onDisk
    }
    if slowDisk == nil { process.spend(world.commitDuration()) }
    var dayCounters = dayCounters
    switch world.bug {
    case .reversesPriorities: dayCounters = PriorityMirror.mirrored(dayCounters)
    case .countsOneServedTooMany: dayCounters.served += 1
    default: break
    }
    if let slowDisk { return try submit(dayCounters, arriving, to: slowDisk) }
    do throws(StoreError) {
      _ = try attempt(.commit) { () throws(StoreError) in try disk.commit(dayCounters, arriving: arriving) }
    } catch {
      guard case .diskFull = error, world.bug == .treatsDiskFullAsCommit else { throw error }
      return .onDisk
    }
    world.checker.committed(dayCounters, in: disk)
    world.trace.line(process.clock, "  committed")
    return .onDisk
  }

  /// The counters of a commit that a planted bug has reported and not made; nil for none.
  private var owed: DayCounters?

  /// Makes a commit that a planted bug has reported too early, after the answers were sent.
  func makeOwedCommit() {
    guard let dayCounters = owed else { return }
    owed = nil
    guard process.survives() else { return }
    process.spend(world.commitDuration())
    guard
      (try? attempt(.commit, { () throws(StoreError) in try disk.commit(dayCounters, arriving: nil) })) != nil
    else { return }
    world.checker.committed(dayCounters, in: disk)
  }

  var firstUnissuedTicket: TicketNumber? { shown.firstUnissuedTicket }

  /// Removes at most `limit` customers of a request that will never be complete.
  func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in
      if let slowDisk {
        try slowDisk.removeUnissuedCustomers(limit: limit)
      } else {
        try disk.removeUnissuedCustomers(limit: limit)
      }
    }
  }

  /// Does nothing: the simulated disk copies its log after commits.
  func runDeferredWork() {}
  var resetProgress: ResetProgress? { disk.resetProgress }

  func continueReset() throws(StoreError) {
    try attempt(.stage) { () throws(StoreError) in try disk.continueReset() }
  }

  /// Drops the open transaction; does nothing if the process is dead.
  func rollBack() {
    guard !process.isMarkedForTermination else { return }
    if let slowDisk { slowDisk.rollBack() } else { disk.rollBack() }
  }
  var isLowOnSpace: Bool { disk.isLowOnSpace }
  func refreshDiskSpace() { world.refreshDiskSpace() }
  /// Sets the disk space that is reserved for the shortages of each juice customer.
  func holdBack(forJuicesOf assortment: Assortment) { disk.holdBack(forJuicesOf: assortment) }
  /// True if the disk has space to change this number of customers in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool { disk.hasRoom(toMove: customers) }

  /// Runs a query on the store as the process reads it.
  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any LocalQueueStore) throws(StoreError) -> Answer,
    comparable: (Answer) -> Answer
  ) throws(StoreError) -> Answer { try body(shown) }

  /// The next waiting customers of a line.
  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try attempt(.read) { () throws(StoreError) in try shown.page(of: line, after: after, limit: limit) }
  }

  /// The customer of a ticket; nil if it has none or the customer is finished.
  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try attempt(.read) { () throws(StoreError) in try shown.find(ticket) }
  }

  /// The next customers in a state.
  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try attempt(.read) { () throws(StoreError) in try shown.customers(in: state, after: cursor, limit: limit)
    }
  }

  /// The payload of a ticket; the planted bug `assignsWrongPayload` reads that of the previous ticket.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    let ticket = world.bug == .assignsWrongPayload && world.hasCommands ? max(1, ticket - 1) : ticket
    do throws(StoreError) {
      return try attempt(.read) { () throws(StoreError) in try shown.payload(of: ticket) }
    } catch {
      guard case .diskFull = error, world.bug == .assignsWithoutPayload else { throw error }
      return nil
    }
  }

  /// Cancelled tickets whose fruit the stock has not confirmed as returned.
  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try attempt(.read) { () throws(StoreError) in try shown.unreleased(after: ticket, limit: limit) }
  }
}
