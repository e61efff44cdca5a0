// Owns how an attempt begins in a service that counts them (`max_attempts`): that it begins is on disk before anybody is told.
// It must not know a disk: a commit is an event.
//
// A customer who is handed out there leaves the line and stands at a window at once, so that nobody else comes there; that an
// attempt is under way is staged, and with the commit the teller is told. So whoever is at work is marked in the store, and
// a start finds the mark: that attempt was begun by a coordinator that is gone, and counts. Whoever is spent so is put aside
// before anybody behind is handed out.
//
// Whatever takes somebody out of the line, or off a window, happens to those who wait or who are at work. So before it everybody
// who is between the two is taken back to the line, as if nobody had been handed out, and is handed out again with
// the same event where that may be. While the disk is full nobody of such a service is handed out.
//
// Invariants: whom a teller was told of is marked in the store; whoever stands in line and is marked was at a window of another
// coordinator; of whoever is in `starts` no lease runs, and no teller has heard.

import BankModel
import Time

extension QueueMachine {
  /// A customer who was handed out, and nobody was told.
  struct Start: Sendable {
    let window: Window
    let lease: Lease
  }

  /// Whether somebody of a service was handed out and nobody was told.
  func hasStarts(of service: Service) -> Bool {
    !starts.isEmpty && starts.contains { $0.window.service == service }
  }

  /// Whether nobody was told of a lease, so that nobody can speak of it.
  public func isYetToBegin(_ lease: Lease, at window: Window) -> Bool {
    !starts.isEmpty && starts.contains { $0.window == window && $0.lease == lease }
  }

  /// A customer comes to a window, where the teller is told when it is on disk that an attempt begins.
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

  /// That the first of them begin is on disk: they begin.
  mutating func beginStarts(_ count: Int, at now: Moment, into effects: inout [QueueEffect]) {
    // A branch whose lease has run out meanwhile hands out nobody.
    guard mayServe(at: now) else { return takeBackStarts(into: &effects) }
    for start in starts.prefix(count) {
      guard let (service, place) = locate(start.window), let customer = note(start, service, place, at: now)
      else { preconditionFailure("whoever is handed out stands at its window until somebody was told") }
      effects.append(.assign(start.window, start.lease, customer))
      effects.append(.announce(.started, start.window, start.lease, customer))
    }
    starts.removeFirst(count)
  }

  /// The lease begins now.
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

  /// Takes everybody back to the line of whom nobody was told: the attempt has not begun, and is none.
  ///
  /// - Parameter deaf: a window where nobody comes any more.
  mutating func takeBackStarts(deaf: Window? = nil, into effects: inout [QueueEffect]) {
    guard !starts.isEmpty else { return }
    let taken = starts
    starts.removeAll()
    for place in underway.indices { underway[place].counts.starts = 0 }
    for start in taken {
      guard let (service, place) = locate(start.window),
        var customer = leave(start, service, place, deaf, &effects)
      else { preconditionFailure("whoever is handed out stands at its window until somebody was told") }
      (customer.begun, customer.isBegun) = (customer.begun - 1, false)
      stage(.update(customer), into: &effects)
      takeBack(customer)
    }
  }

  /// The customer leaves the window, where the others go on.
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

  /// Puts aside whoever stands first in line and has no attempt left, until somebody stands there who has, or a page has to
  /// come first.
  mutating func putAsideTheSpent(_ service: Service, into effects: inout [QueueEffect]) {
    let rules = policy[service.index]
    while let first = firstInMemory(of: service), first.hasSpent(rules) {
      guard let place = books.waiting.known(first.line), let customer = lines[place].dequeue() else { return }
      _ = reconsider(customer, into: &effects)
    }
  }
}

extension Customer {
  /// The attempt that was under way has ended without a receipt.
  ///
  /// - Parameter hasBegun: Whether it may have begun, and so counts.
  mutating func endAttempt(hasBegun: Bool = true) {
    guard isBegun else { return }
    isBegun = false
    if !hasBegun { begun -= 1 }
  }

  /// Whether no attempt is left of those that may begin.
  func hasSpent(_ rules: ServicePolicy) -> Bool {
    guard let most = rules.maxAttempts else { return false }
    return begun >= most
  }
}
