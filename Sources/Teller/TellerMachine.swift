// Decisions of a teller: when it greets, serves, reports progress, returns a customer and exits. Its shell
// performs them.
// Invariant: an assignment is answered exactly once, by done, outOfStock, worked, failed or returned, unless the
// process ends first. Nothing is sent or logged after the exit.
// Errors: an unexpected message from the coordinator ends this process.

import BankModel
import Time
import Wire

/// A teller at its window, as a state machine.
///
/// | state | receives | does |
/// |---|---|---|
/// | new | | sends hello |
/// | greeting | welcome | opens its log, sends ready |
/// | idle | assign | starts to serve |
/// | serving | assign | queues the customer after the earlier ones |
/// | providing | what the customer needs | starts the work |
/// | providing | it is missing, or its availability is unknown | reports that instead of done |
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
/// A worker with a provider first obtains what the customer needs. While it waits for an answer, it sends no
/// beats. It sends one if the answer defers the customer, or if no answer came in time: a full disk of the stock
/// is not a failure of the work. The customer then stays assigned.
///
/// If the settings name a command, the whole work is handed over to the provider that runs the command. The beats
/// then prove that this process's loop runs, not that the command makes progress. The machine sets no deadline for
/// the result.
///
/// An acknowledgement changes nothing. A recall of a lease that the teller does not hold changes nothing either: the
/// teller has already sent its answer.
public struct TellerMachine: Sendable {
  private typealias Actions = [TellerAction]

  /// The current customer, and the times of the next steps for it.
  fileprivate struct ServingState: Sendable {
    var assignment: Assignment
    var began: MonotonicTime
    var ends: MonotonicTime
    var nextBeat: MonotonicTime
    /// Deadline for the provider's answer; nil after the answer, between two requests, and for handed-over work.
    var provisionDeadline: MonotonicTime?
    /// Time of the next request for something that was unavailable; nil if none is due.
    var retryAt: MonotonicTime?
    /// True if the log already contains the delay.
    var isDelayed = false
    /// True if the whole work was handed over and its result is pending.
    var isDelegated = false
    /// True if the handed-over work is being given up.
    var isAbandoned = false
  }

  /// Pause before another request for something unavailable; a quarter of a beat if that is shorter.
  static let pause = TimeSpan.milliseconds(250)

  /// Stage of the teller: `greeting` waits for the welcome, `idle` for a customer. The wish to end is in `closing`.
  private enum State: Sendable {
    case new
    case greeting
    case idle(TellerSettings)
    case serving(TellerSettings, ServingState)
    case ended
  }

  private var state = State.new
  /// Assigned customers that are not being served yet.
  private var prefetched: [Assignment] = []
  /// Reason to end after the assigned customers; nil while the process continues.
  private var closing: String?
  /// True if the window will close soon: a customer whose work cannot start is returned.
  private var isClosingSoon = false
  private let build: String
  private let role: PeerRole
  private let hasProvider: Bool

  /// A worker in its initial state. `hasProvider` is true if a provider obtains what each customer needs, or does the
  /// whole work.
  public init(build: String, role: PeerRole = .teller, hasProvider: Bool = false) {
    self.build = build
    self.role = role
    self.hasProvider = hasProvider
  }

  /// True after the exit was ordered.
  public var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// True if the provider does the whole work of the current customer.
  var hasDelegatedWork: Bool {
    if case .serving(_, let service) = state { service.isDelegated } else { false }
  }

  /// Time at which ``TellerEvent/timerFired`` is due; nil while nothing depends on time.
  public var wakeAt: MonotonicTime? {
    guard case .serving(_, let service) = state else { return nil }
    if service.isDelegated { return service.isAbandoned ? nil : service.nextBeat }
    return service.retryAt ?? service.provisionDeadline ?? min(service.ends, service.nextBeat)
  }

  /// Handles an event and appends the resulting actions to `actions`.
  public mutating func apply(_ event: TellerEvent, at now: MonotonicTime, into actions: inout [TellerAction])
  {
    if hasEnded { return }
    switch event {
    case .began: begin(&actions)
    case .received(let message): handle(message, now, &actions)
    case .timerFired: work(now, &actions)
    case .provided(let lease, let provisionResult): provided(lease, provisionResult, now, &actions)
    case .stopRequested: close("asked to end by a signal", &actions)
    case .coordinatorGone: end(TellerExit.done, "the coordinator is gone", &actions)
    case .coordinatorProtocolError(let message): reportViolation(message, &actions)
    case .connectionFailed(let message):
      actions.append(.reportError(message))
      end(TellerExit.system, message, &actions)
    }
  }
}

// MARK: - Messages of the coordinator

extension TellerMachine {
  private mutating func begin(_ actions: inout Actions) {
    guard case .new = state else { return }
    actions.append(.send(.hello(Hello(build: build, role: role))))
    state = .greeting
  }

  private mutating func handle(_ message: MessageToTeller, _ now: MonotonicTime, _ actions: inout Actions) {
    switch message {
    case .welcome(let settings): welcome(settings, &actions)
    case .refused(let refusal): refused(refusal, &actions)
    case .assign(let assignment): assign(assignment, now, &actions)
    case .acknowledged: break
    case .recall(let lease): recall(lease, now, &actions)
    case .closing: prepareToClose(now, &actions)
    case .close: close("the window was closed", &actions)
    case .workerAccepted, .assignWork: reportViolation("a message for another kind of worker", &actions)
    }
  }

  /// Checks the settings, opens the log and reports the teller ready.
  private mutating func welcome(_ settings: TellerSettings, _ actions: inout Actions) {
    guard case .greeting = state else { return reportViolation("a welcome out of turn", &actions) }
    guard settings.workMicroseconds >= 0, settings.beatMicroseconds > 0 else {
      return reportViolation(
        "orders with work of \(settings.workMicroseconds) µs and a beat of \(settings.beatMicroseconds) µs",
        &actions)
    }
    guard settings.command == nil || hasProvider else {
      return reportViolation("orders to run a command, which this teller cannot do", &actions)
    }
    state = .idle(settings)
    actions.append(.openLog(settings))
    actions.append(.log(.ready))
    actions.append(.send(.ready))
  }

  /// Ends the process, because the coordinator refused it.
  private mutating func refused(_ refusal: Refusal, _ actions: inout Actions) {
    let message = """
      the coordinator (build \(refusal.build), protocol \(refusal.version)) refuses this teller \
      (build \(build), protocol \(protocolVersion)): \(refusal.detail)
      """
    actions.append(.reportError(message))
    end(TellerExit.protocolError, message, &actions)
  }

  /// Starts to serve a customer, or queues the customer behind the current one.
  private mutating func assign(_ assignment: Assignment, _ now: MonotonicTime, _ actions: inout Actions) {
    if case .serving = state, prefetched.count + 1 < BankModel.Limits.customersPerWorker {
      prefetched.append(assignment)
      return
    }
    guard case .idle(let settings) = state else {
      return reportViolation("an assignment out of turn", &actions)
    }
    if let reason = settings.objection(to: assignment) {
      fail(assignment, reason, settings, now, &actions)
      return
    }
    if settings.logsCustomers { actions.append(.log(.started(assignment))) }
    let ends = now + .microseconds(settings.workMicroseconds)
    if !hasProvider, now >= ends { return complete(assignment, took: .zero, settings, now, &actions) }
    var service = ServingState(
      assignment: assignment, began: now, ends: ends,
      nextBeat: now + .microseconds(settings.beatMicroseconds))
    if hasProvider {
      service.requestProvision(settings, at: now)
      actions.append(.provide(assignment))
    }
    state = .serving(settings, service)
  }

  private mutating func complete(
    _ assignment: Assignment, took: TimeSpan, _ settings: TellerSettings, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    if settings.logsCustomers { actions.append(.log(.completed(assignment, took: took))) }
    actions.append(.send(.done(assignment.lease)))
    startNextOrExit(settings, now, &actions)
  }

  /// Handles the provider's result for the current customer.
  private mutating func provided(
    _ lease: Lease, _ provisionResult: ProvisionResult, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    guard case .serving(let settings, var service) = state, service.assignment.lease == lease,
      service.provisionDeadline != nil || service.isDelegated
    else { return }
    switch provisionResult {
    case .ready:
      (service.provisionDeadline, service.isDelegated) = (nil, false)
      service.ends = now + .microseconds(settings.workMicroseconds)
      service.nextBeat = now + .microseconds(settings.beatMicroseconds)
      state = .serving(settings, service)
      // The answer of the stock is progress, and the lease started before the request.
      if service.ends > now { actions.append(.send(.beat(lease))) }
      work(now, &actions)
    case .missing(let shortages):
      if settings.logsCustomers { actions.append(.log(.outOfStock(service.assignment, shortages))) }
      actions.append(.send(.outOfStock(lease, shortages)))
      startNextOrExit(settings, now, &actions)
    case .later(let reason): delay(service, reason, settings, now, &actions)
    case .unknown(let reason): fail(service.assignment, reason, settings, now, &actions)
    case .worked(let result):
      if settings.logsCustomers {
        actions.append(.log(.worked(service.assignment, result, took: now.since(service.began))))
      }
      actions.append(.send(.worked(lease, result)))
      startNextOrExit(settings, now, &actions)
    case .failed(let failure):
      actions.append(.log(.workFailed(service.assignment, failure, took: now.since(service.began))))
      actions.append(.send(.failed(lease, failure)))
      startNextOrExit(settings, now, &actions)
    case .returned: returnCustomer(service.assignment, settings, now, &actions)
    }
  }

  /// Schedules another request after a pause, because what the customer needs is unavailable for now.
  private mutating func delay(
    _ service: ServingState, _ reason: String, _ settings: TellerSettings, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    var service = service
    if !service.isDelayed { actions.append(.log(.delayed(service.assignment, reason: reason))) }
    guard !isClosingSoon, !service.isAbandoned else {
      return returnCustomer(service.assignment, settings, now, &actions)
    }
    service.isDelayed = true
    (service.provisionDeadline, service.isDelegated) = (nil, false)
    let quarter = TimeSpan.microseconds(settings.beatMicroseconds) / 4
    service.retryAt = now + min(Self.pause, quarter)
    state = .serving(settings, service)
    // The beat renews the lease: the customer stays assigned.
    actions.append(.send(.beat(service.assignment.lease)))
  }

  /// Returns the current customer to the coordinator without a result.
  private mutating func returnCustomer(
    _ assignment: Assignment, _ settings: TellerSettings, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    actions.append(.log(.recalled(assignment)))
    actions.append(.send(.returned(assignment.lease)))
    startNextOrExit(settings, now, &actions)
  }

  /// Returns a customer whose work cannot start, because the window or the bank will close soon.
  private mutating func prepareToClose(_ now: MonotonicTime, _ actions: inout Actions) {
    isClosingSoon = true
    guard case .serving(let settings, let service) = state, service.retryAt != nil else { return }
    returnCustomer(service.assignment, settings, now, &actions)
  }

  /// Reports a failed attempt for a customer, with its reason.
  private mutating func fail(
    _ assignment: Assignment, _ reason: String, _ settings: TellerSettings, _ now: MonotonicTime,
    _ actions: inout Actions
  ) {
    actions.append(.log(.failed(assignment, reason: reason)))
    actions.append(.send(.failed(assignment.lease, WorkFailure(reason))))
    startNextOrExit(settings, now, &actions)
  }

  /// Handles the recall of the customer with this lease: returns it, or first has the provider give up its whole work.
  private mutating func recall(_ lease: Lease, _ now: MonotonicTime, _ actions: inout Actions) {
    guard case .serving(let settings, var service) = state else { return }
    if service.assignment.lease == lease, service.isDelegated {
      // Return the customer only when no process of the work is left: otherwise two workers would do the work at once.
      guard !service.isAbandoned else { return }
      service.isAbandoned = true
      state = .serving(settings, service)
      actions.append(.abandon(lease))
    } else if service.assignment.lease == lease {
      returnCustomer(service.assignment, settings, now, &actions)
    } else if let place = prefetched.firstIndex(where: { $0.lease == lease }) {
      actions.append(.log(.recalled(prefetched.remove(at: place))))
      actions.append(.send(.returned(lease)))
    }
  }

  /// Ends the process after the assigned customers; at once if there are none.
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
    guard case .serving(let settings, var service) = state else { return }
    if let moment = service.retryAt {
      guard now >= moment else { return }
      service.retryAt = nil
      service.requestProvision(settings, at: now)
      state = .serving(settings, service)
      actions.append(.provide(service.assignment))
    } else if service.isDelegated {
      if !service.isAbandoned, now >= service.nextBeat { beat(service, settings, now, &actions) }
    } else if let deadline = service.provisionDeadline {
      if now >= deadline { delay(service, "the stock service does not answer", settings, now, &actions) }
    } else if now >= service.ends {
      complete(service.assignment, took: now.since(service.began), settings, now, &actions)
    } else if now >= service.nextBeat {
      beat(service, settings, now, &actions)
    }
  }

  /// Reports progress for the current customer, and schedules the next report.
  private mutating func beat(
    _ service: ServingState, _ settings: TellerSettings, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    var service = service
    actions.append(.send(.beat(service.assignment.lease)))
    service.nextBeat = now + .microseconds(settings.beatMicroseconds)
    state = .serving(settings, service)
  }

  /// Ends one customer: starts the next one, or ends the process if it is closing.
  private mutating func startNextOrExit(
    _ settings: TellerSettings, _ now: MonotonicTime, _ actions: inout Actions
  ) {
    state = .idle(settings)
    if !prefetched.isEmpty {
      assign(prefetched.removeFirst(), now, &actions)
    } else if let closing {
      end(TellerExit.done, closing, &actions)
    }
  }

  /// Ends the process, because the coordinator has broken the protocol.
  private mutating func reportViolation(_ message: String, _ actions: inout Actions) {
    actions.append(.log(.violation(message)))
    actions.append(.reportError("the coordinator sent malformed data: \(message)"))
    end(TellerExit.protocolError, "the coordinator sent malformed data", &actions)
  }

  /// Ends the machine and orders the exit with this code.
  private mutating func end(_ code: Int32, _ reason: String, _ actions: inout Actions) {
    state = .ended
    actions.append(.log(.exit(code: code, reason: reason)))
    actions.append(.exit(code))
  }
}

extension TellerMachine.ServingState {
  /// Starts the request for what the customer needs, or hands over the whole work.
  fileprivate mutating func requestProvision(_ settings: TellerSettings, at now: MonotonicTime) {
    if settings.command != nil {
      isDelegated = true
    } else {
      provisionDeadline = settings.provisionTimeout(from: now)
    }
  }
}
