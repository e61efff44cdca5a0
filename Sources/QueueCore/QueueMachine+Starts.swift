// Start of an attempt in a service that counts attempts (`max_attempts`): the start is on disk before the teller
// receives the customer.
//
// A customer of a service that counts attempts leaves its line and takes its place at the worker before its start is on
// disk, so that no other customer gets this place. The start is staged, and the commit sends the assignment to the
// teller. If a customer in line is marked as started, an earlier coordinator may have started the attempt, so the
// attempt counts. A customer without attempts left becomes a dead letter before any customer after it is assigned.
//
// Some operations remove customers from a line or from a window. Before such an operation all staged starts are
// revoked, as if no customer had been assigned. The queue assigns the customers again later in the same event if
// possible. While the disk is full, a service that counts attempts assigns no customers.
//
// Invariants: in a service that counts attempts, a customer that a teller received is marked in the store. A lease in
// `pendingStarts` is not running, and no teller has received it.

import BankModel
import Time

extension QueueMachine {
  /// An assignment that waits for the disk and was not sent to the teller.
  struct PendingStart: Sendable {
    let window: Window
    let lease: Lease
  }

  /// True if an assignment of this service waits for the disk.
  func hasPendingStarts(of service: Service) -> Bool {
    !pendingStarts.isEmpty && pendingStarts.contains { $0.window.service == service }
  }

  /// True if the lease was not sent to the teller yet.
  public func hasNotStarted(_ lease: Lease, at window: Window) -> Bool {
    !pendingStarts.isEmpty && pendingStarts.contains { $0.window == window && $0.lease == lease }
  }

  /// Assigns a customer to a window; the teller receives it after the start is on disk.
  mutating func stageStart(
    of customer: Customer, _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    var customer = customer
    (customer.startedAttempts, customer.isAttemptRunning) = (customer.startedAttempts + 1, true)
    let lease = windows[service][place].lease(of: customer)
    servingCount += 1
    if windows[service][place].isServing {
      windows[service][place].prefetched.append(WindowState.PrefetchedCustomer(customer: customer, at: now))
    } else {
      windows[service][place].state = .serving(lease)
      windows[service][place].customer = customer
      windows[service][place].startedAt = now
      windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
    }
    pendingStarts.append(PendingStart(window: windows[service][place].window, lease: lease))
    stage(.update(customer), into: &effects)
  }

  /// Sends the first `count` assignments, whose starts are on disk.
  mutating func sendStarts(_ count: Int, at now: Moment, into effects: inout [QueueEffect]) {
    // A branch whose lease has expired while the starts waited for the disk may not assign customers.
    guard mayServe(at: now) else { return revertStarts(into: &effects) }
    for start in pendingStarts.prefix(count) {
      guard let (service, place) = locate(start.window), let customer = note(start, service, place, at: now)
      else { preconditionFailure("an assigned customer stays at its window until its worker is notified") }
      effects.append(.assign(start.window, start.lease, customer))
      effects.append(.announce(.started, start.window, start.lease, customer))
    }
    pendingStarts.removeFirst(count)
  }

  /// Starts the lease of an assignment whose start is on disk. Returns its customer, or nil if the customer is not at
  /// the window.
  private mutating func note(_ start: PendingStart, _ service: Int, _ place: Int, at now: Moment) -> Customer?
  {
    let deadline = leaseEnd(service, startedAt: now, at: now)
    if windows[service][place].state == .serving(start.lease), let customer = windows[service][place].customer
    {
      (windows[service][place].startedAt, windows[service][place].deadline) = (now, deadline)
      return customer
    }
    guard
      let index = windows[service][place].prefetched.firstIndex(where: {
        $0.customer.ticket == start.lease.ticket
      }
      )
    else { return nil }
    windows[service][place].prefetched[index].at = now
    windows[service][place].prefetched[index].deadline = deadline
    return windows[service][place].prefetched[index].customer
  }

  /// Returns to their lines all customers whose assignments were not sent to a teller. Their attempts have not started
  /// and do not count.
  ///
  /// - Parameter excluded: window of a teller that can receive no more customers; nil for none.
  mutating func revertStarts(excluded: Window? = nil, into effects: inout [QueueEffect]) {
    guard !pendingStarts.isEmpty else { return }
    let taken = pendingStarts
    pendingStarts.removeAll()
    for place in underway.indices { underway[place].counts.pendingStarts = 0 }
    for start in taken {
      guard let (service, place) = locate(start.window),
        var customer = leave(start, service, place, excluded, &effects)
      else { preconditionFailure("an assigned customer stays at its window until its worker is notified") }
      (customer.startedAttempts, customer.isAttemptRunning) = (customer.startedAttempts - 1, false)
      stage(.update(customer), into: &effects)
      returnToLine(customer)
    }
  }

  /// Removes and returns the customer of a start that was not sent. The window continues with its other customers;
  /// without any, the window `excluded` gets no further one.
  private mutating func leave(
    _ start: PendingStart, _ service: Int, _ place: Int, _ excluded: Window?, _ effects: inout [QueueEffect]
  ) -> Customer? {
    if let index = windows[service][place].prefetched.firstIndex(where: {
      $0.customer.ticket == start.lease.ticket
    }) {
      servingCount -= 1
      return windows[service][place].prefetched.remove(at: index).customer
    }
    guard windows[service][place].state == .serving(start.lease), let customer = release(service, place)
    else {
      return nil
    }
    if windows[service][place].prefetched.isEmpty, start.window == excluded {
      windows[service][place].state = .terminating
    } else {
      continueServing(service, place, lastMoment, into: &effects)
    }
    return customer
  }

  /// Makes dead letters of the first customers in line while they have no attempt left. Stops at a customer with an
  /// attempt left, or if a page must be loaded.
  mutating func deadLetterExhausted(_ service: Service, into effects: inout [QueueEffect]) {
    let rules = policy[service.index]
    while let first = firstInMemory(of: service), first.hasExhaustedAttempts(rules) {
      guard let place = dayCounters.waiting.known(first.line), let customer = lines[place].dequeue() else {
        return
      }
      _ = checkBeforeAssignment(customer, into: &effects)
    }
  }
}

extension Customer {
  /// Ends the running attempt without a receipt.
  ///
  /// - Parameter mayHaveStarted: true if the attempt may have started, and therefore counts.
  mutating func endAttempt(mayHaveStarted: Bool = true) {
    guard isAttemptRunning else { return }
    isAttemptRunning = false
    if !mayHaveStarted { startedAttempts -= 1 }
  }

  /// True if the customer has started `maxAttempts` attempts; false if the service has no such limit.
  func hasExhaustedAttempts(_ rules: ServicePolicy) -> Bool {
    guard let most = rules.maxAttempts else { return false }
    return startedAttempts >= most
  }
}
