// Numbering of a large request that arrives slice by slice.
// Its numbers are not issued before the last slice.
//
// Other requests must not wait for the large request, and no number may remain unused. So the large request does not
// start at the next number. Its first customers are held back, and it leaves a gap of as many numbers. Other requests
// take numbers from the lower end of the gap. The customers that were held back arrive last and fill the gap from its
// upper end. If other requests have taken some of the numbers, the customers that no longer fit into the gap get the
// numbers after the highest number of the request.
//
// Invariant: the gap never has more numbers than there are customers held back. So the last slice closes the gap, and
// the request gets the next numbers, as if it had arrived as a whole at that moment.

import BankModel

/// A request for tickets that arrives in several slices, before its last slice has arrived.
public struct InProgressEnqueue: Sendable, Equatable {
  /// Number of the request.
  public let request: RequestNumber
  /// Number of customers for which the queue must have room. Customers with known keys are not counted.
  public internal(set) var total: Int64
  /// Lowest ticket number of its customers so far.
  public private(set) var first: TicketNumber
  /// The number after the highest ticket number of its customers.
  public private(set) var next: TicketNumber
  /// Number of customers at the start of the request that have no numbers yet.
  public private(set) var heldBack: Int64
  /// Number of waiting customers with numbers, by line.
  public private(set) var byLine = LineCounts()
  /// Number of delayed customers with numbers.
  public private(set) var delayed: Int64 = 0

  /// Ticket numbers of the customers of one slice.
  public struct TicketPlacement: Sendable, Equatable {
    /// Lowest ticket number of the request once this slice is placed. If the slice fills a part of the gap, it is the
    /// number of the slice's first customer.
    public let first: TicketNumber
    /// Number of customers at the start of the slice whose numbers are in the gap.
    public let inGap: Int64
    /// Ticket number of the first customer of the slice whose number is not in the gap.
    public let behind: TicketNumber

    /// Ticket number of the customer at this index of the slice.
    public func ticket(_ offset: Int64) -> TicketNumber {
      offset < inGap ? first + offset : behind + offset - inGap
    }

    /// True if the ticket belongs to one of the `count` customers of the slice.
    func contains(_ ticket: TicketNumber, of count: Int64) -> Bool {
      let (low, high) = (min(inGap, count), count - min(inGap, count))
      return (first..<first + low).contains(ticket) || (behind..<behind + high).contains(ticket)
    }
  }

  /// Creates a request whose first `heldBack` customers arrive last.
  public init(_ request: RequestNumber, total: Int64, heldBack: Int64, issued: TicketNumber) {
    precondition(heldBack >= 0, "the number of customers held back is not negative")
    self.request = request
    self.total = total
    self.heldBack = heldBack
    first = issued + heldBack + 1
    next = first
  }

  /// Number of customers that have ticket numbers.
  public var count: Int64 { next - first }
  /// Upper bound of the number of customers with numbers that draw on the stock. Includes all delayed customers,
  /// because their services are not stored here.
  public var juices: Int64 {
    byLine.occupied.reduce(delayed) { $0 + ($1.line.service.usesStock ? $1.count : 0) }
  }

  /// Number of waiting customers whose work may store results.
  public var leavingResults: Int64 {
    byLine.occupied.reduce(0) { $0 + ($1.line.service.mayStoreResult ? $1.count : 0) }
  }

  /// Ticket numbers for the next slice of `count` customers: the numbers after the highest one of the request. A slice
  /// that was held back gets the free numbers just below its lowest one, as far as these suffice.
  ///
  /// - Parameters:
  ///   - heldBack: customers held back after this slice: as many as before, or `count` fewer.
  ///   - issued: the highest issued number.
  public func placement(of count: Int64, heldBack left: Int64, issued: TicketNumber) -> TicketPlacement {
    var inGap: Int64 = 0
    if left != heldBack {
      precondition(heldBack - left == count, "customers held back arrive in whole slices")
      let displaced = heldBack - gap(above: issued)
      inGap = count - min(displaced, count)
    }
    return TicketPlacement(first: first - inGap, inGap: inGap, behind: next)
  }

  /// Assigns ticket numbers to the next slice, counts its customers, and returns the numbers.
  mutating func take(_ count: Int64, heldBack left: Int64, issued: TicketNumber) -> TicketPlacement {
    let place = placement(of: count, heldBack: left, issued: issued)
    first = place.first
    next += count - place.inGap
    heldBack = left
    return place
  }

  /// Counts one customer of a line, and returns the index of the line in ``byLine``.
  mutating func register(_ line: Line) -> Int {
    let place = byLine.place(of: line)
    byLine[place] += 1
    return place
  }

  mutating func registerDelayed() { delayed += 1 }

  /// Number of ticket numbers between the highest issued one and the first one of the request.
  func gap(above issued: TicketNumber) -> Int64 { first - 1 - issued }
}
