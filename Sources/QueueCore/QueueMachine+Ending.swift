// Owns how the queue ends: nobody is handed out any more, those at windows are finished or taken back, and the day is closed.
// It knows no process: that a drain has come to its end is an effect, and is reported once.

import BankModel
import Time

extension QueueMachine {
  mutating func finish(into effects: inout [QueueEffect]) {
    stage = .finishing
    takeBackStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices { announceClosing(service, place, into: &effects) }
    }
  }

  /// Takes everyone at a window back to the head of the line. It is nobody's fault, so it counts as no crash: a bank
  /// that is closed in a hurry every evening makes no dead letters.
  mutating func vacate(at now: Moment, into effects: inout [QueueEffect]) {
    stage = .finishing
    takeBackStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices {
        guard let customer = release(service, place) else { continue }
        windows[service][place].state = .doomed
        standAgain(customer, service, place, at: now, into: &effects)
        takeBackAhead(service, place, at: now, into: &effects)
      }
    }
  }

  /// Whether somebody waits, or comes in just now, who can still be served.
  public var hasWaitingToServe: Bool { canServeDelayed || hasWaitingBesidesDelayed }

  /// The same of everybody who is not delayed.
  public var hasWaitingBesidesDelayed: Bool {
    if !admissions.isEmpty || isTakingIn || isAnybodyLeftForUs { return true }
    return lines.indices.contains { lines[$0].count > 0 && isServable(books.waiting.lines[$0].service) }
  }

  /// Closes the day if every ticket has its receipt: the books are those of the next one, which nobody has opened.
  mutating func endDay(at now: Moment) {
    // The day of shared books ends there.
    guard !policy.isShared else { return }
    guard books.isFinished, admissions.isEmpty, !isTakingIn else { return }
    books = books.next(openedAt: now.wall)
    lines = []
  }

  /// Reports once that nobody can be served any more: all have been served, or those who wait stand before
  /// paused services or services without windows, and no window is busy.
  mutating func reportDrainedIfSo(into effects: inout [QueueEffect]) {
    guard stage != .open, !hasReportedDrained, servingCount == 0, admissions.isEmpty, !isTakingIn else {
      return
    }
    if stage == .draining, hasWaitingToServe { return }
    hasReportedDrained = true
    effects.append(.reportDrained)
  }

  /// What those in the store came for is not known here: they are waited for where anybody can be served.
  private var canServeDelayed: Bool {
    delayed.holdsSomebody { isServable($0) }
      || delayed.beyond > 0 && windows.indices.contains { isServable(Service(index: $0)) }
  }

  func isServable(_ service: Service) -> Bool {
    let index = service.index
    return index < windows.count && !books.paused[index] && windows[index].contains { !$0.isClosing }
  }

  /// Takes over rules that an operator has changed. Leases that are running keep their deadlines.
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
