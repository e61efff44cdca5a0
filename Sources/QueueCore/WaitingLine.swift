// One line of waiting customers, all of one service and priority: the first of them in memory, the others only in the
// store.
//
// Invariants: customers in memory are in ascending order, with numbers up to `cursor`. Customers that are only in the
// store have numbers above `cursor`. Assigned customers may have any number. A page may contain assigned customers,
// which are skipped.
//
// With a shared database a line contains only the customers that this branch has claimed. All of these customers are
// in memory. Pages may arrive in any order of numbers, and the number of other customers in the database is unknown.

import BankModel

struct WaitingLine: Sendable {
  /// The customers in memory, in order.
  fileprivate(set) var front = LinkedQueue<Customer>()
  /// Number of customers that are only in the store.
  private(set) var unloaded: Int64 = 0
  /// The next page starts after this number.
  fileprivate(set) var cursor: TicketNumber = 0
  /// True while a requested page has not arrived.
  fileprivate(set) var isLoading = false
  /// True if a shared database may contain customers of the line that this branch has not claimed.
  fileprivate(set) var mayHoldMore = false
  /// Incremented when the part beyond memory changes, except by newcomers, so that the validity of a cached copy can
  /// be checked. Not reset when the index is given to another line.
  private(set) var version: UInt32 = 0
  /// True if a customer has returned beyond the cursor since the last page was requested. The page may lack this
  /// customer, because the page may have been read before the change was staged.
  private var isStale = false
  /// Number of customers that the line holds in memory; see ``QueuePolicy/lineCapacity``.
  private let capacity: Int

  /// Number of newcomers: customers whose tickets are not on disk yet. ``firstNewcomers`` contains the first
  /// newcomers.
  private var newcomers: Int64 = 0
  /// The first newcomers, without a gap.
  private var firstNewcomers: [Customer] = []

  /// Creates a line with `stored` customers in the store and none in memory.
  init(stored: Int64, capacity: Int, version: UInt32 = 0) {
    self.version = version
    precondition(capacity >= 2, "a line has room for at least two customers")
    unloaded = stored
    self.capacity = capacity
  }

  /// Number of waiting customers whose tickets are on disk.
  var count: Int64 { Int64(front.count) + unloaded }
  /// True if the line has no customers or newcomers, no page is being loaded, and the queue does not expect unclaimed
  /// customers of the line in a shared database.
  var isVacant: Bool { front.isEmpty && unloaded == 0 && newcomers == 0 && !isLoading && !mayHoldMore }
  var newcomerCount: Int64 { newcomers }

  /// Adds a newcomer: a customer whose ticket is not on disk yet.
  mutating func admit(_ customer: Customer) {
    // Newcomers join memory only as an unbroken run from the first one; if a newcomer were left out, later newcomers
    // would overtake it.
    let isRun = Int64(firstNewcomers.count) == newcomers
    newcomers += 1
    if isRun, unloaded == 0, front.count + firstNewcomers.count < capacity { firstNewcomers.append(customer) }
  }

  /// Counts newcomers that are not held in memory; they are read from the store later.
  mutating func admitUnloaded(_ count: Int64) {
    precondition(count >= 0, "the number of newcomers is not negative")
    newcomers += count
  }

  mutating func settleNewcomers() { settleNewcomers(newcomers) }

  /// Adds the first `count` newcomers to the line: their tickets are on disk.
  mutating func settleNewcomers(_ count: Int64) {
    precondition(count <= newcomers, "more newcomers are on disk than have arrived")
    guard count > 0 else { return }
    let known = firstNewcomers.prefix(Int(count))
    var joined: Int64 = 0
    if unloaded == 0 {
      for customer in known {
        guard front.count < capacity else { break }
        front.enqueue(customer)
        cursor = customer.ticket
        joined += 1
      }
    }
    unloaded += count - joined
    guard count < newcomers else { return dropNewcomers() }
    newcomers -= count
    firstNewcomers.removeFirst(known.count)
  }

  /// Forgets all newcomers.
  mutating func dropNewcomers() {
    newcomers = 0
    firstNewcomers.removeAll(keepingCapacity: true)
  }

  /// Removes and returns the first customer in memory; nil if there is none in memory, even if the store has more.
  mutating func dequeue() -> Customer? { front.dequeue() }

  /// Returns a customer to the line, at the position of its number.
  mutating func returnToLine(_ customer: Customer) {
    guard unloaded == 0 || customer.ticket <= cursor else {
      unloaded += 1
      version &+= 1
      isStale = true
      return
    }
    front.insert(customer) { $0.ticket > customer.ticket }
    cursor = max(cursor, customer.ticket)
    // A customer in memory is also in the store, so the last one can be dropped from memory. This is not done while a
    // page is being loaded, because that page starts after the current cursor.
    if front.count > capacity, !isLoading, front.dequeueLast() != nil, let last = front.peekLast {
      unloaded += 1
      version &+= 1
      cursor = last.ticket
    }
  }

  /// Removes and returns one customer; nil if the customer is not in memory.
  mutating func remove(_ ticket: TicketNumber) -> Customer? { front.removeFirst { $0.ticket == ticket } }

  /// Subtracts a removed customer that was only in the store from ``unloaded``.
  mutating func removeBeyond() {
    precondition(unloaded > 0, "all customers of this line are in memory")
    unloaded -= 1
    version &+= 1
  }

  /// Position of a customer in memory, from 1; nil if the customer is not in memory.
  func position(of ticket: TicketNumber) -> Int64? {
    var place: Int64 = 0
    for customer in front {
      place += 1
      if customer.ticket == ticket { return place }
    }
    return nil
  }

  /// Returns how many customers to load next from the store, and marks this page as requested; 0 if none is needed or
  /// one is being loaded. At most ``unloaded``, so that a page has no newcomer whose ticket is not on disk.
  mutating func nextPage(lowWater: Int) -> Int {
    guard !isLoading, unloaded > 0, front.count < lowWater else { return 0 }
    // Customers that returned while the last page was loading may have filled memory beyond its capacity.
    let room = Int64(capacity - front.count)
    guard room > 0 else { return 0 }
    isLoading = true
    isStale = false
    return Int(min(room, unloaded))
  }

  /// Adds a loaded page, unless it is stale. Skips customers for which `isAtWindow` is true, because assigned
  /// customers are stored as waiting.
  mutating func append(page: [Customer], isAtWindow: (TicketNumber) -> Bool) {
    precondition(isLoading, "a page arrived without a request")
    // A stale page is dropped and requested again.
    guard !isStale else { return isLoading = false }
    precondition(!page.isEmpty, "the store has lost waiting customers")
    isLoading = false
    version &+= 1
    for customer in page {
      precondition(customer.ticket > cursor, "a page is in order and starts after the cursor")
      cursor = customer.ticket
      guard !isAtWindow(customer.ticket) else { continue }
      precondition(unloaded > 0, "a page has more customers than wait in the store")
      front.enqueue(customer)
      unloaded -= 1
    }
  }
}

// MARK: - Shared database

extension WaitingLine {
  mutating func noteUnclaimedCustomers() { mayHoldMore = true }

  /// Returns true, and marks a page as being loaded, if a page must be claimed now: the database may contain more
  /// customers of the line, and memory has fewer than `lowWater`.
  mutating func claimsNow(below lowWater: Int) -> Bool {
    guard !isLoading, mayHoldMore, front.count < lowWater else { return false }
    isLoading = true
    return true
  }

  /// Adds a claimed page. Customers that another branch has returned may precede the customers in memory.
  mutating func addPage(claimed page: [Customer]) {
    isLoading = false
    if page.isEmpty { mayHoldMore = false }
    for customer in page {
      if let last = front.peekLast, last.ticket > customer.ticket {
        front.insert(customer) { $0.ticket > customer.ticket }
      } else {
        front.enqueue(customer)
      }
      cursor = max(cursor, customer.ticket)
    }
  }

  /// Returns a claimed customer to the line, at the position of its number.
  mutating func returnToLine(claimed customer: Customer) {
    front.insert(customer) { $0.ticket > customer.ticket }
  }
}
