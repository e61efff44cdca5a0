// Composition of the coordinator's parts, and its event loop, which serves the queue, the store, the tellers and the
// clients. One iteration: handle received messages, perform effects, send assignments, commit, send replies.
// Assignments are sent before the commit because they need no disk write, except for services that count attempts
// (`max_attempts`). Replies are sent after the commit.
// Invariant: a part refers only to parts created before it. Calls in the other direction use closures, most of which
// `connect()` sets. If a store error leaves the state of the disk unknown, the process exits, and a new one reads
// the disk again.

import BankModel
import Configuration
import Glibc
import Logbook
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
  let followers = Followers()
  let releases: ReleaseQueue
  let queue: QueueDriver
  let readings: Readings
  let reports: BankReports
  let streams: AnswerStreams
  let pictures: BoardPictures
  let board: BoardFeed
  let views: LiveViews
  let intake: Intake
  let long: LongRequests
  let tellers: Tellers
  let outside: OutsideWorkers
  let marks: DatabaseMarks
  let services: BranchServices
  let page: PageServer
  let windows: WindowPlan
  let selections: Selections
  let opening: Opening
  let ending: Ending
  let audits: Audits
  let home: HomeKeeper
  let output: OutputKeeper
  /// Reader of a shared database for clients; nil without the address of such a database.
  let reader: BooksReader?
  let router: RequestRouter
  let branch: BranchDesk

  /// Time for which the coordinator polls after a message, about as long as an idle teller takes to answer.
  /// With tellers that block between messages, polling raised throughput from 36,000 to 38,000 customers a
  /// second. The polling of the tellers relies on it; see `TellerProcess`.
  private static let wakefulness = TimeSpan.microseconds(50)
  static let roundPause = TimeSpan.milliseconds(1)
  /// True if the database is one that several branches can share.
  let sharesBooks: Bool
  /// True after a message, because the next one may follow soon.
  private var isAwaited = false
  /// True if no message was handled since the last round; see ``turn()``.
  private var wasRound = true
  private var roundDue = MonotonicTime(nanoseconds: 0)

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration, loop: EventLoop,
    server: ControlServer, log: LogFile, store: any QueueStore, reading: any QueueReading,
    shared: SharedBank? = nil, contents: StoredQueue, incarnation: Int64,
    booksName: BooksName, programs: WorkerPrograms, now: Moment, policy: QueuePolicy? = nil,
    limits: CoordinatorLimits = CoordinatorLimits(), bindings: HomeBindings = HomeBindings()
  ) {
    self.server = server
    sharesBooks = shared != nil
    context = BankContext(
      home: home, options: options, configuration: configuration, services: store.services, loop: loop,
      log: log, incarnation: incarnation, booksName: booksName, now: now, bindings: bindings)
    tellerSupervisor = TellerSupervisor(
      home: home.path, loop: loop, log: log, programs: programs, services: store.services,
      policy: configuration.restarts, seed: RandomSeed.fromSystem())
    tellerSupervisor.kinds = context.kinds
    serviceSupervisor = ServiceSupervisor(
      loop: loop, log: log, policy: configuration.restarts, standstill: configuration.standstill,
      seed: RandomSeed.fromSystem())
    let stock = StockClient(socket: home.stockSocket, loop: loop)
    releases = ReleaseQueue(stock, booksName, patience: limits.release)
    let engine = CommitEngine(store, kept: contents.books, context)
    let falls = bindings.hands?.begin(books: booksName, day: contents.books.day) ?? [:]
    queue = QueueDriver(
      QueueMachine(
        contents,
        policy: (policy ?? configuration.policy(store.services))
          .sharing(page: shared == nil ? nil : Int(configuration.store.page)), at: now,
        falls: Kernel.makes("forgetsWhoWasInHand") ? [:] : falls),
      engine,
      context,
      tellerSupervisor, followers, releases)
    let ground = BankPart(
      context, queue, reading, shared, server, tellerSupervisor, serviceSupervisor, followers, releases)

    readings = Readings(ground)
    outside = OutsideWorkers(ground)
    reports = BankReports(ground, outside)
    streams = AnswerStreams(ground, readings)
    let pictures = BoardPictures(ground, reports)
    self.pictures = pictures
    board = BoardFeed(ground, pictures)
    views = LiveViews(ground, reports, board)
    intake = Intake(ground, readings, limits)
    long = LongRequests(ground, intake)

    tellers = Tellers(ground)
    marks = DatabaseMarks(ground)
    services = BranchServices(ground, programs, stock, marks)
    page = PageServer(ground, programs)
    windows = WindowPlan(ground, tellers, outside, services, marks, reports)

    selections = Selections(ground, readings)
    reader = shared?.address.map { address in
      BooksReader(
        program: (try? Paths.executable()) ?? "bankd",
        arguments: [
          "--inspect", "--home", home.path, "--store", address, "--lang", ground.context.language.code,
        ],
        environment: Environment.all(), loop: loop, server: server, policy: configuration.restarts,
        seed: RandomSeed.fromSystem())
    }
    opening = Opening(ground, reports)
    ending = Ending(ground, intake, outside, services, LastWords(ground, streams, views, reports, board))
    audits = Audits(ground, readings, services, marks, outside)
    self.home = HomeKeeper(ground, windows, outside, page)
    output = OutputKeeper(ground)
    router = RequestRouter(
      ground, readings, reports, views, streams, intake, long, windows, opening, ending, audits,
      WindowEndings(ground, reports), selections, page, OwnWork(ground, outside), reader)
    branch = BranchDesk(ground, intake, router, ending)
    connect()
  }

  private func connect() {
    let shared = branch.shared
    reader?.decorate = { [unowned reports] in reports.withWhoeverIsHere($0) }
    reader?.onEvent = { [unowned context] event, pid, words in
      context.write(event: event, level: .warn) {
        $0.field("child", pid)
        $0.field("msg", words)
      }
    }
    queue.onPaused = { [unowned queue] in shared?.books.keepPaused(queue.machine.pausedServices, for: 0) }
    queue.onForward = { order, request in shared?.books.perform(order, for: request) }
    queue.onReply = { [unowned router] request, answer in router.finish(request, with: answer) }
    queue.onDrained = { [unowned ending] in ending.drained() }
    queue.onCommitted = { [unowned self] in
      streams.noteCommit()
      answerReadings()
    }
    queue.onRefused = { [unowned intake] in intake.diskIsFull() }
    queue.onBroken = { [unowned self] error in sayLastWords(error) }
    tellers.onGivenUp = { [unowned opening] in opening.windowGivenUp($0, lastEnd: $1) }
    server.mayQuote = { [unowned queue] in
      queue.engine.isKept || queue.isReplying || shared != nil || Kernel.makes("answersAKeyTooEarly")
        || Kernel.makes("saysCommittedTooEarly") || Kernel.makes("takesAFullDiskForACommit")
    }
    server.onCommand = { [unowned router] session, request in router.hear(request, from: session) }
    server.onEnd = { [unowned router] session in router.forget(session) }
  }

  // MARK: - From opening to exit

  package func open() throws(SystemError) {
    context.loop.onWake = { [unowned context] in context.takeTimeOfWaking() }
    context.listenByLease()
    tellers.listen()
    context.write(event: "opening") {
      $0.field("day", queue.machine.books.day)
      $0.field("incarnation", context.incarnation)
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("build", BuildIdentity.current)
    }
    services.holdBackForJuices()
    queue.readPauseReasons()
    queue.noteRoom()
    services.open()
    page.open()
    windows.open()
    guard !context.isCutOff else { return }
    try outside.follow()
    try server.listen(at: context.home.socket)
    home.begin()
  }

  func run() throws(SystemError) -> Int32 {
    while context.exitCode == nil { try turn() }
    return leave()
  }

  /// Cleans up after the last iteration and returns the exit code.
  @discardableResult
  package func leave() -> Int32 {
    if !context.isCutOff {
      if ending.isAbandoned { leaveAtOnce() } else if context.exitCode != 0 { ending.turnAwayForGood() }
    }
    reader?.close()
    context.bindings.hands?.close()
    context.log.flush()
    queue.journal.flush()
    return context.exitCode ?? 0
  }

  /// Exits without a drain, as after a kill, but ends the child processes.
  func leaveAtOnce() {
    ending.breakOff()
    // While the final messages are sent, killed processes exit and other processes may still answer. Ignore
    // both.
    tellers.stopListening()
    services.stopListening()
    home.stop()
    ending.leave()
  }

  /// Reports a store error that leaves the state of the disk unknown, so this process exits and the next one
  /// reads the disk again.
  private func sayLastWords(_ error: StoreError) {
    context.write(event: "store_failed", level: .error) { $0.field("msg", error.description) }
    context.log.flush()
    _ = try? StandardStreams.write("bankd: \(error.description)\n", to: .error)
  }

  /// Handles a signal. Signals are ignored after the bank has ended, while the final messages are sent.
  package func hear(signal: Int32) {
    guard mayBegin else { return }
    context.takeTime()
    if signal == SIGHUP { windows.reloadBySignal() } else { ending.stopBySignal(now: signal != SIGINT) }
  }

  package func openerIsGone() { if mayBegin { ending.openerIsGone() } }
  /// True while new work may start: the process is neither about to exit nor cut off.
  private var mayBegin: Bool { context.exitCode == nil && !context.isCutOff }

  // MARK: - Loop iteration

  /// Runs one iteration: handles messages, serves customers and commits. If the iteration includes a round, all
  /// other parts also do their periodic work.
  ///
  /// After a cut-off (see ``BankContext/isCutOff``) nothing more is sent, not even messages that are already queued.
  /// Only the reason for the loss of the database is still sent.
  package func turn() throws(SystemError) {
    if context.isCutOff { return home.sayFarewell() }
    let isRound = try hear()
    if !context.isCutOff { home.meetLosses() }
    guard !context.isCutOff else { return }
    queue.takeResults()
    if sharesBooks { branch.hear() }
    guard !context.isCutOff else { return }
    if isRound { try keepTime() }
    // The process is about to exit: ``leave()`` does the rest.
    guard mayBegin else { return }
    intake.advance()
    router.advanceLongRequests()
    selections.advance()
    guard !context.isCutOff else { return }
    tellerSupervisor.flush()
    queue.commitIfDue(isHurried: intake.isShared)
    if isRound, !context.isCutOff { makeRound() }
    guard !context.isCutOff else { return }
    tellerSupervisor.flush()
    outside.flush()
    while queue.sendHeldOrders() {
      tellerSupervisor.flush()
      outside.flush()
    }
    server.flush()
    queue.tidyUp()
    if sharesBooks {
      branch.shared?.books.endTurn()
      reader?.endTurn()
    }
    intake.endTurn()
  }

  private func makeRound() {
    windows.openForCommandLines()
    if sharesBooks {
      branch.advance()
      router.waits?.look()
    }
    services.advance()
    audits.advance()
    reportProgress()
    context.log.flushIfDue(context.now.monotonic)
    queue.journal.flushIfDue(context.now.monotonic)
    wasRound = true
    roundDue = context.now.monotonic + Self.roundPause
  }

  /// Waits for messages and handles them.
  ///
  /// In a burst only messages are handled, with one round per millisecond: a round in each iteration took a
  /// fifth of the coordinator's CPU time (measured with perf). After the last message there is always a round
  /// before the loop sleeps.
  /// - Returns: True if this iteration includes a round.
  private func hear() throws(SystemError) -> Bool {
    if isAwaited, try context.loop.runAwake(for: hasOwnWork ? .zero : Self.wakefulness) > 0 {
      wasRound = false
      return context.now.monotonic >= roundDue
    }
    isAwaited = false
    guard wasRound else {
      context.takeTime()
      return true
    }
    isAwaited = try context.loop.runOnce(until: nextDeadline) > 0
    context.takeTime()
    return true
  }

  private func keepTime() throws(SystemError) {
    if isJudgementDue {
      // Handle everything received so far before silence is taken for a hang.
      try context.loop.hearEverybody()
      context.takeTime()
      guard mayBegin else { return }
    }
    tellerSupervisor.keepTime(context.now)
    serviceSupervisor.keepTime(context.now)
    server.keepTime(context.now)
    outside.keepTime(context.now)
    if isDue(queue.nextRetry) || isJudged(queue.nextLeaseEnd) { queue.happen(.tick) }
    queue.retryIfDue()
    queue.lookForRoomIfDue()
    opening.keepTime()
    home.keepTime()
    output.keepTime()
    guard !context.isCutOff else { return }
    if Kernel.makes("givesBackTooEarly") { services.advance() }
    audits.keepTime()
    tellers.continueRecycling()
    ending.advance()
    context.bindings.guardianship?.keepTime(context.now)
  }

  func reportProgress() {
    opening.tellWaiting()
    pictures.look()
    views.tell()
    // This also answers clients that wait for tickets that had already ended.
    answerReadings()
    followers.tickets.count(at: context.now.monotonic)
    if followers.tickets.owesAnEnd, !queue.machine.isUnsettled, queue.engine.isKept { answerTicketWatches() }
    if !followers.idleWaiters.isEmpty, queue.machine.isIdleBesidesDelayed, !queue.machine.isUnsettled,
      intake.isEmpty
    {
      // Other branches may have admitted customers that this branch has not seen yet: the shared database must
      // be queried first.
      if !sharesBooks || branch.shared?.lookedAt != nil {
        let seats = followers.takeIdleWaiters(
          since: branch.shared?.lookedAt, hasDelayed: !queue.machine.isIdle)
        let report = seats.isEmpty ? nil : reports.status()
        for seat in seats { if let report { server.answer(seat, .status(report)) } }
      }
    }
    streams.pump()
    ending.advance()
    ending.tellProgress()
    router.hearCrowded()
  }

  /// Answers the clients that have waited until nothing is staged.
  private func answerReadings() {
    guard queue.engine.isKept else { return }
    readings.answerWaiting()
    audits.advance()
    streams.pump()
  }

  private func answerTicketWatches() {
    for watch in followers.tickets.takeEnded() {
      server.answer(watch.seat, .ended(EndedReport(dead: watch.dead, counting: watch.cancelled)))
    }
  }
}
