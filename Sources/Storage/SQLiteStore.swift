// Queue on disk: staging, commits with the day counters, and counts of the open transaction.
// Invariant: staged changes become durable together with the counters that count them, or not at all.

import BankModel
import QueueCore

/// Queue in a SQLite database: one process, one connection, one thread.
///
/// The database is in WAL mode with `synchronous=FULL`: a commit returns after the WAL was fsynced. The file is
/// locked while the store is open, so the WAL index is in heap memory and there is no `-shm` file.
///
/// The caller calls ``load(now:)`` before the first ``commit(_:)``. It commits the counters of a new business day
/// with or after the changes that end the old day.
public final class SQLiteStore: DatabaseStore, LocalQueueStore {
  let statements: Statements
  /// Day counters on disk; nil until they were read.
  var saved: DayCounters?
  /// True if changes are staged, or if staged changes were lost and the caller has not received the error yet.
  public var hasStagedChanges: Bool { transactions.isOpen || pendingError != nil }
  /// Error that rolled back the open transaction during a read. The next stage or commit also throws it,
  /// because counters without their rows would be inconsistent.
  private var pendingError: StoreError?
  /// Highest sequence number of a receipt, including staged ones.
  var sequence: Int64
  /// Sequence number of the last receipt on disk; 0 for none.
  private var committedSequence: Int64
  /// True if the size of the WAL was not checked since the last commit or the end of a freeze.
  private var needsCheckpoint = false
  var batch = RowBatch()
  /// Numbers of receipts of the saved day in the open transaction.
  var staged = StagedReceipts()
  /// The business day that a staged reset starts; nil without a staged reset.
  var stagedDay: BusinessDay?
  /// The reset that is being written; nil for none.
  var bulkCancel: BulkCancel?
  /// Maximum growth of the database in bytes, in addition to the receipt, when one customer is sent away for a
  /// shortage. The initial value is for two fruits with everyday names; see
  /// `QueueStore.holdBack(forJuicesOf:)`.
  var growthPerJuice: Int64 = 96
  /// Number of customers and keys staged since the need was last compared with the reserve. `stagedAcceptances`
  /// is their number in the open transaction.
  var acceptedSinceCheck: Int64 = 0
  var stagedAcceptances: Int64 = 0
  var unissued = UnissuedCustomers()
  /// The services to which this store has assigned a number.
  public internal(set) var services: ServiceDirectory
  /// Numbers of the lines, including staged ones. `committedLines` contains those on disk.
  var lines: LineNumbers
  private var committedLines: LineNumbers
  /// Counts by service that are bound to a statement.
  var serviceCountCache = ServiceCountCache()
  /// Range of tickets with payloads, including staged ones. `committedPayloads` is the range on disk.
  var payloads: RowBounds
  private var committedPayloads: RowBounds
  /// Range of receipts with results, including staged ones. `committedResults` is the range on disk.
  var results: RowBounds
  private var committedResults: RowBounds

  override class var schema: Schema { .bank }
  /// Base reserve, for the WAL of a few transactions, attempts and pauses.
  override class var reservePlan: ReservedSpace.ReservePlan {
    ReservedSpace.ReservePlan(limit: 4 << 20, share: 8, headroom: 1 << 20)
  }

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

  /// Checkpoints the WAL and closes the database. Staged changes are dropped. The store cannot be used again.
  ///
  /// - Throws: errors of the checkpoint. No data is lost then, because the WAL remains next to the database.
  public override func close() throws(StoreError) {
    forgetStaged()
    needsCheckpoint = false
    try super.close()
  }

  /// Starts to reserve space, and to use a reserve that an earlier process has left. The store must be loaded.
  public override func enableReserve() {
    precondition(saved != nil, "The reserve is set up after the store is loaded.")
    reservedSpace.enable(for: need(of: saved, unissued.open))
  }

  /// Checks again whether enough space is free. See `QueueStore`.
  public override func refreshDiskSpace() {
    guard isLowOnSpace, saved != nil else { return }
    acceptedSinceCheck = 0
    reservedSpace.look(for: need(of: saved, unissued.open))
  }

  /// Adds a change to the open transaction, and opens one if there is none. See `QueueStore`.
  ///
  /// - Throws: `.diskFull`; `.failed`, which ends the use of the store; `.damaged` with ticket and day if a constraint
  ///   is violated: a second receipt, a customer in another state. All staged changes are dropped then. The violation
  ///   may be in a change that was staged earlier.
  public func stage(_ change: StoreChange) throws(StoreError) {
    try changeStaged { () throws(StoreError) in
      try write(change)
      if change.increasesNeed { stagedAcceptances += 1 }
    }
  }

  /// Runs a change in the open transaction, and opens one if there is none.
  @inline(__always) func changeStaged(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try requireTransaction()
    try runDeferredWork()
    do throws(StoreError) {
      try transactions.beginIfNeeded()
      try body()
    } catch { throw recover(from: error) }
  }

  /// Commits the day counters with all staged changes. Durable on return. See `QueueStore`.
  ///
  /// If the counters start a new day, the old day is closed at the opening time of the new one.
  @discardableResult
  public func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError)
    -> CommitProgress
  {
    try requireTransaction()
    guard let saved else { preconditionFailure("The store was not loaded before a commit.") }
    if !hasStagedChanges && dayCounters == saved && arriving == unissued.open { return .onDisk }
    do throws(StoreError) { try holdBack(for: dayCounters, arriving) } catch {
      rollBack()
      throw error
    }
    let firstUnissuedTicket: TicketNumber?
    do throws(StoreError) {
      try transactions.beginIfNeeded()
      try writeBatch()
      try finishBulkCancel()
      try save(dayCounters, over: saved, arriving)
      firstUnissuedTicket = try saveUnissued(dayCounters, arriving)
      try transactions.commit()
    } catch { throw recover(from: error) }
    finishTransaction()
    unissued = UnissuedCustomers(first: firstUnissuedTicket, open: arriving)
    self.saved = dayCounters
    needsCheckpoint = true
    // The checkpoint lets the next process find the data of this commit.
    if transactions.isLogLost { try runDeferredWork() }
    return .onDisk
  }

  /// Checkpoints the WAL if it has become long. See `QueueStore`.
  ///
  /// Call it after the reply was sent, because a checkpoint takes time.
  public func runDeferredWork() throws(StoreError) {
    guard needsCheckpoint, !transactions.isOpen else { return }
    needsCheckpoint = false
    try requireHealth()
    try checkpointIfDue()
  }

  /// Drops all changes staged since the last commit.
  public func rollBack() {
    transactions.rollBack()
    forgetStaged()
  }

  /// Resets the state of the open transaction to that of the last commit.
  private func forgetStaged() {
    lines = committedLines
    payloads = committedPayloads
    results = committedResults
    pendingError = nil
    bulkCancel = nil
    sequence = committedSequence
    batch.forget()
    unissued.areRemoved = false
    staged = StagedReceipts()
    stagedDay = nil
    stagedAcceptances = 0
  }

  /// Runs `body` in its own transaction. After a full disk for which space was freed, runs it again.
  func inTransaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    precondition(!hasStagedChanges, "A transaction is open.")
    let result = try transactions.attempt(undo: forgetStaged) { _ throws(StoreError) in
      let result = try body()
      try transactions.commit()
      return result
    }
    finishTransaction()
    if transactions.isLogLost { try checkpointIfDue() }
    return result
  }

  /// Adopts the state of the open transaction as that on disk.
  private func finishTransaction() {
    reservedSpace.committed()
    committedSequence = sequence
    committedLines = lines
    committedPayloads = payloads
    committedResults = results
    staged = StagedReceipts()
    stagedDay = nil
    stagedAcceptances = 0
  }

  /// Checkpoints the WAL if that is due, and then releases surplus reserve.
  private func checkpointIfDue() throws(StoreError) {
    if try transactions.checkpointIfDue() { shrinkReserve() }
  }

  /// True if a read of all data may take longer than one iteration of the loop may take.
  public func isLong() throws(StoreError) -> Bool { try database.pageCount() > 512 }

  /// Keeps the file, with all committed data, unchanged while another process reads it in place; see
  /// ``init(frozen:)``. Returns false if that is impossible now. Nothing may be staged.
  ///
  /// - Parameter onThaw: called once, before the file changes again. A read after this call is invalid.
  public func freeze(onThaw: @escaping () -> Void) throws(StoreError) -> Bool {
    precondition(!hasStagedChanges, "Only a store without staged changes can be frozen.")
    return try transactions.freeze(onThaw: onThaw)
  }

  /// Ends the freeze, because no process reads the file any more.
  public func thaw() {
    database.thaw()
    // The WAL may have become long during the freeze, and the check must not wait for another commit.
    needsCheckpoint = true
  }

  /// Throws the error that has ended the use of the store, if there is one.
  func requireHealth() throws(StoreError) { try transactions.requireHealth() }

  /// Writes gathered rows before a read, so that the read includes staged changes.
  func settle() throws(StoreError) {
    try requireHealth()
    if let pendingError { throw pendingError }
    if batch.isEmpty, bulkCancel == nil { return }
    do throws(StoreError) {
      try writeBatch()
      try finishBulkCancel()
    } catch {
      let error = recover(from: error)
      pendingError = error
      throw error
    }
  }

  /// Throws the error with which a failed read has rolled back the open transaction; otherwise a commit would lack the
  /// changes that were staged before it.
  private func requireTransaction() throws(StoreError) {
    try requireHealth()
    guard let pendingError else { return }
    self.pendingError = nil
    throw pendingError
  }

  /// Rolls back, and returns the error that the caller must throw. If the disk is full, also frees space so
  /// that the accepted customers can be finished.
  func recover(from error: StoreError) -> StoreError {
    defer { forgetStaged() }
    return transactions.recover(from: error)
  }
}

/// Numbers of receipts of one day in the open transaction, by outcome. The saved counters do not include them yet.
struct StagedReceipts {
  var served: Int64 = 0
  var cancelled: Int64 = 0
}
