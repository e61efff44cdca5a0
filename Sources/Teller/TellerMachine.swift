// Owns everything a teller decides: when it greets, serves, reports progress, gives back and ends. The shell, `TellerProcess`,
// does what it says.
// Invariant: every assignment is answered exactly once, by done, failed or returned, unless the process ends first.
// Nothing is said or logged after the exit.
// Failure: whatever the coordinator says out of turn ends this process and nothing else.

import BankModel
import Time
import Wire

/// A teller at its window, as a state machine.
///
/// | state | hears | and |
/// |---|---|---|
/// | new | | says hello |
/// | greeting | welcome | opens its log, says ready |
/// | idle | assign | begins to serve; no work at all is done on the spot |
/// | serving | assign | keeps the customer in hand, whose turn comes after those who came before |
/// | providing | what the customer needs is there | begins the work |
/// | providing | it is missing, or cannot be found out | says so in the place of done |
/// | providing | it cannot be had for now, or not in time | beats, and asks again after a pause |
/// | providing | closing, and it cannot be had for now | says returned |
/// | serving | | beats, and says done when the time has come |
/// | serving | recall of a lease in hand | says returned |
/// | handed over | | beats |
/// | handed over | the work is done, or could not be done | says so |
/// | handed over | recall of the lease | has the work given up |
/// | handed over | nothing of the work is left | says returned |
/// | serving | close | ends after the customers in hand |
/// | idle | close | ends |
/// | any | refused, or a message out of turn | ends |
///
/// A teller at a bank's window goes from idle to serving at once. A worker that ``provides`` first gets what the customer
/// needs; how, is the shell's business. Waiting for an answer is no progress, so nothing beats in that time. An answer is
/// progress, also one that puts off: a stock without room on its disk is nobody's failure, and the customer stays in hand
/// and at the head of the line until there is room.
///
/// Where the orders name a command, the whole work is handed over to the provider that runs it. The beats are this process's
/// progress then, and not the command's: they say that its loop turns. There is no patience, for a command has a time of its own.
///
/// An acknowledgement, and a recall of any other lease, change nothing: they have crossed an answer on the way.
public struct TellerMachine: Sendable {
  private typealias Actions = [TellerAction]

  fileprivate struct Service: Sendable {
    var assignment: Assignment
    var began: MonotonicTime
    var ends: MonotonicTime
    var nextBeat: MonotonicTime
    /// Until when there must be an answer to what the customer needs; nil once it is there, and between two questions.
    var providedBy: MonotonicTime?
    /// When what could not be had is asked for again; nil while it need not be.
    var asksAgainAt: MonotonicTime?
    /// Whether the log knows that the work cannot begin.
    var isDelayed = false
    /// Whether the whole work was handed over, and its end is waited for.
    var isHandedOver = false
    /// Whether the work that was handed over is to be given up.
    var isAbandoned = false
  }

  /// The pause before what could not be had is asked for again; a quarter of a beat where that is less.
  static let pause = TimeSpan.milliseconds(250)

  private enum State: Sendable {
    case new
    case greeting
    case idle(TellerOrders)
    case serving(TellerOrders, Service)
    case ended
  }

  private var state = State.new
  /// Customers in hand whose turn has not come.
  private var ahead: [Assignment] = []
  /// Why the process ends after the customer in hand; nil while it does not.
  private var closing: String?
  /// Whether nobody will come after those in hand: one whose work cannot begin is given back.
  private var isClosingSoon = false
  private let build: String
  private let role: PeerRole
  private let provides: Bool

  /// A worker of this build that has not begun; `provides` says whether each customer needs something that has to be got first.
  public init(build: String, role: PeerRole = .teller, provides: Bool = false) {
    self.build = build
    self.role = role
    self.provides = provides
  }

  /// Whether the exit was ordered.
  public var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// Whether the whole work of the present customer is somebody else's.
  var hasHandedOver: Bool { if case .serving(_, let service) = state { service.isHandedOver } else { false } }

  /// When ``TellerEvent/timeCame`` is due; nil while nothing depends on time.
  public var wakeAt: MonotonicTime? {
    guard case .serving(_, let service) = state else { return nil }
    if service.isHandedOver { return service.isAbandoned ? nil : service.nextBeat }
    return service.asksAgainAt ?? service.providedBy ?? min(service.ends, service.nextBeat)
  }

  /// Takes an event in and puts what is to be done behind `actions`.
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

// MARK: - What the coordinator says

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
    case .engaged, .entrust: violate("words for a worker of another kind", &actions)
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
      return violate("orders to run a command, which nobody here can", &actions)
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
      // The way to the stock was progress, and the lease began before it.
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

  /// What the customer needs cannot be had for now: it is asked for again after a pause.
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
    // Whoever answers that it is not possible now is at work, and so is who has heard it.
    actions.append(.say(.beat(service.assignment.lease)))
  }

  private mutating func giveBack(
    _ assignment: Assignment, _ orders: TellerOrders, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    actions.append(.log(.recalled(assignment)))
    actions.append(.say(.returned(assignment.lease)))
    rest(orders, now, &actions)
  }

  /// The window is about to be closed, or the bank: a customer whose work cannot begin need not wait here.
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
      // The customer is given back when nothing of the work is left, or two would be at it.
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
  /// Goes on with the customer in hand: done when the time has come, or a beat when one is due.
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

  /// One customer less is in hand: the turn of the next comes, or the hands are free and the window may close.
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
    actions.append(.complain("the coordinator cannot be understood: \(words)"))
    end(TellerExit.misunderstood, "the coordinator cannot be understood", &actions)
  }

  private mutating func end(_ code: Int32, _ reason: String, _ actions: inout Actions) {
    state = .ended
    actions.append(.log(.exit(code: code, reason: reason)))
    actions.append(.exit(code))
  }
}

extension TellerMachine.Service {
  /// It is asked for what the customer needs, or the whole work is handed over.
  fileprivate mutating func ask(_ orders: TellerOrders, at now: MonotonicTime) {
    if orders.command != nil { isHandedOver = true } else { providedBy = orders.patience(from: now) }
  }
}

extension TellerOrders {
  /// Until when there must be an answer to what a customer needs. The lease is four beats: half of it is left for the
  /// work to make its first progress.
  fileprivate func patience(from now: MonotonicTime) -> MonotonicTime {
    now + .microseconds(beatMicroseconds) + .microseconds(beatMicroseconds)
  }

  fileprivate func objection(to assignment: Assignment) -> String? {
    if assignment.service != service {
      return "\(name) serves service \(service.number) and not \(assignment.service.number)"
    }
    if assignment.generation != generation {
      return "this is generation \(generation) of \(name) and not \(assignment.generation)"
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
