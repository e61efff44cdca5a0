// Order in which the customers of one large request are drawn: in slices, with the first customers of the request
// last; see `InProgressEnqueue` in QueueCore.
// Invariant: each customer is drawn once, and equals the customer at the same position of a single draw.

/// Generator of a large request's customers, slice by slice.
public struct CustomerSliceGenerator: Sendable {
  /// Number of customers of the request.
  public let total: Int64
  /// Number of customers at the start of the request that are held back and not drawn yet.
  public private(set) var heldBack: Int64
  /// Number of customers already drawn.
  public private(set) var drawn: Int64 = 0
  /// Positioned before the first customer of the request.
  private let draw: CustomerGenerator
  /// Maximum number of customers of a slice.
  private let slice: Int64
  /// ``heldBack`` before the first slice.
  private let initialHeldBack: Int64

  /// Creates a draw that holds back at most `limit` customers, and at most half of the request.
  public init(_ draw: CustomerGenerator, total: Int64, slice: Int64, heldBackLimit limit: Int64) {
    precondition(total > 0 && slice > 0 && limit >= 0, "checked where it was read")
    self.total = total
    self.slice = slice
    self.draw = draw
    heldBack = min(total / 2, limit) / slice * slice
    initialHeldBack = heldBack
  }

  /// True if the request needs more than one slice.
  public var hasSeveralSlices: Bool { total > slice }

  /// Draws the next slice of customers; empty after the last one.
  public mutating func next() -> [CustomerOrder] {
    let first: Int64
    let count: Int64
    if drawn < total - initialHeldBack {
      (first, count) = (initialHeldBack + drawn, min(slice, total - initialHeldBack - drawn))
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
