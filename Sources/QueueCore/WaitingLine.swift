// Owns one line of waiting customers: the first of them in memory, the others in the store. Invariants: those in
// memory are in the order of their numbers, none above `cursor`; everyone who waits in the store beyond them has a
// number above it. Those at a window may have any number: a page shows them, and they are skipped.
// Of books that several branches share a line has whom this branch has claimed, all of them in memory, in any order of their
// pages; nobody knows how many others stand in the books.

import BankModel

struct WaitingLine: Sendable {
  fileprivate(set) var front = LinkedQueue<Customer>()
  /// Customers of this line who stand only in the store.
  private(set) var beyond: Int64 = 0
  /// The number behind which the next page begins.
  fileprivate(set) var cursor: TicketNumber = 0
  /// Whether a page was asked for and has not come.
  fileprivate(set) var isLoading = false
  /// Whether somebody of it may stand in shared books, whom this branch has not claimed.
  fileprivate(set) var mayHoldMore = false
  /// Counts what has changed beyond the memory besides newcomers, for whoever remembers who stands there; in a line
  /// that takes another's place it goes on.
  private(set) var version: UInt32 = 0
  /// Somebody has come back behind the cursor meanwhile, and the page may have been read before that was staged.
  private var isStale = false
  private let capacity: Int

  /// Newcomers whose tickets are not on disk yet: their number, and the first of them.
  private var newcomers: Int64 = 0
  private var firstNewcomers: [Customer] = []

  /// A line that has so many customers in the store and none in memory.
  init(stored: Int64, capacity: Int, version: UInt32 = 0) {
    self.version = version
    precondition(capacity >= 2, "a line has room for two customers at least")
    beyond = stored
    self.capacity = capacity
  }

  var count: Int64 { Int64(front.count) + beyond }
  /// Whether nobody is in it or about to be, and no page is on its way.
  var isVacant: Bool { front.isEmpty && beyond == 0 && newcomers == 0 && !isLoading && !mayHoldMore }
  /// Newcomers who may not be handed out before their tickets are on disk.
  var newcomerCount: Int64 { newcomers }

  mutating func admit(_ customer: Customer) {
    // Only a run that begins with the very first newcomer may join those in memory: nobody is overtaken.
    let isRun = Int64(firstNewcomers.count) == newcomers
    newcomers += 1
    if isRun, beyond == 0, front.count + firstNewcomers.count < capacity { firstNewcomers.append(customer) }
  }

  /// So many customers got tickets that are not on disk yet, who are read from the store when their turn comes.
  mutating func admitUnseen(_ count: Int64) {
    precondition(count >= 0, "fewer than nobody cannot come")
    newcomers += count
  }

  mutating func settleNewcomers() { settleNewcomers(newcomers) }

  /// The tickets of so many newcomers are on disk, who came before the others.
  mutating func settleNewcomers(_ count: Int64) {
    precondition(count <= newcomers, "nobody is on disk who has not come")
    guard count > 0 else { return }
    let known = firstNewcomers.prefix(Int(count))
    var joined: Int64 = 0
    if beyond == 0 {
      for customer in known {
        guard front.count < capacity else { break }
        front.enqueue(customer)
        cursor = customer.ticket
        joined += 1
      }
    }
    beyond += count - joined
    guard count < newcomers else { return dropNewcomers() }
    newcomers -= count
    firstNewcomers.removeFirst(known.count)
  }

  mutating func dropNewcomers() {
    newcomers = 0
    firstNewcomers.removeAll(keepingCapacity: true)
  }

  /// Takes the first customer out. Nil when nobody is in memory, which may mean that a page has to come first.
  mutating func dequeue() -> Customer? { front.dequeue() }

  /// A customer who had left the line comes back to the place of its number.
  mutating func takeBack(_ customer: Customer) {
    guard beyond == 0 || customer.ticket <= cursor else {
      beyond += 1
      version &+= 1
      isStale = true
      return
    }
    front.insert(customer) { $0.ticket > customer.ticket }
    cursor = max(cursor, customer.ticket)
    // Whoever stands in memory also stands in the store, so the last one may step back into it at any time.
    // Not while a page is on its way, because that page begins behind the present cursor.
    if front.count > capacity, !isLoading, front.dequeueLast() != nil, let last = front.peekLast {
      beyond += 1
      version &+= 1
      cursor = last.ticket
    }
  }

  /// Takes one customer out of memory, wherever it stands; nil when it is not there.
  mutating func remove(_ ticket: TicketNumber) -> Customer? { front.removeFirst { $0.ticket == ticket } }

  mutating func removeBeyond() {
    precondition(beyond > 0, "nobody stands beyond the memory of this line")
    beyond -= 1
    version &+= 1
  }

  /// The place of a customer in memory, from 1; nil when it is not there.
  func position(of ticket: TicketNumber) -> Int64? {
    var place: Int64 = 0
    for customer in front {
      place += 1
      if customer.ticket == ticket { return place }
    }
    return nil
  }

  /// How many customers of the next page are wanted now; 0 for none. Never more than are known to stand there,
  /// so that a page never holds a newcomer whose ticket is not on disk.
  mutating func nextPage(lowWater: Int) -> Int {
    guard !isLoading, beyond > 0, front.count < lowWater else { return 0 }
    // Those who came back while the last page was on its way may have filled the memory beyond its capacity.
    let room = Int64(capacity - front.count)
    guard room > 0 else { return 0 }
    isLoading = true
    isStale = false
    return Int(min(room, beyond))
  }

  /// The page that was asked for has come. Those at a window wait in the store too, for an assignment is not durable.
  mutating func append(page: [Customer], isAtWindow: (TicketNumber) -> Bool) {
    precondition(isLoading, "a page came that nobody asked for")
    // It is asked for again.
    guard !isStale else { return isLoading = false }
    precondition(!page.isEmpty, "the store has lost customers who wait in it")
    isLoading = false
    version &+= 1
    for customer in page {
      precondition(customer.ticket > cursor, "a page is in order and begins behind the cursor")
      cursor = customer.ticket
      guard !isAtWindow(customer.ticket) else { continue }
      precondition(beyond > 0, "a page holds more than wait in the store")
      front.enqueue(customer)
      beyond -= 1
    }
  }
}

// MARK: - Shared books

extension WaitingLine {
  /// Somebody may stand in the books.
  mutating func hearOfMore() { mayHoldMore = true }

  /// Whether a page is to be claimed now: where somebody may be there, and fewer than so many are in memory.
  mutating func claimsNow(below lowWater: Int) -> Bool {
    guard !isLoading, mayHoldMore, front.count < lowWater else { return false }
    isLoading = true
    return true
  }

  /// A page was claimed. Who was given back by another branch stands before those who are here.
  mutating func join(claimed page: [Customer]) {
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

  /// Somebody who has left the line comes back to the place of its number.
  mutating func takeBack(claimed customer: Customer) {
    front.insert(customer) { $0.ticket > customer.ticket }
  }
}
