// In-memory queue with the guarantees of the store on disk, for tests and simulated histories. It can inject
// crashes and failures, and can make commits asynchronous.
// Invariant: uncommitted changes can always be undone, because every change has an undo step. The store is the
// model against which the store on disk is tested, so it is written for simplicity and not for speed.

import BankModel
import QueueCore
import Time

/// A volatile store of the queue.
public final class MemoryStore: LocalQueueStore {
  /// A kind of call whose failure a test can inject.
  public enum Call: Hashable, Sendable {
    case stage
    /// `commit`, which fails before any change is durable.
    case commit
    /// `commit`, which fails after every change is durable: the caller receives an error, but the changes
    /// survive a crash.
    case commitThatIsKept
    /// Any query, an audit, a load, a start, or the assignment of numbers to services.
    case read
  }

  static let path = "memory"

  var contents = MemoryContents()
  /// Day counters of the last commit; nil before the first load.
  var books: Books?
  /// Closed days, with day 1 first.
  var closedDays: [Books] = []
  private var incarnation: Int64 = 0
  /// Number of receipts at each start of the coordinator.
  private(set) var starts: [Int64] = []
  private var isLoaded = false
  /// First number of an incomplete request, as of the last commit; nil for none. See `QueueStore`.
  public internal(set) var arrivingFrom: TicketNumber?
  /// The business day that a staged reset starts; nil without a staged reset.
  private var stagedDay: BusinessDay?
  private var failures: [Call: (left: Int, error: StoreError)] = [:]
  private(set) var end: StoreError?

  /// True if commits stay in flight until the test completes them; see `MemoryStore+Later.swift`.
  public var answersLater = false
  /// Durable state while transactions are in flight; nil if there are none. `underway` contains the state after
  /// each transaction in flight.
  var onDisk: Image?
  var underway: [Image] = []
  /// Number of completed transactions in flight that were not reported yet.
  var results = 0
  private var hasStaged = false

  /// True if changes were staged since the last commit, or transactions are in flight.
  public var hasStagedChanges: Bool { hasStaged || onDisk != nil }
  /// True if new customers must be refused. The test sets it.
  public var isShort = false
  /// Number of durable commits, for tests.
  public internal(set) var commits = 0

  /// All services to which this store has ever assigned a number.
  public private(set) var services = ServiceDirectory()

  public init() {}
  /// Does nothing: the test sets ``isShort``.
  public func lookForRoom() {}
  /// Always true: a large transaction needs no more memory than many small ones.
  public func hasRoom(toMove customers: Int64) -> Bool { true }

  /// Makes a call fail. `number` 1 is the next call of its kind. Each kind has at most one pending failure.
  public func fail(_ call: Call, number: Int = 1, with error: StoreError) {
    precondition(number >= 1, "The next call has the number 1.")
    failures[call] = (number, error)
  }

  /// Removes all injected failures. It is used when the process whose call would have failed was killed.
  public func forgetFailures() { failures = [:] }

  /// Simulates a kill of the process: uncommitted changes are lost, and the store can be loaded again.
  ///
  /// - Parameter kept: number of transactions in flight that are durable nevertheless.
  public func crash(keeping kept: Int = 0) {
    end = nil
    keepUnderway(kept)
    rollBack()
    forgetFailures()
    isLoaded = false
  }

  func meet(_ call: Call) throws(StoreError) {
    guard let failure = failures[call] else { return }
    failures[call] = failure.left == 1 ? nil : (failure.left - 1, failure.error)
    if failure.left == 1 { throw failure.error }
  }

  /// Throws the error that ended the store, or an injected failure.
  func beginReading() throws(StoreError) {
    if let end { throw end }
    try meet(.read)
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
    var books = self.books ?? Books(day: 1, openedAt: now)
    books.know(services: services.count)
    self.books = books
    isLoaded = true
    let first = contents.delayed(after: .first, below: bound, limit: StoredQueue.firstPage)
    return StoredQueue(books: books, delayed: first)
  }

  /// Counts the starts of the coordinator on this store. Returns the number of this start, from 1.
  public func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64 {
    try beginReading()
    precondition(!hasStagedChanges, "A transaction is open.")
    incarnation += 1
    starts.append(Int64(contents.receipts.count))
    return incarnation
  }

  /// Assigns a number to each new service. See `QueueStore`.
  public func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    try beginReading()
    precondition(!hasStagedChanges, "Numbers are assigned in their own transaction.")
    var grown = services
    for name in names where grown[name] == nil {
      guard grown.hasRoom else { throw .failed(path: Self.path, detail: Remark(.servicesExhausted)) }
      grown.add(name)
    }
    services = grown
    books?.know(services: grown.count)
  }

  /// Adds a change to the open transaction. See `QueueStore`.
  public func stage(_ change: StoreChange) throws(StoreError) {
    if let end { throw end }
    try attempt { () throws(StoreError) in
      try meet(.stage)
      hasStaged = true
      if case .cancelEveryone = change { withdraw(limit: .max) }
      try contents.write(isShort ? change.withoutBytes : change, day: stagedDay ?? books?.day)
      if case .cancelEveryone(let ended, _) = change { stagedDay = ended + 1 }
    }
  }

  /// Commits the day counters with all staged changes. See `QueueStore`.
  @discardableResult
  public func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    if let end { throw end }
    guard let saved = self.books, isLoaded else {
      preconditionFailure("The store was not loaded before a commit.")
    }
    if !hasStagedChanges && books == saved { return .onDisk }
    precondition(books.day >= saved.day, "A business day never repeats.")
    try attempt { () throws(StoreError) in
      if !answersLater { try meet(.commit) }
      // An arriving request started after the reset, which has removed any incomplete request of the previous
      // day.
      if books.day > saved.day, arriving == nil { withdraw(limit: .max) }
      try requireNobodyLeft(from: saved, to: books, arriving)
    }
    if answersLater, onDisk == nil { onDisk = imageWithoutStaged }
    if books.day > saved.day { contents.forgetLines() }
    for day in saved.day..<books.day { close(day, after: saved, at: books.openedAt, steps: books.clockSteps) }
    if let arriving, arriving.count > 0 {
      arrivingFrom = arriving.first
    } else if let first = arrivingFrom, books.issued >= first || !contents.hasCustomers(from: first) {
      arrivingFrom = nil
    }
    self.books = books
    contents.keep()
    stagedDay = nil
    hasStaged = false
    if answersLater {
      underway.append(image)
      return .underway
    }
    commits += 1
    try attempt { () throws(StoreError) in try meet(.commitThatIsKept) }
    return .onDisk
  }

  /// Copies the state that is not part of a transaction.
  func takeOver(_ other: MemoryStore) {
    (services, incarnation, starts) = (other.services, other.incarnation, other.starts)
    (isLoaded, isShort) = (other.isLoaded, other.isShort)
  }

  private func requireNobodyLeft(
    from saved: Books, to books: Books, _ arriving: ArrivingRequest?
  ) throws(StoreError) {
    let kept = Int64(contents.positions.count)
    if books.day == saved.day || kept == books.kept + (arriving?.count ?? 0) { return }
    throw .damaged(path: Self.path, detail: Remark(.dayNotCarried, saved.day, kept, books.kept))
  }

  private func close(_ day: BusinessDay, after saved: Books, at moment: WallTime, steps: Int64) {
    var books = day == saved.day ? saved : Books(day: day, openedAt: moment)
    let receipts = contents.receipts.filter { $0.day == day }
    books.served = Int64(receipts.count(where: \.outcome.isAttended))
    books.cancelled = Int64(receipts.count) - books.served
    books.issued = max(books.issued, books.served + books.cancelled)
    (books.delayed, books.dead) = (0, 0)
    books.delayedByService = Array(repeating: 0, count: books.delayedByService.count)
    books.clockSteps = steps
    closedDays.append(books)
  }

  /// Customers with this ticket or a higher one belong to an incomplete request; their numbers are not issued
  /// yet.
  var bound: TicketNumber { arrivingFrom ?? .max }

  /// Removes customers and keys of a request that will never be completed. See `QueueStore`.
  public func withdrawArrivals(limit: Int) throws(StoreError) {
    if let end { throw end }
    guard hasArrivals else { return }
    try attempt { () throws(StoreError) in try meet(.stage) }
    hasStaged = true
    withdraw(limit: limit)
  }

  private func withdraw(limit: Int) {
    guard let arrivingFrom, let books else { return }
    contents.withdraw(from: arrivingFrom, day: books.day, limit: limit)
  }

  /// Does nothing: no work is deferred.
  public func tidyUp() {}

  /// Drops all changes that are not durable.
  public func rollBack() {
    if end != nil { return }
    contents.rollBack()
    stagedDay = nil
    hasStaged = false
    if let onDisk { restore(onDisk) }
  }
}
