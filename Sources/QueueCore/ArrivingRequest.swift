// Owns where the customers of a large request stand while it is taken in, slice by slice: under numbers that nobody was
// issued yet.
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
  /// Customers who have numbers and wait, by line.
  public private(set) var byLine = LineCounts()
  /// Customers who have numbers and are delayed.
  public private(set) var delayed: Int64 = 0

  /// Where the customers of one slice stand.
  public struct Placement: Sendable, Equatable {
    /// The lowest number that one of its customers has then: in the gap where some of the slice stand there.
    public let first: TicketNumber
    /// How many of the slice, from its beginning, stand in the gap.
    public let inGap: Int64
    /// The number of the first of the others.
    public let behind: TicketNumber

    /// The number of the customer at this place of the slice.
    public func ticket(_ offset: Int64) -> TicketNumber {
      offset < inGap ? first + offset : behind + offset - inGap
    }
  }

  /// A request that begins behind a gap for those whom it holds back.
  public init(_ request: RequestNumber, total: Int64, heldBack: Int64, issued: TicketNumber) {
    precondition(heldBack >= 0, "nobody can be held back less than not at all")
    self.request = request
    self.total = total
    self.heldBack = heldBack
    first = issued + heldBack + 1
    next = first
  }

  /// Customers who have numbers.
  public var count: Int64 { next - first }
  /// Customers of it who may want a juice. Of those who are delayed it is not known what they want.
  public var juices: Int64 {
    byLine.occupied.reduce(delayed) { $0 + ($1.line.service.drawsOnStock ? $1.count : 0) }
  }

  /// Customers of it whose work may leave results.
  public var leavingResults: Int64 {
    byLine.occupied.reduce(0) { $0 + ($1.line.service.leavesResults ? $1.count : 0) }
  }

  /// The numbers that so many customers will have: those of the gap's upper end come first, then those behind the
  /// highest.
  ///
  /// - Parameters:
  ///   - heldBack: how many are held back from then on: as many as before, or so many less as there are customers.
  ///   - issued: the last number that others have.
  public func placement(of count: Int64, heldBack left: Int64, issued: TicketNumber) -> Placement {
    var inGap: Int64 = 0
    if left != heldBack {
      precondition(heldBack - left == count, "whoever is held back comes in whole slices")
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

  /// Notes one more in a line; gives the line's place in ``byLine``.
  mutating func note(_ line: Line) -> Int {
    let place = byLine.place(of: line)
    byLine[place] += 1
    return place
  }

  /// Notes one more who is delayed.
  mutating func noteDelayed() { delayed += 1 }

  func gap(above issued: TicketNumber) -> Int64 { first - 1 - issued }
}
