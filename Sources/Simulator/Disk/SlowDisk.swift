// Owns what one coordinator has on its way to a disk that answers later: what it has handed over, when that comes to the disk,
// and what it is shown meanwhile. It must not judge, and no rule of the queue is known here.
// Invariants: what is shown is what is on disk, with everything that was handed over and staged; transactions come to the disk
// in the order in which they were handed over, and a killed process leaves a beginning of them there, drawn of the seed.
import BankModel
import QueueCore
import Storage
import Time

final class SlowDisk {
  /// A transaction on its way.
  struct Transaction {
    /// Each change as the queue has staged it, and as it is written.
    var changes: [(staged: StoreChange?, written: QueueDisk.Change)]
    var books: Books
    var arriving: ArrivingRequest?
    var due: MonotonicTime
  }

  /// What the coordinator sees.
  let shown: MemoryStore
  private(set) var underway: [Transaction] = []
  private var open: [(staged: StoreChange?, written: QueueDisk.Change)] = []
  private var chance: SeededGenerator
  private let latency: ClosedRange<Int64>

  init(over disk: QueueDisk, _ plan: SlowDiskPlan, seed: UInt64) {
    shown = MemoryStore(copyOf: disk.model)
    shown.answersLater = true
    chance = SeededGenerator(seed: seed)
    latency = plan.latency
  }

  var hasStagedChanges: Bool { shown.hasStagedChanges }

  func stage(_ change: StoreChange) throws(StoreError) {
    try forgetting { () throws(StoreError) in try shown.stage(change) }
    open.append((change, .change(shown.isShort ? change.withoutBytes : change)))
  }

  func withdrawArrivals(limit: Int) throws(StoreError) {
    try forgetting { () throws(StoreError) in try shown.withdrawArrivals(limit: limit) }
    open.append((nil, .withdrawal(limit: limit)))
  }

  /// - Parameter slow: how long this one takes, where something holds it up.
  func handOver(
    _ books: Books, arriving: ArrivingRequest?, at now: MonotonicTime, _ slow: TimeSpan?
  ) throws(StoreError) -> CommitProgress {
    var progress = CommitProgress.onDisk
    try forgetting { () throws(StoreError) in progress = try shown.commit(books, arriving: arriving) }
    guard progress == .underway else { return progress }
    let due = now + (slow ?? TimeSpan(nanoseconds: chance.draw(latency)))
    let last = underway.last?.due ?? now
    underway.append(
      Transaction(changes: open, books: books, arriving: arriving, due: max(due, last)))
    open.removeAll()
    return progress
  }

  /// The oldest of those on their way is on disk.
  func takeFirst() throws(StoreError) {
    underway.removeFirst()
    shown.comeToDisk()
    _ = try shown.takeResult()
  }

  /// Everything comes now.
  func hurry(to moment: MonotonicTime) {
    for place in underway.indices { underway[place].due = min(underway[place].due, moment) }
  }

  func rollBack() {
    shown.rollBack()
    forget()
  }

  /// The process is gone: how many of those on their way come to the disk all the same.
  func drawKept() -> Int { Int(chance.draw(0...Int64(underway.count))) }

  private func forget() {
    underway.removeAll()
    open.removeAll()
  }

  private func forgetting(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      forget()
      throw error
    }
  }
}

/// Whether the queue's disk answers later in one history, drawn from the seed before the history begins. Invariant: the same
/// seed gives the same plan in every build, and draws nothing of the chance of others.
struct SlowDiskPlan {
  /// One history in four, of those whose disk is in memory.
  let isThere: Bool
  /// Transactions on their way at once.
  let depth: Int
  /// How long one is on its way, in nanoseconds.
  let latency: ClosedRange<Int64>

  init(seed: UInt64) {
    // So chosen that no history is another one by it that is known by its number.
    var chance = SeededGenerator(seed: seed ^ 0x510D_0000_7005_DEFB)
    isThere = chance.draw(0...3) == 0
    depth = Int(chance.draw(1...5))
    let longest = [3_000_000, 20_000_000, 120_000_000][Int(chance.draw(0...2))] as Int64
    latency = longest / 20...longest
  }
}
