// Asynchronous commits of the in-memory store. The test decides when they complete, and how many.
// Invariant: transactions in flight are visible but not durable. After an error the content is that of the last
// transaction reported as durable; with `commitThenFail` it also includes the transaction whose commit was reported
// as failed. After a crash it is this content with a prefix of the transactions in flight.

import BankModel
import QueueCore
import Time

extension MemoryStore {
  /// Copy of the data that transactions change.
  struct StateSnapshot {
    var contents: MemoryState
    var dayCounters: DayCounters?
    var closedDays: [DayCounters]
    var firstUnissuedTicket: TicketNumber?
  }

  /// Copy of the present content, including staged changes.
  var image: StateSnapshot {
    StateSnapshot(
      contents: contents, dayCounters: dayCounters, closedDays: closedDays,
      firstUnissuedTicket: firstUnissuedTicket)
  }

  /// Copy of the content of the last commit.
  var snapshotWithoutStaged: StateSnapshot {
    var image = image
    image.contents.rollBack()
    return image
  }

  /// Number of transactions in flight.
  public var underwayCount: Int { underway.count }

  /// Lets this many transactions in flight become durable, the oldest first, when ``takeResult()`` reports them.
  public func completeCommits(_ count: Int = 1) {
    precondition(
      results + count <= underway.count,
      "The number of committed transactions is at most the number in flight.")
    results += count
  }

  /// Returns the next result of a transaction in flight; nil if there is none yet. See `QueueStore`.
  public func takeResult() throws(StoreError) -> QueueEvent? {
    if let end { throw end }
    guard results > 0 else { return nil }
    try attempt { () throws(StoreError) in try throwInjectedFailure(.commit) }
    results -= 1
    persistInFlight(1)
    try attempt { () throws(StoreError) in try throwInjectedFailure(.commitThenFail) }
    return .committed
  }

  /// Completes all transactions in flight. An injected failure takes effect when ``takeResult()`` reports them.
  public func awaitResults() { results = underway.count }

  /// Makes the first `count` transactions in flight durable.
  func persistInFlight(_ count: Int) {
    guard count > 0 else { return }
    onDisk = underway[count - 1]
    underway.removeFirst(count)
    commits += count
    if underway.isEmpty { onDisk = nil }
  }

  /// Resets the store to this content, with no transactions in flight.
  func restore(_ image: StateSnapshot) {
    (contents, dayCounters) = (image.contents, image.dayCounters)
    (closedDays, firstUnissuedTicket) = (image.closedDays, image.firstUnissuedTicket)
    (onDisk, underway, results) = (nil, [], 0)
  }

  /// Creates a copy of another store.
  public convenience init(copyOf other: MemoryStore) {
    self.init()
    precondition(!other.hasStagedChanges, "Only a store without staged changes can be copied.")
    restore(other.image)
    copySharedState(other)
  }
}
