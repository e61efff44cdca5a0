// Start of an attempt in a service that counts attempts (`max_attempts`): the start is on disk before the teller
// receives the customer.
//
// A customer of a service that counts attempts leaves its line and takes its place at the worker at once, so that no
// other customer gets this place. The start is staged, and the commit sends the assignment to the teller. So every
// customer of the service that a teller holds is marked in the store. If a coordinator finds a marked customer at its
// own start, an earlier coordinator may have started the attempt, so the attempt counts. A customer without attempts
// left becomes a dead letter before any customer after it is assigned.
//
// Some operations remove customers from a line or from a window. Before such an operation all staged starts are
// revoked, as if no customer had been assigned. At the end of the same event, the queue assigns the customers again
// if possible. While the disk is full, a service that counts attempts assigns no customers.
//
// Invariants: in a service that counts attempts, a customer that a teller received is marked in the store. A lease in
// `starts` is not running, and no teller has received it.

import BankModel
import Time

extension QueueMachine {
  /// An assignment that waits for the disk and was not sent to the teller.
  struct Start: Sendable {
    let window: Window
    let lease: Lease
  }

  /// True if an assignment of this service waits for the disk.
  func hasStarts(of service: Service) -> Bool {
    !starts.isEmpty && starts.contains { $0.window.service == service }
  }

  /// True if the lease was not sent to the teller yet, so that no valid message can mention it.
  public func isYetToBegin(_ lease: Lease, at window: Window) -> Bool {
    !starts.isEmpty && starts.contains { $0.window == window && $0.lease == lease }
  }

  /// Assigns a customer to a window; the teller receives it after the start is on disk.
  mutating func stageStart(
    of customer: Customer, _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    var customer = customer
    (customer.begun, customer.isBegun) = (customer.begun + 1, true)
    let lease = windows[service][place].lease(of: customer)
    servingCount += 1
    if windows[service][place].isServing {
      windows[service][place].ahead.append(WindowState.HandedOut(customer: customer, at: now))
    } else {
      windows[service][place].state = .serving(lease)
      windows[service][place].customer = customer
      windows[service][place].startedAt = now
      windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
    }
    starts.append(Start(window: windows[service][place].window, lease: lease))
    stage(.update(customer), into: &effects)
  }

  /// Sends the first `count` assignments, whose starts are on disk.
  mutating func beginStarts(_ count: Int, at now: Moment, into effects: inout [QueueEffect]) {
    // A branch whose lease has expired while the starts waited for the disk may not assign customers.
    guard mayServe(at: now) else { return takeBackStarts(into: &effects) }
    for start in starts.prefix(count) {
      guard let (service, place) = locate(start.window), let customer = note(start, service, place, at: now)
      else { preconditionFailure("an assigned customer stays at its window until its worker is notified") }
      effects.append(.assign(start.window, start.lease, customer))
      effects.append(.announce(.started, start.window, start.lease, customer))
    }
    starts.removeFirst(count)
  }

  /// Starts the lease now. Returns its customer, or nil if the customer is not at the window.
  private mutating func note(_ start: Start, _ service: Int, _ place: Int, at now: Moment) -> Customer? {
    let deadline = leaseEnd(service, startedAt: now, at: now)
    if windows[service][place].state == .serving(start.lease), let customer = windows[service][place].customer
    {
      (windows[service][place].startedAt, windows[service][place].deadline) = (now, deadline)
      return customer
    }
    guard
      let index = windows[service][place].ahead.firstIndex(where: { $0.customer.ticket == start.lease.ticket }
      )
    else { return nil }
    windows[service][place].ahead[index].at = now
    windows[service][place].ahead[index].deadline = deadline
    return windows[service][place].ahead[index].customer
  }

  /// Returns to their lines all customers whose assignments were not sent to a teller. Their attempts have not
  /// started and do not count.
  ///
  /// - Parameter deaf: window of a teller that can receive no more customers; nil for none.
  mutating func takeBackStarts(deaf: Window? = nil, into effects: inout [QueueEffect]) {
    guard !starts.isEmpty else { return }
    let taken = starts
    starts.removeAll()
    for place in underway.indices { underway[place].counts.starts = 0 }
    for start in taken {
      guard let (service, place) = locate(start.window),
        var customer = leave(start, service, place, deaf, &effects)
      else { preconditionFailure("an assigned customer stays at its window until its worker is notified") }
      (customer.begun, customer.isBegun) = (customer.begun - 1, false)
      stage(.update(customer), into: &effects)
      takeBack(customer)
    }
  }

  /// Removes the customer from the window, which continues with its other customers.
  private mutating func leave(
    _ start: Start, _ service: Int, _ place: Int, _ deaf: Window?, _ effects: inout [QueueEffect]
  ) -> Customer? {
    if let index = windows[service][place].ahead.firstIndex(where: {
      $0.customer.ticket == start.lease.ticket
    }) {
      servingCount -= 1
      return windows[service][place].ahead.remove(at: index).customer
    }
    guard windows[service][place].state == .serving(start.lease), let customer = release(service, place)
    else {
      return nil
    }
    if windows[service][place].ahead.isEmpty, start.window == deaf {
      windows[service][place].state = .doomed
    } else {
      goOn(service, place, lastMoment, into: &effects)
    }
    return customer
  }

  /// Makes dead letters of the first customers in line while they have no attempt left. Stops at a customer with an
  /// attempt left, or if a page must be loaded.
  mutating func putAsideTheSpent(_ service: Service, into effects: inout [QueueEffect]) {
    let rules = policy[service.index]
    while let first = firstInMemory(of: service), first.hasSpent(rules) {
      guard let place = books.waiting.known(first.line), let customer = lines[place].dequeue() else { return }
      _ = reconsider(customer, into: &effects)
    }
  }
}

extension Customer {
  /// Ends the running attempt without a receipt.
  ///
  /// - Parameter hasBegun: true if the attempt may have started, and therefore counts.
  mutating func endAttempt(hasBegun: Bool = true) {
    guard isBegun else { return }
    isBegun = false
    if !hasBegun { begun -= 1 }
  }

  /// True if the customer has started `maxAttempts` attempts.
  func hasSpent(_ rules: ServicePolicy) -> Bool {
    guard let most = rules.maxAttempts else { return false }
    return begun >= most
  }
}
