// Checks after each step of the core: its numbers add up, and every required effect has happened.
// Invariant: the checker reads only the counts of the core and the contradictions that the core finds in itself, and
// compares the counts with its own tables.
import BankModel
import QueueCore
import Time

extension PromiseChecker {
  func checkConsequences(of event: QueueEvent, at now: Moment) {
    if let owed = step.owed.first {
      violate(
        .attempt,
        "ticket \(owed.holder.lease.ticket): the attempt ended (\(owed.end.name)) but is not recorded")
    }
    if let done = step.done { violate(.attempt, "ticket \(done.lease.ticket) was done but has no receipt") }
    if let ticket = step.afloat.first {
      violate(.lostTicket, "ticket \(ticket) left its window and is missing")
    }
    if let service = step.owedPause {
      violate(.paused, "service \(service.number) cannot be served, but its pause is not reported")
    }
    if let window = step.stuck.first { violate(.conversation, "\(window) is stuck but is not ended") }
    if let recall = step.toRecall.first {
      violate(
        .conversation, "\(recall.window) is not notified that ticket \(recall.lease.ticket) was recalled")
    }
    // Further messages may be queued, and one of them may renew a lease. Leases are therefore checked only at a tick,
    // when all messages have been handled.
    guard case .tick = event else { return }
    for holder in holders where leaseEnd(of: holder) <= now.attended {
      violate(
        .lease, "\(holder.window) still holds ticket \(holder.lease.ticket) after its lease has run out")
    }
  }

  func checkNumbers(of core: borrowing QueueMachine) {
    for words in core.contradictions(world.disk.services) { violate(.books, words.description) }
    let books = core.books
    let sum =
      core.waitingCount + core.delayedCount + core.serving + books.served + books.dead + books.cancelled
    if core.issuedCount != sum { violate(.books, "\(core.issuedCount) issued, but \(sum) accounted for") }
    let handedOut = Int64(holders.count + starting.count)
    if core.serving != handedOut {
      violate(.books, "\(core.serving) are being served by the core's count, but \(handedOut) were assigned")
    }
  }

  func checkEnqueue(_ event: QueueEvent, _ effects: ArraySlice<QueueEffect>) {
    guard case .enqueue(let request, let orders, let total, _, _) = event else { return }
    var refusal: QueueRefusal?
    for case .reply(request, .refused(let found)) in effects { refusal = found }
    if let refusal {
      if takingIn == request { takingIn = nil }
      if step.inserted > 0 {
        violate(.refusal, "a request was rejected, but \(step.inserted) of it were accepted")
      }
      if case .queueFull = refusal, let standing = step.standing,
        total == 0 || standing + total <= policy.maxWaiting
      {
        violate(.refusal, "\(total) were rejected with \(standing) waiting and room for \(policy.maxWaiting)")
      }
      return
    }
    if step.inserted != Int64(orders.count) {
      violate(.answer, "\(orders.count) arrived, but \(step.inserted) were accepted")
    }
    guard let standing = step.standing else { return }
    let isTooMany = total > 0 && standing + total > policy.maxWaiting
    if isTooMany || isDraining || isFinishing || step.wasJammed {
      violate(.overfull, "\(total) were accepted with \(standing) waiting and room for \(policy.maxWaiting)")
    }
  }
}
