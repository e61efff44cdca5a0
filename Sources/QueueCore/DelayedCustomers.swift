// Customers of the queue that are delayed after a failure or ordered for later. The first customers by due time are
// in memory, the others only in the store.
//
// Invariants: a customer in memory is at or before `horizon`, by due time and number. A customer that is only in the
// store is after `horizon`. So the capacity limits memory, not the number of customers.
//
// Customers are due by two clocks. A customer that was ordered for later is due by the wall clock, and is not served
// earlier if the clock is set back. A failed customer is delayed by the monotonic clock. If it is read from the store,
// its delay is computed from its stored due time and limited to the longest pause, because the wall clock may have been
// set back. A delayed customer without attempts was ordered for later; one with attempts counts as failed.

import BankModel
import Time

struct DelayedCustomers: Sendable {
  /// Maximum time between readings of the wall clock while a customer in memory waits for a time of this clock, because
  /// the clock may be set forward.
  static let maxWallClockWait = TimeSpan.seconds(60)

  /// Customers in memory that were ordered for later, by the wall clock.
  private var ordered = DueHeap<WallTime>()
  /// Customers in memory that failed, by the monotonic clock.
  private var failed = DueHeap<MonotonicTime>()
  /// Number of customers that are only in the store.
  private(set) var unloaded: Int64 = 0
  /// Position up to which memory is complete, except for newcomers. The next page starts after this position.
  private(set) var horizon = DuePosition.first
  /// True while a requested page has not arrived.
  private(set) var isLoading = false
  /// True if the horizon or the customers after it have changed since the last page was requested. The page may then be
  /// wrong, so it is dropped.
  private var isStale = false
  /// Customers whose tickets are neither on disk nor in a transaction in flight.
  private var newcomers: DelayedNewcomers
  /// Newcomers of transactions in flight, the oldest first.
  private var sealed: [DelayedNewcomers] = []
  /// Maximum number of customers in memory; temporarily twice as many.
  private let capacity: Int

  /// Restores the delayed customers of a store that contains `count` of them, of which `first` are the first ones by
  /// due time.
  ///
  /// - Parameter limit: the longest pause of a failed customer, by service.
  init(
    _ first: [DelayedCustomer], of count: Int64, capacity: Int, at now: Moment, limit: (Service) -> TimeSpan
  ) {
    precondition(capacity >= 1, "the window has room for at least one customer")
    self.capacity = capacity
    newcomers = DelayedNewcomers(capacity: capacity)
    for customer in first.prefix(capacity) {
      insertInOrder(customer, at: now, limit: limit)
      horizon = max(horizon, customer.place)
    }
    unloaded = max(0, count - Int64(held))
  }

  /// Number of customers in memory.
  var held: Int { ordered.entries.count + failed.entries.count }
  /// Number of delayed customers whose tickets are on disk.
  var count: Int64 { Int64(held) + unloaded }
  /// Number of delayed customers whose tickets are not on disk.
  var newcomerCount: Int64 { sealed.reduce(newcomers.count) { $0 + $1.count } }

  /// True if memory contains a customer of such a service.
  func containsCustomer(whose isWanted: (Service) -> Bool) -> Bool {
    ordered.entries.contains { isWanted($0.customer.customer.service) }
      || failed.entries.contains { isWanted($0.customer.customer.service) }
  }

  /// Wall-clock due time of the first customer in memory; nil for none.
  var firstDue: WallTime? {
    [ordered.first?.customer.dueAt, failed.first?.customer.dueAt].compactMap(\.self).min()
  }

  /// The next moment at which a customer in memory may be due; nil for never. For a customer that is due by the wall
  /// clock, the moment is at most ``maxWallClockWait`` after `last`, because the wall clock may step.
  ///
  /// - Parameter last: the last reading of the clocks.
  func nextDue(after last: Moment) -> MonotonicTime? {
    let calendar = ordered.first.map { first in
      let (left, overflow) = first.due.milliseconds.subtractingReportingOverflow(last.wall.milliseconds)
      let far = first.due < last.wall ? 0 : Int64.max
      return last.monotonic + min(.milliseconds(overflow ? far : left), Self.maxWallClockWait)
    }
    return .earlier(calendar, failed.first?.due)
  }

  /// Removes and returns a due customer, or returns nil if no customer in memory is due.
  mutating func takeDue(at now: Moment) -> Customer? {
    if let first = failed.first, first.due <= now.monotonic { return failed.takeFirst() }
    if let first = ordered.first, first.due <= now.wall { return ordered.takeFirst() }
    return nil
  }

  /// Adds a failed customer, which is due at a moment of the monotonic clock, or only counts it if it is too late for
  /// memory.
  mutating func postpone(_ customer: DelayedCustomer, due: MonotonicTime) {
    guard isWithinHorizon(customer.place) else { return }
    failed.insert(customer, due: due)
    trim()
  }

  /// Returns true if a customer at this position must be held in memory, and then extends the horizon to the position.
  /// Otherwise counts the customer in ``unloaded``.
  private mutating func isWithinHorizon(_ place: DuePosition) -> Bool {
    guard unloaded == 0 || place <= horizon else {
      unloaded += 1
      isStale = true
      return false
    }
    if horizon < place {
      horizon = place
      isStale = true
    }
    return true
  }

  /// Adds a customer to the heap of its clock. A customer with attempts counts as failed.
  private mutating func insertInOrder(
    _ customer: DelayedCustomer, at now: Moment, limit: (Service) -> TimeSpan
  ) {
    guard customer.customer.attempts > 0 else { return ordered.insert(customer, due: customer.dueAt) }
    let (left, overflow) = customer.dueAt.milliseconds.subtractingReportingOverflow(now.wall.milliseconds)
    let pause = min(.milliseconds(overflow ? 0 : left), limit(customer.customer.service))
    failed.insert(customer, due: now.monotonic + pause)
  }

  // MARK: - Newcomers

  /// Adds a newcomer that was ordered for later and whose ticket is not on disk yet.
  mutating func admit(_ customer: DelayedCustomer) { newcomers.add(customer) }
  /// Adds the delayed newcomers of a large request whose last slice has arrived.
  mutating func admit(_ others: DelayedNewcomers) { newcomers.add(others) }
  /// Forgets all newcomers, because their tickets were revoked.
  mutating func dropNewcomers() {
    newcomers = DelayedNewcomers(capacity: capacity)
    sealed = []
  }

  /// Assigns the newcomers so far to the transaction that was just sealed and is in flight now.
  mutating func sealNewcomers() {
    sealed.append(newcomers)
    newcomers = DelayedNewcomers(capacity: capacity)
  }

  /// Adds the newcomers of the oldest transaction in flight, or all newcomers if none is in flight.
  mutating func settleNewcomers() {
    if !sealed.isEmpty { return settle(sealed.removeFirst()) }
    guard newcomers.count > 0 else { return }
    settle(newcomers)
    newcomers = DelayedNewcomers(capacity: capacity)
  }

  /// Adds newcomers whose tickets are on disk: the first by due time to memory, the others to ``unloaded``.
  private mutating func settle(_ newcomers: DelayedNewcomers) {
    guard newcomers.count > 0 else { return }
    if let last = newcomers.horizon, unloaded == 0 || last < horizon {
      // Newcomers after this position are only counted, so memory cannot cover a later position.
      horizon = last
      isStale = true
    }
    unloaded += newcomers.unseen
    for customer in newcomers.earliest where isWithinHorizon(customer.place) {
      ordered.insert(customer, due: customer.dueAt)
    }
    if newcomers.unseen > 0 { cut(to: capacity) } else { trim() }
  }

  // MARK: - Memory limit

  /// Drops customers from the end of memory when it holds more than twice its capacity.
  private mutating func trim() { if held > 2 * capacity { cut(to: capacity) } }

  /// Keeps at most `room` customers in memory, the first by due time. If others are dropped, the horizon may move back.
  private mutating func cut(to room: Int) {
    enum HeapEntry {
      case ordered(DueHeap<WallTime>.Entry)
      case failed(DueHeap<MonotonicTime>.Entry)
      var place: DuePosition {
        switch self {
        case .ordered(let entry): entry.customer.place
        case .failed(let entry): entry.customer.place
        }
      }
    }
    var all = ordered.takeAll().map(HeapEntry.ordered) + failed.takeAll().map(HeapEntry.failed)
    all.sort { $0.place < $1.place }
    var kept = 0
    for one in all.prefix(room) {
      guard unloaded == 0 || one.place <= horizon else { break }
      kept += 1
      switch one {
      case .ordered(let entry): ordered.insert(entry.customer, due: entry.due)
      case .failed(let entry): failed.insert(entry.customer, due: entry.due)
      }
    }
    guard kept < all.count else { return }
    unloaded += Int64(all.count - kept)
    if kept > 0 { horizon = min(horizon, all[kept - 1].place) }
    isStale = true
  }

  /// Returns how many customers to load next from the store, and marks this page as requested. Returns 0 if memory has
  /// `lowWater` customers or all, or if a page is being loaded.
  mutating func nextPage(lowWater: Int) -> Int {
    guard !isLoading, unloaded > 0, held < lowWater else { return 0 }
    isLoading = true
    isStale = false
    return Int(min(Int64(max(1, capacity - held)), unloaded))
  }

  /// Adds a loaded page, unless the page is stale. Skips newcomers in the page, whose tickets are not on disk yet.
  ///
  /// - Parameter limit: the longest pause of a failed customer, by service.
  mutating func append(
    page: [DelayedCustomer], at now: Moment, limit: (Service) -> TimeSpan, isNewcomer: (TicketNumber) -> Bool
  ) {
    precondition(isLoading, "a page arrived without a request")
    isLoading = false
    guard !isStale else { return }
    precondition(!page.isEmpty, "the store has lost delayed customers")
    for customer in page {
      precondition(horizon < customer.place, "a page is in order and starts after the horizon")
      horizon = customer.place
      guard !isNewcomer(customer.customer.ticket) else { continue }
      precondition(unloaded > 0, "a page has more customers than are delayed in the store")
      unloaded -= 1
      insertInOrder(customer, at: now, limit: limit)
    }
  }

  // MARK: - Leaving

  /// Removes and returns a customer, or returns nil if the customer is not in memory.
  mutating func remove(_ ticket: TicketNumber) -> Customer? {
    ordered.remove(ticket) ?? failed.remove(ticket)
  }

  /// Subtracts a removed customer that was only in the store from ``unloaded``. Returns false if a customer at this
  /// position cannot be only in the store.
  mutating func removeBeyond(_ customer: DelayedCustomer) -> Bool {
    guard unloaded > 0, horizon < customer.place else { return false }
    unloaded -= 1
    isStale = true
    return true
  }

  /// Removes all delayed customers that are not newcomers.
  mutating func clear() {
    _ = (ordered.takeAll(), failed.takeAll())
    unloaded = 0
    isStale = true
  }
}
