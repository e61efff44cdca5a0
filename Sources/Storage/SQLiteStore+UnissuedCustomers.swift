// Customers of a request that is larger than a transaction. They are stored in several commits, under numbers
// that are not issued yet. They become valid with the commit that issues the numbers.
// Invariant: while such customers are stored, their lowest number is in `meta`. It is deleted in the transaction
// that deletes the last of them or issues the numbers. So a request is stored as a whole or not at all, also after a
// crash.

import BankModel
import QueueCore

/// State of a large request that is stored in several commits: the numbers of its customers are not issued yet.
struct UnissuedCustomers {
  /// Lowest of these numbers on disk; nil if there are none.
  var first: TicketNumber?
  /// True if the open transaction has deleted the last of these customers.
  var areRemoved = false
  /// The request that is arriving, as of the last commit; nil for none. An abandoned request is not stored
  /// here: only its lowest number is known, and no space is reserved for it.
  var open: InProgressEnqueue?

  /// Lowest ticket of an incomplete request, whose numbers are not issued yet; the maximum if there is no such request.
  var bound: TicketNumber { first ?? .max }
}

extension SQLiteStore {
  /// Name in `meta` of the lowest number that is not issued yet.
  static let arriving = "incomplete request from"

  /// The lowest number of the customers whose numbers are not issued yet; nil for none. See `QueueReader`.
  public var firstUnissuedTicket: TicketNumber? { unissued.first }

  /// Removes customers and keys of a request that will not be completed. See `QueueStore`.
  public func removeUnissuedCustomers(limit: Int) throws(StoreError) {
    guard hasUnissuedCustomers else { return }
    try changeStaged { () throws(StoreError) in try withdraw(limit: limit) }
  }

  /// True if customers of an incomplete request must be removed before all customers are counted.
  var hasUnissuedToRemove: Bool { hasUnissuedCustomers && !unissued.areRemoved }

  /// Removes a piece of an incomplete request, in the open transaction: first payloads, then at most `limit` rows of
  /// customers and due times, and with the last of them the keys.
  func withdraw(limit: Int) throws(StoreError) {
    guard let first = unissued.first, let saved, !unissued.areRemoved else { return }
    try writeBatch()
    let every = first...Limits.ticket
    let end = limit == .max ? every.upperBound : try endOfDeletionPiece(of: every)
    try dropPayloads(of: first...end)
    guard end == every.upperBound else { return }
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
          """, while: "removing an incomplete request")
        left -= database.changes
      }
    }
    if left > 0 {
      try database.execute(
        """
        DELETE FROM scheduled_ticket WHERE day = \(saved.day) AND ticket IN (
          SELECT ticket FROM scheduled_ticket WHERE day = \(saved.day) AND ticket >= \(first) LIMIT \(left))
        """, while: "removing an incomplete request")
      left -= database.changes
    }
    guard left > 0 else { return }
    try database.execute(
      "DELETE FROM request_key WHERE day = \(saved.day) AND first >= \(first)",
      while: "removing the keys of an incomplete request")
    unissued.areRemoved = true
  }

  /// Updates `meta` for the counters that are about to be committed. Returns the lowest number that is not
  /// issued then.
  func saveUnissued(_ dayCounters: DayCounters, _ arriving: InProgressEnqueue?) throws(StoreError)
    -> TicketNumber?
  {
    let present = unissued.first
    let areGone = unissued.areRemoved || dayCounters.day != saved?.day
    var wanted = present
    if let arriving, arriving.count > 0 {
      precondition(arriving.first > dayCounters.issued, "An open request has numbers that were issued.")
      // Another request may have become complete in the same transaction.
      precondition(
        areGone || present.map { arriving.first <= $0 || $0 <= dayCounters.issued } ?? true,
        "A request starts while another one is still to be removed.")
      wanted = arriving.first
    } else if areGone {
      wanted = nil
    } else if let present, dayCounters.issued >= present {
      wanted = nil
    }
    guard wanted != present else { return present }
    let change =
      wanted.map { "INSERT OR REPLACE INTO meta VALUES ('\(Self.arriving)', \($0))" }
      ?? "DELETE FROM meta WHERE name = '\(Self.arriving)'"
    try database.execute(change, while: "recording an arriving request")
    return wanted
  }

  /// The lowest stored number that is not issued yet; nil if there is none.
  func readFirstUnissued() throws(StoreError) -> TicketNumber? {
    try database.note(Self.arriving, while: "looking for an arriving request")
  }
}
