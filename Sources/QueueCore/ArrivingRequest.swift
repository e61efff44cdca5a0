// Owns where the customers of a large request stand while it is taken in, slice by slice: under numbers that nobody was
// issued yet. It knows no store and no line.
// Others must not wait for it, and both want numbers without a gap. So the request begins not at the next number but
// behind a gap as long as its own beginning, which is held back: whoever comes beside it takes numbers from the gap's
// lower end. What was held back fills the gap from its upper end, last of all, and as many as the others have displaced
// stand at the request's end.
// Invariant: never is the gap longer than what is held back. So with the last slice the gap is gone, and the numbers of
// the request are the next ones, as if it had come in one stroke at that moment.

import BankModel

/// A request that is larger than a slice, and has not come to its last one.
public struct ArrivingRequest: Sendable, Equatable {
  /// Whose.
  public let request: RequestNumber
  /// For how many there must be room.
  public internal(set) var total: Int64
  /// The lowest number that one of its customers has.
  public private(set) var first: TicketNumber
  /// The number behind the highest.
  public private(set) var next: TicketNumber
  /// Customers who come before the others by the order of the request, and who have no numbers yet.
  public private(set) var heldBack: Int64
  /// Customers who have numbers, by line.
  public private(set) var byLine = [Int64](repeating: 0, count: Line.allCases.count)

  /// A request that begins behind a gap for those whom it holds back.
  init(_ request: RequestNumber, total: Int64, heldBack: Int64, issued: TicketNumber) {
    precondition(heldBack >= 0, "nobody can be held back less than not at all")
    self.request = request
    self.total = total
    self.heldBack = heldBack
    first = issued + heldBack + 1
    next = first
  }

  /// Customers who have numbers.
  public var count: Int64 { next - first }
  /// Customers of it who want a juice.
  public var juices: Int64 {
    Line.allCases.reduce(0) { $0 + ($1.service.drawsOnStock ? byLine[$1.index] : 0) }
  }

  /// Numbers for so many customers: those of the gap's upper end come first, then those behind the highest.
  ///
  /// - Parameters:
  ///   - heldBack: how many are held back from now on: as many as before, or so many less as there are customers.
  ///   - issued: the last number that others have.
  /// - Returns: the first number in the gap, how many of them come there, and the first number of the others.
  mutating func take(
    _ count: Int64, heldBack left: Int64, issued: TicketNumber
  ) -> (first: TicketNumber, inGap: Int64, behind: TicketNumber) {
    var inGap: Int64 = 0
    if left != heldBack {
      precondition(heldBack - left == count, "whoever is held back comes in whole slices")
      let displaced = heldBack - gap(above: issued)
      inGap = count - min(displaced, count)
    }
    let behind = next
    first -= inGap
    next += count - inGap
    heldBack = left
    return (first, inGap, behind)
  }

  mutating func note(_ line: Line) { byLine[line.index] += 1 }

  /// Numbers that others may have.
  func gap(above issued: TicketNumber) -> Int64 { first - 1 - issued }
}
