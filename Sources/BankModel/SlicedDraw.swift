// Owns the order in which the customers of one large request are drawn: in slices, and the first of them last, so that
// there is a gap before the others as long as the request is not whole; see `QueueMachine`.
// Invariant: each customer is drawn once, and is the one that a draw in one stroke would have made at that place.

/// Customers who are drawn slice by slice.
public struct SlicedDraw: Sendable {
  /// How many there are.
  public let total: Int64
  /// How many are held back: they come before those who were drawn, by the order of the draw.
  public private(set) var heldBack: Int64
  /// How many were drawn.
  public private(set) var drawn: Int64 = 0
  private let draw: CustomerDraw
  private let slice: Int64
  /// Those who were held back at first end here.
  private let begin: Int64

  /// At most so many are held back, and never more than half.
  public init(_ draw: CustomerDraw, total: Int64, slice: Int64, heldBackAtMost limit: Int64) {
    precondition(total > 0 && slice > 0 && limit >= 0, "checked where it was read")
    self.total = total
    self.slice = slice
    self.draw = draw
    heldBack = min(total / 2, limit) / slice * slice
    begin = heldBack
  }

  /// Whether there are more than one slice holds.
  public var hasSeveralSlices: Bool { total > slice }

  /// The next slice; empty when there is none.
  public mutating func next() -> [CustomerOrder] {
    let first: Int64
    let count: Int64
    if drawn < total - begin {
      (first, count) = (begin + drawn, min(slice, total - begin - drawn))
    } else {
      count = min(slice, heldBack)
      heldBack -= count
      first = heldBack
    }
    drawn += count
    var draw = draw.dropping(first)
    var orders: [CustomerOrder] = []
    orders.reserveCapacity(Int(count))
    for _ in 0..<count { orders.append(draw.next()) }
    return orders
  }
}
