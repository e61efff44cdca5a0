// Clients that wait until some tickets of the present day are finished or dead letters, with the number of tickets for
// which each client still waits.
// Invariant: no client is answered while changes are uncounted, and changes before a client's request are not counted
// for it. For few clients each change is counted at once. For many, changes are counted in batches with pauses, so that
// the cost of a served customer does not grow with the number of clients.

import BankModel
import Posix
import QueueCore
import Time
import Wire

struct TicketWaiters {
  /// A waiting client, with the counts of its tickets.
  struct TicketWaiter {
    var requester: RequestHandle
    var tickets: ClosedRange<TicketNumber>
    var remaining: Int64
    var dead: Int64
    var cancelled: Int64 = 0
  }

  /// Change of one ticket, as the differences (1, 0 or -1) for the counts of each client that waits for it.
  private struct Change {
    var ticket: TicketNumber
    var remaining: Int64 = 0
    var dead: Int64 = 0
    var cancelled: Int64 = 0
  }

  /// Largest number of clients for which each change is counted immediately.
  static let few = 16
  /// Largest number of uncounted changes.
  private static let longest = 1 << 16
  /// Pause after a batch, as a multiple of the duration of that batch.
  private static let rest: Int64 = 9

  /// Number of updates of the counts of a client so far, for tests.
  private(set) var counts = 0
  private var waiters: [TicketWaiter] = []
  private var changes: [Change] = []
  private var due = MonotonicTime(nanoseconds: 0)

  var isEmpty: Bool { waiters.isEmpty }
  /// True if, by the changes counted so far, a client may wait for no more tickets.
  private(set) var hasUnreportedCompletion = false
  /// Time at which ``count(at:)`` is due; nil if everything is counted.
  var nextDeadline: MonotonicTime? { changes.isEmpty ? nil : due }

  /// Adds a client, with the counts from the store, which include all changes so far.
  mutating func add(_ waiter: TicketWaiter) {
    var waiter = waiter
    // The counts from the store include these changes, which will be counted again for all clients later.
    for change in changes where waiter.tickets.contains(change.ticket) {
      waiter.remaining -= change.remaining
      waiter.dead -= change.dead
      waiter.cancelled -= change.cancelled
    }
    waiters.append(waiter)
    waiter.requester.session.requesters += 1
    if waiter.remaining <= 0 { hasUnreportedCompletion = true }
  }

  /// Records a staged change of a ticket.
  mutating func note(_ change: StoreChange) {
    switch change {
    case .finish(let customer, let state, let receipt):
      var change = Change(ticket: customer.ticket)
      if state == .dead { change.dead = -1 } else { change.remaining = -1 }
      if receipt.outcome == .cancelled { change.cancelled = 1 }
      note(change)
    case .bury(let customer): note(Change(ticket: customer.ticket, remaining: -1, dead: 1))
    case .revive(let customer, .dead): note(Change(ticket: customer.ticket, remaining: 1, dead: -1))
    case .cancelAllCustomers:
      countAll()
      // A reset cancels dead letters, too.
      for index in waiters.indices {
        waiters[index].cancelled += waiters[index].remaining + waiters[index].dead
        (waiters[index].remaining, waiters[index].dead) = (0, 0)
      }
      hasUnreportedCompletion = true
    default: break
    }
  }

  /// Updates the counts of the clients with a change at once if clients are few, or else adds it to a batch.
  private mutating func note(_ change: Change) {
    guard waiters.count > Self.few else { return count([change]) }
    changes.append(change)
    if changes.count >= Self.longest { countAll() }
  }

  /// Updates the counts of all clients with the batch of changes, if the pause after the last batch is over.
  mutating func count(at now: MonotonicTime) {
    guard !changes.isEmpty, now >= due else { return }
    let begin = SystemClock.monotonic()
    countAll()
    let end = SystemClock.monotonic()
    due = end + end.since(begin) * Self.rest
  }

  /// Updates the counts of all clients with the batch of changes, and empties the batch.
  private mutating func countAll() {
    count(changes.sorted { $0.ticket < $1.ticket })
    changes.removeAll(keepingCapacity: true)
  }

  /// Updates the counts of all clients with changes sorted by ticket: prefix sums give the total of any range.
  private mutating func count(_ changes: [Change]) {
    guard changes.count > 1 else {
      for change in changes { count(change) }
      return
    }
    var sums = [Change(ticket: 0)]
    sums.reserveCapacity(changes.count + 1)
    for change in changes {
      let last = sums[sums.count - 1]
      sums.append(
        Change(
          ticket: change.ticket, remaining: last.remaining + change.remaining, dead: last.dead + change.dead,
          cancelled: last.cancelled + change.cancelled))
    }
    counts += waiters.count
    for index in waiters.indices {
      let tickets = waiters[index].tickets
      let before = sums[Self.position(of: tickets.lowerBound, isBehind: false, in: changes)]
      let upTo = sums[Self.position(of: tickets.upperBound, isBehind: true, in: changes)]
      waiters[index].remaining += upTo.remaining - before.remaining
      waiters[index].dead += upTo.dead - before.dead
      waiters[index].cancelled += upTo.cancelled - before.cancelled
      if waiters[index].remaining <= 0 { hasUnreportedCompletion = true }
    }
  }

  /// Updates the counts of all clients that wait for the ticket of this change.
  private mutating func count(_ change: Change) {
    counts += waiters.count
    for index in waiters.indices where waiters[index].tickets.contains(change.ticket) {
      waiters[index].remaining += change.remaining
      waiters[index].dead += change.dead
      waiters[index].cancelled += change.cancelled
      if waiters[index].remaining <= 0 { hasUnreportedCompletion = true }
    }
  }

  /// Number of changes to tickets before this one, including this one if `isBehind` is true.
  private static func position(of ticket: TicketNumber, isBehind: Bool, in changes: [Change]) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = isBehind ? changes[middle].ticket <= ticket : changes[middle].ticket < ticket
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Removes and returns the clients that wait for no more tickets; none while changes are uncounted.
  mutating func takeEnded() -> [TicketWaiter] {
    guard hasUnreportedCompletion, changes.isEmpty else { return [] }
    hasUnreportedCompletion = false
    let ended = waiters.filter { $0.remaining <= 0 }
    waiters.removeAll { $0.remaining <= 0 }
    for waiter in ended { waiter.requester.session.requesters -= 1 }
    return ended
  }

  /// Removes a client that has disconnected.
  mutating func forget(_ session: ControlSession) {
    waiters.removeAll { $0.requester.session === session }
    if waiters.isEmpty { (changes, hasUnreportedCompletion) = ([], false) }
  }
}

extension AwaitedTicketsReport {
  /// Counts of a wait; a negative count is reported as none.
  init(dead: Int64, counting cancelled: Int64) {
    self.init(dead: max(0, dead), cancelled: cancelled > 0 ? cancelled : nil)
  }
}
