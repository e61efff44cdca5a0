// The queue's disk in one history: usually a store in memory. In some histories the production store is on a simulated
// volume, and the store in memory is its model. After a crash the production store must equal the model before or after
// the commit in flight.
// Invariant: the model contains the commits that the production store has reported as durable.
import BankModel
import QueueCore
import Storage
import Time

/// The store of the queue in one history, and the faults of its disk.
final class QueueDisk {
  /// A change of the queue, or the removal of customers of a request that has no tickets.
  enum Change {
    case change(StoreChange)
    case withdrawal(limit: Int)
  }

  struct UncertainCommit {
    var changes: [Change]
    var dayCounters: DayCounters
    var arriving: InProgressEnqueue?
  }

  private static let path = "/queue.db"
  let model = MemoryStore()
  /// The volume of the production store; nil in a history without one.
  let volume: SimulatedVolume?
  /// The production store, while a process has it open; nil without a volume.
  private(set) var store: SQLiteStore?
  /// The store that the current process reads if transactions can be in flight; nil otherwise. Injected failures of
  /// calls other than the commit happen in this store.
  var shown: MemoryStore?
  var onDisagreement: ((String) -> Void)?
  var onPowerLoss: (() -> Void)?
  var isFaultFree = false { didSet { if isFaultFree { volume?.calm() } } }
  private var chance: SeededGenerator
  /// The log is copied after one of `logCopyInterval + 1` commits on average; never if this is 0.
  private let logCopyInterval: Int64
  /// The changes that were staged in the production store since the last commit.
  private(set) var staged: [Change] = []
  /// The commit in flight when the last process ended; nil if its outcome is known.
  var doubt: UncertainCommit?
  /// True if a failure of a sync was injected since the last power loss, under the current process or an earlier one:
  /// written data may not be durable.
  private var hasFailedToSync = false
  /// True if a sync may have failed under an earlier process, and the power has not failed since.
  private(set) var isSuspect = false
  /// Tickets with attempts, and keys, recorded in this history: a comparison has to query them one by one.
  var attempted: Set<TicketOfDay> = []
  var keys: Set<String> = []
  /// True if the production store must still be asked to remove customers without tickets although the model has none
  /// left: the production store checks once more.
  var mustWithdraw = false

  /// True if the production store may have fewer customers without tickets left to remove than the model. The outcome
  /// of such a removal was unknown, and these customers cannot be counted.
  private(set) var mayHaveWithdrawnMore = false
  var isWithdrawalUncertain: Bool { mustWithdraw || mayHaveWithdrawnMore }

  /// True if the changes are committed before the counters, which is a planted bug.
  private let commitsCountersSeparately: Bool
  /// Counters and incomplete request of the last commit of this process.
  private var last: (dayCounters: DayCounters, arriving: InProgressEnqueue?)?

  init(seed: UInt64, plantedBug: PlantedBug? = nil) {
    chance = SeededGenerator(seed: seed ^ 0xD15C_0000_0000_0001)
    volume = chance.draw(0...7) == 0 ? SimulatedVolume(seed: chance.next()) : nil
    logCopyInterval = [0, 3, 20][Int(chance.draw(0...2))]
    commitsCountersSeparately = plantedBug == .commitsCountersSeparately
    volume?.plantedBug = plantedBug
  }

  /// Opens the production store, compares it with the model, and returns what the queue starts from.
  func load(now: WallTime) throws(StoreError) -> StoredQueue {
    guard let volume else { return try model.load(now: now) }
    if !isFaultFree, chance.draw(0...5) == 0 {
      volume.callsUntilKill = Int(chance.draw(0...(model.commits == 0 ? 250 : 8)))
    }
    let store = try SQLiteStore(path: Self.path, on: volume)
    self.store = store
    // A process killed while numbering services may have stored the numbers.
    if !store.services.names.starts(with: model.services.names) {
      disagree("the services \(model.services.names) have become \(store.services.names)")
    }
    try model.assignNumbers(to: store.services.names)
    let stored = try store.load(now: now)
    store.enableReserve()
    try reconcile(stored, of: store)
    return stored
  }

  /// True if the volume explains an error of the store: it is full, or its process is dead.
  func isToBlame(for error: StoreError) -> Bool {
    guard let volume else { return false }
    return switch error {
    case .diskFull: volume.isFull
    case .failed: volume.isDead
    default: false
    }
  }

  /// Ends the process that had the store open; it closes the store if `isDone`. Its staged changes are lost, and
  /// sometimes the power fails too.
  func processEnded(isDone: Bool) {
    last = nil
    model.crash()
    staged.removeAll()
    guard let volume else { return }
    // A failure to copy the log loses nothing: the next start reads the log.
    if isDone, !volume.isDead { try? store?.close() }
    let losingPower = chance.draw(0...2) == 0 || isSuspect && chance.draw(0...1) == 0
    isSuspect = hasFailedToSync && !losingPower
    if losingPower { hasFailedToSync = false }
    volume.endProcess(losingPower: losingPower) { store = nil }
    if losingPower { onPowerLoss?() }
    if isFaultFree { volume.calm() }
  }

  var services: ServiceDirectory { store?.services ?? model.services }

  /// Assigns a number to each new service, the same in both stores.
  func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    try store?.assignNumbers(to: names)
    try model.assignNumbers(to: names)
    if let store, store.services != model.services {
      disagree("the services \(model.services.names) are \(store.services.names)")
    }
  }

  /// Counts a start of a coordinator, and returns its number.
  func recordStart(at now: WallTime) throws(StoreError) -> Int64 {
    guard let store else { return try model.recordStart(at: now) }
    let number = try store.recordStart(at: now)
    // A start may be counted although its process was killed before it received the number.
    var known = try model.recordStart(at: now)
    while known < number { known = try model.recordStart(at: now) }
    if known != number { disagree("start \(known) is counted as \(number)") }
    return number
  }

  var hasStagedChanges: Bool { model.hasStagedChanges }
  var commits: Int { model.commits }

  func stage(_ change: StoreChange) throws(StoreError) {
    // A store short of space drops the bytes of results. The model cannot detect that, so drop them here.
    let change = store?.isLowOnSpace == true ? change.withoutBytes : change
    try stage(.change(change), { store throws(StoreError) in try store.stage(change) })
  }

  /// Stages the removal of customers of a request without tickets.
  func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    try stage(
      .withdrawal(limit: limit),
      { store throws(StoreError) in try store.removeUnissuedCustomers(limit: limit) })
  }

  /// Stages a change in both stores; a failure of one rolls both back.
  private func stage(
    _ change: Change, _ body: (any LocalQueueStore) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let store else { return try body(model) }
    do throws(StoreError) {
      try body(store)
      try body(model)
    } catch {
      rollBack()
      throw error
    }
    staged.append(change)
  }

  func rollBack() {
    store?.rollBack()
    model.rollBack()
    staged.removeAll()
  }

  /// Commits the staged changes in the production store and then in the model, and compares the two.
  @discardableResult
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    guard let store, let volume else { return try model.commit(dayCounters, arriving: arriving) }
    if !isFaultFree, chance.draw(0...39) == 0 { volume.callsUntilKill = Int(chance.draw(0...9)) }
    do throws(StoreError) {
      if commitsCountersSeparately, let last { try store.commit(last.dayCounters, arriving: last.arriving) }
      try store.commit(dayCounters, arriving: arriving)
      last = (dayCounters, arriving)
    } catch {
      if case .failed = error {
        doubt = UncertainCommit(changes: staged, dayCounters: dayCounters, arriving: arriving)
      }
      model.rollBack()
      staged.removeAll()
      throw error
    }
    let changes = staged
    staged.removeAll()
    do throws(StoreError) { try model.commit(dayCounters, arriving: arriving) } catch {
      disagree("the store committed a change that the model refuses: \(error)")
      throw error
    }
    try followWithdrawal(of: store, dayCounters)
    mustWithdraw = model.firstUnissuedTicket == nil && store.firstUnissuedTicket != nil
    try check(changes)
    try runDeferredWork()
    // A process killed here has committed, and has answered no client.
    if volume.isDead { throw .failed(path: Self.path, detail: "the process is gone") }
    return .onDisk
  }

  /// Lets the store do its deferred work, and sometimes copies the log, perhaps with an audit by another process.
  func runDeferredWork() throws(StoreError) {
    guard let store, let volume else { return }
    try? store.runDeferredWork()
    guard logCopyInterval > 0, !store.hasStagedChanges, chance.draw(0...logCopyInterval) == 0 else { return }
    // As in an audit of the queue: the log is copied, and another process reads the database meanwhile.
    guard (try? store.freeze {}) == true else { return }
    if chance.draw(0...3) == 0, let found = try? SQLiteStore(frozen: Self.path, on: volume).audit() {
      if try found != model.audit() { disagree("the frozen database holds other rows") }
    }
    store.thaw()
  }

  /// Progress of a reset of the queue in the production store; nil if none is in progress.
  var resetProgress: ResetProgress? { store?.resetProgress }
  /// Writes the next piece of a reset.
  func continueReset() throws(StoreError) { try store?.continueReset() }

  /// True while a fault keeps the volume from growing. The store in memory ignores this; ``fail(_:with:)`` makes its
  /// calls fail.
  var isFull: Bool {
    get { volume?.isFull ?? false }
    set { volume?.isFull = newValue }
  }

  /// Makes a call of the store in memory fail, or one of the next writes or the next sync on the volume. A volume
  /// ignores every error but `failed`.
  func fail(_ call: MemoryStore.Call, with error: StoreError) {
    guard let volume else {
      let isOfTheDisk = call == .commit || call == .commitThenFail
      return (isOfTheDisk ? model : shown ?? model).fail(call, with: error)
    }
    guard case .failed = error else { return }
    volume.fail(call == .commit ? .write : .sync, number: Int(chance.draw(1...(call == .commit ? 4 : 1))))
    if call != .commit { hasFailedToSync = true }
  }

  /// Cancels the model's injected failures that no call has met. Those of a volume remain.
  func forgetFailures() { model.forgetFailures() }

  /// True if new customers are to be refused. The store in memory has the value that was set.
  var isLowOnSpace: Bool {
    get { store?.isLowOnSpace ?? model.isLowOnSpace }
    set { if volume == nil { model.isLowOnSpace = newValue } else if !newValue { store?.refreshDiskSpace() } }
  }

  /// Checks again whether enough space is free.
  func refreshDiskSpace() { store?.refreshDiskSpace() }
  /// Sets how much space is reserved for the shortages in the receipt of a juice.
  func holdBack(forJuicesOf assortment: Assortment) { store?.holdBack(forJuicesOf: assortment) }
  /// True if the disk has space to change this number of customers in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool { store?.hasRoom(toMove: customers) ?? true }
  /// Reports a difference between the production store and the model.
  func disagree(_ message: String) { onDisagreement?(message) }

  /// Called when the commit in doubt seems to be lost. If it removed customers without tickets, a part of that may be
  /// stored, which no query can show; this is recorded.
  func noteWithdrawalInDoubt(_ changes: [Change]) {
    if withdraws(changes) { mayHaveWithdrawnMore = true }
  }

  /// Removes the customers without tickets from the model once the production store has none left.
  func followWithdrawal(of store: SQLiteStore, _ dayCounters: DayCounters) throws(StoreError) {
    guard mayHaveWithdrawnMore, store.firstUnissuedTicket == nil else { return }
    if model.firstUnissuedTicket != nil {
      try model.removeUnissuedCustomers(limit: .max)
      try model.commit(dayCounters, arriving: nil)
    }
    mayHaveWithdrawnMore = false
  }
}
