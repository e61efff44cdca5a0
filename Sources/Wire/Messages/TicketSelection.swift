// Owns which tickets a request is about where it is about several: what a list shows of them, and a selection with which
// something is done at once. It knows no socket. Nothing here is checked beyond its form: the coordinator does that.

import BankModel

/// Which customers are listed. With nothing but a state the list is in the order of the lines, with anything else in the
/// order of the numbers.
public struct TicketQuery: Codable, Sendable, Equatable {
  /// In which state; nil for all that are not done.
  public var state: CustomerState?
  /// Of which service; nil for all.
  public var service: ServiceName?
  /// Only those with a higher number; nil for all. So the next page is asked for with the last number of this one.
  public var after: Int64?
  /// So many at most, 1 … ``limitAtMost``; nil for all.
  public var limit: Int64?

  /// What may be asked for at most.
  public static let limitAtMost: Int64 = 10_000

  /// Whether it is asked for by number.
  public var isByNumber: Bool { service != nil || after != nil || limit != nil }

  public init(
    state: CustomerState? = nil, service: ServiceName? = nil, after: Int64? = nil, limit: Int64? = nil
  ) {
    (self.state, self.service, self.after, self.limit) = (state, service, after, limit)
  }
  enum CodingKeys: Int, CodingKey { case state = 1, service, after, limit }
}

/// Several tickets of one day, with which the same is done.
public struct TicketSelection: Codable, Sendable, Equatable {
  /// Which, in any order; those that are named twice are meant once.
  public var spans: [TicketNumbers]
  /// Only while this day is the present one; nil for the present one, whichever that is.
  public var day: Int64?

  /// Tickets of one selection at most.
  public static let ticketsAtMost: Int64 = 10_000

  public init(spans: [TicketNumbers], day: Int64? = nil) { (self.spans, self.day) = (spans, day) }
  enum CodingKeys: Int, CodingKey { case spans = 1, day }
}

/// Consecutive numbers.
public struct TicketNumbers: Codable, Sendable, Equatable {
  /// The first and the last.
  public var first, last: Int64
  public init(first: Int64, last: Int64) { (self.first, self.last) = (first, last) }
  /// One alone.
  public init(_ ticket: Int64) { self.init(first: ticket, last: ticket) }
  enum CodingKeys: Int, CodingKey { case first = 1, last }
}

/// What was done with a selection.
public struct SelectionReport: Codable, Sendable, Equatable {
  /// With so many it was done.
  public var done: Int64
  /// With these it was not, in the order of their numbers.
  public var refused: [RefusedTicket]

  public init(done: Int64, refused: [RefusedTicket] = []) { (self.done, self.refused) = (done, refused) }
  enum CodingKeys: Int, CodingKey { case done = 1, refused }
}

/// A ticket of a selection with which nothing was done.
public struct RefusedTicket: Codable, Sendable, Equatable {
  /// The number.
  public var ticket: Int64
  /// Why.
  public var reason: Failure.Code
  /// In which state it is, where that is why.
  public var state: CustomerState?

  public init(ticket: Int64, reason: Failure.Code, state: CustomerState? = nil) {
    (self.ticket, self.reason, self.state) = (ticket, reason, state)
  }
  enum CodingKeys: Int, CodingKey { case ticket = 1, reason, state }
}
