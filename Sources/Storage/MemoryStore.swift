// In-memory queue with the guarantees of the store on disk, for tests and simulated histories. It can inject
// crashes and failures, and can make commits asynchronous.
// Invariant: uncommitted changes can be undone. The store is the model against which the store on disk is tested,
// so it is written for simplicity and not for speed.

import BankModel
import QueueCore
import Time

/// Store of the queue in memory, for tests and simulated histories.
public final class MemoryStore: LocalQueueStore {
  /// A kind of call whose failure a test can inject.
  public enum Call: Hashable, Sendable {
    /// `stage`, or the removal of an incomplete request.
    case stage
    /// `commit`, which fails before any change is durable.
    case commit
    /// `commit`, which fails after every change is durable: the caller receives an error, but the changes
    /// survive a crash.
    case commitThenFail
    /// Any query, an audit, a load, a start, or the assignment of numbers to services.
    case read
  }

  static let path = "memory"

  var contents = MemoryState()
  /// Day counters of the last commit; nil before the first load.
  var dayCounters: DayCounters?
  /// Closed days, with day 1 first.
  var closedDays: [DayCounters] = []
  /// Number of starts of the coordinator.
  private var incarnation: Int64 = 0
  /// Number of receipts at each start of the coordinator.
  private(set) var starts: [Int64] = []
  /// True after ``load(now:)``, until a crash.
  private var isLoaded = false
  /// First number of an incomplete request, as of the last commit; nil for none. See `QueueReader`.
  public internal(set) var firstUnissuedTicket: TicketNumber?
  /// The business day that a staged reset starts; nil without a staged reset.
  private var stagedDay: BusinessDay?
  /// Injected failures, each with the number of calls up to the failing one.
  private var failures: [Call: (left: Int, error: StoreError)] = [:]
  /// Error that has ended the use of the store; nil while the store works.
  private(set) var end: StoreError?

  /// True if commits stay in flight until the test completes them; see
  /// `MemoryStore+AsynchronousCommits.swift`.
  public var commitsAsynchronously = false
  /// Durable state while transactions are in flight; nil if there are none. `underway` contains the state after
  /// each transaction in flight.
  var onDisk: StateSnapshot?
  var underway: [StateSnapshot] = []
  /// Number of completed transactions in flight that were not reported yet.
  var results = 0
  /// True if changes were staged since the last commit.
  private var hasStaged = false

  /// True if changes were staged since the last commit, or transactions are in flight.
  public var hasStagedChanges: Bool { hasStaged || onDisk != nil }
  /// True if new customers must be refused. The test sets it.
  public var isLowOnSpace = false
  /// Number of durable commits, for tests.
  public internal(set) var commits = 0

  /// The services to which this store has assigned a number.
  public private(set) var services = ServiceDirectory()

  public init() {}
  /// Does nothing: the test sets ``isLowOnSpace``.
  public func refreshDiskSpace() {}
  /// True: a transaction may have any size.
  public func hasRoom(toMove customers: Int64) -> Bool { true }

  /// Makes a call fail. `number` 1 is the next call of its kind. Each kind has at most one pending failure.
  public func fail(_ call: Call, number: Int = 1, with error: StoreError) {
    precondition(number >= 1, "The next call has the number 1.")
    failures[call] = (number, error)
  }

  /// Removes all injected failures.
  public func forgetFailures() { failures = [:] }

  /// Simulates a kill of the process: uncommitted changes are lost, except the first `kept` transactions in flight.
  /// The store can be loaded again.
  public func crash(keeping kept: Int = 0) {
    end = nil
    persistInFlight(kept)
    rollBack()
    forgetFailures()
    isLoaded = false
  }

  /// Counts a call, and throws if the test has made this call fail.
  func throwInjectedFailure(_ call: Call) throws(StoreError) {
    guard let failure = failures[call] else { return }
    failures[call] = failure.left == 1 ? nil : (failure.left - 1, failure.error)
    if failure.left == 1 { throw failure.error }
  }

  /// Throws the error that ended the store, or an injected failure.
  func beginReading() throws(StoreError) {
    if let end { throw end }
    try throwInjectedFailure(.read)
  }

  /// Runs an operation and rolls back if it fails.
  func attempt(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      rollBack()
      if case .failed = error { end = error }
      throw error
    }
  }

  /// Reads the stored queue. A new store starts with day 1 at `now`.
  public func load(now: WallTime) throws(StoreError) -> StoredQueue {
    try beginReading()
    precondition(!hasStagedChanges, "A store is loaded before anything is staged.")
    var dayCounters = self.dayCounters ?? DayCounters(day: 1, openedAt: now)
    dayCounters.know(services: services.count)
    self.dayCounters = dayCounters
    isLoaded = true
    let first = contents.delayed(after: .first, below: bound, limit: StoredQueue.firstPage)
    return StoredQueue(dayCounters: dayCounters, delayed: first)
  }

  /// Counts the starts of the coordinator on this store. Returns the number of this start, from 1.
  public func recordStart(at now: WallTime) throws(StoreError) -> Int64 {
    try beginReading()
    precondition(!hasStagedChanges, "A transaction is open.")
    incarnation += 1
    starts.append(Int64(contents.receipts.count))
    return incarnation
  }

  /// Assigns a number to each new service. See `QueueStore`.
  public func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    try beginReading()
    precondition(!hasStagedChanges, "Numbers are assigned in their own transaction.")
    var grown = services
    for name in names where grown[name] == nil {
      guard grown.hasRoom else { throw .failed(path: Self.path, detail: MessageDetail(.servicesExhausted)) }
      grown.add(name)
    }
    services = grown
    dayCounters?.know(services: grown.count)
  }

  /// Adds a change to the open transaction. See `QueueStore`.
  public func stage(_ change: StoreChange) throws(StoreError) {
    if let end { throw end }
    try attempt { () throws(StoreError) in
      try throwInjectedFailure(.stage)
      hasStaged = true
      if case .cancelAllCustomers = change { withdraw(limit: .max) }
      try contents.write(isLowOnSpace ? change.withoutBytes : change, day: stagedDay ?? dayCounters?.day)
      if case .cancelAllCustomers(let ended, _) = change { stagedDay = ended + 1 }
    }
  }

  /// Commits the day counters with all staged changes. See `QueueStore`.
  @discardableResult
  public func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError)
    -> CommitProgress
  {
    if let end { throw end }
    guard let saved = self.dayCounters, isLoaded else {
      preconditionFailure("The store was not loaded before a commit.")
    }
    if !hasStagedChanges && dayCounters == saved { return .onDisk }
    precondition(dayCounters.day >= saved.day, "A business day never repeats.")
    try attempt { () throws(StoreError) in
      if !commitsAsynchronously { try throwInjectedFailure(.commit) }
      // An arriving request started after the reset, which has removed any incomplete request of the previous
      // day.
      if dayCounters.day > saved.day, arriving == nil { withdraw(limit: .max) }
      try requireNoOpenCustomers(from: saved, to: dayCounters, arriving)
    }
    if commitsAsynchronously, onDisk == nil { onDisk = snapshotWithoutStaged }
    if dayCounters.day > saved.day { contents.forgetLines() }
    for day in saved.day..<dayCounters.day {
      close(day, after: saved, at: dayCounters.openedAt, steps: dayCounters.clockSteps)
    }
    if let arriving, arriving.count > 0 {
      firstUnissuedTicket = arriving.first
    } else if let first = firstUnissuedTicket,
      dayCounters.issued >= first || !contents.hasCustomers(from: first)
    {
      firstUnissuedTicket = nil
    }
    self.dayCounters = dayCounters
    contents.keep()
    stagedDay = nil
    hasStaged = false
    if commitsAsynchronously {
      underway.append(image)
      return .underway
    }
    commits += 1
    try attempt { () throws(StoreError) in try throwInjectedFailure(.commitThenFail) }
    return .onDisk
  }

  /// Copies the state that is not part of a transaction.
  func copySharedState(_ other: MemoryStore) {
    (services, incarnation, starts) = (other.services, other.incarnation, other.starts)
    (isLoaded, isLowOnSpace) = (other.isLoaded, other.isLowOnSpace)
  }

  /// Throws if a new day starts while customers of the old day are left.
  private func requireNoOpenCustomers(
    from saved: DayCounters, to dayCounters: DayCounters, _ arriving: InProgressEnqueue?
  ) throws(StoreError) {
    let kept = Int64(contents.positions.count)
    if dayCounters.day == saved.day || kept == dayCounters.kept + (arriving?.count ?? 0) { return }
    throw .damaged(
      path: Self.path, detail: MessageDetail(.dayHandoverDiffers, saved.day, kept, dayCounters.kept))
  }

  /// Adds a day, with the numbers of its receipts and of the steps of the wall clock, to ``closedDays``.
  private func close(_ day: BusinessDay, after saved: DayCounters, at moment: WallTime, steps: Int64) {
    var dayCounters = day == saved.day ? saved : DayCounters(day: day, openedAt: moment)
    let receipts = contents.receipts.filter { $0.day == day }
    dayCounters.served = Int64(receipts.count(where: \.outcome.isFinishedByWorker))
    dayCounters.cancelled = Int64(receipts.count) - dayCounters.served
    dayCounters.issued = max(dayCounters.issued, dayCounters.served + dayCounters.cancelled)
    (dayCounters.delayed, dayCounters.dead) = (0, 0)
    dayCounters.delayedByService = Array(repeating: 0, count: dayCounters.delayedByService.count)
    dayCounters.clockSteps = steps
    closedDays.append(dayCounters)
  }

  /// Lowest ticket of an incomplete request, whose numbers are not issued yet; the maximum if there is no such request.
  var bound: TicketNumber { firstUnissuedTicket ?? .max }

  /// Removes customers and keys of a request that will not be completed. See `QueueStore`.
  public func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    if let end { throw end }
    guard hasUnissuedCustomers else { return }
    try attempt { () throws(StoreError) in try throwInjectedFailure(.stage) }
    hasStaged = true
    withdraw(limit: limit)
  }

  /// Removes customers and keys of the incomplete request, if there is one.
  private func withdraw(limit: Int) {
    guard let firstUnissuedTicket, let dayCounters else { return }
    contents.withdraw(from: firstUnissuedTicket, day: dayCounters.day, limit: limit)
  }

  /// Does nothing: no work is deferred.
  public func runDeferredWork() {}

  /// Drops all changes that are not durable.
  public func rollBack() {
    if end != nil { return }
    contents.rollBack()
    stagedDay = nil
    hasStaged = false
    if let onDisk { restore(onDisk) }
  }
}
