// Owns the vending machine's process in the simulated world: the shell around the machine's core, turn by turn, in the
// order of the real `VendingDesk` and `VendingService`: hear everyone, commit once, answer. It must not know a rule of the
// machine. Invariant: between any two effects, commits and sends it may be killed, and then does nothing more; what it had
// not sent is gone with it, and what was staged and not committed too.

import BankModel
import QueueCore
import Storage
import VendingCore
import VendingMachine
import Wire

/// The process of a vending machine.
final class SimulatedMachine {
  struct Question {
    var link: Int
    var request: VendingRequest
  }

  unowned let world: Simulation
  let number: Int
  let bug: PlantedBug?
  private(set) var core: any VendingCoreUnderTest
  let asker: SimulatedAsker
  private(set) var shelf: SimulatedShelf!
  private var chance: SeededGenerator

  private(set) var isAlive = true
  /// It is killed before the step with this number: an effect, a commit, or bytes that leave.
  var fuse: Int?
  private var standsUntil: MonotonicTime?
  private var turnDue: MonotonicTime?
  private var arrivals: [(link: Int, arrival: Arrival)] = []
  private var decoders: [Int: FrameDecoder] = [:]
  private var asked: [VendingCore.RequestNumber: Question] = [:]
  private var lastRequest: VendingCore.RequestNumber = 0
  private var questions: [Question] = []
  private var leaving: [(link: Int, bytes: [UInt8])] = []
  var now: Moment
  /// When what did not fit on the disk is tried again.
  private var retryAt: MonotonicTime?
  /// Purchases that the stock would not put back, and when it is asked once more.
  var again: [PurchaseNumber] = []
  private var againAt: MonotonicTime?
  /// How often a full disk has refused what was staged.
  private var refusals = 0

  private static let diskPause = TimeSpan(nanoseconds: 10_000)
  private static let retryPause = TimeSpan.milliseconds(500)
  private static let releasePause = TimeSpan.seconds(1)

  init(number: Int, stored: StoredVending, world: Simulation) {
    self.number = number
    self.world = world
    bug = world.bug
    chance = SeededGenerator(seed: world.seed &* 41 &+ UInt64(number))
    now = world.clock.moment
    asker = world.newAsker()
    let prices = Dictionary(
      world.plan.vending.table.products.map { ($0.id, $0.price) }, uniquingKeysWith: { $1 })
    if let bug = world.bug, bug.isOfTheMachine {
      core = MutantVending(bug, stored, prices: prices, world.vending.disk)
    } else {
      core = VendingStateMachine(stored, prices: prices)
    }
    shelf = SimulatedShelf(self, asker, world: world)
  }

  var store: MemoryVendingStore { world.vending.disk }

  /// Goes on with what was left open, and begins to listen.
  func open() {
    asker.onLost = { [weak self] in self?.heardOfTheStock() }
    shelf.open()
    happen(.began)
    wake(at: world.clock.now)
  }

  // MARK: - Turns

  /// Something has come; it is heard in the next turn.
  func receive(_ arrival: Arrival, on link: Int) {
    guard isAlive else { return }
    arrivals.append((link, arrival))
    wake(at: world.clock.now + TimeSpan(nanoseconds: chance.draw(1_000...40_000)))
  }

  /// The stock has said something, or its connection has ended: there is a turn about it.
  func heardOfTheStock() {
    now = world.clock.moment
    wake(at: world.clock.now)
  }

  /// The process stands still until then.
  func stand(until moment: MonotonicTime) {
    standsUntil = moment
    asker.stand(true)
    wake(at: moment)
  }

  private func wake(at moment: MonotonicTime) {
    guard isAlive else { return }
    let moment = max(moment, standsUntil ?? moment, world.clock.now)
    if let turnDue, turnDue <= moment { return }
    turnDue = moment
    world.agenda.add(.vendingTurn(incarnation: number), at: moment)
  }

  /// One turn of the loop.
  func turn() {
    guard isAlive, let due = turnDue, due <= world.clock.now else { return }
    turnDue = nil
    now = world.clock.moment
    if let until = standsUntil {
      if until > world.clock.now { return wake(at: until) }
      standsUntil = nil
      asker.stand(false)
    }
    let heard = arrivals
    arrivals.removeAll(keepingCapacity: true)
    for (link, arrival) in heard where isAlive { hear(arrival, on: link) }
    endTurn()
  }

  private func endTurn() {
    guard isAlive else { return }
    shelf.endTurn(now.monotonic)
    if let due = commitDue, due <= now.monotonic { commit() }
    answerQuestions()
    retryReleases()
    flush()
    let next = [
      commitDue.map { max($0, now.monotonic + Self.diskPause) }, shelf.nextDeadline, againAt,
    ].compactMap { $0 }.min()
    if let next { wake(at: next) }
  }

  private func retryReleases() {
    guard isAlive, !again.isEmpty else { return }
    guard let due = againAt else { return againAt = now.monotonic + Self.releasePause }
    guard due <= now.monotonic else { return }
    againAt = nil
    let purchases = again
    again.removeAll()
    for purchase in purchases where isAlive { release(purchase) }
  }

  private func survives() -> Bool {
    guard isAlive, world.violation == nil else { return false }
    guard let left = fuse else { return true }
    fuse = left - 1
    guard left <= 0 else { return true }
    world.statistics.note(.vendingKilled)
    die()
    return false
  }

  /// The process ends, whatever it was doing.
  func die() {
    guard isAlive else { return }
    isAlive = false
    shelf.close()
    asker.close()
    world.vendingEnded(self)
  }

  // MARK: - The machine

  func happen(_ event: VendingEvent) {
    guard isAlive, world.violation == nil else { return }
    world.statistics.vendingEvents += 1
    world.trace.line(now.monotonic, "  vending: event \(event)")
    let before = refusals
    var effects: [VendingEffect] = []
    core.apply(event, at: now.wall, into: &effects)
    for effect in effects {
      guard survives() else { return }
      // What was refused is not written in part.
      if case .stage = effect, refusals != before { continue }
      world.trace.line(now.monotonic, "    vending: effect \(effect)")
      perform(effect)
    }
  }

  private func perform(_ effect: VendingEffect) {
    do throws(StoreError) {
      switch effect {
      case .lookUp(let id): happen(.found(id, try store.request(id)))
      case .stage(let entry):
        world.meetVendingDisk(isCommit: false)
        try store.stage(entry)
        world.checker.vending.staged(entry)
      case .reply(let request, let answer): reply(request, answer)
      case .take(let purchase, let product): take(product, for: purchase)
      case .release(let purchase): release(purchase)
      }
    } catch {
      storeFailed(error)
    }
  }

  private var commitDue: MonotonicTime? {
    if core.isUnsettled { return now.monotonic }
    return core.hasUnwritten ? retryAt : nil
  }

  private func commit() {
    if core.hasUnwritten { happen(.retried) }
    guard isAlive, core.isUnsettled, survives() else { return }
    if bug == .vendingAnswersTooEarly {
      happen(.committed)
      flush()
      guard survives() else { return }
    }
    do throws(StoreError) {
      world.meetVendingDisk(isCommit: true)
      try store.commit()
    } catch {
      if bug == .vendingBelievesAFullDisk, case .diskFull = error {
        store.rollBack()
        world.checker.vending.forgotten()
      } else {
        return storeFailed(error)
      }
    }
    retryAt = nil
    world.statistics.vendingCommits += 1
    world.checker.vending.committed()
    world.trace.line(now.monotonic, "  vending: committed")
    guard survives() else { return }
    if bug != .vendingAnswersTooEarly { happen(.committed) }
    if core.hasUnwritten, bug != .vendingForgetsToRetry { retryAt = now.monotonic }
  }

  private func storeFailed(_ error: StoreError) {
    world.trace.line(now.monotonic, "  vending: the store failed: \(error)")
    guard case .diskFull = error else {
      if case .damaged(_, let detail) = error { world.violate(.storeContradiction, "the machine: \(detail)") }
      return die()
    }
    store.rollBack()
    refusals += 1
    retryAt = now.monotonic + Self.retryPause
    world.checker.vending.forgotten()
    happen(.commitRefused)
  }

  // MARK: - Messages

  private func hear(_ arrival: Arrival, on link: Int) {
    guard case .bytes(let bytes) = arrival else {
      decoders[link] = nil
      asked = asked.filter { $0.value.link != link }
      questions.removeAll { $0.link == link }
      return
    }
    var decoder = decoders[link] ?? FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(bytes)
    do {
      while isAlive, let body = try decoder.next() {
        switch try CBORDecoder().decode(VendingMessage.self, from: body) {
        case .hello: say(.welcome(Welcome(build: Simulation.build)), on: link)
        case .request(let request): serve(Question(link: link, request: request))
        }
      }
    } catch {
      world.violate(.conversation, "the machine cannot understand somebody who asks: \(error)")
    }
    decoders[link] = decoder
  }

  private func serve(_ question: Question) {
    let (command, isManager) = (question.request.command, world.isManager(at: question.link))
    guard command.side == .both || (command.side == .manager) == isManager else {
      return tell(question, .failure(VendingFailure(.wrongSide)))
    }
    guard command.changesSomething, let name = question.request.order else {
      return questions.append(question)
    }
    if let action = command.action {
      lastRequest += 1
      asked[lastRequest] = question
      happen(.asked(lastRequest, name, action))
    } else {
      manage(question, as: name)
    }
  }

  private func reply(_ number: VendingCore.RequestNumber, _ answer: VendingAnswer) {
    guard let question = asked.removeValue(forKey: number) else { return }
    tell(question, VendingResult(answer))
  }

  /// Answers a request.
  func tell(_ question: Question, _ result: VendingResult) {
    guard isAlive else { return }
    world.checker.vending.answered(question.request, result)
    say(.reply(VendingReply(number: question.request.number, result: result)), on: question.link)
  }

  /// What needs no stock is answered when nothing is staged.
  private func answerQuestions() {
    guard isAlive, !questions.isEmpty, !core.isUnsettled else { return }
    let waiting = questions
    questions.removeAll()
    for question in waiting {
      if case .history(let page) = question.request.command {
        let rows = (try? store.purchases(after: page.after, limit: Int(page.limit))) ?? []
        tell(question, .history(rows))
      } else {
        tell(question, .picture(picture))
      }
    }
  }

  private var picture: VendingPicture {
    VendingPicture(
      sequence: core.settledSequence, balance: core.settledAccount.balance, free: core.settledFree,
      today: world.today, products: [], sales: [], recent: [])
  }

  private func say(_ message: VendingServiceMessage, on link: Int) {
    guard let bytes = world.encode(message, limit: FrameLimits.control) else { return }
    leaving.append((link, bytes))
  }

  private func flush() {
    let now = leaving
    leaving.removeAll(keepingCapacity: true)
    for (link, bytes) in now where survives() { world.put(bytes, on: link, to: .peer) }
  }
}
