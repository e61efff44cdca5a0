// Owns the queue in memory: the same promises as the store on disk, for tests and for simulated histories, with crashes and
// failures at will, and with commits that come back later where that is wanted. It knows no file. Invariant: what was staged
// and not committed can always be taken back, because every step leaves its reverse behind. It is the model against which the
// store on disk is tested, so it is written for plainness and not for speed.

import BankModel
import QueueCore
import Time

/// A store that forgets everything when the process ends, and before that only what it is told to.
public final class MemoryStore: LocalQueueStore {
  /// A kind of call that can be made to fail.
  public enum Call: Hashable, Sendable {
    /// `stage`.
    case stage
    /// `commit`, before anything is kept.
    case commit
    /// `commit`, after everything was kept: the caller learns of a failure, and after a crash the changes are there.
    case commitThatIsKept
    /// Any question.
    case read
  }

  static let path = "memory"

  var contents = MemoryContents()
  /// The books that were committed last; nil until the store was loaded for the first time.
  var books: Books?
  /// Days that are over, day 1 first.
  var closedDays: [Books] = []
  private var incarnation: Int64 = 0
  /// When the coordinator was opened, in milliseconds since 1970.
  private(set) var starts: [Int64] = []
  private var isLoaded = false
  /// The first number of a request that is not whole, as of the last commit. See `QueueStore`.
  public internal(set) var arrivingFrom: TicketNumber?
  /// The day to which everybody was carried over since the last commit; nil where nobody was.
  private var stagedDay: BusinessDay?
  private var failures: [Call: (left: Int, error: StoreError)] = [:]
  private(set) var end: StoreError?

  /// Whether a commit is handed over and comes to the disk when whoever plays the disk says so; see `MemoryStore+Later.swift`.
  public var answersLater = false
  /// What is on disk while transactions are on their way, and what is there after each of them.
  var onDisk: Image?
  var underway: [Image] = []
  /// Those of them, from the first on, of which it is to be said that they are on disk.
  var results = 0
  private var hasStaged = false

  /// Whether anything was staged since the last commit, or is on its way.
  public var hasStagedChanges: Bool { hasStaged || onDisk != nil }
  /// Whether new customers are to be refused. Whoever plays the disk says so.
  public var isShort = false
  /// Commits that were kept, for tests that count them.
  public internal(set) var commits = 0

  /// Every service that ever had a number here.
  public private(set) var services = ServiceDirectory()

  public init() {}
  /// Nothing: memory is short of room when it is told to be.
  public func lookForRoom() {}
  /// Always: a large transaction costs memory no more than many small ones.
  public func hasRoom(toMove customers: Int64) -> Bool { true }

  /// Makes a call fail: the `number`-th of its kind from now, 1 for the next. One failure of a kind at a time.
  public func fail(_ call: Call, number: Int = 1, with error: StoreError) {
    precondition(number >= 1, "The next call has the number 1.")
    failures[call] = (number, error)
  }

  /// The process that used this store was killed: what was not committed is gone, and the store can be loaded again.
  ///
  /// - Parameter kept: so many transactions that were on their way have come to the disk all the same.
  public func crash(keeping kept: Int = 0) {
    end = nil
    keepUnderway(kept)
    rollBack()
    failures = [:]
    isLoaded = false
  }

  func meet(_ call: Call) throws(StoreError) {
    guard let failure = failures[call] else { return }
    failures[call] = failure.left == 1 ? nil : (failure.left - 1, failure.error)
    if failure.left == 1 { throw failure.error }
  }

  /// Throws what ended this store's life, or a failure that was ordered.
  func beginReading() throws(StoreError) {
    if let end { throw end }
    try meet(.read)
  }

  /// Does something of which nothing is left where it fails.
  func attempt(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      rollBack()
      if case .failed = error { end = error }
      throw error
    }
  }

  /// Reads what is kept. A new store begins with day 1 at `now`.
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

  /// Counts the starts of the coordinator on this store, from 1.
  public func beginIncarnation(at now: WallTime) throws(StoreError) -> Int64 {
    try beginReading()
    precondition(!hasStagedChanges, "A transaction is open.")
    incarnation += 1
    starts.append(Int64(contents.receipts.count))
    return incarnation
  }

  /// Gives a number to each of these services that has none. See `QueueStore`.
  public func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    try beginReading()
    precondition(!hasStagedChanges, "Numbers are given in a transaction of their own.")
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

  /// Keeps the books with everything that was staged. See `QueueStore`.
  @discardableResult
  public func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    if let end { throw end }
    guard let saved = self.books, isLoaded else {
      preconditionFailure("The store was not loaded before a commit.")
    }
    if !hasStagedChanges && books == saved { return .onDisk }
    precondition(books.day >= saved.day, "A business day never comes again.")
    try attempt { () throws(StoreError) in
      if !answersLater { try meet(.commit) }
      // Whoever comes in already has begun after a reset, which has taken out those of the day before.
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

  /// What no transaction changes.
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

  /// Whoever has this number or a higher one has no ticket.
  var bound: TicketNumber { arrivingFrom ?? .max }

  /// Takes out customers and keys of a request that will never be whole. See `QueueStore`.
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

  /// Nothing is ever put off.
  public func tidyUp() {}

  /// Forgets everything that is not on disk.
  public func rollBack() {
    if end != nil { return }
    contents.rollBack()
    stagedDay = nil
    hasStaged = false
    if let onDisk { restore(onDisk) }
  }
}
