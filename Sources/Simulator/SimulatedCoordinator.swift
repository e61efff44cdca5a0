// Owns the coordinator's process in the simulated world: the shell around the queue's core, turn by turn, in the order
// of the real one: hear everyone, perform what the queue wants, send what was assigned, commit, send what was promised.
// It must not know a rule of the queue. Invariant: between any two effects, sends and commits it may be killed, and
// then does nothing more; what it had not sent is gone with it, and what was staged and not committed too.

import BankModel
import QueueCore
import Storage
import Supervision
import Wire

/// A coordinator's process.
final class SimulatedCoordinator {
  unowned let world: Simulation
  let number: Int
  let plan: FaultPlan
  let bug: PlantedBug?
  var core: any QueueCoreUnderTest
  var chance: SeededGenerator

  private(set) var isAlive = true
  /// It is killed before the step with this number: an effect, a commit, or bytes that leave.
  var fuse: Int?
  var standsUntil: MonotonicTime?
  private var turnDue: MonotonicTime?
  private var arrivals: [(link: Int, arrival: Arrival)] = []

  var now: Moment
  var effects: [QueueEffect] = []
  private var isPerforming = false
  var stagedSince: MonotonicTime?
  var lastCommit = MonotonicTime(nanoseconds: 0)
  var retryAt: MonotonicTime?
  var room = RoomWatch()
  var isToldShort = false
  var heldBack: [QueueEffect] = []

  /// The windows, in their order.
  var posts: [SimulatedPost] = []
  var stations: [Int: TellerStation] = [:]
  /// The last generation at each window.
  var generations: [Window: Generation] = [:]
  var sessions: [Int: ClientSession] = [:]
  var requests: [RequestNumber: OpenRequest] = [:]
  var lastRequest: RequestNumber = 0
  var intake: [IntakeOrder] = []
  var ending: SimulatedEnding?
  /// Clients who wait until the windows are as they shall be.
  var windowWaiters: [(link: Int, number: UInt32)] = []
  /// Before this nobody is taken out of a request that was never whole: the last try has found no room.
  var withdrawalRestsUntil: MonotonicTime?
  /// Bytes that leave at the end of the turn.
  var toTellers: [(link: Int, bytes: [UInt8])] = []
  var toClients: [(link: Int, bytes: [UInt8])] = []
  private(set) var releases: SimulatedReleases!

  init(number: Int, stored: StoredQueue, world: Simulation) {
    self.number = number
    self.world = world
    plan = world.plan
    bug = world.bug
    chance = SeededGenerator(seed: world.seed &* 31 &+ UInt64(number))
    now = world.clock.moment
    if let bug = world.bug, bug.isOfTheCore {
      core = MutantCore(bug, stored, policy: world.plan.policy, at: now)
    } else {
      core = QueueMachine(stored, policy: world.plan.policy, at: now)
    }
    releases = SimulatedReleases(self, world: world)
  }

  /// Opens the windows.
  func open() {
    noteRoom()
    for service in Service.allCases {
      happen(.scale(service, windows: plan.windows[service] ?? 0))
    }
    rest()
  }

  // MARK: - Turns

  /// Something has come; it is heard in the next turn.
  func receive(_ arrival: Arrival, on link: Int) {
    guard isAlive else { return }
    arrivals.append((link, arrival))
    wake(at: world.clock.now + TimeSpan(nanoseconds: chance.draw(1_000...40_000)))
  }

  /// The next turn is then, or earlier.
  func wake(at moment: MonotonicTime) {
    guard isAlive else { return }
    let moment = max(moment, standsUntil ?? moment, world.clock.now)
    if let turnDue, turnDue <= moment { return }
    turnDue = moment
    world.agenda.add(.coordinatorTurn(incarnation: number), at: moment)
  }

  /// One turn of the loop.
  func turn() {
    guard isAlive, let due = turnDue, due <= world.clock.now else { return }
    turnDue = nil
    if let until = standsUntil {
      if until > world.clock.now { return wake(at: until) }
      standsUntil = nil
    }
    now = world.clock.moment
    let heard = arrivals
    arrivals.removeAll(keepingCapacity: true)
    for (link, arrival) in heard where isAlive { hear(arrival, on: link) }
    keepTime()
    advanceIntake()
    flushTellers()
    commitIfDue()
    advanceReleases()
    tellWindowWaiters()
    flushTellers()
    flushClients()
    rest()
  }

  private func keepTime() {
    keepWindowTime()
    if let due = core.nextDeadline, due <= now.monotonic { happen(.tick) }
    if let due = retryAt, due <= now.monotonic { retryStore() }
    lookForRoomIfDue()
    keepEndingTime()
  }

  /// Waits for the next thing that is due.
  private func rest() {
    guard isAlive else { return }
    var earliest = core.nextDeadline
    let releaseDue = retryAt == nil ? releases.retryAt : nil
    for moment in [windowDeadline, commitDue, retryAt, room.dueAt, ending?.nextDeadline, releaseDue] {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
    if !intake.isEmpty {
      let pause: TimeSpan = isWithdrawalResting ? .milliseconds(5) : TimeSpan(nanoseconds: 20_000)
      earliest = min(earliest ?? now.monotonic + pause, now.monotonic + pause)
    }
    if let earliest { wake(at: max(earliest, now.monotonic + TimeSpan(nanoseconds: 1_000))) }
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
    isAlive = false
    world.coordinatorEnded(self, isDone: false)
  }

  /// The bank has ended.
  func leave() {
    guard isAlive else { return }
    flushTellers()
    flushClients()
    guard isAlive else { return }
    isAlive = false
    world.coordinatorEnded(self, isDone: true)
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
    if case .stage = effects[place], case .stage = effects[place + 1] { effects.swapAt(place, place + 1) }
  }

  private func perform(_ effect: QueueEffect) {
    world.trace.line(now.monotonic, "    effect \(effect)")
    switch effect {
    case .stage(let change): stage(change)
    case .loadPage, .lookUp, .loadDead: read(effect)
    case .assign(let window, let lease, let customer):
      tell(window, .assign(Assignment(day: core.books.day, customer: customer, lease: lease)))
    case .acknowledge(let window, let lease): tell(window, .acknowledged(lease))
    case .recall(let window, let lease): tell(window, .recall(lease))
    case .announceClosing(let window): tell(window, .closing)
    case .openWindow(let window): openWindow(window)
    case .closeWindow(let window): closeWindow(window)
    case .dismissTeller(let window): dismiss(window)
    case .endStuckTeller(let window, let generation): abort(window, generation)
    case .endRogueTeller(let window, let generation, _): expel(window, generation)
    case .announce: break
    case .reportDead: world.statistics.deadLetters += 1
    case .reply(let request, let answer): finish(request, with: answer)
    case .reportDrained: drained()
    }
  }

  // MARK: - Bytes

  private func hear(_ arrival: Arrival, on link: Int) {
    switch world.network.peer(of: link) {
    case .teller: hearTeller(arrival, on: link)
    case .client: hearClient(arrival, on: link)
    }
  }

  func flushTellers() {
    let leaving = toTellers
    toTellers.removeAll(keepingCapacity: true)
    for (link, bytes) in leaving where survives() { world.put(bytes, on: link, to: .peer) }
  }

  func flushClients() {
    let leaving = toClients
    toClients.removeAll(keepingCapacity: true)
    for (link, bytes) in leaving where survives() { world.put(bytes, on: link, to: .peer) }
  }
}
