// Clients that wait until some tickets of the present day are finished or dead letters, with the number of the other
// tickets for each client.
// Invariant: no client is answered while changes are uncounted, and changes before a client's request are not counted
// for it. For few clients each change is counted at once. For many, changes are counted in batches with pauses, so that
// the cost of a served customer does not grow with the number of clients.

import BankModel
import Posix
import QueueCore
import Time
import Wire

struct TicketWatches {
  struct Watch {
    var seat: Seat
    var tickets: ClosedRange<TicketNumber>
    var remaining: Int64
    var dead: Int64
    var cancelled: Int64 = 0
  }

  private struct Change {
    var ticket: TicketNumber
    var remaining: Int64 = 0
    var dead: Int64 = 0
    var cancelled: Int64 = 0
  }

  static let few = 16
  /// Largest number of uncounted changes.
  private static let longest = 1 << 16
  /// Pause after a batch, as a multiple of the duration of that batch.
  private static let rest: Int64 = 9

  private(set) var counts = 0
  private var watches: [Watch] = []
  private var changes: [Change] = []
  private var due = MonotonicTime(nanoseconds: 0)

  var isEmpty: Bool { watches.isEmpty }
  /// True if, by the changes counted so far, a client waits for no more tickets, so that it is answered after the next
  /// commit.
  private(set) var owesAnEnd = false
  /// Time at which ``count(at:)`` is due; nil if everything is counted.
  var nextDeadline: MonotonicTime? { changes.isEmpty ? nil : due }

  /// Adds a client, with the counts from the store, which include all changes so far.
  mutating func add(_ watch: Watch) {
    var watch = watch
    // The counts from the store include these changes, which will be counted again for all clients later.
    for change in changes where watch.tickets.contains(change.ticket) {
      watch.remaining -= change.remaining
      watch.dead -= change.dead
      watch.cancelled -= change.cancelled
    }
    watches.append(watch)
    watch.seat.session.seats += 1
    if watch.remaining <= 0 { owesAnEnd = true }
  }

  mutating func note(_ change: StoreChange) {
    switch change {
    case .finish(let customer, let state, let receipt):
      var change = Change(ticket: customer.ticket)
      if state == .dead { change.dead = -1 } else { change.remaining = -1 }
      if receipt.outcome == .cancelled { change.cancelled = 1 }
      note(change)
    case .bury(let customer): note(Change(ticket: customer.ticket, remaining: -1, dead: 1))
    case .revive(let customer, .dead): note(Change(ticket: customer.ticket, remaining: 1, dead: -1))
    case .cancelEveryone:
      countAll()
      // A reset cancels dead letters, too.
      for index in watches.indices {
        watches[index].cancelled += watches[index].remaining + watches[index].dead
        (watches[index].remaining, watches[index].dead) = (0, 0)
      }
      owesAnEnd = true
    default: break
    }
  }

  private mutating func note(_ change: Change) {
    guard watches.count > Self.few else { return count([change]) }
    changes.append(change)
    if changes.count >= Self.longest { countAll() }
  }

  /// Counts the batch if the pause is over.
  mutating func count(at now: MonotonicTime) {
    guard !changes.isEmpty, now >= due else { return }
    let begin = SystemClock.monotonic()
    countAll()
    let end = SystemClock.monotonic()
    due = end + end.since(begin) * Self.rest
  }

  private mutating func countAll() {
    count(changes.sorted { $0.ticket < $1.ticket })
    changes.removeAll(keepingCapacity: true)
  }

  /// Counts changes, sorted by ticket, for all clients: prefix sums give the total of any range.
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
    counts += watches.count
    for index in watches.indices {
      let tickets = watches[index].tickets
      let before = sums[Self.place(of: tickets.lowerBound, isBehind: false, in: changes)]
      let upTo = sums[Self.place(of: tickets.upperBound, isBehind: true, in: changes)]
      watches[index].remaining += upTo.remaining - before.remaining
      watches[index].dead += upTo.dead - before.dead
      watches[index].cancelled += upTo.cancelled - before.cancelled
      if watches[index].remaining <= 0 { owesAnEnd = true }
    }
  }

  private mutating func count(_ change: Change) {
    counts += watches.count
    for index in watches.indices where watches[index].tickets.contains(change.ticket) {
      watches[index].remaining += change.remaining
      watches[index].dead += change.dead
      watches[index].cancelled += change.cancelled
      if watches[index].remaining <= 0 { owesAnEnd = true }
    }
  }

  /// Number of changes to tickets before this one, including this one if `isBehind` is true.
  private static func place(of ticket: TicketNumber, isBehind: Bool, in changes: [Change]) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = isBehind ? changes[middle].ticket <= ticket : changes[middle].ticket < ticket
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Removes and returns the clients that wait for no more tickets; none while changes are uncounted.
  mutating func takeEnded() -> [Watch] {
    guard owesAnEnd, changes.isEmpty else { return [] }
    owesAnEnd = false
    let ended = watches.filter { $0.remaining <= 0 }
    watches.removeAll { $0.remaining <= 0 }
    for watch in ended { watch.seat.session.seats -= 1 }
    return ended
  }

  mutating func forget(_ session: ControlSession) {
    watches.removeAll { $0.seat.session === session }
    if watches.isEmpty { (changes, owesAnEnd) = ([], false) }
  }
}

extension EndedReport {
  /// Counts of a wait; never negative, although a change may be counted twice for a moment.
  init(dead: Int64, counting cancelled: Int64) {
    self.init(dead: max(0, dead), cancelled: cancelled > 0 ? cancelled : nil)
  }
}
