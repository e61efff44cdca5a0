// Owns the coordinator's process in the simulated world: the shell around the queue's core, turn by turn, in the order
// of the real one: hear everyone, perform what the queue wants, send what was assigned, commit, send what was promised.
// It must not know a rule of the queue. Invariant: between any two effects, sends and commits it may be killed, and
// then does nothing more; what it had not sent is gone with it, and what was staged and not committed too.

import BankModel
import Coordinator
import Glibc
import Logbook
import Posix
import QueueCore
import StockClient
import Storage
import Supervision
import Transport
import Wire

/// A coordinator's process.
final class SimulatedCoordinator: SimulatedProgram {
  unowned let world: Simulation
  unowned let process: SimulatedProcess
  let loop: EventLoop
  /// The workers behind the windows, as in production.
  let staff: WindowStaff
  /// The services behind them, and when the vending machine arrives.
  let house: HouseStaff
  private var vendingDue: MonotonicTime?
  /// Its clients, too.
  let server: ControlServer
  private let programs: WorkerPrograms
  let number: Int
  let plan: FaultPlan
  let bug: PlantedBug?
  var core: any QueueCoreUnderTest
  var chance: SeededGenerator

  private var hasEnded = false
  /// The bank has ended, and its last words may be on their way until then.
  private var farewellUntil: MonotonicTime?
  /// It is killed before the step with this number: an effect, a commit, or bytes that leave.
  var fuse: Int?
  /// When the next turn is due by itself.
  private var turnDue: MonotonicTime?

  var now: Moment
  var effects: [QueueEffect] = []
  private var isPerforming = false
  var stagedSince: MonotonicTime?
  var lastCommit = MonotonicTime(nanoseconds: 0)
  var retryAt: MonotonicTime?
  var room = RoomWatch()
  var isToldShort = false
  var heldBack: [QueueEffect] = []

  /// What the dead have said, and is not heard yet.
  var lateWords: [LateWord] = []
  var sessions: [Int: ClientSession] = [:]
  var requests: [RequestNumber: OpenRequest] = [:]
  var lastRequest: RequestNumber = 0
  var intake: [IntakeOrder] = []
  var ending: SimulatedEnding?
  /// Clients who wait until the windows are as they shall be.
  var windowWaiters: [(link: Int, number: UInt32)] = []
  /// Before this nobody is taken out of a request that was never whole: the last try has found no room.
  var withdrawalRestsUntil: MonotonicTime?
  /// The way to the stock, and what is asked of it.
  let stock: StockClient
  let releases: ReleaseDesk
  /// The disk as this process meets it.
  let store: SimulatedQueueStore

  init(
    number: Int, stored: StoredQueue, of process: SimulatedProcess, in world: Simulation
  ) throws(SystemError) {
    self.number = number
    self.world = world
    self.process = process
    loop = try EventLoop()
    plan = world.plan
    bug = world.bug
    chance = SeededGenerator(seed: world.seed &* 31 &+ UInt64(number))
    now = SystemClock.moment()
    let log = try LogFile(path: "/dev/null", worker: "coordinator", generation: 1, limit: 0, keep: 0)
    programs = try WorkerPrograms()
    staff = WindowStaff(
      home: StockProgram.home.path, loop: loop, log: log, programs: programs, policy: RestartPolicy(),
      seed: chance.next())
    // In some histories a service that stands still is soon found out.
    let standstill = TimeSpan.seconds(chance.draw(0...1) == 0 ? 1 : 10)
    house = HouseStaff(
      loop: loop, log: log, policy: RestartPolicy(), standstill: standstill, seed: chance.next())
    loop.attend(inStridesOf: .nanoseconds(min(standstill.nanoseconds / 4, 1_000_000_000)))
    staff.hasOpened = true
    server = ControlServer(loop: loop, build: BuildIdentity.current)
    if let bug = world.bug, bug.isOfTheCore {
      core = MutantCore(bug, stored, policy: world.plan.policy, at: now)
    } else {
      core = QueueMachine(stored, policy: world.plan.policy, at: now)
    }
    store = SimulatedQueueStore(of: process, in: world)
    stock = StockClient(socket: StockProgram.home.socket, loop: loop)
    releases = ReleaseDesk(stock, patience: .nanoseconds(world.plan.stock.releasePatience.nanoseconds))
    loop.onWake = { [unowned self] in takeTime() }
    staff.orders = { [unowned self] window, generation in orders(for: window, generation) }
    staff.onEvent = { [unowned self] window, generation, word in hear(word, from: window, generation) }
    releases.onReleased = { [unowned self] ticket in released(ticket) }
    releases.onTrouble = { [unowned self] ticket, trouble in
      self.world.violate(.conversation, "the stock does not give back what \(ticket) holds: \(trouble)")
    }
    house.orders = { post in
      WorkerOrders(
        name: post.trade.name, generation: post.generation, language: .english, logPath: "", logLimit: 0,
        logKeep: 0)
    }
    server.onCommand = { [unowned self] session, request in hear(request, from: session) }
    server.onEnd = { [unowned self] session in forget(session) }
  }

  /// Whether it has not ended, and was not killed a moment ago.
  var isAlive: Bool { !hasEnded && !process.isDoomed }

  /// Opens the windows.
  func open() {
    noteRoom()
    if world.hasStock { openHouse("stock", .stock, .stock, programs.stock) }
    if world.hasVending {
      vendingDue = now.monotonic + (world.vending.machines == 0 ? plan.vending.arrival : .zero)
    }
    for service in Service.allCases {
      happen(.scale(service, windows: plan.windows[service] ?? 0))
    }
    do throws(SystemError) { try server.listen(at: Self.socket) } catch { return die() }
    rest()
  }

  private func openHouse(_ name: String, _ peer: PeerRole, _ role: WorkerRole, _ program: String) {
    let trade = HousePost.Trade(
      name: name, peerRole: peer, workerRole: role, program: program,
      arguments: ["--home", StockProgram.home.path])
    house.open(trade, at: loop.moment())
  }

  /// Where everybody finds it.
  static let socket = "\(StockProgram.home.run)/bank.sock"

  // MARK: - Turns

  /// The next turn is then, or earlier.
  func wake(at moment: MonotonicTime) {
    guard isAlive else { return }
    turnDue = min(turnDue ?? moment, moment)
    world.host.wake(process, at: moment)
  }

  func takeTime() { now = SystemClock.moment() }

  func hear(signal: Int32) {}

  /// One turn of the loop: it sleeps until somebody behind a window says something, or its time has come.
  func turn() throws(SystemError) -> Int32? {
    try loop.runOnce(until: turnDue.map { MonotonicInstant($0) })
    turnDue = nil
    takeTime()
    if let farewellUntil { return sayGoodbye(until: farewellUntil) }
    keepTime()
    advanceIntake()
    flushTellers()
    commitIfDue()
    advanceReleases()
    tellWindowWaiters()
    flushTellers()
    flushClients()
    rest()
    return nil
  }

  /// The last words leave, for as long as somebody reads them.
  private func sayGoodbye(until end: MonotonicTime) -> Int32? {
    server.flush()
    guard server.sessions.isEmpty || end <= process.clock else {
      turnDue = end
      return nil
    }
    world.coordinatorEnded(self, isDone: true)
    return 0
  }

  private func keepTime() {
    guard isAlive else { return }
    staff.keepTime(loop.moment())
    house.keepTime(loop.moment())
    server.keepTime(loop.moment())
    if let due = vendingDue, due <= now.monotonic, ending == nil {
      vendingDue = nil
      openHouse("vending", .vending, .vending, programs.vending)
    }
    hearLateWords()
    if let due = core.nextDeadline, due <= now.monotonic { happen(.tick) }
    if let due = retryAt, due <= now.monotonic { retryStore() }
    lookForRoomIfDue()
    keepEndingTime()
  }

  /// Waits for the next thing that is due.
  private func rest() {
    guard isAlive else { return }
    var earliest = core.nextDeadline
    let releaseDue = retryAt == nil && world.hasStock ? releases.nextDeadline : nil
    let stockDue = stock.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) }
    var moments = [staff.nextJudgement, house.nextJudgement, server.nextJudgement].map {
      $0.map { loop.wake(for: $0) }
    }
    moments += [staff.nextDeadline, server.nextDeadline, lateWords.map(\.due).min()]
    moments += [house.nextDeadline, ending == nil ? vendingDue : nil]
    moments += [commitDue, retryAt, room.dueAt, ending?.nextDeadline, releaseDue, stockDue]
    for case let moment? in moments { earliest = min(earliest ?? moment, moment) }
    if !intake.isEmpty {
      let pause: TimeSpan = isWithdrawalResting ? .milliseconds(5) : TimeSpan(nanoseconds: 20_000)
      earliest = min(earliest ?? now.monotonic + pause, now.monotonic + pause)
    }
    if let earliest { wake(at: max(earliest, process.clock + TimeSpan(nanoseconds: 1_000))) }
  }

  // MARK: - Life and death

  /// Whether the process is still there for the next step.
  func survives() -> Bool {
    // A core that has broken a promise is asked nothing more: it may be in no state to answer.
    guard isAlive, world.violation == nil else { return false }
    guard let left = fuse else { return true }
    fuse = left - 1
    guard left <= 0 else { return true }
    world.statistics.note(.coordinatorKilled)
    die()
    return false
  }

  /// The process ends, whatever it was doing.
  func die() {
    guard isAlive else { return }
    hasEnded = true
    process.kill()
    world.coordinatorEnded(self, isDone: false)
  }

  /// The bank has ended.
  func leave() {
    guard isAlive else { return }
    flushTellers()
    flushClients()
    guard isAlive else { return }
    hasEnded = true
    farewellUntil = process.clock + .seconds(1)
    // Perhaps nobody is there who could wake it.
    turnDue = process.clock
    server.close()
  }

  // MARK: - The queue

  /// Lets an event happen and does everything that follows from it.
  func happen(_ event: QueueEvent) {
    apply(event)
    perform()
  }

  /// Lets an event happen; the checker sees it, and what follows from it.
  func apply(_ event: QueueEvent) {
    guard isAlive, world.violation == nil else { return }
    world.statistics.events += 1
    world.trace.line(now.monotonic, "  event \(event)")
    world.checker.willApply(event, to: core, at: now)
    let before = effects.count
    core.apply(event, at: now, into: &effects)
    world.checker.didApply(event, to: core, effects[before...], at: now)
  }

  /// No event has as many effects, with everything that follows from them.
  private static let longestStep = 100_000

  /// Performs everything that the queue wants, also what follows from performing it.
  func perform() {
    guard !isPerforming else { return }
    isPerforming = true
    defer { isPerforming = false }
    var place = 0
    while place < effects.count {
      if bug == .performsLastFirst, place < effects.count - 1 { swapStages(from: place) }
      let effect = effects[place]
      place += 1
      guard survives() else { return }
      guard place <= Self.longestStep else {
        return world.violate(.notDrained, "one event has effects without an end")
      }
      world.statistics.effects += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
  }

  private func swapStages(from place: Int) {
    guard case .stage = effects[place] else { return }
    let next = effects[(place + 1)...].firstIndex { if case .stage = $0 { true } else { false } }
    if let next { effects.swapAt(place, next) }
  }

  private func perform(_ effect: QueueEffect) {
    world.trace.line(now.monotonic, "    effect \(effect)")
    switch effect {
    case .stage(let change): stage(change)
    case .loadPage, .lookUp, .loadDead: read(effect)
    case .assign(let window, let lease, let customer):
      staff.tell(window, .assign(Assignment(day: core.books.day, customer: customer, lease: lease)))
    case .acknowledge(let window, let lease):
      staff.tell(window, .acknowledged(lease), canWait: core.numbers(of: window)?.lease != nil)
    case .recall(let window, let lease): staff.tell(window, .recall(lease))
    case .announceClosing(let window): staff.tell(window, .closing)
    case .openWindow(let window): staff.open(window, at: loop.moment())
    case .closeWindow(let window): staff.close(window)
    case .dismissTeller(let window): staff.dismiss(window, at: loop.moment())
    case .endStuckTeller(let window, let generation): staff.abort(window, generation, at: loop.moment())
    case .endRogueTeller(let window, let generation, let reason):
      staff.expel(window, generation, reason: reason, at: loop.moment())
    case .announce: break
    case .reportDead: world.statistics.deadLetters += 1
    case .reply(let request, let answer): finish(request, with: answer)
    case .reportDrained: drained()
    }
  }

  // MARK: - Bytes

  func flushTellers() { if isAlive { staff.flush() } }

  func flushClients() { if isAlive { server.flush() } }
}
