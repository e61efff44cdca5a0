// Owns the customers who are delayed: those who are due first in memory, the others in the store alone. It reads no clock.
// Invariants: everybody in memory is due at the horizon or before it, in the order of moments and numbers; everybody in the
// store who is not in memory is due behind it. So nobody of the store is ever due before somebody in memory whom the
// calendar governs, and any number of them takes no more memory than the window does.
//
// Two clocks. Who ordered for later is due when the calendar says so, and never before: not after a restart, and not when
// the calendar is set back. Who failed is put off for a while, by the steady clock; the calendar's moment is kept for the
// next start only, and as the calendar may have been set back by then, nobody is put off for longer than the longest pause.
// One is told from the other by the attempts: only who has none can have ordered for later.

import BankModel
import Time

struct DelayedCustomers: Sendable {
  /// How long the calendar is not looked at, at most, while somebody waits for a moment by it: it may be set forward.
  static let calendarPause = TimeSpan.seconds(60)

  private var ordered = DueHeap<WallTime>()
  private var failed = DueHeap<MonotonicTime>()
  /// Customers who stand in the store alone.
  private(set) var beyond: Int64 = 0
  /// The place behind which the next page begins.
  private(set) var horizon = DuePlace.first
  /// Whether a page was asked for and has not come.
  private(set) var isLoading = false
  /// Something has changed behind the horizon since the page was asked for: it may be without somebody.
  private var isStale = false
  private var newcomers: DelayedNewcomers
  /// The newcomers of transactions that are on their way to the disk, the oldest first.
  private var sealed: [DelayedNewcomers] = []
  private let capacity: Int

  /// The window over so many customers, of whom these are the first.
  ///
  /// - Parameter limit: the longest pause of somebody who failed, by the service.
  init(
    _ first: [DelayedCustomer], of count: Int64, capacity: Int, at now: Moment, limit: (Service) -> TimeSpan
  ) {
    precondition(capacity >= 1, "the window has room for one customer at least")
    self.capacity = capacity
    newcomers = DelayedNewcomers(capacity: capacity)
    for customer in first.prefix(capacity) {
      hold(customer, at: now, limit: limit)
      horizon = max(horizon, customer.place)
    }
    beyond = max(0, count - Int64(held))
  }

  var held: Int { ordered.entries.count + failed.entries.count }
  /// Everybody whose ticket is on disk.
  var count: Int64 { Int64(held) + beyond }
  var newcomerCount: Int64 { sealed.reduce(newcomers.count) { $0 + $1.count } }

  /// Whether one of those in memory came for a service like this.
  func holdsSomebody(whose isWanted: (Service) -> Bool) -> Bool {
    ordered.entries.contains { isWanted($0.customer.customer.service) }
      || failed.entries.contains { isWanted($0.customer.customer.service) }
  }

  /// The moment of the calendar at which the first customer in memory is due; nil for none.
  var firstDue: WallTime? {
    [ordered.first?.customer.dueAt, failed.first?.customer.dueAt].compactMap(\.self).min()
  }

  /// When somebody in memory is due; nil for never. By the calendar that is a guess, as it may jump.
  ///
  /// - Parameter last: the last reading of the clocks.
  func nextDue(after last: Moment) -> MonotonicTime? {
    let calendar = ordered.first.map { first in
      let (left, overflow) = first.due.milliseconds.subtractingReportingOverflow(last.wall.milliseconds)
      let far = first.due < last.wall ? 0 : Int64.max
      return last.monotonic + min(.milliseconds(overflow ? far : left), Self.calendarPause)
    }
    return .earlier(calendar, failed.first?.due)
  }

  /// Takes somebody out who is due; nil where nobody in memory is.
  mutating func takeDue(at now: Moment) -> Customer? {
    if let first = failed.first, first.due <= now.monotonic { return failed.takeFirst() }
    if let first = ordered.first, first.due <= now.wall { return ordered.takeFirst() }
    return nil
  }

  /// Somebody has failed, and is put off until a moment of the steady clock.
  mutating func postpone(_ customer: DelayedCustomer, due: MonotonicTime) {
    guard meets(customer.place) else { return }
    failed.insert(customer, due: due)
    trim()
  }

  /// Whether somebody comes into memory; who does not stands behind the horizon.
  private mutating func meets(_ place: DuePlace) -> Bool {
    guard beyond == 0 || place <= horizon else {
      beyond += 1
      isStale = true
      return false
    }
    if horizon < place {
      horizon = place
      isStale = true
    }
    return true
  }

  private mutating func hold(_ customer: DelayedCustomer, at now: Moment, limit: (Service) -> TimeSpan) {
    guard customer.customer.attempts > 0 else { return ordered.insert(customer, due: customer.dueAt) }
    let (left, overflow) = customer.dueAt.milliseconds.subtractingReportingOverflow(now.wall.milliseconds)
    let pause = min(.milliseconds(overflow ? 0 : left), limit(customer.customer.service))
    failed.insert(customer, due: now.monotonic + pause)
  }

  // MARK: - Newcomers

  /// Somebody has ordered for later, and the ticket is not on disk yet.
  mutating func admit(_ customer: DelayedCustomer) { newcomers.add(customer) }
  mutating func admit(_ others: DelayedNewcomers) { newcomers.add(others) }
  mutating func dropNewcomers() {
    newcomers = DelayedNewcomers(capacity: capacity)
    sealed = []
  }

  /// Those who have come are on their way to the disk; whoever comes now goes there later.
  mutating func sealNewcomers() {
    sealed.append(newcomers)
    newcomers = DelayedNewcomers(capacity: capacity)
  }

  /// The tickets of those are on disk who went there first; of all where none are on their way.
  mutating func settleNewcomers() {
    if !sealed.isEmpty { return settle(sealed.removeFirst()) }
    guard newcomers.count > 0 else { return }
    settle(newcomers)
    newcomers = DelayedNewcomers(capacity: capacity)
  }

  private mutating func settle(_ newcomers: DelayedNewcomers) {
    guard newcomers.count > 0 else { return }
    if let last = newcomers.horizon, beyond == 0 || last < horizon {
      // Only up to there it is known who is due.
      horizon = last
      isStale = true
    }
    beyond += newcomers.unseen
    for customer in newcomers.earliest where meets(customer.place) {
      ordered.insert(customer, due: customer.dueAt)
    }
    if newcomers.unseen > 0 { cut(to: capacity) } else { trim() }
  }

  // MARK: - The window

  /// Sends those behind the window back into the store, a window full at once: everybody in memory stands there, too.
  private mutating func trim() { if held > 2 * capacity { cut(to: capacity) } }

  private mutating func cut(to room: Int) {
    enum Held {
      case ordered(DueHeap<WallTime>.Entry)
      case failed(DueHeap<MonotonicTime>.Entry)
      var place: DuePlace {
        switch self {
        case .ordered(let entry): entry.customer.place
        case .failed(let entry): entry.customer.place
        }
      }
    }
    var all = ordered.takeAll().map(Held.ordered) + failed.takeAll().map(Held.failed)
    all.sort { $0.place < $1.place }
    var kept = 0
    for one in all.prefix(room) {
      guard beyond == 0 || one.place <= horizon else { break }
      kept += 1
      switch one {
      case .ordered(let entry): ordered.insert(entry.customer, due: entry.due)
      case .failed(let entry): failed.insert(entry.customer, due: entry.due)
      }
    }
    guard kept < all.count else { return }
    beyond += Int64(all.count - kept)
    if kept > 0 { horizon = min(horizon, all[kept - 1].place) }
    isStale = true
  }

  /// How many of the next page are wanted now; 0 for none.
  mutating func nextPage(lowWater: Int) -> Int {
    guard !isLoading, beyond > 0, held < lowWater else { return 0 }
    isLoading = true
    isStale = false
    return Int(min(Int64(max(1, capacity - held)), beyond))
  }

  /// The page that was asked for has come. It may show newcomers, whose tickets are not on disk.
  ///
  /// - Parameter limit: the longest pause of somebody who failed, by the service.
  mutating func append(
    page: [DelayedCustomer], at now: Moment, limit: (Service) -> TimeSpan, isNewcomer: (TicketNumber) -> Bool
  ) {
    precondition(isLoading, "a page came that nobody asked for")
    isLoading = false
    guard !isStale else { return }
    precondition(!page.isEmpty, "the store has lost customers who are delayed in it")
    for customer in page {
      precondition(horizon < customer.place, "a page is in order and begins behind the horizon")
      horizon = customer.place
      guard !isNewcomer(customer.customer.ticket) else { continue }
      precondition(beyond > 0, "a page holds more than are delayed in the store")
      beyond -= 1
      hold(customer, at: now, limit: limit)
    }
  }

  // MARK: - Leaving

  /// Takes somebody out of memory; nil where it is not there.
  mutating func remove(_ ticket: TicketNumber) -> Customer? {
    ordered.remove(ticket) ?? failed.remove(ticket)
  }

  /// Somebody has left who stood in the store alone; false where nobody does so at this place.
  mutating func removeBeyond(_ customer: DelayedCustomer) -> Bool {
    guard beyond > 0, horizon < customer.place else { return false }
    beyond -= 1
    isStale = true
    return true
  }

  mutating func clear() {
    _ = (ordered.takeAll(), failed.takeAll())
    beyond = 0
    isStale = true
  }
}
