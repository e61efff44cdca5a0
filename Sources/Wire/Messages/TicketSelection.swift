// Selections of several tickets: for a list, and for one operation on all of them.
// Decoding checks the form. The coordinator checks ranges and limits.

import BankModel

/// Filter of a list of customers. A list without a filter, or with only that of the state, contains one state after
/// the other, and the waiting customers in the order of the lines. Any other list is in the order of the ticket
/// numbers.
public struct TicketQuery: Codable, Sendable, Equatable {
  /// State of the customers; nil for all states except done.
  public var state: CustomerState?
  /// Requested service; nil for all.
  public var service: ServiceName?
  /// Only higher ticket numbers; nil for all. To continue a list, pass the last number that was received.
  public var after: Int64?
  /// Maximum number of customers, 1 … ``limitAtMost``; nil for all.
  public var limit: Int64?

  /// Upper limit of ``limit``.
  public static let limitAtMost: Int64 = 10_000

  /// True if the list is ordered by number.
  public var isByNumber: Bool { service != nil || after != nil || limit != nil }

  public init(
    state: CustomerState? = nil, service: ServiceName? = nil, after: Int64? = nil, limit: Int64? = nil
  ) {
    (self.state, self.service, self.after, self.limit) = (state, service, after, limit)
  }
  /// Field number of each property of a filter of a list of customers, in messages.
  enum CodingKeys: Int, CodingKey { case state = 1, service, after, limit }
}

/// The tickets of one day to which one operation, such as a cancellation, is applied.
public struct TicketSelection: Codable, Sendable, Equatable {
  /// Tickets in any order; duplicates count once.
  public var spans: [TicketNumbers]
  /// Business day of the tickets. The request is refused if it is not the current day. Nil for the current day.
  public var day: Int64?

  /// Maximum number of tickets in one selection.
  public static let ticketsAtMost: Int64 = 10_000

  public init(spans: [TicketNumbers], day: Int64? = nil) { (self.spans, self.day) = (spans, day) }
  /// Field number of each property of a selection of tickets, in messages.
  enum CodingKeys: Int, CodingKey { case spans = 1, day }
}

/// A range of consecutive ticket numbers: the first and the last one.
public struct TicketNumbers: Codable, Sendable, Equatable {
  /// First and last number, both included.
  public var first, last: Int64
  public init(first: Int64, last: Int64) { (self.first, self.last) = (first, last) }
  /// A single ticket.
  public init(_ ticket: Int64) { self.init(first: ticket, last: ticket) }
  /// Field number of each property of a range of ticket numbers, in messages.
  enum CodingKeys: Int, CodingKey { case first = 1, last }
}

/// Result of an operation on selected tickets: for how many it was done, and which ones were refused.
public struct SelectionReport: Codable, Sendable, Equatable {
  /// Number of tickets for which the operation was done.
  public var done: Int64
  /// Tickets for which the operation was refused, in the order of their numbers.
  public var refused: [RefusedTicket]

  public init(done: Int64, refused: [RefusedTicket] = []) { (self.done, self.refused) = (done, refused) }
  /// Field number of each property of the result of an operation on a selection, in messages.
  enum CodingKeys: Int, CodingKey { case done = 1, refused }
}

/// A selected ticket for which the operation was refused, with the reason.
public struct RefusedTicket: Codable, Sendable, Equatable {
  /// Ticket number.
  public var ticket: Int64
  /// Reason of the refusal.
  public var reason: Failure.Code
  /// State of the ticket, if the state is the reason of the refusal.
  public var state: CustomerState?

  public init(ticket: Int64, reason: Failure.Code, state: CustomerState? = nil) {
    (self.ticket, self.reason, self.state) = (ticket, reason, state)
  }
  /// Field number of each property of a refused ticket, in messages.
  enum CodingKeys: Int, CodingKey { case ticket = 1, reason, state }
}
