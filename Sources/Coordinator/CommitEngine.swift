// Transactions of the store: staged changes, the deadline of their commit, and transactions in flight. The engine
// also defers reads of the queue: all of them while the disk is full or a reset is written, and the requeue of dead
// letters if an iteration has lasted too long.
// Invariant: while the disk is full nothing is staged or committed and no read of the queue runs, because the store
// has discarded staged changes and the queue is ahead of it. After a cut-off (see `BankContext.isHalted`) the same
// holds permanently.

import BankModel
import Posix
import QueueCore
import Time

final class CommitEngine {
  /// Pause between two retries after a full disk. The first retry is immediate.
  static let diskPause = TimeSpan.milliseconds(250)

  /// Time for which queries of the store may wait for a moment without a transaction in flight.
  static let longestUndurable = TimeSpan.milliseconds(250)

  /// Day counters of the last transaction that is on disk.
  private(set) var durableCounters: DayCounters
  /// Time of the next retry after a full disk; nil if the disk is not full.
  private(set) var retryAt: MonotonicTime?

  private let context: BankContext
  private let store: any QueueStore
  /// True for a store on a remote server, which can report results at any time.
  private let isRemote: Bool
  /// Time at which the first change of the open transaction was staged; nil if nothing is staged.
  private var stagedSince: MonotonicTime?
  private var pacing = CommitPacing()
  /// Day counters of the transactions in flight, oldest first.
  private var underway: [DayCounters] = []
  /// Number of store queries whose results are pending.
  private var openQueries = 0
  /// Time since which the store has contained changes that are not on disk.
  private var undurableSince = MonotonicTime(nanoseconds: 0)
  /// Effects that wait for disk space.
  private var blockedReads: [QueueEffect] = []
  /// Reads for a later iteration.
  private var postponed: [QueueEffect] = []
  /// Schedule of the checks for disk space while the store is short of it.
  private var freeSpaceMonitor = DiskSpaceMonitor()

  init(_ store: any QueueStore, durable dayCounters: DayCounters, _ context: BankContext) {
    self.store = store
    self.context = context
    isRemote = !store.canBlockForResults
    durableCounters = dayCounters
  }

  /// True if changes can be staged, and the store can be read, now.
  var isWorking: Bool { retryAt == nil && !context.isHalted }
  /// True if the store contains only what is on disk: nothing is staged or in flight. False after a cut-off.
  var isDurable: Bool { !context.isHalted && !store.hasStagedChanges }
  /// True while a reset is written; staged changes stay in the open transaction until it is complete.
  var isResetting: Bool { store.resetProgress != nil }
  var resetProgress: ResetProgress? { store.resetProgress }

  /// Adds a change to the open transaction, unless the disk is full or the process is cut off.
  func stage(_ change: StoreChange) throws(StoreError) {
    guard isWorking || Mutant.stagesTwice.isActive && !context.isHalted else { return }
    try store.stage(change)
    if stagedSince == nil { noteStaged() }
  }

  private func noteStaged() {
    stagedSince = context.now.monotonic
    if underway.isEmpty { undurableSince = context.now.monotonic }
  }

  /// True if changes were staged since the last commit was started.
  var hasStaged: Bool { stagedSince != nil }

  /// Removes at most `limit` customers of requests that stayed incomplete; no client has received their
  /// tickets.
  func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    guard isWorking else { return }
    try store.removeUnissuedCustomers(limit: limit)
    if stagedSince == nil { noteStaged() }
  }

  /// Runs a read that the queue has requested. Returns its result, or nil if the result arrives later or the read is
  /// deferred. While the disk is full a read is deferred: the store has discarded staged changes, and a page could
  /// contain customers who have left the queue.
  func read(_ effect: QueueEffect) throws(StoreError) -> QueueEvent? {
    guard isWorking else {
      if !Mutant.dropsPostponedReads.isActive { blockedReads.append(effect) }
      return nil
    }
    // The requeue of very many dead letters may take more than one iteration.
    let isLong = if case .loadDead = effect { true } else { false }
    if isResetting
      || isLong && SystemClock.monotonic().since(context.now.monotonic) >= IncrementalCommands.timeLimit
    {
      postponed.append(effect)
      return nil
    }
    do throws(StoreError) {
      let answer = try store.ask(question(of: effect))
      if answer == nil { openQueries += 1 }
      return answer
    } catch {
      // The queue does not repeat a read, and a line whose page never arrives would not be served any more.
      blockedReads.append(effect)
      throw error
    }
  }

  private func question(of effect: QueueEffect) -> StoreQuery {
    switch effect {
    case .loadPage(let line, let after, let limit): .page(line, after: after, limit: limit)
    case .loadDelayed(let after, let limit): .delayed(after: after, limit: limit)
    case .lookUp(let request, let ticket): .ticket(request, ticket)
    case .loadDead(let request, let limit): .dead(request, limit: limit)
    default: preconditionFailure("only a read becomes a question")
    }
  }

  /// True if reads were deferred to a later iteration and the disk is not full.
  var hasPostponed: Bool { isWorking && !postponed.isEmpty }

  /// Returns and forgets the reads that were deferred to a later iteration.
  func takePostponed() -> [QueueEffect] {
    defer { postponed.removeAll() }
    return postponed
  }

  func continueReset(until: MonotonicTime) throws(StoreError) {
    while isResetting, SystemClock.monotonic() < until { try store.continueReset() }
  }

  /// True if the staged changes may be committed now. False while a reset is written. False while the disk is full: the
  /// store has discarded the staged changes, and the counters would be stored without them.
  var canCommit: Bool {
    (isWorking || Mutant.commitsCountersOnFullDisk.isActive && !context.isHalted) && !isResetting
  }

  /// Deadline of the commit of the open transaction; nil if there is nothing to commit, or no commit is possible.
  ///
  /// If a client waits for a reply (`isAwaited`), the commit is due at once. Other changes are gathered; see
  /// ``CommitPacing``.
  func due(hasUncommittedChanges: Bool, isAwaited: Bool) -> MonotonicTime? {
    guard canCommit else { return nil }
    guard let stagedSince else { return hasUncommittedChanges ? context.now.monotonic : nil }
    return isAwaited
      ? stagedSince : pacing.due(stagedSince: stagedSince, gather: context.configuration.gather)
  }

  /// Commits staged changes and these day counters, or starts the commit. Updates the current time.
  func commit(_ dayCounters: DayCounters, arriving: InProgressEnqueue?) throws(StoreError) -> CommitProgress {
    precondition(
      canCommit, "no commit after a loss of staged changes, or during a reset")
    if stagedSince == nil, underway.isEmpty { undurableSince = context.now.monotonic }
    let begin = SystemClock.monotonic()
    let progress = try store.commit(dayCounters, arriving: arriving)
    context.updateTime()
    stagedSince = nil
    pacing.committed(from: begin, to: context.now.monotonic)
    switch progress {
    case .underway: underway.append(dayCounters)
    case .onDisk:
      precondition(underway.isEmpty, "a later change is on disk before a transaction in flight")
      durableCounters = dayCounters
    }
    return progress
  }

  var isUnderway: Bool { !underway.isEmpty }

  /// True if ``takeResult()`` may return a result: one is pending, or the store is on a remote server.
  var mayHaveResults: Bool { isUnderway || openQueries > 0 || isRemote }

  /// Next result of a transaction or query, or the next change by another branch of a shared database; nil if there
  /// is none yet, or while the disk is full.
  func takeResult() throws(StoreError) -> QueueEvent? {
    guard mayHaveResults, isWorking, let event = try store.takeResult() else { return nil }
    context.updateTime()
    switch event {
    case .committed: durableCounters = underway.removeFirst()
    case .pageLoaded, .delayedLoaded, .found, .deadLoaded: openQueries -= 1
    // Queries sent before the branch lost its lease get no results.
    case .claimsLost: discardUncommitted()
    default: break
    }
    return event
  }

  /// Forgets the open transaction, those in flight, and pending queries.
  private func discardUncommitted() {
    stagedSince = nil
    underway.removeAll()
    openQueries = 0
  }

  /// Blocks until the results of all transactions in flight can be taken, and updates the current time. Does nothing
  /// for a store on a remote server.
  func awaitResults() {
    guard isUnderway, isWorking, !isRemote else { return }
    store.awaitResults()
    context.updateTime()
  }

  /// True if for too long there was no moment at which all changes in the store were on disk. With transactions in
  /// immediate succession clients that query the store might wait forever.
  var isDurableTooRarely: Bool {
    isUnderway && !isRemote && undurableSince + Self.longestUndurable <= context.now.monotonic
  }

  /// Payload of a customer of the present day.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { try store.payload(of: ticket) }
  /// Names and numbers of the services that have a number.
  var services: ServiceDirectory { store.services }

  /// Assigns numbers to services that have none.
  ///
  /// - Throws: `.diskFull` also while changes are staged or in flight, and after a cut-off.
  func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    guard isWorking, !store.hasStagedChanges else {
      throw .diskFull(detail: MessageDetail(quoting: "not now"))
    }
    try store.assignNumbers(to: names)
    durableCounters.know(services: store.services.count)
  }

  /// Lets the store do its deferred work.
  func runDeferredWork() throws(StoreError) { if isWorking { try store.runDeferredWork() } }

  /// Discards staged changes and transactions in flight, after a full disk. The first retry is immediate.
  func rollBack(isFirst: Bool) {
    store.rollBack()
    stagedSince = nil
    underway.removeAll()
    retryAt = isFirst ? context.now.monotonic : context.now.monotonic + Self.diskPause
  }

  /// Ends the wait for disk space: changes can be staged and committed again.
  func beginRetry() { retryAt = nil }
  /// Defers an effect until the disk has free space.
  func holdBack(_ effect: QueueEffect) { blockedReads.append(effect) }

  /// Returns and forgets the effects that waited for disk space.
  func takeHeldBack() -> [QueueEffect] {
    defer { blockedReads.removeAll() }
    return blockedReads
  }

  /// Next deadline of the engine, apart from the commit.
  var nextDeadline: MonotonicTime? {
    let own = MonotonicTime.earlier(retryAt, freeSpaceMonitor.dueAt)
    guard mayHaveResults, let next = store.nextResult else { return own }
    // Until the retry after a full disk no results are taken, so a pending result must not wake the loop.
    return isWorking || next > context.now.monotonic ? .earlier(own, next) : own
  }

  /// Returns true if the store was using its disk reserve at its last check. While the reserve is not in use no timer
  /// runs, so that an idle bank sleeps.
  func updateDiskSpace() -> Bool {
    let isLowOnSpace = store.isLowOnSpace
    freeSpaceMonitor.note(isLowOnSpace: isLowOnSpace, at: context.now.monotonic)
    return isLowOnSpace
  }

  /// Lets the store check for disk space if a check is due. Returns true if the store checked.
  func checkDiskSpaceIfDue() -> Bool {
    guard freeSpaceMonitor.takeDue(at: context.now.monotonic) else { return false }
    store.refreshDiskSpace()
    return true
  }

  /// Returns true if the disk has space for the receipts of this many customers in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool { store.hasRoom(toMove: customers) }
  /// Sets the disk space that the store reserves for each customer that draws on the stock.
  func holdBack(forJuicesOf assortment: Assortment) { store.holdBack(forJuicesOf: assortment) }
}

/// Schedule of commits for which no client waits.
/// Invariant: staged changes are not held back any more once `commit_delay` or `longestPause`, whichever is longer,
/// has passed since the last commit.
struct CommitPacing {
  /// Pause after a commit, as a multiple of the duration of that commit.
  static let rest: Int64 = 32
  /// Longest pause after a commit on a slow disk, unless `commit_delay` is longer.
  static let longestPause = TimeSpan.milliseconds(25)

  private var lastCommit = MonotonicTime(nanoseconds: 0)
  /// Pause after the last commit.
  private var pause = TimeSpan.zero

  /// Records the duration of a commit, from which the next pause follows.
  mutating func committed(from begin: MonotonicTime, to end: MonotonicTime) {
    lastCommit = end
    let wanted = end.since(begin).nanoseconds.multipliedReportingOverflow(by: Self.rest)
    pause =
      wanted.overflow ? Self.longestPause : min(TimeSpan(nanoseconds: wanted.partialValue), Self.longestPause)
  }

  /// Deadline of a commit for which no client waits: a pause of at least `gather` after the last commit; immediate if
  /// that pause is over.
  func due(stagedSince: MonotonicTime, gather: TimeSpan) -> MonotonicTime {
    max(stagedSince, lastCommit + max(gather, pause))
  }
}
