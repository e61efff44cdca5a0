// A branch for the tests of single rules: a queue, a clock that the test moves, and the effects of each
// event. It stores nothing: the test plays the store.

import BankModel
@testable import QueueCore
import Testing
import Time

final class TestBranch {
  private(set) var machine: QueueMachine
  var now = TestBranch.opening
  private var requests: RequestNumber = 0

  static let opening = Moment(
    monotonic: MonotonicTime(nanoseconds: 5_000_000_000), wall: WallTime(milliseconds: 1_700_000_000_000))

  init(
    policy: QueuePolicy = QueuePolicy(),
    dayCounters: DayCounters = DayCounters(day: 1, openedAt: TestBranch.opening.wall),
    delayed: [DelayedCustomer] = [], coordinatorCrashes: [TicketNumber: CoordinatorCrashes] = [:]
  ) {
    machine = QueueMachine(
      StoredQueue(dayCounters: dayCounters, delayed: delayed), policy: policy, at: Self.opening,
      coordinatorCrashes: coordinatorCrashes)
  }

  /// Handles an event and returns the effects. After each event the counters must agree.
  @discardableResult
  func process(
    _ event: QueueEvent, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [QueueEffect] {
    var effects: [QueueEffect] = []
    machine.apply(event, at: now, into: &effects)
    #expect(machine.inconsistencies(ServiceDirectory()) == [], sourceLocation: sourceLocation)
    return effects
  }

  /// Time passes, and then the queue handles an event.
  @discardableResult
  func pass(_ span: TimeSpan) -> [QueueEffect] {
    passQuietly(span)
    return process(.tick)
  }

  /// Time passes, and the queue learns of it with the next event.
  func passQuietly(_ span: TimeSpan) {
    now.monotonic = now.monotonic + span
    now.listeningTime = now.listeningTime + span
    now.wall.milliseconds += span.milliseconds
  }

  /// The calendar's clock is set; the queue learns of it with the next event.
  func setCalendar(byMilliseconds change: Int64) { now.wall.milliseconds += change }

  func request() -> RequestNumber {
    requests += 1
    return requests
  }

  /// Customers ask for tickets, which are not on disk yet.
  @discardableResult
  func ask(_ orders: CustomerOrder..., as number: RequestNumber? = nil) -> [QueueEffect] {
    process(.enqueue(number ?? request(), orders: orders, total: Int64(orders.count), isLast: true))
  }

  /// Customers get tickets, which are on disk at once.
  @discardableResult
  func arrive(_ orders: CustomerOrder...) -> [QueueEffect] {
    let asked = process(.enqueue(request(), orders: orders, total: Int64(orders.count), isLast: true))
    return asked + process(.committed)
  }

  /// Opens windows of a service with a teller at each.
  @discardableResult
  func open(_ service: Service, windows: Int32 = 1) -> [QueueEffect] {
    var effects = process(.scale(service, windows: windows))
    for place in 1...windows { effects += ready(Window(service: service, place: place)) }
    return effects
  }

  @discardableResult
  func ready(_ window: Window, generation: Generation = 1) -> [QueueEffect] {
    process(.tellerReady(window, generation, pid: 100 * generation + window.place))
  }

  /// The teller at a window answers for its customer.
  @discardableResult
  func answer(_ window: Window, _ answer: TellerAnswer = .done) throws -> [QueueEffect] {
    let lease = try #require(self.lease(at: window), "\(window) has no customer")
    return process(.tellerAnswered(window, lease.generation, lease, answer))
  }

  @discardableResult
  func kill(_ window: Window, generation: Generation = 1) -> [QueueEffect] {
    process(.tellerLost(window, generation, .signal(9)))
  }

  func lease(at window: Window) -> Lease? { machine.numbers(of: window)?.lease }

  /// The tickets of one line that are in memory.
  func tickets(_ service: Service, _ priority: Priority = .regular) -> [TicketNumber] {
    machine.front(of: Line(service: service, priority: priority)).map(\.ticket)
  }

  func adopt(_ policy: QueuePolicy) { machine.adopt(policy) }
}

extension Window {
  static let deposit1 = Window(service: .deposit, place: 1)
  static let deposit2 = Window(service: .deposit, place: 2)
  static let loan1 = Window(service: .loan, place: 1)
  static let juice1 = Window(service: .juice, place: 1)
}

extension CustomerOrder {
  static var deposit: CustomerOrder { deposit(.regular) }
  static var loan: CustomerOrder {
    CustomerOrder(service: .loan, priority: .regular, amount: 9_000, account: 8)
  }
  static func juice(_ name: String) -> CustomerOrder {
    CustomerOrder(service: .juice, priority: .regular, amount: 0, account: 0, itemName: name)
  }
  static func deposit(_ priority: Priority) -> CustomerOrder {
    CustomerOrder(service: .deposit, priority: priority, amount: 5_000, account: 7)
  }
}

extension Customer {
  /// A customer with a number, for the tests of the lines.
  static func numbered(_ ticket: TicketNumber, _ priority: Priority = .regular) -> Customer {
    CustomerOrder.deposit(priority).customer(ticket: ticket, issuedAt: WallTime(milliseconds: ticket))
  }
}

extension [QueueEffect] {
  var changes: [StoreChange] { compactMap { if case .stage(let change) = $0 { change } else { nil } } }

  /// The assigned customers, in order.
  var assigned: [TicketNumber] {
    compactMap { if case .assign(_, let lease, _) = $0 { lease.ticket } else { nil } }
  }

  var leases: [Window: Lease] {
    var found: [Window: Lease] = [:]
    for case .assign(let window, let lease, _) in self { found[window] = lease }
    return found
  }

  var answers: [QueueAnswer] { compactMap { if case .reply(_, let answer) = $0 { answer } else { nil } } }

  /// The answer to one request; a fault if there are two.
  func answer(to request: RequestNumber) -> QueueAnswer? {
    let found = compactMap { if case .reply(request, let answer) = $0 { answer } else { nil } }
    #expect(found.count <= 1, "request \(request) was answered more than once")
    return found.first
  }

  var receipts: [Receipt] {
    changes.compactMap { if case .finish(_, _, let receipt) = $0 { receipt } else { nil } }
  }

  var attempts: [Attempt] {
    changes.compactMap { if case .record(let attempt) = $0 { attempt } else { nil } }
  }

  var acknowledged: [Lease] { compactMap { if case .acknowledge(_, let lease) = $0 { lease } else { nil } } }

  /// The windows whose tellers are to be ended because they broke the rules.
  var rogues: [Window] {
    compactMap { if case .killRogueTeller(let window, _, _) = $0 { window } else { nil } }
  }

  var stuck: [Window] { compactMap { if case .killStuckTeller(let window, _) = $0 { window } else { nil } } }

  var dismissed: [Window] { compactMap { if case .dismissTeller(let window) = $0 { window } else { nil } } }

  var dead: [TicketNumber] {
    compactMap { if case .logDeadLetter(let who, _, _, _) = $0 { who.ticket } else { nil } }
  }

  /// The requested pages: the line, the ticket before the page, and the limit.
  var pages: [(line: Line, after: TicketNumber, limit: Int)] {
    compactMap {
      if case .loadPage(let line, let after, let limit) = $0 { (line, after, limit) } else { nil }
    }
  }
}

extension QueueMachine {
  /// All customers of one line that are in memory, in order.
  func front(of line: Line) -> [Customer] {
    dayCounters.waiting.known(line).map { Array(lines[$0].front) } ?? []
  }
}

/// The most frequent questions to the queue. The queue cannot be copied, and `#expect` copies what it takes
/// apart.
extension TestBranch {
  var isTakingIn: Bool { machine.isTakingIn }
  var isIdle: Bool { machine.isIdle }
  var hasUncommittedChanges: Bool { machine.hasUncommittedChanges }
  var isUnsealed: Bool { machine.isUnsealed }
  var hasWaitingToServe: Bool { machine.hasWaitingToServe }
  var isDiskFull: Bool { machine.isDiskFull }
  var hasRepliesToCommit: Bool { machine.hasRepliesToCommit }
  var isTimerRunning: Bool { machine.isTimerRunning }
  var isPaused: Bool { machine.isPaused }
  var nextDeadline: MonotonicTime? { machine.nextDeadline }
}
