// Operator commands: cancel customers, requeue dead letters, pause, open and close windows, reset the queue.
// Invariant: each numbered request gets one reply. If it has staged changes, the reply follows when these are on disk,
// or at once if a branch loses its lease.

import BankModel
import Time

extension QueueMachine {
  /// Number of dead letters that are loaded and requeued at once.
  static let deadPage = 512

  /// Cancels a customer. If it is not in memory, asks the store about the ticket first.
  mutating func cancel(
    _ ticket: TicketNumber, for request: RequestNumber, at now: Moment, into effects: inout [QueueEffect]
  ) {
    guard admitsChanges(request, into: &effects) else { return }
    revertStarts(into: &effects)
    if cancelServing(ticket, for: request, at: now, into: &effects) { return }
    if let customer = delayed.remove(ticket) {
      dayCounters.delay(-1, of: customer.service)
      finishCancelled(customer, from: .delayed, for: request, at: now, into: &effects)
      return
    }
    for line in lines.indices {
      if let customer = lines[line].remove(ticket) {
        dayCounters.waiting[line] -= 1
        finishCancelled(customer, from: .waiting, for: request, at: now, into: &effects)
        return
      }
    }
    guard !policy.isShared else { return effects.append(.forward(request, .cancel(ticket))) }
    cancellations.insert(request)
    effects.append(.lookUp(request, ticket))
  }

  /// Cancels a customer that a teller holds; false if no teller holds it. The receipt is staged before the teller
  /// returns the customer, so any later answer of the teller has no effect.
  private mutating func cancelServing(
    _ ticket: TicketNumber, for request: RequestNumber, at now: Moment, into effects: inout [QueueEffect]
  ) -> Bool {
    for service in windows.indices {
      for place in windows[service].indices where windows[service][place].holds(ticket) {
        let windowState = windows[service][place]
        if let index = windowState.prefetched.firstIndex(where: { $0.customer.ticket == ticket }) {
          let next = windows[service][place].prefetched.remove(at: index)
          servingCount -= 1
          windows[service][place].startedAt = next.at
          let lease = recallCancelled(next.customer, service, place, at: now, into: &effects)
          windows[service][place].startedAt = windowState.startedAt
          windows[service][place].recalled.append(lease)
        } else if let customer = release(service, place) {
          let lease = recallCancelled(customer, service, place, at: now, into: &effects)
          windows[service][place].recalled.append(lease)
          continueServing(service, place, now, into: &effects)
        }
        replyWhenCommitted(request, .done, into: &effects)
        return true
      }
    }
    return false
  }

  /// Requests a dead letter from the store.
  mutating func requeue(
    _ ticket: TicketNumber, for request: RequestNumber, into effects: inout [QueueEffect]
  ) {
    guard admitsChanges(request, into: &effects) else { return }
    effects.append(policy.isShared ? .forward(request, .requeue(ticket)) : .lookUp(request, ticket))
  }

  /// Handles the store's answer about a ticket that a request wants to cancel or requeue.
  mutating func resolve(
    _ request: RequestNumber, _ ticket: TicketNumber, _ stored: StoredCustomer?, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let isCancellation = cancellations.remove(request) != nil
    // Numbers above `issued` belong to a request that has arrived in part, or to no customer.
    let isNewcomer =
      ticket > dayCounters.issued
      || pendingEnqueues.contains { $0.first <= ticket && ticket < $0.first + $0.count }
    guard let stored, !isNewcomer else {
      // An issued ticket of this day that is not stored as a customer has a receipt.
      let isDone = !isNewcomer && ticket >= 1 && ticket <= dayCounters.issued
      effects.append(.reply(request, .refused(isDone ? .wrongState(ticket, .done) : .noSuchTicket(ticket))))
      return
    }
    let line = index(of: stored.customer.line)
    switch (stored.state, isCancellation) {
    case (.dead, true):
      dayCounters.dead -= 1
      finishCancelled(stored.customer, from: .dead, for: request, at: now, into: &effects)
    case (.dead, false):
      restoreToLine(stored.customer, from: .dead, into: &effects)
      replyWhenCommitted(request, .requeued(1), into: &effects)
    case (.delayed, true) where stored.dueAt != nil:
      cancelDelayed(stored, for: request, at: now, into: &effects)
    case (.waiting, true) where !isServed(ticket) && ticket <= lines[line].cursor:
      // After the queue had sent the query, the customer was loaded into memory or returned to it.
      guard let customer = lines[line].remove(ticket) else {
        effects.append(.reply(request, .refused(.wrongState(ticket, .waiting))))
        return
      }
      dayCounters.waiting[customer.line] -= 1
      finishCancelled(customer, from: .waiting, for: request, at: now, into: &effects)
    case (.waiting, true) where ticket > lines[line].cursor && !isServed(ticket):
      guard !lines[line].isLoading else {
        // A page that is being loaded may contain this customer, so the queue sends the query again.
        cancellations.insert(request)
        effects.append(.lookUp(request, ticket))
        return
      }
      lines[line].removeBeyond()
      dayCounters.waiting[line] -= 1
      finishCancelled(stored.customer, from: .waiting, for: request, at: now, into: &effects)
    case (let state, _):
      effects.append(.reply(request, .refused(.wrongState(ticket, isServed(ticket) ? .serving : state))))
    }
  }

  /// Cancels a delayed customer that was not in memory when the queue sent the query.
  private mutating func cancelDelayed(
    _ stored: StoredCustomer, for request: RequestNumber, at now: Moment, into effects: inout [QueueEffect]
  ) {
    let ticket = stored.customer.ticket
    guard let dueAt = stored.dueAt,
      delayed.remove(ticket) != nil
        || delayed.removeBeyond(DelayedCustomer(customer: stored.customer, dueAt: dueAt))
    else { return effects.append(.reply(request, .refused(.wrongState(ticket, .waiting)))) }
    dayCounters.delay(-1, of: stored.customer.service)
    finishCancelled(stored.customer, from: .delayed, for: request, at: now, into: &effects)
  }

  /// True if a worker holds the customer with this ticket.
  private func isServed(_ ticket: TicketNumber) -> Bool {
    windows.contains { $0.contains { $0.holds(ticket) } }
  }

  /// Stages the cancelled receipt of a customer that no teller holds, and the reply to the request.
  private mutating func finishCancelled(
    _ customer: Customer, from state: CustomerState, for request: RequestNumber, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    dayCounters.cancelled += 1
    let receipt = receipt(of: customer, .cancelled, at: nil, nil, now)
    stage(.finish(customer, from: state, receipt), into: &effects)
    replyWhenCommitted(request, .done, into: &effects)
  }

  /// Returns a delayed customer or a dead letter to its line, at the position of its number.
  mutating func restoreToLine(
    _ customer: Customer, from state: CustomerState, into effects: inout [QueueEffect]
  ) {
    var customer = customer
    if state == .dead {
      dayCounters.dead -= 1
      customer.crashes = 0
      customer.failures = 0
      (customer.startedAttempts, customer.isAttemptRunning) = (0, false)
    } else {
      dayCounters.delay(-1, of: customer.service)
    }
    let line = index(of: customer.line)
    dayCounters.waiting[line] += 1
    stage(.revive(customer, from: state), into: &effects)
    lines[line].returnToLine(customer)
  }

  /// Number of dead letters that a request has requeued so far; nil if the request does not exist, or if it has
  /// requeued its last dead letter.
  public func requeuedCount(by request: RequestNumber) -> Int64? { requeuedCounts[request] }

  mutating func makeWaiting(
    _ letters: [Customer], for request: RequestNumber, into effects: inout [QueueEffect]
  ) {
    guard let before = requeuedCounts.removeValue(forKey: request) else { return }
    for customer in letters { restoreToLine(customer, from: .dead, into: &effects) }
    let revived = before + Int64(letters.count)
    if letters.count < Self.deadPage || isDiskFull {
      replyWhenCommitted(request, .requeued(revived), into: &effects)
    } else {
      requeuedCounts[request] = revived
      effects.append(.loadDead(request, limit: Self.deadPage))
    }
  }

  /// Pauses or resumes a service, or all services if `service` is nil.
  mutating func setPaused(
    _ isPaused: Bool, _ service: Service?, for request: RequestNumber, into effects: inout [QueueEffect]
  ) {
    guard admitsChanges(request, into: &effects) else { return }
    if isPaused { revertStarts(into: &effects) }
    if let service {
      know(service)
      dayCounters.paused[service.index] = isPaused
    } else {
      for index in dayCounters.paused.indices { dayCounters.paused[index] = isPaused }
    }
    pausing.append(request)
    replyWhenCommitted(request, .done, into: &effects)
  }

  /// Sets the number of windows of a service. Surplus windows, which have the highest places, close when their tellers
  /// are idle.
  mutating func scale(_ service: Service, to count: Int32, into effects: inout [QueueEffect]) {
    precondition(count >= 0 && Int64(count) <= Limits.windowsPerService, "checked where it was read")
    know(service)
    let index = service.index
    for place in windows[index].indices.dropLast(outsideCounts[index]) {
      let isWanted = place < Int(count)
      if isWanted, windows[index][place].isClosing {
        windows[index][place].isClosing = false
        effects.append(.openWindow(windows[index][place].window))
      } else if !isWanted, !windows[index][place].isClosing {
        windows[index][place].isClosing = true
        effects.append(.closeWindow(windows[index][place].window))
        if windows[index][place].state == .idle {
          leaveIdle(index, place)
          free(index, place, into: &effects)
        } else {
          announceClosing(index, place, into: &effects)
        }
      }
    }
    for place
      in (windows[index].count - outsideCounts[index])..<max(
        windows[index].count - outsideCounts[index], Int(count))
    {
      let window = Window(service: service, place: Int32(place) + 1)
      windows[index].insert(WindowState(window: window), at: place)
      effects.append(.openWindow(window))
    }
  }

  /// Replaces the teller at a window: dismisses the teller when it is idle.
  mutating func replace(_ window: Window, into effects: inout [QueueEffect]) {
    guard let (service, place) = locate(window), !windows[service][place].isReplaced else { return }
    switch windows[service][place].state {
    case .vacant, .terminating: return
    case .serving, .recalling:
      windows[service][place].isReplaced = true
      announceClosing(service, place, into: &effects)
    case .idle:
      windows[service][place].isReplaced = true
      leaveIdle(service, place)
      free(service, place, into: &effects)
    }
  }

  /// Removes the last windows of a service as long as they are closing and have no teller.
  mutating func removeClosedWindows(_ service: Int) {
    while let last = windows[service].dropLast(outsideCounts[service]).last, last.isClosing,
      last.state == .vacant
    {
      windows[service].remove(at: windows[service].count - outsideCounts[service] - 1)
    }
  }

  /// Empties the queue: the customers get cancelled receipts, and numbers restart at 1 on the next day.
  mutating func reset(for request: RequestNumber, at now: Moment, into effects: inout [QueueEffect]) {
    guard admitsChanges(request, into: &effects) else { return }
    // In a shared bank, a reset would also cancel the customers of other branches.
    guard !policy.isShared else {
      return effects.append(.reply(request, .refused(.unsupportedWithSharedStore)))
    }
    guard !isLowOnSpace else {
      // Receipts for all customers at once need more space than is reserved.
      effects.append(.reply(request, .refused(.diskFull)))
      return
    }
    guard !hasUncommittedTickets, !isTakingIn else {
      // Tickets that may still be refused cannot be cancelled.
      deferredRequests.append(.reset(request))
      return
    }
    revertStarts(into: &effects)
    let cancelledBefore = dayCounters.cancelled
    for service in windows.indices {
      for place in windows[service].indices {
        guard let customer = release(service, place) else { continue }
        // The window's further customers are cancelled with the waiting customers.
        let prefetched = releasePrefetched(service, place).map {
          windows[service][place].lease(of: $0.customer)
        }
        // The customers are recalled in reverse order, so that the teller does not start a customer that is about to
        // be recalled.
        for lease in prefetched.reversed() { effects.append(.recall(windows[service][place].window, lease)) }
        recallForReset(customer, prefetched, service, place, at: now, into: &effects)
      }
    }
    dayCounters.cancelled += dayCounters.waitingInAll + dayCounters.delayed + dayCounters.dead
    resetCounts[request] = dayCounters.cancelled - cancelledBefore
    lines = []
    delayed.clear()
    for service in windows.indices {
      dayCounters.delay(-dayCounters.delayedByService[service], of: Service(index: service))
    }
    dayCounters.dead = 0
    // Sorted, because the order of a dictionary differs in every process.
    for (request, revived) in requeuedCounts.sorted(by: { $0.key < $1.key }) {
      replyWhenCommitted(request, .requeued(revived), into: &effects)
    }
    requeuedCounts.removeAll()
    stage(.cancelAllCustomers(day: dayCounters.day, at: now.wall), into: &effects)
    dayCounters = dayCounters.next(openedAt: now.wall)
    replyWhenCommitted(request, .done, into: &effects)
  }

  /// Returns and forgets the number of customers that a reset has cancelled; nil after the first call, and for any
  /// other request.
  public mutating func takeCancelledCount(by request: RequestNumber) -> Int64? {
    resetCounts.removeValue(forKey: request)
  }

  /// Cancels the current customer of a window. The window, unless it is a slot of an outside worker, then waits for the
  /// return of all its customers.
  private mutating func recallForReset(
    _ customer: Customer, _ prefetched: [Lease], _ service: Int, _ place: Int, at now: Moment,
    into effects: inout [QueueEffect]
  ) {
    let lease = recallCancelled(customer, service, place, at: now, into: &effects)
    guard !windows[service][place].window.isOutside else {
      windows[service][place].recalled += [lease] + prefetched
      return free(service, place, into: &effects)
    }
    // Numbers restart at 1, so the teller gets a new customer only after it has also returned the customers that were
    // recalled earlier.
    windows[service][place].state = .recalling([lease] + prefetched + windows[service][place].recalled)
    windows[service][place].recalled = []
    windows[service][place].deadline = now.listeningTime + recallTimeout(service)
  }

  /// Time that a teller has to return a recalled customer.
  func recallTimeout(_ service: Int) -> TimeSpan { policy[service].recall ?? policy[service].lease }

  /// Stages the cancelled receipt of a customer that a teller holds, and asks the teller to return the customer.
  private mutating func recallCancelled(
    _ customer: Customer, _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) -> Lease {
    let windowState = windows[service][place]
    let lease = windowState.lease(of: customer)
    record(lease, at: windowState, .recalled, at: now, into: &effects)
    dayCounters.waiting[customer.line] -= 1
    dayCounters.cancelled += 1
    stage(
      .finish(
        customer, from: .waiting,
        receipt(of: customer, .cancelled, at: windowState.servingAttempt, lease, now)),
      into: &effects)
    effects.append(.recall(windowState.window, lease))
    return lease
  }
}
