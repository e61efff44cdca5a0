// Checks of the core's changes and answers.
// A change must be a valid transition from its customer's state in the checker's own tables.
import BankModel
import QueueCore
import Time

extension InvariantChecker {
  /// Checks a staged change against the model, and applies it to the model.
  func follow(_ change: StoreChange, at now: Moment) {
    switch change {
    case .insert(let customer): addCustomer(customer, as: .waiting)
    case .insertDelayed(let customer, let dueAt):
      addCustomer(customer, as: .delayed)
      view.due[customer.ticket] = dueAt
    case .record(let attempt): record(attempt, at: now)
    case .finish(let customer, let state, let receipt): finish(customer, from: state, receipt)
    case .update(let customer):
      if trackStart(customer) { break }
      placeCustomer(customer, .waiting)
      if mustBeDeadLettered(customer) {
        violate(.deadLetter, "ticket \(customer.ticket) \(spent(customer)) and waits again")
      }
    case .postpone(let customer, _):
      if delaysSuspect(customer) { break }
      placeCustomer(customer, .delayed)
      if mustBeDeadLettered(customer) {
        violate(.deadLetter, "ticket \(customer.ticket) \(spent(customer)) and is deferred")
      }
    case .bury(let customer):
      placeCustomer(customer, .dead)
      if !mustBeDeadLettered(customer) {
        violate(.deadLetter, "ticket \(customer.ticket) \(spent(customer)) and is already a dead letter")
      }
    case .revive(let customer, let state):
      if view.states[customer.ticket] != state {
        violate(.attempt, "ticket \(customer.ticket) is requeued but was not \(state.name)")
      }
      if state == .delayed { becomeReady(customer, at: now) }
      if state == .dead, customer.crashes != 0 || customer.failures != 0 {
        violate(.deadLetter, "ticket \(customer.ticket) is requeued with its old failures")
      }
      if state == .dead { attemptsReset(customer) }
      view.customers[customer.ticket] = customer
      view.states[customer.ticket] = .waiting
      view.addToLine(customer)
    case .cancelAllCustomers(let day, _):
      coordinatorCrashes.forgetCertain()
      view.begin(day: day + 1)
      for place in sealedTransactions.indices { sealedTransactions[place].issued = 0 }
    case .remember, .released, .attach: break
    }
  }

  /// Adds a new customer, whose ticket must not have been issued before.
  private func addCustomer(_ customer: Customer, as state: CustomerState) {
    if customer.ticket <= view.lastTicket || view.customers[customer.ticket] != nil {
      violate(.duplicate, "ticket \(customer.ticket) was issued twice; the last ticket is \(view.lastTicket)")
    }
    view.customers[customer.ticket] = customer
    view.states[customer.ticket] = state
    view.newcomers.append(customer.ticket)
    step.inserted += 1
  }

  /// Checks a customer that becomes due. A customer ordered for later is due by the calendar, and a failed one after a
  /// delay of the monotonic clock, which is not checked.
  private func becomeReady(_ customer: Customer, at now: Moment) {
    let ticket = customer.ticket
    if view.newcomers.contains(ticket) {
      violate(.notDurable, "ticket \(ticket) becomes due before that is on disk")
    }
    guard let dueAt = view.due.removeValue(forKey: ticket), now.wall < dueAt else { return }
    violate(
      .early,
      "ticket \(ticket) becomes due \(dueAt.milliseconds - now.wall.milliseconds) ms too early by the calendar"
    )
  }

  /// True if the customer must become a dead letter in this step.
  private func mustBeDeadLettered(_ customer: Customer) -> Bool {
    step.verdict.isDead[customer.ticket] ?? hasUsedAllAttempts(customer)
  }

  /// True if the customer has reached the limit of crashes or of failures.
  private func hasUsedAllAttempts(_ customer: Customer) -> Bool {
    customer.crashes >= policy.maxCrashes || customer.failures >= policy.maxFailures
  }

  /// Text with the crashes and failures of a customer, and their limits.
  private func spent(_ customer: Customer) -> String {
    "has \(customer.crashes) of \(policy.maxCrashes) crashes and \(customer.failures) of "
      + "\(policy.maxFailures) failures,"
  }

  /// Checks that an attempt may end as recorded, and removes its customer from its window. The end, unless it is a
  /// loss, must follow from this step's event, from an expired lease or timeout, or from a recall. The customer stays
  /// in `step.unplaced` until it gets a new state or a receipt.
  private func record(_ attempt: Attempt, at now: Moment) {
    if attempt.end == .lost { return recordLost(attempt) }
    var holder: Holder?
    // A recall by a reset or a cancellation ends in a receipt that includes this attempt, so the attempt is not counted
    // here.
    var countsAsAttempt = attempt.end != .recalled
    if let place = step.expectedAttempts.firstIndex(where: { $0.holder.lease.ticket == attempt.ticket }) {
      let expectedAttempts = step.expectedAttempts.remove(at: place)
      holder = expectedAttempts.holder
      countsAsAttempt = true
      if expectedAttempts.end != attempt.end {
        violate(
          .attempt,
          "ticket \(attempt.ticket): the attempt ended as \(expectedAttempts.end.name), not as \(attempt.end.name)"
        )
      }
    } else if let place = holders.firstIndex(where: { $0.lease.ticket == attempt.ticket }),
      externalWorkers[holders[place].window] != nil, endsExternalLease(attempt, holders[place], at: now)
    {
      countsAsAttempt = true
      holder = holders.remove(at: place)
    } else if let place = holders.firstIndex(where: { $0.lease.ticket == attempt.ticket }) {
      switch attempt.end {
      case .leaseExpired where leaseEnd(of: holders[place]) <= now.listeningTime:
        step.stuck.append(holders[place].window)
      case .leaseExpired where hasExceededTimeout(holders[place], at: now):
        checkExpiry(at: holders[place].window, holders[place].lease.generation)
        step.stuck.append(holders[place].window)
      case .recalled:
        // A reset recalls all customers that the teller holds; a cancellation recalls one.
        for holder in holders
        where holder.window == holders[place].window
          && (step.cancelling == nil || holder.lease.ticket == attempt.ticket)
        {
          guard
            !(recalled + cancelled).contains(where: { $0.window == holder.window && $0.lease == holder.lease }
            )
          else {
            continue
          }
          step.toRecall.append((holder.window, holder.lease))
        }
      default:
        violate(.attempt, "ticket \(attempt.ticket): the attempt ended as \(attempt.end.name) for no reason")
      }
      let isInTurn = holders[..<place].allSatisfy { $0.window != holders[place].window }
      let first = holders.remove(at: place)
      holder = first
      if attempt.end == .recalled, step.cancelling == attempt.ticket {
        if isInTurn, externalWorkers[first.window] == nil,
          let next = holders.firstIndex(where: { $0.window == first.window })
        {
          holders[next].progressAt = now.listeningTime
        }
      } else if attempt.end == .recalled {
        // Assigned customers that were not started are cancelled by a reset in the same way as waiting ones.
        for other in holders where other.window == first.window {
          view.states[other.customer.ticket] = .waiting
          view.addToLine(other.customer)
        }
        holders.removeAll { $0.window == first.window }
      } else {
        returnPrefetched(first.window)
      }
    }
    guard let holder, attempt.number == holder.lease.attempt, attempt.window == holder.window,
      attempt.generation == holder.lease.generation
    else { return violate(.attempt, "ticket \(attempt.ticket): a recorded attempt did not take place") }
    var customer = holder.customer
    if countsAsAttempt { customer.attempts += 1 }
    if customer.isAttemptRunning {
      customer.isAttemptRunning = false
      if step.notStarted.contains(customer.ticket) { customer.startedAttempts -= 1 }
    }
    switch attempt.end {
    case .failed: customer.failures += 1
    case .recalled, .deferred: break
    default: customer.crashes += 1
    }
    if step.verdict.hopeless.contains(customer.ticket), customer.service.isForCommands {
      step.verdict.isDead[customer.ticket] = true
    }
    if externalWorkers[holder.window] != nil || customer.service.isForForeigners {
      verify(customer, attempt.end, at: holder.window)
    }
    view.customers[customer.ticket] = customer
    step.unplaced.append(customer.ticket)
  }

  /// Checks that a customer has left a window with the right counts, and gives it a new state.
  private func placeCustomer(_ customer: Customer, _ state: CustomerState) {
    guard let place = step.unplaced.firstIndex(of: customer.ticket) else {
      return violate(.attempt, "ticket \(customer.ticket) becomes \(state.name) without having left a window")
    }
    step.unplaced.remove(at: place)
    verifyCrash(of: customer)
    if view.customers[customer.ticket] != customer {
      violate(
        .attempt, "ticket \(customer.ticket) returns with wrong counts: \(customer)")
    }
    view.states[customer.ticket] = state
    if state == .waiting { view.addToLine(customer) }
  }

  /// Checks that a receipt has a cause, and removes its customer from the model.
  private func finish(_ customer: Customer, from state: CustomerState, _ receipt: Receipt) {
    let ticket = customer.ticket
    if receipt.outcome.isFinishedByWorker {
      guard let holder = step.done, holder.lease.ticket == ticket, receipt.ticket == ticket else {
        return violate(.attempt, "ticket \(ticket) gets a receipt, but no teller has done its work")
      }
      step.done = nil
      if receipt.window != holder.window || receipt.generation != holder.lease.generation
        || receipt.attempts != holder.lease.attempt
      {
        violate(.attempt, "ticket \(ticket): the receipt names a teller that did not do the work")
      }
      checkExternalResult(receipt)
      checkCommand(receipt)
    } else if let place = step.unplaced.firstIndex(of: ticket) {
      step.unplaced.remove(at: place)
    } else {
      guard view.states[ticket] == state, state != .waiting || view.leaveLine(customer) else {
        return violate(.attempt, "ticket \(ticket) is cancelled but was not \(state.name)")
      }
    }
    view.customers[ticket] = nil
    view.states[ticket] = nil
    coordinatorCrashes.forget(TicketID(day: view.day, ticket: ticket))
  }

  /// Checks that a request is answered once, and that what the answer reports is on disk.
  func reply(_ request: RequestNumber, _ answer: QueueAnswer) {
    guard let question = close(request) else {
      return violate(.answer, "request \(request) was answered twice or was never sent")
    }
    switch (answer, question) {
    case (.enqueued(let tickets), _): ticketsAnnounced(tickets)
    case (.done, .cancel(let name)):
      if outcomes[name] != .cancelled {
        violate(.notDurable, "ticket \(name.ticket) is reported as cancelled but is not")
      }
    case (.done, .reset(let day)):
      if diskCounters?.day ?? 0 <= day {
        violate(.notDurable, "day \(day) is reported as ended, but that is not on disk")
      }
    default: break
    }
  }

  /// Marks a request as answered; any further answer is a violation. Returns nil if the request is not open.
  @discardableResult
  func close(_ request: RequestNumber) -> RequestKind? {
    closed.insert(request)
    return open.removeValue(forKey: request)
  }

  /// Checks that tickets are on disk, because a client is notified of them.
  func ticketsAnnounced(_ tickets: IssuedTickets) {
    guard tickets.first <= tickets.last else { return }
    for ticket in tickets.first...tickets.last {
      let name = TicketID(day: tickets.day, ticket: ticket)
      if onDisk[name] == nil {
        return violate(.notDurable, "ticket \(ticket) was announced but is not on disk")
      }
      announcedTickets.append(name)
    }
  }
}
