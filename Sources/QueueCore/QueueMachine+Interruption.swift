// Ways in which an attempt ends without a receipt: the teller reports a failure, exits, hangs or violates the protocol,
// or the customer is recalled. The customer then waits again, is delayed, or becomes a dead letter.
// Invariant: the record of an attempt is staged together with the change of its customer.

import BankModel
import Time

extension QueueMachine {
  /// Handles the disconnect of an outside worker: the attempts of its customers end, as after a crash.
  mutating func handleWorkerDisconnect(
    _ generation: Generation, at now: Moment, into effects: inout [QueueEffect]
  ) {
    revertStarts(into: &effects)
    let alone = onlyCustomer(of: generation)
    for window in outsideWorkers[generation]?.places ?? [] {
      handleLoss(window, generation, nil, alone: alone, at: now, into: &effects)
    }
  }

  /// Takes the customers from a window whose teller has exited, or from a slot whose outside worker has disconnected.
  /// Does nothing to customers of another generation.
  ///
  /// - Parameter alone: the only customer of an outside worker over all its slots; nil if it had several or none.
  ///   Ignored for other workers.
  mutating func handleLoss(
    _ window: Window, _ generation: Generation, _ end: ProcessEnd?, alone: TicketNumber? = nil,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    guard let (service, place) = locate(window) else { return }
    let isKnown = windows[service][place].generation == generation
    if isKnown {
      // The exited teller cannot receive another customer.
      revertStarts(excluded: window, into: &effects)
      interruptAll(service, place, .killed, end, alone: alone, at: now, into: &effects)
      leaveIdle(service, place)
      if window.isOutside { return removeOutside(window) }
      windows[service][place].state = .vacant
      // The teller will not return its recalled customers, so the deadline for their return is removed.
      clearTerminationMarks(service, place)
      windows[service][place].unacknowledged = nil
    }
    if windows[service][place].isClosing, windows[service][place].state == .vacant {
      removeClosedWindows(service)
    }
  }

  /// Ends every expired lease with its attempt, and kills the worker, unless it is an outside worker. A teller that has
  /// not returned recalled customers in time is killed too.
  ///
  /// Late messages are harmless: the successor of a killed worker has another generation, and a lease that an outside
  /// worker has lost is recorded as recalled.
  mutating func expireLeases(at now: Moment, into effects: inout [QueueEffect]) {
    if !pendingStarts.isEmpty, nextLeaseEnd.map({ $0 <= now.listeningTime }) == true {
      revertStarts(into: &effects)
    }
    // Several leases of one worker may expire at once, at several slots, so blame is decided before the first lease
    // ends.
    var alone: [Generation: TicketNumber] = [:]
    for generation in outsideWorkers.keys { alone[generation] = onlyCustomer(of: generation) }
    for service in windows.indices {
      for place in windows[service].indices where windows[service][place].nextLeaseEnd <= now.listeningTime {
        let windowState = windows[service][place]
        if windowState.isSideBySide, windowState.isServing {
          let ticket =
            windowState.window.isOutside
            ? alone[windowState.generation] : aloneAtWindow(service, place)
          interruptExpired(service, place, alone: ticket, at: now, into: &effects)
          if windowState.window.isOutside { continue }
          // The leases of the worker's other customers have not expired, but the worker is killed, so these customers
          // return to the queue without blame.
          if let customer = release(service, place) {
            requeueAtHead(customer, service, place, at: now, into: &effects)
            returnPrefetched(service, place, at: now, into: &effects)
          }
        }
        interruptAll(service, place, .leaseExpired, nil, at: now, into: &effects)
        markForTermination(service, place)
        effects.append(.killStuckTeller(windowState.window, windowState.generation))
      }
    }
  }

  /// Marks a teller as being killed. The queue ignores the teller's messages from now on. With `awaitsProcessExit`, the
  /// service assigns no customer to its windows until the process has exited.
  private mutating func markForTermination(_ service: Int, _ place: Int) {
    windows[service][place].state = .terminating
    windows[service][place].isBeingEnded =
      policy[service].awaitsProcessExit && !windows[service][place].window.isOutside
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
  }

  private mutating func clearTerminationMarks(_ service: Int, _ place: Int) {
    windows[service][place].isBeingEnded = false
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
  }

  /// Handles a failure that a worker reports, with the consequence that the worker requests.
  mutating func fail(
    _ customer: Customer, _ failure: WorkFailure, _ service: Int, _ place: Int, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let lease = windows[service][place].lease(of: customer)
    switch failure.consequence {
    case .again, .never: interrupt(customer, lease, service, place, .failed, failure, at: now, into: &effects)
    case .crash: interrupt(customer, lease, service, place, .killed, failure, at: now, into: &effects)
    case .later:
      let isTooOften = lease.attempt >= policy[service].maxDeferrals
      interrupt(
        customer, lease, service, place, isTooOften ? .failed : .deferred, failure, at: now, into: &effects)
    case .pause:
      if !dayCounters.paused[service] {
        pausePermanently(service)
        revertStarts(into: &effects)
        effects.append(.logPause(Service(index: service), because: failure))
      }
      requeueAtHead(
        customer, service, place, .deferred, failure, mayHaveStarted: !failure.isNotStarted, at: now,
        into: &effects)
    }
  }

  /// Ends an attempt without a receipt: the customer waits again, is delayed, or becomes a dead letter. `wasAlone` is
  /// true if no other customer of the worker could have caused the end.
  ///
  /// - Parameter failure: the worker's report, if it sent one.
  mutating func interrupt(
    _ customer: Customer, _ lease: Lease, _ service: Int, _ place: Int, _ end: AttemptEnd,
    _ failure: WorkFailure?, processEnd: ProcessEnd? = nil, wasAlone: Bool = true, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let windowState = windows[service][place]
    let processEnd = failure?.processEnd ?? processEnd
    record(lease, at: windowState, end, processEnd, failure?.words, at: now, into: &effects)
    var customer = customer
    customer.attempts += 1
    customer.endAttempt(mayHaveStarted: failure?.isNotStarted != true)
    switch end {
    case .failed: customer.failures += 1
    case .deferred: break
    default: customer.crashes += 1
    }
    effects.append(.announce(.interrupted, windowState.window, lease, customer))
    let rules = policy[service]
    // Every crash counts, but `maxCrashes` makes the customer a dead letter only after a crash that no other customer
    // can have caused. A failure makes no dead letter because of `crashes`, which may have reached the limit.
    let isCrash = end != .failed && end != .deferred
    if isCrash && wasAlone && customer.crashes >= rules.maxCrashes || customer.failures >= rules.maxFailures
      || failure?.consequence == .never || customer.hasExhaustedAttempts(rules)
    {
      deadLetter(customer, windowState.window, end, processEnd, into: &effects)
    } else if end == .failed || end == .deferred {
      let pause =
        failure?.after
        ?? rules.pause(
          afterFailures: end == .failed ? customer.failures : lease.attempt, of: customer.ticket,
          on: dayCounters.day,
          attempt: lease.attempt)
      postpone(customer, for: pause, at: now, into: &effects)
    } else {
      stage(.update(customer), into: &effects)
      returnToLine(customer)
    }
  }

  /// Delays a customer that has left the line or a teller.
  mutating func postpone(
    _ customer: Customer, for pause: TimeSpan, at now: Moment, into effects: inout [QueueEffect]
  ) {
    let dueAt = WallTime(milliseconds: now.wall.milliseconds + pause.milliseconds)
    dayCounters.waiting[customer.line] -= 1
    if policy.isShared {
      dayCounters.issued -= 1
    } else {
      dayCounters.delay(of: customer.service)
      delayed.postpone(DelayedCustomer(customer: customer, dueAt: dueAt), due: now.monotonic + pause)
    }
    stage(.postpone(customer, dueAt: dueAt), into: &effects)
  }

  /// The customer at a window if it is the only customer there; nil if there are several or none.
  private func aloneAtWindow(_ service: Int, _ place: Int) -> TicketNumber? {
    guard windows[service][place].isServing, let customer = windows[service][place].customer else {
      return nil
    }
    return isAlone(customer.ticket, service, place) ? customer.ticket : nil
  }

  /// Takes all customers from a window whose teller was lost or is to be killed.
  ///
  /// - Parameter alone: the only customer of an outside worker over all its slots; nil if it had several or none.
  ///   Ignored for other workers.
  mutating func interruptAll(
    _ service: Int, _ place: Int, _ end: AttemptEnd, _ processEnd: ProcessEnd?, alone: TicketNumber? = nil,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    let isOutside = windows[service][place].window.isOutside
    let alone = isOutside ? alone : aloneAtWindow(service, place)
    guard let customer = release(service, place) else { return }
    let lease = windows[service][place].lease(of: customer)
    guard windows[service][place].isSideBySide, customer.ticket != alone else {
      interrupt(customer, lease, service, place, end, nil, processEnd: processEnd, at: now, into: &effects)
      return returnPrefetched(service, place, at: now, into: &effects)
    }
    // Any of these customers may have caused the crash, so `maxCrashes` makes none a dead letter before it was served
    // alone.
    let first = WindowState.PrefetchedCustomer(customer: customer, at: windows[service][place].startedAt)
    for next in [first] + releasePrefetched(service, place) {
      windows[service][place].startedAt = next.at
      let lease = windows[service][place].lease(of: next.customer)
      interrupt(
        next.customer, lease, service, place, end, nil, processEnd: processEnd, wasAlone: false, at: now,
        into: &effects)
    }
  }

  /// Returns a customer from a teller to its line, or makes it a dead letter if no attempt is left. Counts neither a
  /// crash nor a failure, because the customer is not to blame.
  mutating func requeueAtHead(
    _ customer: Customer, _ service: Int, _ place: Int, _ end: AttemptEnd = .recalled,
    _ failure: WorkFailure? = nil, mayHaveStarted: Bool = true, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let windowState = windows[service][place]
    let lease = windowState.lease(of: customer)
    record(lease, at: windowState, end, failure?.processEnd, failure?.words, at: now, into: &effects)
    var customer = customer
    customer.attempts += 1
    customer.endAttempt(mayHaveStarted: mayHaveStarted)
    effects.append(.announce(.interrupted, windowState.window, lease, customer))
    requeueOrDeadLetter(customer, service, windowState.window, end, failure?.processEnd, into: &effects)
  }

  /// Returns the further customers of a window to their line, or makes them dead letters if no attempt is left. The
  /// recorded attempts explain why later customers have overtaken them.
  mutating func returnPrefetched(
    _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    for next in releasePrefetched(service, place) {
      var windowState = windows[service][place]
      windowState.startedAt = next.at
      record(windowState.lease(of: next.customer), at: windowState, .recalled, at: now, into: &effects)
      var customer = next.customer
      customer.attempts += 1
      customer.endAttempt()
      requeueOrDeadLetter(customer, service, windowState.window, .recalled, nil, into: &effects)
    }
  }

  /// Returns a customer to its line after an attempt that ended without blame, or makes it a dead letter if no
  /// attempt is left.
  private mutating func requeueOrDeadLetter(
    _ customer: Customer, _ service: Int, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?,
    into effects: inout [QueueEffect]
  ) {
    if customer.startedAttempts > 0, customer.hasExhaustedAttempts(policy[service]) {
      return deadLetter(customer, window, end, processEnd, into: &effects)
    }
    stage(.update(customer), into: &effects)
    returnToLine(customer)
  }

  mutating func returnToLine(_ customer: Customer) {
    let place = index(of: customer.line)
    if policy.isShared {
      lines[place].returnToLine(claimed: customer)
    } else {
      lines[place].returnToLine(customer)
    }
  }

  mutating func deadLetter(
    _ customer: Customer, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?,
    into effects: inout [QueueEffect]
  ) {
    dayCounters.waiting[customer.line] -= 1
    if policy.isShared { dayCounters.issued -= 1 } else { dayCounters.dead += 1 }
    stage(.bury(customer), into: &effects)
    effects.append(.logDeadLetter(customer, window, end, processEnd))
  }

  /// Handles a protocol violation: takes the teller's customers as if the teller had exited, and ends the teller.
  mutating func endForViolation(
    _ service: Int, _ place: Int, _ reason: String, at now: Moment, into effects: inout [QueueEffect]
  ) {
    revertStarts(excluded: windows[service][place].window, into: &effects)
    let windowState = windows[service][place]
    let isOutside = windowState.window.isOutside
    let places = isOutside ? outsideWorkers[windowState.generation]?.places ?? [] : [windowState.window]
    let alone = isOutside ? onlyCustomer(of: windowState.generation) : nil
    for window in places {
      guard let (service, place) = locate(window) else { continue }
      interruptAll(service, place, .killed, nil, alone: alone, at: now, into: &effects)
      leaveIdle(service, place)
      markForTermination(service, place)
    }
    effects.append(.killRogueTeller(windowState.window, windowState.generation, reason: reason))
  }
}
