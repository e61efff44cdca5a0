// Parts of the queue that differ if the queue belongs to one branch of a shared bank.
// A branch owns the customers that it has claimed. A request for a page of a line claims the customers of the page.
// They belong to the branch until they are finished, delayed, made dead letters or returned, or until the branch loses
// its lease. The day counters of a branch count the customers that it owns and those that it finished. The database
// issues the tickets. Delayed customers and dead letters belong to no branch.
//
// A branch assigns no customer after the end of its lease by its own monotonic clock. If the clock is wrong, work may
// be wasted but no data becomes wrong, because the database rejects the writes of a fenced branch. After the loss of
// the lease, the queue asks all tellers to return their customers, and nothing waits for the disk any longer.
//
// Invariants: issued = waiting + serving + served + cancelled, counting only customers of this branch. Its waiting
// customers are in memory.

import BankModel
import Time

/// Lease of this branch, and numbers of customers that remain in the shared database.
struct SharedStoreState: Sendable {
  /// End of the period in which no other branch may claim the customers of this branch; nil without a lease.
  var leaseEnd: MonotonicTime?
  /// Number of waiting and delayed customers of the whole bank, by the index of the service. For a service that uses
  /// the stock, only the customers that need the stock of this branch.
  var remaining: [Int64] = []
}

extension QueueMachine {
  /// True if customers may be assigned at this moment: in a shared bank, only while the lease is valid.
  func mayServe(at now: Moment) -> Bool {
    guard policy.isShared else { return true }
    return branch.leaseEnd.map { now.monotonic < $0 } ?? false
  }

  /// True if the bank still has customers that this branch can serve.
  var hasServableCustomers: Bool {
    guard policy.isShared else { return false }
    return branch.remaining.indices.contains {
      branch.remaining[$0] > 0 && isServable(Service(index: $0))
    }
  }

  /// Claims a page of a line if the database may contain more of its customers and memory has fewer than half a page of
  /// them, or has none if `isWanted`.
  mutating func claim(_ place: Int, isWanted: Bool, into effects: inout [QueueEffect]) {
    guard lines[place].claimsNow(below: isWanted ? 1 : policy.page / 2) else { return }
    effects.append(.loadPage(dayCounters.waiting.lines[place], after: 0, limit: policy.page))
  }

  mutating func receive(_ page: [Customer], _ line: Line) {
    let place = index(of: line)
    lines[place].addPage(claimed: page)
    dayCounters.waiting[place] += Int64(page.count)
    dayCounters.issued += Int64(page.count)
  }

  /// Subtracts from the counters the receipts of these tickets in the oldest transaction, which had no effect in the
  /// database.
  mutating func revertEffects(of tickets: [TicketNumber], into effects: inout [QueueEffect]) {
    let count = (underway.first?.counts ?? unsealed).changes
    for change in uncommitted.prefix(count) {
      guard case .finish(let customer, _, let receipt) = change, tickets.contains(customer.ticket) else {
        continue
      }
      subtract(receipt)
      effects.append(.logRejectedCompletion(customer, receipt))
    }
  }

  private mutating func subtract(_ receipt: Receipt) {
    dayCounters.issued -= 1
    guard receipt.outcome != .cancelled else { return dayCounters.cancelled -= 1 }
    dayCounters.served -= 1
    dayCounters.servedByService[receipt.service.index] -= 1
  }

  /// Handles the cancellation of a customer in the shared database. Asks the worker that holds the customer to return
  /// it. Writes nothing, because the database has the receipt. A completion that the store has already
  /// received has no effect, because the customer is no longer stored.
  mutating func handleLoss(_ ticket: TicketNumber, at now: Moment, into effects: inout [QueueEffect]) {
    revertStarts(into: &effects)
    for place in lines.indices {
      guard lines[place].remove(ticket) != nil else { continue }
      dayCounters.waiting[place] -= 1
      dayCounters.issued -= 1
      return
    }
    for service in windows.indices {
      for place in windows[service].indices where windows[service][place].holds(ticket) {
        let window = windows[service][place].window
        let index = windows[service][place].prefetched.firstIndex { $0.customer.ticket == ticket }
        let customer: Customer
        if let index {
          customer = windows[service][place].prefetched.remove(at: index).customer
          servingCount -= 1
        } else {
          guard let released = release(service, place) else { return }
          customer = released
        }
        let lease = windows[service][place].lease(of: customer)
        dayCounters.waiting[customer.line] -= 1
        dayCounters.issued -= 1
        effects.append(.announce(.interrupted, window, lease, customer))
        effects.append(.recall(window, lease))
        windows[service][place].recalled.append(lease)
        if index == nil { continueServing(service, place, now, into: &effects) }
        return
      }
    }
  }

  /// Handles the loss of the lease: the branch no longer owns its customers, and changes that were not reported as on
  /// disk are no longer counted.
  mutating func handleLeaseLoss(at now: Moment, into effects: inout [QueueEffect]) {
    branch.leaseEnd = nil
    forgetStarts(into: &effects)
    for service in windows.indices {
      for place in windows[service].indices { recallAll(service, place, at: now, into: &effects) }
    }
    for change in uncommitted { if case .finish(_, _, let receipt) = change { subtract(receipt) } }
    uncommitted.removeAll()
    uncommittedBytes = 0
    underway.removeAll()
    for place in lines.indices {
      dayCounters.issued -= dayCounters.waiting[place]
      dayCounters.waiting[place] = 0
      lines[place] = WaitingLine(
        stored: 0, capacity: policy.capacity(ofLineAt: place), version: lines[place].version &+ 1)
      lines[place].noteUnclaimedCustomers()
    }
    // A pause applies to this branch alone, so it succeeds although the lease was lost.
    let paused = Set(pausing)
    for case .reply(let request, let answer) in pendingReplies {
      effects.append(.reply(request, paused.contains(request) ? answer : .refused(.leaseLost)))
    }
    pendingReplies.removeAll()
    pausing.removeAll()
    committedPauses = dayCounters.paused
    isDiskFull = false
  }

  /// Revokes the starts that were not sent, without staging changes, because the branch may not write any more.
  private mutating func forgetStarts(into effects: inout [QueueEffect]) {
    var wanted: [QueueEffect] = []
    revertStarts(into: &wanted)
    effects += wanted.filter { if case .stage = $0 { false } else { true } }
  }

  /// Asks the teller at a window to return all its customers, because the branch has lost its lease.
  private mutating func recallAll(
    _ service: Int, _ place: Int, at now: Moment, into effects: inout [QueueEffect]
  ) {
    windows[service][place].unacknowledged = nil
    guard let customer = release(service, place) else { return }
    let window = windows[service][place].window
    let hand = [customer] + releasePrefetched(service, place).map(\.customer)
    let leases = hand.map { windows[service][place].lease(of: $0) }
    for (customer, lease) in zip(hand, leases) {
      effects.append(.announce(.interrupted, window, lease, customer))
    }
    // The customers are recalled in reverse order, so that the teller does not start a customer that is about to be
    // recalled.
    for lease in leases.reversed() { effects.append(.recall(window, lease)) }
    guard !window.isOutside else {
      windows[service][place].recalled += leases
      return free(service, place, into: &effects)
    }
    windows[service][place].state = .recalling(leases + windows[service][place].recalled)
    windows[service][place].recalled = []
    windows[service][place].deadline = now.listeningTime + recallTimeout(service)
  }
}
