// A small world of workers around the queue, at windows and outside: which customers each holds, how many it
// may hold, and which must be alone. A seed decides everything, and all staged changes are on disk at once.

import BankModel
@testable import QueueCore
import Testing
import Time

final class WorkerHarness {
  /// A worker as the world sees it.
  struct Worker {
    var places: [Window]
    var generation: Generation
    var capacity: Int
    var isOutside: Bool
    /// True while it is being ended: its messages are ignored.
    var isTerminating = false
    var leases: [Lease: Window] = [:]
    /// Those among them that were recalled.
    var recalled: Set<Lease> = []
    /// Customers that must be its only ones.
    var suspects: Set<Lease> = []

    var inFlight: Int { leases.count - recalled.count }
  }

  let branch: TestBranch
  var chance: SeededGenerator
  var workers: [Worker] = []
  var receipts: [TicketNumber: Int] = [:]
  var dead: Set<TicketNumber> = []
  var wanted: [Window] = []
  var faults: [String] = []
  private var generations: [Window: Generation] = [:]
  private var outsideGeneration: Generation = 1 << 16
  static let services: [Service] = [.deposit, .loan, Service(number: 4)]

  init(seed: UInt64) {
    chance = SeededGenerator(seed: seed)
    var policy = QueuePolicy()
    policy.prefetch = Limits.customersPerWorker
    policy.maxCrashes = Int32(chance.draw(1...3))
    policy.maxFailures = Int32(chance.draw(1...3))
    policy.maxDeferrals = 4
    policy.retryInitialDelay = .milliseconds(100)
    policy.common.timeout = chance.draw(0...1) == 0 ? nil : .seconds(15)
    branch = TestBranch(policy: policy)
  }

  func process(_ event: QueueEvent) {
    var effects = branch.process(event)
    effects += branch.process(.committed)
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: QueueEffect) {
    switch effect {
    case .assign(let window, let lease, let customer): assign(lease, customer, at: window)
    case .recall(let window, let lease):
      guard let index = worker(at: window) else {
        return faults.append("\(lease) is recalled from \(window), which has no worker")
      }
      if workers[index].leases[lease] == nil { faults.append("\(window) does not hold \(lease)") }
      workers[index].recalled.insert(lease)
      workers[index].suspects.remove(lease)
    case .openWindow(let window): wanted.append(window)
    case .closeWindow(let window): wanted.removeAll { $0 == window }
    case .dismissTeller(let window):
      guard let index = worker(at: window) else {
        return faults.append("\(window) is dismissed and has no worker")
      }
      if !workers[index].leases.isEmpty {
        faults.append("\(window) is dismissed with \(workers[index].leases)")
      }
      workers[index].isTerminating = true
    case .killStuckTeller(let window, let generation), .killRogueTeller(let window, let generation, _):
      guard let index = worker(at: window), workers[index].generation == generation else {
        return faults.append("\(window) is ended and has no worker of generation \(generation)")
      }
      if case .killStuckTeller = effect, workers[index].isOutside {
        faults.append("\(window) must not be ended")
      }
      workers[index].isTerminating = true
    case .stage(.finish(let customer, _, _)): receipts[customer.ticket, default: 0] += 1
    case .stage(.bury(let customer)): dead.insert(customer.ticket)
    default: break
    }
  }

  private func worker(at window: Window) -> Int? { workers.firstIndex { $0.places.contains(window) } }

  private func assign(_ lease: Lease, _ customer: Customer, at window: Window) {
    guard let index = worker(at: window) else {
      return faults.append("\(window) gets \(lease) and has no worker")
    }
    let worker = workers[index]
    if worker.isTerminating { faults.append("\(window) is gone and gets \(lease)") }
    if worker.leases.count >= worker.capacity {
      faults.append("\(window) gets \(lease) and holds \(worker.leases)")
    }
    if customer.service != window.service {
      faults.append("\(window) gets a customer of \(customer.service)")
    }
    if !worker.suspects.isEmpty { faults.append("\(window) gets \(lease) beside \(worker.suspects)") }
    if customer.crashes > 0 {
      if worker.inFlight > 0 { faults.append("\(window) gets \(lease), which must be alone, beside others") }
      workers[index].suspects.insert(lease)
    }
    for other in workers {
      let twice = other.leases.keys.contains { $0.ticket == lease.ticket && !other.recalled.contains($0) }
      if twice, !other.isTerminating { faults.append("ticket \(lease.ticket) is assigned twice") }
    }
    workers[index].leases[lease] = window
  }

  // MARK: - Events

  func arrive(_ count: Int) {
    let orders = (0..<count).map { _ in
      CustomerOrder(
        service: Self.services[Int(chance.draw(0...2))], priority: Priority.grades[Int(chance.draw(0...2))],
        amount: 0, account: 0)
    }
    process(.enqueue(branch.request(), orders: orders, total: Int64(count), isLast: true))
  }

  func workerStartsAtWindow() {
    guard let window = wanted.first(where: { worker(at: $0) == nil }) else { return }
    generations[window, default: 0] += 1
    let (generation, capacity) = (generations[window]!, Int(chance.draw(1...4)))
    workers.append(Worker(places: [window], generation: generation, capacity: capacity, isOutside: false))
    process(.workerReady(window, generation, pid: 100, inFlight: capacity))
  }

  func outsideWorkerConnects() {
    var number: Int32 = 1
    while worker(at: .outside(.deposit, number: number)) != nil
      || worker(at: .outside(.loan, number: number)) != nil
      || worker(at: .outside(Service(number: 4), number: number)) != nil
    {
      number += 1
    }
    outsideGeneration += 1
    let services = Self.services.filter { _ in chance.draw(0...1) == 0 }
    guard !services.isEmpty, number <= 4 else { return }
    let capacity = Int(chance.draw(1...5))
    workers.append(
      Worker(
        places: services.map { .outside($0, number: number) }, generation: outsideGeneration,
        capacity: capacity, isOutside: true))
    process(
      .workerConnected(services, number: number, outsideGeneration, pid: 200, inFlight: capacity))
  }

  func workerExits(_ index: Int) {
    let worker = workers[index]
    workers[index].isTerminating = true
    let window = worker.places[0]
    // Its customers are free for all workers with the event.
    workers.remove(at: index)
    if worker.isOutside {
      process(.workerDisconnected(worker.generation))
    } else {
      process(.tellerLost(window, worker.generation, .signal(9)))
    }
  }

  func workerAnswers(reliably: Bool = false) {
    let able = workers.indices.filter { !workers[$0].isTerminating && !workers[$0].leases.isEmpty }
    guard !able.isEmpty else { return }
    let index = able[Int(chance.draw(0...Int64(able.count - 1)))]
    let leases = workers[index].leases.keys.sorted { $0.ticket < $1.ticket }
    let lease = leases[Int(chance.draw(0...Int64(leases.count - 1)))]
    guard let window = workers[index].leases.removeValue(forKey: lease) else { return }
    workers[index].recalled.remove(lease)
    workers[index].suspects.remove(lease)
    let answer: TellerAnswer =
      switch reliably ? 0 : chance.draw(0...9) {
      case 0..<6: chance.draw(0...1) == 0 ? .done : .worked(WorkResult(duration: .zero))
      case 6..<8: .failed(WorkFailure("no paper"))
      case 8: .failed(WorkFailure("no use", .never))
      default: .returned
      }
    process(.tellerAnswered(window, workers[index].generation, lease, answer))
  }

  func workerProgresses() {
    guard let index = workers.indices.randomElement(using: &chance), !workers[index].isTerminating,
      let (lease, window) = workers[index].leases.min(by: { $0.key.ticket < $1.key.ticket })
    else { return }
    process(.tellerProgressed(window, workers[index].generation, lease))
  }

  /// A message about a customer that it does not hold.
  func workerViolatesProtocol() {
    guard let index = workers.indices.randomElement(using: &chance), !workers[index].isTerminating else {
      return
    }
    let lease = Lease(ticket: 1_000_000, attempt: 1, generation: workers[index].generation)
    process(.tellerAnswered(workers[index].places[0], workers[index].generation, lease, .done))
  }

  func pass(_ span: TimeSpan) {
    branch.passQuietly(span)
    process(.tick)
  }
}
