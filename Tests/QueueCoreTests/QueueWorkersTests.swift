// Workers that serve several customers at once, at windows and outside: how many each gets, what happens to
// the customers of a lost or silent worker, and that no customer becomes a dead letter because of another
// one.

import BankModel
import Glibc
@testable import QueueCore
import Testing
import Time

@Suite("Workers that serve several customers at once") struct QueueWorkersTests {
  private static let mail = Service(number: 4)
  private static let mailer = Window(service: mail, place: 1)

  private func branch(_ change: (inout QueuePolicy) -> Void = { _ in }) -> TestBranch {
    var policy = QueuePolicy()
    policy.prefetch = Limits.customersPerWorker
    change(&policy)
    return TestBranch(policy: policy)
  }

  private func mail(_ count: Int) -> [CustomerOrder] {
    (0..<count).map { _ in CustomerOrder(service: Self.mail, priority: .regular, amount: 0, account: 0) }
  }

  private func arrive(_ count: Int, at branch: TestBranch) -> [QueueEffect] {
    branch.process(.enqueue(branch.request(), orders: mail(count), total: Int64(count), isLast: true))
      + branch.process(.committed)
  }

  private func open(_ branch: TestBranch, inFlight: Int) {
    branch.process(.scale(Self.mail, windows: 1))
    branch.process(.workerReady(Self.mailer, 1, pid: 100, inFlight: inFlight))
  }

  private func lease(_ ticket: TicketNumber, attempt: Int32 = 1, _ generation: Generation = 1) -> Lease {
    Lease(ticket: ticket, attempt: attempt, generation: generation)
  }

  @Test(
    "a worker holds as many as it takes, answers in any order, and each is announced on assignment"
  )
  func anyOrder() {
    let branch = branch()
    open(branch, inFlight: 3)
    let effects = arrive(5, at: branch)
    #expect(effects.assigned == [1, 2, 3])
    let started = effects.count { if case .announce(.started, _, _, _) = $0 { true } else { false } }
    #expect(started == 3)
    let answered = branch.process(.tellerAnswered(Self.mailer, 1, lease(2), .done))
    #expect(answered.receipts.map(\.ticket) == [2] && answered.assigned == [4])
    #expect(branch.process(.tellerAnswered(Self.mailer, 1, lease(1), .done)).receipts.map(\.ticket) == [1])
    #expect(branch.process(.tellerAnswered(Self.mailer, 1, lease(5), .done)).receipts.map(\.ticket) == [5])
  }

  @Test("no customer is assigned while a worker is being ended, however long that takes")
  func endsWorkFirst() {
    var rules = ServicePolicy()
    rules.awaitsProcessExit = true
    for isRogue in [false, true] {
      let branch = branch { $0.set(rules, for: Self.mail) }
      open(branch, inFlight: 1)
      let other = Window(service: Self.mail, place: 2)
      branch.process(.scale(Self.mail, windows: 2))
      branch.process(.workerReady(other, 1, pid: 102, inFlight: 1))
      #expect(arrive(2, at: branch).assigned == [1, 2])
      #expect(branch.process(.tellerAnswered(other, 1, lease(2), .done)).receipts.map(\.ticket) == [2])
      // The first one's customer is taken back, and the idle window gets none yet: neither this one nor a
      // later one.
      let ended =
        isRogue
        ? branch.process(.tellerProgressed(Self.mailer, 1, lease(9))) : branch.pass(.seconds(11))
      #expect(isRogue ? !ended.rogues.isEmpty : ended.stuck == [Self.mailer])
      #expect(ended.assigned.isEmpty && arrive(1, at: branch).assigned.isEmpty)
      // A message in flight brings no customer either.
      #expect(branch.process(.tellerAnswered(Self.mailer, 1, lease(1), .done)).receipts.isEmpty)
      // A worker that cannot be ended, because it waits for a dead disk, may become active again an hour
      // later.
      if isRogue { #expect(branch.pass(.seconds(3_600)).assigned.isEmpty) }
      #expect(branch.kill(Self.mailer).assigned == [1])
    }
  }

  @Test(
    "each lease starts with its customer, progress renews that one alone, and expiry ends the worker"
  )
  func ownLeases() {
    let branch = branch()
    open(branch, inFlight: 2)
    _ = arrive(2, at: branch)
    branch.pass(.seconds(6))
    branch.process(.tellerProgressed(Self.mailer, 1, lease(2)))
    let effects = branch.pass(.seconds(5))
    #expect(effects.stuck == [Self.mailer])
    #expect(effects.attempts.map(\.ticket) == [1, 2])
    #expect(effects.attempts.map(\.end) == [.leaseExpired, .recalled], "the other one made progress")
  }

  @Test("a time limit ends a lease, however much progress there is")
  func timeout() {
    let branch = branch { $0.common.timeout = .seconds(12) }
    open(branch, inFlight: 1)
    _ = arrive(1, at: branch)
    branch.pass(.seconds(8))
    branch.process(.tellerProgressed(Self.mailer, 1, lease(1)))
    #expect(branch.pass(.milliseconds(3_900)).stuck == [])
    #expect(branch.pass(.milliseconds(200)).stuck == [Self.mailer])
  }

  @Test(
    "the customers of a lost worker are served alone until it shows which one is to blame"
  )
  func suspects() {
    let branch = branch { $0.maxCrashes = 2 }
    open(branch, inFlight: 4)
    _ = arrive(4, at: branch)
    // The third one kills every worker that serves it.
    let first = branch.kill(Self.mailer)
    #expect(first.attempts.map(\.ticket) == [1, 2, 3, 4] && first.dead.isEmpty)
    var generation: Generation = 1
    func next() -> [QueueEffect] {
      generation += 1
      return branch.process(.workerReady(Self.mailer, generation, pid: 100, inFlight: 4))
    }
    #expect(next().assigned == [1], "one alone")
    #expect(
      branch.process(.tellerAnswered(Self.mailer, generation, lease(1, attempt: 2, generation), .done))
        .assigned == [2])
    #expect(
      branch.process(.tellerAnswered(Self.mailer, generation, lease(2, attempt: 2, generation), .done))
        .assigned == [3])
    #expect(branch.kill(Self.mailer, generation: generation).dead == [3])
    #expect(next().assigned == [4])
    // A customer that is not to blame is served beside others again.
    _ = arrive(2, at: branch)
    #expect(
      branch.process(.tellerAnswered(Self.mailer, generation, lease(4, attempt: 2, generation), .done))
        .assigned
        == [5, 6])
  }

  @Test("an outside worker serves many services, and no more customers at once than it takes")
  func manyServices() {
    let branch = branch()
    branch.process(.workerConnected([.deposit, Self.mail], number: 1, 77, pid: 9, inFlight: 3))
    branch.arrive(.deposit, .deposit)
    let effects = arrive(3, at: branch)
    #expect(effects.assigned == [3])
    #expect(
      branch.process(.tellerAnswered(.outside(.deposit, number: 1), 77, lease(2, 77), .done)).assigned == [4])
    let receipt = branch.process(.tellerAnswered(.outside(Self.mail, number: 1), 77, lease(3, 77), .done))
      .receipts.first
    #expect(receipt?.window == .outside(Self.mail, number: 1) && receipt?.pid == 9)
  }

  @Test("an outside worker that leaves returns its customers at once, and its places are gone")
  func goesAway() {
    let branch = branch()
    branch.process(.workerConnected([.deposit, Self.mail], number: 1, 77, pid: 9, inFlight: 4))
    branch.arrive(.deposit)
    _ = arrive(1, at: branch)
    let gone = branch.process(.workerDisconnected(77))
    #expect(gone.attempts.map(\.ticket).sorted() == [1, 2] && gone.attempts.allSatisfy { $0.end == .killed })
    branch.process(.workerConnected([.deposit], number: 1, 78, pid: 9, inFlight: 4))
    #expect(branch.lease(at: .outside(.deposit, number: 1)) == lease(1, attempt: 2, 78))
    // Later messages of the first one change nothing.
    let late = branch.process(.tellerAnswered(.outside(.deposit, number: 1), 77, lease(1, 77), .done))
    #expect(late.receipts.isEmpty && late.rogues.isEmpty)
  }

  @Test(
    "a silent outside worker loses the lease but lives; its late answer only makes room again"
  )
  func silent() {
    let branch = branch()
    let place = Window.outside(Self.mail, number: 1)
    branch.process(.workerConnected([Self.mail], number: 1, 77, pid: 9, inFlight: 2))
    _ = arrive(3, at: branch)
    branch.pass(.seconds(6))
    branch.process(.tellerProgressed(place, 77, lease(2, 77)))
    let expired = branch.pass(.seconds(5))
    #expect(expired.stuck.isEmpty && expired.attempts.map(\.end) == [.leaseExpired])
    #expect(expired.assigned == [], "it still holds two")
    let late = branch.process(.tellerAnswered(place, 77, lease(1, 77), .done))
    #expect(late.receipts.isEmpty && late.rogues.isEmpty)
    #expect(late.assigned == [], "its own customer from the time of silence is next, and is served alone")
    #expect(branch.process(.tellerAnswered(place, 77, lease(2, 77), .done)).assigned == [1])
  }

  @Test(
    "a customer returned unasked is delayed, also beyond the limit of customers ordered for later"
  )
  func givenBack() {
    let branch = branch { $0.maxDeferrals = 2 }
    open(branch, inFlight: 1)
    _ = arrive(1, at: branch)
    let returned = branch.process(.tellerAnswered(Self.mailer, 1, lease(1), .returned))
    #expect(
      returned.attempts.map(\.end) == [.deferred] && returned.rogues.isEmpty && returned.assigned.isEmpty)
    #expect(branch.pass(.seconds(1)).assigned == [1])
  }

  @Test("windows are opened and closed beside outside workers")
  func beside() {
    let branch = TestBranch()
    branch.process(.workerConnected([.deposit], number: 1, 77, pid: 9, inFlight: 1))
    branch.open(.deposit, windows: 2)
    branch.arrive(.deposit, .deposit, .deposit)
    #expect(
      Set(
        [Window.deposit1, .deposit2, .outside(.deposit, number: 1)].compactMap {
          branch.lease(at: $0)?.ticket
        }) == [1, 2, 3])
    branch.process(.scale(.deposit, windows: 0))
    for place in [Window.deposit1, .deposit2] {
      _ = try? branch.answer(place)
      branch.process(.tellerLost(place, 1, .code(0)))
    }
    #expect(branch.lease(at: .deposit1) == nil && branch.lease(at: .outside(.deposit, number: 1)) != nil)
    branch.open(.deposit, windows: 1)
    branch.arrive(.deposit)
    #expect(branch.lease(at: .deposit1)?.ticket == 4)
  }

  @Test(
    "in any history none is served twice or beside a forbidden one, and all are served in the end"
  )
  func histories() throws {
    let chosen = getenv("BANK_QUEUE_SEED").flatMap { UInt64(String(cString: $0)) }
    var system = SystemRandomNumberGenerator()
    let first = chosen ?? system.next() >> 1
    for seed in first..<first + (chosen == nil ? 400 : 1) {
      let world = WorkerHarness(seed: seed)
      for service in WorkerHarness.services.prefix(2) {
        world.process(.scale(service, windows: Int32(world.chance.draw(0...2))))
      }
      for _ in 0..<120 { step(world) }
      finish(world)
      let issued = world.branch.dayCounters.issued
      let missing = (1...max(1, issued)).filter {
        issued > 0 && world.receipts[$0] != 1 && !world.dead.contains($0)
      }
      if !missing.isEmpty { world.faults.append("without one receipt: \(missing)") }
      #expect(world.faults.isEmpty, "seed \(seed): \(world.faults.prefix(3)); BANK_QUEUE_SEED=\(seed)")
      if !world.faults.isEmpty { return }
    }
  }

  private func step(_ world: WorkerHarness) {
    switch world.chance.draw(0...99) {
    case 0..<15: world.arrive(Int(world.chance.draw(1...4)))
    case 15..<30: world.workerStartsAtWindow()
    case 30..<38: world.outsideWorkerConnects()
    case 38..<70: world.workerAnswers()
    case 70..<78: world.workerProgresses()
    case 78..<84: world.pass(.milliseconds(world.chance.draw(1...6_000)))
    case 84: world.pass(.seconds(11))
    case 85..<89:
      if let index = world.workers.indices.randomElement(using: &world.chance) { world.workerExits(index) }
    case 89..<92: world.process(.cancel(world.branch.request(), world.chance.draw(1...40)))
    case 92..<94:
      let service = WorkerHarness.services[Int(world.chance.draw(0...1))]
      world.process(.scale(service, windows: Int32(world.chance.draw(0...3))))
    case 94: world.workerViolatesProtocol()
    case 95: if let window = world.wanted.first { world.process(.replace(window)) }
    default:
      for index in world.workers.indices.reversed() where world.workers[index].isTerminating {
        world.workerExits(index)
      }
    }
  }

  /// All remaining customers are served by reliable workers.
  private func finish(_ world: WorkerHarness) {
    for service in WorkerHarness.services { world.process(.scale(service, windows: 1)) }
    for _ in 0..<2_000 {
      for index in world.workers.indices.reversed() where world.workers[index].isTerminating {
        world.workerExits(index)
      }
      world.workerStartsAtWindow()
      world.workerAnswers(reliably: true)
      if world.branch.isIdle { return }
      world.pass(.milliseconds(500))
      world.workerProgresses()
    }
    world.faults.append("\(world.branch.dayCounters): not all are finished")
  }
}

extension TestBranch {
  var dayCounters: DayCounters { machine.dayCounters }
}
