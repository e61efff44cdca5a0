// Shutdown of the bank: performs the steps that the drain decides, logs them, reports them to clients, and sends the
// final answer.
// Invariants: a day is closed once, even if the disk is full repeatedly. The actions of an evaluation of the drain do
// not cause another evaluation.

import BankModel
import Posix
import QueueCore
import Supervision
import Time
import Wire

final class ShutdownController: CoordinatorComponent {
  private static let progressPause = TimeSpan.milliseconds(200)

  private struct State {
    var drain: Drain
    /// Clients that wait until the bank has closed.
    var requesters: [RequestHandle] = []
    var reportedAt = MonotonicTime(nanoseconds: 0)
    /// True after the final commit was started, when all processes had exited.
    var hasStartedFinalCommit = false
    /// Final answer and final status report; nil until everything but the end of the day is on disk.
    var last: (report: StoppedReport, picture: StatusReport)?
    /// True after the branch started to leave the shared database.
    var isLeaving = false
    /// Error of the database if it could not end the day of the whole bank.
    var refusal: StoreError?
    /// Customers left to the current step at its start; see `customersLeft(in:)`.
    var total: Int64 = 0
    /// Customers served on this day before the drain.
    var servedBefore: Int64
    /// Windows whose tellers had to be killed.
    var killed: Set<Window> = []
    /// True after the queue reported that it is drained; see ``drained()``.
    var isDrained = false
    /// True if no process is left, so that the day can be closed.
    var isOver = false
    /// True if delayed customers stay in the database for the next start.
    var leavesDelayed = false
    /// True while the drain is being evaluated; its actions cause other events.
    var isEvaluating = false
    var isReportingProgress: Bool { !requesters.isEmpty && drain.step != .kill }
  }

  private let enqueueHandler: EnqueueHandler
  private let outside: OutsideWorkers
  private let services: ServiceProcesses
  private let shutdownReport: ShutdownReport
  private var state: State?
  /// True if the process that opened this bank in its foreground has exited.
  private(set) var isAbandoned = false

  init(
    _ dependencies: CoordinatorComponent, _ enqueueHandler: EnqueueHandler, _ outside: OutsideWorkers,
    _ services: ServiceProcesses,
    _ shutdownReport: ShutdownReport
  ) {
    self.enqueueHandler = enqueueHandler
    self.outside = outside
    self.services = services
    self.shutdownReport = shutdownReport
    super.init(dependencies)
  }

  // MARK: - Requests

  /// Handles the request of a client to stop the bank.
  /// - Parameter status: Answer to a client that does not wait.
  func stop(_ order: StopParameters, _ requester: RequestHandle, _ status: () -> StatusReport) {
    if let timeout = order.timeoutMilliseconds, timeout < 0 {
      return server.answer(
        requester, .failure(Failure(.badRequest, messageDetail: MessageDetail(.timeoutNegative))))
    }
    let waits = order.noWait != true
    if state != nil, waits { send(progress(), to: [requester]) }
    begin(now: order.now)
    if order.leavesDelayed == true { state?.leavesDelayed = true }
    if waits { state?.requesters.append(requester) } else { server.answer(requester, .status(status())) }
    if order.closesWholeBank == true, let shared {
      shared.requestDrain()
      shared.store.drainBank(for: requests.open(requester, for: .drain))
    }
    state?.drain.ask(
      for: [order.step, order.now || isOnlyThisBranch(order) ? .finishServing : nil].compactMap { $0 }.max(),
      bound: order.timeoutMilliseconds.map { .milliseconds($0) }, at: context.now.monotonic)
    advance()
    // The drain may have reached the step `finishServing` without the action `stopAssigning`. The queue must then
    // stop serving the waiting customers.
    if order.now, state?.drain.step == .finishServing { queue.process(.finish) }
  }

  /// True if only this branch closes, so that other branches serve its customers.
  private func isOnlyThisBranch(_ order: StopParameters) -> Bool {
    guard let shared else { return false }
    return order.closesWholeBank != true && !shared.isDraining
  }

  /// Starts the drain of this branch, because the whole shared bank drains.
  func stopWholeBank() {
    guard state == nil else { return }
    begin(now: false)
    advance()
  }

  /// Stops because the day of the shared bank has ended, which the branch may have missed.
  func stopAfterMissedDayEnd() {
    begin(now: false)
    state?.drain.ask(for: .finishServing, at: context.now.monotonic)
    advance()
  }

  /// Handles a signal to close. It starts a drain, in which only the customers at windows are served if the signal is
  /// urgent or the shared bank of this branch is not draining. During a drain it skips to the next step.
  func stopBySignal(now isUrgent: Bool) {
    if state != nil {
      state?.drain.requestNextStep(at: context.now.monotonic)
    } else {
      begin(now: isUrgent)
      if isUrgent || shared?.isDraining == false {
        state?.drain.ask(for: .finishServing, at: context.now.monotonic)
      }
    }
    advance()
  }

  /// Handles the exit of the process that opened this bank in its foreground.
  func handleOpenerExit() {
    context.write(event: "foreground_client_exited", level: .warn) {
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("serving", queue.machine.serving)
      $0.field("msg", "the process that opened this bank in the foreground has exited; closing")
    }
    isAbandoned = true
    context.end(with: 1)
  }

  /// Starts the drain, unless it has started. `isUrgent` (no waiting customer is served) is only logged.
  private func begin(now isUrgent: Bool) {
    guard state == nil else { return }
    state = State(drain: Drain(at: context.now.monotonic), servedBefore: queue.machine.dayCounters.served)
    context.beginEnding()
    context.write(event: "stopping") {
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("serving", queue.machine.serving)
      $0.field("now", isUrgent ? "true" : "false")
    }
    for requester in subscriptions.takeWindowWaiters() {
      server.answer(requester, .failure(Failure(.draining)))
    }
    context.bindings.guardianSupervisor?.stopping()
  }

  // MARK: - Drain steps

  /// Records that no customer can be served any more and no window is busy.
  func drained() { state?.isDrained = true }

  /// Records that the database could not end the day of the whole bank.
  func dayNotEnded(_ error: StoreError) { state?.refusal = error }

  func advance() {
    guard let state, !state.isEvaluating else { return }
    self.state?.isEvaluating = true
    closeFailedServices()
    if state.leavesDelayed, state.drain.step == .serveWaiting, !queue.machine.hasWaitingBesidesDelayed {
      self.state?.drain.ask(for: .finishServing, at: context.now.monotonic)
    }
    let input = DrainInput(
      isTakingIn: queue.machine.isTakingIn || !enqueueHandler.isEmpty,
      hasWaiting: queue.machine.hasWaitingToServe || shared?.confirmEmptyAfter != nil,
      // In a shared bank customers may be claimed after the queue was drained.
      isDrained: state.isDrained && queue.machine.serving == 0,
      tellers: tellerSupervisor.slots.values.count { $0.child != nil } + serviceSupervisor.count)
    for action in self.state?.drain.evaluate(at: input, now: context.now.monotonic) ?? [] { perform(action) }
    self.state?.isEvaluating = false
    if self.state?.isOver == true { finishDay() }
  }

  /// Closes services without working windows, and services that depend on a failed stock: the drain does not
  /// wait for their customers.
  private func closeFailedServices() {
    for service in context.services.directory.services {
      let slots = tellerSupervisor.slots.values.filter { $0.window.service == service }
      let lacksStock = service.usesStock && serviceSupervisor.isStockGivenUp
      if !slots.isEmpty, slots.allSatisfy(\.isGivenUp) || lacksStock {
        queue.process(.scale(service, windows: 0))
      }
    }
  }

  private func perform(_ action: DrainAction) {
    switch action {
    case .begin(let step): begin(step)
    case .stopAccepting: queue.process(.drain)
    case .turnAway: refusePending()
    case .stopAssigning: queue.process(.finish)
    case .returnServing: returnServing()
    case .dismiss:
      outside.close()
      for service in context.services.directory.services { queue.process(.scale(service, windows: 0)) }
      services.dismiss()
    case .killRemaining:
      let left = tellerSupervisor.slots.values.filter { $0.child != nil }.map(\.window)
      state?.killed.formUnion(left)
      for window in left { tellerSupervisor.kill(window, reason: "did not exit", at: context.now) }
      serviceSupervisor.killAll()
    case .end: state?.isOver = true
    }
  }

  private func begin(_ step: DrainStep) {
    state?.total = customersLeft(in: step)
    context.write(event: "drain") {
      $0.field("step", step.name)
      $0.field("waiting", queue.machine.waitingCount + queue.machine.delayedCount)
      $0.field("serving", queue.machine.serving)
    }
    subscriptions.changed = true
    send(progress(), to: state?.requesters ?? [])
    state?.reportedAt = context.now.monotonic
  }

  /// Refuses requests that are not completely admitted, and commits all other changes.
  func refusePending() {
    enqueueHandler.refusePending(because: Failure(.draining))
    queue.commit()
  }

  /// Refuses requests like `refusePending()`, and waits until all other changes are on disk, because no further
  /// iteration follows. There is no wait for a store on a remote server.
  func refusePermanently() {
    refusePending()
    queue.awaitResults()
  }

  /// Returns all customers at windows to their lines, kills their tellers, and disconnects the outside workers.
  private func returnServing() {
    let windows = queue.machine.servingCustomers.map(\.window).filter { !$0.isOutside }
    queue.process(.returnAllClaims)
    outside.close()
    state?.killed.formUnion(windows)
    for window in windows {
      tellerSupervisor.kill(window, reason: "was still serving at the timeout", at: context.now)
    }
  }

  // MARK: - Progress

  /// Number of a client's unanswered stop requests.
  func count(of session: ControlSession) -> Int { state?.requesters.count { $0.session === session } ?? 0 }
  /// Removes a client that has disconnected.
  func forget(_ session: ControlSession) { state?.requesters.removeAll { $0.session === session } }
  /// Time at which the drain cuts a step short.
  var nextStep: MonotonicTime? { state?.drain.nextDeadline }

  var nextDeadline: MonotonicTime? {
    guard let state else { return nil }
    return .earlier(
      state.drain.nextDeadline, state.isReportingProgress ? state.reportedAt + Self.progressPause : nil)
  }

  /// Number of customers for which a step of the drain still waits.
  private func customersLeft(in step: DrainStep) -> Int64 {
    switch step {
    case .stopAccepting, .serveWaiting:
      queue.machine.waitingCount + queue.machine.delayedCount + queue.machine.serving
    case .finishServing: queue.machine.serving
    case .kill: 0
    }
  }

  /// Report of the current step for waiting clients; nil without a drain.
  private func progress() -> ProgressReport? {
    guard let state else { return nil }
    let step = state.drain.step
    let phase: ProgressReport.Phase =
      switch step {
      case .stopAccepting: .enqueuing
      case .serveWaiting: .serving
      case .finishServing: .finishing
      case .kill: .leaving
      }
    return ProgressReport(
      phase: phase, done: max(0, state.total - customersLeft(in: step)), total: state.total,
      drain: DrainReport(
        step: step, waiting: queue.machine.waitingCount + queue.machine.delayedCount,
        serving: queue.machine.serving,
        leftMilliseconds: state.drain.nextDeadline.map { $0.since(context.now.monotonic).milliseconds },
        delayed: queue.machine.delayedCount == 0 ? nil : queue.machine.delayedCount,
        delayedUntil: queue.machine.delayedUntil?.milliseconds))
  }

  /// Sends a progress report to waiting clients.
  private func send(_ report: ProgressReport?, to requesters: [RequestHandle]) {
    guard let report else { return }
    for requester in requesters { server.answer(requester, .progress(report), more: true) }
  }

  /// Reports the progress to waiting clients, if the last report is old enough.
  func sendProgress() {
    guard let state, state.isReportingProgress,
      context.now.monotonic.since(state.reportedAt) >= Self.progressPause
    else { return }
    send(progress(), to: state.requesters)
    self.state?.reportedAt = context.now.monotonic
  }

  // MARK: - Final answer

  /// Closes the day if it is finished, and ends the bank, after all processes have exited.
  private func finishDay() {
    guard context.exitCode == nil, !queue.engine.isResetting, let state else { return }
    // A finished day is closed only after the customers of incomplete requests were removed.
    guard enqueueHandler.remains == nil || !queue.machine.dayCounters.isFinished else { return }
    // Transactions in flight contain their own counters; the final counters are committed after them.
    let isOwed = !state.hasStartedFinalCommit && !queue.engine.isUnderway
    if isOwed || queue.engine.hasStaged || queue.machine.isUnsealed {
      self.state?.hasStartedFinalCommit = true
      queue.commit()
    }
    // If the disk is full, retry: "stopped" is sent only after everything is on disk. If a transaction is in
    // flight, this function is called again after its result.
    guard isDurable, !queue.machine.hasUncommittedChanges else { return }
    if let shared, !shared.hasLeft {
      if !state.isLeaving {
        self.state?.isLeaving = true
        shared.store.leave()
      }
      return
    }
    if state.last == nil || Mutant.endsDayTwice.isActive {
      let report = shutdownReport.report(
        servedBefore: state.servedBefore, killed: state.killed.count, state.drain)
      self.state?.last = (report, shutdownReport.finalStatus())
      queue.process(.endDay)
      queue.commit()
    }
    guard isDurable, let (report, finalStatus) = self.state?.last else { return }
    shutdownReport.log(report)
    server.stopListening()
    // Refuse requests that arrived in this iteration after the evaluation of the drain.
    enqueueHandler.refuseAll(because: Failure(.notOpen))
    shutdownReport.notifySubscribers(finalStatus)
    context.bindings.close()
    shutdownReport.sendLastEvents()
    for requester in state.requesters {
      server.answer(
        requester, state.refusal.map { .failure(Failure(store: $0)) } ?? .stopped(report), from: .read)
    }
    server.flush()
    context.end(with: 0)
  }

  /// True if everything is on disk. Effects of a commit may be staged right after it, for example after a
  /// full disk, and need a commit of their own.
  private var isDurable: Bool {
    queue.engine.isWorking && !queue.engine.isUnderway && !queue.engine.hasStaged
  }

  // MARK: - Exit without a drain

  /// Prepares an exit without a drain: kills the processes at the windows and stores all results. A partly admitted
  /// request leaves no data.
  func breakOff() {
    tellerSupervisor.killAll()
    let isTakingIn = queue.machine.isTakingIn
    refusePermanently()
    if isTakingIn {
      context.write(event: "request_withdrawn") {
        $0.field("issued", queue.machine.issuedCount)
        $0.field("msg", "the request being processed was dropped: no customers were added")
      }
    }
    server.stopListening()
  }

  /// Closes the store and logs an exit without a drain.
  func leave() {
    context.bindings.close()
    context.write(event: "stopped_without_drain") {
      $0.field("day", queue.machine.dayCounters.day)
      $0.field("waiting", queue.machine.waitingCount)
    }
  }
}
