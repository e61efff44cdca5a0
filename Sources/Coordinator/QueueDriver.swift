// Driver of the queue's state machine: it applies every event and performs the resulting effects in order.
// Invariants: events reach the machine only through `apply(_:into:)`. A change is staged before any effect requested
// after it. Effects that wait for a commit are performed before anything else can be staged.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// Called with every event instead of the queue, for checks of a simulation; it must pass the event to the queue.
package protocol QueueObserver: AnyObject {
  /// Applies an event at a moment and appends the requested effects, which are performed in order.
  func apply(
    _ event: QueueEvent, to machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect])
}

enum OutsideWorkerCommand {
  case send(MessageToTeller)
  case expel(Generation, reason: String)
}

final class QueueDriver {
  private(set) var machine: QueueMachine
  let engine: CommitEngine

  var onOutsideCommand: (OutsideWorkerCommand, Window) -> Void = { _, _ in }
  /// Called with an operator's command for customers that this branch has not claimed; the database executes it.
  var onForward: (OperatorCommand, RequestNumber) -> Void = { _, _ in }
  /// Called when the queue itself has paused a service, because of a failure.
  var onPaused: () -> Void = {}
  var onReply: (RequestNumber, QueueAnswer) -> Void = { _, _ in }
  /// Called when no customer can be served any more and no window is busy.
  var onDrained: () -> Void = {}
  /// Called after a commit was confirmed, before anything else is staged.
  var onCommitted: () -> Void = {}
  /// Called when the queue has refused customers because the disk is full.
  var onRefused: () -> Void = {}
  /// Called when the store has failed and the state of the disk is unknown.
  var onStoreFailure: (StoreError) -> Void = { _ in }
  /// Reasons why the queue has paused services. A reason is removed when its service is resumed.
  var pauseReasons: [Service: String] = [:]
  /// Latest progress reports of workers, for customers in flight.
  private(set) var progress: [TicketNumber: WorkProgress] = [:]
  /// Observer that applies the events, for checks in simulations; nil if the driver applies them itself.
  var witness: (any QueueObserver)?
  /// Log entries for workers that keep no log of their own.
  let workerLog: ExternalWorkerLog
  let context: BankContext
  let tellerSupervisor: TellerSupervisor
  /// Customers in flight at commands and workers, stored for the next coordinator; nil if there is no table.
  let inFlightTable: InFlightTable?
  /// Assignments that are held back, because their workers have not read earlier messages.
  var deferredAssignments = DeferredAssignments()
  /// Bytes that are queued for the outside worker with this number and not yet written to its socket.
  var outsideBacklog: (Int32) -> Int = { _ in 0 }
  let subscriptions: Subscriptions
  private let releases: ReleaseQueue
  private var effects: [QueueEffect] = []
  private var isPerforming = false
  /// Business day of the effects being performed, even if a reset among them has already ended it in the machine.
  private(set) var effectsDay: BusinessDay
  /// True while the clients that waited for a commit are notified.
  var isNotifying = false
  /// True during ``sendReply(_:)``: the facts in the reply are on disk, even if other changes are not.
  private(set) var isReplying = false
  /// Request of the last slice that the queue has accepted; see ``admit(_:of:)``.
  var acceptedSlice: RequestNumber?
  /// Number of changes still to be staged again after a full disk. ``Subscriptions`` has already counted them.
  private var repeats = 0

  init(
    _ machine: consuming QueueMachine, _ engine: CommitEngine, _ context: BankContext,
    _ tellerSupervisor: TellerSupervisor, _ subscriptions: Subscriptions, _ releases: ReleaseQueue
  ) {
    inFlightTable = context.bindings.inFlightTable
    effectsDay = machine.dayCounters.day
    self.machine = machine
    self.engine = engine
    self.context = context
    workerLog = ExternalWorkerLog(context)
    self.tellerSupervisor = tellerSupervisor
    self.subscriptions = subscriptions
    self.releases = releases
  }

  // MARK: - Events

  func process(_ event: QueueEvent) {
    apply(event)
    perform()
  }

  /// Applies an event; the next ``perform()`` performs its effects.
  func apply(_ event: QueueEvent) { apply(event, into: &effects) }

  /// Applies an event and appends its effects, which are not performed yet. A resume deletes the reason of the pause.
  private func apply(_ event: QueueEvent, into effects: inout [QueueEffect]) {
    if case .resume(_, let service) = event, !pauseReasons.isEmpty {
      if let service { pauseReasons[service] = nil } else { pauseReasons.removeAll() }
      storePauseReasons()
    }
    guard let witness else { return machine.apply(event, at: context.now, into: &effects) }
    witness.apply(event, to: &machine, at: context.now, into: &effects)
  }

  /// Stores a worker's progress report if the worker holds the lease.
  func note(_ progress: WorkProgress, of lease: Lease, at window: Window) {
    guard machine.holds(lease, at: window) else { return }
    self.progress[lease.ticket] = progress
    subscriptions.changed = true
  }

  func adopt(_ policy: QueuePolicy) { machine.adopt(policy) }
  /// Number of customers cancelled by the reset that is answered now; nil for other requests.
  func takeCancelledCount(by request: RequestNumber) -> Int64? { machine.takeCancelledCount(by: request) }

  // MARK: - Effects

  /// Performs all pending effects in order, including those of events that these effects cause.
  func perform() {
    guard !isPerforming, !isNotifying else { return }
    isPerforming = true
    if effectsDay != machine.dayCounters.day { effectsDay = firstEndedDay ?? machine.dayCounters.day }
    defer { (isPerforming, effectsDay) = (false, machine.dayCounters.day) }
    let isShuffled = Mutant.reversesStagedChanges.isActive
    var index = 0
    while index < effects.count, !context.isHalted {
      if isShuffled { swapStages(from: index) }
      // The effect is moved, not copied, to avoid retain and release of its contents.
      var effect = QueueEffect.reportDrained
      swap(&effect, &effects[index])
      index += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
  }

  /// Day that the first reset among the effects ends; nil if there is none.
  private var firstEndedDay: BusinessDay? {
    effects.lazy.compactMap { if case .stage(.cancelAllCustomers(let day, _)) = $0 { day } else { nil } }
      .first
  }

  /// Fault injection: swaps a change with the next one, so that it is staged later.
  private func swapStages(from index: Int) {
    guard case .stage = effects[index] else { return }
    let next = effects[(index + 1)...].firstIndex { if case .stage = $0 { true } else { false } }
    if let next { effects.swapAt(index, next) }
  }

  /// Performs one effect that the queue has requested: stages a change, sends a message, or calls another part.
  private func perform(_ effect: QueueEffect) {
    switch effect {
    case .stage(let change):
      if case .cancelAllCustomers(let ended, _) = change { effectsDay = ended + 1 }
      stage(change)
    case .acceptSlice(let request): acceptedSlice = request
    case .loadPage, .loadDelayed, .lookUp, .loadDead: read(effect)
    case .forward(let request, let order): onForward(order, request)
    case .assign(let window, let lease, let customer):
      if let inFlightTable, context.kinds[window.service].takesPayload {
        inFlightTable.markAssigned(lease.ticket)
      }
      entrust(customer, lease, at: window)
    case .acknowledge(let window, let lease):
      // A worker program receives only the messages of the worker protocol.
      guard !window.isOutside, !context.kinds[window.service].isForeign else { break }
      tellerSupervisor.send(
        window, .acknowledged(lease), canBeDelayed: machine.numbers(of: window)?.lease != nil)
    case .recall(let window, let lease): recall(lease, from: window)
    case .notifyNoMoreCustomers(let window): tellerSupervisor.send(window, .closing)
    case .openWindow(let window): tellerSupervisor.open(window, at: context.now)
    case .closeWindow(let window): tellerSupervisor.close(window)
    case .dismissTeller(let window): tellerSupervisor.dismiss(window, at: context.now)
    case .killStuckTeller(let window, let generation):
      tellerSupervisor.abort(window, generation, at: context.now)
    case .killRogueTeller(let window, let generation, let reason):
      if window.isOutside {
        onOutsideCommand(.expel(generation, reason: reason), window)
      } else {
        tellerSupervisor.expel(window, generation, reason: reason, at: context.now)
      }
    case .announce(let phase, let window, let lease, let customer):
      if phase != .started, !progress.isEmpty { progress[lease.ticket] = nil }
      workerLog.announce(phase, window, lease, customer, day: effectsDay)
      subscriptions.announce(phase, window, lease, customer, day: effectsDay, in: context)
    case .logDeadLetter(let customer, let window, let end, let processEnd):
      reportDead(customer, window, end, processEnd)
    case .logRejectedCompletion(let customer, let receipt):
      context.write(event: "completion_rejected", level: .warn) {
        $0.field("day", receipt.day)
        $0.field("ticket", customer.ticket)
        $0.field("msg", "the customer was already finished elsewhere")
      }
    case .logPause(let service, let failure):
      pauseReasons[service] = failure.words
      storePauseReasons()
      onPaused()
      subscriptions.changed = true
      context.write(event: "service_paused", level: .error) {
        $0.field("service", context.services.directory[service].text)
        $0.field("msg", failure.words)
      }
    case .reply(let request, let answer): sendReply { onReply(request, answer) }
    case .reportDrained: onDrained()
    }
  }

  /// Runs a function that sends replies. What these replies quote from the store is on disk.
  func sendReply(_ answer: () -> Void) {
    // An answer may cause events, whose effects include other replies.
    let wasReplying = isReplying
    isReplying = true
    answer()
    isReplying = wasReplying
  }

  /// Sends a message to the teller or outside worker at a window.
  func send(_ window: Window, _ message: MessageToTeller) {
    if window.isOutside {
      onOutsideCommand(.send(message), window)
    } else {
      tellerSupervisor.send(window, message)
    }
  }

  /// Stages a change in the store, and reports it to the parts that count changes.
  func stage(_ change: StoreChange) {
    guard !isNotifying else { return effects.append(.stage(change)) }
    let isRepeated = repeats > 0
    if isRepeated { repeats -= 1 } else { updateInFlightTable(change) }
    subscriptions.note(change, isRepeated: isRepeated, at: context.now.wall)
    if change.mayLeaveReservation { releases.requestScan() }
    if !isRepeated, case .record(let attempt) = change { workerLog.note(attempt) }
    do throws(StoreError) { try engine.stage(change) } catch { fail(error) }
  }

  /// Reads from the store what an effect requests, and applies the result as an event.
  private func read(_ effect: QueueEffect) {
    do throws(StoreError) { if let event = try engine.read(effect) { apply(event) } } catch { fail(error) }
  }

  func readPostponed() {
    guard engine.hasPostponed else { return }
    context.updateTime()
    effects.append(contentsOf: engine.takePostponed())
    perform()
  }

  /// Writes a log entry about a customer that became a dead letter, and records the event for dashboards.
  private func reportDead(
    _ customer: Customer, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?
  ) {
    subscriptions.noteDead(customer, window, processEnd, at: context.now.wall)
    context.write(event: "dead", level: .warn) {
      $0.field("day", effectsDay)
      $0.field("ticket", customer.ticket)
      $0.field("service", context.services.directory[customer.service].text)
      if !window.isUnknown { $0.field("window", context.name(of: window)) }
      $0.field("attempts", customer.attempts)
      if let most = machine.policy[customer.service.index].maxAttempts, customer.startedAttempts >= most {
        $0.field("max_attempts", Int64(most))
      }
      $0.field("end", end.name)
      switch processEnd {
      case .code(let code): $0.field("code", code)
      case .signal(let signal): $0.field("signal", signal)
      case nil: break
      }
    }
  }

  // MARK: - Requests to the store

  /// True if customers may be admitted or removed in this iteration.
  var mayAdmitOrRemove: Bool { !context.isHalted && !engine.isResetting && !machine.delaysEnqueues }

  /// Assigns numbers to services that have none, durably. Staged changes are committed first.
  func assignNumbers(to names: [ServiceName]) throws(StoreError) {
    guard names.contains(where: { engine.services[$0] == nil }) else { return }
    commit()
    awaitResults()
    try engine.assignNumbers(to: names)
  }

  /// Lets the store do deferred maintenance.
  func runDeferredWork() { do throws(StoreError) { try engine.runDeferredWork() } catch { fail(error) } }

  /// Continues to write a reset until a deadline. Returns false if the store failed.
  func continueReset(until: MonotonicTime) -> Bool {
    do throws(StoreError) { try engine.continueReset(until: until) } catch {
      fail(error)
      return false
    }
    return true
  }

  // MARK: - Store failures

  /// Handles a store error. After a full disk the driver retries; after any other error this process exits.
  func fail(_ error: StoreError) {
    guard !context.isHalted else { return }
    var isFull = false
    if case .diskFull = error { isFull = true }
    guard isFull else {
      context.halt(with: 1)
      return onStoreFailure(error)
    }
    releases.postpone()
    let isFirst = !machine.isDiskFull
    engine.rollBack(isFirst: isFirst)
    subscriptions.unsealEvents()
    updateDiskSpace()
    if isFirst { refuse(because: error) }
  }

  /// Lets the queue refuse tickets that were not sent to clients yet. ``retry()`` stages the other changes again.
  private func refuse(because error: StoreError) {
    context.write(event: "disk_full", level: .error) { $0.field("msg", error.description) }
    var refused: [QueueEffect] = []
    var repeats = machine.uncommittedCount
    apply(.commitRefused, into: &refused)
    for effect in refused {
      guard case .stage(let change) = effect, !Mutant.stagesTwice.isActive else {
        effects.append(effect)
        continue
      }
      if repeats == 0 { subscriptions.note(change, isRepeated: false, at: context.now.wall) }
      repeats = max(0, repeats - 1)
    }
    onRefused()
    perform()
  }

  /// Stages and commits again what a full disk rejected, if the pause is over.
  func retryIfDue() { if let due = engine.retryAt, due <= context.now.monotonic { retry() } }

  /// Stages everything again that a full disk rejected, and commits it.
  func retry() {
    engine.beginRetry()
    stageAgain()
    guard engine.isWorking else { return }
    commit()
    guard engine.isWorking else { return }
    // If the result arrives later, `handleResults()` writes the log entry.
    if !machine.isDiskFull { logDiskAvailable() }
    effects.append(contentsOf: engine.takeHeldBack())
    perform()
  }

  /// Stages all discarded changes again. Other changes caused by the same event are new.
  private func stageAgain() {
    repeats = machine.uncommittedCount
    process(.commitRefused)
    repeats = 0
  }

  // MARK: - Disk space

  /// Writes the log entry that the disk has space again after it was full.
  func logDiskAvailable() { context.write(event: "disk_available") }

  /// Notifies the queue if the store has started or stopped using its disk reserve.
  func updateDiskSpace() {
    let isLowOnSpace = engine.updateDiskSpace()
    guard isLowOnSpace != machine.isLowOnSpace else { return }
    context.write(
      event: isLowOnSpace ? "disk_reserve_in_use" : "disk_reserve_free", level: isLowOnSpace ? .error : .info
    ) {
      let words =
        isLowOnSpace
        ? "the disk reserve is in use: no new customers are accepted, the present ones are served"
        : "there is space again: new customers are accepted"
      $0.field("msg", words)
    }
    process(.roomChanged(isLowOnSpace: isLowOnSpace))
  }

  /// Lets a store that is short of disk space check again if the pause is over.
  func checkDiskSpaceIfDue() { if engine.checkDiskSpaceIfDue() { updateDiskSpace() } }
  var nextDeadline: MonotonicTime? { .earlier(nextRetry, engine.nextDeadline) }
  /// Time at which the next delayed customer in memory may be due; see `QueueMachine.nextRetry`.
  var nextRetry: MonotonicTime? { Mutant.neverRunsTimers.isActive ? nil : machine.nextRetry }
  /// Earliest end of a lease or of a recall, in listening time; see `ListeningClock`.
  var nextLeaseEnd: MonotonicTime? { Mutant.neverRunsTimers.isActive ? nil : machine.nextLeaseEnd }
}
