// Numbering of a large request that arrives slice by slice,
// under numbers that are not issued yet.
//
// Other requests must not wait for it, and the numbers of both must have no gaps at the end. So the large request does
// not start at the next number. It first leaves a gap as long as its own first part, which is held back. Other
// requests take numbers from the lower end of the gap. The part held back comes last, and fills the gap from its upper
// end. Customers of it that no longer fit, because other requests took their numbers, go to the end of the request.
//
// Invariant: the gap is never longer than the part held back. So the last slice closes the gap, and the numbers of the
// request are the next ones, as if it had arrived at once at that moment.

import BankModel

/// A request in several slices whose last slice has not arrived.
public struct ArrivingRequest: Sendable, Equatable {
  /// Number of the request.
  public let request: RequestNumber
  /// Number of customers that must fit.
  public internal(set) var total: Int64
  /// Lowest number of its customers.
  public private(set) var first: TicketNumber
  /// The number after the highest.
  public private(set) var next: TicketNumber
  /// Customers that are first in the order of the request and have no numbers yet.
  public private(set) var heldBack: Int64
  /// Waiting customers with numbers, by line.
  public private(set) var byLine = LineCounts()
  /// Number of delayed customers with numbers.
  public private(set) var delayed: Int64 = 0

  /// Numbers of the customers of one slice.
  public struct Placement: Sendable, Equatable {
    /// Lowest number of the request after this slice; in the gap if the slice fills some of it.
    public let first: TicketNumber
    /// Number of customers, from the start of the slice, that are in the gap.
    public let inGap: Int64
    /// Number of the first customer that is not in the gap.
    public let behind: TicketNumber

    /// Number of the customer at this index of the slice.
    public func ticket(_ offset: Int64) -> TicketNumber {
      offset < inGap ? first + offset : behind + offset - inGap
    }
  }

  /// Creates a request with a gap for the customers that are held back.
  public init(_ request: RequestNumber, total: Int64, heldBack: Int64, issued: TicketNumber) {
    precondition(heldBack >= 0, "the number of customers held back is not negative")
    self.request = request
    self.total = total
    self.heldBack = heldBack
    first = issued + heldBack + 1
    next = first
  }

  /// Number of customers with numbers.
  public var count: Int64 { next - first }
  /// Upper bound of the customers that draw on the stock. Counts all delayed ones, because their services are not
  /// stored here.
  public var juices: Int64 {
    byLine.occupied.reduce(delayed) { $0 + ($1.line.service.drawsOnStock ? $1.count : 0) }
  }

  /// Number of waiting customers whose work may store results.
  public var leavingResults: Int64 {
    byLine.occupied.reduce(0) { $0 + ($1.line.service.leavesResults ? $1.count : 0) }
  }

  /// Numbers for a slice of `count` customers: first the upper end of the gap, then the numbers after the highest.
  ///
  /// - Parameters:
  ///   - heldBack: customers held back after this slice: as many as before, or `count` fewer.
  ///   - issued: the highest number of other requests.
  public func placement(of count: Int64, heldBack left: Int64, issued: TicketNumber) -> Placement {
    var inGap: Int64 = 0
    if left != heldBack {
      precondition(heldBack - left == count, "customers held back arrive in whole slices")
      let displaced = heldBack - gap(above: issued)
      inGap = count - min(displaced, count)
    }
    return Placement(first: first - inGap, inGap: inGap, behind: next)
  }

  mutating func take(_ count: Int64, heldBack left: Int64, issued: TicketNumber) -> Placement {
    let place = placement(of: count, heldBack: left, issued: issued)
    first = place.first
    next += count - place.inGap
    heldBack = left
    return place
  }

  /// Counts one customer of a line, and returns the index of the line in ``byLine``.
  mutating func note(_ line: Line) -> Int {
    let place = byLine.place(of: line)
    byLine[place] += 1
    return place
  }

  mutating func noteDelayed() { delayed += 1 }

  func gap(above issued: TicketNumber) -> Int64 { first - 1 - issued }
}
