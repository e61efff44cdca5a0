// Owns how changes get into the store: what is staged and since when, when it is committed, what is on its way to the disk,
// and what waits while the disk is full, while a reset is being written, or because it takes long to read.
// Invariant: while the disk is full nothing is staged, read or committed, because the store has forgotten what was staged
// and the queue is ahead of it; what was to be read meanwhile is read when there is room. After the process was cut off
// nothing is staged, read or committed ever again.
// Failure: StoreError, which `QueueDriver.fail(_:)` deals with.

import BankModel
import Posix
import QueueCore
import Time

final class CommitEngine {
  /// How long a full disk is left alone before it is tried again.
  static let diskPause = TimeSpan.milliseconds(250)

  /// How long nothing may be told of what the store shows, because a part of it is always on its way.
  static let longestUnkept = TimeSpan.milliseconds(250)

  private(set) var keptBooks: Books
  /// After a full disk: when it is tried again.
  private(set) var retryAt: MonotonicTime?

  private let context: BankContext
  private let store: any QueueStore
  /// Whether the store is behind a network, and has something to say at any time.
  private let isFar: Bool
  /// The first change since the last commit was staged then; nil while nothing is staged.
  private var stagedSince: MonotonicTime?
  private var pacing = CommitPacing()
  /// The books of the transactions that are on their way, the oldest first.
  private var underway: [Books] = []
  /// Questions that were asked and are not answered.
  private var open = 0
  /// Since when the store has shown what is not on disk.
  private var unkeptSince = MonotonicTime(nanoseconds: 0)
  /// What could not be read while the disk was full.
  private var heldBack: [QueueEffect] = []
  /// What is to be read in a later turn.
  private var postponed: [QueueEffect] = []
  /// While the store is short of room: when it looks again.
  private var room = RoomWatch()

  init(_ store: any QueueStore, kept books: Books, _ context: BankContext) {
    self.store = store
    self.context = context
    isFar = !store.canBeAwaited
    keptBooks = books
  }

  /// Whether something can be staged or read now.
  var isWorking: Bool { retryAt == nil && !context.isCutOff }
  /// Whether everything that the store shows is on disk: nothing is staged, and nothing is on its way.
  var isKept: Bool { !context.isCutOff && !store.hasStagedChanges }
  /// Whether a reset is being written: whatever is staged stays in an open transaction until it is done.
  var isEmptying: Bool { store.emptying != nil }
  var emptying: EmptyingProgress? { store.emptying }

  /// Adds a change to the open transaction; while the disk is full the queue remembers it.
  func stage(_ change: StoreChange) throws(StoreError) {
    guard isWorking || Kernel.makes("stagesTwice") && !context.isCutOff else { return }
    try store.stage(change)
    if stagedSince == nil { noteStaged() }
  }

  private func noteStaged() {
    stagedSince = context.now.monotonic
    if underway.isEmpty { unkeptSince = context.now.monotonic }
  }

  /// Whether anything was staged since the last transaction was handed over.
  var hasStaged: Bool { stagedSince != nil }

  /// Takes out some of those whose request was never whole; nobody was told of them.
  func withdrawArrivals(limit: Int) throws(StoreError) {
    guard isWorking else { return }
    try store.withdrawArrivals(limit: limit)
    if stagedSince == nil { noteStaged() }
  }

  /// Reads what the queue has asked for; what has happened then. While the disk is full the store has forgotten what was
  /// staged, and a page could show who has long gone: reading waits as well.
  func read(_ effect: QueueEffect) throws(StoreError) -> QueueEvent? {
    guard isWorking else {
      if !Kernel.makes("forgetsWhatItHeldBack") { heldBack.append(effect) }
      return nil
    }
    // A million dead letters are not brought back in one breath.
    let isLong = if case .loadDead = effect { true } else { false }
    if isEmptying
      || isLong && SystemClock.monotonic().since(context.now.monotonic) >= LongRequests.turn
    {
      postponed.append(effect)
      return nil
    }
    do throws(StoreError) {
      let answer = try store.ask(question(of: effect))
      if answer == nil { open += 1 }
      return answer
    } catch {
      // Nothing else would ask for it again, and a line whose page never comes is served no more.
      heldBack.append(effect)
      throw error
    }
  }

  private func question(of effect: QueueEffect) -> StoreQuestion {
    switch effect {
    case .loadPage(let line, let after, let limit): .page(line, after: after, limit: limit)
    case .loadDelayed(let after, let limit): .delayed(after: after, limit: limit)
    case .lookUp(let request, let ticket): .ticket(request, ticket)
    case .loadDead(let request, let limit): .dead(request, limit: limit)
    default: preconditionFailure("only reads are read")
    }
  }

  var hasPostponed: Bool { isWorking && !postponed.isEmpty }

  func takePostponed() -> [QueueEffect] {
    defer { postponed.removeAll() }
    return postponed
  }

  /// Writes more of a reset, until a moment at most.
  func emptyFurther(until: MonotonicTime) throws(StoreError) {
    while isEmptying, SystemClock.monotonic() < until { try store.emptyFurther() }
  }

  /// Whether what is staged may be committed now. While a reset is being written it may not. While the disk is full the
  /// store has forgotten what was staged, and the books would be kept without it. A request that is half taken in is
  /// nobody's before its last slice, whatever is committed meanwhile; see ``QueueMachine/arriving``.
  var canCommit: Bool {
    (isWorking || Kernel.makes("commitsToAFullDisk") && !context.isCutOff) && !isEmptying
  }

  /// When the open transaction is to be committed; nil while there is nothing to commit.
  ///
  /// Whoever waits for a reply is not kept waiting. Completions alone, for which nobody waits, are gathered while
  /// the bank is busy, as ``CommitPacing`` says, and are committed at once when it was quiet.
  func due(isUnsettled: Bool, isAwaited: Bool) -> MonotonicTime? {
    guard canCommit else { return nil }
    guard let stagedSince else { return isUnsettled ? context.now.monotonic : nil }
    return isAwaited
      ? stagedSince : pacing.due(stagedSince: stagedSince, gather: context.configuration.gather)
  }

  /// Puts everything that is staged on disk, with the books as they are, or on its way there. It is later then.
  func commit(_ books: Books, arriving: ArrivingRequest?) throws(StoreError) -> CommitProgress {
    precondition(
      canCommit, "nothing is committed beside what the store has forgotten, or in the middle of a reset")
    if stagedSince == nil, underway.isEmpty { unkeptSince = context.now.monotonic }
    let begin = SystemClock.monotonic()
    let progress = try store.commit(books, arriving: arriving)
    context.takeTime()
    stagedSince = nil
    pacing.committed(from: begin, to: context.now.monotonic)
    switch progress {
    case .underway: underway.append(books)
    case .onDisk:
      precondition(underway.isEmpty, "what comes later is on disk before what is on its way")
      keptBooks = books
    }
    return progress
  }

  /// Whether something is on its way to the disk.
  var isUnderway: Bool { !underway.isEmpty }

  /// Whether something may have come to pass.
  var mayHaveResults: Bool { isUnderway || open > 0 || isFar }

  /// What has come to pass of what is on its way or was asked for, or what others have done with shared books; nil where
  /// there is nothing to say yet.
  func takeResult() throws(StoreError) -> QueueEvent? {
    guard mayHaveResults, isWorking, let event = try store.takeResult() else { return nil }
    context.takeTime()
    switch event {
    case .committed: keptBooks = underway.removeFirst()
    case .pageLoaded, .delayedLoaded, .found, .deadLoaded: open -= 1
    // Nothing that was asked before is answered any more.
    case .branchLost: forgetUncertain()
    default: break
    }
    return event
  }

  private func forgetUncertain() {
    stagedSince = nil
    underway.removeAll()
    open = 0
  }

  /// Returns when the result of everything that is on its way can be taken. It is later then.
  func awaitResults() {
    guard isUnderway, isWorking, !isFar else { return }
    store.awaitResults()
    context.takeTime()
  }

  /// Whether there was no moment for so long in which everything that the store shows is on disk, that one is to be made:
  /// where one transaction follows the other there is none by itself, and whoever asks what is kept would wait for ever.
  var isKeptTooRarely: Bool {
    isUnderway && !isFar && unkeptSince + Self.longestUnkept <= context.now.monotonic
  }

  /// What a customer of the present day carries.
  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? { try store.payload(of: ticket) }
  var services: ServiceDirectory { store.services }

  /// Gives numbers to services that have none.
  ///
  /// - Throws: `.diskFull` also where something is staged that could not be committed just now.
  func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    guard isWorking, !store.hasStagedChanges else { throw .diskFull(detail: Remark(quoting: "not now")) }
    try store.giveNumbers(to: names)
    keptBooks.know(services: store.services.count)
  }

  func tidyUp() throws(StoreError) { if isWorking { try store.tidyUp() } }

  /// The disk is full: what was staged and what was on its way is forgotten. The store has made what room it could, so at
  /// the first time it is tried again at once.
  func rollBack(isFirst: Bool) {
    store.rollBack()
    stagedSince = nil
    underway.removeAll()
    retryAt = isFirst ? context.now.monotonic : context.now.monotonic + Self.diskPause
  }

  func beginRetry() { retryAt = nil }
  /// Something is performed when there is room again.
  func holdBack(_ effect: QueueEffect) { heldBack.append(effect) }

  func takeHeldBack() -> [QueueEffect] {
    defer { heldBack.removeAll() }
    return heldBack
  }

  /// When the engine has to be looked after by itself next: the commit apart.
  var nextDeadline: MonotonicTime? {
    let own = MonotonicTime.earlier(retryAt, room.dueAt)
    guard mayHaveResults, let next = store.nextResult else { return own }
    // While a full disk is left alone nothing is taken of what is there, and so it wakes nobody.
    return isWorking || next > context.now.monotonic ? .earlier(own, next) : own
  }

  /// Whether the store lives on its reserve, as it has found out last. While it does it is asked again every second, and
  /// otherwise never, so that an idle bank sleeps.
  func noteRoom() -> Bool {
    let isShort = store.isShort
    room.note(isShort: isShort, at: context.now.monotonic)
    return isShort
  }

  /// Has the store look for room where it was left alone long enough; whether it has.
  func lookForRoomIfDue() -> Bool {
    guard room.takeDue(at: context.now.monotonic) else { return false }
    store.lookForRoom()
    return true
  }

  /// Whether there is room for so many customers to get their receipts in one transaction.
  func hasRoom(toMove customers: Int64) -> Bool { store.hasRoom(toMove: customers) }
  func holdBack(forJuicesOf assortment: Assortment) { store.holdBack(forJuicesOf: assortment) }
}

/// The decision when the open transaction is committed while nobody waits for it.
/// Invariant: what is staged is committed within `gather` or `longestPause` of the last commit, whichever is longer.
struct CommitPacing {
  /// The pause after a commit, in durations of that commit.
  static let rest: Int64 = 32
  /// The longest pause that a slow disk can bring about; those who watch the receipts see them so much later.
  static let longestPause = TimeSpan.milliseconds(25)

  private var lastCommit = MonotonicTime(nanoseconds: 0)
  private var pause = TimeSpan.zero

  mutating func committed(from begin: MonotonicTime, to end: MonotonicTime) {
    lastCommit = end
    let wanted = end.since(begin).nanoseconds.multipliedReportingOverflow(by: Self.rest)
    pause =
      wanted.overflow ? Self.longestPause : min(TimeSpan(nanoseconds: wanted.partialValue), Self.longestPause)
  }

  /// When changes that nobody waits for are committed: at once after a quiet time.
  func due(stagedSince: MonotonicTime, gather: TimeSpan) -> MonotonicTime {
    max(stagedSince, lastCommit + max(gather, pause))
  }
}
