// Checks after each step of the core: its numbers add up, and every required effect has happened.
// The counts of the core are compared with each other and with the checker's own tables.
import BankModel
import QueueCore
import Time

extension InvariantChecker {
  /// Checks that the step had every required effect, and at a tick that no lease has run out.
  func checkConsequences(of event: QueueEvent, at now: Moment) {
    if let expectedAttempts = step.expectedAttempts.first {
      violate(
        .attempt,
        "ticket \(expectedAttempts.holder.lease.ticket): the attempt ended (\(expectedAttempts.end.name)) but is not recorded"
      )
    }
    if let done = step.done { violate(.attempt, "ticket \(done.lease.ticket) was done but has no receipt") }
    if let ticket = step.unplaced.first {
      violate(.lostTicket, "ticket \(ticket) left its window and is missing")
    }
    if let service = step.expectedPause {
      violate(.paused, "service \(service.number) cannot be served, but its pause is not reported")
    }
    if let window = step.stuck.first { violate(.protocolViolation, "\(window) is stuck but is not ended") }
    if let recall = step.toRecall.first {
      violate(
        .protocolViolation, "\(recall.window) is not notified that ticket \(recall.lease.ticket) was recalled"
      )
    }
    // Further messages may be queued, and one of them may renew a lease. Leases are therefore checked only at a tick.
    guard case .tick = event else { return }
    for holder in holders where leaseEnd(of: holder) <= now.listeningTime {
      violate(
        .lease, "\(holder.window) still holds ticket \(holder.lease.ticket) after its lease has run out")
    }
  }

  /// Compares the counts of the core with each other and with the checker's own tables.
  func checkNumbers(of core: borrowing QueueMachine) {
    for message in core.inconsistencies(world.disk.services) { violate(.dayCounters, message.description) }
    let dayCounters = core.dayCounters
    let sum =
      core.waitingCount + core.delayedCount + core.serving + dayCounters.served + dayCounters.dead
      + dayCounters.cancelled
    if core.issuedCount != sum {
      violate(.dayCounters, "\(core.issuedCount) issued, but \(sum) accounted for")
    }
    let handedOut = Int64(holders.count + starting.count)
    if core.serving != handedOut {
      violate(
        .dayCounters, "\(core.serving) are being served by the core's count, but \(handedOut) were assigned")
    }
  }

  /// Checks that a request for tickets was accepted completely, or refused for a valid reason.
  func checkEnqueue(_ event: QueueEvent, _ effects: ArraySlice<QueueEffect>) {
    guard case .enqueue(let request, let orders, let total, _, _, _) = event else { return }
    var refusal: QueueRefusal?
    for case .reply(request, .refused(let found)) in effects { refusal = found }
    if let refusal {
      if currentEnqueue == request { currentEnqueue = nil }
      if step.inserted > 0 {
        violate(.refusal, "a request was rejected, but \(step.inserted) of it were accepted")
      }
      if case .queueFull = refusal, let waitingBefore = step.waitingBefore,
        total == 0 || waitingBefore + total <= policy.maxWaiting
      {
        violate(
          .refusal, "\(total) were rejected with \(waitingBefore) waiting and room for \(policy.maxWaiting)")
      }
      return
    }
    if step.inserted != Int64(orders.count) {
      violate(.answer, "\(orders.count) arrived, but \(step.inserted) were accepted")
    }
    guard let waitingBefore = step.waitingBefore else { return }
    let isTooMany = total > 0 && waitingBefore + total > policy.maxWaiting
    if isTooMany || isDraining || isFinishing || step.wasJammed {
      violate(
        .overLimit, "\(total) were accepted with \(waitingBefore) waiting and room for \(policy.maxWaiting)")
    }
  }
}
