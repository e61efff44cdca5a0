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
  /// The last of them were taken out in the open transaction.
  var areWithdrawn = false
  /// The request that is half taken in, as of the last commit. Of one that was never whole nothing is known but the
  /// numbers, and nothing is held back for it.
  var open: ArrivingRequest?

  /// Whoever has this number or a higher one has no ticket.
  var bound: TicketNumber { first ?? .max }
}

extension SQLiteStore {
  static let arriving = "arriving from"

  /// The first number of customers who were never issued theirs. See `QueueStore`.
  public var arrivingFrom: TicketNumber? { arrivals.first }

  /// Takes out customers and keys of a request that will never be whole. See `QueueStore`.
  public func withdrawArrivals(limit: Int) throws(StoreError) {
    guard hasArrivals else { return }
    try changeStaged { () throws(StoreError) in try withdraw(limit: limit) }
  }

  /// Whether there are some who are to be taken out before everybody is counted.
  var hasUnwithdrawn: Bool { hasArrivals && !arrivals.areWithdrawn }

  /// Takes out some of them, in the open transaction.
  func withdraw(limit: Int) throws(StoreError) {
    guard let first = arrivals.first, let saved, !arrivals.areWithdrawn else { return }
    try writeGathered()
    let everybody = first...Limits.ticket
    let end = limit == .max ? everybody.upperBound : try endOfPiece(of: everybody)
    try dropPayloads(of: first...end)
    guard end == everybody.upperBound else { return }
    var left = Int64(limit)
    for state in [CustomerState.waiting, .delayed] {
      for (line, _) in lines.all where left > 0 {
        let (lowest, highest) = (
          CustomerPosition(state, line, first).key, CustomerPosition(state, line, .max).key
        )
        try database.execute(
          """
          DELETE FROM customer WHERE position IN (
            SELECT position FROM customer WHERE position BETWEEN \(lowest) AND \(highest) LIMIT \(left))
          """, while: "taking out a request that was never whole")
        left -= database.changes
      }
    }
    if left > 0 {
      try database.execute(
        """
        DELETE FROM later WHERE day = \(saved.day) AND ticket IN (
          SELECT ticket FROM later WHERE day = \(saved.day) AND ticket >= \(first) LIMIT \(left))
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
  func noteArrivals(_ books: Books, _ arriving: ArrivingRequest?) throws(StoreError) -> TicketNumber? {
    let present = arrivals.first
    let areGone = arrivals.areWithdrawn || books.day != saved?.day
    var wanted = present
    if let arriving, arriving.count > 0 {
      precondition(arriving.first > books.issued, "An open request has numbers that were issued.")
      // Another one may have become whole in this very transaction.
      precondition(
        areGone || present.map { arriving.first <= $0 || $0 <= books.issued } ?? true,
        "A request begins while another one is still to be taken out.")
      wanted = arriving.first
    } else if areGone {
      wanted = nil
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

  /// The first number that was not issued to whoever is kept under it; nil where there is none.
  func readArrivals() throws(StoreError) -> TicketNumber? {
    try database.note(Self.arriving, while: "looking for a request that came in")
  }
}
