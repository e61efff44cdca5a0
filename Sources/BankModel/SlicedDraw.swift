// Order in which the customers of one large request are drawn: in slices, the first customers last. So a gap
// remains before the others as long as the request is incomplete; see `QueueMachine`.
// Invariant: each customer is drawn once, and equals the one that a single draw would have made at that
// position.

/// Generator of a large request's customers, slice by slice.
public struct SlicedDraw: Sendable {
  /// Number of customers of the request.
  public let total: Int64
  /// Number of customers still held back. In the order of the draw they come before those already drawn.
  public private(set) var heldBack: Int64
  /// Number of customers already drawn.
  public private(set) var drawn: Int64 = 0
  private let draw: CustomerDraw
  private let slice: Int64
  /// End of the customers that were held back at first.
  private let begin: Int64

  /// Holds back at most `limit` customers, and never more than half.
  public init(_ draw: CustomerDraw, total: Int64, slice: Int64, heldBackAtMost limit: Int64) {
    precondition(total > 0 && slice > 0 && limit >= 0, "checked where it was read")
    self.total = total
    self.slice = slice
    self.draw = draw
    heldBack = min(total / 2, limit) / slice * slice
    begin = heldBack
  }

  /// True if the request needs more than one slice.
  public var hasSeveralSlices: Bool { total > slice }

  /// The next slice; empty after the last.
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
