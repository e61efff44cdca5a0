// All decisions of a teller: when it greets, serves, reports progress, returns a customer and exits. Its
// shell, `TellerProcess`, performs them.
// Invariant: every assignment is answered exactly once, by done, outOfStock, worked, failed or returned, unless the
// process ends first. Nothing is sent or logged after the exit.
// Errors: an unexpected message from the coordinator ends this process and nothing else.

import BankModel
import Time
import Wire

/// A teller at its window, as a state machine.
///
/// | state | receives | does |
/// |---|---|---|
/// | new | | sends hello |
/// | greeting | welcome | opens its log, sends ready |
/// | idle | assign | starts to serve; work of zero length is done at once |
/// | serving | assign | queues the customer after the earlier ones |
/// | providing | what the customer needs | starts the work |
/// | providing | it is missing, or cannot be found out | reports that instead of done |
/// | providing | it is unavailable, or no answer comes in time | beats, and asks again after a pause |
/// | providing | it is unavailable for now, while closing | sends returned |
/// | serving | | beats, and sends done when the work is over |
/// | serving | recall of a lease it holds | sends returned |
/// | handed over | | beats |
/// | handed over | the work is done, or could not be done | reports the result |
/// | handed over | recall of the lease | has the work given up |
/// | handed over | nothing of the work is left | sends returned |
/// | serving | close | ends after the assigned customers |
/// | idle | close | ends |
/// | any | refused, or a message out of turn | ends |
///
/// A plain teller goes from idle to serving at once. A worker with a provider first obtains what the customer needs;
/// how it does so is up to the shell. Waiting for an answer does not count as progress, so there are no beats during
/// that time. Any answer is progress, even one that defers: a stock whose disk is full is not a failure. The customer
/// then stays assigned, at the head of the line, until there is space.
///
/// If the orders name a command, the whole work is handed over to the provider that runs it. The beats then
/// prove only that this process's loop runs, not that the command makes progress. No patience applies,
/// because a command has its own timeout.
///
/// An acknowledgement changes nothing. A recall of a lease that the teller does not hold changes nothing either: it has
/// crossed the answer in transit.
public struct TellerMachine: Sendable {
  private typealias Actions = [TellerAction]

  fileprivate struct Service: Sendable {
    var assignment: Assignment
    var began: MonotonicTime
    var ends: MonotonicTime
    var nextBeat: MonotonicTime
    /// Deadline for the provider's answer; nil after the answer, between two requests, and for handed-over work.
    var providedBy: MonotonicTime?
    /// Time of the next request for something that was unavailable; nil if none is due.
    var asksAgainAt: MonotonicTime?
    /// True if the log already contains the delay.
    var isDelayed = false
    /// True if the whole work was handed over and its result is pending.
    var isHandedOver = false
    /// True if the handed-over work is being given up.
    var isAbandoned = false
  }

  /// Pause before another request for something unavailable; a quarter of a beat if that is shorter.
  static let pause = TimeSpan.milliseconds(250)

  private enum State: Sendable {
    case new
    case greeting
    case idle(TellerOrders)
    case serving(TellerOrders, Service)
    case ended
  }

  private var state = State.new
  /// Assigned customers that are not being served yet.
  private var ahead: [Assignment] = []
  /// Reason to end after the assigned customers; nil while the process continues.
  private var closing: String?
  /// True if no customer will be assigned any more: a customer whose work cannot start is returned.
  private var isClosingSoon = false
  private let build: String
  private let role: PeerRole
  private let provides: Bool

  /// A worker in its initial state. `provides`: each customer needs something that has to be obtained first.
  public init(build: String, role: PeerRole = .teller, provides: Bool = false) {
    self.build = build
    self.role = role
    self.provides = provides
  }

  /// True after the exit was ordered.
  public var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// True if the provider does the whole work of the current customer.
  var hasHandedOver: Bool { if case .serving(_, let service) = state { service.isHandedOver } else { false } }

  /// Time at which ``TellerEvent/timeCame`` is due; nil while nothing depends on time.
  public var wakeAt: MonotonicTime? {
    guard case .serving(_, let service) = state else { return nil }
    if service.isHandedOver { return service.isAbandoned ? nil : service.nextBeat }
    return service.asksAgainAt ?? service.providedBy ?? min(service.ends, service.nextBeat)
  }

  /// Handles an event and appends the resulting actions to `actions`.
  public mutating func apply(_ event: TellerEvent, at now: MonotonicTime, into actions: inout [TellerAction])
  {
    if hasEnded { return }
    switch event {
    case .began: begin(&actions)
    case .heard(let message): hear(message, now, &actions)
    case .timeCame: work(now, &actions)
    case .provided(let lease, let provision): provided(lease, provision, now, &actions)
    case .askedToEnd: close("asked to end by a signal", &actions)
    case .coordinatorGone: end(TellerExit.done, "the coordinator is gone", &actions)
    case .coordinatorUnintelligible(let words): violate(words, &actions)
    case .connectionFailed(let words):
      actions.append(.complain(words))
      end(TellerExit.system, words, &actions)
    }
  }
}

// MARK: - Messages of the coordinator

extension TellerMachine {
  private mutating func begin(_ actions: inout Actions) {
    guard case .new = state else { return }
    actions.append(.say(.hello(Hello(build: build, role: role))))
    state = .greeting
  }

  private mutating func hear(_ message: WindowMessage, _ now: MonotonicTime, _ actions: inout Actions) {
    switch message {
    case .welcome(let orders): welcome(orders, &actions)
    case .refused(let refusal): refused(refusal, &actions)
    case .assign(let assignment): assign(assignment, now, &actions)
    case .acknowledged: break
    case .recall(let lease): recall(lease, now, &actions)
    case .closing: expectClosing(now, &actions)
    case .close: close("the window was closed", &actions)
    case .engaged, .entrust: violate("a message for another kind of worker", &actions)
    }
  }

  private mutating func welcome(_ orders: TellerOrders, _ actions: inout Actions) {
    guard case .greeting = state else { return violate("a welcome out of turn", &actions) }
    guard orders.workMicroseconds >= 0, orders.beatMicroseconds > 0 else {
      return violate(
        "orders with work of \(orders.workMicroseconds) µs and a beat of \(orders.beatMicroseconds) µs",
        &actions)
    }
    guard orders.command == nil || provides else {
      return violate("orders to run a command, which this teller cannot do", &actions)
    }
    state = .idle(orders)
    actions.append(.openLog(orders))
    actions.append(.log(.ready))
    actions.append(.say(.ready))
  }

  private mutating func refused(_ refusal: Refusal, _ actions: inout Actions) {
    let words = """
      the coordinator (build \(refusal.build), protocol \(refusal.version)) refuses this teller \
      (build \(build), protocol \(protocolVersion)): \(refusal.detail)
      """
    actions.append(.complain(words))
    end(TellerExit.misunderstood, words, &actions)
  }

  private mutating func assign(_ assignment: Assignment, _ now: MonotonicTime, _ actions: inout Actions) {
    if case .serving = state, ahead.count + 1 < BankModel.Limits.customersInHand {
      ahead.append(assignment)
      return
    }
    guard case .idle(let orders) = state else { return violate("an assignment out of turn", &actions) }
    if let reason = orders.objection(to: assignment) {
      fail(assignment, reason, orders, now, &actions)
      return
    }
    if orders.logsCustomers { actions.append(.log(.started(assignment))) }
    let ends = now + .microseconds(orders.workMicroseconds)
    if !provides, now >= ends { return complete(assignment, took: .zero, orders, now, &actions) }
    var service = Service(
      assignment: assignment, began: now, ends: ends,
      nextBeat: now + .microseconds(orders.beatMicroseconds))
    if provides {
      service.ask(orders, at: now)
      actions.append(.provide(assignment))
    }
    state = .serving(orders, service)
  }

  private mutating func complete(
    _ assignment: Assignment, took: TimeSpan, _ orders: TellerOrders, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    if orders.logsCustomers { actions.append(.log(.completed(assignment, took: took))) }
    actions.append(.say(.done(assignment.lease)))
    rest(orders, now, &actions)
  }

  private mutating func provided(
    _ lease: Lease, _ provision: Provision, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    guard case .serving(let orders, var service) = state, service.assignment.lease == lease,
      service.providedBy != nil || service.isHandedOver
    else { return }
    switch provision {
    case .ready:
      (service.providedBy, service.isHandedOver) = (nil, false)
      service.ends = now + .microseconds(orders.workMicroseconds)
      service.nextBeat = now + .microseconds(orders.beatMicroseconds)
      state = .serving(orders, service)
      // The answer of the stock is progress, and the lease started before the request.
      if service.ends > now { actions.append(.say(.beat(lease))) }
      work(now, &actions)
    case .missing(let shortages):
      if orders.logsCustomers { actions.append(.log(.sentAway(service.assignment, shortages))) }
      actions.append(.say(.outOfStock(lease, shortages)))
      rest(orders, now, &actions)
    case .later(let reason): delay(service, reason, orders, now, &actions)
    case .unknown(let reason): fail(service.assignment, reason, orders, now, &actions)
    case .worked(let result):
      if orders.logsCustomers {
        actions.append(.log(.worked(service.assignment, result, took: now.since(service.began))))
      }
      actions.append(.say(.worked(lease, result)))
      rest(orders, now, &actions)
    case .failed(let failure):
      actions.append(.log(.workFailed(service.assignment, failure, took: now.since(service.began))))
      actions.append(.say(.failed(lease, failure)))
      rest(orders, now, &actions)
    case .returned: giveBack(service.assignment, orders, now, &actions)
    }
  }

  /// Schedules another request after a pause, because what the customer needs is unavailable for now.
  private mutating func delay(
    _ service: Service, _ reason: String, _ orders: TellerOrders, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    var service = service
    if !service.isDelayed { actions.append(.log(.delayed(service.assignment, reason: reason))) }
    guard !isClosingSoon, !service.isAbandoned else {
      return giveBack(service.assignment, orders, now, &actions)
    }
    service.isDelayed = true
    (service.providedBy, service.isHandedOver) = (nil, false)
    let quarter = TimeSpan.microseconds(orders.beatMicroseconds) / 4
    service.asksAgainAt = now + min(Self.pause, quarter)
    state = .serving(orders, service)
    // An answer proves that the stock works, even if it refuses, and that this teller handles answers.
    actions.append(.say(.beat(service.assignment.lease)))
  }

  private mutating func giveBack(
    _ assignment: Assignment, _ orders: TellerOrders, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    actions.append(.log(.recalled(assignment)))
    actions.append(.say(.returned(assignment.lease)))
    rest(orders, now, &actions)
  }

  /// Returns a customer whose work cannot start, because the window or the bank will close soon.
  private mutating func expectClosing(_ now: MonotonicTime, _ actions: inout Actions) {
    isClosingSoon = true
    guard case .serving(let orders, let service) = state, service.asksAgainAt != nil else { return }
    giveBack(service.assignment, orders, now, &actions)
  }

  private mutating func fail(
    _ assignment: Assignment, _ reason: String, _ orders: TellerOrders, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    actions.append(.log(.failed(assignment, reason: reason)))
    actions.append(.say(.failed(assignment.lease, WorkFailure(reason))))
    rest(orders, now, &actions)
  }

  private mutating func recall(_ lease: Lease, _ now: MonotonicTime, _ actions: inout Actions) {
    guard case .serving(let orders, var service) = state else { return }
    if service.assignment.lease == lease, service.isHandedOver {
      // Return the customer only when no process of the work is left: otherwise two workers would do the work at once.
      guard !service.isAbandoned else { return }
      service.isAbandoned = true
      state = .serving(orders, service)
      actions.append(.abandon(lease))
    } else if service.assignment.lease == lease {
      giveBack(service.assignment, orders, now, &actions)
    } else if let place = ahead.firstIndex(where: { $0.lease == lease }) {
      actions.append(.log(.recalled(ahead.remove(at: place))))
      actions.append(.say(.returned(lease)))
    }
  }

  private mutating func close(_ reason: String, _ actions: inout Actions) {
    if case .serving = state {
      if closing == nil { closing = reason }
    } else {
      end(TellerExit.done, reason, &actions)
    }
  }
}

// MARK: - Work and the end

extension TellerMachine {
  /// Continues with the current customer: done when the work is over, or a beat when one is due.
  private mutating func work(_ now: MonotonicTime, _ actions: inout Actions) {
    guard case .serving(let orders, var service) = state else { return }
    if let moment = service.asksAgainAt {
      guard now >= moment else { return }
      service.asksAgainAt = nil
      service.ask(orders, at: now)
      state = .serving(orders, service)
      actions.append(.provide(service.assignment))
    } else if service.isHandedOver {
      if !service.isAbandoned, now >= service.nextBeat { beat(service, orders, now, &actions) }
    } else if let deadline = service.providedBy {
      if now >= deadline { delay(service, "the stock service does not answer", orders, now, &actions) }
    } else if now >= service.ends {
      complete(service.assignment, took: now.since(service.began), orders, now, &actions)
    } else if now >= service.nextBeat {
      beat(service, orders, now, &actions)
    }
  }

  private mutating func beat(
    _ service: Service, _ orders: TellerOrders, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    var service = service
    actions.append(.say(.beat(service.assignment.lease)))
    service.nextBeat = now + .microseconds(orders.beatMicroseconds)
    state = .serving(orders, service)
  }

  /// Ends one customer: starts the next one, or ends the process if it is closing.
  private mutating func rest(_ orders: TellerOrders, _ now: MonotonicTime, _ actions: inout Actions) {
    state = .idle(orders)
    if !ahead.isEmpty {
      assign(ahead.removeFirst(), now, &actions)
    } else if let closing {
      end(TellerExit.done, closing, &actions)
    }
  }

  private mutating func violate(_ words: String, _ actions: inout Actions) {
    actions.append(.log(.violation(words)))
    actions.append(.complain("the coordinator sent malformed data: \(words)"))
    end(TellerExit.misunderstood, "the coordinator sent malformed data", &actions)
  }

  private mutating func end(_ code: Int32, _ reason: String, _ actions: inout Actions) {
    state = .ended
    actions.append(.log(.exit(code: code, reason: reason)))
    actions.append(.exit(code))
  }
}

extension TellerMachine.Service {
  /// Starts the request for what the customer needs, or hands over the whole work.
  fileprivate mutating func ask(_ orders: TellerOrders, at now: MonotonicTime) {
    if orders.command != nil { isHandedOver = true } else { providedBy = orders.patience(from: now) }
  }
}

extension TellerOrders {
  /// Deadline for the answer to what a customer needs. The lease lasts four beats; half of it is left for the
  /// first progress of the work.
  fileprivate func patience(from now: MonotonicTime) -> MonotonicTime {
    now + .microseconds(beatMicroseconds) + .microseconds(beatMicroseconds)
  }

  fileprivate func objection(to assignment: Assignment) -> String? {
    if assignment.service != service {
      return "\(name) serves service \(service.number), not \(assignment.service.number)"
    }
    if assignment.generation != generation {
      return "this is generation \(generation) of \(name), not \(assignment.generation)"
    }
    return nil
  }
}

extension TimeSpan {
  fileprivate static func microseconds(_ count: Int64) -> TimeSpan {
    let (product, overflow) = count.multipliedReportingOverflow(by: 1000)
    return TimeSpan(nanoseconds: overflow ? .max : product)
  }
}
