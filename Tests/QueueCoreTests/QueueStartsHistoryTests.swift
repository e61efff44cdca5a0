// Random histories of a service that counts its attempts. However often a coordinator, its tellers or its
// disk are lost, no customer is started more often than allowed, and none is lost.

import BankModel
@testable import QueueCore
import Testing
import Time

@Suite struct QueueStartsHistoryTests {
  private struct Contents {
    var dayCounters: DayCounters
    var customers: [TicketNumber: StoredCustomer] = [:]
    var done: Set<TicketNumber> = []
  }

  /// A store, and the starts that the world has seen.
  private final class World {
    var chance: SeededGenerator
    let policy: QueuePolicy
    let most: Int16
    var machine: QueueMachine
    var kept: Contents
    var staged: Contents
    var startedAttempts: [TicketNumber: Int] = [:]
    var held: [Window: Lease] = [:]
    var generations: [Window: Generation] = [:]
    var faults: [String] = []
    var dead = 0
    var requests: RequestNumber = 0
    var now = TestBranch.opening
    /// Commits in flight to a store that answers later, the oldest first.
    var underway: [Contents] = []
    private var later: SeededGenerator
    private let commitsAsynchronously: Bool

    init(seed: UInt64) {
      chance = SeededGenerator(seed: seed)
      most = Int16(chance.draw(1...3))
      var policy = QueuePolicy()
      policy.common.maxAttempts = most
      policy.maxCrashes = 1_000
      policy.maxFailures = 1_000
      policy.retryInitialDelay = .milliseconds(50)
      policy.lineCapacity = Int(chance.draw(2...5))
      policy.lineLowWater = 2
      policy.prefetch = Int(chance.draw(1...3))
      later = SeededGenerator(seed: seed ^ 0x1A7E)
      commitsAsynchronously = later.draw(0...1) == 0
      policy.maxUnderway = Int(later.draw(1...4))
      self.policy = policy
      let dayCounters = DayCounters(day: 1, openedAt: now.wall)
      (kept, staged) = (Contents(dayCounters: dayCounters), Contents(dayCounters: dayCounters))
      machine = QueueMachine(StoredQueue(dayCounters: dayCounters, delayed: []), policy: policy, at: now)
      open()
    }

    /// Any commit in flight may be stored when a coordinator is lost, or a part of them from the first on.
    func open() {
      let count = Int(later.draw(0...Int64(underway.count)))
      if count > 0 { kept = underway[count - 1] }
      underway.removeAll()
      (held, staged) = ([:], kept)
      let delayed = staged.customers.values.filter { $0.state == .delayed }
        .map { DelayedCustomer(customer: $0.customer, dueAt: $0.dueAt ?? now.wall) }.sorted {
          $0.place < $1.place
        }
      machine = QueueMachine(
        StoredQueue(dayCounters: staged.dayCounters, delayed: delayed), policy: policy, at: now)
      process(.scale(.deposit, windows: 2))
    }

    func process(_ event: QueueEvent) {
      var effects: [QueueEffect] = []
      machine.apply(event, at: now, into: &effects)
      effects.performAll(perform)
      for words in machine.inconsistencies(ServiceDirectory()) { faults.append(words.description) }
    }

    private func perform(_ effect: QueueEffect, _ effects: inout [QueueEffect]) {
      switch effect {
      case .stage(let change): stage(change)
      case .loadPage(let line, let after, let limit):
        let page = staged.customers.values.filter {
          $0.state == .waiting && $0.customer.line == line && $0.customer.ticket > after
        }.map(\.customer).sorted { $0.ticket < $1.ticket }.prefix(limit)
        machine.apply(.pageLoaded(line, Array(page)), at: now, into: &effects)
      case .assign(let window, let lease, let customer):
        if kept.customers[customer.ticket]?.customer != customer || !customer.isAttemptRunning {
          faults.append("ticket \(customer.ticket) starts before that is on disk")
        }
        if held.values.contains(where: { $0.ticket == lease.ticket }) {
          faults.append("\(lease) is assigned twice")
        }
        held[window] = lease
        startedAttempts[lease.ticket, default: 0] += 1
        if startedAttempts[lease.ticket, default: 0] > most {
          faults.append("\(lease.ticket) starts too often")
        }
      case .killStuckTeller(let window, _), .killRogueTeller(let window, _, _): lose(window, &effects)
      default: break
      }
    }

    private func lose(_ window: Window, _ effects: inout [QueueEffect]) {
      held[window] = nil
      guard let generation = generations[window] else { return }
      machine.apply(.tellerLost(window, generation, .signal(9)), at: now, into: &effects)
    }

    private func stage(_ change: StoreChange) {
      func move(_ customer: Customer, _ state: CustomerState, _ dueAt: WallTime? = nil) {
        staged.customers[customer.ticket] = StoredCustomer(customer: customer, state: state, dueAt: dueAt)
      }
      switch change {
      case .insert(let customer), .update(let customer), .revive(let customer, _): move(customer, .waiting)
      case .postpone(let customer, let dueAt): move(customer, .delayed, dueAt)
      case .bury(let customer):
        dead += 1
        move(customer, .dead)
      case .finish(let customer, _, _):
        staged.customers[customer.ticket] = nil
        staged.done.insert(customer.ticket)
      default: break
      }
    }

    func commit() {
      staged.dayCounters = machine.dayCounters
      guard commitsAsynchronously else {
        kept = staged
        return process(.committed)
      }
      if machine.hasRoomUnderway {
        underway.append(staged)
        process(.sealed)
      }
      for _ in 0..<later.draw(0...Int64(underway.count)) { settleOldest() }
    }

    func settleOldest() {
      kept = underway.removeFirst()
      process(.committed)
    }

    func step() {
      switch chance.draw(0...19) {
      case 0...3:
        requests += 1
        process(.enqueue(requests, orders: [.deposit], total: 1, isLast: true))
      case 4...8: commit()
      case 9...11:
        let window = Window(service: .deposit, place: Int32(chance.draw(1...2)))
        guard machine.numbers(of: window)?.isReady == false else { return }
        generations[window, default: 0] += 1
        process(.tellerReady(window, generations[window, default: 0], pid: 7))
      case 12...15:
        guard let (window, lease) = held.min(by: { $0.value.ticket < $1.value.ticket }) else { return }
        held[window] = nil
        let answer: TellerAnswer =
          chance.draw(0...2) == 0
          ? .done : .failed(WorkFailure("no", chance.draw(0...1) == 0 ? .again : .later))
        process(.tellerAnswered(window, lease.generation, lease, answer))
      case 16:
        guard let (window, lease) = held.max(by: { $0.value.ticket < $1.value.ticket }) else { return }
        held[window] = nil
        process(.tellerLost(window, lease.generation, .signal(9)))
      case 17:
        staged = kept
        underway.removeAll()
        process(.commitRefused)
        commit()
      case 18: open()
      default:
        now.monotonic = now.monotonic + .milliseconds(200)
        now.listeningTime = now.listeningTime + .milliseconds(200)
        now.wall.milliseconds += 200
        process(.tick)
      }
    }
  }

  @Test("whatever is lost, no customer is started more often than allowed", arguments: 1...200)
  func neverTooOften(_ seed: UInt64) {
    let world = World(seed: seed)
    for _ in 0..<400 where world.faults.isEmpty { world.step() }
    #expect(world.faults == [], "seed \(seed)")
    while !world.underway.isEmpty { world.settleOldest() }
    world.commit()
    while !world.underway.isEmpty { world.settleOldest() }
    let (openCount, done) = (Set(world.kept.customers.keys), world.kept.done)
    #expect(
      openCount.isDisjoint(with: done) && Int64(openCount.count + done.count) == world.kept.dayCounters.issued
    )
  }
}
