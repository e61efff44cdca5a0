// Owns every way in which an attempt ends without a receipt: the teller says that it could not, dies, falls silent or breaks the
// rules, or the customer is taken back. The customer waits again, is put off, or is put aside; nothing of it is forgotten.
// Invariant: an attempt is recorded exactly once, in the transaction in which its customer goes elsewhere.

import BankModel
import Time

extension QueueMachine {
  /// A worker that had come by itself has gone, with everybody in its hands.
  mutating func loseOutside(_ generation: Generation, at now: Moment, into effects: inout [QueueEffect]) {
    takeBackStarts(into: &effects)
    let alone = aloneInHand(of: generation)
    for window in outsideWorkers[generation]?.places ?? [] {
      lose(window, generation, nil, alone: alone, at: now, into: &effects)
    }
  }

  /// - Parameter alone: who was alone in the hands of a worker that stands at several places.
  mutating func lose(
    _ window: Window, _ generation: Generation, _ end: ProcessEnd?, alone: TicketNumber? = nil,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    guard let (service, place) = locate(window) else { return }
    let isKnown = windows[service][place].generation == generation
    if isKnown {
      // Whatever comes next, its ears are closed.
      takeBackStarts(deaf: window, into: &effects)
      takeFrom(service, place, .killed, end, alone: alone, at: now, into: &effects)
      leaveIdle(service, place)
      if window.isOutside { return removeOutside(window) }
      windows[service][place].state = .vacant
      // A recalled customer is no longer here, but the teller's time to give it back would still run out.
      waitNoLonger(service, place)
      windows[service][place].unacknowledged = nil
    }
    if windows[service][place].isClosing, windows[service][place].state == .vacant {
      removeClosedWindows(service)
    }
  }

  /// Ends every lease that has run out. Its customer goes back at once: the generation keeps late words harmless.
  mutating func expireLeases(at now: Moment, into effects: inout [QueueEffect]) {
    if !starts.isEmpty, nextLeaseEnd.map({ $0 <= now.attended }) == true { takeBackStarts(into: &effects) }
    // Of one worker several leases may run out at once, at several places.
    var alone: [Generation: TicketNumber] = [:]
    for generation in outsideWorkers.keys { alone[generation] = aloneInHand(of: generation) }
    for service in windows.indices {
      for place in windows[service].indices where windows[service][place].nextLeaseEnd <= now.attended {
        let windowState = windows[service][place]
        if windowState.isSideBySide, windowState.isServing {
          let ticket =
            windowState.window.isOutside
            ? alone[windowState.generation] : aloneAtWindow(service, place)
          takeExpired(service, place, alone: ticket, at: now, into: &effects)
          if windowState.window.isOutside { continue }
          // The others went on well, and go with it.
          if let customer = release(service, place) {
            standAgain(customer, service, place, at: now, into: &effects)
            takeBackAhead(service, place, at: now, into: &effects)
          }
        }
        takeFrom(service, place, .leaseExpired, nil, at: now, into: &effects)
        doom(service, place)
        effects.append(.endStuckTeller(windowState.window, windowState.generation))
      }
    }
  }

  /// Whoever is here is being ended, and is not heard any more. Where its work could go on meanwhile, the service waits for its
  /// end, however long that takes.
  private mutating func doom(_ service: Int, _ place: Int) {
    windows[service][place].state = .doomed
    windows[service][place].isBeingEnded =
      policy[service].endsWorkFirst && !windows[service][place].window.isOutside
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
  }

  /// Whoever was being ended is gone.
  private mutating func waitNoLonger(_ service: Int, _ place: Int) {
    windows[service][place].isBeingEnded = false
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
  }

  /// A worker could not do the work, and says what follows from it.
  mutating func fail(
    _ customer: Customer, _ failure: WorkFailure, _ service: Int, _ place: Int, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let lease = windows[service][place].lease(of: customer)
    switch failure.consequence {
    case .again, .never: interrupt(customer, lease, service, place, .failed, failure, at: now, into: &effects)
    case .crash: interrupt(customer, lease, service, place, .killed, failure, at: now, into: &effects)
    case .later:
      let isTooOften = lease.attempt >= policy[service].maxLater
      interrupt(
        customer, lease, service, place, isTooOften ? .failed : .deferred, failure, at: now, into: &effects)
    case .pause:
      if !books.paused[service] {
        pauseForGood(service)
        takeBackStarts(into: &effects)
        effects.append(.reportPause(Service(index: service), because: failure))
      }
      standAgain(
        customer, service, place, .deferred, failure, hasBegun: !failure.isUnbegun, at: now, into: &effects)
    }
  }

  /// Ends an attempt without a receipt: the customer waits again, is put off, or is put aside.
  ///
  /// - Parameters:
  ///   - failure: what the worker said of it, where it could.
  ///   - wasAlone: whether nobody else was worked at, who could be to blame.
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
    customer.endAttempt(hasBegun: failure?.isUnbegun != true)
    switch end {
    case .failed: customer.failures += 1
    case .deferred: break
    default: customer.crashes += 1
    }
    effects.append(.announce(.interrupted, windowState.window, lease, customer))
    let rules = policy[service]
    // Whoever was beside others when they were lost is put aside by what happens alone, and not by a failure after that.
    let isCrash = end != .failed && end != .deferred
    if isCrash && wasAlone && customer.crashes >= rules.maxCrashes || customer.failures >= rules.maxFailures
      || failure?.consequence == .never || customer.hasSpent(rules)
    {
      bury(customer, windowState.window, end, processEnd, into: &effects)
    } else if end == .failed || end == .deferred {
      let pause =
        failure?.after
        ?? rules.pause(
          afterFailures: end == .failed ? customer.failures : lease.attempt, of: customer.ticket,
          on: books.day,
          attempt: lease.attempt)
      putOff(customer, for: pause, at: now, into: &effects)
    } else {
      stage(.update(customer), into: &effects)
      takeBack(customer)
    }
  }

  /// A customer who has left the line, or a teller's hands, waits for a while.
  mutating func putOff(
    _ customer: Customer, for pause: TimeSpan, at now: Moment, into effects: inout [QueueEffect]
  ) {
    let dueAt = WallTime(milliseconds: now.wall.milliseconds + pause.milliseconds)
    books.waiting[customer.line] -= 1
    if policy.isShared {
      books.issued -= 1
    } else {
      books.delay(of: customer.service)
      delayed.postpone(DelayedCustomer(customer: customer, dueAt: dueAt), due: now.monotonic + pause)
    }
    stage(.postpone(customer, dueAt: dueAt), into: &effects)
  }

  /// Who is alone in the hands of whoever stands at a window; nil where there are several, or nobody is.
  private func aloneAtWindow(_ service: Int, _ place: Int) -> TicketNumber? {
    guard windows[service][place].isServing, let customer = windows[service][place].customer else {
      return nil
    }
    return isAlone(customer.ticket, service, place) ? customer.ticket : nil
  }

  /// - Parameter alone: who was alone in the hands of a worker that stands at several places.
  mutating func takeFrom(
    _ service: Int, _ place: Int, _ end: AttemptEnd, _ processEnd: ProcessEnd?, alone: TicketNumber? = nil,
    at now: Moment, into effects: inout [QueueEffect]
  ) {
    let isOutside = windows[service][place].window.isOutside
    let alone = isOutside ? alone : aloneAtWindow(service, place)
    guard let customer = release(service, place) else { return }
    let lease = windows[service][place].lease(of: customer)
    guard windows[service][place].isSideBySide, customer.ticket != alone else {
      interrupt(customer, lease, service, place, end, nil, processEnd: processEnd, at: now, into: &effects)
      return takeBackAhead(service, place, at: now, into: &effects)
    }
    // Any of them may be to blame. Each is served alone from now on, and nobody is put aside before.
    let first = WindowState.HandedOut(customer: customer, at: windows[service][place].startedAt)
    for next in [first] + releaseAhead(service, place) {
      windows[service][place].startedAt = next.at
      let lease = windows[service][place].lease(of: next.customer)
      interrupt(
        next.customer, lease, service, place, end, nil, processEnd: processEnd, wasAlone: false, at: now,
        into: &effects)
    }
  }

  /// A customer who has left a teller's hands stands at the head of the line again. It is nobody's fault, and so it
  /// counts as neither a crash nor a failure.
  mutating func standAgain(
    _ customer: Customer, _ service: Int, _ place: Int, _ end: AttemptEnd = .recalled,
    _ failure: WorkFailure? = nil, hasBegun: Bool = true, at now: Moment, into effects: inout [QueueEffect]
  ) {
    let windowState = windows[service][place]
    let lease = windowState.lease(of: customer)
    record(lease, at: windowState, end, failure?.processEnd, failure?.words, at: now, into: &effects)
    var customer = customer
    customer.attempts += 1
    customer.endAttempt(hasBegun: hasBegun)
    effects.append(.announce(.interrupted, windowState.window, lease, customer))
    wait(customer, service, windowState.window, end, failure?.processEnd, into: &effects)
  }

  /// Those whose turn had not come stand in line again. It is nobody's fault, and yet an attempt: who was overtaken
  /// meanwhile is explained by it.
  mutating func takeBackAhead(
    _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    for next in releaseAhead(service, place) {
      var windowState = windows[service][place]
      windowState.startedAt = next.at
      record(windowState.lease(of: next.customer), at: windowState, .recalled, at: now, into: &effects)
      var customer = next.customer
      customer.attempts += 1
      customer.endAttempt()
      wait(customer, service, windowState.window, .recalled, nil, into: &effects)
    }
  }

  /// A customer whose attempt has ended by nobody's fault stands in line again, if another one may begin.
  private mutating func wait(
    _ customer: Customer, _ service: Int, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?,
    into effects: inout [QueueEffect]
  ) {
    if customer.begun > 0, customer.hasSpent(policy[service]) {
      return bury(customer, window, end, processEnd, into: &effects)
    }
    stage(.update(customer), into: &effects)
    takeBack(customer)
  }

  /// A customer who had left the line stands there again, at the place of its number.
  mutating func takeBack(_ customer: Customer) {
    let place = index(of: customer.line)
    if policy.isShared { lines[place].takeBack(claimed: customer) } else { lines[place].takeBack(customer) }
  }

  /// A customer is put aside: an operator decides.
  mutating func bury(
    _ customer: Customer, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?,
    into effects: inout [QueueEffect]
  ) {
    books.waiting[customer.line] -= 1
    if policy.isShared { books.issued -= 1 } else { books.dead += 1 }
    stage(.bury(customer), into: &effects)
    effects.append(.reportDead(customer, window, end, processEnd))
  }

  /// A teller broke the rules of the conversation: its customer goes back, and it is ended.
  mutating func breakOff(
    _ service: Int, _ place: Int, _ reason: String, at now: Moment, into effects: inout [QueueEffect]
  ) {
    takeBackStarts(deaf: windows[service][place].window, into: &effects)
    let windowState = windows[service][place]
    let isOutside = windowState.window.isOutside
    let places = isOutside ? outsideWorkers[windowState.generation]?.places ?? [] : [windowState.window]
    let alone = isOutside ? aloneInHand(of: windowState.generation) : nil
    for window in places {
      guard let (service, place) = locate(window) else { continue }
      takeFrom(service, place, .killed, nil, alone: alone, at: now, into: &effects)
      leaveIdle(service, place)
      doom(service, place)
    }
    effects.append(.endRogueTeller(windowState.window, windowState.generation, reason: reason))
  }
}
