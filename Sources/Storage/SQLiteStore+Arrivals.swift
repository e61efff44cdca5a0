// Owns the customers of a request that is larger than a transaction: they are kept under numbers that nobody was issued
// yet, commit after commit, and come into force with the books that have issued the numbers.
// Invariant: while such rows are there, the first of their numbers stands in `meta`; it goes in the same transaction as
// the last of them, or as their coming into force. So a request is kept as a whole or not at all, over any crash.

import BankModel
import QueueCore

/// What the store knows of customers without an issued number.
struct Arrivals {
  /// The first of their numbers, as it is on disk; nil where there are none.
  var first: TicketNumber?
  /// The highest number that was staged since the last commit.
  var highestStaged: TicketNumber = 0
  /// The last of them were taken out in the open transaction.
  var areWithdrawn = false
  /// How many there are on disk, and how many more of them want a juice. Nobody else counts them: they are not in the
  /// books, and room for their receipts is held back all the same.
  private var kept: (all: Int64, juices: Int64) = (0, 0)
  /// Customers who were staged since the last commit.
  private var staged: (all: Int64, juices: Int64) = (0, 0)

  /// Nobody.
  init(first: TicketNumber? = nil) { self.first = first }

  /// Whoever has this number or a higher one has no ticket.
  var bound: TicketNumber { first ?? .max }

  mutating func note(_ customer: Customer) {
    highestStaged = max(highestStaged, customer.ticket)
    staged.all += 1
    if customer.service.drawsOnStock { staged.juices += 1 }
  }

  /// What was staged is committed.
  mutating func settle(first: TicketNumber?) {
    kept = first == nil ? (0, 0) : (kept.all + staged.all, kept.juices + staged.juices)
    self.first = first
    forgetStaged()
  }

  mutating func forgetStaged() { (highestStaged, areWithdrawn, staged) = (0, false, (0, 0)) }

  /// Those whom books do not count that have issued so many numbers.
  func uncounted(by issued: TicketNumber) -> (all: Int64, juices: Int64) {
    let areOpen = highestStaged > issued || issued < first ?? .min
    return areOpen ? (kept.all + staged.all, kept.juices + staged.juices) : (0, 0)
  }
}

extension SQLiteStore {
  /// The name in `meta`.
  static let arriving = "arriving from"

  /// Whether customers are kept who were never issued their numbers. See `QueueStore`.
  public var hasArrivals: Bool { arrivals.first != nil }

  /// Takes out customers and keys of a request that will never be whole. See `QueueStore`.
  public func withdrawArrivals(limit: Int) throws(StoreError) {
    guard hasArrivals else { return }
    try changeStaged { () throws(StoreError) in try withdraw(limit: limit) }
  }

  /// Takes out all of them, in the open transaction: before everybody is counted.
  func withdrawAllArrivals() throws(StoreError) {
    if hasArrivals { try withdraw(limit: .max) }
  }

  private func withdraw(limit: Int) throws(StoreError) {
    guard let first = arrivals.first, let saved else { return }
    try writeGathered()
    var left = Int64(limit)
    for line in Line.allCases where left > 0 {
      let (lowest, highest) = (
        CustomerPosition(.waiting, line, first).key, CustomerPosition(.waiting, line, .max).key
      )
      try database.execute(
        """
        DELETE FROM customer WHERE position IN (
          SELECT position FROM customer WHERE position BETWEEN \(lowest) AND \(highest) LIMIT \(left))
        """, while: "taking out a request that was never whole")
      left -= database.changes
    }
    guard left > 0 else { return }
    try database.execute(
      "DELETE FROM request_key WHERE day = \(saved.day) AND first >= \(first)",
      while: "taking out the keys of a request that was never whole")
    arrivals.areWithdrawn = true
  }

  /// Brings the note in `meta` in line with the books that are about to be committed; gives what it says then.
  func noteArrivals(_ books: Books, isArriving: Bool) throws(StoreError) -> TicketNumber? {
    let present = arrivals.first
    var wanted = present
    if arrivals.areWithdrawn || books.day != saved?.day {
      wanted = nil
    } else if isArriving, arrivals.highestStaged > books.issued {
      wanted = present ?? books.issued + 1
    } else if let present, books.issued >= present {
      wanted = nil
    }
    guard wanted != present else { return present }
    let change =
      wanted.map { "INSERT OR REPLACE INTO meta VALUES ('\(Self.arriving)', \($0))" }
      ?? "DELETE FROM meta WHERE name = '\(Self.arriving)'"
    try database.execute(change, while: "noting a request that is coming in")
    return wanted
  }

  /// The first number that was not issued to whoever is kept under it; above all numbers where there is none.
  func readArrivals() throws(StoreError) -> TicketNumber? {
    try database.number(
      "SELECT value FROM meta WHERE name = '\(Self.arriving)'", while: "looking for a request that came in")
  }
}
