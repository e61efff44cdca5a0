// Owns the stock service's process in the simulated world: the shell around the stock's core, turn by turn, in the order
// of the real one: hear everyone, commit once, answer. It must not know a rule of the stock.
// Invariant: between any two effects, commits and sends it may be killed, and then does nothing more; what it had not
// sent is gone with it, and what was staged and not committed too.

import BankModel
import QueueCore
import StockCore
import StockService
import Storage
import Wire

/// The process of a stock service.
final class SimulatedStock {
  private struct Question {
    var link: Int
    var request: StockRequest
    var isViewer = false
  }

  /// Somebody who looks on.
  struct Viewer {
    var link: Int
    var number: UInt32
    /// The last change that was sent.
    var sequence: Int64
  }

  unowned let world: Simulation
  let number: Int
  let bug: PlantedBug?
  private var core: any StockCoreUnderTest
  private var chance: SeededGenerator

  private(set) var isAlive = true
  /// It is killed before the step with this number: an effect, a commit, or bytes that leave.
  var fuse: Int?
  var standsUntil: MonotonicTime?
  private var turnDue: MonotonicTime?
  private var arrivals: [(link: Int, arrival: Arrival)] = []
  private var decoders: [Int: FrameDecoder] = [:]
  private var questions: [StockCore.RequestNumber: Question] = [:]
  private var lastRequest: StockCore.RequestNumber = 0
  private var leaving: [(link: Int, bytes: [UInt8])] = []
  private var now: Moment
  private var stagedSince: MonotonicTime?
  private var isFurnished = true
  /// Those who look on.
  var viewers: [Viewer] = []
  private static let diskPause = TimeSpan(nanoseconds: 10_000)

  init(number: Int, stored: StoredStock, world: Simulation) {
    self.number = number
    self.world = world
    bug = world.bug
    chance = SeededGenerator(seed: world.seed &* 37 &+ UInt64(number))
    now = world.clock.moment
    if let bug = world.bug, bug.isOfTheStock {
      core = MutantStock(bug, stored, world.stockDisk)
    } else {
      core = StockMachine(stored)
    }
  }

  var store: MemoryStockStore { world.stockDisk }
  var isUnsettled: Bool { core.isUnsettled }

  /// Brings what is new in the assortment into the stock.
  func open() {
    happen(.furnish(world.plan.stock.assortment.fruits.map { ItemAmount($0.id, $0.initial) }))
    commit()
    // Without its shelves it has nothing to say to anybody.
    if !isFurnished { die() }
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
    world.agenda.add(.stockTurn(incarnation: number), at: moment)
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
    if let due = commitDue, due <= now.monotonic { commit() }
    tellViewers()
    flush()
    if let due = commitDue { wake(at: max(due, now.monotonic + Self.diskPause)) }
  }

  private func survives() -> Bool {
    guard isAlive, world.violation == nil else { return false }
    guard let left = fuse else { return true }
    fuse = left - 1
    guard left <= 0 else { return true }
    world.statistics.note(.stockKilled)
    die()
    return false
  }

  /// The process ends, whatever it was doing.
  func die() {
    guard isAlive else { return }
    isAlive = false
    world.stockEnded(self)
  }

  // MARK: - The stock

  private func happen(_ event: StockEvent) {
    guard isAlive, world.violation == nil else { return }
    world.statistics.stockEvents += 1
    world.trace.line(now.monotonic, "  stock: event \(event)")
    var effects: [StockEffect] = []
    core.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard survives() else { return }
      world.trace.line(now.monotonic, "    stock: effect \(effect)")
      perform(effect)
    }
  }

  private func perform(_ effect: StockEffect) {
    do throws(StoreError) {
      switch effect {
      case .lookUp(let id): happen(.found(id, try store.order(id)))
      case .stage(let entry):
        try store.stage(entry)
        stagedSince = stagedSince ?? now.monotonic
        world.checker.stock.staged(entry)
        if bug == .showsTooEarly { tellViewers(of: entry.changes) }
      case .reply(let request, let answer): reply(request, answer)
      }
    } catch {
      storeFailed(error)
    }
  }

  private var commitDue: MonotonicTime? {
    core.isUnsettled ? (stagedSince ?? now.monotonic) + world.plan.stock.gather : nil
  }

  private func commit() {
    guard core.isUnsettled, survives() else { return }
    if bug == .stockAnswersTooEarly {
      happen(.committed)
      flush()
      guard survives() else { return }
    }
    do throws(StoreError) {
      world.meetStockDisk()
      try store.commit()
    } catch {
      if bug == .stockBelievesAFullDisk, case .diskFull = error {
        store.rollBack()
        world.checker.stock.forgotten()
      } else {
        return storeFailed(error)
      }
    }
    stagedSince = nil
    world.statistics.stockCommits += 1
    world.checker.stock.committed()
    world.trace.line(now.monotonic, "  stock: committed")
    guard bug != .stockAnswersTooEarly, survives() else { return }
    happen(.committed)
  }

  private func storeFailed(_ error: StoreError) {
    world.trace.line(now.monotonic, "  stock: the store failed: \(error)")
    guard case .diskFull = error else {
      if case .damaged(_, let detail) = error { world.violate(.storeContradiction, "the stock: \(detail)") }
      return die()
    }
    store.rollBack()
    stagedSince = nil
    if lastRequest == 0 { isFurnished = false }
    world.checker.stock.forgotten()
    happen(.commitRefused)
  }

  // MARK: - Messages

  private func hear(_ arrival: Arrival, on link: Int) {
    guard case .bytes(let bytes) = arrival else {
      decoders[link] = nil
      questions = questions.filter { $0.value.link != link }
      viewers.removeAll { $0.link == link }
      return
    }
    var decoder = decoders[link] ?? FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(bytes)
    do {
      while isAlive, let body = try decoder.next() {
        switch try CBORDecoder().decode(StockMessage.self, from: body) {
        case .hello: say(.welcome(Welcome(build: Simulation.build)), on: link)
        case .request(let request): serve(request, on: link)
        }
      }
    } catch {
      world.violate(.conversation, "the stock cannot understand somebody who asks: \(error)")
    }
    decoders[link] = decoder
  }

  private func serve(_ request: StockRequest, on link: Int) {
    lastRequest += 1
    questions[lastRequest] = Question(link: link, request: request)
    world.checker.stock.heard(request)
    if let action = request.command.action(today: 0) {
      happen(.order(lastRequest, request.order, action))
    } else if case .introduce(let items) = request.command {
      happen(.introduce(lastRequest, items))
    } else if case .assortment = request.command {
      questions[lastRequest] = nil
      tell(request.number, .assortment(world.plan.stock.assortment), on: link)
    } else {
      if case .follow(let place) = request.command {
        if let place, replay(behind: place, to: request.number, on: link) {
          questions[lastRequest] = nil
          return
        }
        questions[lastRequest]?.isViewer = true
      }
      happen(.look(lastRequest))
    }
  }

  private func reply(_ number: StockCore.RequestNumber, _ answer: StockAnswer) {
    guard let question = questions.removeValue(forKey: number) else { return }
    let result = StockResult(answer)
    world.checker.stock.answered(question.request, result)
    tell(question.request.number, result, on: question.link, more: question.isViewer)
    if question.isViewer, case .picture(let picture) = answer {
      viewers.append(Viewer(link: question.link, number: question.request.number, sequence: picture.sequence))
    }
  }

  func tell(_ number: UInt32, _ result: StockResult, on link: Int, more: Bool = false) {
    say(.reply(StockReply(number: number, result: result, more: more)), on: link)
  }

  private func say(_ message: StockServiceMessage, on link: Int) {
    guard let bytes = world.encode(message, limit: FrameLimits.control) else { return }
    leaving.append((link, bytes))
  }

  func flush() {
    let now = leaving
    leaving.removeAll(keepingCapacity: true)
    for (link, bytes) in now where survives() { world.put(bytes, on: link, to: .peer) }
  }
}
