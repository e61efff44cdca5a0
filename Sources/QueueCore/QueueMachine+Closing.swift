// Shutdown of the queue: the assigned customers are finished or returned, the end of the drain is reported once, and
// the day is closed. The adoption of changed settings is here too.

import BankModel
import Time

extension QueueMachine {
  /// Ends the assignment of customers, because the bank or the branch stops. Workers finish the customers that they
  /// hold.
  mutating func finish(into effects: inout [QueueEffect]) {
    stage = .finishing
    revertStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices { announceClosing(service, place, into: &effects) }
    }
  }

  /// Returns all assigned customers to their lines. Counts no crash, so that a bank that is often stopped with `--now`
  /// makes no dead letters in this way. If a service counts attempts, a customer without attempts left becomes a dead
  /// letter.
  mutating func vacate(at now: Moment, into effects: inout [QueueEffect]) {
    stage = .finishing
    revertStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices {
        guard let customer = release(service, place) else { continue }
        windows[service][place].state = .terminating
        requeueAtHead(customer, service, place, at: now, into: &effects)
        returnPrefetched(service, place, at: now, into: &effects)
      }
    }
  }

  /// True if a customer waits, is delayed or is arriving and may still be served.
  public var hasWaitingToServe: Bool { canServeDelayed || hasWaitingBesidesDelayed }

  /// True if a customer waits or is arriving and may still be served.
  public var hasWaitingBesidesDelayed: Bool {
    if !pendingEnqueues.isEmpty || isTakingIn || hasServableCustomers { return true }
    return lines.indices.contains { lines[$0].count > 0 && isServable(dayCounters.waiting.lines[$0].service) }
  }

  /// Closes the day if every ticket has its receipt, and resets the counters for the next day.
  mutating func endDay(at now: Moment) {
    // In a shared bank, the database decides when the day ends.
    guard !policy.isShared else { return }
    guard dayCounters.isFinished, pendingEnqueues.isEmpty, !isTakingIn else { return }
    dayCounters = dayCounters.next(openedAt: now.wall)
    lines = []
  }

  /// Reports once that a drain has ended. Before `finish` or `vacate`, the drain continues while a remaining customer
  /// can be served.
  mutating func reportIfDrained(into effects: inout [QueueEffect]) {
    guard stage != .open, !hasReportedDrained, servingCount == 0, pendingEnqueues.isEmpty, !isTakingIn else {
      return
    }
    if stage == .draining, hasWaitingToServe { return }
    hasReportedDrained = true
    effects.append(.reportDrained)
  }

  /// True if a delayed customer may still be served. Those that are only in the store count as servable if any service
  /// can be served, because their services are not known here.
  private var canServeDelayed: Bool {
    delayed.containsCustomer { isServable($0) }
      || delayed.unloaded > 0 && windows.indices.contains { isServable(Service(index: $0)) }
  }

  /// True if the service is not paused and has a window, or slot of an outside worker, that is not closing.
  func isServable(_ service: Service) -> Bool {
    let index = service.index
    return index < windows.count && !dayCounters.paused[index] && windows[index].contains { !$0.isClosing }
  }

  /// Adopts settings that an operator has changed; some keep their values until a restart. Running leases keep their
  /// deadlines.
  public mutating func adopt(_ policy: QueuePolicy) {
    var policy = policy
    policy.lineCapacity = self.policy.lineCapacity
    policy.lineLowWater = self.policy.lineLowWater
    policy.maxLines = self.policy.maxLines
    policy.delayedCapacity = self.policy.delayedCapacity
    policy.delayedLowWater = self.policy.delayedLowWater
    policy.maxUnderway = self.policy.maxUnderway
    (policy.isShared, policy.page) = (self.policy.isShared, self.policy.page)
    self.policy = policy
  }
}
