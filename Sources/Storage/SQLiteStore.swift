// Owns the queue on disk: staging, committing with the books, and what is counted meanwhile. How changes become rows,
// how books are saved and how rows are read stand in the extensions; what happens after an error in `Transactions`.
// Invariant: what was staged becomes durable as a whole, with the books that count it, or not at all.

import BankModel
import QueueCore

/// The queue in a SQLite database: one process, one connection, one thread.
///
/// The database is in write-ahead mode with `synchronous=FULL`: a commit returns after the log was fsynced. The file
/// is locked as long as the store lives, so the index of the log stays in memory and there is no `-shm` file.
///
/// Two rules for the caller: ``load(now:)`` comes before the first ``commit(_:)``, and the books of a new business day
/// are committed with or after the changes that end the old one, never before.
public final class SQLiteStore: DatabaseStore, LocalQueueStore {
  let statements: Statements
  /// The books that are on disk; nil until they were read.
  var saved: Books?
  /// Whether something is staged, or was and is lost without anybody having been told.
  public var hasStagedChanges: Bool { transactions.isOpen || loss != nil }
  /// Why the open transaction was lost while somebody read: whoever stages or commits next learns it, too. A reader may
  /// take an answer that does not come lightly; books that are saved without their rows would be a lie.
  private var loss: StoreError?
  /// The highest sequence number of a receipt, staged ones included.
  var sequence: Int64
  private var committedSequence: Int64
  /// Something was committed since the log was last looked at.
  private var owesCheckpoint = false
  var gathered = GatheredRows()
  var staged = StagedReceipts()
  /// The day to which everybody was carried over since the last commit; nil where nobody was.
  var stagedDay: BusinessDay?
  var sweep: QueueSweep?
  /// By how much the database grows at most, beside the receipt, when one who wants a juice is sent away. At first for
  /// two fruits of everyday names; see `QueueStore.holdBack(forJuicesOf:)`.
  var growthPerJuice: Int64 = 96
  /// Customers and keys that were staged since the need was last compared with the reserve, and in the open transaction.
  var acceptedSinceCheck: Int64 = 0
  var stagedAcceptances: Int64 = 0
  var arrivals = Arrivals()
  /// Every service that ever had a number here.
  public internal(set) var services: ServiceDirectory
  /// The numbers of the lines with everything that is staged, and as they are on disk.
  var lines: LineNumbers
  private var committedLines: LineNumbers
  var texts = ServiceTexts()
  /// Where there are payloads, with everything that is staged, and as they are on disk.
  var payloads: RowBounds
  private var committedPayloads: RowBounds
  /// The same of results, by the numbers of their receipts.
  var results: RowBounds
  private var committedResults: RowBounds

  override class var schema: Schema { .bank }
  /// What is held back for nobody in particular: the log of a few transactions, attempts, pauses.
  override class var reservePlan: HeldRoom.Plan { HeldRoom.Plan(limit: 4 << 20, share: 8, headroom: 1 << 20) }

  /// What is kept in a database that was opened.
  override init(_ database: Database) throws(StoreError) {
    statements = try Statements(database)
    committedSequence = try Self.readLastReceipt(database)
    sequence = committedSequence
    services = try Self.readServices(database)
    lines = try Self.readLines(database, services)
    committedLines = lines
    payloads = try Self.readPayloads(database)
    committedPayloads = payloads
    results = try Self.readResults(database)
    committedResults = results
    try super.init(database)
  }

  /// Copies the log into the database and closes it; what was staged is forgotten. The store cannot be used again.
  ///
  /// - Throws: what went wrong in the copying. Nothing is lost then: the log stays beside the database.
  public override func close() throws(StoreError) {
    forgetStaged()
    owesCheckpoint = false
    try super.close()
  }

  /// Begins to hold room back. Without this call nothing is held back.
  public override func keepReserve() {
    precondition(saved != nil, "The reserve depends on what was loaded.")
    room.keep(for: need(of: saved, arrivals.open))
  }

  /// Looks whether there is room again. See `QueueStore`.
  public override func lookForRoom() {
    guard isShort, saved != nil else { return }
    acceptedSinceCheck = 0
    room.look(for: need(of: saved, arrivals.open))
  }

  /// Adds a change to the open transaction, and opens one where there is none. See `QueueStore`.
  ///
  /// - Throws: `.diskFull`, or `.damaged` with the ticket and the day where a promise would be broken: a second
  ///   receipt, a customer who does not stand where the change says. Everything staged is gone then. The change at
  ///   fault may be an earlier one.
  public func stage(_ change: StoreChange) throws(StoreError) {
    try changeStaged { () throws(StoreError) in
      try write(change)
      if change.isAcceptance { stagedAcceptances += 1 }
    }
  }

  @inline(__always) func changeStaged(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try requireTransaction()
    try tidyUp()
    do throws(StoreError) {
      try transactions.beginIfNeeded()
      try body()
    } catch { throw recover(from: error) }
  }

  /// Saves the books with everything that was staged, and returns when it is on disk. See `QueueStore`.
  ///
  /// Where the books begin a new day, the old day is closed at the moment at which the new one was opened.
  @discardableResult
  public func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    try requireTransaction()
    guard let saved else { preconditionFailure("The store was not loaded before a commit.") }
    if !hasStagedChanges && books == saved && arriving == arrivals.open { return .onDisk }
    do throws(StoreError) { try holdBack(for: books, arriving) } catch {
      rollBack()
      throw error
    }
    let arrivingFrom: TicketNumber?
    do throws(StoreError) {
      try transactions.beginIfNeeded()
      try writeGathered()
      try finishSweep()
      if database.volume.makes("keepsTheBooksApart") {
        try transactions.commit()
        try transactions.beginIfNeeded()
      }
      try save(books, over: saved, arriving)
      arrivingFrom = try noteArrivals(books, arriving)
      try transactions.commit()
    } catch { throw recover(from: error) }
    settleTransaction()
    arrivals = Arrivals(first: arrivingFrom, open: arriving)
    self.saved = books
    owesCheckpoint = true
    // Nobody is told before what was committed is where the next process finds it.
    if transactions.isLogLost { try tidyUp() }
    return .onDisk
  }

  /// Copies the log into the database where it has grown long. See `QueueStore`.
  ///
  /// The answer to a million tickets need not wait for it: that made 6 % more of them a second (nine rounds in turn).
  public func tidyUp() throws(StoreError) {
    guard owesCheckpoint, !transactions.isOpen else { return }
    owesCheckpoint = false
    try requireHealth()
    try checkpointIfDue()
  }

  /// Forgets everything that was staged since the last commit.
  public func rollBack() {
    transactions.rollBack()
    forgetStaged()
  }

  private func forgetStaged() {
    lines = committedLines
    payloads = committedPayloads
    results = committedResults
    loss = nil
    sweep = nil
    sequence = committedSequence
    gathered.forget()
    arrivals.areWithdrawn = false
    staged = StagedReceipts()
    stagedDay = nil
    stagedAcceptances = 0
  }

  /// Runs `body` in a transaction of its own; more than once where the disk is full and room can be made.
  func inTransaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    precondition(!hasStagedChanges, "A transaction is open.")
    let result = try transactions.attempt(undo: forgetStaged) { _ throws(StoreError) in
      let result = try body()
      try transactions.commit()
      return result
    }
    settleTransaction()
    if transactions.isLogLost { try checkpointIfDue() }
    return result
  }

  private func settleTransaction() {
    room.committed()
    committedSequence = sequence
    committedLines = lines
    committedPayloads = payloads
    committedResults = results
    staged = StagedReceipts()
    stagedDay = nil
    stagedAcceptances = 0
  }

  private func checkpointIfDue() throws(StoreError) {
    if try transactions.checkpointIfDue() { easeReserve() }
  }

  /// Whether so much is kept that whoever reads all of it takes longer than a turn of a loop may: 2 MB of pages.
  public func isLong() throws(StoreError) -> Bool { try database.pageCount() > 512 }

  /// Keeps the file as it is, with everything that is committed by now, while another process reads it in its place; see
  /// ``init(frozen:)``. Nothing may be staged.
  ///
  /// - Parameter onThaw: called once, before the file is written to again: what is read afterwards is worth nothing.
  /// - Returns: false where that cannot be now.
  public func freeze(onThaw: @escaping () -> Void) throws(StoreError) -> Bool {
    precondition(!hasStagedChanges, "Only what is committed can stay as it is.")
    return try transactions.freeze(onThaw: onThaw)
  }

  /// Nobody reads the file any more.
  public func thaw() {
    database.thaw()
    // The log may have grown long meanwhile, and nothing more may ever be committed.
    owesCheckpoint = true
  }

  func requireHealth() throws(StoreError) { try transactions.requireHealth() }

  /// Before a read: what was staged is there to be seen.
  func settle() throws(StoreError) {
    try requireHealth()
    if let loss { throw loss }
    if gathered.isEmpty, sweep == nil { return }
    do throws(StoreError) {
      try writeGathered()
      try finishSweep()
    } catch {
      let error = recover(from: error)
      loss = error
      throw error
    }
  }

  /// Before a change: nothing that was staged is lost.
  private func requireTransaction() throws(StoreError) {
    try requireHealth()
    guard let loss else { return }
    self.loss = nil
    throw loss
  }

  /// Takes back what was staged, and gives back the error that the caller is to throw. Where the disk is full, room is
  /// made for those who are to be finished, though nobody new can come.
  func recover(from error: StoreError) -> StoreError {
    defer { forgetStaged() }
    return transactions.recover(from: error)
  }
}

/// Receipts in the open transaction, by outcome: what the books of a day that is closed have not counted yet.
struct StagedReceipts {
  var served: Int64 = 0
  var cancelled: Int64 = 0
}
