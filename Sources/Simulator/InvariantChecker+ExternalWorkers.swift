// Checks of external workers: which customers a worker holds and how many, which customer must be its only one, which
// are blamed when a worker is lost, and the result in a receipt.
// Invariant: an outside worker is identified by its generation at all its windows, and a worker that the bank started
// by its window.
import BankModel
import QueueCore
import Time

/// One window of an external worker, with the number of customers that the worker may hold.
struct ExternalWorkerSlot {
  let generation: Generation
  let capacity: Int
}

extension InvariantChecker {
  /// Facts for the decision which customers of commands and of external workers must become dead letters in the current
  /// step.
  struct Verdict {
    /// By window: the only customer that its worker held when the step started.
    var soleCustomers: [Window: TicketNumber] = [:]
    /// Customers that must become dead letters now (true), or must not (false).
    var isDead: [TicketNumber: Bool] = [:]
    /// Customers that a worker has reported as not worth another attempt.
    var hopeless: Set<TicketNumber> = []
  }

  /// Returns all windows of the worker that serves at this window.
  private func places(of window: Window) -> [Window] {
    guard window.isOutside, let place = externalWorkers[window] else { return [window] }
    return externalWorkers.filter { $0.key.isOutside && $0.value.generation == place.generation }.map(\.key)
      .sorted()
  }

  /// Records the customers that are alone with their worker. A recalled customer counts until it is returned.
  func recordSoleCustomers() {
    guard !externalWorkers.isEmpty else { return }
    for window in externalWorkers.keys {
      let windows = places(of: window)
      let held = holders.filter { windows.contains($0.window) }.map(\.lease.ticket)
      let others = (cancelled + recalled).filter { windows.contains($0.window) }.map(\.lease.ticket)
      if let ticket = held.first, Set(held + others).count == 1 {
        step.verdict.soleCustomers[window] = ticket
      }
    }
  }

  /// Records that a worker is ready at these windows, and how many customers it may hold.
  func workerCame(_ windows: [Window], _ generation: Generation, inFlight: Int) {
    for window in windows {
      generations[window] = generation
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
      externalWorkers[window] = ExternalWorkerSlot(generation: generation, capacity: inFlight)
    }
  }

  /// Follows a worker's answer for a lease, or its progress report if the answer is nil.
  func handleExternalAnswer(_ window: Window, _ lease: Lease, _ answer: TellerAnswer?, at now: Moment) {
    for list in [\InvariantChecker.cancelled, \.recalled] {
      guard let place = self[keyPath: list].firstIndex(where: { $0.window == window && $0.lease == lease })
      else {
        continue
      }
      if answer != nil { self[keyPath: list].remove(at: place) }
      return
    }
    guard let place = holders.firstIndex(where: { $0.window == window && $0.lease == lease }) else {
      // The worker does not hold this lease. It has violated the protocol, and loses all of its customers.
      step.violatingWindow = window
      for other in places(of: window) { takeAll(other) }
      return
    }
    guard let answer else { return holders[place].progressAt = now.listeningTime }
    let holder = holders.remove(at: place)
    switch answer {
    case .failed(let failure):
      if failure.isNotStarted { step.notStarted.insert(lease.ticket) }
      if failure.consequence == .never { step.verdict.hopeless.insert(lease.ticket) }
      step.expectedAttempts.append((holder, failure.consequence == .later ? .deferred : .failed))
    case .returned:
      step.notStarted.insert(lease.ticket)
      step.expectedAttempts.append((holder, .deferred))
    case .done, .worked, .outOfStock: step.done = holder
    }
  }

  /// Takes all customers from a window whose worker is lost or has violated the protocol.
  private func takeAll(_ window: Window) {
    for holder in holders where holder.window == window { step.expectedAttempts.append((holder, .killed)) }
    holders.removeAll { $0.window == window }
  }

  /// Records that a worker is lost at these windows. The core must record the attempts at its customers.
  func externalWorkerLost(_ generation: Generation, at windows: [Window]) {
    for window in windows where generations[window] == generation {
      recalled.removeAll { $0.window == window }
      cancelled.removeAll { $0.window == window }
      takeAll(window)
      generations[window] = nil
      externalWorkers[window] = nil
    }
  }

  /// Returns the windows of an outside worker.
  func outsideWindows(of generation: Generation) -> [Window] {
    externalWorkers.filter { $0.key.isOutside && $0.value.generation == generation }.map(\.key).sorted()
  }

  /// Returns the time when the lease runs out unless a further message renews it.
  func leaseEnd(of holder: Holder) -> MonotonicTime {
    holder.progressAt + policy[holder.window.service.index].lease
  }

  /// True if the lease has run out, or if the customer returns to its line because the worker is killed
  /// for an expired lease.
  func endsExternalLease(_ attempt: Attempt, _ holder: Holder, at now: Moment) -> Bool {
    switch attempt.end {
    case .leaseExpired where holder.progressAt + policy.lease <= now.listeningTime:
      step.toRecall.append((holder.window, holder.lease))
      if !holder.window.isOutside, !step.stuck.contains(holder.window) { step.stuck.append(holder.window) }
      return true
    case .recalled: return step.stuck.contains(holder.window)
    default: return false
    }
  }

  /// Decides whether a customer must become a dead letter after an attempt without a receipt: by the end of the
  /// attempt, and by whether other customers could be to blame.
  func verify(_ customer: Customer, _ end: AttemptEnd, at window: Window) {
    let isCrash = end == .killed || end == .leaseExpired
    let isToBlame = isCrash && step.verdict.soleCustomers[window] == customer.ticket
    step.verdict.isDead[customer.ticket] =
      step.verdict.hopeless.contains(customer.ticket)
      || isToBlame && customer.crashes >= policy.maxCrashes || customer.failures >= policy.maxFailures
      || hasNoAttemptLeft(customer)
  }

  /// Checks that an external worker may hold one more customer.
  func assignExternal(_ window: Window, _ lease: Lease, _ customer: Customer) {
    guard let place = externalWorkers[window] else {
      return violate(.lease, "\(window) got ticket \(customer.ticket), but no worker is connected")
    }
    let windows = places(of: window)
    let held = holders.filter { windows.contains($0.window) }
    let others = (cancelled + recalled).filter { windows.contains($0.window) }
    if held.count + others.count >= place.capacity {
      return violate(
        .doubleLease,
        "\(window) got ticket \(customer.ticket), takes \(place.capacity) and holds \(held.count), with "
          + "\(others.count) to return")
    }
    if others.contains(where: { $0.lease == lease }) {
      return violate(
        .doubleLease, "\(window) got \(lease), but has another customer to return under that lease")
    }
    if let other = held.first, customer.crashes > 0 || held.contains(where: { $0.customer.crashes > 0 }) {
      violate(
        .doubleLease,
        "\(window) got ticket \(customer.ticket) beside \(other.lease.ticket), but one was to be alone")
    }
  }

  /// Checks that a worker's result belongs to the attempt that the receipt names.
  func checkExternalResult(_ receipt: Receipt) {
    guard receipt.service.isForForeigners, receipt.outcome == .served, let result = receipt.result else {
      return
    }
    let lease = Lease(ticket: receipt.ticket, attempt: receipt.attempts, generation: receipt.generation)
    let wanted = ExternalWorkerResult(world.coordinator?.number ?? 0, day: view.day, lease)
    let found = String(decoding: result.output.bytes, as: UTF8.self)
    if found != wanted.text {
      violate(
        .staleMessage,
        "ticket \(receipt.ticket) gets a receipt for \(wanted.text) with the result of \(found)")
    }
  }

  /// Checks the result in a stored receipt, whose bytes may be missing if the disk was nearly full.
  func checkResult(of receipt: Receipt, _ name: TicketID) {
    guard receipt.service.isForForeigners else { return }
    let found = receipt.result.map { String(decoding: $0.output.bytes, as: UTF8.self) }
    let wanted = receipt.outcome == .served ? results[name] : nil
    if found != wanted, found != "" || wanted == nil {
      violate(
        .ledger,
        "the receipt of ticket \(name.ticket) has the result \(found ?? "none"), not \(wanted ?? "none")")
    }
  }
}
