// Owns the coordinator process: one loop on which the queue, its store, the tellers and the clients meet.
// It knows no rule of the queue (QueueMachine does) and no byte of a message (Transport does).
// The turn: hear everyone, perform what the queue wants, send what was assigned, commit, send what was promised.
// Assignments leave before the commit because they wait for no disk; replies leave after it.
// When the store fails in a way that leaves the disk in doubt, the process ends, and a new one reads the disk again.

import BankModel
import Configuration
import Glibc
import Logbook
import Posix
import QueueCore
import StockClient
import VendingClient
import Storage
import Supervision
import Transport
import Wire

/// The coordinator of one bank.
final class Coordinator {
  let home: BankHome
  let options: CoordinatorOptions
  let loop: EventLoop
  let log: LogFile
  let store: any QueueStore
  let incarnation: Int64
  /// What the orders of this bank's tickets are called by at the stock.
  let booksName: BooksName
  let openedAt: Moment
  /// What these books remember of the databases beside them; nil where nobody remembers.
  var memory: SQLiteStore?
  /// What is to be written down of them as soon as nothing is staged.
  var databasesToNote: [String: KnownDatabase] = [:]

  var configuration: BankConfiguration
  var machine: QueueMachine
  let staff: WindowStaff
  let house: HouseStaff
  /// The way to the stock service, for what the coordinator itself has to ask.
  let stock: StockClient
  /// The way to the manager's side of the vending machine.
  let vending: VendingClient
  let releases: ReleaseDesk
  /// The fruits and juices by which the present stock service works; nil where their file made no sense.
  var assortmentAtWork: Assortment?
  /// The products that the present vending machine has read; nil where they could not be read.
  var productsAtWork: ProductTable?
  let server: ControlServer
  let intake = EnqueueIntake()
  /// In a turn in which customers of a large request are taken in: since when.
  var intakeBegan: MonotonicTime?
  /// Until then nobody of a large request is taken in, because others are served.
  var intakeRestsUntil: MonotonicTime?
  /// There was no time for all who could come in beside a large request.
  var hasMoreBeside = false
  /// Somebody came in beside it since its last turn.
  var cameBeside = false
  let followers = Followers()
  var requests = RequestTable()

  /// Questions of clients that wait until nothing is staged.
  var readings: [PendingReading] = []
  /// The books as they are on disk.
  var keptBooks: Books
  /// Before this the next pages of long answers are not made.
  var pumpDue = MonotonicTime(nanoseconds: 0)
  /// Whose pages come first then.
  var nextStream: UInt64 = 0

  /// Both clocks, as of the beginning of this turn.
  var now: Moment
  var effects: [QueueEffect] = []
  var isPerforming = false
  /// The first change since the last commit was staged then; nil while nothing is staged.
  var stagedSince: MonotonicTime?
  var pacing = CommitPacing()
  /// After a full disk: when it is tried again, and what could not be read until then.
  var retryAt: MonotonicTime?
  var heldBack: [QueueEffect] = []
  /// What is done in pieces.
  var patient = PatientWork()
  /// While the store is short of room: when it looks again.
  var room = RoomWatch()

  /// Whether every window has had a teller at work once.
  var isOpen = false
  /// Why the bank cannot open, and how long it stays to say so.
  var openingFailure: Failure?
  var tellFailureUntil: MonotonicTime?
  static let failurePatience = TimeSpan.seconds(5)
  /// Changes to come that were staged before, when the disk was full, and were counted then.
  var repeats = 0
  var ending: Ending?
  /// The audit that is being made, those who share the next one, and who reads rows for one or ends after it.
  var auditing: Auditing?
  var auditSeats: [Followers.Seat] = []
  var readers: [RowCount] = []
  /// Whose teller is being replaced because it has worked long enough.
  var recycling = Recycling<Window>()
  /// The tie to whoever restarts this process when it dies.
  var guardianship: Guardianship?
  /// Clients whose long answers can go on.
  var streaming: Set<UInt64> = []
  /// Clients who have as many requests open as they may, and are not heard until some are answered.
  var crowded: [ControlSession] = []
  /// Called when everything is kept and before the last word is spoken: closes the store and gives up the lock.
  var onClosed: (() -> Void)?
  /// Notices when the home is removed; nil where the system has no watch left.
  var homeWatch: HomeWatch?
  /// What was removed a moment ago, and what could not be made good at once: the lock and the database's log.
  var freshLosses: [HomeWatch.Loss] = []
  var owed: Set<HomeWatch.Loss> = []
  /// Called when the lock file was removed: takes the lock again; false where somebody else has it at this moment.
  var onLockLost: (() -> Bool)?
  /// Called when the room that is held back was removed: holds it back again.
  var onReserveLost: (() -> Void)?
  /// Called when the directory of the logs was removed, and is there again: sends standard error there.
  var onLogsLost: (() -> Void)?
  /// What is done when the store's files are removed.
  var files: DatabaseFiles?
  /// Whether nobody is left for whom this bank was open.
  var isAbandoned = false
  /// Set when the process is to end, with its exit code.
  var exitCode: Int32?

  /// How long the coordinator stays awake after a word: about as long as a teller takes to answer who has nothing to do.
  /// With tellers who sleep it made 38,000 customers a second of 36,000, and theirs builds on it; see `TellerProcess`.
  private static let wakefulness = Duration.microseconds(50)
  static let roundPause = TimeSpan.milliseconds(1)
  /// Somebody has just spoken and may speak again.
  private var isAwaited = false
  /// Nothing was heard since the last round.
  private var wasRound = true
  private var roundDue = MonotonicTime(nanoseconds: 0)

  init(
    home: BankHome, options: CoordinatorOptions, configuration: BankConfiguration, loop: EventLoop,
    server: ControlServer, log: LogFile, store: any QueueStore, contents: StoredQueue,
    incarnation: Int64, booksName: BooksName, programs: WorkerPrograms, now: Moment
  ) {
    self.home = home
    self.options = options
    self.configuration = configuration
    self.loop = loop
    self.log = log
    self.store = store
    self.now = now
    openedAt = now
    self.incarnation = incarnation
    keptBooks = contents.books
    self.booksName = booksName
    machine = QueueMachine(contents, policy: configuration.policy, at: now)
    staff = WindowStaff(
      home: home.path, loop: loop, log: log, programs: programs, policy: configuration.restarts,
      seed: RandomSeed.fromSystem())
    house = HouseStaff(
      loop: loop, log: log, policy: configuration.restarts, standstill: configuration.standstill,
      seed: RandomSeed.fromSystem())
    stock = StockClient(socket: home.stockSocket, loop: loop)
    vending = VendingClient(socket: VendingClient.managersSocket(inHome: home.path), loop: loop)
    releases = ReleaseDesk(stock, booksName)
    self.server = server
  }

  /// Opens the windows and begins to listen to everybody.
  func open() throws(SystemError) {
    loop.onWake = { [unowned self] in
      now = loop.momentOfWaking()
    }
    listenByLease()
    staff.orders = { [unowned self] window, generation in orders(for: window, generation) }
    staff.onEvent = { [unowned self] window, generation, word in hear(word, from: window, generation) }
    server.mayQuote = { [unowned self] in isKept }
    server.onCommand = { [unowned self] session, request in serve(request, for: session) }
    server.onEnd = { [unowned self] session in forget(session) }
    log.write(event: "opening", at: now) {
      $0.field("day", machine.books.day)
      $0.field("incarnation", incarnation)
      $0.field("waiting", machine.waitingCount)
      $0.field("build", BuildIdentity.current)
    }
    holdBackForJuices()
    noteRoom()
    openHouse()
    openWindows()
    perform()
    try server.listen(at: home.socket)
    watchHome()
  }

  /// Runs until the bank has ended, and returns the process's exit code.
  func run() throws(SystemError) -> Int32 {
    while exitCode == nil { try turn() }
    if isAbandoned { leaveAtOnce() } else if exitCode != 0 { turnAway() }
    log.flush()
    return exitCode ?? 0
  }

  /// Hears who has something to say, serves customers and commits; now and then looks after everything else.
  func turn() throws(SystemError) {
    let isRound = try hear()
    if !freshLosses.isEmpty { meetLosses() }
    // Whoever is still talking is heard before the disk is asked, within bounds.
    if isRound { try keepTime() }
    // The bank has ended: everything was said, and the store is closed.
    guard exitCode == nil else { return }
    advanceIntake()
    advancePatientWork()
    staff.flush()
    commitIfDue()
    if isRound {
      advanceReleases()
      advanceAudit()
      reportProgress()
      log.flushIfDue(MonotonicInstant(now.monotonic))
      wasRound = true
      roundDue = now.monotonic + Self.roundPause
    }
    staff.flush()
    server.flush()
    tidyStore()
    restFromIntake()
  }

  /// Hears whoever speaks, and waits for it.
  ///
  /// While one word follows another only these are heard, and a round is made once a millisecond: at every turn it was a
  /// fifth of the coordinator's own time, by perf. After the last word there is always one, before the loop sleeps.
  /// - Returns: whether a round is to be made in this turn.
  private func hear() throws(SystemError) -> Bool {
    if isAwaited, try loop.runAwake(for: hasOwnWork ? .zero : Self.wakefulness) > 0 {
      wasRound = false
      return now.monotonic >= roundDue
    }
    isAwaited = false
    guard wasRound else {
      takeTime()
      return true
    }
    isAwaited = try loop.runOnce(until: nextDeadline) > 0
    takeTime()
    return true
  }

  func takeTime() { now = loop.moment() }

  /// However long a turn was, it counts for a fraction of a lease, and of what a silent process behind the windows has.
  func listenByLease() {
    let shortest = min(configuration.lease, configuration.standstill)
    let fraction = TimeSpan(nanoseconds: shortest.nanoseconds / 4)
    loop.attend(inStridesOf: .nanoseconds(min(fraction, .seconds(1)).nanoseconds))
  }

  /// Lets an event happen and does everything that follows from it.
  func happen(_ event: QueueEvent) {
    machine.apply(event, at: now, into: &effects)
    perform()
  }

  private func keepTime() throws(SystemError) {
    if isJudgementDue {
      // Whatever somebody has said until now is heard before anybody is judged by silence.
      try loop.hearEverybody()
      takeTime()
      guard exitCode == nil else { return }
    }
    staff.keepTime(now)
    house.keepTime(now)
    server.keepTime(now)
    if isDue(machine.nextRetry) || isJudged(machine.nextLeaseEnd) { happen(.tick) }
    if let due = retryAt, due <= now.monotonic { retryStore() }
    lookForRoomIfDue()
    if let due = tellFailureUntil, due <= now.monotonic { exitCode = 1 }
    keepHome()
    keepAuditTime()
    continueRecycling()
    advanceEnding()
    guardianship?.keepTime(now)
  }

  private func isDue(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= now.monotonic } ?? false }
  private func isJudged(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= now.attended } ?? false }

  /// When somebody is judged next by what was heard, in the time that was attended.
  private var nextJudgement: MonotonicTime? {
    var earliest = machine.nextLeaseEnd
    for moment in [
      staff.nextJudgement, house.nextJudgement, server.nextJudgement, guardianship?.nextJudgement,
    ] {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
    return earliest
  }

  /// A drain that takes customers from their windows judges, too.
  private var isJudgementDue: Bool { isJudged(nextJudgement) || isDue(ending?.drain.nextDeadline) }

  /// Whether there is something to do for which nobody has to speak.
  var hasOwnWork: Bool {
    // While something is staged nothing can be read, and the commit that comes wakes whoever waits for it.
    let canRead = isKept && (isPumpDue || canAuditGoOn)
    return (hasIntake && (isIntakeDue || hasMoreBeside)) || hasPatientWork || canRead
      || crowded.contains { $0.canBeHeard(within: server.share) }
  }

  private var isPumpDue: Bool { !streaming.isEmpty && pumpDue <= now.monotonic }

  /// Whether customers are to be taken in, or out.
  var hasIntake: Bool {
    !isEmptying && (!intake.isEmpty || isWithdrawing)
  }

  /// When the loop has to wake up by itself.
  private var nextDeadline: MonotonicInstant? {
    if hasOwnWork { return MonotonicInstant(now.monotonic) }
    var earliest = machine.nextRetry
    func consider(_ moment: MonotonicTime?) {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
    consider(nextJudgement.map { loop.wake(for: $0) })
    if !streaming.isEmpty, isKept { consider(pumpDue) }
    consider(staff.nextDeadline)
    consider(house.nextDeadline)
    // While the disk is full nothing is given back, and a moment that has passed must not keep the loop awake.
    if retryAt == nil { consider(releases.nextDeadline) }
    consider(stock.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) })
    consider(vending.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) })
    consider(server.nextDeadline)
    consider(commitDue)
    if hasIntake { consider(intakeRestsUntil) }
    consider(retryAt)
    consider(room.dueAt)
    consider(tellFailureUntil)
    consider(followers.nextDeadline(isTimerRunning: machine.isTimerRunning))
    consider(ending?.nextDeadline)
    consider(auditing?.nextLook)
    consider(homeWatch?.repairAt)
    consider(guardianship?.nextDeadline)
    let deadline = earliest.map { MonotonicInstant($0) }
    guard let flush = log.nextFlush else { return deadline }
    return min(deadline ?? flush, flush)
  }

  // MARK: - Tellers

  private func hear(_ word: WindowStaff.Word, from window: Window, _ generation: Generation) {
    switch word {
    case .ready(let pid):
      log.write(event: "window_open", at: now) {
        $0.field("window", window.description)
        $0.field("child", pid)
        $0.field("child_gen", generation)
      }
      happen(.tellerReady(window, generation, pid: pid))
      // Orders that changed after this teller had heard them, and before it was ready.
      if staff.posts[window]?.isOutdated == true { happen(.replace(window)) }
      followers.changed = true
    case .said(let message):
      hear(message, from: window, generation)
      // The next customer leaves before the next teller is heard: a teller that waited for the end of the turn would
      // leave a core without work meanwhile. Who has said more in one breath gets all answers in one.
      if staff.posts[window]?.channel?.isMidFrame != true { staff.flush() }
    case .ended(let end):
      takeTime()
      happen(.tellerLost(window, generation, end))
      followers.changed = true
    case .givenUp(let lastEnd): windowGivenUp(window, lastEnd: lastEnd)
    }
  }

  private func hear(_ message: TellerMessage, from window: Window, _ generation: Generation) {
    switch message {
    case .done(let lease):
      considerRecycling(window)
      happen(.tellerAnswered(window, generation, lease, .done))
    case .outOfStock(let lease, let missing):
      considerRecycling(window)
      happen(.tellerAnswered(window, generation, lease, .outOfStock(missing)))
    case .failed(let lease, let reason):
      considerRecycling(window)
      happen(.tellerAnswered(window, generation, lease, .failed(reason: reason)))
    case .returned(let lease): happen(.tellerAnswered(window, generation, lease, .returned))
    case .beat(let lease): happen(.tellerProgressed(window, generation, lease))
    case .hello, .ready: break
    }
  }

  /// What a teller is told when it comes.
  private func orders(for window: Window, _ generation: Generation) -> TellerOrders {
    let work = configuration.scaledWork(window.service)
    return TellerOrders(
      name: window.description, service: window.service, generation: generation,
      workMicroseconds: work.nanoseconds / 1_000, beatMicroseconds: configuration.lease.nanoseconds / 4_000,
      language: configuration.language ?? .english, logPath: home.log(of: window.description),
      logLimit: configuration.log.rotateBytes, logKeep: configuration.log.keep,
      logsCustomers: configuration.log.customers,
      stockSocket: window.service.drawsOnStock ? home.stockSocket : nil)
  }
}
