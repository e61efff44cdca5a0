// Checks of one event and of the effects that the core returns for it.
// Invariant: an attempt without a result is recorded in the step in which it ends, and its customer gets a new state or
// a receipt. When a customer is done, its receipt is written. Changes staged again after a refused commit are not
// checked again.
import BankModel
import QueueCore
import Time

/// What the core must still do in the current step, and facts that the checks of this step need.
struct StepExpectations {
  /// Attempts that have ended and must be recorded.
  var expectedAttempts: [(holder: InvariantChecker.Holder, end: AttemptEnd)] = []
  /// The customer whose receipt must be written.
  var done: InvariantChecker.Holder?
  /// Customers whose attempt was recorded and who must get a new state or a receipt.
  var unplaced: [TicketNumber] = []
  /// Windows whose workers must be killed, and leases that must be recalled.
  var stuck: [Window] = []
  var toRecall: [(window: Window, lease: Lease)] = []
  /// A customer that a client cancels, in any state.
  var cancelling: TicketNumber?
  /// True if this step's changes were staged before, in a commit that was refused.
  var isRepeat = false
  /// True if the sender of the message belongs to a dead generation.
  var isLate = false
  /// The window of a worker that has violated the protocol.
  var violatingWindow: Window?
  /// A service whose pause must be reported in this step.
  var expectedPause: Service?
  /// Number of customers that the step has added.
  var inserted: Int64 = 0
  /// Number of customers who wait, are delayed, or belong to a partly accepted request, when a new request arrives; nil
  /// for any other event.
  var waitingBefore: Int64?
  /// True if the disk was full or nearly full before the step.
  var wasJammed = false
  /// Consequences of this step for customers of commands and of external workers.
  var verdict = InvariantChecker.Verdict()
  /// Customers whose start this step has made durable.
  var durableStarts: Set<TicketNumber> = []
  /// Customers whose attempt was lost with a coordinator, each with the maximum number of coordinators that lost it.
  var lossCounts: [TicketNumber: Int] = [:]
  /// Customers whose work was not started in the attempt that has ended.
  var notStarted: Set<TicketNumber> = []
}

extension InvariantChecker {
  /// Records what the core must do for an event. Called before the core applies the event.
  func willApply(_ event: QueueEvent, to core: borrowing QueueMachine, at now: Moment) {
    step = StepExpectations()
    step.wasJammed = core.isDiskFull || isLowOnSpace
    latestWall = max(latestWall, now.wall)
    recordSoleCustomers()
    if let request = event.request { note(request) }
    switch event {
    case .enqueue(let request, _, _, let isLast, _, _):
      if currentEnqueue != request {
        // Space for all customers of a partly accepted request is already reserved.
        step.waitingBefore =
          core.dayCounters.waitingInAll + core.dayCounters.delayed + (core.arriving?.total ?? 0)
      }
      if !isLast { currentEnqueue = request } else if currentEnqueue == request { currentEnqueue = nil }
    case .sealed:
      let before = sealedTransactions.reduce(into: Set<TicketNumber>()) { $0.formUnion($1.starting) }
      sealedTransactions.append(
        SealedTransaction(
          issued: core.dayCounters.issued, paused: paused, starting: Set(starting.keys).subtracting(before)))
    case .committed:
      let settled =
        sealedTransactions.isEmpty
        ? SealedTransaction(issued: core.dayCounters.issued, paused: paused, starting: Set(starting.keys))
        : sealedTransactions.removeFirst()
      committedPauses = settled.paused
      step.durableStarts = settled.starting
      view.settleNewcomers(through: settled.issued)
    case .roomChanged(let isLowOnSpace): self.isLowOnSpace = isLowOnSpace
    case .commitRefused:
      step.isRepeat = true
      currentEnqueue = nil
      paused = committedPauses
      sealedTransactions.removeAll()
      revertStarts()
      view.dropNewcomers()
    case .enqueueAbandoned:
      if let request = core.arriving?.request { close(request) }
      currentEnqueue = nil
      view.dropArriving()
    case .tellerReady(let window, let generation, _):
      generations[window] = generation
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
      closing.remove(window)
    case .workerReady(let window, let generation, _, let inFlight):
      workerCame([window], generation, inFlight: inFlight)
    case .workerConnected(let services, let number, let generation, _, let inFlight):
      workerCame(services.map { .outside($0, number: number) }, generation, inFlight: inFlight)
    case .workerDisconnected(let generation):
      externalWorkerLost(generation, at: outsideWindows(of: generation))
    case .tellerAnswered(let window, let generation, let lease, let answer):
      handle(window, generation, lease, answer, at: now)
    case .tellerProgressed(let window, let generation, let lease):
      handle(window, generation, lease, nil, at: now)
    case .tellerLost(let window, let generation, _): lose(window, generation)
    case .cancel(let request, let ticket):
      step.cancelling = ticket
      open[request] = .cancel(TicketID(day: view.day, ticket: ticket))
    case .reset(let request): if open[request] != nil { open[request] = .reset(view.day) }
    case .pause(_, let service): if !core.isDiskFull { setPaused(true, service) }
    case .resume(_, let service): if !core.isDiskFull { setPaused(false, service) }
    case .drain: isDraining = true
    case .finish: isFinishing = true
    case .returnAllClaims:
      isFinishing = true
      while let first = holders.first {
        step.expectedAttempts.append((first, .recalled))
        holders.removeFirst()
        returnPrefetched(first.window)
      }
    case .endDay:
      if hasEndedDay {
        violate(.dayCounters, "day \(view.day) is closed right after the previous day")
      }
      hasEndedDay = true
    default: break
    }
  }

  /// Registers a client's request as open; an answered one must not continue.
  private func note(_ request: RequestNumber) {
    if closed.contains(request) { violate(.answer, "request \(request) continues after its response") }
    if open[request] == nil { open[request] = .other }
  }

  /// Records the pause or the end of the pause of a service, or of all services if it is nil.
  private func setPaused(_ isPaused: Bool, _ service: Service?) {
    for index in paused.indices where service == nil || service?.index == index { paused[index] = isPaused }
  }

  /// Follows a teller's answer for a lease, or its progress report if the answer is nil.
  private func handle(
    _ window: Window, _ generation: Generation, _ lease: Lease, _ answer: TellerAnswer?, at now: Moment
  ) {
    guard generations[window] == generation else {
      step.isLate = true
      return
    }
    guard externalWorkers[window] == nil else { return handleExternalAnswer(window, lease, answer, at: now) }
    // Messages about a cancelled customer change nothing, and the teller continues with the others.
    if let place = cancelled.firstIndex(where: { $0.window == window && $0.lease == lease }) {
      if answer != nil { cancelled.remove(at: place) }
      return
    }
    guard let place = holders.firstIndex(where: { $0.window == window }) else {
      // The teller holds no customer: this is its answer to a recall, or a violation.
      if answer != nil, recalled.contains(where: { $0.window == window && $0.lease == lease }) {
        recalled.removeAll { $0.window == window && $0.lease == lease }
      } else {
        step.violatingWindow = window
      }
      return
    }
    if holders[place].lease == lease, let answer, answer != .returned || closing.contains(window) {
      let holder = holders.remove(at: place)
      if window.service.isForCommands { handleCommandAnswer(holder, answer) }
      switch answer {
      case .failed(let failure) where window.service.isForCommands:
        step.expectedAttempts.append((holder, end(of: failure, holder)))
      case .failed: step.expectedAttempts.append((holder, .failed))
      case .returned: step.expectedAttempts.append((holder, .recalled))
      case .done, .worked, .outOfStock: step.done = holder
      }
      // The lease of the next assigned customer, if any, starts.
      if let next = holders.firstIndex(where: { $0.window == window }) {
        holders[next].progressAt = now.listeningTime
      }
    } else if holders[place].lease == lease, answer == nil {
      holders[place].progressAt = now.listeningTime
    } else {
      step.violatingWindow = window
      step.expectedAttempts.append((holders.remove(at: place), .killed))
      returnPrefetched(window)
    }
  }

  /// Takes the remaining customers from a window whose first customer has left without an answer. They were not
  /// started, and the core must return them to their lines.
  func returnPrefetched(_ window: Window) {
    for holder in holders where holder.window == window { step.expectedAttempts.append((holder, .recalled)) }
    holders.removeAll { $0.window == window }
  }

  /// Records that a window has lost its worker. The core must record the attempt at the first customer.
  private func lose(_ window: Window, _ generation: Generation) {
    guard externalWorkers[window] == nil else { return externalWorkerLost(generation, at: [window]) }
    recalled.removeAll { $0.window == window }
    cancelled.removeAll { $0.window == window }
    // Further messages of this teller are late.
    if generations[window] == generation { generations[window] = nil }
    guard let place = holders.firstIndex(where: { $0.window == window && $0.lease.generation == generation })
    else { return }
    step.expectedAttempts.append((holders.remove(at: place), .killed))
    returnPrefetched(window)
  }

  // MARK: - Effects of the core

  /// Checks the effects of an event. Called after the core has applied the event.
  func didApply(
    _ event: QueueEvent, to core: borrowing QueueMachine, _ effects: ArraySlice<QueueEffect>, at now: Moment
  ) {
    // A late message may return due customers to their lines. It must have no other effect.
    let isCall = effects.first?.makesDelayedReady == true
    if step.isLate, let effect = isCall ? effects.first(where: { !$0.canFollowReadiness }) : effects.first {
      violate(.staleMessage, "a message of a dead generation led to \(effect)")
    }
    for effect in effects { follow(effect, event, at: now) }
    checkEnqueue(event, effects)
    checkIssued(by: core)
    if case .tellerReady(let window, let generation, _) = event, let numbers = core.numbers(of: window),
      numbers.generation != generation || !numbers.isReady, !effects.contains(.dismissTeller(window))
    {
      violate(
        .protocolViolation, "generation \(generation) of \(window) is ready, but the queue does not know it")
    }
    checkConsequences(of: event, at: now)
    checkNumbers(of: core)
    view.day = core.dayCounters.day
  }

  /// Checks one effect of the core, and applies it to the model.
  private func follow(_ effect: QueueEffect, _ event: QueueEvent, at now: Moment) {
    switch effect {
    case .stage(let change): if !step.isRepeat { follow(change, at: now) }
    case .assign(let window, let lease, let customer): assign(window, lease, customer, at: now)
    case .acknowledge(let window, let lease):
      if finished.remove(AnsweredLease(window: window, lease: lease)) == nil {
        violate(.notDurable, "\(window) is notified that ticket \(lease.ticket) is on disk, but it is not")
      }
    case .recall(let window, let lease):
      step.toRecall.removeAll { $0.window == window && $0.lease == lease }
      // A customer that a worker still has to return counts as held.
      if externalWorkers[window] != nil
        || step.cancelling == lease.ticket
          && holders.contains(where: { $0.window == window })
      {
        cancelled.append((window, lease))
      } else {
        recalled.append((window, lease))
      }
    case .logPause(let service, _):
      if step.expectedPause != service {
        violate(.paused, "service \(service.number) is paused for no reason")
      }
      step.expectedPause = nil
    case .notifyNoMoreCustomers(let window): closing.insert(window)
    case .killStuckTeller(let window, let generation): terminateStuck(window, generation)
    case .killRogueTeller(let window, let generation, let reason):
      if step.violatingWindow != window || generations[window] != generation {
        violate(.protocolViolation, "generation \(generation) of \(window) is ended because it \(reason)")
      }
    case .dismissTeller(let window):
      if holders.contains(where: { $0.window == window }) {
        violate(.protocolViolation, "\(window) is closed while it holds a customer")
      }
    case .reply(let request, let answer): reply(request, answer)
    case .reportDrained:
      if hasDrained { violate(.answer, "the drain was reported twice") }
      hasDrained = true
    default: break
    }
  }

  /// Checks that a worker that is ended as stuck has an expired lease or an unanswered recall.
  private func terminateStuck(_ window: Window, _ generation: Generation) {
    if generations[window] != generation {
      violate(
        .protocolViolation, "generation \(generation) of \(window) is ended, but another one is running")
    }
    if let place = step.stuck.firstIndex(of: window) {
      step.stuck.remove(at: place)
    } else if (recalled + cancelled).contains(where: { $0.window == window }) {
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
    } else {
      violate(.lease, "\(window) is ended as stuck too early")
    }
  }

  /// Checks that a window may get this customer now, and records the assignment.
  private func assign(_ window: Window, _ lease: Lease, _ customer: Customer, at now: Moment) {
    world.statistics.assignments += 1
    if customer.service != window.service {
      return violate(
        .crossedServices,
        "\(window) got ticket \(customer.ticket), which is for service \(customer.service.number)")
    }
    let isExternal = window.service.isForForeigners
    if isExternal { assignExternal(window, lease, customer) }
    let held = holders.filter { $0.window == window }
    let prefetch = policy[window.service.index].prefetch
    if !isExternal, held.count + cancelled.count(where: { $0.window == window }) >= prefetch {
      let tickets = held.map { String($0.lease.ticket) }.joined(separator: ", ")
      return violate(
        .doubleLease,
        "\(window) got ticket \(customer.ticket), may hold \(prefetch) and holds \(tickets)")
    }
    checkCrash(of: customer, at: window)
    if let held = holders.first(where: { $0.lease.ticket == customer.ticket }) {
      return violate(.doubleLease, "\(window) got ticket \(customer.ticket), which \(held.window) holds")
    }
    if recalled.contains(where: { $0.window == window }) {
      return violate(.doubleLease, "\(window) got ticket \(customer.ticket) before it had returned another")
    }
    if lease.generation != generations[window] || lease.attempt != customer.attempts + 1 {
      return violate(.lease, "\(window) got the lease \(lease) of another window")
    }
    if paused[customer.service.index] || isFinishing {
      return violate(.paused, "\(window) got ticket \(customer.ticket), but its service is paused")
    }
    if view.newcomers.contains(customer.ticket) {
      return violate(.notDurable, "ticket \(customer.ticket) is assigned before it is on disk")
    }
    if let moment = asked[JuiceOrder(customer.itemName)?.account ?? customer.account], latestWall < moment {
      return violate(
        .early,
        "ticket \(customer.ticket) is served \(moment.milliseconds - latestWall.milliseconds) ms before its due time"
      )
    }
    if countsAttempts(of: window.service) || customer.isAttemptRunning {
      guard step.durableStarts.contains(customer.ticket),
        starting.removeValue(forKey: customer.ticket) == customer
      else {
        return violate(.notDurable, "ticket \(customer.ticket) starts before that is on disk")
      }
      return hold(window, lease, customer, at: now, isInTurn: held.isEmpty || isExternal)
    }
    let first = view.first(of: window.service)
    if first != customer.ticket || view.customers[customer.ticket] != customer {
      return violate(.order, "\(window) got ticket \(customer.ticket), but ticket \(first ?? 0) is first")
    }
    _ = view.leaveLine(customer)
    view.states[customer.ticket] = .serving
    hold(window, lease, customer, at: now, isInTurn: held.isEmpty || isExternal)
  }

  /// Records that a window holds a customer, whose lease runs from now if the customer is in turn.
  private func hold(_ window: Window, _ lease: Lease, _ customer: Customer, at now: Moment, isInTurn: Bool) {
    let begins = isInTurn ? now.listeningTime : MonotonicTime(nanoseconds: .max)
    holders.append(
      Holder(
        window: window, lease: lease, customer: customer, progressAt: begins, heldSince: now.listeningTime))
  }
}

extension QueueEvent {
  /// The client's request that the event belongs to; nil if there is none.
  fileprivate var request: RequestNumber? {
    switch self {
    case .enqueue(let request, _, _, _, _, _), .cancel(let request, _), .requeue(let request, _),
      .requeueDead(let request), .pause(let request, _), .resume(let request, _), .reset(let request):
      request
    default: nil
    }
  }
}

extension QueueEffect {
  /// True if a due customer joins its line, or the next delayed ones are requested from the store.
  fileprivate var makesDelayedReady: Bool {
    switch self {
    case .stage(.revive(_, from: .delayed)), .loadDelayed: true
    default: false
    }
  }

  /// True if the effect can follow from a customer joining its line.
  fileprivate var canFollowReadiness: Bool {
    switch self {
    case .assign, .announce(.started, _, _, _), .loadPage: true
    default: makesDelayedReady
    }
  }
}
