// Owns the counts that are made from rows while the bank is open. It changes nothing.
// A count takes as long as there are rows in its range, so only people ask for one.

import BankModel
import QueueCore

extension SQLiteStore {
  /// The waiting customers of a line whose numbers lie between two others. See `QueueStore`.
  public func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    try settle()
    let last = min(last, arrivals.bound)
    guard first < last else { return 0 }
    let (lower, upper) = (
      CustomerPosition(.waiting, line, first).key, CustomerPosition(.waiting, line, last).key
    )
    return upper - lower < 2 ? 0 : try count(lower + 1...upper - 1)
  }

  /// The receipts of a day that say out of stock. See `QueueStore`.
  ///
  /// Each of them has a row for everything that was missing, so nobody else's receipts are looked at.
  public func countSentAway(on day: BusinessDay) throws(StoreError) -> Int64 {
    try settle()
    let count = try database.number(
      "SELECT count(DISTINCT ticket) FROM shortage WHERE day = \(day)", while: "counting who was sent away")
    return count ?? 0
  }
}

extension MemoryStore {
  /// The waiting customers of a line whose numbers lie between two others. See `QueueStore`.
  public func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    try beginReading()
    let last = min(last, bound)
    guard first < last else { return 0 }
    let lower = CustomerPosition(.waiting, line, first).key
    let upper = CustomerPosition(.waiting, line, last).key - 1
    return Int64(contents.customers(after: lower, through: upper, limit: .max).count)
  }

  /// The receipts of a day that say out of stock. See `QueueStore`.
  public func countSentAway(on day: BusinessDay) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(contents.receipts.count { $0.day == day && $0.outcome == .outOfStock })
  }
}
