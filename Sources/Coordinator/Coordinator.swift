// Composition of the coordinator's parts, and its event loop, which serves the queue, the store, the tellers and the
// clients. One iteration: handle received messages, perform effects, send assignments, commit, send replies.
// Assignments are sent before the commit because they need no disk write, except for services that count attempts
// (`max_attempts`).
// Invariant: a part receives parts created before it. Calls in the other direction use closures.

import BankModel
import Configuration
import Glibc
import Logging
import Posix
import QueueCore
import StockClient
import Time
import Transport
import Wire

package final class Coordinator {
  let context: BankContext
  let server: ControlServer
  let tellerSupervisor: TellerSupervisor
  let serviceSupervisor: ServiceSupervisor
  let subscriptions = Subscriptions()
  let releases: ReleaseQueue
  let queue: QueueDriver
  let durableReads: DurableReads
  let reports: BankReports
  let streams: ResultStreams
  let boardSnapshots: BoardSnapshots
  let board: BoardFeed
  let views: SubscriptionSender
  let enqueueHandler: EnqueueHandler
  let incrementalCommands: IncrementalCommands
  let tellers: TellerEventHandler
  let outside: OutsideWorkers
  let databaseIdentities: DatabaseIdentities
  let services: ServiceProcesses
  let webServer: WebServerProcess
  let windows: WindowPlan
  let selections: Selections
  let opening: StartupController
  let shutdownController: ShutdownController
  let audits: Audits
  let home: HomeRepair
  let output: OutputRetention
  /// Reader of a shared database for clients; nil without the address of such a database.
  let reader: SharedStoreReader?
  let router: RequestRouter
  let branch: SharedStoreEventHandler

  /// Time for which the coordinator polls after a message, about as long as an idle teller takes to answer.
  private static let spinDuration = TimeSpan.microseconds(50)
  static let periodicWorkPause = TimeSpan.milliseconds(1)
  /// True if the database is one that several branches can share.
  let sharesStore: Bool
  /// True after a message, because the next one may follow soon.
  private var expectsMessage = false
  /// True if no message was handled since the last round of periodic work; see ``runIteration()``.
  private var periodicWorkIsDone = true
  private var periodicWorkDue = MonotonicTime(nanoseconds: 0)

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration, loop: EventLoop,
    server: ControlServer, log: LogFile, store: any QueueStore, reading: any QueueReader,
    shared: SharedStoreSession? = nil, contents: StoredQueue, incarnation: Int64,
    bankID: BankID, programs: ProgramPaths, now: Moment, policy: QueuePolicy? = nil,
    limits: CoordinatorLimits = CoordinatorLimits(), bindings: HomeResources = HomeResources()
  ) {
    self.server = server
    sharesStore = shared != nil
    context = BankContext(
      home: home, options: options, configuration: configuration, services: store.services, loop: loop,
      log: log, incarnation: incarnation, bankID: bankID, now: now, bindings: bindings)
    tellerSupervisor = TellerSupervisor(
      home: home.path, loop: loop, log: log, programs: programs, services: store.services,
      policy: configuration.restarts, seed: RandomSeed.fromSystem())
    tellerSupervisor.kinds = context.kinds
    serviceSupervisor = ServiceSupervisor(
      loop: loop, log: log, policy: configuration.restarts, watchdogTimeout: configuration.watchdogTimeout,
      seed: RandomSeed.fromSystem())
    let stock = StockClient(socket: home.stockSocket, loop: loop)
    releases = ReleaseQueue(stock, bankID, patience: limits.release)
    let engine = CommitEngine(store, durable: contents.dayCounters, context)
    let coordinatorCrashes =
      bindings.inFlightTable?.begin(bankID: bankID, day: contents.dayCounters.day) ?? [:]
    queue = QueueDriver(
      QueueMachine(
        contents,
        policy: (policy ?? configuration.policy(store.services))
          .sharing(page: shared == nil ? nil : Int(configuration.store.page)), at: now,
        coordinatorCrashes: Mutant.forgetsCustomersInFlight.isActive ? [:] : coordinatorCrashes),
      engine,
      context,
      tellerSupervisor, subscriptions, releases)
    let dependencies = CoordinatorComponent(
      context, queue, reading, shared, server, tellerSupervisor, serviceSupervisor, subscriptions, releases)

    durableReads = DurableReads(dependencies)
    outside = OutsideWorkers(dependencies)
    reports = BankReports(dependencies, outside)
    streams = ResultStreams(dependencies, durableReads)
    let boardSnapshots = BoardSnapshots(dependencies, reports)
    self.boardSnapshots = boardSnapshots
    board = BoardFeed(dependencies, boardSnapshots)
    views = SubscriptionSender(dependencies, reports, board)
    enqueueHandler = EnqueueHandler(dependencies, durableReads, limits)
    incrementalCommands = IncrementalCommands(dependencies, enqueueHandler)

    tellers = TellerEventHandler(dependencies)
    databaseIdentities = DatabaseIdentities(dependencies)
    services = ServiceProcesses(dependencies, programs, stock, databaseIdentities)
    webServer = WebServerProcess(dependencies, programs)
    windows = WindowPlan(dependencies, tellers, outside, services, databaseIdentities, reports)

    selections = Selections(dependencies, durableReads)
    reader = shared?.address.map { address in
      SharedStoreReader(
        program: programs.coordinator,
        arguments: [
          "--inspect", "--home", home.path, "--store", address, "--lang", dependencies.context.language.code,
        ],
        environment: Environment.all(), loop: loop, server: server, policy: configuration.restarts,
        seed: RandomSeed.fromSystem())
    }
    opening = StartupController(dependencies, reports)
    shutdownController = ShutdownController(
      dependencies, enqueueHandler, outside, services,
      ShutdownReport(dependencies, streams, views, reports, board))
    audits = Audits(dependencies, durableReads, services, databaseIdentities, outside)
    self.home = HomeRepair(dependencies, windows, outside, webServer)
    output = OutputRetention(dependencies)
    router = RequestRouter(
      dependencies, durableReads, reports, views, streams, enqueueHandler, incrementalCommands, windows,
      opening, shutdownController, audits,
      WindowKills(dependencies, reports), selections, webServer, SelfWaitGuard(dependencies, outside), reader)
    branch = SharedStoreEventHandler(dependencies, enqueueHandler, router, shutdownController)
    connect()
  }

  private func connect() {
    let shared = branch.shared
    reader?.decorate = { [unowned reports] in reports.addingLocalAttempt($0) }
    reader?.onEvent = { [unowned context] event, pid, detail in
      context.write(event: event, level: .warn) {
        $0.field("child", pid)
        $0.field("msg", detail)
      }
    }
    queue.onPaused = { [unowned queue] in shared?.store.savePaused(queue.machine.pausedServices, for: 0) }
    queue.onForward = { order, request in shared?.store.perform(order, for: request) }
    queue.onReply = { [unowned router] request, answer in router.finish(request, with: answer) }
    queue.onDrained = { [unowned shutdownController] in shutdownController.drained() }
    queue.onCommitted = { [unowned self] in
      streams.noteCommit()
      answerDurableReads()
    }
    queue.onRefused = { [unowned enqueueHandler] in enqueueHandler.handleDiskFull() }
    queue.onStoreFailure = { [unowned self] error in failFatally(error) }
    tellers.onGivenUp = { [unowned opening] in opening.windowGivenUp($0, lastExitReason: $1) }
    server.mayQuote = { [unowned queue] origin in
      queue.isOnDisk(origin, isShared: shared != nil) || Mutant.answersKeyBeforeCommit.isActive
    }
    server.onCommand = { [unowned router] session, request in router.handle(request, from: session) }
    server.onEnd = { [unowned router] session in router.forget(session) }
  }

  // MARK: - From opening to exit

  /// Starts the windows and services, and listens for clients.
  package func open() throws(SystemError) {
    context.loop.onWake = { [unowned context] in context.updateTimeToWakeup() }
    context.limitIterationShare()
    tellers.listen()
    context.write(event: "opening") {
      $0.field("day", queue.machine.dayCounters.day)
      $0.field("incarnation", context.incarnation)
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("build", BuildIdentity.current)
    }
    services.reserveForJuice()
    queue.readPauseReasons()
    queue.updateDiskSpace()
    services.open()
    webServer.open()
    windows.open()
    guard !context.isHalted else { return }
    try outside.follow()
    try server.listen(at: context.home.socket)
    home.begin()
  }

  /// Runs iterations until the process is to exit. Returns the exit code.
  func run() throws(SystemError) -> Int32 {
    while context.exitCode == nil { try runIteration() }
    return leave()
  }

  /// Cleans up after the last iteration and returns the exit code.
  @discardableResult
  package func leave() -> Int32 {
    if !context.isHalted {
      if shutdownController.isAbandoned {
        exitImmediately()
      } else if context.exitCode != 0 {
        shutdownController.refusePermanently()
      }
    }
    reader?.close()
    context.bindings.inFlightTable?.close()
    context.log.flush()
    queue.workerLog.flush()
    return context.exitCode ?? 0
  }

  /// Exits without a drain, as after a kill, but ends the child processes.
  func exitImmediately() {
    shutdownController.breakOff()
    // While the final messages are sent, killed processes exit and other processes may still answer. Ignore both.
    tellers.stopListening()
    services.stopListening()
    home.stop()
    shutdownController.leave()
  }

  /// Reports a store error that leaves the state of the disk unknown.
  private func failFatally(_ error: StoreError) {
    context.write(event: "store_failed", level: .error) { $0.field("msg", error.description) }
    context.log.flush()
    _ = try? StandardStreams.write("bankd: \(error.description)\n", to: .error)
  }

  /// Handles a signal, unless the process is about to exit or cut off.
  package func handle(signal: Int32) {
    guard mayBegin else { return }
    context.updateTime()
    if signal == SIGHUP {
      windows.reloadBySignal()
    } else {
      shutdownController.stopBySignal(now: signal != SIGINT)
    }
  }

  /// Ends the bank, because the process that opened it in its foreground has exited.
  package func handleOpenerExit() { if mayBegin { shutdownController.handleOpenerExit() } }
  /// True while new work may start: the process is neither about to exit nor cut off.
  private var mayBegin: Bool { context.exitCode == nil && !context.isHalted }

  // MARK: - Loop iteration

  /// Runs one iteration: handles messages, serves customers and commits. Some iterations also include a round of
  /// periodic work.
  package func runIteration() throws(SystemError) {
    if context.isHalted { return home.flushAndExit() }
    let includesPeriodicWork = try handle()
    if !context.isHalted { home.handleMissingFiles() }
    guard !context.isHalted else { return }
    queue.handleResults()
    if sharesStore { branch.handle() }
    guard !context.isHalted else { return }
    if includesPeriodicWork { try runTimers() }
    // The process is about to exit: ``leave()`` does the rest.
    guard mayBegin else { return }
    enqueueHandler.advance()
    router.advanceLongRequests()
    selections.advance()
    guard !context.isHalted else { return }
    tellerSupervisor.flush()
    queue.commitIfDue(isImmediate: enqueueHandler.isShared)
    if includesPeriodicWork, !context.isHalted { runPeriodicWork() }
    guard !context.isHalted else { return }
    tellerSupervisor.flush()
    outside.flush()
    while queue.sendDeferredAssignments() {
      tellerSupervisor.flush()
      outside.flush()
    }
    server.flush()
    queue.runDeferredWork()
    if sharesStore {
      branch.shared?.store.finishIteration()
      reader?.finishIteration()
    }
    enqueueHandler.finishIteration()
  }

  /// Does the periodic work of a round that follows the commit.
  private func runPeriodicWork() {
    windows.openForCommandLines()
    if sharesStore {
      branch.advance()
      router.waits?.poll()
    }
    services.advance()
    audits.advance()
    reportProgress()
    context.log.flushIfDue(context.now.monotonic)
    queue.workerLog.flushIfDue(context.now.monotonic)
    periodicWorkIsDone = true
    periodicWorkDue = context.now.monotonic + Self.periodicWorkPause
  }

  /// Waits for messages and handles them. Returns true if this iteration includes a round of periodic work.
  ///
  /// In a burst of messages not each iteration includes a round, because rounds take much CPU time. After the last
  /// message a round precedes the sleep of the loop.
  private func handle() throws(SystemError) -> Bool {
    if expectsMessage, try context.loop.spin(for: hasOwnWork ? .zero : Self.spinDuration) > 0 {
      periodicWorkIsDone = false
      return context.now.monotonic >= periodicWorkDue
    }
    expectsMessage = false
    guard periodicWorkIsDone else {
      context.updateTime()
      return true
    }
    expectsMessage = try context.loop.runOnce(until: nextDeadline) > 0
    context.updateTime()
    return true
  }

  private func runTimers() throws(SystemError) {
    if isSilenceCheckDue {
      // Handle everything received so far before silence is taken for a hang.
      try context.loop.handlePendingInput()
      context.updateTime()
      guard mayBegin else { return }
    }
    tellerSupervisor.runTimers(context.now)
    serviceSupervisor.runTimers(context.now)
    server.runTimers(context.now)
    outside.runTimers(context.now)
    if isDue(queue.nextRetry) || isSilenceTimeoutDue(queue.nextLeaseEnd) { queue.process(.tick) }
    queue.retryIfDue()
    queue.checkDiskSpaceIfDue()
    opening.runTimers()
    home.runTimers()
    output.runTimers()
    guard !context.isHalted else { return }
    if Mutant.releasesBeforeCommit.isActive { services.advance() }
    audits.runTimers()
    tellers.continueRecycling()
    shutdownController.advance()
    context.bindings.guardianSupervisor?.runTimers(context.now)
  }

  /// Answers waiting clients and sends subscribers what has changed.
  func reportProgress() {
    opening.answerWaitingClients()
    boardSnapshots.poll()
    views.notify()
    // This call also registers clients that wait for tickets. If all their tickets have ended, they are answered below.
    answerDurableReads()
    subscriptions.tickets.count(at: context.now.monotonic)
    if subscriptions.tickets.hasUnreportedCompletion, !queue.machine.hasUncommittedChanges,
      queue.engine.isDurable
    {
      answerTicketWaiters()
    }
    if !subscriptions.idleWaiters.isEmpty, queue.machine.isIdleBesidesDelayed,
      !queue.machine.hasUncommittedChanges,
      enqueueHandler.isEmpty
    {
      // Other branches may have admitted customers unknown to this branch, so the shared database is queried first.
      if !sharesStore || branch.shared?.polledAt != nil {
        let requesters = subscriptions.takeIdleWaiters(
          since: branch.shared?.polledAt, hasDelayed: !queue.machine.isIdle)
        let report = requesters.isEmpty ? nil : reports.status()
        for requester in requesters { if let report { server.answer(requester, .status(report)) } }
      }
    }
    streams.pump()
    shutdownController.advance()
    shutdownController.sendProgress()
    router.readThrottled()
  }

  /// Continues answers that wait until the store contains only what is on disk.
  private func answerDurableReads() {
    guard queue.engine.isDurable else { return }
    durableReads.answerWaiting()
    audits.advance()
    streams.pump()
  }

  /// Answers the clients whose awaited tickets have all ended.
  private func answerTicketWaiters() {
    for watch in subscriptions.tickets.takeEnded() {
      let report = AwaitedTicketsReport(dead: watch.dead, counting: watch.cancelled)
      server.answer(watch.requester, .ended(report), from: .read)
    }
  }
}
