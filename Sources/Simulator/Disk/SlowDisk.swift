// One coordinator's transactions in flight to a slow disk: their contents, the times at which they reach the disk, and
// the store that the coordinator sees until then.
// Invariants: the visible store is the disk plus everything handed over and staged. Transactions reach the disk in the
// order in which they were handed over. After a kill, a prefix of them is on the disk, drawn from the seed.
import BankModel
import QueueCore
import Storage
import Time

/// The transactions of one coordinator that are in flight to the disk.
final class SlowDisk {
  /// A transaction that was handed over to the disk, and is written when it is due.
  struct Transaction {
    /// Each change as the queue has staged it, and as it is written.
    var changes: [(staged: StoreChange?, written: QueueDisk.Change)]
    var dayCounters: DayCounters
    var arriving: InProgressEnqueue?
    var due: MonotonicTime
  }

  /// The store that the coordinator sees.
  let shown: MemoryStore
  /// The transactions in flight, oldest first.
  private(set) var underway: [Transaction] = []
  /// The changes that were staged after the last transaction was handed over.
  private var open: [(staged: StoreChange?, written: QueueDisk.Change)] = []
  private var chance: SeededGenerator
  private let latency: ClosedRange<Int64>

  init(over disk: QueueDisk, _ plan: SlowDiskPlan, seed: UInt64) {
    shown = MemoryStore(copyOf: disk.model)
    shown.commitsAsynchronously = true
    chance = SeededGenerator(seed: seed)
    latency = plan.latency
  }

  var hasStagedChanges: Bool { shown.hasStagedChanges }

  /// Stages a change in the store that the coordinator sees, for the transaction that is handed over next.
  func stage(_ change: StoreChange) throws(StoreError) {
    try forgetting { () throws(StoreError) in try shown.stage(change) }
    open.append((change, .change(shown.isLowOnSpace ? change.withoutBytes : change)))
  }

  /// Stages the removal of customers of a request without tickets.
  func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    try forgetting { () throws(StoreError) in try shown.removeUnissuedCustomers(limit: limit) }
    open.append((nil, .withdrawal(limit: limit)))
  }

  /// Hands the staged changes over to the disk as one transaction, which is due after `slow` or a drawn time, but not
  /// before an earlier one.
  ///
  /// - Parameter slow: duration of a delayed transaction; nil to draw it.
  func submit(
    _ dayCounters: DayCounters, arriving: InProgressEnqueue?, at now: MonotonicTime, _ slow: TimeSpan?
  ) throws(StoreError) -> CommitProgress {
    var progress = CommitProgress.onDisk
    try forgetting { () throws(StoreError) in progress = try shown.commit(dayCounters, arriving: arriving) }
    guard progress == .underway else { return progress }
    let due = now + (slow ?? TimeSpan(nanoseconds: chance.draw(latency)))
    let last = underway.last?.due ?? now
    underway.append(
      Transaction(changes: open, dayCounters: dayCounters, arriving: arriving, due: max(due, last)))
    open.removeAll()
    return progress
  }

  /// Completes the oldest transaction in flight: it is on disk now.
  func takeFirst() throws(StoreError) {
    underway.removeFirst()
    shown.completeCommits()
    _ = try shown.takeResult()
  }

  /// Makes every transaction in flight due at the given time at the latest.
  func expedite(to moment: MonotonicTime) {
    for place in underway.indices { underway[place].due = min(underway[place].due, moment) }
  }

  /// Drops the staged changes and all transactions in flight.
  func rollBack() {
    shown.rollBack()
    forget()
  }

  /// Draws the number of transactions in flight that reach the disk although the process was killed.
  func drawKept() -> Int { Int(chance.draw(0...Int64(underway.count))) }

  /// Empties the records of transactions in flight and of staged changes.
  private func forget() {
    underway.removeAll()
    open.removeAll()
  }

  /// Runs a call of the visible store. If it fails, the transactions in flight and the staged changes are dropped.
  private func forgetting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      forget()
      throw error
    }
  }
}

/// Delays of the queue's disk in one history, drawn from the seed before the history starts.
/// Invariant: the same seed gives the same plan in every build.
struct SlowDiskPlan {
  /// True if the disk is slow. Ignored if it is a simulated volume.
  let isEnabled: Bool
  /// Maximum number of transactions in flight.
  let depth: Int
  /// Time in flight of a transaction, in nanoseconds.
  let latency: ClosedRange<Int64>

  init(seed: UInt64) {
    var chance = SeededGenerator(seed: seed ^ 0x510D_0000_7005_DEFB)
    isEnabled = chance.draw(0...3) == 0
    depth = Int(chance.draw(1...5))
    let longest = [3_000_000, 20_000_000, 120_000_000][Int(chance.draw(0...2))] as Int64
    latency = longest / 20...longest
  }
}
